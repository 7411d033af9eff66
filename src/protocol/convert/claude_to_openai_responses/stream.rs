//! A Claude Messages upstream's stream for a Responses client.

use std::rc::Rc;

use super::hosted::{self, HostedCall};
use super::usage::Counts;
use super::{citations, ending, lost};
use crate::protocol::claude::wire::citation::Citation;
use crate::protocol::claude::wire::content::ContentBlock;
use crate::protocol::claude::wire::response::StopReason;
use crate::protocol::claude::wire::stream::{ContentBlockDelta, Delta, MessageDelta, StreamEvent};
use crate::protocol::convert::names::Charset;
use crate::protocol::convert::seal::{Family, seal};
use crate::protocol::convert::{Losses, Reply, StreamConverter, StreamFault};
use crate::protocol::openai_responses::stream_writer::StreamWriter;
use crate::protocol::wire::Text;

/// The state of a stream that is converted.
pub struct Stream {
    reply: Rc<Reply>,
    writer: StreamWriter,
    open: Open,
    /// Calls that the vendor carries out and whose results have not come.
    calls: Vec<HostedCall>,
    /// The characters of the message so far, on which annotations are placed.
    characters: u64,
    counts: Counts,
    container: Option<String>,
    stop_reason: Option<StopReason<'static>>,
    explanation: Option<String>,
    losses: Losses,
}

/// The block that is open.
enum Open {
    /// None, or one that the client knows nothing of.
    Nothing,
    /// Text, from this character on.
    Text {
        index: u64,
        start: u64,
        citations: Vec<String>,
    },
    Thinking {
        signature: String,
    },
    /// A call of the client's tool, at this place in the output.
    Call {
        place: usize,
        input: String,
        has_pieces: bool,
    },
    /// A call that the vendor carries out.
    Hosted {
        call: HostedCall,
        has_pieces: bool,
    },
}

impl Stream {
    /// A stream that answers what left `reply` behind.
    pub fn new(reply: Rc<Reply>) -> Self {
        Self {
            writer: StreamWriter::new(reply.clone()),
            reply,
            open: Open::Nothing,
            calls: Vec::new(),
            characters: 0,
            counts: Counts::default(),
            container: None,
            stop_reason: None,
            explanation: None,
            losses: Losses::of_stream(),
        }
    }

    fn begin(&mut self, block: &ContentBlock<'_>, index: u64, out: &mut Vec<u8>) {
        self.end(out);
        if !self.writer.has_open_text() {
            self.characters = 0;
        }
        if !matches!(block, ContentBlock::Text(_)) {
            self.writer.end_reasoning(out);
        }
        match block {
            ContentBlock::Text(text) => {
                self.open = Open::Text { index, start: self.characters, citations: Vec::new() };
                for citation in text.citations.iter().flatten() {
                    self.citation(citation);
                }
                self.text(&text.text, out);
            }
            ContentBlock::Thinking(thinking) => {
                let signature = thinking.signature.as_deref().unwrap_or_default().to_owned();
                self.open = Open::Thinking { signature };
                self.writer.reasoning(&thinking.thinking, out);
            }
            ContentBlock::RedactedThinking(block) => {
                self.writer.seal_reasoning(seal(Family::ClaudeRedacted, &block.data), out);
                self.writer.end_reasoning(out);
            }
            ContentBlock::ToolUse(call) => {
                let place = self.writer.tool_call(&Charset::OPENAI.fit(&call.id), &call.name, out);
                self.open = Open::Call { place, input: call.input.get().to_owned(), has_pieces: false };
            }
            ContentBlock::McpToolListing(listing) => {
                if let Some(item) = hosted::listing(listing, &self.reply, self.writer.item_count()) {
                    self.writer.whole_item(&item, out);
                }
            }
            _ => self.hosted(block, index, out),
        }
    }

    /// A call that the vendor carries out, or its result.
    fn hosted(&mut self, block: &ContentBlock<'_>, index: u64, out: &mut Vec<u8>) {
        if let Some(call) = HostedCall::of(block) {
            self.open = Open::Hosted { call, has_pieces: false };
            return;
        }
        let call = hosted::answered(block).and_then(|id| self.calls.iter().position(|call| call.id == id));
        let call = call.map(|place| self.calls.swap_remove(place));
        if !call.is_some_and(|call| self.hosted_item(&call, Some(block), out)) {
            lost::block(index, &mut self.losses);
        }
    }

    /// Writes what the vendor carried out, if the client knows it; tells whether it does.
    fn hosted_item(&mut self, call: &HostedCall, result: Option<&ContentBlock<'_>>, out: &mut Vec<u8>) -> bool {
        let place = self.writer.item_count();
        let item = hosted::item(call, result, self.container.as_deref(), &self.reply, place);
        if let Some(item) = &item {
            self.writer.whole_item(item, out);
        }
        item.is_some()
    }

    fn delta(&mut self, event: &ContentBlockDelta<'_>, out: &mut Vec<u8>) {
        match &event.delta {
            Delta::Text(delta) => self.text(&delta.text, out),
            Delta::Thinking(delta) => self.writer.reasoning(&delta.thinking, out),
            Delta::InputJson(delta) => self.input(&delta.partial_json, out),
            Delta::Signature(delta) => {
                if let Open::Thinking { signature } = &mut self.open {
                    (*delta.signature).clone_into(signature);
                }
            }
            Delta::Citations(delta) => self.citation(&delta.citation),
            Delta::Compaction(_) | Delta::Other(_) => {}
        }
    }

