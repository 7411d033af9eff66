//! The body of `POST /v1/messages` and of `POST /v1/messages/count_tokens`.

use crate::protocol::wire::TextOr;
use crate::words;
use serde::Serialize;
use tollgate_macros::Read;

use super::content::{CacheControl, Content};
use super::document::BasicBlock;
use super::tools::{McpServer, Tool, ToolChoice};
use crate::protocol::wire::{Raw, Text};
use crate::tagged;

/// A request for a message, or for the count of its input tokens.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Read)]
pub struct MessagesRequest<'a> {
    /// The model's name.
    #[serde(borrow)]
    pub model: Text<'a>,
    /// The most output tokens, thinking included; 0 only fills the prompt cache. Absent in count_tokens alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_tokens: Option<u64>,
    /// The conversation; neighbours of the same role count as one turn.
    #[serde(borrow)]
    pub messages: Vec<InputMessage<'a>>,
    /// The system prompt: a text or text blocks.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub system: Option<TextOr<'a, Vec<BasicBlock<'a>>>>,
    /// Whether the answer comes as events.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stream: Option<bool>,
    /// Texts that end the answer.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub stop_sequences: Option<Vec<Text<'a>>>,
    /// 0 to 1. Refused in API version 2026-10-21 and by the newer models, as are `top_p` and `top_k`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub temperature: Option<f64>,
    /// Nucleus sampling, 0 to 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub top_p: Option<f64>,
    /// Sampling from the likeliest tokens only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub top_k: Option<u64>,
    /// What the model may call.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub tools: Option<Vec<Tool<'a>>>,
    /// Whether and what it has to call.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub tool_choice: Option<ToolChoice<'a>>,
    /// How it thinks; what its absence means depends on the model.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub thinking: Option<Thinking<'a>>,
    /// Effort and form of the answer.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub output_config: Option<OutputConfig<'a>>,
    /// The former beta name of `output_config.format`.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub output_format: Option<OutputFormat<'a>>,
    /// A cache breakpoint at the last block that can have one.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub cache_control: Option<CacheControl<'a>>,
    /// Whom the request is for.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub metadata: Option<Metadata<'a>>,
    /// `auto` or `standard_only`.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub service_tier: Option<Text<'a>>,
    /// `standard` or `fast`.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub speed: Option<Text<'a>>,
    /// Where inference has to run.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub inference_geo: Option<Text<'a>>,
    /// The container of code execution: its id, or an object with skills.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub container: Option<TextOr<'a, ContainerParams<'a>>>,
    /// Asks why the prompt cache was missed.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub diagnostics: Option<DiagnosticsParams<'a>>,
    /// Beta: remote MCP servers that the vendor calls.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub mcp_servers: Option<Vec<McpServer<'a>>>,
    /// Beta: edits of the context, `{"edits": […]}`.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub context_management: Option<Raw<'a>>,
    /// Beta: makes the request a compaction of the conversation.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub compaction: Option<Raw<'a>>,
    /// Beta: the vendor keeps the conversation.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub thread: Option<Thread<'a>>,
    /// Beta: models to try after a refusal, a list or `"default"`.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub fallbacks: Option<Raw<'a>>,
    /// Beta: a token of a former refusal, a string or an object.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub fallback_credit_token: Option<Raw<'a>>,
    /// Beta: who pays.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub billing_policy: Option<Raw<'a>>,
}

words! {
    /// Who speaks.
    pub enum Role<'a> {
        /// The user; also the results of tools.
        "user" => User,
        /// The model.
        "assistant" => Assistant,
        /// An instruction in the course of the conversation; newer models only.
        "system" => System,
    }
}

/// One message of the conversation.
#[derive(Debug, Clone, PartialEq, Serialize, Read)]
pub struct InputMessage<'a> {
    /// Who speaks.
    #[serde(borrow)]
    pub role: Role<'a>,
    /// What is said. Absent only in a system message that carries a setting.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub content: Option<Content<'a>>,
    /// Beta, system messages: when it ceases to hold, `next_user_message` or `never`.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub clear_at: Option<Text<'a>>,
    /// Beta, system messages: the effort from here on.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub output_config: Option<OutputConfig<'a>>,
}

