//! The tokens of an answer.

use std::borrow::Cow;

use serde::Serialize;
use tollgate_macros::Read;

use crate::protocol::wire::{Raw, Text};

/// The tokens of an answer; in a stream, what `message_start` and each `message_delta` bring of them.
///
/// The figures of `message_delta` are totals so far and replace earlier ones, those that are absent or null do not. There the
/// vendor has only `output_tokens` for certain, in an answer `input_tokens` as well.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Read)]
pub struct Usage<'a> {
    /// Input that was neither read from nor written to the prompt cache.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input_tokens: Option<u64>,
    /// Input written to the cache.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache_creation_input_tokens: Option<u64>,
    /// Input read from the cache.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache_read_input_tokens: Option<u64>,
    /// What was written, by lifetime.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache_creation: Option<CacheCreation>,
    /// Output, thinking included.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_tokens: Option<u64>,
    /// Parts of the output.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_tokens_details: Option<OutputTokensDetails>,
    /// Calls that the vendor carried out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server_tool_use: Option<ServerToolUsage>,
    /// `standard`, `priority` or `batch`.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub service_tier: Option<Text<'a>>,
    /// Where inference ran.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub inference_geo: Option<Text<'a>>,
    /// `standard` or `fast`.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub speed: Option<Text<'a>>,
    /// Beta: the usage of each pass; compactions are in no total.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub iterations: Option<Raw<'a>>,
    /// Beta: whether a fallback's credit was taken.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub fallback_credit: Option<Raw<'a>>,
}

impl Usage<'_> {
    /// The members that the vendor has in a `message_delta`.
    pub fn of_delta(&self) -> Usage<'_> {
        Usage {
            input_tokens: self.input_tokens,
            cache_creation_input_tokens: self.cache_creation_input_tokens,
            cache_read_input_tokens: self.cache_read_input_tokens,
            output_tokens: Some(self.output_tokens.unwrap_or(0)),
            output_tokens_details: self.output_tokens_details.clone(),
            server_tool_use: self.server_tool_use.clone(),
            iterations: self.iterations.as_ref().map(Raw::by_ref),
            fallback_credit: self.fallback_credit.as_ref().map(Raw::by_ref),
            ..Usage::default()
        }
    }
}

impl Usage<'static> {
    /// Takes over the figures of a newer usage of the same answer; what it does not name stays.
    pub fn update(&mut self, newer: &Usage<'_>) {
        fn text(text: &Option<Text<'_>>) -> Option<Text<'static>> {
            text.as_ref().map(|text| Text::from(text.to_string()))
        }
        fn raw(raw: &Option<Raw<'_>>) -> Option<Raw<'static>> {
            raw.as_ref().map(|raw| Raw(Cow::Owned(raw.0.clone().into_owned())))
        }
        fn replace<T>(old: &mut Option<T>, new: Option<T>) {
            if new.is_some() {
                *old = new;
            }
        }
        replace(&mut self.input_tokens, newer.input_tokens);
        replace(&mut self.cache_creation_input_tokens, newer.cache_creation_input_tokens);
        replace(&mut self.cache_read_input_tokens, newer.cache_read_input_tokens);
        replace(&mut self.cache_creation, newer.cache_creation.clone());
        replace(&mut self.output_tokens, newer.output_tokens);
        replace(&mut self.output_tokens_details, newer.output_tokens_details.clone());
        replace(&mut self.server_tool_use, newer.server_tool_use.clone());
        replace(&mut self.service_tier, text(&newer.service_tier));
        replace(&mut self.inference_geo, text(&newer.inference_geo));
        replace(&mut self.speed, text(&newer.speed));
        replace(&mut self.iterations, raw(&newer.iterations));
        replace(&mut self.fallback_credit, raw(&newer.fallback_credit));
    }
}

/// Input written to the cache, by lifetime.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Read)]
pub struct CacheCreation {
    /// For 5 minutes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ephemeral_5m_input_tokens: Option<u64>,
    /// For an hour.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ephemeral_1h_input_tokens: Option<u64>,
}

/// Parts of the output.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Read)]
pub struct OutputTokensDetails {
    /// Thinking, shown or not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thinking_tokens: Option<u64>,
}

/// Calls that the vendor carried out.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Read)]
pub struct ServerToolUsage {
    /// Searches, billed each.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub web_search_requests: Option<u64>,
    /// Fetches.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub web_fetch_requests: Option<u64>,
}
