//! Writes the stream of an answer (<https://platform.claude.com/docs/en/build-with-claude/streaming>), whatever dialect it comes from.

mod blocks;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, VecDeque};

use super::error::error_type;
use super::wire::citation::Citation;
use super::wire::content::{ContentBlock, RedactedThinkingBlock};
use super::wire::request::{Empty, Role};
use super::wire::response::{ErrorObject, Message, StopDetails, StopReason};
use super::wire::stream::{ErrorEvent, MessageDelta, MessageDeltaBody, MessageStart, StreamEvent};
use super::wire::usage::Usage;
use crate::protocol::convert::arguments::ObjectEnd;
use crate::protocol::convert::{Reply, StreamFault};
use crate::protocol::dialect::Dialect;
use crate::protocol::json;
use crate::protocol::wire::{Raw, Text};
use blocks::Blocks;

/// The state of a stream that is written.
///
/// What is told in any order comes out in the order that the vendor keeps: one `message_start`, block after block, each opened and
/// closed, their places counted up, then one `message_delta` and one `message_stop`; or an `error`, and nothing after it.
///
/// The vendor's calls run one after another. Where the source sends several side by side, those that are not the open one are held
/// back, together with all content after them, until the open one is complete: until [`call_end`](Self::call_end), the last
/// brace of its arguments, or the end of the stream.
#[derive(Debug)]
pub struct StreamWriter {
    id: String,
    model: String,
    is_started: bool,
    is_over: bool,
    blocks: Blocks,
    /// The call whose block is open.
    call: Option<Call>,
    held: VecDeque<Held>,
    /// How many were held once and are no more.
    released: usize,
    /// The latest call of each key that is held, by its place counted from the first one ever held.
    held_calls: BTreeMap<usize, usize>,
    usage: Usage<'static>,
    /// The body of `message_delta` as JSON.
    ending: Option<Vec<u8>>,
    ends_turn: bool,
    has_calls: bool,
}

/// A call whose block is open.
#[derive(Debug)]
struct Call {
    key: usize,
    end: ObjectEnd,
    has_ended: bool,
}

/// What comes after the call that is open.
#[derive(Debug)]
enum Held {
    Text(String),
    Thinking(String),
    Signature(String),
    /// JSON.
    Citation(String),
    /// JSON.
    Block(String),
    Call {
        key: usize,
        id: String,
        name: String,
        arguments: String,
        has_ended: bool,
    },
}

impl StreamWriter {
    /// A stream that answers what left `reply` behind. Until [`start`](Self::start) knows better, the answer is
    /// called `msg_` and the id of the request, and its model as the client named it.
    pub fn new(reply: &Reply) -> Self {
        Self {
            id: format!("msg_{}", reply.id),
            model: reply.model.clone(),
            is_started: false,
            is_over: false,
            blocks: Blocks::default(),
            call: None,
            held: VecDeque::new(),
            released: 0,
            held_calls: BTreeMap::new(),
            usage: Usage::default(),
            ending: None,
            ends_turn: true,
            has_calls: false,
        }
    }

    /// Begins the answer, which content does as well. Once begun, only `usage` counts. An empty `id` or `model` stands for none.
    pub fn start(&mut self, id: &str, model: &str, usage: Option<&Usage<'_>>, out: &mut Vec<u8>) {
        if let Some(usage) = usage {
            self.usage(usage);
        }
        if self.is_started || self.is_over {
            return;
        }
        for (own, given) in [(&mut self.id, id), (&mut self.model, model)] {
            if !given.is_empty() {
                given.clone_into(own);
            }
        }
        self.ensure_start(out);
    }

    /// Text, which goes on with the open text block or opens one. An empty one is nothing.
    pub fn text(&mut self, text: &str, out: &mut Vec<u8>) {
        if text.is_empty() || self.is_over {
            return;
        }
        if self.is_waiting() {
            match self.held.back_mut() {
                Some(Held::Text(held)) => held.push_str(text),
                _ => self.held.push_back(Held::Text(text.to_owned())),
            }
            return;
        }
        self.ready(out);
        self.blocks.ensure_text(out);
        self.blocks.delta(text, out);
    }

    /// Thinking, which goes on with the open thinking block or opens one. An empty one is nothing.
    pub fn thinking(&mut self, thinking: &str, out: &mut Vec<u8>) {
        if thinking.is_empty() || self.is_over {
            return;
        }
        if self.is_waiting() {
            match self.held.back_mut() {
                Some(Held::Thinking(held)) => held.push_str(thinking),
                _ => self.held.push_back(Held::Thinking(thinking.to_owned())),
            }
            return;
        }
        self.ready(out);
        self.blocks.ensure_thinking(out);
        self.blocks.delta(thinking, out);
    }

    /// The signature of the open thinking block, which ends with it; of an empty one where none is open.
    pub fn signature(&mut self, signature: &str, out: &mut Vec<u8>) {
        if self.is_over {
            return;
        }
        if self.is_waiting() {
            self.held.push_back(Held::Signature(signature.to_owned()));
            return;
        }
        self.ready(out);
        self.blocks.ensure_thinking(out);
        self.blocks.sign(signature, out);
    }

