//! Items: what a request's `input` and a response's `output` are lists of.
//!
//! Both have the same types here, since clients send back what they got. What the SDK requires only in an output is optional.
//!
//! <https://developers.openai.com/api/reference/resources/responses>, `ResponseInputItem` and `ResponseOutputItem` of openai (Python) 3.57.0.

use serde::de::{Error as _, IgnoredAny};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::value::RawValue;
use tollgate_macros::Read;

use super::common::{Bare, lenient, words};
use super::content::{Content, Part};
use super::context::{
    AdditionalTools, Compaction, CompactionTrigger, ConfigurationUpdate, ItemReference, Program, ProgramOutput,
    ToolSearchCall, ToolSearchOutput,
};
use super::hosted::{
    CodeInterpreterCall, FileSearchCall, ImageGenerationCall, McpApprovalRequest, McpApprovalResponse, McpCall,
    McpListTools, WebSearchCall,
};
use super::local::{
    ApplyPatchCall, ApplyPatchCallOutput, ComputerCall, ComputerCallOutput, LocalShellCall, LocalShellCallOutput,
    ShellCall, ShellCallOutput,
};
use crate::protocol::wire::Text;
use crate::tagged;

/// An item of a request, whose `type` may be missing.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum InputItem<'a> {
    /// With its `type`.
    Typed(Item<'a>),
    /// Without one: a message.
    Message(Message<'a>),
    /// Without one and without a role: a reference.
    Reference(ItemReference<'a>),
}

impl<'de: 'a, 'a> Deserialize<'de> for InputItem<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Read)]
        struct Shape {
            r#type: Option<IgnoredAny>,
            role: Option<IgnoredAny>,
        }
        let text = <&'de RawValue>::deserialize(deserializer)?.get();
        if !text.starts_with('{') {
            return Err(D::Error::custom("an object is expected"));
        }
        let result = match serde_json::from_str(text).map_err(D::Error::custom)? {
            Shape { r#type: Some(_), .. } => serde_json::from_str(text).map(Self::Typed),
            Shape { role: Some(_), .. } => serde_json::from_str(text).map(Self::Message),
            Shape { .. } => serde_json::from_str(text).map(Self::Reference),
        };
        result.map_err(D::Error::custom)
    }
}

