//! What an answer took.

use serde::Serialize;
use tollgate_macros::Read;

use super::lenient::{whole, whole_or_zero};

/// The tokens that an answer took. Totals include their details; some vendors' details exceed their total.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Read)]
pub struct CompletionUsage {
    /// Of the prompt, those from and to the cache included.
    #[serde(default, deserialize_with = "whole_or_zero")]
    pub prompt_tokens: u64,
    /// Of the answer, those of reasoning and of accepted and rejected predictions included.
    #[serde(default, deserialize_with = "whole_or_zero")]
    pub completion_tokens: u64,
    /// The sum of both.
    #[serde(default, deserialize_with = "whole_or_zero")]
    pub total_tokens: u64,
    /// What the prompt's are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prompt_tokens_details: Option<PromptTokensDetails>,
    /// What the answer's are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub completion_tokens_details: Option<CompletionTokensDetails>,
    /// DeepSeek's `cached_tokens`.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "whole")]
    pub prompt_cache_hit_tokens: Option<u64>,
    /// DeepSeek's rest of the prompt.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "whole")]
    pub prompt_cache_miss_tokens: Option<u64>,
}

/// What the tokens of the prompt are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Read)]
pub struct PromptTokensDetails {
    /// Read from the cache.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "whole")]
    pub cached_tokens: Option<u64>,
    /// Written to the cache.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "whole")]
    pub cache_write_tokens: Option<u64>,
    /// Sound.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "whole")]
    pub audio_tokens: Option<u64>,
    /// Images.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "whole")]
    pub image_tokens: Option<u64>,
    /// Text.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "whole")]
    pub text_tokens: Option<u64>,
}

/// What the tokens of the answer are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Read)]
pub struct CompletionTokensDetails {
    /// Reasoning, shown or not.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "whole")]
    pub reasoning_tokens: Option<u64>,
    /// Sound.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "whole")]
    pub audio_tokens: Option<u64>,
    /// Text.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "whole")]
    pub text_tokens: Option<u64>,
    /// Of the prediction, what the answer has.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "whole")]
    pub accepted_prediction_tokens: Option<u64>,
    /// Of the prediction, what the answer does not have, and what is billed all the same.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "whole")]
    pub rejected_prediction_tokens: Option<u64>,
}
