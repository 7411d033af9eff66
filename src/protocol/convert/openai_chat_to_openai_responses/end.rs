//! How an answer ended, and what it took.

use crate::protocol::openai_chat::wire::response::FinishReason;
use crate::protocol::openai_chat::wire::usage::CompletionUsage;
use crate::protocol::openai_responses::wire::response::{
    IncompleteReason, InputTokensDetails, OutputTokensDetails, Usage,
};

/// How an answer ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    /// It is whole. One that calls tools is so, too.
    Whole,
    /// The bound on tokens was met.
    Length,
    /// A filter stopped it.
    Filter,
    /// The vendor broke it off.
    Broken,
}

impl End {
    /// What `reason` means. One that is not known is an end like others.
    pub(super) fn of(reason: &FinishReason<'_>) -> Self {
        match reason {
            FinishReason::Stop | FinishReason::ToolCalls | FinishReason::FunctionCall => Self::Whole,
            FinishReason::Length => Self::Length,
            FinishReason::ContentFilter => Self::Filter,
            FinishReason::Other(word) => match &**word {
                "max_tokens" | "model_length" => Self::Length,
                "safety" | "refusal" | "sensitive" => Self::Filter,
                "error" | "insufficient_system_resource" | "network_error" | "abort" => Self::Broken,
                _ => Self::Whole,
            },
        }
    }

    /// Why the answer is incomplete, if it is.
    pub(super) fn incomplete(self) -> Option<IncompleteReason<'static>> {
        match self {
            Self::Whole | Self::Broken => None,
            Self::Length => Some(IncompleteReason::MaxOutputTokens),
            Self::Filter => Some(IncompleteReason::ContentFilter),
        }
    }
}

/// The usage; `None` where a vendor sends zeros because it does not know it yet.
pub(super) fn usage(usage: &CompletionUsage) -> Option<Usage> {
    if usage.prompt_tokens == 0 && usage.completion_tokens == 0 && usage.total_tokens == 0 {
        return None;
    }
    let prompt = usage.prompt_tokens_details.unwrap_or_default();
    let cached = prompt.cached_tokens.or(usage.prompt_cache_hit_tokens).unwrap_or(0);
    let reasoning = usage.completion_tokens_details.and_then(|details| details.reasoning_tokens).unwrap_or(0);
    let total = if usage.total_tokens > 0 {
        usage.total_tokens
    } else {
        usage.prompt_tokens.saturating_add(usage.completion_tokens)
    };
    let usage = Usage {
        input_tokens: usage.prompt_tokens,
        // Some vendors' details exceed their total.
        input_tokens_details: Some(InputTokensDetails {
            cached_tokens: cached.min(usage.prompt_tokens),
            cache_write_tokens: prompt.cache_write_tokens,
            cache_write_tokens_details: None,
        }),
        output_tokens: usage.completion_tokens,
        output_tokens_details: Some(OutputTokensDetails { reasoning_tokens: reasoning.min(usage.completion_tokens) }),
        total_tokens: total,
    };
    Some(usage.with_all_details())
}

/// The usage of an answer of which nothing is known.
pub(super) fn no_usage() -> Usage {
    Usage::default().with_all_details()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Option<Usage> {
        usage(&serde_json::from_str(text).unwrap())
    }

    /// B34: zeros are no usage.
    #[test]
    fn zeros_are_no_usage() {
        assert_eq!(read(r#"{"prompt_tokens":0,"completion_tokens":0,"total_tokens":0}"#), None);
        assert_eq!(read("{}"), None);
    }

    /// B37, B38: the totals include the cache and the thinking in both dialects.
    #[test]
    fn totals_stay_totals() {
        let usage = read(
            r#"{"prompt_tokens":52012,"completion_tokens":603,"total_tokens":52615,"prompt_tokens_details":{"cached_tokens":50000},
            "completion_tokens_details":{"reasoning_tokens":405}}"#,
        )
        .unwrap();
        assert_eq!((usage.input_tokens, usage.output_tokens, usage.total_tokens), (52012, 603, 52615));
        assert_eq!(usage.input_tokens_details.unwrap().cached_tokens, 50000);
        assert_eq!(usage.output_tokens_details.unwrap().reasoning_tokens, 405);
    }

    #[test]
    fn details_are_never_more_than_their_total() {
        let usage = read(r#"{"prompt_tokens":5,"completion_tokens":1,"prompt_cache_hit_tokens":9}"#).unwrap();
        assert_eq!((usage.input_tokens_details.unwrap().cached_tokens, usage.total_tokens), (5, 6));
    }
}
