//! Puts the events of a stream together to the answer that a request without streaming would have had.

use std::borrow::Cow;
use std::collections::BTreeMap;

use super::error::status_of;
use super::wire::content::ContentBlock;
use super::wire::response::{ErrorObject, Message};
use super::wire::stream::{Delta, MessageDelta, StreamEvent};
use super::wire::usage::Usage;
use crate::protocol::convert::StreamFault;
use crate::protocol::wire::{Raw, Text};

/// The answer so far. Time is linear in the stream: what was put together is not read again.
#[derive(Debug, Default)]
pub struct Fold {
    /// The answer of `message_start`, as JSON.
    message: Option<String>,
    blocks: BTreeMap<u64, Block>,
    /// The `message_delta` events, as JSON.
    endings: Vec<String>,
    is_complete: bool,
    fault: Option<StreamFault<'static>>,
}

/// A block so far.
#[derive(Debug, Default)]
struct Block {
    /// The block of `content_block_start`, as JSON.
    start: String,
    /// Text, thinking or arguments.
    text: String,
    signature: Option<String>,
    /// The deltas that are kept whole, as JSON.
    deltas: Vec<String>,
}

impl Fold {
    /// Takes the data of the next event. What comes after an error is left out.
    pub fn event(&mut self, data: &str) {
        if self.fault.is_some() {
            return;
        }
        match StreamEvent::parse(data) {
            Ok(event) => self.take(event),
            Err(_) => self.fault = Some(StreamFault::unreadable()),
        }
    }

    /// The answer, or why there is none: the vendor's error, or that the stream was cut.
    pub fn finish(self) -> Result<Vec<u8>, StreamFault<'static>> {
        if let Some(fault) = self.fault {
            return Err(fault);
        }
        let Some(message) = self.message.filter(|_| self.is_complete) else { return Err(StreamFault::cut_off()) };
        let mut message: Message<'_> = serde_json::from_str(&message).map_err(|_| StreamFault::unreadable())?;
        for block in self.blocks.values() {
            message.content.push(block.whole().ok_or_else(StreamFault::unreadable)?);
        }
        let mut usage = Usage::default();
        message.usage.iter().for_each(|start| usage.update(start));
        for ending in &self.endings {
            let ending: MessageDelta<'_> = serde_json::from_str(ending).map_err(|_| StreamFault::unreadable())?;
            ending.usage.iter().for_each(|newer| usage.update(newer));
            end(&mut message, ending);
        }
        message.usage = Some(usage);
        serde_json::to_vec(&message).map_err(|_| StreamFault::unreadable())
    }

    fn take(&mut self, event: StreamEvent<'_>) {
        match event {
            StreamEvent::MessageStart(start) => {
                if self.message.is_none() {
                    self.message = serde_json::to_string(&start.message).ok();
                }
            }
            StreamEvent::ContentBlockStart(start) => {
                let block = serde_json::to_string(&start.content_block).unwrap_or_default();
                self.blocks.insert(start.index, Block { start: block, ..Block::default() });
            }
            StreamEvent::ContentBlockDelta(delta) => {
                if let Some(block) = self.blocks.get_mut(&delta.index) {
                    block.add(&delta.delta);
                }
            }
            StreamEvent::MessageDelta(ending) => {
                self.endings.extend(serde_json::to_string(&ending));
            }
            StreamEvent::MessageStop(_) => self.is_complete = true,
            StreamEvent::Error(error) => self.fault = Some(fault(&error.error)),
            StreamEvent::ContentBlockStop(_) | StreamEvent::Ping(_) | StreamEvent::Other(_) => {}
        }
    }
}

impl Block {
    fn add(&mut self, delta: &Delta<'_>) {
        match delta {
            Delta::Text(delta) => self.text.push_str(&delta.text),
            Delta::Thinking(delta) => self.text.push_str(&delta.thinking),
            Delta::InputJson(delta) => self.text.push_str(&delta.partial_json),
            Delta::Signature(delta) => self.signature = Some(delta.signature.to_string()),
            Delta::Citations(_) | Delta::Compaction(_) => self.deltas.extend(serde_json::to_string(delta)),
            Delta::Other(_) => {}
        }
    }

