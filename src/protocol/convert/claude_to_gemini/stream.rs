//! A Claude Messages upstream's stream for a Gemini client.

use std::rc::Rc;

use crate::protocol::claude::wire::citation::Citation;
use crate::protocol::claude::wire::content::{ContentBlock, RedactedThinkingBlock, ThinkingBlock, ToolUseBlock};
use crate::protocol::claude::wire::stream::{ContentBlockDelta, ContentBlockStart, Delta, MessageDelta, StreamEvent};
use crate::protocol::claude::wire::usage::Usage;
use crate::protocol::convert::{Losses, Reply, StreamConverter, StreamFault};
use crate::protocol::gemini::stream_writer::StreamWriter;
use crate::protocol::gemini::wire::grounding::UrlContextMetadata;

use super::response::signature;
use super::server_tools::{self, Beside, Shown};
use super::{ending, lost};

/// The state of a stream that is converted.
pub struct Stream {
    reply: Rc<Reply>,
    writer: StreamWriter,
    usage: Usage<'static>,
    open: Open,
    /// Thinking whose signature waits for a part to stand on.
    thinking: Vec<ContentBlock<'static>>,
    beside: Beside,
    /// The bytes of text so far.
    text_bytes: usize,
    losses: Losses,
}

/// The block that is open.
enum Open {
    Nothing,
    /// Text: where it began, what it says, and what it cites as JSON.
    Text {
        start: usize,
        citations: Vec<String>,
        text: String,
    },
    Thinking {
        text: String,
        signature: String,
    },
    Call {
        key: usize,
    },
    ServerCall {
        index: usize,
        name: String,
        id: String,
        input: String,
    },
}

impl Stream {
    /// A stream that answers what left `reply` behind.
    pub fn new(reply: Rc<Reply>) -> Self {
        Self {
            writer: StreamWriter::new(&reply),
            reply,
            usage: Usage::default(),
            open: Open::Nothing,
            thinking: Vec::new(),
            beside: Beside::default(),
            text_bytes: 0,
            losses: Losses::of_stream(),
        }
    }
}

