//! A Claude Messages upstream's stream for a Chat Completions client.

use std::collections::BTreeMap;
use std::rc::Rc;

use super::{answer, lost};
use crate::protocol::claude::wire::content::ContentBlock;
use crate::protocol::claude::wire::response::{ErrorObject, StopReason};
use crate::protocol::claude::wire::stream::{ContentBlockStart, Delta, MessageDelta, MessageStart, StreamEvent};
use crate::protocol::claude::wire::usage::Usage;
use crate::protocol::convert::{Losses, Reply, StreamConverter, StreamFault};
use crate::protocol::openai_chat::stream_writer::StreamWriter;
use crate::protocol::openai_chat::wire::message::ThinkingBlock;
use crate::protocol::openai_chat::wire::stream::Delta as ChatDelta;

/// The state of a stream that is converted.
pub struct Stream {
    writer: StreamWriter,
    usage: Usage<'static>,
    /// The blocks that are open, by their place.
    open: BTreeMap<u64, Open>,
    /// The characters of text so far.
    characters: u64,
    /// Whether any thinking was shown.
    has_thought: bool,
    /// Whether there was a call.
    has_called: bool,
    /// Whether the client has a place for one call only.
    knows_one_call: bool,
    losses: Losses,
}

/// A block that is open.
enum Open {
    /// Where the text begins, and the citations on it as JSON: their places are known when it ends.
    Text { start: u64, citations: Vec<String> },
    /// The thinking, which is sent whole beside its signature.
    Thinking { text: String, signature: String },
    /// A call, by its number at the writer.
    Call(usize),
}

impl Stream {
    /// A stream that answers what left `reply` behind.
    pub fn new(reply: Rc<Reply>) -> Self {
        Self {
            knows_one_call: reply.legacy_functions,
            writer: StreamWriter::new(reply),
            usage: Usage::default(),
            open: BTreeMap::new(),
            characters: 0,
            has_thought: false,
            has_called: false,
            losses: Losses::of_stream(),
        }
    }

    fn message_start(&mut self, start: &MessageStart<'_>, out: &mut Vec<u8>) {
        if let Some(usage) = &start.message.usage {
            self.usage.update(usage);
        }
        if start.message.container.is_some() {
            lost::container(&mut self.losses);
        }
        self.writer.start(Some(&start.message.model), out);
    }

    fn block_start(&mut self, start: &ContentBlockStart<'_>, out: &mut Vec<u8>) {
        let open = match &start.content_block {
            ContentBlock::Text(block) => {
                let citations = block.citations.iter().flatten();
                let citations = citations.filter_map(|citation| serde_json::to_string(citation).ok()).collect();
                let open = Open::Text { start: self.characters, citations };
                self.text(&block.text, out);
                open
            }
            ContentBlock::Thinking(block) => {
                self.thinking(&block.thinking, true, out);
                let signature = block.signature.as_deref().unwrap_or_default().to_owned();
                Open::Thinking { text: (*block.thinking).to_owned(), signature }
            }
            ContentBlock::RedactedThinking(block) => return self.thinking_block(answer::redacted(&block.data), out),
            ContentBlock::ToolUse(block) => {
                let call = self.writer.tool_call(0, &block.id, &block.name, None, out);
                if std::mem::replace(&mut self.has_called, true) && self.knows_one_call {
                    lost::calls(&mut self.losses);
                }
                // Some compatible vendors send the arguments at once.
                if block.input.get() != "{}" {
                    self.writer.arguments(0, call, block.input.get(), out);
                }
                Open::Call(call)
            }
            block => return lost::block(block, start.index, &mut self.losses),
        };
        self.open.insert(start.index, open);
    }

    fn block_delta(&mut self, index: u64, delta: &Delta<'_>, out: &mut Vec<u8>) {
        match (self.open.get_mut(&index), delta) {
            (Some(Open::Text { .. }), Delta::Text(delta)) => self.text(&delta.text, out),
            (Some(Open::Text { citations, .. }), Delta::Citations(delta)) => {
                citations.extend(serde_json::to_string(&delta.citation));
            }
            (Some(Open::Thinking { text, .. }), Delta::Thinking(delta)) => {
                let is_first = text.is_empty();
                text.push_str(&delta.thinking);
                self.thinking(&delta.thinking, is_first, out);
            }
            (Some(Open::Thinking { signature, .. }), Delta::Signature(delta)) => {
                signature.clear();
                signature.push_str(&delta.signature);
            }
            (Some(Open::Call(call)), Delta::InputJson(delta)) => {
                let call = *call;
                self.writer.arguments(0, call, &delta.partial_json, out);
            }
            _ => {}
        }
    }

