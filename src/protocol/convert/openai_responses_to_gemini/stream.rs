//! A Responses upstream's stream for a Gemini client.

use std::rc::Rc;

use super::answer;
use super::grounding::Sources;
use super::lost;
use crate::protocol::convert::gemini_to_openai_responses::thinking;
use crate::protocol::convert::{Losses, Reply, StreamConverter, StreamFault};
use crate::protocol::gemini::stream_writer::StreamWriter;
use crate::protocol::openai_responses::fault;
use crate::protocol::openai_responses::wire::content::Part;
use crate::protocol::openai_responses::wire::event::{DeltaEvent, ItemEvent, ResponseEvent};
use crate::protocol::openai_responses::wire::item::{Item, Message, ReasoningItem};
use crate::protocol::openai_responses::wire::response::Response;
use crate::protocol::openai_responses::wire::stream::Event;
use crate::protocol::wire::TextOr;

/// The state of a stream that is converted.
pub struct Stream {
    reply: Rc<Reply>,
    writer: StreamWriter,
    items: Vec<Seen>,
    sources: Sources,
    /// How many bytes of text were written.
    text_bytes: usize,
    has_refused: bool,
    losses: Losses,
}

/// An item that has begun. Its place in the list is its key at the writer.
#[derive(Debug)]
struct Seen {
    id: String,
    output_index: Option<u64>,
    /// Whether anything of its content came.
    has_content: bool,
    /// Whether it is a call that was opened.
    is_call: bool,
    is_done: bool,
    /// Where its text begins in that of the answer.
    text_start: usize,
}

impl Stream {
    /// A stream that answers what left `reply` behind.
    pub fn new(reply: Rc<Reply>) -> Self {
        Self {
            writer: StreamWriter::new(&reply),
            reply,
            items: Vec::new(),
            sources: Sources::default(),
            text_bytes: 0,
            has_refused: false,
            losses: Losses::of_stream(),
        }
    }

    fn convert(&mut self, event: &Event<'_>, out: &mut Vec<u8>) {
        match event {
            Event::OutputTextDelta(delta) => {
                self.content(delta);
                self.text(&delta.delta, out);
            }
            Event::RefusalDelta(delta) => {
                self.content(delta);
                self.has_refused = true;
                self.text(&delta.delta, out);
            }
            Event::ReasoningSummaryTextDelta(delta) | Event::ReasoningTextDelta(delta) => {
                self.content(delta);
                self.writer.thought(&delta.delta, out);
            }
            Event::ReasoningSummaryPartAdded(part) if part.summary_index > Some(0) => self.writer.thought("\n\n", out),
            Event::FunctionCallArgumentsDelta(delta) => {
                let key = self.content(delta);
                self.writer.arguments(key, &delta.delta, out);
            }
            Event::OutputItemAdded(event) => self.begin(event, out),
            Event::OutputItemDone(event) => {
                let key = self.item(id_of(&event.item), event.output_index);
                self.end(key, &event.item, out);
            }
            Event::Created(ResponseEvent { response, .. }) | Event::InProgress(ResponseEvent { response, .. }) => {
                self.writer.start(&response.id, response.model.as_deref().unwrap_or_default());
            }
            Event::Completed(ResponseEvent { response, .. }) | Event::Incomplete(ResponseEvent { response, .. }) => {
                self.complete(response, out);
            }
            Event::Failed(ResponseEvent { response, .. }) => self.writer.fault(&fault::of_response(response), out),
            Event::Error(error) => self.writer.fault(&fault::of_event(error), out),
            _ => {}
        }
    }

    /// Notes that content of an item came; returns the item's key.
    fn content(&mut self, delta: &DeltaEvent<'_>) -> usize {
        let key = self.item(delta.item_id.as_deref(), delta.output_index);
        if let Some(seen) = self.items.get_mut(key) {
            seen.has_content = true;
        }
        key
    }

    /// The key of an item. Not every server tells both its id and its place.
    fn item(&mut self, id: Option<&str>, output_index: Option<u64>) -> usize {
        let is_it = |seen: &Seen| match (seen.output_index, output_index) {
            (Some(own), Some(other)) => own == other,
            _ => id.is_none_or(|id| seen.id == id),
        };
        self.items.iter().rposition(is_it).unwrap_or_else(|| {
            self.items.push(Seen {
                id: id.unwrap_or_default().to_owned(),
                output_index,
                has_content: false,
                is_call: false,
                is_done: false,
                text_start: self.text_bytes,
            });
            self.items.len() - 1
        })
    }

    fn text(&mut self, text: &str, out: &mut Vec<u8>) {
        self.text_bytes += text.len();
        self.writer.text(text, out);
    }

    fn begin(&mut self, event: &ItemEvent<'_>, out: &mut Vec<u8>) {
        let key = self.item(id_of(&event.item), event.output_index);
        if let Item::FunctionCall(call) = &*event.item
            && let Some(found) = answer::call(&event.item, &self.reply)
        {
            self.writer.function_call(key, Some(&call.call_id), &found.name, out);
            self.writer.arguments(key, &call.arguments, out);
            if let Some(seen) = self.items.get_mut(key) {
                seen.has_content = !call.arguments.is_empty();
                seen.is_call = true;
            }
        }
    }