    fn text(&mut self, text: &str, out: &mut Vec<u8>) {
        self.characters += text.chars().count() as u64;
        self.writer.text(text, out);
    }

    /// Keeps a citation until its text is whole.
    fn citation(&mut self, citation: &Citation<'_>) {
        if let Open::Text { citations, .. } = &mut self.open {
            citations.extend(serde_json::to_string(citation));
        }
    }

    fn input(&mut self, piece: &str, out: &mut Vec<u8>) {
        match &mut self.open {
            Open::Call { place, has_pieces, .. } => {
                *has_pieces |= !piece.is_empty();
                self.writer.arguments(*place, piece, out);
            }
            Open::Hosted { call, has_pieces } => {
                if !std::mem::replace(has_pieces, true) {
                    call.input.clear();
                }
                call.input.push_str(piece);
            }
            Open::Nothing | Open::Text { .. } | Open::Thinking { .. } => {}
        }
    }

    /// Ends the open block.
    fn end(&mut self, out: &mut Vec<u8>) {
        match std::mem::replace(&mut self.open, Open::Nothing) {
            Open::Nothing => {}
            Open::Text { index, start, citations } => self.annotate(index, start, &citations, out),
            Open::Thinking { signature } => {
                if !signature.is_empty() {
                    self.writer.seal_reasoning(seal(Family::Claude, &signature), out);
                }
                self.writer.end_reasoning(out);
            }
            Open::Call { place, input, has_pieces } => {
                // Some servers have all arguments in the beginning; the vendor has an empty object there.
                if !has_pieces && input.trim() != "{}" {
                    self.writer.arguments(place, &input, out);
                }
                self.writer.close_call(place);
            }
            Open::Hosted { mut call, .. } => {
                if call.input.is_empty() {
                    call.input.push_str("{}");
                }
                self.calls.push(call);
            }
        }
    }

    fn annotate(&mut self, index: u64, start: u64, citations: &[String], out: &mut Vec<u8>) {
        for citation in citations {
            let Ok(citation) = serde_json::from_str::<Citation<'_>>(citation) else { continue };
            match citations::annotation(&citation, start, self.characters) {
                Some(annotation) if self.writer.has_open_text() => self.writer.annotation(&annotation, out),
                Some(_) => {}
                None => lost::citation(index, &mut self.losses),
            }
        }
    }

    fn message_delta(&mut self, event: &MessageDelta<'_>) {
        if let Some(usage) = &event.usage {
            self.counts.update(usage);
        }
        if event.delta.stop_sequence.is_some() {
            lost::stop_sequence(&mut self.losses);
        }
        lost::stop_reason(event.delta.stop_reason.as_ref(), &mut self.losses);
        if let Some(reason) = &event.delta.stop_reason {
            self.stop_reason = Some(StopReason::from(Text::from(reason.as_str().to_owned())));
        }
        if let Some(explanation) = ending::explanation(event.delta.stop_details.as_ref()) {
            self.explanation = Some(explanation.to_string());
        }
    }

    fn complete(&mut self, out: &mut Vec<u8>) {
        self.end(out);
        let incomplete = ending::incomplete(self.stop_reason.as_ref());
        // In an answer that is whole, what has no result waits for the client and is told by the client's own calls.
        for call in std::mem::take(&mut self.calls).iter().filter(|_| incomplete.is_some()) {
            self.hosted_item(call, None, out);
        }
        if let Some(explanation) = self.explanation.take() {
            self.writer.refusal(&explanation, out);
        }
        self.writer.usage(self.counts.usage());
        self.writer.finish(incomplete, out);
    }

    fn fault(&mut self, fault: &StreamFault<'_>, out: &mut Vec<u8>) {
        self.writer.usage(self.counts.usage());
        self.writer.fault(fault, out);
    }
}

impl StreamConverter for Stream {
    fn event(&mut self, data: &str, out: &mut Vec<u8>) {
        if self.is_over() {
            return;
        }
        let Ok(event) = StreamEvent::parse(data) else { return self.fault(&StreamFault::unreadable(), out) };
        match event {
            StreamEvent::MessageStart(event) => {
                if let Some(usage) = &event.message.usage {
                    self.counts.update(usage);
                }
                self.container = event.message.container.map(|container| container.id.into_owned());
                self.writer.start(Some(&event.message.model), out);
            }
            StreamEvent::ContentBlockStart(event) => self.begin(&event.content_block, event.index, out),
            StreamEvent::ContentBlockDelta(event) => self.delta(&event, out),
            StreamEvent::ContentBlockStop(_) => self.end(out),
            StreamEvent::MessageDelta(event) => self.message_delta(&event),
            StreamEvent::MessageStop(_) => self.complete(out),
            StreamEvent::Error(event) => self.fault(&ending::fault(&event.error), out),
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
        if !self.is_over() {
            self.fault(&StreamFault::cut_off(), out);
        }
    }
}
