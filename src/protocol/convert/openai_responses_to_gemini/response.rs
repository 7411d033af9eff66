//! A Responses upstream's answer for a Gemini client.

use super::answer;
use super::calls::object;
use super::grounding::Sources;
use super::lost;
use crate::protocol::convert::gemini_to_openai_responses::thinking;
use crate::protocol::convert::{ConvertError, Losses, Reply};
use crate::protocol::gemini::wire::content::{Content, FunctionCall, Part, Role};
use crate::protocol::gemini::wire::grounding::{LogprobsResult, TokenCandidate, TopCandidates};
use crate::protocol::gemini::wire::proto::{Count, Number};
use crate::protocol::gemini::wire::response::{Candidate, FinishReason, GenerateContentResponse as Target};
use crate::protocol::openai_responses::wire::content::{LogProb, Part as ItemPart, TopLogProb};
use crate::protocol::openai_responses::wire::item::{Item, Message, ReasoningItem};
use crate::protocol::openai_responses::wire::response::Response;
use crate::protocol::wire::{Raw, Text, TextOr};

/// Converts `response`.
pub fn convert<'a>(
    response: &'a Response<'a>,
    reply: &'a Reply,
    losses: &mut Losses,
) -> Result<Target<'a>, ConvertError> {
    let mut answer = Answer::default();
    for (index, item) in response.output.iter().enumerate() {
        lost::item(item, index, losses);
        answer.item(item, reply, index, losses);
    }
    answer.place_signature();
    let (mut reason, mut message) = answer::finish_reason(response, answer.has_refused);
    if answer.has_malformed_call && reason == FinishReason::Stop {
        reason = FinishReason::MalformedFunctionCall;
        message = Some("the arguments of a call are no JSON object");
    }
    if answer.parts.is_empty() && reason == FinishReason::Stop {
        // Where it ended well, the SDKs want a part.
        answer.push(Part { text: Some("".into()), ..Part::default() });
    }
    let content = Content { role: Some(Role::Model), parts: answer.parts };
    let candidate = Candidate {
        index: Some(Count(0)),
        content: Some(content).filter(|content| !content.parts.is_empty()),
        finish_reason: Some(reason),
        finish_message: message.map(Text::from),
        grounding_metadata: answer.sources.metadata().map(Box::new),
        logprobs_result: logprobs(&answer.logprobs).map(Box::new),
        ..Candidate::default()
    };
    Ok(Target {
        candidates: candidate.into(),
        usage_metadata: response.usage.as_ref().map(answer::usage),
        model_version: Some(response.model.as_deref().unwrap_or(&reply.model).into()),
        response_id: Some(response.id.by_ref()),
        ..Target::default()
    })
}

/// The answer as far as it was converted.
#[derive(Default)]
struct Answer<'a> {
    parts: Vec<Part<'a>>,
    signature: Option<String>,
    sources: Sources,
    logprobs: Vec<&'a LogProb<'a>>,
    has_refused: bool,
    has_malformed_call: bool,
}

impl<'a> Answer<'a> {
    fn item(&mut self, item: &'a Item<'a>, reply: &'a Reply, index: usize, losses: &mut Losses) {
        if let Some(call) = answer::call(item, reply) {
            self.call(call, index, losses);
            return;
        }
        match item {
            Item::Message(message) => self.message(message),
            Item::Reasoning(reasoning) => self.reasoning(reasoning),
            Item::WebSearchCall(call) => self.sources.search(call),
            Item::CodeInterpreterCall(call) => answer::code(call).into_iter().for_each(|part| self.push(part)),
            Item::ImageGenerationCall(call) => answer::image(call).into_iter().for_each(|part| self.push(part)),
            _ => {}
        }
    }

    fn message(&mut self, message: &'a Message<'a>) {
        let parts = match &message.content {
            TextOr::Text(text) => {
                self.text(text);
                return;
            }
            TextOr::Structured(parts) => parts,
        };
        for part in parts {
            match part {
                ItemPart::OutputText(text) => {
                    self.sources.cite(text, self.parts.len(), 0);
                    self.logprobs.extend(text.logprobs.iter().flatten());
                    self.text(&text.text);
                }
                ItemPart::Refusal(refusal) => {
                    self.has_refused = true;
                    self.text(&refusal.refusal);
                }
                _ => {}
            }
        }
    }

    /// The reasoning's texts are thoughts; what seals it goes onto the next part.
    fn reasoning(&mut self, item: &'a ReasoningItem<'a>) {
        for part in item.content.iter().flatten().chain(&item.summary) {
            if let ItemPart::SummaryText(text) | ItemPart::ReasoningText(text) = part
                && !text.text.is_empty()
            {
                let text = Some(text.text.by_ref());
                self.parts.push(Part { text, thought: Some(true), ..Part::default() });
            }
        }
        if let Some(content) = item.encrypted_content.as_deref().filter(|content| !content.is_empty()) {
            self.place_signature();
            self.signature = Some(thinking::signature(item.id.as_deref(), content));
        }
    }

    fn call(&mut self, call: answer::Call<'a>, index: usize, losses: &mut Losses) {
        let arguments = object(&call.arguments).map(|arguments| Raw::of(&arguments));
        let Some(Ok(arguments)) = arguments else {
            self.has_malformed_call = true;
            lost::arguments(index, losses);
            return;
        };
        let call = FunctionCall { id: Some(call.id.into()), name: Some(call.name.into()), args: Some(arguments) };
        self.push(Part { function_call: Some(call), ..Part::default() });
    }

    fn text(&mut self, text: &'a str) {
        if !text.is_empty() {
            self.push(Part { text: Some(text.into()), ..Part::default() });
        }
    }

    fn push(&mut self, mut part: Part<'a>) {
        part.thought_signature = self.signature.take().map(Text::from);
        self.parts.push(part);
    }

    /// A signature that no part takes stands alone.
    fn place_signature(&mut self) {
        if self.signature.is_some() {
            self.push(Part { text: Some("".into()), ..Part::default() });
        }
    }
}

fn logprobs<'a>(tokens: &[&'a LogProb<'a>]) -> Option<LogprobsResult<'a>> {
    if tokens.is_empty() {
        return None;
    }
    let chosen = |token: &&'a LogProb<'a>| candidate(Some(&token.token), Some(token.logprob));
    let top = |token: &&'a LogProb<'a>| {
        let alternative = |top: &'a TopLogProb<'a>| candidate(top.token.as_ref(), top.logprob);
        TopCandidates { candidates: token.top_logprobs.iter().flatten().map(alternative).collect() }
    };
    Some(LogprobsResult {
        chosen_candidates: tokens.iter().map(chosen).collect(),
        top_candidates: tokens.iter().map(top).collect(),
        log_probability_sum: Some(Number(tokens.iter().map(|token| token.logprob).sum())),
    })
}

fn candidate<'a>(token: Option<&'a Text<'a>>, logprob: Option<f64>) -> TokenCandidate<'a> {
    TokenCandidate { token: token.map(Text::by_ref), token_id: None, log_probability: logprob.map(Number) }
}
