//! A Gemini upstream's stream for a Responses client.

use std::rc::Rc;

use super::ending::{self, Ending};
use super::{calls, grounding, hosted, lost, thinking};
use crate::protocol::convert::seal::{Family, seal};
use crate::protocol::convert::{Losses, Reply, StreamConverter, StreamFault, read};
use crate::protocol::gemini::wire::content::{CodeExecutionResult, ExecutableCode, FunctionCall, Part};
use crate::protocol::gemini::wire::response::{Candidate, GenerateContentResponse};
use crate::protocol::openai_responses::ids;
use crate::protocol::openai_responses::stream_writer::StreamWriter;
use crate::protocol::openai_responses::wire::hosted::WebSearchCall;
use crate::protocol::openai_responses::wire::item::Item;

/// The state of a stream that is converted.
pub struct Stream {
    reply: Rc<Reply>,
    writer: StreamWriter,
    /// The text of the message that is open, to which sources refer.
    text: String,
    /// How many annotations that text has.
    annotation_count: usize,
    call_count: usize,
    /// Code whose result has not come yet.
    code: Option<String>,
    has_searched: bool,
    ending: Option<Ending>,
    losses: Losses,
}

impl Stream {
    /// A stream that answers what left `reply` behind.
    pub fn new(reply: Rc<Reply>) -> Self {
        Self {
            writer: StreamWriter::new(reply.clone()),
            reply,
            text: String::new(),
            annotation_count: 0,
            call_count: 0,
            code: None,
            has_searched: false,
            ending: None,
            losses: Losses::of_stream(),
        }
    }

    fn convert(&mut self, event: &GenerateContentResponse<'_>, out: &mut Vec<u8>) {
        if let Some(error) = &event.error {
            self.writer.fault(&ending::fault(error), out);
            return;
        }
        self.writer.start(event.model_version.as_deref(), out);
        if let Some(usage) = &event.usage_metadata {
            self.writer.usage(ending::usage(usage));
        }
        let is_first = |candidate: &&Candidate<'_>| candidate.index.is_none_or(|index| index.0 == 0);
        if !event.candidates.iter().all(|candidate| is_first(&candidate)) {
            lost::candidates(&mut self.losses);
        }
        if let Some(candidate) = event.candidates.iter().find(is_first) {
            self.candidate(candidate, out);
        } else if self.ending.is_none() {
            self.ending = ending::without_candidate(event);
        }
    }

    fn candidate(&mut self, candidate: &Candidate<'_>, out: &mut Vec<u8>) {
        lost::finish_reason(candidate, &mut self.losses);
        for (index, part) in candidate.content.iter().flat_map(|content| &content.parts).enumerate() {
            self.part(part, index, out);
        }
        let (grounding, citations) = (candidate.grounding_metadata.as_deref(), candidate.citation_metadata.as_deref());
        if self.writer.has_open_text() {
            // A later event repeats what earlier ones said.
            let annotations = grounding::annotations(&self.text, grounding, citations);
            for annotation in annotations.iter().skip(self.annotation_count) {
                self.writer.annotation(annotation, out);
            }
            self.annotation_count = self.annotation_count.max(annotations.len());
        }
        if !self.has_searched {
            grounding::searches(candidate).into_iter().for_each(|call| self.web_call(call, out));
        }
        // B25: one reason is told, at the end; a later one stands.
        self.ending = ending::of_candidate(candidate).or(self.ending.take());
    }

