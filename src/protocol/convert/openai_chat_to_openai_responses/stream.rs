//! A Chat Completions upstream's stream for a Responses client.

use std::rc::Rc;

use super::calls::Calls;
use super::end::{End, no_usage, usage};
use super::thoughts::{self, Members, Thought};
use super::{lost, notes};
use crate::protocol::convert::{Losses, Reply, StreamConverter, StreamFault};
use crate::protocol::openai_chat::chunks::Chunks;
use crate::protocol::openai_chat::fault;
use crate::protocol::openai_chat::wire::content::{Content, Part};
use crate::protocol::openai_chat::wire::response::Logprobs;
use crate::protocol::openai_chat::wire::stream::{Chunk, ChunkChoice, DONE, Delta};
use crate::protocol::openai_responses::stream_writer::StreamWriter;

/// The state of a stream that is converted.
pub struct Stream {
    reply: Rc<Reply>,
    chunks: Chunks,
    writer: StreamWriter,
    calls: Calls,
    /// How the answer ended; its usage may still come.
    end: Option<End>,
    /// Whether the source has said so.
    is_done: bool,
    has_usage: bool,
    losses: Losses,
}

impl Stream {
    /// A stream that answers what left `reply` behind.
    pub fn new(reply: Rc<Reply>) -> Self {
        Self {
            writer: StreamWriter::new(reply.clone()),
            reply,
            chunks: Chunks::default(),
            calls: Calls::default(),
            end: None,
            is_done: false,
            has_usage: false,
            losses: Losses::of_stream(),
        }
    }

    fn chunk(&mut self, chunk: &Chunk<'_>, out: &mut Vec<u8>) {
        if let Some(error) = &chunk.error {
            return self.writer.fault(&fault::of_member(error), out);
        }
        if let Some(usage) = chunk.usage.as_ref().and_then(usage) {
            self.writer.usage(usage);
            self.has_usage = true;
        }
        if chunk.moderation.is_some() {
            lost::moderation(&mut self.losses);
        }
        for choice in chunk.choices.iter().flatten() {
            // A Responses client has asked for one answer.
            if choice.index != 0 {
                lost::choices(&mut self.losses);
                continue;
            }
            self.writer.start(chunk.model.as_deref(), out);
            self.choice(choice, out);
        }
    }

    fn choice(&mut self, choice: &ChunkChoice<'_>, out: &mut Vec<u8>) {
        let Self { reply, writer, calls, end, losses, .. } = self;
        let delta = &choice.delta;
        note(choice, losses);
        think(delta, writer, out);
        say(delta, choice.logprobs.as_ref(), writer, out);
        for call in delta.tool_calls.iter().flatten() {
            calls.tool_call(call, thoughts::gemini_signature(call.extra_content.as_ref()), reply, writer, out);
        }
        if let Some(call) = &delta.function_call {
            calls.function_call(call, reply, writer, out);
        }
        if let Some(reason) = &choice.finish_reason {
            *end = Some(End::of(reason));
        }
    }

    fn end(&mut self, end: End, out: &mut Vec<u8>) {
        if end == End::Broken {
            return self.writer.fault(&StreamFault::cut_off(), out);
        }
        // Clients count on it, also where the vendor does not tell.
        if !self.has_usage {
            self.writer.usage(no_usage());
        }
        self.writer.finish(end.incomplete(), out);
    }
}

/// Notes what of `choice` the client is not told.
fn note(choice: &ChunkChoice<'_>, losses: &mut Losses) {
    let delta = &choice.delta;
    if let Some(Content::Parts(parts)) = &delta.content {
        parts.iter().enumerate().for_each(|(index, part)| lost::part(part, index, losses));
    }
    if delta.audio.is_some() {
        lost::audio(losses);
    }
    lost::annotations(delta.annotations.as_deref(), losses);
    lost::logprobs(choice.logprobs.as_ref(), losses);
    lost::finish_reason(choice.finish_reason.as_ref(), losses);
}

fn think(delta: &Delta<'_>, writer: &mut StreamWriter, out: &mut Vec<u8>) {
    let members = Members {
        reasoning_content: delta.reasoning_content.as_ref(),
        reasoning: delta.reasoning.as_ref(),
        reasoning_details: delta.reasoning_details.as_deref(),
        thinking_blocks: delta.thinking_blocks.as_deref(),
    };
    members.each(|thought| match thought {
        Thought::Text(text) => writer.reasoning(text, out),
        Thought::Seal(seal) => writer.seal_reasoning(seal, out),
    });
}

fn say(delta: &Delta<'_>, logprobs: Option<&Logprobs<'_>>, writer: &mut StreamWriter, out: &mut Vec<u8>) {
    match &delta.content {
        Some(Content::Text(text)) => match logprobs.and_then(|logprobs| logprobs.content.as_deref()) {
            Some(tokens) if !tokens.is_empty() => {
                writer.text_with_logprobs(text, &notes::logprobs(tokens), out);
            }
            _ => writer.text(text, out),
        },
        Some(Content::Parts(parts)) => parts.iter().for_each(|part| match part {
            Part::Text(part) => writer.text(&part.text, out),
            Part::Refusal(part) => writer.refusal(&part.refusal, out),
            Part::Other(part) => {
                if let Some(text) = thoughts::mistral_thinking(part) {
                    writer.reasoning(&text, out);
                }
            }
            Part::ImageUrl(_) | Part::InputAudio(_) | Part::File(_) => {}
        }),
        None => {}
    }
    if let Some(refusal) = &delta.refusal {
        writer.refusal(refusal, out);
    }
    if let Some(transcript) = delta.audio.as_ref().and_then(|audio| audio.transcript.as_ref()) {
        writer.text(transcript, out);
    }
    for annotation in delta.annotations.iter().flatten().filter_map(notes::annotation) {
        writer.annotation(&annotation, out);
    }
}

impl StreamConverter for Stream {
    fn event(&mut self, data: &str, out: &mut Vec<u8>) {
        if self.writer.is_over() {
            return;
        }
        if data.trim() == DONE {
            self.is_done = true;
            return self.finish(out);
        }
        match self.chunks.read(data) {
            Ok(chunk) => self.chunk(&chunk, out),
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
        match self.end {
            Some(end) => self.end(end, out),
            // Some servers give no reason, but say that they are done.
            None if self.is_done && self.writer.has_started() => self.end(End::Whole, out),
            None => self.writer.fault(&StreamFault::cut_off(), out),
        }
    }
}