    /// Writes what of a whole item has not been written, and ends it.
    fn end(&mut self, key: usize, item: &Item<'_>, out: &mut Vec<u8>) {
        let Some(seen) = self.items.get_mut(key) else { return };
        if std::mem::replace(&mut seen.is_done, true) {
            return;
        }
        let index = seen.output_index.and_then(|index| usize::try_from(index).ok()).unwrap_or(key);
        lost::item(item, index, &mut self.losses);
        let (has_content, is_call, text_start) = (seen.has_content, seen.is_call, seen.text_start);
        match item {
            Item::Message(message) => self.end_message(message, has_content, text_start, out),
            Item::Reasoning(reasoning) => self.end_reasoning(reasoning, has_content, out),
            Item::FunctionCall(_) | Item::CustomToolCall(_) => {
                if let Some(call) = answer::call(item, &self.reply) {
                    if !is_call {
                        self.writer.function_call(key, Some(call.id), &call.name, out);
                    }
                    if !has_content {
                        self.writer.arguments(key, &call.arguments, out);
                    }
                    self.writer.call_end(key, out);
                }
            }
            Item::WebSearchCall(call) => self.sources.search(call),
            Item::CodeInterpreterCall(call) => {
                answer::code(call).iter().for_each(|part| self.writer.part(part, out));
            }
            Item::ImageGenerationCall(call) => {
                if let Some(part) = answer::image(call) {
                    self.writer.part(&part, out);
                }
            }
            _ => {}
        }
    }

    fn end_message(&mut self, message: &Message<'_>, has_content: bool, text_start: usize, out: &mut Vec<u8>) {
        let TextOr::Structured(parts) = &message.content else { return };
        let mut start = text_start;
        for part in parts {
            match part {
                Part::OutputText(text) => {
                    if !has_content {
                        self.text(&text.text, out);
                    }
                    // A stream's texts are pieces of one text.
                    self.sources.cite(text, 0, start);
                    start += text.text.len();
                }
                Part::Refusal(refusal) => {
                    self.has_refused = true;
                    if !has_content {
                        self.text(&refusal.refusal, out);
                    }
                    start += refusal.refusal.len();
                }
                _ => {}
            }
        }
    }

    fn end_reasoning(&mut self, item: &ReasoningItem<'_>, has_content: bool, out: &mut Vec<u8>) {
        let texts = item.content.iter().flatten().chain(&item.summary).filter(|_| !has_content);
        for part in texts {
            if let Part::SummaryText(text) | Part::ReasoningText(text) = part {
                self.writer.thought(&text.text, out);
            }
        }
        if let Some(content) = item.encrypted_content.as_deref().filter(|content| !content.is_empty()) {
            self.writer.signature(&thinking::signature(item.id.as_deref(), content), out);
        }
    }

    fn complete(&mut self, response: &Response<'_>, out: &mut Vec<u8>) {
        if let Some(fault) = fault::of_unfinished(response) {
            return self.writer.fault(&fault, out);
        }
        self.writer.start(&response.id, response.model.as_deref().unwrap_or_default());
        // Some servers show all items in the last event only.
        let unseen = if self.items.is_empty() { response.output.as_slice() } else { &[] };
        for (index, item) in unseen.iter().enumerate() {
            let key = self.item(id_of(item), Some(index as u64));
            self.end(key, item, out);
        }
        let (reason, message) = answer::finish_reason(response, self.has_refused);
        self.writer.finish_reason(reason, message);
        if let Some(usage) = &response.usage {
            self.writer.usage(&answer::usage(usage));
        }
        if let Some(grounding) = std::mem::take(&mut self.sources).metadata() {
            self.writer.grounding(&grounding);
        }
        self.writer.finish(out);
        if let Some(key) = self.writer.malformed_call(0) {
            lost::arguments(key, &mut self.losses);
        }
    }
}

fn id_of<'a>(item: &'a Item<'a>) -> Option<&'a str> {
    match item {
        Item::Message(message) => message.id.as_deref(),
        Item::Reasoning(reasoning) => reasoning.id.as_deref(),
        Item::FunctionCall(call) => call.id.as_deref(),
        Item::CustomToolCall(call) => call.id.as_deref(),
        Item::WebSearchCall(call) => call.id.as_deref(),
        Item::CodeInterpreterCall(call) => call.id.as_deref(),
        Item::ImageGenerationCall(call) => call.id.as_deref(),
        _ => None,
    }
}

impl StreamConverter for Stream {
    fn event(&mut self, data: &str, out: &mut Vec<u8>) {
        if self.is_over() || data == "[DONE]" {
            return;
        }
        match Event::read(data) {
            Ok(event) => self.convert(&event, out),
            Err(_) => self.writer.fault(&StreamFault::unreadable(), out),
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
