//! A Gemini upstream's answer for a Responses client.

use super::ending::{self, Ending};
use super::{calls, grounding, hosted, lost, thinking};
use crate::protocol::convert::seal::{Family, seal};
use crate::protocol::convert::{ConvertError, Losses, Reply};
use crate::protocol::gemini::wire::content::Part;
use crate::protocol::gemini::wire::grounding::{LogprobsResult, TokenCandidate};
use crate::protocol::gemini::wire::response::{Candidate, GenerateContentResponse};
use crate::protocol::openai_responses::wire::content::{LogProb, OutputText, Part as ItemPart, PlainText, TopLogProb};
use crate::protocol::openai_responses::wire::hosted::WebSearchCall;
use crate::protocol::openai_responses::wire::item::{Item, Message, ReasoningItem, Role};
use crate::protocol::openai_responses::wire::response::{IncompleteDetails, Response as Target, ResponseError, Status};
use crate::protocol::openai_responses::{echo, ids};
use crate::protocol::wire::{Text, TextOr};

/// Converts `response`.
pub fn convert<'a>(
    response: &'a GenerateContentResponse<'a>,
    reply: &'a Reply,
    losses: &mut Losses,
) -> Result<Target<'a>, ConvertError> {
    let mut output = Output::new(reply);
    let ending = match response.candidates.first() {
        Some(candidate) => {
            output.candidate(candidate, losses);
            lost::finish_reason(candidate, losses);
            ending::of_candidate(candidate).unwrap_or(Ending::Completed)
        }
        None => ending::without_candidate(response)
            .ok_or_else(|| ConvertError::Unreadable("there is no answer in it".to_owned()))?,
    };
    if response.candidates.len() > 1 {
        lost::candidates(losses);
    }
    let mut target = Target { output: output.finish(&ending), ..echo::response(reply) };
    if let Some(model) = &response.model_version {
        target.model = Some(model.by_ref());
    }
    if let Some(usage) = &response.usage_metadata {
        target.usage = Some(ending::usage(usage));
    }
    match ending {
        Ending::Completed => target.status = Some(Status::Completed),
        Ending::Incomplete(reason) => {
            target.status = Some(Status::Incomplete);
            target.incomplete_details = Some(IncompleteDetails { reason: Some(reason) });
        }
        Ending::Failed(fault) => {
            target.status = Some(Status::Failed);
            target.error = Some(ResponseError {
                code: Some(Text(fault.code)),
                message: Text(fault.message),
                ..ResponseError::default()
            });
        }
    }
    Ok(target)
}

/// The items so far.
struct Output<'a> {
    reply: &'a Reply,
    items: Vec<Item<'a>>,
    call_count: usize,
}

impl<'a> Output<'a> {
    fn new(reply: &'a Reply) -> Self {
        Self { reply, items: Vec::new(), call_count: 0 }
    }

    fn candidate(&mut self, candidate: &'a Candidate<'a>, losses: &mut Losses) {
        grounding::searches(candidate).into_iter().for_each(|call| self.web_call(call));
        let parts = candidate.content.as_ref().map_or(&[][..], |content| &content.parts);
        for (index, part) in parts.iter().enumerate() {
            self.part(part, parts.get(index + 1), index, losses);
        }
        self.annotate(candidate);
    }

    fn part(&mut self, part: &'a Part<'a>, next: Option<&'a Part<'a>>, index: usize, losses: &mut Losses) {
        if part.tool_call.is_some() || part.tool_response.is_some() {
            self.vendors_tool(part, index, losses);
            return;
        }
        let signature = part.thought_signature.as_deref().filter(|signature| !signature.is_empty());
        let text = part.text.as_deref().filter(|text| !text.is_empty());
        if part.thought == Some(true) {
            if let Some(text) = text {
                self.thought(text);
            }
            signature.into_iter().for_each(|signature| self.sign(signature));
            return;
        }
        // A message that is open is not torn apart: its signature follows it.
        let is_in_message = part.text.is_some() && matches!(self.items.last(), Some(Item::Message(_)));
        if !is_in_message {
            signature.into_iter().for_each(|signature| self.sign(signature));
        }
        if let Some(text) = text {
            self.text(text);
        } else if let Some(call) = &part.function_call {
            let id = calls::call_id(call, self.reply, self.call_count);
            self.call_count += 1;
            self.items.push(calls::item(call, id, self.reply, self.items.len()));
        } else if let Some(code) = &part.executable_code {
            let result = next.and_then(|next| next.code_execution_result.as_deref());
            self.items.push(hosted::code(code, result, self.reply, self.items.len()));
        } else if let Some(blob) = &part.inline_data {
            match hosted::image(blob, self.reply, self.items.len()) {
                Some(image) => self.items.push(image),
                None => lost::part(index, losses),
            }
        } else if part.text.is_none() && part.code_execution_result.is_none() {
            lost::part(index, losses);
        }
        if is_in_message {
            signature.into_iter().for_each(|signature| self.sign(signature));
        }
    }

