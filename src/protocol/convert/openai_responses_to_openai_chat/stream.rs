//! A Responses upstream's stream for a Chat Completions client.

use std::rc::Rc;

use super::end::{finish_reason, usage};
use super::response::{PARAGRAPH, characters, encrypted};
use super::{lost, notes};
use crate::protocol::convert::{Losses, MAX_DEPTH, Reply, StreamConverter, StreamFault};
use crate::protocol::json;
use crate::protocol::openai_chat::fault::of_member;
use crate::protocol::openai_chat::stream_writer::StreamWriter;
use crate::protocol::openai_chat::wire::response::Logprobs;
use crate::protocol::openai_chat::wire::stream::{Chunk, DONE, Delta};
use crate::protocol::openai_responses::fault;
use crate::protocol::openai_responses::wire::content::Part as ContentPart;
use crate::protocol::openai_responses::wire::event::DeltaEvent;
use crate::protocol::openai_responses::wire::item::{Item, Message};
use crate::protocol::openai_responses::wire::response::Response;
use crate::protocol::openai_responses::wire::stream::Event;
use crate::protocol::wire::TextOr;

/// The state of a stream that is converted.
pub struct Stream {
    writer: StreamWriter,
    calls: Vec<Call>,
    text: Part,
    refusal: Part,
    reasoning: Part,
    /// How many sealed pieces of reasoning came.
    seals: usize,
    /// Whether whole items came.
    has_items: bool,
    /// Whether the client has a place for one call only.
    knows_one_call: bool,
    losses: Losses,
}

/// A call that has begun.
#[derive(Debug)]
struct Call {
    item_id: Option<String>,
    output_index: Option<u64>,
    /// Its index at the writer.
    index: usize,
    has_arguments: bool,
}

/// A part of which the answer has one where Responses may have several.
#[derive(Debug, Default)]
struct Part {
    /// The one that is written: output, content and summary index.
    place: Option<[Option<u64>; 3]>,
    /// Characters before it.
    offset: u64,
    /// Characters with it.
    characters: u64,
}

/// The choice: there is one.
const CHOICE: u64 = 0;

impl Stream {
    /// A stream that answers what left `reply` behind.
    pub fn new(reply: Rc<Reply>) -> Self {
        Self {
            knows_one_call: reply.legacy_functions,
            has_items: false,
            writer: StreamWriter::new(reply),
            calls: vec![],
            text: Part::default(),
            refusal: Part::default(),
            reasoning: Part::default(),
            seals: 0,
            losses: Losses::of_stream(),
        }
    }

    fn take(&mut self, event: &Event<'_>, out: &mut Vec<u8>) {
        match event {
            Event::Created(event) | Event::Queued(event) | Event::InProgress(event) => {
                self.writer.start(event.response.model.as_deref(), out);
            }
            // Of a spoken answer only the words are told.
            Event::OutputTextDelta(delta) | Event::AudioTranscriptDelta(delta) => self.text(delta, out),
            Event::RefusalDelta(delta) => {
                if self.refusal.begins_anew(delta) {
                    self.writer.refusal(CHOICE, PARAGRAPH, out);
                }
                self.writer.refusal(CHOICE, &delta.delta, out);
            }
            Event::ReasoningSummaryTextDelta(delta) | Event::ReasoningTextDelta(delta) => {
                if self.reasoning.begins_anew(delta) {
                    self.writer.reasoning(CHOICE, PARAGRAPH, out);
                }
                self.writer.reasoning(CHOICE, &delta.delta, out);
            }
            Event::AnnotationAdded(event) => {
                let annotation = event.annotation.as_ref();
                if let Some(annotation) = annotation.and_then(|note| notes::annotation(note, self.text.offset)) {
                    self.writer.annotation(CHOICE, &annotation, out);
                }
            }
            Event::OutputItemAdded(event) => self.added(&event.item, event.output_index, out),
            Event::FunctionCallArgumentsDelta(delta) | Event::CustomToolCallInputDelta(delta) => {
                self.arguments(delta.item_id.as_deref(), delta.output_index, &delta.delta, out);
            }
            Event::OutputItemDone(event) => {
                self.note(&event.item, event.output_index);
                self.done(&event.item, event.output_index, out);
            }
            Event::Completed(event) | Event::Incomplete(event) => self.end(&event.response, out),
            Event::Failed(event) => {
                self.writer.fault(&fault::of_response(&event.response), out);
            }
            Event::Error(error) => self.writer.fault(&fault::of_event(error), out),
            // Events that repeat, and those of tools that run at the vendor.
            _ => {}
        }
    }