    /// A block of sealed thinking.
    pub fn redacted_thinking(&mut self, data: &str, out: &mut Vec<u8>) {
        self.block(&ContentBlock::RedactedThinking(RedactedThinkingBlock { data: data.into() }), out);
    }

    /// A citation within the open text block; where none is open, within one that is opened for it.
    pub fn citation(&mut self, citation: &Citation<'_>, out: &mut Vec<u8>) {
        if self.is_over {
            return;
        }
        if self.is_waiting() {
            self.held.extend(serde_json::to_string(citation).map(Held::Citation));
            return;
        }
        self.ready(out);
        self.blocks.ensure_text(out);
        self.blocks.citation(citation, out);
    }

    /// Opens a call. `key` is what the source tells its calls apart with; a second call under the same one ends the first.
    pub fn tool_use(&mut self, key: usize, id: &str, name: &str, out: &mut Vec<u8>) {
        if self.is_over {
            return;
        }
        self.call_end(key, out);
        if self.is_waiting() {
            let (id, name) = (id.to_owned(), name.to_owned());
            self.held_calls.insert(key, self.released + self.held.len());
            self.held.push_back(Held::Call { id, name, key, arguments: String::new(), has_ended: false });
        } else {
            self.open_call(key, id, name, out);
        }
    }

    /// A piece of the arguments of the call `key`. What comes for a call that has ended is left out.
    pub fn input_json(&mut self, key: usize, json: &str, out: &mut Vec<u8>) {
        if json.is_empty() || self.is_over {
            return;
        }
        if let Some((arguments, has_ended)) = self.held_call(key) {
            if !*has_ended {
                arguments.push_str(json);
            }
            return;
        }
        if let Some(call) = self.open_call_of(key) {
            call.end.feed(json);
            self.blocks.delta(json, out);
            self.release(out);
        }
    }

    /// The call `key` is complete.
    pub fn call_end(&mut self, key: usize, out: &mut Vec<u8>) {
        // What is held came later than what is open, and the latest call of a key is meant.
        if let Some((_, has_ended)) = self.held_call(key) {
            *has_ended = true;
        } else if let Some(call) = self.open_call_of(key) {
            call.has_ended = true;
        }
        self.release(out);
    }

    /// A whole block of any kind.
    pub fn block(&mut self, block: &ContentBlock<'_>, out: &mut Vec<u8>) {
        if self.is_over {
            return;
        }
        if self.is_waiting() {
            self.held.extend(serde_json::to_string(block).map(Held::Block));
        } else {
            self.whole_block(block, out);
        }
    }

    /// How the answer ends; the last one counts. Until one is told it is `end_turn`. In an answer with calls, `end_turn`
    /// becomes `tool_use`.
    pub fn stop(&mut self, reason: StopReason<'_>, sequence: Option<&str>, details: Option<StopDetails<'_>>) {
        self.ends_turn = reason == StopReason::EndTurn;
        let stop_sequence = sequence.map(Text::from);
        let body =
            MessageDeltaBody { stop_reason: Some(reason), stop_sequence, stop_details: details, container: None };
        self.ending = Some(json::line(&body));
    }

    /// Figures, each of which replaces the former one of its kind.
    pub fn usage(&mut self, usage: &Usage<'_>) {
        self.usage.update(usage);
    }