tagged! {
    /// An item.
    pub enum Item<'a> {
        /// A message of either side.
        "message" => Message(Message<'a>),
        /// The model's reasoning.
        "reasoning" => Reasoning(ReasoningItem<'a>),
        /// A call of a function.
        "function_call" => FunctionCall(FunctionCall<'a>),
        /// What a function returned.
        "function_call_output" => FunctionCallOutput(FunctionCallOutput<'a>),
        /// A call of a custom tool.
        "custom_tool_call" => CustomToolCall(CustomToolCall<'a>),
        /// What a custom tool returned.
        "custom_tool_call_output" => CustomToolCallOutput(FunctionCallOutput<'a>),
        /// Tools from here on.
        "additional_tools" => AdditionalTools(AdditionalTools<'a>),
        /// Other parameters from here on.
        "configuration_update" => ConfigurationUpdate(ConfigurationUpdate<'a>),
        /// A search among the tools.
        "tool_search_call" => ToolSearchCall(ToolSearchCall<'a>),
        /// The tools that were found.
        "tool_search_output" => ToolSearchOutput(ToolSearchOutput<'a>),
        /// A program that calls tools.
        "program" => Program(Program<'a>),
        /// What the program returned.
        "program_output" => ProgramOutput(ProgramOutput<'a>),
        /// The conversation so far, compacted.
        "compaction" => Compaction(Compaction<'a>),
        /// Asks for a compaction; the last item.
        "compaction_trigger" => CompactionTrigger(CompactionTrigger<'a>),
        /// An item that the vendor has.
        "item_reference" => ItemReference(ItemReference<'a>),
        /// A search of the web.
        "web_search_call" => WebSearchCall(WebSearchCall<'a>),
        /// A search of files.
        "file_search_call" => FileSearchCall(FileSearchCall<'a>),
        /// A run of Python.
        "code_interpreter_call" => CodeInterpreterCall(CodeInterpreterCall<'a>),
        /// A made image.
        "image_generation_call" => ImageGenerationCall(ImageGenerationCall<'a>),
        /// An action at the computer.
        "computer_call" => ComputerCall(ComputerCall<'a>),
        /// What the computer shows.
        "computer_call_output" => ComputerCallOutput(ComputerCallOutput<'a>),
        /// Commands.
        "shell_call" => ShellCall(ShellCall<'a>),
        /// What the commands printed.
        "shell_call_output" => ShellCallOutput(ShellCallOutput<'a>),
        /// A command, the older tool.
        "local_shell_call" => LocalShellCall(LocalShellCall<'a>),
        /// What it printed.
        "local_shell_call_output" => LocalShellCallOutput(LocalShellCallOutput<'a>),
        /// A change of a file.
        "apply_patch_call" => ApplyPatchCall(ApplyPatchCall<'a>),
        /// Whether it was made.
        "apply_patch_call_output" => ApplyPatchCallOutput(ApplyPatchCallOutput<'a>),
        /// The tools of an MCP server.
        "mcp_list_tools" => McpListTools(McpListTools<'a>),
        /// A call of such a tool.
        "mcp_call" => McpCall(McpCall<'a>),
        /// Asks whether it may be called.
        "mcp_approval_request" => McpApprovalRequest(McpApprovalRequest<'a>),
        /// The answer to that.
        "mcp_approval_response" => McpApprovalResponse(McpApprovalResponse<'a>),
    }
}

/// A message.
#[derive(Debug, Clone, PartialEq, Serialize, Read)]
pub struct Message<'a> {
    /// `msg_…`; required in an output.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub id: Option<Text<'a>>,
    /// Who speaks.
    #[serde(borrow)]
    pub role: Role<'a>,
    /// What is said. An output has parts. Some servers leave it null at first.
    #[serde(borrow, default, deserialize_with = "lenient::or_default")]
    pub content: Content<'a>,
    /// `commentary` or `final_answer`, of the assistant. It has to be sent back.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub phase: Option<Text<'a>>,
    /// `in_progress`, `completed`, `incomplete`; required in an output.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub status: Option<Text<'a>>,
}

words! {
    /// Who speaks.
    pub enum Role<'a> {
        /// The user.
        "user" => User,
        /// The model.
        "assistant" => Assistant,
        /// The application; the older word.
        "system" => System,
        /// The application.
        "developer" => Developer,
    }
}

/// The model's reasoning. It has to be sent back unchanged, the id included.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Read)]
pub struct ReasoningItem<'a> {
    /// `rs_…`
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub id: Option<Text<'a>>,
    /// Parts `summary_text`; may be empty.
    #[serde(borrow, default, deserialize_with = "lenient::or_default")]
    pub summary: Vec<Part<'a>>,
    /// Parts `reasoning_text`.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub content: Option<Vec<Part<'a>>>,
    /// The reasoning, sealed. Bound to the organization and the model. In `output_item.added` it may be incomplete.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub encrypted_content: Option<Text<'a>>,
    /// `in_progress`, `completed`, `incomplete`.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub status: Option<Text<'a>>,
}

/// A call of a function.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Read)]
pub struct FunctionCall<'a> {
    /// `fc_…`; the item's, not the call's.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub id: Option<Text<'a>>,
    /// Ties the output to the call; at most 64 characters.
    #[serde(borrow)]
    pub call_id: Text<'a>,
    /// The function.
    #[serde(borrow)]
    pub name: Text<'a>,
    /// The group in which it is.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub namespace: Option<Text<'a>>,
    /// JSON as text. Some servers leave it empty where there are none.
    #[serde(borrow, default, deserialize_with = "lenient::or_default")]
    pub arguments: Text<'a>,
    /// Whether the model goes on before the output is there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub r#async: Option<bool>,
    /// Who calls.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub caller: Option<Caller<'a>>,
    /// `in_progress`, `completed`, `incomplete`.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub status: Option<Text<'a>>,
    /// Who made the item.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub created_by: Option<Text<'a>>,
}

/// What a function or a custom tool returned.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Read)]
pub struct FunctionCallOutput<'a> {
    /// The item's.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub id: Option<Text<'a>>,
    /// The call's; optional in the SDK only.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub call_id: Option<Text<'a>>,
    /// The function.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub name: Option<Text<'a>>,
    /// The group in which it is.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub namespace: Option<Text<'a>>,
    /// A string, or parts `input_text`, `input_image`, `input_file`.
    #[serde(borrow)]
    pub output: Content<'a>,
    /// Who called.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub caller: Option<Caller<'a>>,
    /// `in_progress`, `completed`, `incomplete`.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub status: Option<Text<'a>>,
    /// Who made the item.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub created_by: Option<Text<'a>>,
}

/// A call of a custom tool.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Read)]
pub struct CustomToolCall<'a> {
    /// `ctc_…`
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub id: Option<Text<'a>>,
    /// Ties the output to the call.
    #[serde(borrow)]
    pub call_id: Text<'a>,
    /// The tool.
    #[serde(borrow)]
    pub name: Text<'a>,
    /// The group in which it is.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub namespace: Option<Text<'a>>,
    /// Any text.
    #[serde(borrow, default, deserialize_with = "lenient::or_default")]
    pub input: Text<'a>,
    /// Whether the model goes on before the output is there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub r#async: Option<bool>,
    /// Who calls.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub caller: Option<Caller<'a>>,
    /// `in_progress`, `completed`, `incomplete`.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub status: Option<Text<'a>>,
    /// Who made the item.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub created_by: Option<Text<'a>>,
}

tagged! {
    /// Who calls a tool.
    pub enum Caller<'a> {
        /// The model.
        "direct" => Direct(Bare),
        /// A program that the model wrote.
        "program" => Program(CallingProgram<'a>),
    }
}

/// A program that calls.
#[derive(Debug, Clone, PartialEq, Serialize, Read)]
pub struct CallingProgram<'a> {
    /// Its call id.
    #[serde(borrow)]
    pub caller_id: Text<'a>,
}