    /// Notes what of a whole item the client is not told.
    fn note(&mut self, item: &Item<'_>, output_index: Option<u64>) {
        self.has_items = true;
        let index = output_index.and_then(|index| usize::try_from(index).ok()).unwrap_or_default();
        lost::item(item, index, &mut self.losses);
    }

    fn text(&mut self, delta: &DeltaEvent<'_>, out: &mut Vec<u8>) {
        if self.text.begins_anew(delta) {
            self.writer.text(CHOICE, PARAGRAPH, out);
        }
        self.text.characters += characters(&delta.delta);
        match delta.logprobs.as_deref() {
            Some(tokens) if !tokens.is_empty() => {
                let logprobs = Logprobs { content: Some(notes::logprobs(tokens)), refusal: None };
                self.writer.text_with_logprobs(CHOICE, &delta.delta, &logprobs, out);
            }
            _ => self.writer.text(CHOICE, &delta.delta, out),
        }
    }

    fn added(&mut self, item: &Item<'_>, output_index: Option<u64>, out: &mut Vec<u8>) {
        let (item_id, index, arguments) = match item {
            Item::FunctionCall(call) => {
                let index = self.writer.tool_call(CHOICE, &call.call_id, &call.name, None, out);
                (&call.id, index, &call.arguments)
            }
            Item::CustomToolCall(call) => {
                let index = self.writer.custom_call(CHOICE, &call.call_id, &call.name, out);
                (&call.id, index, &call.input)
            }
            _ => return,
        };
        let item_id = item_id.as_deref().map(str::to_owned);
        self.calls.push(Call { item_id, output_index, index, has_arguments: !arguments.is_empty() });
        if self.knows_one_call && self.calls.len() > 1 {
            lost::calls(&mut self.losses);
        }
        // Some servers send the whole at once.
        self.writer.arguments(CHOICE, index, arguments, out);
    }

    fn arguments(&mut self, item_id: Option<&str>, output_index: Option<u64>, piece: &str, out: &mut Vec<u8>) {
        if let Some(call) = find(&mut self.calls, item_id, output_index) {
            call.has_arguments |= !piece.is_empty();
            self.writer.arguments(CHOICE, call.index, piece, out);
        }
    }

    /// Writes what had no deltas, and what only a whole item has.
    fn done(&mut self, item: &Item<'_>, output_index: Option<u64>, out: &mut Vec<u8>) {
        let (item_id, arguments) = match item {
            Item::FunctionCall(call) => (&call.id, &call.arguments),
            Item::CustomToolCall(call) => (&call.id, &call.input),
            Item::Reasoning(reasoning) => {
                if let Some(sealed) = reasoning.encrypted_content.as_deref() {
                    let detail = encrypted(sealed, reasoning.id.as_deref(), self.seals);
                    self.seals += 1;
                    let delta = Delta { reasoning_details: Some(vec![detail]), ..Delta::default() };
                    self.writer.delta(CHOICE, &delta, out);
                }
                return;
            }
            _ => return,
        };
        if find(&mut self.calls, item_id.as_deref(), output_index).is_none() {
            self.added(item, output_index, out);
        }
        let Some(call) = find(&mut self.calls, item_id.as_deref(), output_index) else { return };
        if !call.has_arguments {
            self.writer.arguments(CHOICE, call.index, arguments, out);
        }
        self.writer.close_call(CHOICE, call.index, out);
    }