    /// What a tool of the vendor did: kept as it is for the vendor, and shown where there is an item for it.
    fn vendors_tool(&mut self, part: &'a Part<'a>, index: usize, losses: &mut Losses) {
        self.items.push(Item::Reasoning(ReasoningItem {
            id: Some(ids::reasoning(self.reply, self.items.len()).into()),
            encrypted_content: Some(thinking::kept_part(part).into()),
            ..ReasoningItem::default()
        }));
        let Some(call) = &part.tool_call else { return };
        let calls = hosted::web_calls(call);
        if calls.is_empty() {
            lost::kept(index, losses);
        }
        calls.into_iter().for_each(|call| self.web_call(call));
    }

    fn web_call(&mut self, mut call: WebSearchCall<'a>) {
        call.id = Some(ids::item("ws", self.reply, self.items.len()).into());
        self.items.push(Item::WebSearchCall(call));
    }

    /// B14: a signature goes back with the part that follows it, so it stands before that part's item.
    fn sign(&mut self, signature: &'a str) {
        let sealed = Some(seal(Family::Gemini, signature).into());
        match self.items.last_mut() {
            Some(Item::Reasoning(open)) if open.encrypted_content.is_none() => open.encrypted_content = sealed,
            _ => self.items.push(Item::Reasoning(ReasoningItem {
                id: Some(ids::reasoning(self.reply, self.items.len()).into()),
                encrypted_content: sealed,
                ..ReasoningItem::default()
            })),
        }
    }

    fn thought(&mut self, text: &'a str) {
        let part = ItemPart::SummaryText(PlainText { text: text.into() });
        match self.items.last_mut() {
            Some(Item::Reasoning(open)) if open.encrypted_content.is_none() => open.summary.push(part),
            _ => self.items.push(Item::Reasoning(ReasoningItem {
                id: Some(ids::reasoning(self.reply, self.items.len()).into()),
                summary: vec![part],
                ..ReasoningItem::default()
            })),
        }
    }

    fn text(&mut self, text: &'a str) {
        if let Some(open) = open_text(&mut self.items) {
            open.text.0.to_mut().push_str(text);
            return;
        }
        let part = OutputText { text: text.into(), annotations: Some(vec![]), logprobs: Some(vec![]) };
        self.items.push(Item::Message(Message {
            id: Some(ids::message(self.reply, self.items.len()).into()),
            role: Role::Assistant,
            content: TextOr::Structured(vec![ItemPart::OutputText(part)]),
            phase: None,
            status: Some("completed".into()),
        }));
    }

    /// What was found and how probable the tokens were, told with the last text.
    fn annotate(&mut self, candidate: &'a Candidate<'a>) {
        let grounding = candidate.grounding_metadata.as_deref();
        let citations = candidate.citation_metadata.as_deref();
        let mut messages = self.items.iter_mut().rev().filter_map(|item| text_of(item));
        let Some(text) = messages.next() else { return };
        text.annotations = Some(grounding::annotations(&text.text, grounding, citations));
        text.logprobs = Some(candidate.logprobs_result.as_deref().map(logprobs).unwrap_or_default());
    }

    /// The items; the last one is incomplete if the answer is, unless it is a call, which comes whole.
    fn finish(mut self, ending: &Ending) -> Vec<Item<'a>> {
        if let (Some(Item::Message(message)), Ending::Incomplete(_)) = (self.items.last_mut(), ending) {
            message.status = Some("incomplete".into());
        }
        self.items
    }
}

/// The text that goes on: that of the last item.
fn open_text<'b, 'a>(items: &'b mut [Item<'a>]) -> Option<&'b mut OutputText<'a>> {
    items.last_mut().and_then(text_of)
}

fn text_of<'b, 'a>(item: &'b mut Item<'a>) -> Option<&'b mut OutputText<'a>> {
    let Item::Message(message) = item else { return None };
    let TextOr::Structured(parts) = &mut message.content else { return None };
    match parts.last_mut() {
        Some(ItemPart::OutputText(text)) => Some(text),
        _ => None,
    }
}

fn logprobs<'a>(result: &'a LogprobsResult<'a>) -> Vec<LogProb<'a>> {
    let bytes = |token: &TokenCandidate<'_>| token.token.as_ref().map(|token| token.as_bytes().to_vec());
    let alternative = |token: &'a TokenCandidate<'a>| TopLogProb {
        token: token.token.as_ref().map(Text::by_ref),
        bytes: bytes(token),
        logprob: token.log_probability.map(|probability| probability.0),
    };
    let chosen = result.chosen_candidates.iter().enumerate().map(|(index, token)| {
        let top = result.top_candidates.get(index);
        LogProb {
            token: token.token.as_ref().map(Text::by_ref).unwrap_or_default(),
            bytes: bytes(token),
            logprob: token.log_probability.map_or(0.0, |probability| probability.0),
            top_logprobs: Some(top.iter().flat_map(|top| &top.candidates).map(alternative).collect()),
        }
    });
    chosen.collect()
}