    fn whole(&self) -> Option<ContentBlock<'_>> {
        let mut block = serde_json::from_str(&self.start).ok()?;
        match &mut block {
            ContentBlock::Text(whole) => append(&mut whole.text, &self.text),
            ContentBlock::Thinking(whole) => {
                append(&mut whole.thinking, &self.text);
                let former = whole.signature.take();
                whole.signature = self.signature.as_deref().map(Text::from).or(former);
            }
            ContentBlock::ToolUse(whole) | ContentBlock::ServerToolUse(whole) => self.arguments(&mut whole.input)?,
            ContentBlock::McpToolUse(whole) => self.arguments(&mut whole.input)?,
            _ => {}
        }
        for delta in &self.deltas {
            match (&mut block, serde_json::from_str(delta).ok()?) {
                (ContentBlock::Text(whole), Delta::Citations(delta)) => {
                    whole.citations.get_or_insert_default().push(delta.citation);
                }
                (ContentBlock::Compaction(whole), Delta::Compaction(delta)) => {
                    whole.content = delta.content.or(whole.content.take());
                    whole.encrypted_content = delta.encrypted_content.or(whole.encrypted_content.take());
                }
                _ => {}
            }
        }
        Some(block)
    }

    /// Sets the arguments, if any came. Those that were cut are no JSON; they are wrapped as the vendor advises
    /// (<https://platform.claude.com/docs/en/agents-and-tools/tool-use/fine-grained-tool-streaming>).
    fn arguments<'a>(&'a self, input: &mut Raw<'a>) -> Option<()> {
        if !self.text.trim().is_empty() {
            *input = match Raw::parse(&self.text) {
                Ok(arguments) => arguments,
                Err(_) => Raw::of(&serde_json::json!({"INVALID_JSON": self.text})).ok()?,
            };
        }
        Some(())
    }
}

/// The arguments of a call that were cut short, as they came, out of what a [`Fold`] has wrapped them into.
pub fn cut_arguments(input: &Raw<'_>) -> Option<String> {
    #[derive(serde::Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Wrapped {
        #[serde(rename = "INVALID_JSON")]
        text: String,
    }
    if !input.get().starts_with("{\"INVALID_JSON\"") {
        return None;
    }
    input.read::<Wrapped>().ok().map(|wrapped| wrapped.text)
}

fn append<'a>(text: &mut Text<'a>, more: &'a str) {
    if text.is_empty() {
        *text = more.into();
    } else {
        text.0.to_mut().push_str(more);
    }
}

/// Takes over what a `message_delta` says.
fn end<'a>(message: &mut Message<'a>, ending: MessageDelta<'a>) {
    fn replace<T>(old: &mut Option<T>, new: Option<T>) {
        if new.is_some() {
            *old = new;
        }
    }
    replace(&mut message.stop_reason, ending.delta.stop_reason);
    replace(&mut message.stop_sequence, ending.delta.stop_sequence);
    replace(&mut message.stop_details, ending.delta.stop_details);
    replace(&mut message.container, ending.delta.container);
    replace(&mut message.context_management, ending.context_management);
    replace(&mut message.input_transformations, ending.input_transformations);
}

