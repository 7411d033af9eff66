//! Takes a whole answer apart into the events of a stream.

use std::borrow::Cow;

use serde_json::value::RawValue;

use super::stream_writer::StreamWriter;
use super::wire::content::{CompactionBlock, ContentBlock, McpToolUseBlock, TextBlock, ThinkingBlock, ToolUseBlock};
use super::wire::response::Message;
use super::wire::stream::{
    CitationsDelta, CompactionDelta, Delta, InputJsonDelta, MessageDelta, MessageDeltaBody, SignatureDelta, TextDelta,
    ThinkingDelta,
};
use super::wire::usage::Usage;
use crate::protocol::convert::{self, ConvertError, Reply};
use crate::protocol::wire::{Raw, Text};

/// Appends the events of the answer `body` to `out`; nothing if it is no answer.
pub fn unfold(body: &str, out: &mut Vec<u8>) -> Result<(), ConvertError> {
    let message: Message<'_> = convert::read(body).map_err(|error| ConvertError::Unreadable(error.to_string()))?;
    let mut writer = StreamWriter::new(&Reply::default());
    writer.start_with(beginning(&message), out);
    for block in &message.content {
        writer.block(block, out);
    }
    writer.finish_with(ending(&message), out);
    Ok(())
}

/// What `message_start` has of an answer: no content, no end, and of the output's tokens the first.
fn beginning<'a>(message: &'a Message<'a>) -> Message<'a> {
    let usage = message.usage.as_ref().map(|usage| Usage {
        output_tokens: usage.output_tokens.map(|tokens| tokens.min(1)),
        output_tokens_details: None,
        server_tool_use: None,
        ..usage.clone()
    });
    Message {
        content: vec![],
        stop_reason: None,
        stop_sequence: None,
        stop_details: None,
        container: None,
        usage,
        context_management: None,
        input_transformations: None,
        id: message.id.by_ref(),
        kind: message.kind.by_ref(),
        role: message.role.clone(),
        model: message.model.by_ref(),
        diagnostics: message.diagnostics.clone(),
    }
}

/// What `message_delta` has of an answer.
fn ending<'a>(message: &'a Message<'a>) -> MessageDelta<'a> {
    MessageDelta {
        delta: MessageDeltaBody {
            stop_reason: message.stop_reason.clone(),
            stop_sequence: message.stop_sequence.as_ref().map(Text::by_ref),
            stop_details: message.stop_details.clone(),
            container: message.container.clone(),
        },
        usage: message.usage.as_ref().map(Usage::of_delta),
        context_management: message.context_management.as_ref().map(Raw::by_ref),
        input_transformations: message.input_transformations.as_ref().map(Raw::by_ref),
    }
}

/// What `content_block_start` has of a block, and the deltas that bring the rest.
pub(super) fn block<'a>(block: &'a ContentBlock<'a>) -> (ContentBlock<'a>, Vec<Delta<'a>>) {
    match block {
        ContentBlock::Text(whole) => {
            let start = TextBlock {
                text: Text::default(),
                citations: whole.citations.as_ref().map(|_| vec![]),
                cache_control: None,
            };
            (ContentBlock::Text(start), text_deltas(whole))
        }
        ContentBlock::Thinking(whole) => {
            let signature = whole.signature.as_ref().map(|_| Text::default());
            let start = ThinkingBlock { thinking: Text::default(), signature };
            (ContentBlock::Thinking(start), thinking_deltas(whole))
        }
        ContentBlock::ToolUse(whole) => {
            (ContentBlock::ToolUse(Box::new(tool_use_start(whole))), input_deltas(&whole.input))
        }
        ContentBlock::ServerToolUse(whole) => {
            (ContentBlock::ServerToolUse(Box::new(tool_use_start(whole))), input_deltas(&whole.input))
        }
        ContentBlock::McpToolUse(whole) => {
            let start = McpToolUseBlock { input: no_input(), ..McpToolUseBlock::clone(whole) };
            (ContentBlock::McpToolUse(Box::new(start)), input_deltas(&whole.input))
        }
        ContentBlock::Compaction(whole) => {
            let start = CompactionBlock { content: None, encrypted_content: None, ..CompactionBlock::clone(whole) };
            (ContentBlock::Compaction(Box::new(start)), compaction_deltas(whole))
        }
        whole => (whole.clone(), vec![]),
    }
}

fn text_deltas<'a>(whole: &'a TextBlock<'a>) -> Vec<Delta<'a>> {
    let citations = whole.citations.iter().flatten();
    let mut deltas: Vec<_> =
        citations.map(|citation| Delta::Citations(Box::new(CitationsDelta { citation: citation.clone() }))).collect();
    if !whole.text.is_empty() {
        deltas.push(Delta::Text(TextDelta { text: whole.text.by_ref() }));
    }
    deltas
}

fn thinking_deltas<'a>(whole: &'a ThinkingBlock<'a>) -> Vec<Delta<'a>> {
    let mut deltas = Vec::new();
    if !whole.thinking.is_empty() {
        deltas.push(Delta::Thinking(ThinkingDelta { thinking: whole.thinking.by_ref(), estimated_tokens: None }));
    }
    if let Some(signature) = &whole.signature {
        deltas.push(Delta::Signature(SignatureDelta { signature: signature.by_ref() }));
    }
    deltas
}

fn tool_use_start<'a>(whole: &'a ToolUseBlock<'a>) -> ToolUseBlock<'a> {
    ToolUseBlock { input: no_input(), ..whole.clone() }
}

/// None for empty arguments, which `content_block_start` says already.
fn input_deltas<'a>(input: &'a Raw<'a>) -> Vec<Delta<'a>> {
    match input.get() {
        "{}" => vec![],
        input => vec![Delta::InputJson(InputJsonDelta { partial_json: input.into() })],
    }
}

fn compaction_deltas<'a>(whole: &'a CompactionBlock<'a>) -> Vec<Delta<'a>> {
    let content = whole.content.as_ref().map(Text::by_ref);
    let encrypted_content = whole.encrypted_content.as_ref().map(Text::by_ref);
    vec![Delta::Compaction(Box::new(CompactionDelta { content, encrypted_content }))]
}

fn no_input() -> Raw<'static> {
    // An empty object is JSON.
    Raw::of(&serde_json::Map::new()).unwrap_or(Raw(Cow::Borrowed(RawValue::NULL)))
}
