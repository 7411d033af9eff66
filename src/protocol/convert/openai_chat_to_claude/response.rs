//! A Chat Completions upstream's answer for a Claude Messages client.

use std::borrow::Cow;

use super::answer::{self, Piece, Thinking};
use super::{citations, lost};
use crate::protocol::claude::wire::content::{
    ContentBlock, RedactedThinkingBlock, TextBlock, ThinkingBlock, ToolUseBlock,
};
use crate::protocol::claude::wire::request::Role;
use crate::protocol::claude::wire::response::{Message as Target, StopDetails, StopReason};
use crate::protocol::claude::wire::usage::Usage;
use crate::protocol::convert::names::{CUSTOM_INPUT, Charset, made_up_call_id};
use crate::protocol::convert::{ConvertError, Losses, Reply};
use crate::protocol::openai_chat::wire::content::{Content, Part};
use crate::protocol::openai_chat::wire::message::{FunctionCall, ToolCall};
use crate::protocol::openai_chat::wire::response::{Choice, Response, ResponseMessage};
use crate::protocol::wire::{Raw, Text};

/// In what Claude's documentation wraps arguments that are no JSON
/// (<https://platform.claude.com/docs/en/agents-and-tools/tool-use/fine-grained-tool-streaming>).
const INVALID_JSON: &str = "INVALID_JSON";

/// Converts `response`.
pub fn convert<'a>(
    response: &'a Response<'a>,
    reply: &'a Reply,
    losses: &mut Losses,
) -> Result<Target<'a>, ConvertError> {
    let Some(choice) = response.choices.iter().min_by_key(|choice| choice.index) else {
        return Err(ConvertError::Unreadable("it has no choices".to_owned()));
    };
    left_out(response, choice, losses);
    lost::finish_reason(choice.finish_reason.as_ref(), losses);
    let content = Blocks { reply, losses, blocks: Vec::new() }.of(&choice.message)?;
    let (stop_reason, stop_details) = ending(choice, &content)?;
    let mut usage = response.usage.as_ref().map(answer::usage).unwrap_or_else(|| Usage {
        input_tokens: Some(0),
        output_tokens: Some(0),
        ..Usage::default()
    });
    usage.service_tier = answer::service_tier(response.service_tier.as_ref());
    Ok(Target {
        id: format!("msg_{}", reply.id).into(),
        kind: "message".into(),
        role: Role::Assistant,
        model: if response.model.is_empty() { Text::from(&*reply.model) } else { response.model.by_ref() },
        content,
        stop_reason: Some(stop_reason),
        stop_sequence: None,
        stop_details,
        container: None,
        diagnostics: None,
        usage: Some(usage),
        context_management: None,
        input_transformations: None,
    })
}

fn left_out(response: &Response<'_>, choice: &Choice<'_>, losses: &mut Losses) {
    if response.choices.len() > 1 {
        lost::choices(losses);
    }
    if choice.logprobs.is_some() {
        lost::logprobs(losses);
    }
    if choice.message.audio.is_some() {
        lost::audio(losses);
    }
    if response.moderation.is_some() {
        lost::moderation(losses);
    }
}

/// Why the answer ended. A model that stops at its calls does not always say that these are why.
fn ending<'a>(
    choice: &'a Choice<'a>,
    content: &[ContentBlock<'_>],
) -> Result<(StopReason<'a>, Option<StopDetails<'a>>), ConvertError> {
    let has_calls = content.iter().any(|block| matches!(block, ContentBlock::ToolUse(_)));
    let reason = match &choice.finish_reason {
        Some(reason) => answer::stop_reason(reason).map_err(ConvertError::Failed)?,
        None => StopReason::EndTurn,
    };
    let refusal = choice.message.refusal.as_ref().filter(|refusal| !refusal.is_empty());
    Ok(match (reason, refusal) {
        (StopReason::EndTurn | StopReason::Refusal, Some(refusal)) => {
            (StopReason::Refusal, Some(refused(Some(refusal.by_ref()))))
        }
        (StopReason::Refusal, None) => (StopReason::Refusal, Some(refused(None))),
        (StopReason::EndTurn, None) if has_calls => (StopReason::ToolUse, None),
        (reason, _) => (reason, None),
    })
}

