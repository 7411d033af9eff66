//! A Gemini upstream's answer for a Chat Completions client.

use super::answer;
use super::grounding::{self, Said};
use super::lost;
use super::thinking::signed;
use crate::protocol::convert::names::{ToolKind, made_up_call_id};
use crate::protocol::convert::{ConvertError, Losses, Reply, custom_input};
use crate::protocol::gemini::wire::content::{FunctionCall, Part};
use crate::protocol::gemini::wire::proto::Count;
use crate::protocol::gemini::wire::response::{Candidate, FinishReason, GenerateContentResponse};
use crate::protocol::openai_chat::stream_writer::answer_id;
use crate::protocol::openai_chat::wire::content::{Content, Part as TargetPart};
use crate::protocol::openai_chat::wire::message::{
    CustomCall, CustomToolCall, FunctionCall as TargetCall, FunctionToolCall, Role, ToolCall,
};
use crate::protocol::openai_chat::wire::response::{
    Choice, FinishReason as TargetReason, Response as Target, ResponseMessage,
};
use crate::protocol::wire::Text;

/// Converts `response`.
pub fn convert<'a>(
    response: &'a GenerateContentResponse<'a>,
    reply: &'a Reply,
    losses: &mut Losses,
) -> Result<Target<'a>, ConvertError> {
    let mut calls = 0;
    let candidates = response.candidates.iter().enumerate();
    let choices = candidates.map(|(index, candidate)| choice(candidate, index, reply, &mut calls, losses));
    let mut choices = choices.collect::<Result<Vec<_>, _>>()?;
    if choices.is_empty() {
        // A prompt that was blocked has no candidates.
        let feedback = response.prompt_feedback.as_ref();
        if feedback.is_none_or(|feedback| feedback.block_reason.is_none()) {
            return Err(ConvertError::Unreadable("there is no answer in it".to_owned()));
        }
        choices.push(blocked());
    }
    let usage = response.usage_metadata.as_ref();
    Ok(Target {
        id: answer_id(reply).into(),
        object: "chat.completion".into(),
        created: reply.created,
        model: response.model_version.as_ref().map_or((&*reply.model).into(), Text::by_ref),
        choices,
        usage: usage.map(answer::usage),
        service_tier: usage.and_then(answer::service_tier).map(Text::from),
        ..Target::default()
    })
}

fn blocked<'a>() -> Choice<'a> {
    Choice {
        index: 0,
        message: ResponseMessage { role: Some(Role::Assistant), ..ResponseMessage::default() },
        finish_reason: Some(TargetReason::ContentFilter),
        logprobs: None,
    }
}

fn choice<'a>(
    candidate: &'a Candidate<'a>,
    place: usize,
    reply: &'a Reply,
    calls: &mut usize,
    losses: &mut Losses,
) -> Result<Choice<'a>, ConvertError> {
    let mut answer = Answer {
        said: Said::default(),
        first: None,
        thoughts: String::new(),
        images: vec![],
        calls: vec![],
        signature: None,
    };
    let parts = candidate.content.iter().flat_map(|content| &content.parts);
    for (index, part) in parts.enumerate() {
        lost::part(part, index as u64, place as u64, losses);
        answer.part(part, index, reply, calls);
    }
    // A whole answer without a reason is complete.
    let reason = candidate.finish_reason.as_ref().unwrap_or(&FinishReason::Stop);
    let Some(finish_reason) = answer::finish_reason(reason, !answer.calls.is_empty()) else {
        let message = candidate.finish_message.as_deref();
        return Err(ConvertError::Failed(answer::failure(reason, message)));
    };
    lost::members(candidate, place as u64, losses);
    let annotations = grounding::annotations(candidate, &answer.said);
    let mut message = answer.message();
    if finish_reason == TargetReason::Stop && message.content.is_none() {
        // What has ended well says something, if only an empty text.
        message.content = Some(Content::Text(Text::default()));
    }
    message.annotations = (!annotations.is_empty()).then_some(annotations);
    Ok(Choice {
        index: candidate.index.map_or(place as u64, |Count(index)| index),
        message,
        finish_reason: Some(finish_reason),
        logprobs: candidate.logprobs_result.as_deref().and_then(answer::logprobs),
    })
}

/// What an answer says.
struct Answer<'a> {
    said: Said,
    /// Its first text, which is mostly the only one.
    first: Option<&'a Text<'a>>,
    thoughts: String,
    images: Vec<TargetPart<'a>>,
    calls: Vec<ToolCall<'a>>,
    signature: Option<&'a Text<'a>>,
}

impl<'a> Answer<'a> {
    fn part(&mut self, part: &'a Part<'a>, index: usize, reply: &'a Reply, calls: &mut usize) {
        let signature = part.thought_signature.as_ref().filter(|signature| !signature.is_empty());
        if let Some(call) = &part.function_call {
            self.calls.push(tool_call(call, signature, reply, *calls));
            *calls += 1;
            return;
        }
        self.signature = signature.or(self.signature);
        if let Some(text) = &part.text {
            if part.thought == Some(true) {
                self.thoughts.push_str(text);
            } else if !text.is_empty() {
                self.first.get_or_insert(text);
                self.said.push(index as u64, text);
            }
        } else {
            self.images.extend(answer::image(part));
        }
    }

    fn message(self) -> ResponseMessage<'a> {
        let content = match self.first {
            Some(first) if first.len() == self.said.text().len() => Some(Content::Text(first.by_ref())),
            Some(_) => Some(Content::Text(self.said.text().to_owned().into())),
            None => None,
        };
        ResponseMessage {
            role: Some(Role::Assistant),
            content,
            reasoning_content: (!self.thoughts.is_empty()).then(|| self.thoughts.into()),
            images: (!self.images.is_empty()).then_some(self.images),
            tool_calls: (!self.calls.is_empty()).then_some(self.calls),
            extra_content: self.signature.and_then(|signature| signed(signature)),
            ..ResponseMessage::default()
        }
    }
}

fn tool_call<'a>(
    call: &'a FunctionCall<'a>,
    signature: Option<&'a Text<'a>>,
    reply: &'a Reply,
    index: usize,
) -> ToolCall<'a> {
    let given = call.id.as_ref().filter(|id| !id.is_empty());
    let id = given.map_or_else(|| made_up_call_id(&reply.id, index).into(), Text::by_ref);
    let name = call.name.as_deref().unwrap_or_default();
    let arguments = answer::arguments(call);
    match reply.tools.client(name) {
        Some(tool) if tool.kind == ToolKind::Custom => {
            let custom = CustomCall { name: (&*tool.name).into(), input: custom_input::text(&arguments).into() };
            ToolCall::Custom(CustomToolCall { id, custom })
        }
        _ => ToolCall::Function(FunctionToolCall {
            id,
            function: TargetCall { name: reply.tools.client_name(name).into(), arguments: Text(arguments) },
            extra_content: signature.and_then(|signature| signed(signature)),
            cache_control: None,
        }),
    }
}