    fn block_stop(&mut self, index: u64, out: &mut Vec<u8>) {
        match self.open.remove(&index) {
            Some(Open::Text { start, citations }) => {
                for citation in citations {
                    let Ok(citation) = serde_json::from_str(&citation) else { continue };
                    match answer::annotation(&citation, start, self.characters) {
                        Some(annotation) => self.writer.annotation(0, &annotation, out),
                        None => lost::citation(index, &mut self.losses),
                    }
                }
            }
            Some(Open::Thinking { text, signature }) if !signature.is_empty() => {
                self.thinking_block(answer::signed(&text, &signature), out);
            }
            Some(Open::Call(call)) => self.writer.close_call(0, call, out),
            None | Some(Open::Thinking { .. }) => {}
        }
    }

    fn message_delta(&mut self, delta: &MessageDelta<'_>, out: &mut Vec<u8>) {
        if let Some(usage) = &delta.usage {
            self.usage.update(usage);
        }
        if delta.delta.container.is_some() {
            lost::container(&mut self.losses);
        }
        let Some(reason) = &delta.delta.stop_reason else { return };
        lost::stop_reason(Some(reason), &mut self.losses);
        if *reason == StopReason::Refusal
            && let Some(explanation) =
                delta.delta.stop_details.as_ref().and_then(|details| details.explanation.as_ref())
        {
            self.writer.refusal(0, explanation, out);
        }
        self.writer.finish_reason(0, answer::finish_reason(reason), out);
    }

    fn message_stop(&mut self, out: &mut Vec<u8>) {
        if !self.writer.has_started() {
            return self.writer.fault(&StreamFault::cut_off(), out);
        }
        let open: Vec<u64> = self.open.keys().copied().collect();
        open.into_iter().for_each(|index| self.block_stop(index, out));
        self.writer.usage(answer::usage(&self.usage));
        self.writer.finish(out);
    }

    fn text(&mut self, text: &str, out: &mut Vec<u8>) {
        self.characters += answer::characters(text);
        self.writer.text(0, text, out);
    }

    /// The texts of several blocks stand on lines of their own.
    fn thinking(&mut self, thinking: &str, is_first: bool, out: &mut Vec<u8>) {
        if thinking.is_empty() {
            return;
        }
        if is_first && std::mem::replace(&mut self.has_thought, true) {
            self.writer.reasoning(0, "\n", out);
        }
        self.writer.reasoning(0, thinking, out);
    }

    fn thinking_block(&mut self, block: ThinkingBlock<'_>, out: &mut Vec<u8>) {
        let delta = ChatDelta { thinking_blocks: Some(vec![block]), ..ChatDelta::default() };
        self.writer.delta(0, &delta, out);
    }
}

/// An error, with the status that its type has (<https://platform.claude.com/docs/en/api/errors>).
fn fault<'a>(error: &'a ErrorObject<'a>) -> StreamFault<'a> {
    let status = match &*error.kind {
        "invalid_request_error" => 400,
        "authentication_error" => 401,
        "billing_error" => 402,
        "permission_error" => 403,
        "not_found_error" => 404,
        "request_too_large" => 413,
        "rate_limit_error" => 429,
        "overloaded_error" => 529,
        "timeout_error" => 504,
        _ => 500,
    };
    StreamFault { status, code: (&*error.kind).into(), message: (&*error.message).into() }
}