/// What is known of a refusal.
pub fn refused(explanation: Option<Text<'_>>) -> StopDetails<'_> {
    StopDetails {
        kind: "refusal".into(),
        category: None,
        explanation,
        recommended_model: None,
        fallback_credit_token: None,
        fallback_has_prefill_claim: None,
    }
}

struct Blocks<'a, 'n> {
    reply: &'a Reply,
    losses: &'n mut Losses,
    blocks: Vec<ContentBlock<'a>>,
}

impl<'a> Blocks<'a, '_> {
    fn of(mut self, message: &'a ResponseMessage<'a>) -> Result<Vec<ContentBlock<'a>>, ConvertError> {
        self.thinking(message);
        if let Some(signature) = answer::gemini_signature(message.extra_content.as_ref()) {
            self.signature(signature.into());
        }
        self.content(message);
        if let Some(refusal) = &message.refusal {
            self.text(refusal.by_ref());
        }
        if let Some(audio) = &message.audio {
            self.text(audio.transcript.by_ref());
        }
        for (index, call) in message.tool_calls.iter().flatten().enumerate() {
            self.call(call, index)?;
        }
        if let Some(call) = &message.function_call {
            let id = made_up_call_id(&self.reply.id, 0);
            self.function_call(call, id.into(), "choices[0].message.function_call")?;
        }
        Ok(self.blocks)
    }

    fn thinking(&mut self, message: &'a ResponseMessage<'a>) {
        let thinking = Thinking {
            reasoning_content: message.reasoning_content.as_ref(),
            reasoning: message.reasoning.as_ref(),
            details: message.reasoning_details.as_deref(),
            blocks: message.thinking_blocks.as_deref(),
        };
        for piece in thinking.pieces() {
            match piece {
                Piece::Text(text) => self.blocks.push(unsigned(text.into())),
                Piece::Signature(signature) => self.signature(signature.into()),
                Piece::Redacted(data) => {
                    self.blocks.push(ContentBlock::RedactedThinking(RedactedThinkingBlock { data: data.into() }));
                }
            }
        }
    }

    /// Signs the thinking that came last, or an empty one.
    fn signature(&mut self, signature: Text<'a>) {
        match self.blocks.last_mut() {
            Some(ContentBlock::Thinking(block)) if block.signature.as_ref().is_some_and(|text| text.is_empty()) => {
                block.signature = Some(signature);
            }
            _ => {
                let block = ThinkingBlock { thinking: Text::default(), signature: Some(signature) };
                self.blocks.push(ContentBlock::Thinking(block));
            }
        }
    }

    fn content(&mut self, message: &'a ResponseMessage<'a>) {
        let annotations = message.annotations.as_deref().unwrap_or_default();
        match &message.content {
            None => {}
            Some(Content::Text(text)) => {
                self.blocks.extend(citations::cited(text, annotations, self.losses));
            }
            Some(Content::Parts(parts)) => {
                for (index, part) in parts.iter().enumerate() {
                    lost::part(part, index, self.losses);
                    self.part(part);
                }
            }
        }
    }

    fn part(&mut self, part: &'a Part<'a>) {
        match part {
            Part::Text(part) => self.text(part.text.by_ref()),
            Part::Refusal(part) => self.text(part.refusal.by_ref()),
            Part::Other(raw) => {
                self.blocks.extend(answer::thinking_part(raw).map(|thinking| unsigned(thinking.into())));
            }
            Part::ImageUrl(_) | Part::InputAudio(_) | Part::File(_) => {}
        }
    }

    fn text(&mut self, text: Text<'a>) {
        if !text.is_empty() {
            self.blocks.push(ContentBlock::Text(TextBlock { text, citations: None, cache_control: None }));
        }
    }

    fn call(&mut self, call: &'a ToolCall<'a>, index: usize) -> Result<(), ConvertError> {
        let path = format!("choices[0].message.tool_calls[{index}]");
        let id_of = |id: &'a Text<'a>| match &**id {
            "" => Text::from(made_up_call_id(&self.reply.id, index)),
            id => Text(Charset::CLAUDE.fit(id)),
        };
        match call {
            ToolCall::Function(call) => {
                let id = id_of(&call.id);
                if let Some(signature) = answer::gemini_signature(call.extra_content.as_ref()) {
                    self.signature(signature.into());
                }
                self.function_call(&call.function, id, &path)
            }
            ToolCall::Custom(call) => {
                let id = id_of(&call.id);
                let input = wrapped(CUSTOM_INPUT, &call.custom.input)?;
                self.push_call(id, &call.custom.name, input);
                Ok(())
            }
            ToolCall::Other(_) => {
                self.losses.add(path, "is a call of a kind that is not known");
                Ok(())
            }
        }
    }

    fn function_call(&mut self, call: &'a FunctionCall<'a>, id: Text<'a>, path: &str) -> Result<(), ConvertError> {
        let text = match call.arguments.trim() {
            "" => "{}",
            text => text,
        };
        let input = match Raw::parse(text) {
            Ok(raw) if raw.get().starts_with('{') => raw,
            _ => {
                self.losses.add(format!("{path}.function.arguments"), "are no JSON object and stand in INVALID_JSON");
                wrapped(INVALID_JSON, text)?
            }
        };
        self.push_call(id, &call.name, input);
        Ok(())
    }

    fn push_call(&mut self, id: Text<'a>, name: &'a str, input: Raw<'a>) {
        let name = Text::from(self.reply.tools.client_name(name));
        let block = ToolUseBlock { id, name, input, caller: None, toolset_name: None, cache_control: None };
        self.blocks.push(ContentBlock::ToolUse(Box::new(block)));
    }
}

