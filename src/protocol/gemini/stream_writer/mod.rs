//! Writes the stream of an answer (<https://ai.google.dev/api/generate-content#method:-models.streamgeneratecontent>), whatever dialect
//! it comes from.

mod candidate;
#[cfg(test)]
mod tests;

use super::error::status_name;
use super::wire::content::Part;
use super::wire::grounding::{CitationMetadata, GroundingMetadata, LogprobsResult, UrlContextMetadata};
use super::wire::response::{FinishReason, Status, UsageMetadata};
use crate::protocol::convert::{Reply, StreamFault};
use crate::protocol::dialect::Dialect;
use crate::protocol::json;
use crate::protocol::wire::{Raw, Text};
use candidate::Candidate;

/// Most answers that one stream may have.
const MAX_CANDIDATES: usize = 128;

/// The state of a stream that is written.
///
/// Text and thoughts are written as they come, one event each. A call is written whole, and calls in the order in which they were
/// opened. The last event has the reasons why the answers ended and what they took; there is no other mark at the end. An error
/// stands in an event of its own, after which nothing comes.
///
/// The events are framed as server-sent events, or as the elements of one JSON array, which stays valid after an error too.
#[derive(Debug)]
pub struct StreamWriter {
    as_array: bool,
    model: String,
    response_id: String,
    is_started: bool,
    is_over: bool,
    /// What every event ends with.
    tail: Vec<u8>,
    candidates: Vec<Candidate>,
    /// The candidate that is written to.
    current: usize,
    /// `usageMetadata` as JSON.
    usage: Option<Vec<u8>>,
}

impl StreamWriter {
    /// A stream that answers what left `reply` behind. Until [`start`](Self::start) knows better, the answer has the id
    /// of the request, and its model is called what the client called it.
    pub fn new(reply: &Reply) -> Self {
        let mut writer = Self {
            as_array: reply.as_array,
            model: reply.model.clone(),
            response_id: reply.id.clone(),
            is_started: false,
            is_over: false,
            tail: Vec::new(),
            candidates: vec![Candidate::new(0)],
            current: 0,
            usage: None,
        };
        writer.set_tail();
        writer
    }

    /// Names the answer and its model. Has no effect once something was written; an empty text stands for none.
    pub fn start(&mut self, response_id: &str, model: &str) {
        if self.is_started {
            return;
        }
        for (own, given) in [(&mut self.response_id, response_id), (&mut self.model, model)] {
            if !given.is_empty() {
                given.clone_into(own);
            }
        }
        self.set_tail();
    }

    /// Turns to another one of several answers; everything that follows is about it. The first one is 0.
    pub fn candidate(&mut self, index: usize) {
        let index = index.min(MAX_CANDIDATES - 1);
        while self.candidates.len() <= index {
            self.candidates.push(Candidate::new(self.candidates.len()));
        }
        self.current = index;
    }

    /// Text. An empty one is nothing.
    pub fn text(&mut self, text: &str, out: &mut Vec<u8>) {
        if text.is_empty() || self.is_over {
            return;
        }
        let signature = self.with_current(|candidate| candidate.signature.take());
        self.begin(out);
        out.extend_from_slice(b"{\"text\":");
        json::append(out, text);
        append_signature(signature.as_deref(), out);
        out.push(b'}');
        self.end(out);
    }

    /// A summary of thoughts. An empty one is nothing.
    pub fn thought(&mut self, text: &str, out: &mut Vec<u8>) {
        if text.is_empty() || self.is_over {
            return;
        }
        self.begin(out);
        out.extend_from_slice(b"{\"text\":");
        json::append(out, text);
        out.extend_from_slice(b",\"thought\":true}");
        self.end(out);
    }

    /// A thought signature, which goes onto the next part that is no thought; onto an empty one if another signature or the end comes
    /// before it.
    pub fn signature(&mut self, signature: &str, out: &mut Vec<u8>) {
        if self.is_over {
            return;
        }
        let former = self.with_current(|candidate| candidate.signature.replace(signature.to_owned()));
        if former.is_some() {
            self.begin(out);
            append_empty_part(former.as_deref(), out);
            self.end(out);
        }
    }

    /// Opens a call. `key` is what the source tells its calls apart with; a second call under the same one ends the first.
    /// A signature that waits for its part belongs to it.
    pub fn function_call(&mut self, key: usize, id: Option<&str>, name: &str, out: &mut Vec<u8>) {
        self.call_end(key, out);
        self.with_current(|candidate| candidate.open_call(key, id, name));
    }

    /// A piece of the arguments of the call `key`. What comes for a call that was written is left out.
    pub fn arguments(&mut self, key: usize, json: &str, out: &mut Vec<u8>) {
        if self.with_current(|candidate| candidate.arguments(key, json)) {
            self.write_calls(out);
        }
    }

    /// The call `key` is complete.
    pub fn call_end(&mut self, key: usize, out: &mut Vec<u8>) {
        self.with_current(|candidate| candidate.call_end(key));
        self.write_calls(out);
    }

    /// A whole part of any kind.
    pub fn part(&mut self, part: &Part<'_>, out: &mut Vec<u8>) {
        if self.is_over {
            return;
        }
        let is_thought = part.thought == Some(true);
        let signature = self.with_current(|candidate| if is_thought { None } else { candidate.signature.take() });
        self.begin(out);
        match signature {
            Some(signature) if part.thought_signature.is_none() => {
                json::append_line(out, &Part { thought_signature: Some(signature.into()), ..part.clone() });
            }
            _ => json::append_line(out, part),
        }
        self.end(out);
    }

    /// Why the answer ended, and the same in words; the last one counts. Until one is told it is `STOP`.
    pub fn finish_reason(&mut self, reason: FinishReason<'_>, message: Option<&str>) {
        self.with_current(|candidate| candidate.finish_reason(&reason, message));
    }

