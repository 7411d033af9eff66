//! The events of a stream. They are numbered from 0; the last one is `response.completed`, `response.incomplete`,
//! `response.failed` or `error`. The vendor sends no `[DONE]`.
//!
//! <https://developers.openai.com/api/reference/resources/responses/streaming-events>, `ResponseStreamEvent` of openai (Python) 3.57.0.

use super::common::events;
use super::event::{
    AnnotationEvent, ArgumentsEvent, CodeEvent, CommandEvent, DeltaEvent, ErrorEvent, InputEvent, ItemEvent, PartEvent,
    PartialImageEvent, RefusalEvent, ResponseEvent, ShellDeltaEvent, ShellOutputEvent, StateEvent, TextEvent,
};

events! {
    /// An event. Its `type` is also the name of the event.
    pub enum Event<'a> {
        /// Begins the stream.
        "response.created" => Created(ResponseEvent<'a>),
        /// It waits, in the background.
        "response.queued" => Queued(ResponseEvent<'a>),
        /// It is being made.
        "response.in_progress" => InProgress(ResponseEvent<'a>),
        /// Its end.
        "response.completed" => Completed(ResponseEvent<'a>),
        /// Its end before it is whole.
        "response.incomplete" => Incomplete(ResponseEvent<'a>),
        /// Its end by an error.
        "response.failed" => Failed(ResponseEvent<'a>),
        /// An error outside of the response.
        "error" => Error(ErrorEvent<'a>),
        /// An item begins.
        "response.output_item.added" => OutputItemAdded(ItemEvent<'a>),
        /// An item is whole.
        "response.output_item.done" => OutputItemDone(ItemEvent<'a>),
        /// A part of a message or of reasoning begins.
        "response.content_part.added" => ContentPartAdded(PartEvent<'a>),
        /// A part is whole.
        "response.content_part.done" => ContentPartDone(PartEvent<'a>),
        /// Text.
        "response.output_text.delta" => OutputTextDelta(DeltaEvent<'a>),
        /// The whole text.
        "response.output_text.done" => OutputTextDone(TextEvent<'a>),
        /// Where the text comes from.
        "response.output_text.annotation.added" => AnnotationAdded(AnnotationEvent<'a>),
        /// A refusal's text.
        "response.refusal.delta" => RefusalDelta(DeltaEvent<'a>),
        /// The whole refusal.
        "response.refusal.done" => RefusalDone(RefusalEvent<'a>),
        /// A section of the summary begins.
        "response.reasoning_summary_part.added" => ReasoningSummaryPartAdded(PartEvent<'a>),
        /// A section of the summary is whole.
        "response.reasoning_summary_part.done" => ReasoningSummaryPartDone(PartEvent<'a>),
        /// The summary's text.
        "response.reasoning_summary_text.delta" => ReasoningSummaryTextDelta(DeltaEvent<'a>),
        /// A section's whole text.
        "response.reasoning_summary_text.done" => ReasoningSummaryTextDone(TextEvent<'a>),
        /// Reasoning itself.
        "response.reasoning_text.delta" => ReasoningTextDelta(DeltaEvent<'a>),
        /// The part's whole reasoning.
        "response.reasoning_text.done" => ReasoningTextDone(TextEvent<'a>),
        /// Arguments of a function.
        "response.function_call_arguments.delta" => FunctionCallArgumentsDelta(DeltaEvent<'a>),
        /// The whole arguments.
        "response.function_call_arguments.done" => FunctionCallArgumentsDone(ArgumentsEvent<'a>),
        /// Input of a custom tool.
        "response.custom_tool_call_input.delta" => CustomToolCallInputDelta(DeltaEvent<'a>),
        /// The whole input.
        "response.custom_tool_call_input.done" => CustomToolCallInputDone(InputEvent<'a>),
        /// Arguments of an MCP tool.
        "response.mcp_call_arguments.delta" => McpCallArgumentsDelta(DeltaEvent<'a>),
        /// The whole arguments.
        "response.mcp_call_arguments.done" => McpCallArgumentsDone(ArgumentsEvent<'a>),
        /// An MCP call begins.
        "response.mcp_call.in_progress" => McpCallInProgress(StateEvent<'a>),
        /// An MCP call is done.
        "response.mcp_call.completed" => McpCallCompleted(StateEvent<'a>),
        /// An MCP call failed.
        "response.mcp_call.failed" => McpCallFailed(StateEvent<'a>),
        /// The listing of an MCP server's tools begins.
        "response.mcp_list_tools.in_progress" => McpListToolsInProgress(StateEvent<'a>),
        /// The listing of an MCP server's tools is done.
        "response.mcp_list_tools.completed" => McpListToolsCompleted(StateEvent<'a>),
        /// The listing of an MCP server's tools failed.
        "response.mcp_list_tools.failed" => McpListToolsFailed(StateEvent<'a>),
        /// A web search begins.
        "response.web_search_call.in_progress" => WebSearchCallInProgress(StateEvent<'a>),
        /// A web search is searching.
        "response.web_search_call.searching" => WebSearchCallSearching(StateEvent<'a>),
        /// A web search is done.
        "response.web_search_call.completed" => WebSearchCallCompleted(StateEvent<'a>),
        /// A file search begins.
        "response.file_search_call.in_progress" => FileSearchCallInProgress(StateEvent<'a>),
        /// A file search is searching.
        "response.file_search_call.searching" => FileSearchCallSearching(StateEvent<'a>),
        /// A file search is done.
        "response.file_search_call.completed" => FileSearchCallCompleted(StateEvent<'a>),
        /// A run of Python begins.
        "response.code_interpreter_call.in_progress" => CodeInterpreterCallInProgress(StateEvent<'a>),
        /// A run of Python runs.
        "response.code_interpreter_call.interpreting" => CodeInterpreterCallInterpreting(StateEvent<'a>),
        /// A run of Python is done.
        "response.code_interpreter_call.completed" => CodeInterpreterCallCompleted(StateEvent<'a>),
        /// Its source.
        "response.code_interpreter_call_code.delta" => CodeInterpreterCallCodeDelta(DeltaEvent<'a>),
        /// Its whole source.
        "response.code_interpreter_call_code.done" => CodeInterpreterCallCodeDone(CodeEvent<'a>),
        /// The making of an image begins.
        "response.image_generation_call.in_progress" => ImageGenerationCallInProgress(StateEvent<'a>),
        /// The making of an image is under way.
        "response.image_generation_call.generating" => ImageGenerationCallGenerating(StateEvent<'a>),
        /// The making of an image is done.
        "response.image_generation_call.completed" => ImageGenerationCallCompleted(StateEvent<'a>),
        /// An image before the final one.
        "response.image_generation_call.partial_image" => ImageGenerationCallPartialImage(PartialImageEvent<'a>),
        /// A command begins.
        "response.shell_call_command.added" => ShellCallCommandAdded(CommandEvent<'a>),
        /// A piece of a command.
        "response.shell_call_command.delta" => ShellCallCommandDelta(DeltaEvent<'a>),
        /// The whole command.
        "response.shell_call_command.done" => ShellCallCommandDone(CommandEvent<'a>),
        /// What a command prints.
        "response.shell_call_output_content.delta" => ShellCallOutputContentDelta(ShellDeltaEvent<'a>),
        /// What a command printed.
        "response.shell_call_output_content.done" => ShellCallOutputContentDone(ShellOutputEvent<'a>),
        /// Sound.
        "response.audio.delta" => AudioDelta(DeltaEvent<'a>),
        /// The end of the sound.
        "response.audio.done" => AudioDone(StateEvent<'a>),
        /// What is said in the sound.
        "response.audio.transcript.delta" => AudioTranscriptDelta(DeltaEvent<'a>),
        /// The end of what is said.
        "response.audio.transcript.done" => AudioTranscriptDone(StateEvent<'a>),
        /// The conversation is being compacted.
        "response.compaction.compacting" => CompactionCompacting(StateEvent<'a>),
    }
}