    /// Writes the end: closes what is open, then tells how the answer ended and what it took.
    pub fn finish(&mut self, out: &mut Vec<u8>) {
        if self.is_over {
            return;
        }
        self.settle(out);
        let tool_use = || {
            let stop_reason = Some(StopReason::ToolUse);
            serde_json::to_vec(&MessageDeltaBody { stop_reason, ..MessageDeltaBody::default() }).ok()
        };
        let end_turn = || br#"{"stop_reason":"end_turn","stop_sequence":null}"#.to_vec();
        let ending = if self.ends_turn && self.has_calls { tool_use() } else { self.ending.take() };
        out.extend_from_slice(b"event: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":");
        out.extend_from_slice(&ending.unwrap_or_else(end_turn));
        out.extend_from_slice(b",\"usage\":");
        json::append_line(out, &self.usage.of_delta());
        out.extend_from_slice(b"}\n\n");
        self.end(out);
    }

    /// Ends the stream with an error, in the midst of what is open: a block that breaks off must not look complete.
    pub fn fault(&mut self, fault: &StreamFault<'_>, out: &mut Vec<u8>) {
        let fault = &fault.for_client(Dialect::Claude);
        if self.is_over {
            return;
        }
        self.is_over = true;
        self.held.clear();
        let details = Raw::of(&serde_json::json!({"error_code": fault.code})).ok();
        let error =
            ErrorObject { kind: error_type(fault.status).into(), message: Text::from(&*fault.message), details };
        event(&StreamEvent::Error(Box::new(ErrorEvent { error, request_id: None })), out);
    }

    /// Whether the last event has been written.
    pub fn is_over(&self) -> bool {
        self.is_over
    }

    /// Whether a call has been opened.
    pub fn has_calls(&self) -> bool {
        self.has_calls || self.held.iter().any(|held| matches!(held, Held::Call { .. }))
    }

    /// Begins with all members that an answer has at its beginning.
    pub(super) fn start_with(&mut self, message: Message<'_>, out: &mut Vec<u8>) {
        self.is_started = true;
        event(&StreamEvent::MessageStart(Box::new(MessageStart { message })), out);
    }

    /// Ends with all members that an answer has at its end.
    pub(super) fn finish_with(&mut self, delta: MessageDelta<'_>, out: &mut Vec<u8>) {
        self.settle(out);
        event(&StreamEvent::MessageDelta(Box::new(delta)), out);
        self.end(out);
    }

    /// Writes everything that was held back and closes what is open.
    fn settle(&mut self, out: &mut Vec<u8>) {
        self.ensure_start(out);
        while let Some(call @ Call { has_ended: false, .. }) = &mut self.call {
            call.has_ended = true;
            self.release(out);
        }
        self.blocks.close(out);
    }

    fn end(&mut self, out: &mut Vec<u8>) {
        event(&StreamEvent::MessageStop(Empty {}), out);
        self.is_over = true;
    }

    /// Whether a call is open that may not be closed yet.
    fn is_waiting(&self) -> bool {
        self.call.as_ref().is_some_and(|call| !call.has_ended && !call.end.is_complete())
    }

    /// Makes way for content that is no argument of the call that is open, which is complete.
    fn ready(&mut self, out: &mut Vec<u8>) {
        self.call = None;
        self.ensure_start(out);
    }

    /// The call whose block is open, if it is the call `key` and has not ended.
    fn open_call_of(&mut self, key: usize) -> Option<&mut Call> {
        self.call.as_mut().filter(|call| call.key == key && !call.has_ended)
    }

    /// The arguments of the latest call under `key` that is held back, and whether it has ended.
    fn held_call(&mut self, key: usize) -> Option<(&mut String, &mut bool)> {
        let place = self.held_calls.get(&key)?.checked_sub(self.released)?;
        match self.held.get_mut(place)? {
            Held::Call { arguments, has_ended, .. } => Some((arguments, has_ended)),
            _ => None,
        }
    }

    /// Writes what was held back, as far as no call is in the way.
    fn release(&mut self, out: &mut Vec<u8>) {
        while !self.is_waiting() {
            let Some(held) = self.held.pop_front() else { return };
            self.released += 1;
            match held {
                Held::Text(text) => self.text(&text, out),
                Held::Thinking(thinking) => self.thinking(&thinking, out),
                Held::Signature(signature) => self.signature(&signature, out),
                Held::Citation(citation) => {
                    if let Ok(citation) = serde_json::from_str(&citation) {
                        self.citation(&citation, out);
                    }
                }
                Held::Block(block) => {
                    if let Ok(block) = serde_json::from_str(&block) {
                        self.whole_block(&block, out);
                    }
                }
                Held::Call { key, id, name, arguments, has_ended } => {
                    let call = self.open_call(key, &id, &name, out);
                    call.end.feed(&arguments);
                    call.has_ended = has_ended;
                    if !arguments.is_empty() {
                        self.blocks.delta(&arguments, out);
                    }
                }
            }
        }
    }

    fn ensure_start(&mut self, out: &mut Vec<u8>) {
        if self.is_started {
            return;
        }
        self.is_started = true;
        // The vendor always has both, and its SDKs rely on that.
        let mut usage = Usage { input_tokens: Some(0), output_tokens: Some(0), ..Usage::default() };
        usage.update(&self.usage);
        let message = Message {
            id: Text::from(&*self.id),
            kind: "message".into(),
            role: Role::Assistant,
            model: Text::from(&*self.model),
            content: Vec::new(),
            stop_reason: None,
            stop_sequence: None,
            stop_details: None,
            container: None,
            diagnostics: None,
            usage: Some(usage),
            context_management: None,
            input_transformations: None,
        };
        event(&StreamEvent::MessageStart(Box::new(MessageStart { message })), out);
    }

    fn open_call(&mut self, key: usize, id: &str, name: &str, out: &mut Vec<u8>) -> &mut Call {
        self.ready(out);
        self.blocks.open_call(id, name, out);
        self.has_calls = true;
        self.call.insert(Call { key, end: ObjectEnd::default(), has_ended: false })
    }

    fn whole_block(&mut self, block: &ContentBlock<'_>, out: &mut Vec<u8>) {
        self.ready(out);
        self.has_calls |= matches!(block, ContentBlock::ToolUse(_));
        self.blocks.whole(block, out);
    }
}

/// Writes a whole event with its frame.
fn event(event: &StreamEvent<'_>, out: &mut Vec<u8>) {
    out.extend_from_slice(b"event: ");
    out.extend_from_slice(event.name().unwrap_or_default().as_bytes());
    out.extend_from_slice(b"\ndata: ");
    json::append_line(out, event);
    out.extend_from_slice(b"\n\n");
}
