//! `GenerateContentResponse` (<https://ai.google.dev/api/generate-content#v1beta.GenerateContentResponse>): an answer, and each
//! event of a stream.
//!
//! Members that are zero, false or empty are left out, so every one may be absent.

use super::content::Content;
use super::grounding::{CitationMetadata, GroundingMetadata, LogprobsResult, UrlContextMetadata};
use super::proto::{Count, Number, message, words};
use super::request::{Modality, ServiceTier};
use crate::protocol::few::Few;
use crate::protocol::wire::{Raw, Text};

message! {
    /// An answer, or a piece of it.
    ///
    /// A stream is many of these without names and without a mark at its end: it ends after `finish_reason`. Texts and thoughts in
    /// it are to be joined, calls come whole, and of usage the last one counts.
    pub struct GenerateContentResponse<'a> {
        /// The answers. None when the prompt was blocked.
        candidates: Few<Candidate<'a>>,
        /// Whether the prompt was blocked.
        prompt_feedback = "promptFeedback": Option<PromptFeedback<'a>>,
        /// What it cost so far.
        usage_metadata = "usageMetadata": Option<UsageMetadata<'a>>,
        /// The model that answers.
        model_version = "modelVersion": Option<Text<'a>>,
        /// The same in all events of a stream.
        response_id = "responseId": Option<Text<'a>>,
        /// How old the model is.
        model_status = "modelStatus": Option<ModelStatus<'a>>,
        /// RFC 3339. Vertex AI only.
        create_time = "createTime": Option<Text<'a>>,
        /// A failure, which ends a stream. It stands alone, as in the body of an error.
        error: Option<Box<Status<'a>>>,
    }
}

message! {
    /// One of the answers.
    pub struct Candidate<'a> {
        /// Which one, from 0.
        index: Option<Count>,
        /// What is said. Absent when it was filtered, or when nothing was left for it after thinking.
        content: Option<Content<'a>>,
        /// Why it ended. Also `STOP` after a call.
        finish_reason = "finishReason": Option<FinishReason<'a>>,
        /// The same in words.
        finish_message = "finishMessage": Option<Text<'a>>,
        /// Base64. What the next request goes on with after `CONTINUATION`.
        continuation_token = "continuationToken": Option<Text<'a>>,
        /// How harmful it is.
        safety_ratings = "safetyRatings": Vec<SafetyRating<'a>>,
        /// What it repeats.
        citation_metadata = "citationMetadata": Option<Box<CitationMetadata<'a>>>,
        /// What was found on the web, in maps or files, mostly in a stream's last event.
        grounding_metadata = "groundingMetadata": Option<Box<GroundingMetadata<'a>>>,
        /// What addresses were read.
        url_context_metadata = "urlContextMetadata": Option<Box<UrlContextMetadata<'a>>>,
        /// The number of its tokens.
        token_count = "tokenCount": Option<Count>,
        /// The mean of the logarithms of its tokens' probabilities.
        avg_logprobs = "avgLogprobs": Option<Number>,
        /// The probabilities of its tokens.
        logprobs_result = "logprobsResult": Option<Box<LogprobsResult<'a>>>,
    }
}

words! {
    /// Why an answer ended.
    pub enum FinishReason {
        /// At its natural end, at a stop sequence, or for calls of functions.
        "STOP" => Stop,
        "MAX_TOKENS" => MaxTokens,
        "SAFETY" => Safety,
        "RECITATION" => Recitation,
        "LANGUAGE" => Language,
        "OTHER" => Unspecific,
        "BLOCKLIST" => Blocklist,
        "PROHIBITED_CONTENT" => ProhibitedContent,
        /// Personal data.
        "SPII" => Spii,
        "MALFORMED_FUNCTION_CALL" => MalformedFunctionCall,
        "IMAGE_SAFETY" => ImageSafety,
        "IMAGE_PROHIBITED_CONTENT" => ImageProhibitedContent,
        "IMAGE_RECITATION" => ImageRecitation,
        "IMAGE_OTHER" => ImageOther,
        "NO_IMAGE" => NoImage,
        /// A call though there are no tools.
        "UNEXPECTED_TOOL_CALL" => UnexpectedToolCall,
        "TOO_MANY_TOOL_CALLS" => TooManyToolCalls,
        "MISSING_THOUGHT_SIGNATURE" => MissingThoughtSignature,
        "MALFORMED_RESPONSE" => MalformedResponse,
        "ESCALATION" => Escalation,
        "PUP_LIMITED_DISABLED" => PupLimitedDisabled,
        /// The limit of one request was met, and the next one can go on with `continuation_token`.
        "CONTINUATION" => Continuation,
    }
}

/// What kind of end a candidate has. Other vendors have few reasons where Gemini has many.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// The answer is whole, or its reason is one of tomorrow, which is an end like others.
    Whole,
    /// A limit was met. What is left of a long answer cannot be asked for at other vendors, so that is a limit, too.
    Limit,
    /// A filter stopped it.
    Filtered,
    /// It was stopped and nothing says by what, or no image came of it.
    Unexplained,
    /// The model failed: what it wrote is no answer, though the vendor calls that an end.
    Failed,
}