    fn end(&mut self, response: &Response<'_>, out: &mut Vec<u8>) {
        if let Some(fault) = fault::of_unfinished(response) {
            return self.writer.fault(&fault, out);
        }
        self.writer.start(response.model.as_deref(), out);
        if response.moderation.is_some() {
            lost::moderation(&mut self.losses);
        }
        self.catch_up(response, out);
        self.writer.finish_reason(CHOICE, finish_reason(response), out);
        if let Some(tokens) = &response.usage {
            self.writer.usage(usage(tokens));
        }
        self.writer.finish(out);
    }
}

impl Stream {
    /// Writes what stands in the last event alone, as with servers that send no deltas.
    fn catch_up(&mut self, response: &Response<'_>, out: &mut Vec<u8>) {
        let has_texts = self.text.place.is_some() || self.refusal.place.is_some();
        let has_calls = !self.calls.is_empty();
        let has_items = self.has_items;
        for (index, item) in (0..).zip(&response.output) {
            if !has_items {
                self.note(item, Some(index));
            }
            match item {
                Item::Message(message) if !has_texts => self.message(message, index, out),
                Item::FunctionCall(_) | Item::CustomToolCall(_) if !has_calls => self.done(item, Some(index), out),
                _ => {}
            }
        }
    }

    fn message(&mut self, message: &Message<'_>, output_index: u64, out: &mut Vec<u8>) {
        let TextOr::Structured(parts) = &message.content else { return };
        for (index, part) in (0..).zip(parts) {
            let (output_index, content_index) = (Some(output_index), Some(index));
            let delta = |delta| DeltaEvent { output_index, content_index, delta, ..DeltaEvent::default() };
            match part {
                ContentPart::OutputText(part) if !part.text.is_empty() => self.text(&delta(part.text.by_ref()), out),
                ContentPart::Refusal(part) => self.take(&Event::RefusalDelta(delta(part.refusal.by_ref())), out),
                _ => {}
            }
        }
    }
}

impl Part {
    /// Notes where a delta belongs, and whether it begins another part after one that is written.
    fn begins_anew(&mut self, delta: &DeltaEvent<'_>) -> bool {
        let place = [delta.output_index, delta.content_index, delta.summary_index];
        if self.place == Some(place) {
            return false;
        }
        if self.place.replace(place).is_none() {
            return false;
        }
        self.characters += characters(PARAGRAPH);
        self.offset = self.characters;
        true
    }
}

/// The call that an event is about: by its item, else by its place.
fn find<'c>(calls: &'c mut [Call], item_id: Option<&str>, output_index: Option<u64>) -> Option<&'c mut Call> {
    let by_id = |call: &Call| item_id.is_some() && call.item_id.as_deref() == item_id;
    let by_place = |call: &Call| output_index.is_some() && call.output_index == output_index;
    let position = calls.iter().position(by_id).or_else(|| calls.iter().position(by_place))?;
    calls.get_mut(position)
}

/// Proxies report errors as in Chat Completions, without a `type`.
fn foreign_error(data: &str) -> StreamFault<'static> {
    let chunk: Option<Chunk<'_>> = serde_json::from_str(data).ok();
    let error = chunk.as_ref().and_then(|chunk| chunk.error.as_ref());
    error.map_or_else(StreamFault::unreadable, of_member)
}

impl StreamConverter for Stream {
    fn event(&mut self, data: &str, out: &mut Vec<u8>) {
        // Some servers add a mark that OpenAI has in Chat Completions only.
        if self.writer.is_over() || data.trim() == DONE {
            return;
        }
        if json::is_deeper_than(data, MAX_DEPTH) {
            return self.writer.fault(&StreamFault::unreadable(), out);
        }
        match Event::read(data) {
            Ok(event) => self.take(&event, out),
            Err(_) => self.writer.fault(&foreign_error(data), out),
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
