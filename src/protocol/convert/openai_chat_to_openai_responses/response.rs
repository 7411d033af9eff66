//! A Chat Completions upstream's answer for a Responses client.

use super::end::{End, no_usage, usage};
use super::thoughts::{self, Members, Thought};
use super::{lost, notes};
use crate::protocol::convert::names::{ToolKind, made_up_call_id, openai_call_id};
use crate::protocol::convert::{ConvertError, Losses, Reply, StreamFault, custom_input};
use crate::protocol::openai_chat::wire::content::{Content, Part};
use crate::protocol::openai_chat::wire::message::{FunctionCall as SourceCall, ToolCall};
use crate::protocol::openai_chat::wire::response::{Choice, Response, ResponseMessage};
use crate::protocol::openai_responses::local_tools::LocalTool;
use crate::protocol::openai_responses::wire::content::{OutputText, Part as Target, PlainText, Refusal};
use crate::protocol::openai_responses::wire::item::{CustomToolCall, FunctionCall, Item, Message, ReasoningItem, Role};
use crate::protocol::openai_responses::wire::response::{IncompleteDetails, Response as TargetResponse, Status};
use crate::protocol::openai_responses::{echo, ids};
use crate::protocol::wire::{Text, TextOr};

/// Converts `response`.
pub fn convert<'a>(
    response: &'a Response<'a>,
    reply: &'a Reply,
    losses: &mut Losses,
) -> Result<TargetResponse<'a>, ConvertError> {
    let Some(choice) = response.choices.first() else {
        return Err(ConvertError::Unreadable("it has no choices".to_owned()));
    };
    if response.choices.len() > 1 {
        lost::choices(losses);
    }
    let end = choice.finish_reason.as_ref().map_or(End::Whole, End::of);
    if end == End::Broken {
        return Err(ConvertError::Failed(StreamFault::cut_off()));
    }
    lost::finish_reason(choice.finish_reason.as_ref(), losses);
    let mut target = echo::response(reply);
    let incomplete = end.incomplete();
    target.status = Some(if incomplete.is_some() { Status::Incomplete } else { Status::Completed });
    let output = Output { reply, items: Vec::new(), reasoning: None, is_cut: incomplete.is_some() };
    target.output = output.of(choice, losses);
    target.incomplete_details = incomplete.map(|reason| IncompleteDetails { reason: Some(reason) });
    // Clients count on it, also where the vendor does not tell.
    target.usage = Some(response.usage.as_ref().and_then(usage).unwrap_or_else(no_usage));
    if !response.model.is_empty() {
        target.model = Some(response.model.by_ref());
    }
    if let Some(tier) = &response.service_tier {
        target.service_tier = Some(tier.by_ref());
    }
    if response.moderation.is_some() {
        lost::moderation(losses);
    }
    Ok(target)
}

/// The items so far.
struct Output<'a> {
    reply: &'a Reply,
    items: Vec<Item<'a>>,
    /// The reasoning to which more may come.
    reasoning: Option<Reasoning>,
    /// Whether the answer was cut, so that its last item may be.
    is_cut: bool,
}

#[derive(Default)]
struct Reasoning {
    text: String,
    seal: Option<String>,
}

