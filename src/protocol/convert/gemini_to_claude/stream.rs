//! A Gemini upstream's stream for a Claude Messages client.

use std::rc::Rc;

use crate::protocol::claude::stream_writer::StreamWriter;
use crate::protocol::claude::wire::content::ContentBlock;
use crate::protocol::claude::wire::usage::Usage;
use crate::protocol::convert::{Losses, Reply, StreamConverter, StreamFault};
use crate::protocol::gemini::wire::response::{Candidate, GenerateContentResponse, Status};

use super::citations;
use super::ending::{self, Ending};
use super::lost;
use super::pieces::{Piece, Pieces};
use super::response::server_tool_usage;

/// The state of a stream that is converted.
pub struct Stream {
    reply: Rc<Reply>,
    writer: StreamWriter,
    pieces: Pieces,
    calls: usize,
    has_started: bool,
    /// Whether the answer has said that it is done.
    has_ended: bool,
    /// Whether the block that is open is one of text.
    is_text: bool,
    losses: Losses,
}

impl Stream {
    /// A stream that answers what left `reply` behind.
    pub fn new(reply: Rc<Reply>) -> Self {
        Self {
            writer: StreamWriter::new(&reply),
            reply,
            pieces: Pieces::default(),
            calls: 0,
            has_started: false,
            has_ended: false,
            is_text: false,
            losses: Losses::of_stream(),
        }
    }
}

impl StreamConverter for Stream {
    fn event(&mut self, data: &str, out: &mut Vec<u8>) {
        if self.is_over() {
            return;
        }
        match serde_json::from_str::<GenerateContentResponse<'_>>(data) {
            Err(_) => self.writer.fault(&StreamFault::unreadable(), out),
            Ok(response) => self.response(&response, out),
        }
    }

    fn is_over(&self) -> bool {
        self.writer.is_over()
    }

    fn losses(&self) -> &Losses {
        &self.losses
    }

    fn finish(&mut self, out: &mut Vec<u8>) {
        if self.has_ended {
            self.writer.finish(out);
        } else {
            self.writer.fault(&StreamFault::cut_off(), out);
        }
    }
}

impl Stream {
    fn response(&mut self, response: &GenerateContentResponse<'_>, out: &mut Vec<u8>) {
        if let Some(error) = &response.error {
            return self.writer.fault(&fault(error), out);
        }
        let usage = response.usage_metadata.as_ref().map(ending::usage);
        if self.has_started {
            usage.iter().for_each(|usage| self.writer.usage(usage));
        } else {
            self.has_started = true;
            let id = ending::message_id(response.response_id.as_ref(), &self.reply.id);
            self.writer.start(&id, response.model_version.as_deref().unwrap_or_default(), usage.as_ref(), out);
        }
        if let Some(ending) = ending::of_prompt(response.prompt_feedback.as_ref()) {
            self.end(ending, out);
        }
        lost::candidates(&response.candidates, &mut self.losses);
        if let Some(candidate) = ending::first(&response.candidates) {
            self.candidate(candidate, out);
        }
    }

    fn candidate(&mut self, candidate: &Candidate<'_>, out: &mut Vec<u8>) {
        let reply = Rc::clone(&self.reply);
        lost::members(candidate, &mut self.losses);
        for (index, part) in candidate.content.iter().flat_map(|content| &content.parts).enumerate() {
            lost::part(part, index, &mut self.losses);
            for piece in self.pieces.of(part, &reply) {
                self.piece(piece, out);
            }
        }
        self.cite(candidate, out);
        if let Some(reason) = &candidate.finish_reason {
            self.end(ending::of_candidate(reason, candidate.finish_message.as_deref()), out);
        }
    }

    fn piece(&mut self, piece: Piece<'_>, out: &mut Vec<u8>) {
        self.is_text = matches!(piece, Piece::Text(_));
        match piece {
            Piece::Thinking(text) => self.writer.thinking(text, out),
            Piece::Signature(signature) => self.writer.signature(&signature, out),
            Piece::Text(text) => self.writer.text(&text, out),
            // The writer's calls have no toolset: one that has is written as a block of its own.
            Piece::Call(call) if call.toolset_name.is_some() => {
                self.writer.block(&ContentBlock::ToolUse(call), out);
            }
            Piece::Call(call) => {
                let key = self.calls;
                self.calls += 1;
                self.writer.tool_use(key, &call.id, &call.name, out);
                if call.input.get() != "{}" {
                    self.writer.input_json(key, call.input.get(), out);
                }
                self.writer.call_end(key, out);
            }
            Piece::Block(block) => self.writer.block(&block, out),
        }
    }

    /// What the answer is drawn from comes with the last of its text: citations go into the block that is still open, searches after
    /// it.
    fn cite(&mut self, candidate: &Candidate<'_>, out: &mut Vec<u8>) {
        let grounding = candidate.grounding_metadata.as_deref();
        if self.is_text {
            for cited in citations::cited(grounding, candidate.citation_metadata.as_deref()) {
                for citation in &cited.citations {
                    self.writer.citation(citation, out);
                }
            }
        }
        if let Some(grounding) = grounding {
            for block in citations::searches(grounding, &mut self.pieces, &self.reply) {
                self.is_text = false;
                self.writer.block(&block, out);
            }
        }
        if let Some(server_tool_use) = server_tool_usage(candidate) {
            self.writer.usage(&Usage { server_tool_use: Some(server_tool_use), ..Usage::default() });
        }
    }

    fn end(&mut self, ending: Ending, out: &mut Vec<u8>) {
        match ending {
            Ending::Stop(reason, details) => {
                self.has_ended = true;
                self.writer.stop(reason, None, details);
            }
            Ending::Failure(fault) => self.writer.fault(&fault, out),
        }
    }
}

/// The error of a stream.
fn fault<'a>(error: &'a Status<'a>) -> StreamFault<'a> {
    let status = error.code.and_then(|code| u16::try_from(code.0).ok()).unwrap_or(500);
    StreamFault {
        status,
        code: error.status.as_deref().unwrap_or("upstream_error").into(),
        message: error.message.as_deref().unwrap_or("the provider reported an error").into(),
    }
}
