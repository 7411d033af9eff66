//! A Gemini upstream's stream for a Chat Completions client.

use std::rc::Rc;

use super::answer;
use super::grounding::{self, Said};
use super::lost;
use super::thinking::signed;
use crate::protocol::convert::names::made_up_call_id;
use crate::protocol::convert::{Losses, Reply, StreamConverter, StreamFault, read};
use crate::protocol::gemini::wire::content::{FunctionCall, Part};
use crate::protocol::gemini::wire::proto::Count;
use crate::protocol::gemini::wire::response::{Candidate, End, FinishReason, GenerateContentResponse, Status};
use crate::protocol::openai_chat::stream_writer::StreamWriter;
use crate::protocol::openai_chat::wire::content::Content;
use crate::protocol::openai_chat::wire::response::{Annotation, FinishReason as TargetReason, Logprobs};
use crate::protocol::openai_chat::wire::stream::Delta;
use crate::protocol::wire::Raw;

/// The state of a stream that is converted.
pub struct Stream {
    reply: Rc<Reply>,
    writer: StreamWriter,
    answers: Vec<Answer>,
    /// How many calls came.
    calls: usize,
    losses: Losses,
}

/// One of the answers, while it comes.
#[derive(Debug, Default)]
struct Answer {
    index: u64,
    said: Said,
    /// How many parts came.
    parts: u64,
    has_calls: bool,
    has_ended: bool,
    /// JSON of the annotations; those of a later event replace those of an earlier one.
    annotations: Option<String>,
}

impl Stream {
    /// A stream that answers what left `reply` behind.
    pub fn new(reply: Rc<Reply>) -> Self {
        Self { writer: StreamWriter::new(reply.clone()), reply, answers: vec![], calls: 0, losses: Losses::of_stream() }
    }

    fn piece(&mut self, piece: &GenerateContentResponse<'_>, out: &mut Vec<u8>) {
        if let Some(error) = &piece.error {
            self.writer.fault(&fault(error), out);
            return;
        }
        if !self.writer.has_started() && self.fails(piece, out) {
            return;
        }
        self.writer.start(piece.model_version.as_deref(), out);
        if let Some(usage) = &piece.usage_metadata {
            self.writer.usage(answer::usage(usage));
        }
        for candidate in &piece.candidates {
            self.candidate(candidate, out);
        }
        let is_blocked = piece.prompt_feedback.as_ref().is_some_and(|feedback| feedback.block_reason.is_some());
        if is_blocked && piece.candidates.is_empty() {
            self.answer(0).has_ended = true;
            self.writer.finish_reason(0, TargetReason::ContentFilter, out);
        }
    }