tagged! {
    /// How the model thinks.
    pub enum Thinking<'a> {
        /// With a budget; older models only.
        "enabled" => Enabled(ThinkingEnabled<'a>),
        /// As much as the model finds right, steered by the effort.
        "adaptive" => Adaptive(ThinkingAdaptive<'a>),
        /// Not at all; some models refuse this.
        "disabled" => Disabled(Empty),
        /// Not at all, but progress between tool calls comes as thinking blocks.
        "between_tools" => BetweenTools(Empty),
    }
}

/// Thinking with a budget.
#[derive(Debug, Clone, PartialEq, Serialize, Read)]
pub struct ThinkingEnabled<'a> {
    /// At least 1024 and, unless interleaved with tools, less than `max_tokens`.
    pub budget_tokens: u64,
    /// What of it is shown.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub display: Option<Display<'a>>,
    /// Beta: what happens to thinking blocks of another conversation.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub block_binding: Option<Raw<'a>>,
}

/// Thinking by the model's own measure.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Read)]
pub struct ThinkingAdaptive<'a> {
    /// What of it is shown.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub display: Option<Display<'a>>,
    /// Beta: what happens to thinking blocks of another conversation.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub block_binding: Option<Raw<'a>>,
}

words! {
    /// What of the thinking is shown. The default depends on the model.
    pub enum Display<'a> {
        /// A summary.
        "summarized" => Summarized,
        /// Nothing: the blocks come empty, with their signatures.
        "omitted" => Omitted,
        /// Beta: short notes on the progress.
        "updates" => Updates,
    }
}

/// Effort and form of the answer.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Read)]
pub struct OutputConfig<'a> {
    /// How thorough the model is, in thinking and in text.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub effort: Option<Effort<'a>>,
    /// The form of the answer's text.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub format: Option<OutputFormat<'a>>,
    /// Beta: tokens for a whole task.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub task_budget: Option<Raw<'a>>,
}

words! {
    /// How thorough the model is. Not every model knows every level.
    pub enum Effort<'a> {
        /// Low.
        "low" => Low,
        /// Medium.
        "medium" => Medium,
        /// High, the default of most models.
        "high" => High,
        /// More than high.
        "xhigh" => Xhigh,
        /// As much as there is.
        "max" => Max,
    }
}

tagged! {
    /// The form of the answer's text.
    pub enum OutputFormat<'a> {
        /// JSON by a schema.
        "json_schema" => JsonSchema(JsonSchemaFormat<'a>),
    }
}

/// JSON by a schema.
#[derive(Debug, Clone, PartialEq, Serialize, Read)]
pub struct JsonSchemaFormat<'a> {
    /// The JSON Schema; its objects need `additionalProperties: false`.
    #[serde(borrow)]
    pub schema: Raw<'a>,
}

/// Whom the request is for.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Read)]
pub struct Metadata<'a> {
    /// An opaque id of the end user. Claude Code puts a JSON text here.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub user_id: Option<Text<'a>>,
}

/// The container of code execution.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Read)]
pub struct ContainerParams<'a> {
    /// A container of a former answer.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub id: Option<Text<'a>>,
    /// Skills to load.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub skills: Option<Vec<Skill<'a>>>,
}

/// A skill in a container.
#[derive(Debug, Clone, PartialEq, Serialize, Read)]
pub struct Skill<'a> {
    /// `anthropic` or `custom`.
    #[serde(borrow, rename = "type")]
    pub kind: Text<'a>,
    /// Its id.
    #[serde(borrow)]
    pub skill_id: Text<'a>,
    /// Its version; the latest when absent.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub version: Option<Text<'a>>,
}

/// Asks why the prompt cache was missed.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Read)]
pub struct DiagnosticsParams<'a> {
    /// The answer to compare with.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub previous_message_id: Option<Text<'a>>,
}

tagged! {
    /// Beta: a conversation that the vendor keeps.
    pub enum Thread<'a> {
        /// Begins one.
        "create" => Create(Empty),
        /// Adds a turn to one.
        "continue" => Continue(ThreadContinue<'a>),
    }
}

/// Adds a turn to a kept conversation.
#[derive(Debug, Clone, PartialEq, Serialize, Read)]
pub struct ThreadContinue<'a> {
    /// The id of its last answer.
    #[serde(borrow)]
    pub previous_message_id: Text<'a>,
}

/// An object whose `type` says everything.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Read)]
pub struct Empty {}