impl StreamConverter for Stream {
    fn event(&mut self, data: &str, out: &mut Vec<u8>) {
        if self.writer.is_over() {
            return;
        }
        let Ok(event) = StreamEvent::parse(data) else {
            return self.writer.fault(&StreamFault::unreadable(), out);
        };
        match &event {
            StreamEvent::ContentBlockDelta(delta) => self.block_delta(delta.index, &delta.delta, out),
            StreamEvent::MessageStart(start) => self.message_start(start, out),
            StreamEvent::ContentBlockStart(start) => self.block_start(start, out),
            StreamEvent::ContentBlockStop(stop) => self.block_stop(stop.index, out),
            StreamEvent::MessageDelta(delta) => self.message_delta(delta, out),
            StreamEvent::MessageStop(_) => self.message_stop(out),
            StreamEvent::Error(error) => self.writer.fault(&fault(&error.error), out),
            StreamEvent::Ping(_) | StreamEvent::Other(_) => {}
        }
    }

    fn is_over(&self) -> bool {
        self.writer.is_over()
    }

    fn losses(&self) -> &Losses {
        &self.losses
    }

    fn finish(&mut self, out: &mut Vec<u8>) {
        self.writer.fault(&StreamFault::cut_off(), out);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::Value;

    fn convert(events: &[&str]) -> Vec<Value> {
        let reply = Reply { id: "r1".to_owned(), created: 7, include_usage: true, ..Reply::default() };
        let (mut stream, mut out) = (Stream::new(Rc::new(reply)), Vec::new());
        events.iter().for_each(|event| stream.event(event, &mut out));
        stream.finish(&mut out);
        assert!(stream.is_over());
        let text = String::from_utf8(out).unwrap();
        let data = text.split_terminator("\n\n").map(|frame| frame.strip_prefix("data: ").unwrap());
        data.map(|data| serde_json::from_str(data).unwrap_or_else(|_| Value::from(data))).collect()
    }

    const START: &str = r#"{"type":"message_start","message":{"id":"msg_1","model":"m","content":[],"usage":{"input_tokens":9,"cache_read_input_tokens":1,"output_tokens":1}}}"#;
    const STOP: &str = r#"{"type":"message_stop"}"#;

    fn ending(reason: &str) -> String {
        format!(r#"{{"type":"message_delta","delta":{{"stop_reason":"{reason}"}},"usage":{{"output_tokens":4}}}}"#)
    }

    /// B08: a call without deltas has the arguments `{}`.
    #[test]
    fn a_call_without_arguments_has_an_empty_object() {
        let chunks = convert(&[
            START,
            r#"{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"t1","name":"now","input":{}}}"#,
            r#"{"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":""}}"#,
            r#"{"type":"content_block_stop","index":0}"#,
            &ending("tool_use"),
            STOP,
        ]);
        let pieces = chunks
            .iter()
            .filter_map(|chunk| chunk.pointer("/choices/0/delta/tool_calls/0/function/arguments")?.as_str());
        assert_eq!(pieces.collect::<String>(), "{}");
        let reasons: Vec<_> =
            chunks.iter().filter_map(|chunk| chunk.pointer("/choices/0/finish_reason")?.as_str()).collect();
        assert_eq!(reasons, ["tool_calls"]);
        assert_eq!(chunks.last().unwrap(), "[DONE]");
    }

    /// B37: the input of `message_start` and the output of `message_delta` make one usage.
    #[test]
    fn the_counts_of_start_and_end_are_put_together() {
        let chunks = convert(&[START, r#"{"type":"ping"}"#, &ending("end_turn"), STOP]);
        let usage = &chunks[chunks.len() - 2]["usage"];
        assert_eq!((&usage["prompt_tokens"], &usage["completion_tokens"]), (&Value::from(10), &Value::from(4)));
    }

    /// B28: without `message_stop` it is no success.
    #[test]
    fn a_cut_stream_is_an_error() {
        let text = [
            START,
            r#"{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}"#,
            r#"{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Hel"}}"#,
        ];
        for (last, code) in [
            ("", "upstream_cut"),
            ("{", "upstream_error"),
            (r#"{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}"#, "overloaded_error"),
        ] {
            let events = text.iter().copied().chain((!last.is_empty()).then_some(last));
            let chunks = convert(&events.collect::<Vec<_>>());
            assert_eq!(chunks.last().unwrap()["error"]["code"], code);
            assert!(chunks.iter().all(|chunk| chunk.pointer("/choices/0/finish_reason").is_none_or(Value::is_null)));
        }
    }
}
