//! A Responses upstream's stream for a Claude Messages client.

use std::collections::BTreeMap;
use std::rc::Rc;

use super::answer::{self, Blocks, SECTION};
use super::{ending, lost};
use crate::protocol::claude::stream_writer::StreamWriter;
use crate::protocol::claude::wire::response::StopReason;
use crate::protocol::convert::claude_to_openai_responses::sealed;
use crate::protocol::convert::names::{CUSTOM_INPUT, Charset};
use crate::protocol::convert::{Losses, Reply, StreamConverter, StreamFault};
use crate::protocol::json;
use crate::protocol::openai_responses::fault;
use crate::protocol::openai_responses::wire::event::{AnnotationEvent, DeltaEvent, ItemEvent};
use crate::protocol::openai_responses::wire::item::{Item, ReasoningItem};
use crate::protocol::openai_responses::wire::response::Response;
use crate::protocol::openai_responses::wire::stream::Event;

/// The state of a stream that is converted.
pub struct Stream {
    reply: Rc<Reply>,
    writer: StreamWriter,
    /// By their place in the output, the items of which something was written, until they are done.
    items: BTreeMap<usize, Written>,
    /// How many items have been there.
    seen: usize,
    /// The text of the message so far, from which citations are taken.
    text: String,
    refusal: Option<String>,
    losses: Losses,
}

/// What was written of an item.
#[derive(Default)]
struct Written {
    /// Whether any of its content has come.
    has_content: bool,
    /// The section of the summary that came last.
    section: u64,
    /// Whether it is a call that is open.
    is_call: bool,
}

impl Stream {
    /// A stream that answers what left `reply` behind.
    pub fn new(reply: Rc<Reply>) -> Self {
        Self {
            writer: StreamWriter::new(&reply),
            reply,
            items: BTreeMap::new(),
            seen: 0,
            text: String::new(),
            refusal: None,
            losses: Losses::of_stream(),
        }
    }

    fn start(&mut self, response: &Response<'_>, out: &mut Vec<u8>) {
        self.writer.start("", response.model.as_deref().unwrap_or_default(), None, out);
    }

    fn added(&mut self, event: &ItemEvent<'_>, out: &mut Vec<u8>) {
        let key = key(event.output_index);
        let mut written = Written::default();
        match &*event.item {
            Item::FunctionCall(call) => {
                let name = self.reply.tools.client_name(&call.name).to_owned();
                self.writer.tool_use(key, &Charset::CLAUDE.fit(&call.call_id), &name, out);
                written.is_call = true;
            }
            Item::CustomToolCall(call) => {
                let name = self.reply.tools.client_name(&call.name).to_owned();
                self.writer.tool_use(key, &Charset::CLAUDE.fit(&call.call_id), &name, out);
                written.is_call = true;
            }
            Item::Message(_) => self.text.clear(),
            _ => {}
        }
        self.seen += 1;
        self.items.insert(key, written);
    }

    /// Notes that content of an item has come.
    fn written(&mut self, output_index: Option<u64>) -> &mut Written {
        let written = self.items.entry(key(output_index)).or_default();
        written.has_content = true;
        written
    }

    fn text(&mut self, event: &DeltaEvent<'_>, out: &mut Vec<u8>) {
        self.written(event.output_index);
        self.text.push_str(&event.delta);
        self.writer.text(&event.delta, out);
    }

    fn refusal(&mut self, event: &DeltaEvent<'_>, out: &mut Vec<u8>) {
        self.text(event, out);
        self.refusal.get_or_insert_default().push_str(&event.delta);
    }

    fn thinking(&mut self, event: &DeltaEvent<'_>, out: &mut Vec<u8>) {
        let section = event.summary_index.or(event.content_index).unwrap_or(0);
        let written = self.written(event.output_index);
        if std::mem::replace(&mut written.section, section) != section {
            self.writer.thinking(SECTION, out);
        }
        self.writer.thinking(&event.delta, out);
    }

    fn arguments(&mut self, event: &DeltaEvent<'_>, out: &mut Vec<u8>) {
        if !event.delta.is_empty() {
            self.written(event.output_index);
            self.writer.input_json(key(event.output_index), &event.delta, out);
        }
    }

    /// Input of a custom tool, as it goes into a JSON string.
    fn custom_input(&mut self, output_index: Option<u64>, piece: &str, out: &mut Vec<u8>) {
        let key = key(output_index);
        let is_first = !std::mem::replace(&mut self.items.entry(key).or_default().has_content, true);
        if is_first {
            self.writer.input_json(key, &format!("{{\"{CUSTOM_INPUT}\":\""), out);
        }
        let quoted = json::quote(piece);
        let inner = quoted.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')).unwrap_or_default();
        self.writer.input_json(key, inner, out);
    }

