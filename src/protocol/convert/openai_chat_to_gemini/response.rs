//! A Chat Completions upstream's answer for a Gemini client.

use super::thinking::{signature, text_part};
use super::{answer, lost};
use crate::protocol::convert::seal::{Family, seal_base64};
use crate::protocol::convert::{ConvertError, Losses, Reply};
use crate::protocol::few::Few;
use crate::protocol::gemini::wire::content::{Content as TargetContent, Part, Role};
use crate::protocol::gemini::wire::proto::Count;
use crate::protocol::gemini::wire::response::{
    Candidate, FinishReason as TargetReason, GenerateContentResponse as Target,
};
use crate::protocol::openai_chat::wire::content::{Content, Part as SourcePart};
use crate::protocol::openai_chat::wire::message::{ThinkingBlock, ToolCall};
use crate::protocol::openai_chat::wire::response::{Choice, Response, ResponseMessage};
use crate::protocol::wire::Text;

/// Converts `response`.
pub fn convert<'a>(
    response: &'a Response<'a>,
    reply: &'a Reply,
    losses: &mut Losses,
) -> Result<Target<'a>, ConvertError> {
    if response.moderation.is_some() {
        lost::moderation(losses);
    }
    let choices = response.choices.iter().enumerate();
    let candidates: Few<_> = choices.map(|(index, choice)| candidate(choice, index, reply, losses)).collect();
    if candidates.is_empty() {
        return Err(ConvertError::Unreadable("it has no choices".to_owned()));
    }
    let model = if response.model.is_empty() { (&*reply.model).into() } else { response.model.by_ref() };
    let id = if response.id.is_empty() { (&*reply.id).into() } else { response.id.by_ref() };
    let tier = response.service_tier.as_deref();
    Ok(Target {
        candidates,
        usage_metadata: response.usage.as_ref().map(|usage| answer::usage(usage, tier)),
        model_version: Some(model),
        response_id: Some(id),
        ..Target::default()
    })
}

fn candidate<'a>(choice: &'a Choice<'a>, index: usize, reply: &'a Reply, losses: &mut Losses) -> Candidate<'a> {
    let message = &choice.message;
    let mut parts = thoughts(message, index, losses);
    let text = text(message, &mut parts, index, losses);
    parts.extend(message.images.iter().flatten().filter_map(answer::image));
    let is_refused = message.refusal.as_ref().is_some_and(|refusal| !refusal.is_empty());
    if let Some(signature) = message.extra_content.as_ref().and_then(signature) {
        match parts.last_mut() {
            Some(part) if part.thought_signature.is_none() => part.thought_signature = Some(signature),
            _ => parts.push(Part { thought_signature: Some(signature), ..text_part(Text::default()) }),
        }
    }
    let malformed = calls(message, &mut parts, index, reply, losses);
    let reason = match choice.finish_reason.as_ref().map(answer::finish_reason) {
        // Some vendors leave the reason out of whole answers.
        None | Some(TargetReason::Stop) if malformed.is_some() => TargetReason::MalformedFunctionCall,
        None | Some(TargetReason::Stop) if is_refused => TargetReason::Safety,
        None => TargetReason::Stop,
        Some(reason) => reason,
    };
    lost::finish_reason(choice.finish_reason.as_ref(), index, losses);
    if parts.is_empty() && reason == TargetReason::Stop {
        // What has ended well has content, as Gemini's SDKs want it.
        parts.push(text_part(Text::default()));
    }
    let annotations = message.annotations.as_deref().unwrap_or_default();
    let grounding = answer::grounding(annotations, &text);
    Candidate {
        index: Some(Count(choice.index)),
        content: Some(TargetContent { role: Some(Role::Model), parts }),
        finish_reason: Some(reason),
        finish_message: malformed,
        grounding_metadata: grounding.map(Box::new),
        logprobs_result: choice.logprobs.as_ref().and_then(answer::logprobs).map(Box::new),
        ..Candidate::default()
    }
}