    /// Whether the model failed before it said anything. Nothing is written before that is told, so that another may be asked.
    fn fails(&mut self, piece: &GenerateContentResponse<'_>, out: &mut Vec<u8>) -> bool {
        let failed = |candidate: &&Candidate<'_>| {
            candidate.finish_reason.as_ref().is_some_and(|reason| reason.end() == End::Failed)
        };
        let Some(candidate) = piece.candidates.iter().find(failed) else { return false };
        if let Some(reason) = &candidate.finish_reason {
            self.fault(reason, candidate.finish_message.as_deref(), out);
        }
        true
    }

    fn fault(&mut self, reason: &FinishReason<'_>, message: Option<&str>, out: &mut Vec<u8>) {
        self.writer.fault(&answer::failure(reason, message), out);
    }

    fn candidate(&mut self, candidate: &Candidate<'_>, out: &mut Vec<u8>) {
        let index = candidate.index.map_or(0, |Count(index)| index);
        let mut logprobs = candidate.logprobs_result.as_deref().and_then(answer::logprobs);
        lost::members(candidate, index, &mut self.losses);
        for (place, part) in (0..).zip(candidate.content.iter().flat_map(|content| &content.parts)) {
            lost::part(part, place, index, &mut self.losses);
            self.part(index, part, &mut logprobs, out);
        }
        if let Some(logprobs) = logprobs {
            self.writer.delta_with_logprobs(index, &Delta::default(), Some(&logprobs), out);
        }
        let answer = self.answer(index);
        let annotations = grounding::annotations(candidate, &answer.said);
        if !annotations.is_empty() {
            answer.annotations = serde_json::to_string(&annotations).ok();
        }
        if let Some(reason) = &candidate.finish_reason {
            self.end(index, reason, candidate.finish_message.as_deref(), out);
        }
    }

    fn part(&mut self, index: u64, part: &Part<'_>, logprobs: &mut Option<Logprobs<'_>>, out: &mut Vec<u8>) {
        let signature = part.thought_signature.as_deref().filter(|signature| !signature.is_empty()).and_then(signed);
        if let Some(call) = &part.function_call {
            self.call(index, call, signature.as_ref(), out);
            return;
        }
        let answer = self.answer(index);
        let text = part.text.as_deref().unwrap_or_default();
        let is_thought = part.thought == Some(true);
        if !is_thought {
            answer.said.push(answer.parts, text);
        }
        answer.parts += 1;
        match (is_thought, logprobs.take_if(|_| !is_thought && !text.is_empty())) {
            (true, _) => self.writer.reasoning(index, text, out),
            (false, Some(logprobs)) => self.writer.text_with_logprobs(index, text, &logprobs, out),
            (false, None) => self.writer.text(index, text, out),
        }
        if let Some(image) = answer::image(part) {
            self.writer.delta(index, &Delta { images: Some(vec![image]), ..Delta::default() }, out);
        }
        if signature.is_some() {
            let content = Some(Content::Text("".into()));
            self.writer.delta(index, &Delta { content, extra_content: signature, ..Delta::default() }, out);
        }
    }

    /// A call comes whole.
    fn call(&mut self, index: u64, call: &FunctionCall<'_>, extra_content: Option<&Raw<'_>>, out: &mut Vec<u8>) {
        self.answer(index).has_calls = true;
        let made_up;
        let id = match call.id.as_deref().filter(|id| !id.is_empty()) {
            Some(id) => id,
            None => {
                made_up = made_up_call_id(&self.reply.id, self.calls);
                &made_up
            }
        };
        self.calls += 1;
        let name = call.name.as_deref().unwrap_or_default();
        let arguments = answer::arguments(call);
        let call_index = self.writer.tool_call(index, id, name, extra_content, out);
        self.writer.arguments(index, call_index, &arguments, out);
        self.writer.close_call(index, call_index, out);
    }

    fn end(&mut self, index: u64, reason: &FinishReason<'_>, message: Option<&str>, out: &mut Vec<u8>) {
        let answer = self.answer(index);
        answer.has_ended = true;
        match answer::finish_reason(reason, answer.has_calls) {
            Some(reason) => self.writer.finish_reason(index, reason, out),
            None => self.fault(reason, message, out),
        }
    }

    fn answer(&mut self, index: u64) -> &mut Answer {
        let place = self.answers.iter().position(|answer| answer.index == index).unwrap_or_else(|| {
            self.answers.push(Answer { index, ..Answer::default() });
            self.answers.len() - 1
        });
        // The place was just found.
        #[allow(clippy::indexing_slicing)]
        &mut self.answers[place]
    }
}

/// An error of Gemini.
fn fault<'a>(error: &'a Status<'a>) -> StreamFault<'a> {
    let status = error.code.and_then(|Count(code)| u16::try_from(code).ok()).filter(|code| (400..600).contains(code));
    let code = error.status.as_deref().map_or("upstream_error".to_owned(), str::to_ascii_lowercase);
    let message = error.message.as_deref().unwrap_or("the provider reported an error");
    StreamFault { status: status.unwrap_or(502), code: code.into(), message: message.into() }
}

impl StreamConverter for Stream {
    fn event(&mut self, data: &str, out: &mut Vec<u8>) {
        if self.writer.is_over() {
            return;
        }
        match read::<GenerateContentResponse<'_>>(data) {
            Ok(piece) => self.piece(&piece, out),
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
        if !self.answers.is_empty() && self.answers.iter().all(|answer| answer.has_ended) {
            for answer in &self.answers {
                let annotations = answer.annotations.as_deref().map(serde_json::from_str::<Vec<Annotation<'_>>>);
                for annotation in annotations.and_then(Result::ok).unwrap_or_default() {
                    self.writer.annotation(answer.index, &annotation, out);
                }
            }
            self.writer.finish(out);
        } else {
            self.writer.fault(&StreamFault::cut_off(), out);
        }
    }
}