    fn annotation(&mut self, event: &AnnotationEvent<'_>, out: &mut Vec<u8>) {
        let citation = event.annotation.as_ref().and_then(|annotation| answer::citation(annotation, &self.text));
        if let Some(citation) = citation {
            self.writer.citation(&citation, out);
        }
    }

    /// An item is whole: what of it did not come in pieces is written now.
    fn done(&mut self, event: &ItemEvent<'_>, out: &mut Vec<u8>) {
        let key = key(event.output_index);
        let written = self.items.remove(&key);
        if written.is_none() {
            self.seen += 1;
        }
        let Written { has_content, is_call, .. } = written.unwrap_or_default();
        match &*event.item {
            Item::Message(message) if has_content => lost::message(message, key, &mut self.losses),
            Item::Reasoning(item) => self.reasoning(item, has_content, out),
            Item::FunctionCall(call) if is_call => {
                if !has_content {
                    self.writer.input_json(key, &call.arguments, out);
                }
                self.writer.call_end(key, out);
            }
            Item::CustomToolCall(call) if is_call => {
                if !has_content {
                    self.custom_input(event.output_index, &call.input, out);
                    self.items.remove(&key);
                }
                self.writer.input_json(key, "\"}", out);
                self.writer.call_end(key, out);
            }
            item => self.whole(item, key, out),
        }
    }

    fn reasoning(&mut self, item: &ReasoningItem<'_>, has_content: bool, out: &mut Vec<u8>) {
        if !has_content {
            return self.whole(&Item::Reasoning(item.clone()), 0, out);
        }
        if let Some(signature) = sealed::signature(item) {
            self.writer.signature(&signature, out);
        }
    }

    /// An item that comes at once.
    fn whole(&mut self, item: &Item<'_>, index: usize, out: &mut Vec<u8>) {
        let reply = self.reply.clone();
        let mut blocks = Blocks::new(&reply);
        blocks.item(item, index, &mut self.losses);
        for block in &blocks.blocks {
            self.writer.block(block, out);
        }
        self.refusal = blocks.refusal.or(self.refusal.take());
    }

    fn complete(&mut self, response: &Response<'_>, out: &mut Vec<u8>) {
        if let Some(fault) = fault::of_unfinished(response) {
            return self.writer.fault(&fault, out);
        }
        self.start(response, out);
        // Servers that send no events for items have them here at least.
        if self.seen == 0 {
            for (index, item) in response.output.iter().enumerate() {
                self.whole(item, index, out);
            }
        }
        let reason = match ending::stop_reason(response) {
            StopReason::EndTurn if self.refusal.is_some() => StopReason::Refusal,
            reason => reason,
        };
        let details = (reason == StopReason::Refusal).then(|| ending::refusal_details(self.refusal.take()));
        if let Some(usage) = &response.usage {
            self.writer.usage(&ending::usage(usage));
        }
        self.writer.stop(reason, None, details);
        self.writer.finish(out);
    }
}

/// The place of an item; servers that leave it out have one item at a time.
fn key(output_index: Option<u64>) -> usize {
    output_index.and_then(|index| usize::try_from(index).ok()).unwrap_or_default()
}

impl StreamConverter for Stream {
    fn event(&mut self, data: &str, out: &mut Vec<u8>) {
        if self.is_over() || data.trim() == "[DONE]" {
            return;
        }
        let Ok(event) = Event::read(data) else { return self.writer.fault(&StreamFault::unreadable(), out) };
        match event {
            Event::Created(event) | Event::Queued(event) | Event::InProgress(event) => {
                self.start(&event.response, out);
            }
            Event::OutputItemAdded(event) => self.added(&event, out),
            Event::OutputItemDone(event) => self.done(&event, out),
            Event::OutputTextDelta(event) => self.text(&event, out),
            Event::RefusalDelta(event) => self.refusal(&event, out),
            Event::AnnotationAdded(event) => self.annotation(&event, out),
            Event::ReasoningSummaryTextDelta(event) | Event::ReasoningTextDelta(event) => self.thinking(&event, out),
            Event::FunctionCallArgumentsDelta(event) => self.arguments(&event, out),
            Event::CustomToolCallInputDelta(event) => self.custom_input(event.output_index, &event.delta, out),
            Event::Completed(event) | Event::Incomplete(event) => self.complete(&event.response, out),
            Event::Failed(event) => self.writer.fault(&fault::of_response(&event.response), out),
            Event::Error(event) => self.writer.fault(&fault::of_event(&event), out),
            // What is said again in other words, what only tells how far a tool of the vendor is, and what is new.
            _ => {}
        }
    }

    fn is_over(&self) -> bool {
        self.writer.is_over()
    }

    fn losses(&self) -> &Losses {
        &self.losses
    }

    fn finish(&mut self, out: &mut Vec<u8>) {
        if !self.is_over() {
            self.writer.fault(&StreamFault::cut_off(), out);
        }
    }
}