fn thought(text: Text<'_>) -> Part<'_> {
    Part { thought: Some(true), ..text_part(text) }
}

/// The thoughts, once: vendors tell the same ones in several members.
fn thoughts<'a>(message: &'a ResponseMessage<'a>, index: usize, losses: &mut Losses) -> Vec<Part<'a>> {
    if let Some(blocks) = message.thinking_blocks.as_ref().filter(|blocks| !blocks.is_empty()) {
        return blocks.iter().filter_map(thinking_block).collect();
    }
    lost::seals(message.reasoning_details.as_deref(), index, losses);
    let text = message.reasoning_content.as_ref().or(message.reasoning.as_ref()).filter(|text| !text.is_empty());
    text.map(|text| thought(text.by_ref())).into_iter().collect()
}

/// Claude's thinking; its secrets are kept by the client and understood when they come back.
fn thinking_block<'a>(block: &'a ThinkingBlock<'a>) -> Option<Part<'a>> {
    match block {
        ThinkingBlock::Thinking(block) => {
            let signature = block.signature.as_deref().filter(|signature| !signature.is_empty());
            let signature = signature.map(|signature| seal_base64(Family::Claude, signature).into());
            let text = block.thinking.as_ref().map(Text::by_ref).unwrap_or_default();
            (!text.is_empty() || signature.is_some()).then(|| Part { thought_signature: signature, ..thought(text) })
        }
        ThinkingBlock::RedactedThinking(block) => {
            let data = seal_base64(Family::ClaudeRedacted, &block.data);
            Some(Part { thought_signature: Some(data.into()), ..thought(Text::default()) })
        }
        ThinkingBlock::Other(_) => None,
    }
}

/// Appends the texts, and gives back the whole of them.
fn text<'a>(message: &'a ResponseMessage<'a>, parts: &mut Vec<Part<'a>>, index: usize, losses: &mut Losses) -> String {
    let mut whole = String::new();
    let mut push = |parts: &mut Vec<Part<'a>>, text: &'a Text<'a>| {
        if !text.is_empty() {
            whole.push_str(text);
            parts.push(text_part(text.by_ref()));
        }
    };
    match &message.content {
        None => {}
        Some(Content::Text(text)) => push(parts, text),
        Some(Content::Parts(content)) => {
            for (place, part) in content.iter().enumerate() {
                lost::part(part, place, index, losses);
                match part {
                    SourcePart::Text(part) => push(parts, &part.text),
                    SourcePart::Refusal(part) => push(parts, &part.refusal),
                    SourcePart::Other(raw) => {
                        parts.extend(answer::thoughts_of_part(raw).map(|thoughts| thought(thoughts.into())));
                    }
                    SourcePart::ImageUrl(_) | SourcePart::InputAudio(_) | SourcePart::File(_) => {}
                }
            }
        }
    }
    if let Some(refusal) = &message.refusal {
        push(parts, refusal);
    }
    if let Some(audio) = &message.audio {
        push(parts, &audio.transcript);
        lost::audio(index, losses);
    }
    whole
}

/// Appends the calls. What is returned tells of the first whose arguments cannot be read.
fn calls<'a>(
    message: &'a ResponseMessage<'a>,
    parts: &mut Vec<Part<'a>>,
    index: usize,
    reply: &'a Reply,
    losses: &mut Losses,
) -> Option<Text<'static>> {
    let mut malformed = None;
    let mut push = |part: Option<Part<'a>>, name: &str, arguments: &str, place: Option<usize>| match part {
        Some(part) => parts.push(part),
        None => {
            lost::arguments(place, index, losses);
            malformed.get_or_insert_with(|| answer::malformed(name, arguments));
        }
    };
    for (place, call) in message.tool_calls.iter().flatten().enumerate() {
        let place = Some(place);
        match call {
            ToolCall::Function(call) => {
                let function = &call.function;
                let name = reply.tools.client_name(&function.name);
                let part = answer::call(&call.id, name, &function.arguments)
                    .map(|part| Part { thought_signature: call.extra_content.as_ref().and_then(signature), ..part });
                push(part, name, &function.arguments, place);
            }
            ToolCall::Custom(call) => {
                let name = reply.tools.client_name(&call.custom.name);
                push(Some(answer::custom_call(&call.id, name, &call.custom.input)), name, "", place);
            }
            ToolCall::Other(_) => push(None, "", "", place),
        }
    }
    if let Some(call) = &message.function_call {
        let name = reply.tools.client_name(&call.name);
        push(answer::call("", name, &call.arguments), name, &call.arguments, None);
    }
    malformed
}