/// The vendor's error. Its code is what `details` calls one, else the error's type.
pub(crate) fn fault(error: &ErrorObject<'_>) -> StreamFault<'static> {
    #[derive(tollgate_macros::Read)]
    struct Details<'a> {
        #[serde(borrow)]
        error_code: Option<Text<'a>>,
    }
    let details = error.details.as_ref().and_then(|details| details.read::<Details<'_>>().ok());
    let code = details.and_then(|details| details.error_code).map(Text::into_owned);
    StreamFault {
        status: status_of(&error.kind),
        code: Cow::Owned(code.unwrap_or_else(|| error.kind.to_string())),
        message: Cow::Owned(error.message.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::super::unfold::unfold;
    use super::*;
    use crate::protocol::golden;
    use crate::protocol::sse::Parser;

    fn fold(stream: &[u8], size: usize) -> Result<Vec<u8>, StreamFault<'static>> {
        let (mut fold, mut parser) = (Fold::default(), Parser::default());
        let mut sink = |event: crate::protocol::sse::Event<'_>| fold.event(std::str::from_utf8(event.data).unwrap());
        stream.chunks(size).for_each(|piece| parser.feed(piece, &mut sink));
        parser.finish(&mut sink);
        fold.finish()
    }

    #[test]
    fn what_was_taken_apart_is_put_together_again() {
        golden::check_documents("claude/response", 25, &|text| {
            let mut stream = Vec::new();
            unfold(text, &mut stream).unwrap();
            Ok(String::from_utf8(fold(&stream, 7).unwrap()).unwrap())
        });
    }

    #[test]
    fn streams_become_answers_however_they_are_cut() {
        let mut failed = Vec::new();
        golden::each_stream("claude/stream", &mut |name, stream| {
            let whole = fold(stream, stream.len());
            for size in [1, 5, 64] {
                assert_eq!(fold(stream, size), whole, "{name}");
            }
            match whole {
                Ok(body) => {
                    let message: Message<'_> = serde_json::from_slice(&body).unwrap();
                    assert!(message.stop_reason.is_some() && message.usage.is_some(), "{name}");
                }
                Err(fault) => failed.push(format!("{name}: {} {}", fault.status, fault.code)),
            }
        });
        let expected = [
            "cut-without-message-stop: 502 upstream_cut",
            "error-at-once: 500 api_error",
            "error-overloaded-midway: 529 overloaded_error",
        ];
        assert_eq!(failed, expected);
    }

    #[test]
    fn deltas_are_joined_and_usage_is_the_latest() {
        let mut fold = Fold::default();
        for event in [
            r#"{"type":"message_start","message":{"id":"msg_1","model":"m","usage":{"input_tokens":5,"output_tokens":1}}}"#,
            r#"{"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"","signature":""}}"#,
            r#"{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"h"}}"#,
            r#"{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"m"}}"#,
            r#"{"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"s"}}"#,
            r#"{"type":"content_block_start","index":1,"content_block":{"type":"tool_use","id":"t","name":"f","input":{}}}"#,
            r#"{"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"{\"a\":"}}"#,
            r#"{"type":"content_block_start","index":2,"content_block":{"type":"tool_use","id":"u","name":"f","input":{}}}"#,
            r#"{"type":"message_delta","delta":{"stop_reason":"max_tokens"},"usage":{"output_tokens":9}}"#,
            r#"{"type":"message_stop"}"#,
        ] {
            fold.event(event);
        }
        let body: Value = serde_json::from_slice(&fold.finish().unwrap()).unwrap();
        assert_eq!(body["content"][0]["thinking"], "hm");
        assert_eq!(body["content"][0]["signature"], "s");
        assert_eq!(body["content"][1]["input"], serde_json::json!({"INVALID_JSON": "{\"a\":"}));
        assert_eq!(body["content"][2]["input"], serde_json::json!({}));
        assert_eq!(body["usage"], serde_json::json!({"input_tokens": 5, "output_tokens": 9}));
        assert_eq!(body["stop_reason"], "max_tokens");
    }

    #[test]
    fn what_cannot_be_read_is_a_fault() {
        let mut fold = Fold::default();
        fold.event("no JSON");
        fold.event(r#"{"type":"message_stop"}"#);
        assert_eq!(fold.finish().unwrap_err(), StreamFault::unreadable());
        assert_eq!(Fold::default().finish().unwrap_err(), StreamFault::cut_off());
    }
}