    fn part(&mut self, part: &Part<'_>, index: usize, out: &mut Vec<u8>) {
        if part.tool_call.is_some() || part.tool_response.is_some() {
            self.vendors_tool(part, index, out);
            return;
        }
        let signature = part.thought_signature.as_deref().filter(|signature| !signature.is_empty());
        let text = part.text.as_deref().filter(|text| !text.is_empty());
        if part.thought == Some(true) {
            self.writer.reasoning(text.unwrap_or_default(), out);
            self.sign(signature, out);
            return;
        }
        // A message that is open is not torn apart: its signature follows it.
        let is_in_message = part.text.is_some() && self.writer.has_open_text();
        if !is_in_message {
            self.sign(signature, out);
        }
        if let Some(text) = text {
            if !self.writer.has_open_text() {
                self.text.clear();
                self.annotation_count = 0;
            }
            self.text.push_str(text);
            self.writer.text(text, out);
        } else if let Some(call) = &part.function_call {
            self.call(call, out);
        } else if let Some(code) = &part.executable_code {
            self.end_code(None, out);
            self.code = Some(code.code.as_deref().unwrap_or_default().to_owned());
        } else if let Some(result) = &part.code_execution_result {
            self.end_code(Some(result), out);
        } else if let Some(blob) = &part.inline_data {
            match hosted::image(blob, &self.reply, self.writer.item_count()) {
                Some(image) => self.writer.whole_item(&image, out),
                None => lost::part(index, &mut self.losses),
            }
        } else if part.text.is_none() {
            lost::part(index, &mut self.losses);
        }
        if is_in_message {
            self.sign(signature, out);
        }
    }

    /// B14: a signature goes back with the part that follows it, so it stands before that part's item.
    fn sign(&mut self, signature: Option<&str>, out: &mut Vec<u8>) {
        if let Some(signature) = signature {
            self.writer.seal_reasoning(seal(Family::Gemini, signature), out);
        }
    }

    /// What a tool of the vendor did: kept as it is for the vendor, and shown where there is an item for it.
    fn vendors_tool(&mut self, part: &Part<'_>, index: usize, out: &mut Vec<u8>) {
        self.writer.end_reasoning(out);
        self.writer.seal_reasoning(thinking::kept_part(part), out);
        if let Some(call) = &part.tool_call {
            let calls = hosted::web_calls(call);
            if calls.is_empty() {
                lost::kept(index, &mut self.losses);
            }
            calls.into_iter().for_each(|call| self.web_call(call, out));
        }
    }

    fn call(&mut self, call: &FunctionCall<'_>, out: &mut Vec<u8>) {
        let id = calls::call_id(call, &self.reply, self.call_count);
        self.call_count += 1;
        let name = call.name.as_deref().unwrap_or_default();
        let place = self.writer.tool_call(&id, name, out);
        self.writer.arguments(place, calls::arguments(call), out);
        self.writer.close_call(place);
    }

    /// Writes the code that waits, with its result.
    fn end_code(&mut self, result: Option<&CodeExecutionResult<'_>>, out: &mut Vec<u8>) {
        let Some(code) = self.code.take() else { return };
        let code = ExecutableCode { code: Some(code.into()), ..ExecutableCode::default() };
        self.writer.whole_item(&hosted::code(&code, result, &self.reply, self.writer.item_count()), out);
    }

    fn web_call(&mut self, mut call: WebSearchCall<'_>, out: &mut Vec<u8>) {
        self.has_searched = true;
        call.id = Some(ids::item("ws", &self.reply, self.writer.item_count()).into());
        self.writer.whole_item(&Item::WebSearchCall(call), out);
    }
}

impl StreamConverter for Stream {
    fn event(&mut self, data: &str, out: &mut Vec<u8>) {
        if self.is_over() {
            return;
        }
        match read(data) {
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

    /// Gemini has no event for the end, and tells usage after the reason too: only the end of its stream is the end.
    fn finish(&mut self, out: &mut Vec<u8>) {
        self.end_code(None, out);
        match self.ending.take() {
            Some(Ending::Completed) => self.writer.finish(None, out),
            Some(Ending::Incomplete(reason)) => self.writer.finish(Some(reason), out),
            Some(Ending::Failed(fault)) => self.writer.fault(&fault, out),
            None => self.writer.fault(&StreamFault::cut_off(), out),
        }
    }
}
