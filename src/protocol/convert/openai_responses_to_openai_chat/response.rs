//! A Responses upstream's answer for a Chat Completions client.

use super::end::{finish_reason, usage};
use super::turns::joined;
use super::{lost, notes};
use crate::protocol::convert::names::ToolKind;
use crate::protocol::convert::seal::{Family, seal};
use crate::protocol::convert::{ConvertError, Losses, Reply, custom_input};
use crate::protocol::openai_chat::stream_writer::answer_id;
use crate::protocol::openai_chat::wire::content::Content;
use crate::protocol::openai_chat::wire::message::{
    CustomCall, CustomToolCall, FunctionCall, FunctionToolCall, ReasoningDetail, ReasoningEncrypted, Role, ToolCall,
};
use crate::protocol::openai_chat::wire::response::{
    Annotation, Choice, FinishReason, Logprobs, Response as Target, ResponseMessage, TokenLogprob,
};
use crate::protocol::openai_responses::wire::content::{OutputText, Part};
use crate::protocol::openai_responses::wire::item::{FunctionCall as SourceCall, Item, Message, ReasoningItem};
use crate::protocol::openai_responses::wire::response::Response;
use crate::protocol::wire::{Text, TextOr};

/// Stands between texts that were apart.
pub(super) const PARAGRAPH: &str = "\n\n";

/// Converts `response`.
pub fn convert<'a>(
    response: &'a Response<'a>,
    reply: &'a Reply,
    losses: &mut Losses,
) -> Result<Target<'a>, ConvertError> {
    let mut answer = Answer::new(reply);
    for (index, item) in response.output.iter().enumerate() {
        lost::item(item, index, losses);
        answer.item(item);
    }
    if response.moderation.is_some() {
        lost::moderation(losses);
    }
    let mut reason = finish_reason(response);
    if reason == FinishReason::Stop && !answer.calls.is_empty() {
        if reply.legacy_functions && answer.calls.len() > 1 {
            lost::calls(losses);
        }
        reason = if reply.legacy_functions { FinishReason::FunctionCall } else { FinishReason::ToolCalls };
    }
    Ok(Target {
        id: answer_id(reply).into(),
        object: "chat.completion".into(),
        created: reply.created,
        model: response.model.as_ref().map_or_else(|| reply.model.as_str().into(), Text::by_ref),
        choices: vec![answer.choice(reason)],
        usage: response.usage.as_ref().map(usage),
        service_tier: response.service_tier.as_ref().map(Text::by_ref),
        ..Target::default()
    })
}

/// The one answer, as far as it is read.
struct Answer<'a> {
    reply: &'a Reply,
    texts: Vec<Text<'a>>,
    /// Characters in them, with what will stand between.
    characters: u64,
    refusals: Vec<Text<'a>>,
    reasoning: Vec<Text<'a>>,
    details: Vec<ReasoningDetail<'a>>,
    calls: Vec<ToolCall<'a>>,
    annotations: Vec<Annotation<'a>>,
    logprobs: Vec<TokenLogprob<'a>>,
}

impl<'a> Answer<'a> {
    fn new(reply: &'a Reply) -> Self {
        Self {
            reply,
            texts: vec![],
            characters: 0,
            refusals: vec![],
            reasoning: vec![],
            details: vec![],
            calls: vec![],
            annotations: vec![],
            logprobs: vec![],
        }
    }

    fn item(&mut self, item: &'a Item<'a>) {
        match item {
            Item::Message(message) => self.message(message),
            Item::Reasoning(reasoning) => self.reasoning(reasoning),
            Item::FunctionCall(call) => self.function_call(call),
            Item::CustomToolCall(call) => {
                let name = self.reply.tools.client_name(&call.name).into();
                self.custom_call(call.call_id.by_ref(), name, call.input.by_ref());
            }
            _ => {}
        }
    }

    fn message(&mut self, message: &'a Message<'a>) {
        match &message.content {
            TextOr::Text(text) => self.text(text),
            TextOr::Structured(parts) => {
                for part in parts {
                    match part {
                        Part::OutputText(part) => self.output_text(part),
                        Part::Refusal(part) => self.refusals.push(part.refusal.by_ref()),
                        Part::ReasoningText(part) | Part::SummaryText(part) => self.reasoning.push(part.text.by_ref()),
                        _ => {}
                    }
                }
            }
        }
    }