/// Thinking that nobody has signed. The empty signature is what the vendor's SDKs expect to be there; it is not sent back to Claude.
fn unsigned(thinking: Text<'_>) -> ContentBlock<'_> {
    ContentBlock::Thinking(ThinkingBlock { thinking, signature: Some(Text(Cow::Borrowed(""))) })
}

/// An object of one text.
fn wrapped(member: &str, text: &str) -> Result<Raw<'static>, ConvertError> {
    Raw::of(&std::collections::BTreeMap::from([(member, text)]))
        .map_err(|error| ConvertError::Unreadable(error.to_string()))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn convert_message(message: Value, finish_reason: &str) -> Value {
        let body = json!({"id": "c", "model": "m", "choices": [{"index": 0, "message": message, "finish_reason": finish_reason}]});
        let text = body.to_string();
        let reply = Reply { id: "r1".to_owned(), ..Reply::default() };
        let response = serde_json::from_str(&text).unwrap();
        serde_json::to_value(convert(&response, &reply, &mut Losses::default()).unwrap()).unwrap()
    }

    fn call(arguments: &str) -> Value {
        json!({"tool_calls": [{"id": "c1", "type": "function", "function": {"name": "now", "arguments": arguments}}]})
    }

    /// B08: no arguments are an empty object, and cut ones are not lost.
    #[test]
    fn arguments_are_objects() {
        let input = |arguments, reason| convert_message(call(arguments), reason)["content"][0]["input"].clone();
        assert_eq!(input("", "tool_calls"), json!({}));
        assert_eq!(input(r#"{"p":1}"#, "tool_calls"), json!({"p": 1}));
        assert_eq!(input(r#"{"p":"#, "length"), json!({"INVALID_JSON": "{\"p\":"}));
    }

    /// B25: calls are why the answer ended, whatever the vendor says; a limit stays one.
    #[test]
    fn calls_are_the_reason_unless_there_was_a_limit() {
        for (reason, wanted) in [("stop", "tool_use"), ("tool_calls", "tool_use"), ("length", "max_tokens")] {
            assert_eq!(convert_message(call("{}"), reason)["stop_reason"], wanted);
        }
        assert_eq!(convert_message(json!({"content": "a"}), "content_filter")["stop_reason"], "refusal");
        let refusal = convert_message(json!({"content": null, "refusal": "No."}), "stop");
        assert_eq!((&refusal["stop_reason"], &refusal["content"][0]["text"]), (&json!("refusal"), &json!("No.")));
    }

    /// B14: Gemini's signature comes before the part that it signs, sealed.
    #[test]
    fn a_signature_of_gemini_is_kept_in_a_thinking_block() {
        let mut message = call("{}");
        message["tool_calls"][0]["extra_content"] = json!({"google": {"thought_signature": "c2ln"}});
        let wanted = json!({"type": "thinking", "thinking": "", "signature": "tollgate-gemini:c2ln"});
        assert_eq!(convert_message(message, "tool_calls")["content"][0], wanted);
    }

    /// B17: reasoning is a thinking block and never text.
    #[test]
    fn reasoning_is_thinking() {
        let content =
            convert_message(json!({"content": "Four.", "reasoning_content": "2+2"}), "stop")["content"].clone();
        let wanted = json!([
            {"type": "thinking", "thinking": "2+2", "signature": ""},
            {"type": "text", "text": "Four."},
        ]);
        assert_eq!(content, wanted);
    }
}
