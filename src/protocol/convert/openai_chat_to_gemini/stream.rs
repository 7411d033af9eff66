//! A Chat Completions upstream's stream for a Gemini client.

use std::rc::Rc;

use super::choice::{self, Choice};
use super::{answer, lost};
use crate::protocol::convert::{Losses, Reply, StreamConverter, StreamFault};
use crate::protocol::gemini::stream_writer::StreamWriter;
use crate::protocol::openai_chat::chunks::Chunks;
use crate::protocol::openai_chat::fault;
use crate::protocol::openai_chat::wire::stream::{Chunk, DONE};
use crate::protocol::openai_chat::wire::usage::CompletionUsage;

/// The state of a stream that is converted.
pub struct Stream {
    reply: Rc<Reply>,
    chunks: Chunks,
    writer: StreamWriter,
    choices: Vec<Choice>,
    service_tier: Option<String>,
    losses: Losses,
}

impl Stream {
    /// A stream that answers what left `reply` behind.
    pub fn new(reply: Rc<Reply>) -> Self {
        let writer = StreamWriter::new(&reply);
        Self {
            reply,
            chunks: Chunks::default(),
            writer,
            choices: vec![],
            service_tier: None,
            losses: Losses::of_stream(),
        }
    }

    fn chunk(&mut self, chunk: &Chunk<'_>, out: &mut Vec<u8>) {
        if let Some(error) = &chunk.error {
            self.writer.fault(&fault::of_member(error), out);
            return;
        }
        if chunk.moderation.is_some() {
            lost::moderation(&mut self.losses);
        }
        self.writer.start(chunk.id.as_deref().unwrap_or_default(), chunk.model.as_deref().unwrap_or_default());
        if let Some(tier) = &chunk.service_tier {
            self.service_tier.get_or_insert_with(|| tier.to_string());
        }
        for choice in chunk.choices.iter().flatten() {
            let Some(index) = self.choice(choice.index) else { continue };
            self.writer.candidate(index);
            if let Some(state) = self.choices.get_mut(index) {
                choice::note(choice, index, &mut self.losses);
                state.take(choice, &self.reply, &mut self.writer, out);
            }
        }
        if let Some(usage) = chunk.usage.filter(|usage| *usage != CompletionUsage::default()) {
            self.writer.usage(&answer::usage(&usage, self.service_tier.as_deref()));
        }
    }

    /// The place of the answer `index`, made if it is new. Vendors count answers without gaps; what is far off is none.
    fn choice(&mut self, index: u64) -> Option<usize> {
        const MAX_CHOICES: usize = 128;
        let index = usize::try_from(index).ok().filter(|index| *index < MAX_CHOICES)?;
        if self.choices.len() <= index {
            self.choices.resize_with(index + 1, Choice::default);
        }
        Some(index)
    }

    /// Writes the end of an answer that has ended.
    fn end(&mut self, out: &mut Vec<u8>) {
        for (index, choice) in self.choices.iter_mut().enumerate() {
            self.writer.candidate(index);
            choice.end(&mut self.writer, out);
        }
        self.writer.finish(out);
        for index in 0..self.choices.len() {
            if let Some(key) = self.writer.malformed_call(index) {
                lost::arguments(choice::place_of(key), index, &mut self.losses);
            }
        }
    }
}

impl StreamConverter for Stream {
    fn event(&mut self, data: &str, out: &mut Vec<u8>) {
        if self.writer.is_over() {
            return;
        }
        if data.trim() == DONE {
            // Some vendors give no reason for the end, but none says that it is done where it is not.
            if self.choices.is_empty() {
                self.writer.fault(&StreamFault::cut_off(), out);
            } else {
                self.end(out);
            }
            return;
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
        if !self.choices.is_empty() && self.choices.iter().all(Choice::has_ended) {
            self.end(out);
        } else {
            self.writer.fault(&StreamFault::cut_off(), out);
        }
    }
}