impl FinishReason<'_> {
    /// What kind of end this is (B50).
    pub fn end(&self) -> End {
        match self {
            Self::Stop | Self::Other(_) => End::Whole,
            Self::MaxTokens | Self::Continuation => End::Limit,
            Self::Safety
            | Self::Recitation
            | Self::Language
            | Self::Blocklist
            | Self::ProhibitedContent
            | Self::Spii
            | Self::ImageSafety
            | Self::ImageProhibitedContent
            | Self::ImageRecitation
            | Self::Escalation
            | Self::PupLimitedDisabled => End::Filtered,
            Self::Unspecific | Self::ImageOther | Self::NoImage => End::Unexplained,
            Self::MalformedFunctionCall
            | Self::MalformedResponse
            | Self::UnexpectedToolCall
            | Self::TooManyToolCalls
            | Self::MissingThoughtSignature => End::Failed,
        }
    }
}

message! {
    /// How harmful something is.
    pub struct SafetyRating<'a> {
        /// The kind of harm.
        category: Option<Text<'a>>,
        /// `NEGLIGIBLE`, `LOW`, `MEDIUM` or `HIGH`.
        probability: Option<Text<'a>>,
        /// Whether it was filtered for this.
        blocked: Option<bool>,
    }
}

message! {
    /// Whether the prompt was blocked, and why.
    pub struct PromptFeedback<'a> {
        /// Present when it was.
        block_reason = "blockReason": Option<BlockReason<'a>>,
        /// The same in words. Vertex AI only.
        block_reason_message = "blockReasonMessage": Option<Text<'a>>,
        /// How harmful the prompt is.
        safety_ratings = "safetyRatings": Vec<SafetyRating<'a>>,
    }
}

words! {
    /// Why a prompt was blocked.
    pub enum BlockReason {
        "SAFETY" => Safety,
        "OTHER" => Unspecific,
        "BLOCKLIST" => Blocklist,
        "PROHIBITED_CONTENT" => ProhibitedContent,
        "IMAGE_SAFETY" => ImageSafety,
        /// Vertex AI only.
        "MODEL_ARMOR" => ModelArmor,
        /// Vertex AI only.
        "JAILBREAK" => Jailbreak,
    }
}

message! {
    /// Tokens. The total is that of prompt, tool use, thoughts and candidates.
    pub struct UsageMetadata<'a> {
        /// The prompt with what came from the cache, without what tools found.
        prompt_token_count = "promptTokenCount": Option<Count>,
        /// The part of the prompt that came from the cache.
        cached_content_token_count = "cachedContentTokenCount": Option<Count>,
        /// The answers without thoughts.
        candidates_token_count = "candidatesTokenCount": Option<Count>,
        /// Thoughts.
        thoughts_token_count = "thoughtsTokenCount": Option<Count>,
        /// What tools that the vendor runs found.
        tool_use_prompt_token_count = "toolUsePromptTokenCount": Option<Count>,
        /// All of these.
        total_token_count = "totalTokenCount": Option<Count>,
        /// The prompt by kind of content.
        prompt_tokens_details = "promptTokensDetails": Few<ModalityTokenCount<'a>>,
        /// The part from the cache by kind.
        cache_tokens_details = "cacheTokensDetails": Few<ModalityTokenCount<'a>>,
        /// The answers by kind.
        candidates_tokens_details = "candidatesTokensDetails": Few<ModalityTokenCount<'a>>,
        /// What tools found by kind.
        tool_use_prompt_tokens_details = "toolUsePromptTokensDetails": Few<ModalityTokenCount<'a>>,
        /// How it was served. The pages show it, the SDK's type does not have it.
        service_tier = "serviceTier": Option<ServiceTier<'a>>,
        /// Vertex AI only.
        traffic_type = "trafficType": Option<Text<'a>>,
    }
}

message! {
    /// The tokens of one kind of content.
    pub struct ModalityTokenCount<'a> {
        /// The kind.
        modality: Option<Modality<'a>>,
        /// How many.
        token_count = "tokenCount": Option<Count>,
    }
}

message! {
    /// How old the model is.
    pub struct ModelStatus<'a> {
        /// `EXPERIMENTAL`, `PREVIEW`, `STABLE`, `LEGACY`, `DEPRECATED`, `RETIRED`, …
        model_stage = "modelStage": Option<Text<'a>>,
        /// RFC 3339.
        retirement_time = "retirementTime": Option<Text<'a>>,
        /// The same in words.
        message: Option<Text<'a>>,
    }
}

message! {
    /// A failure (<https://cloud.google.com/apis/design/errors>).
    pub struct Status<'a> {
        /// The HTTP status.
        code: Option<Count>,
        /// What went wrong.
        message: Option<Text<'a>>,
        /// Such as `INVALID_ARGUMENT`.
        status: Option<Text<'a>>,
        /// Objects that tell their kind in `@type`.
        details: Vec<Raw<'a>>,
    }
}