impl<'a> Output<'a> {
    fn of(mut self, choice: &'a Choice<'a>, losses: &mut Losses) -> Vec<Item<'a>> {
        let message = &choice.message;
        self.think(message);
        let said = self.said(choice, losses);
        self.end_reasoning();
        if !said.is_empty() {
            let has_calls =
                message.function_call.is_some() || message.tool_calls.as_ref().is_some_and(|calls| !calls.is_empty());
            self.items.push(Item::Message(Message {
                id: Some(ids::message(self.reply, self.items.len()).into()),
                role: Role::Assistant,
                content: TextOr::Structured(said),
                phase: None,
                status: Some(status(self.is_cut && !has_calls)),
            }));
        }
        self.calls(message, losses);
        self.items
    }

    fn think(&mut self, message: &ResponseMessage<'_>) {
        let members = Members {
            reasoning_content: message.reasoning_content.as_ref(),
            reasoning: message.reasoning.as_ref(),
            reasoning_details: message.reasoning_details.as_deref(),
            thinking_blocks: message.thinking_blocks.as_deref(),
        };
        members.each(|thought| match thought {
            Thought::Text(text) => self.open_reasoning().text.push_str(text),
            Thought::Seal(seal) => self.open_reasoning().seal = Some(seal),
        });
    }

    /// The reasoning to which more may come; what is sealed is complete.
    fn open_reasoning(&mut self) -> &mut Reasoning {
        if self.reasoning.as_ref().is_some_and(|reasoning| reasoning.seal.is_some()) {
            self.end_reasoning();
        }
        self.reasoning.get_or_insert_default()
    }

    fn end_reasoning(&mut self) {
        let Some(Reasoning { text, seal }) = self.reasoning.take() else { return };
        let summary = (!text.is_empty()).then(|| Target::SummaryText(PlainText { text: text.into() }));
        self.items.push(Item::Reasoning(ReasoningItem {
            id: Some(ids::reasoning(self.reply, self.items.len()).into()),
            summary: summary.into_iter().collect(),
            content: None,
            encrypted_content: seal.map(Text::from),
            status: None,
        }));
    }

    /// The parts of the message.
    fn said(&mut self, choice: &'a Choice<'a>, losses: &mut Losses) -> Vec<Target<'a>> {
        let message = &choice.message;
        let mut parts = Vec::new();
        match &message.content {
            Some(Content::Text(text)) if !text.is_empty() => parts.push(output_text(text.by_ref())),
            Some(Content::Parts(said)) => self.said_parts(said, &mut parts, losses),
            Some(Content::Text(_)) | None => {}
        }
        if let Some(audio) = &message.audio {
            lost::audio(losses);
            parts.push(output_text(audio.transcript.by_ref()));
        }
        if let Some(Target::OutputText(part)) = parts.first_mut() {
            lost::annotations(message.annotations.as_deref(), losses);
            part.annotations = Some(message.annotations.iter().flatten().filter_map(notes::annotation).collect());
            let tokens = choice.logprobs.as_ref().and_then(|logprobs| logprobs.content.as_deref());
            part.logprobs = Some(notes::logprobs(tokens.unwrap_or_default()));
        }
        let refusal = message.refusal.as_ref().filter(|refusal| !refusal.is_empty());
        if let Some(refusal) = refusal {
            parts.push(Target::Refusal(Refusal { refusal: refusal.by_ref() }));
        }
        lost::logprobs(choice.logprobs.as_ref(), losses);
        parts
    }

    fn said_parts(&mut self, said: &'a [Part<'a>], parts: &mut Vec<Target<'a>>, losses: &mut Losses) {
        for (index, part) in said.iter().enumerate() {
            lost::part(part, index, losses);
            match part {
                Part::Text(part) => parts.push(output_text(part.text.by_ref())),
                Part::Refusal(part) => {
                    parts.push(Target::Refusal(Refusal { refusal: part.refusal.by_ref() }));
                }
                Part::Other(raw) if let Some(text) = thoughts::mistral_thinking(raw) => {
                    self.open_reasoning().text.push_str(&text);
                }
                _ => {}
            }
        }
    }

    fn calls(&mut self, message: &'a ResponseMessage<'a>, losses: &mut Losses) {
        let calls = message.tool_calls.as_deref().unwrap_or_default();
        for (index, call) in calls.iter().enumerate() {
            let is_last = index + 1 == calls.len() && message.function_call.is_none();
            match call {
                ToolCall::Function(call) => {
                    if let Some(seal) = thoughts::gemini_signature(call.extra_content.as_ref()) {
                        self.open_reasoning().seal = Some(seal);
                        self.end_reasoning();
                    }
                    let id = if call.id.is_empty() {
                        made_up_call_id(&self.reply.id, index).into()
                    } else {
                        Text(openai_call_id(&call.id))
                    };
                    self.function_call(id, &call.function, is_last);
                }
                ToolCall::Custom(call) => {
                    let name = self.reply.tools.client_name(&call.custom.name).into();
                    self.custom_call(
                        Text(openai_call_id(&call.id)),
                        name,
                        &call.custom.name,
                        call.custom.input.by_ref(),
                    );
                }
                ToolCall::Other(_) => {
                    losses
                        .add(format!("choices[0].message.tool_calls[{index}]"), "a call of an unknown type, left out");
                }
            }
        }
        if let Some(call) = &message.function_call {
            self.function_call(made_up_call_id(&self.reply.id, calls.len()).into(), call, true);
        }
    }

    /// A call of what the upstream knows as a function; to the client it may be another tool.
    fn function_call(&mut self, call_id: Text<'a>, call: &'a SourceCall<'a>, is_last: bool) {
        let tool = self.reply.tools.client(&call.name);
        let arguments: &'a str = &call.arguments;
        if let Some(local) = tool.and_then(|tool| LocalTool::from_kind(tool.kind)) {
            let id = ids::item(local.id_prefix(), self.reply, self.items.len());
            if let Some(item) = local.item(id.into(), call_id.by_ref().into_owned().into(), arguments) {
                return self.items.push(item);
            }
        }
        if let Some(tool) = tool.filter(|tool| tool.kind == ToolKind::Custom) {
            let input = custom_input::text(arguments).into();
            return self.custom_call(call_id, tool.name.as_str().into(), &call.name, input);
        }
        let is_json = || serde_json::from_str::<serde::de::IgnoredAny>(arguments).is_ok();
        let is_cut = self.is_cut && is_last && !is_json();
        let is_empty = arguments.trim().is_empty() && !is_cut;
        self.items.push(Item::FunctionCall(FunctionCall {
            id: Some(ids::function_call(self.reply, self.items.len()).into()),
            call_id,
            name: tool.map_or_else(|| call.name.by_ref(), |tool| tool.name.as_str().into()),
            namespace: tool.and_then(|tool| tool.namespace.as_deref()).map(Text::from),
            arguments: if is_empty { "{}".into() } else { call.arguments.by_ref() },
            status: Some(status(is_cut)),
            ..FunctionCall::default()
        }));
    }

    fn custom_call(&mut self, call_id: Text<'a>, name: Text<'a>, upstream_name: &str, input: Text<'a>) {
        let namespace = self.reply.tools.client(upstream_name).and_then(|tool| tool.namespace.as_deref());
        self.items.push(Item::CustomToolCall(CustomToolCall {
            id: Some(ids::custom_tool_call(self.reply, self.items.len()).into()),
            call_id,
            name,
            namespace: namespace.map(Text::from),
            input,
            status: Some(status(false)),
            ..CustomToolCall::default()
        }));
    }
}

fn status(is_cut: bool) -> Text<'static> {
    if is_cut { "incomplete".into() } else { "completed".into() }
}

fn output_text(text: Text<'_>) -> Target<'_> {
    Target::OutputText(OutputText { text, annotations: Some(vec![]), logprobs: Some(vec![]) })
}