    /// What was found, for the last event; the last one counts.
    pub fn grounding(&mut self, grounding: &GroundingMetadata<'_>) {
        self.with_current(|candidate| candidate.grounding = Some(json::line(grounding)));
    }

    /// What the answer repeats, for the last event; the last one counts.
    pub fn citations(&mut self, citations: &CitationMetadata<'_>) {
        self.with_current(|candidate| candidate.citations = Some(json::line(citations)));
    }

    /// The pages that were read, for the last event; the last one counts.
    pub fn url_context(&mut self, pages: &UrlContextMetadata<'_>) {
        self.with_current(|candidate| candidate.url_context = Some(json::line(pages)));
    }

    /// How probable the tokens were, for the last event; the last one counts.
    pub fn logprobs(&mut self, logprobs: &LogprobsResult<'_>) {
        self.with_current(|candidate| candidate.logprobs = Some(json::line(logprobs)));
    }

    /// What the answers took, in total; the last one counts.
    pub fn usage(&mut self, usage: &UsageMetadata<'_>) {
        self.usage = Some(json::line(usage));
    }

    /// Writes the end.
    pub fn finish(&mut self, out: &mut Vec<u8>) {
        if self.is_over {
            return;
        }
        for index in 0..self.candidates.len() {
            self.current = index;
            self.with_current(Candidate::end_calls);
            self.write_calls(out);
        }
        self.frame(out);
        out.extend_from_slice(b"{\"candidates\":[");
        for (index, candidate) in self.candidates.iter_mut().enumerate() {
            if index > 0 {
                out.push(b',');
            }
            candidate.write_ending(out);
        }
        out.push(b']');
        if let Some(usage) = &self.usage {
            out.extend_from_slice(b",\"usageMetadata\":");
            out.extend_from_slice(usage);
        }
        out.extend_from_slice(&self.tail);
        self.close(out);
    }

    /// Ends the stream with an error.
    pub fn fault(&mut self, fault: &StreamFault<'_>, out: &mut Vec<u8>) {
        let fault = &fault.for_client(Dialect::Gemini);
        if self.is_over {
            return;
        }
        let reason: String =
            fault.code.chars().map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_uppercase() } else { '_' }).collect();
        let info = Raw::of(&serde_json::json!({
            "@type": "type.googleapis.com/google.rpc.ErrorInfo",
            "reason": reason,
            "domain": "tollgate",
        }));
        let status = Status {
            code: Some(u64::from(fault.status).into()),
            message: Some(Text::from(&*fault.message)),
            status: Some(status_name(fault.status).into()),
            details: info.into_iter().collect(),
        };
        self.frame(out);
        out.extend_from_slice(b"{\"error\":");
        json::append_line(out, &status);
        out.push(b'}');
        if !self.as_array {
            out.extend_from_slice(b"\n\n");
        }
        self.close(out);
    }

    /// Whether the last event has been written.
    pub fn is_over(&self) -> bool {
        self.is_over
    }

    /// The key of the first call of the candidate `index` that was not written, since its arguments are no object.
    pub fn malformed_call(&self, index: usize) -> Option<usize> {
        self.candidates.get(index)?.malformed_key
    }

    fn with_current<R>(&mut self, action: impl FnOnce(&mut Candidate) -> R) -> R
    where
        R: Default,
    {
        self.candidates.get_mut(self.current).map(action).unwrap_or_default()
    }

    /// Writes the calls that are complete, as far as no other is before them.
    fn write_calls(&mut self, out: &mut Vec<u8>) {
        while !self.is_over {
            let Some(call) = self.with_current(Candidate::next_call) else { return };
            self.begin(out);
            json::append_line(out, &call.part());
            self.end(out);
        }
    }

    /// Begins an event, up to its only part.
    fn begin(&mut self, out: &mut Vec<u8>) {
        self.frame(out);
        out.extend_from_slice(b"{\"candidates\":[{\"content\":{\"parts\":[");
    }

    /// Ends an event after its only part.
    fn end(&mut self, out: &mut Vec<u8>) {
        if let Some(candidate) = self.candidates.get_mut(self.current) {
            candidate.has_parts = true;
            out.extend_from_slice(&candidate.close);
        }
        out.extend_from_slice(&self.tail);
    }

    /// What comes before an event.
    fn frame(&mut self, out: &mut Vec<u8>) {
        out.extend_from_slice(match (self.as_array, self.is_started) {
            (false, _) => b"data: ",
            (true, false) => b"[",
            (true, true) => b",\r\n",
        });
        self.is_started = true;
    }

    /// Ends the stream.
    fn close(&mut self, out: &mut Vec<u8>) {
        self.is_over = true;
        if self.as_array {
            out.push(b']');
        }
    }

    fn set_tail(&mut self) {
        self.tail.clear();
        for (name, value) in [(&b",\"modelVersion\":"[..], &self.model), (b",\"responseId\":", &self.response_id)] {
            self.tail.extend_from_slice(name);
            json::append(&mut self.tail, value);
        }
        self.tail.extend_from_slice(if self.as_array { b"}\n" } else { b"}\n\n" });
    }
}

/// A part without text, which a signature needs, and by which the end tells itself from nothing.
fn append_empty_part(signature: Option<&str>, out: &mut Vec<u8>) {
    out.extend_from_slice(b"{\"text\":\"\"");
    append_signature(signature, out);
    out.push(b'}');
}

fn append_signature(signature: Option<&str>, out: &mut Vec<u8>) {
    if let Some(signature) = signature {
        out.extend_from_slice(b",\"thoughtSignature\":");
        json::append(out, signature);
    }
}