    fn output_text(&mut self, part: &'a OutputText<'a>) {
        self.text(&part.text);
        let offset = self.characters - characters(&part.text);
        let annotations = part.annotations.as_deref().unwrap_or_default();
        self.annotations.extend(annotations.iter().filter_map(|annotation| notes::annotation(annotation, offset)));
        self.logprobs.extend(notes::logprobs(part.logprobs.as_deref().unwrap_or_default()));
    }

    fn text(&mut self, text: &'a Text<'a>) {
        if !self.texts.is_empty() {
            self.characters += characters(PARAGRAPH);
        }
        self.characters += characters(text);
        self.texts.push(text.by_ref());
    }

    /// The text is shown; what is sealed travels with it, so that the next turn can give it back.
    fn reasoning(&mut self, item: &'a ReasoningItem<'a>) {
        let texts = |parts: &'a [Part<'a>]| {
            parts.iter().filter_map(|part| match part {
                Part::ReasoningText(part) | Part::SummaryText(part) => Some(part.text.by_ref()),
                _ => None,
            })
        };
        self.reasoning.extend(texts(&item.summary).chain(texts(item.content.as_deref().unwrap_or_default())));
        self.details.extend(
            item.encrypted_content.as_deref().map(|sealed| encrypted(sealed, item.id.as_deref(), self.details.len())),
        );
    }

    fn function_call(&mut self, call: &'a SourceCall<'a>) {
        let tool = self.reply.tools.client(&call.name);
        let name = tool.map_or_else(|| call.name.by_ref(), |tool| tool.name.as_str().into());
        if tool.is_some_and(|tool| tool.kind == ToolKind::Custom) {
            return self.custom_call(call.call_id.by_ref(), name, custom_input::text(&call.arguments).into());
        }
        let is_empty = call.arguments.trim().is_empty();
        self.calls.push(ToolCall::Function(FunctionToolCall {
            id: call.call_id.by_ref(),
            function: FunctionCall { name, arguments: if is_empty { "{}".into() } else { call.arguments.by_ref() } },
            extra_content: None,
            cache_control: None,
        }));
    }

    fn custom_call(&mut self, id: Text<'a>, name: Text<'a>, input: Text<'a>) {
        self.calls.push(ToolCall::Custom(CustomToolCall { id, custom: CustomCall { name, input } }));
    }

    /// The call in the form of a client that knows only the legacy one, and only one call.
    fn legacy_call(&mut self) -> Option<FunctionCall<'a>> {
        if !self.reply.legacy_functions {
            return None;
        }
        std::mem::take(&mut self.calls).into_iter().find_map(|call| match call {
            ToolCall::Function(call) => Some(call.function),
            ToolCall::Custom(_) | ToolCall::Other(_) => None,
        })
    }

    fn choice(mut self, reason: FinishReason<'a>) -> Choice<'a> {
        if self.texts.is_empty() && self.refusals.is_empty() && self.calls.is_empty() {
            // A message that says nothing says it with an empty text.
            self.texts.push(Text::default());
        }
        let function_call = self.legacy_call();
        let logprobs = (!self.logprobs.is_empty()).then_some(Logprobs { content: Some(self.logprobs), refusal: None });
        Choice {
            index: 0,
            message: ResponseMessage {
                role: Some(Role::Assistant),
                content: joined(self.texts).map(Content::Text),
                refusal: joined(self.refusals),
                annotations: Some(self.annotations).filter(|annotations| !annotations.is_empty()),
                function_call,
                tool_calls: Some(self.calls).filter(|calls| !calls.is_empty()),
                reasoning_content: joined(self.reasoning),
                reasoning_details: Some(self.details).filter(|details| !details.is_empty()),
                ..ResponseMessage::default()
            },
            finish_reason: Some(reason),
            logprobs,
        }
    }
}

/// Sealed reasoning of OpenAI's, in the form that OpenRouter gave it.
pub(super) fn encrypted<'b>(sealed: &str, id: Option<&'b str>, index: usize) -> ReasoningDetail<'b> {
    ReasoningDetail::Encrypted(ReasoningEncrypted {
        data: seal(Family::OpenAi, sealed).into(),
        id: id.map(Text::from),
        format: Some("openai-responses-v1".into()),
        index: Some(index as u64),
    })
}

/// Annotations count characters.
pub(super) fn characters(text: &str) -> u64 {
    text.chars().count() as u64
}