impl StreamConverter for Stream {
    fn event(&mut self, data: &str, out: &mut Vec<u8>) {
        if self.is_over() {
            return;
        }
        match StreamEvent::parse(data) {
            Err(_) => self.writer.fault(&StreamFault::unreadable(), out),
            Ok(StreamEvent::MessageStart(event)) => {
                self.writer.start(&event.message.id, &event.message.model);
                if event.message.container.is_some() {
                    lost::container(&mut self.losses);
                }
                if let Some(usage) = &event.message.usage {
                    self.usage.update(usage);
                }
            }
            Ok(StreamEvent::ContentBlockStart(event)) => self.block_start(&event, out),
            Ok(StreamEvent::ContentBlockDelta(event)) => self.block_delta(&event, out),
            Ok(StreamEvent::ContentBlockStop(_)) => self.block_stop(out),
            Ok(StreamEvent::MessageDelta(event)) => self.message_delta(&event),
            Ok(StreamEvent::MessageStop(_)) => self.message_stop(out),
            Ok(StreamEvent::Error(event)) => self.writer.fault(&ending::fault(&event.error), out),
            Ok(StreamEvent::Ping(_) | StreamEvent::Other(_)) => {}
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

impl Stream {
    fn block_start(&mut self, event: &ContentBlockStart<'_>, out: &mut Vec<u8>) {
        // A block that was not closed ends here.
        self.block_stop(out);
        let index = usize::try_from(event.index).unwrap_or(usize::MAX);
        match &event.content_block {
            ContentBlock::Text(block) => {
                self.open = Open::Text { start: self.text_bytes, citations: Vec::new(), text: String::new() };
                self.text(&block.text, out);
                block.citations.iter().flatten().for_each(|citation| self.citation(citation));
            }
            ContentBlock::Thinking(block) => {
                self.writer.thought(&block.thinking, out);
                let signature = block.signature.as_deref().unwrap_or_default().to_owned();
                self.open = Open::Thinking { text: block.thinking.to_string(), signature };
            }
            ContentBlock::RedactedThinking(block) => {
                let data = block.data.to_string().into();
                self.thinking.push(ContentBlock::RedactedThinking(RedactedThinkingBlock { data }));
            }
            ContentBlock::ToolUse(block) => self.tool_use(index, block, out),
            ContentBlock::ServerToolUse(block) => {
                let input = if block.input.get() == "{}" { String::new() } else { block.input.get().to_owned() };
                self.open = Open::ServerCall { index, name: block.name.to_string(), id: block.id.to_string(), input };
            }
            block => {
                let shown = server_tools::result(block, &mut self.beside);
                if !self.shown(shown, out) {
                    lost::block(block, index, &mut self.losses);
                }
            }
        }
    }

    fn tool_use(&mut self, key: usize, block: &ToolUseBlock<'_>, out: &mut Vec<u8>) {
        self.sign(out);
        let reply = Rc::clone(&self.reply);
        self.writer.function_call(key, Some(&block.id), reply.tools.client_name(&block.name), out);
        if block.input.get() != "{}" {
            self.writer.arguments(key, block.input.get(), out);
        }
        self.open = Open::Call { key };
    }

    fn block_delta(&mut self, event: &ContentBlockDelta<'_>, out: &mut Vec<u8>) {
        match (&event.delta, &mut self.open) {
            (Delta::Text(delta), _) => self.text(&delta.text, out),
            (Delta::InputJson(delta), Open::Call { key }) => self.writer.arguments(*key, &delta.partial_json, out),
            (Delta::InputJson(delta), Open::ServerCall { input, .. }) => input.push_str(&delta.partial_json),
            (Delta::Thinking(delta), Open::Thinking { text, .. }) => {
                text.push_str(&delta.thinking);
                self.writer.thought(&delta.thinking, out);
            }
            (Delta::Signature(delta), Open::Thinking { signature, .. }) => {
                signature.replace_range(.., &delta.signature)
            }
            (Delta::Citations(delta), _) => self.citation(&delta.citation),
            _ => {}
        }
    }

    fn text(&mut self, piece: &str, out: &mut Vec<u8>) {
        if piece.is_empty() {
            return;
        }
        self.sign(out);
        self.writer.text(piece, out);
        self.text_bytes += piece.len();
        if let Open::Text { text, .. } = &mut self.open {
            text.push_str(piece);
        }
    }

    fn citation(&mut self, citation: &Citation<'_>) {
        if let Open::Text { citations, .. } = &mut self.open {
            citations.extend(serde_json::to_string(citation));
        }
    }

    fn block_stop(&mut self, out: &mut Vec<u8>) {
        match std::mem::replace(&mut self.open, Open::Nothing) {
            Open::Nothing => {}
            Open::Text { start, citations, text } => {
                let citations: Vec<Citation<'_>> =
                    citations.iter().filter_map(|citation| serde_json::from_str(citation).ok()).collect();
                self.beside.grounding.support(&citations, &text, 0, start);
            }
            Open::Thinking { text, signature } => {
                // Without a signature Claude would not take it back.
                if !signature.is_empty() {
                    let block = ThinkingBlock { thinking: text.into(), signature: Some(signature.into()) };
                    self.thinking.push(ContentBlock::Thinking(block));
                }
            }
            Open::Call { key } => self.writer.call_end(key, out),
            Open::ServerCall { index, name, id, input } => {
                let shown = server_tools::call(&name, &id, &input, &mut self.beside);
                if !self.shown(shown, out) {
                    lost::call(index, &mut self.losses);
                }
            }
        }
    }

    /// Shows what there is to show; tells whether there is anything.
    fn shown(&mut self, shown: Shown, out: &mut Vec<u8>) -> bool {
        match shown {
            Shown::Part(part) => {
                self.sign(out);
                self.writer.part(&part, out);
            }
            Shown::Beside => {}
            Shown::Nothing => return false,
        }
        true
    }

    /// Gives the next part the signature that waits.
    fn sign(&mut self, out: &mut Vec<u8>) {
        if self.thinking.is_empty() {
            return;
        }
        let thinking = std::mem::take(&mut self.thinking);
        if let Some(signature) = signature(&thinking) {
            self.writer.signature(&signature, out);
        }
    }

    fn message_delta(&mut self, event: &MessageDelta<'_>) {
        if let Some(usage) = &event.usage {
            self.usage.update(usage);
        }
        if event.delta.container.is_some() {
            lost::container(&mut self.losses);
        }
        lost::stop_reason(event.delta.stop_reason.as_ref(), &mut self.losses);
        if event.delta.stop_reason.is_some() {
            let (reason, message) =
                ending::finish_reason(event.delta.stop_reason.as_ref(), event.delta.stop_details.as_ref());
            self.writer.finish_reason(reason, message.as_deref());
        }
    }

    fn message_stop(&mut self, out: &mut Vec<u8>) {
        self.block_stop(out);
        self.sign(out);
        if let Some(grounding) = std::mem::take(&mut self.beside.grounding).finish() {
            self.writer.grounding(&grounding);
        }
        let urls = std::mem::take(&mut self.beside.urls);
        if !urls.is_empty() {
            self.writer.url_context(&UrlContextMetadata { url_metadata: urls });
        }
        self.writer.usage(&ending::usage(&self.usage));
        self.writer.finish(out);
    }
}
