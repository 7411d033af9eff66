//! A Claude Messages upstream's answer for a Chat Completions client.

use std::borrow::Cow;

use super::{answer, lost};
use crate::protocol::claude::fold::cut_arguments;
use crate::protocol::claude::wire::content::{ContentBlock, TextBlock, ThinkingBlock, ToolUseBlock};
use crate::protocol::claude::wire::response::Message;
use crate::protocol::convert::names::ToolKind;
use crate::protocol::convert::{ConvertError, Losses, Reply, custom_input};
use crate::protocol::openai_chat::stream_writer::answer_id;
use crate::protocol::openai_chat::wire::content::Content;
use crate::protocol::openai_chat::wire::message::{
    CustomCall, CustomToolCall, FunctionCall, FunctionToolCall, Role, ThinkingBlock as ChatThinkingBlock, ToolCall,
};
use crate::protocol::openai_chat::wire::response::{
    Annotation, Choice, FinishReason, Response as Target, ResponseMessage,
};
use crate::protocol::wire::Text;

/// Converts `response`.
pub fn convert<'a>(
    response: &'a Message<'a>,
    reply: &'a Reply,
    losses: &mut Losses,
) -> Result<Target<'a>, ConvertError> {
    let mut said = Said::new(reply, losses);
    for (index, block) in response.content.iter().enumerate() {
        said.block(block, index as u64);
    }
    if response.container.is_some() {
        lost::container(said.losses);
    }
    let refusal = response.stop_details.as_ref().and_then(|details| details.explanation.as_ref());
    let finish_reason = match ending(response, !said.calls.is_empty(), said.losses) {
        FinishReason::ToolCalls if reply.legacy_functions => FinishReason::FunctionCall,
        reason => reason,
    };
    let message = said.message(refusal.filter(|_| finish_reason == FinishReason::ContentFilter));
    let usage = response.usage.as_ref();
    Ok(Target {
        id: answer_id(reply).into(),
        object: "chat.completion".into(),
        created: reply.created,
        model: if response.model.is_empty() { Text::from(&*reply.model) } else { response.model.by_ref() },
        choices: vec![Choice { index: 0, message, finish_reason: Some(finish_reason), logprobs: None }],
        usage: usage.map(answer::usage),
        service_tier: answer::service_tier(usage.and_then(|usage| usage.service_tier.as_ref())).map(Text::from),
        ..Target::default()
    })
}

fn ending(response: &Message<'_>, has_calls: bool, losses: &mut Losses) -> FinishReason<'static> {
    lost::stop_reason(response.stop_reason.as_ref(), losses);
    match response.stop_reason.as_ref().map(answer::finish_reason) {
        None | Some(FinishReason::Stop) if has_calls => FinishReason::ToolCalls,
        reason => reason.unwrap_or(FinishReason::Stop),
    }
}

/// What the model says, gathered from its blocks.
struct Said<'a, 'n> {
    reply: &'a Reply,
    losses: &'n mut Losses,
    texts: Vec<&'a str>,
    characters: u64,
    annotations: Vec<Annotation<'a>>,
    thinking: Vec<&'a str>,
    thinking_blocks: Vec<ChatThinkingBlock<'a>>,
    calls: Vec<ToolCall<'a>>,
}

impl<'a, 'n> Said<'a, 'n> {
    fn new(reply: &'a Reply, losses: &'n mut Losses) -> Self {
        Self {
            reply,
            losses,
            texts: Vec::new(),
            characters: 0,
            annotations: Vec::new(),
            thinking: Vec::new(),
            thinking_blocks: Vec::new(),
            calls: Vec::new(),
        }
    }

    fn block(&mut self, block: &'a ContentBlock<'a>, index: u64) {
        match block {
            ContentBlock::Text(block) => self.text(block, index),
            ContentBlock::Thinking(block) => self.thinking(block),
            ContentBlock::RedactedThinking(block) => self.thinking_blocks.push(answer::redacted(&block.data)),
            ContentBlock::ToolUse(block) => self.call(block),
            _ => lost::block(block, index, self.losses),
        }
    }

    fn text(&mut self, block: &'a TextBlock<'a>, index: u64) {
        let start = self.characters;
        self.texts.push(&block.text);
        self.characters += answer::characters(&block.text);
        for citation in block.citations.iter().flatten() {
            match answer::annotation(citation, start, self.characters) {
                Some(annotation) => self.annotations.push(annotation),
                None => lost::citation(index, self.losses),
            }
        }
    }

    fn thinking(&mut self, block: &'a ThinkingBlock<'a>) {
        if !block.thinking.is_empty() {
            self.thinking.push(&block.thinking);
        }
        if let Some(signature) = block.signature.as_ref().filter(|signature| !signature.is_empty()) {
            self.thinking_blocks.push(answer::signed(&block.thinking, signature));
        }
    }

    fn call(&mut self, block: &'a ToolUseBlock<'a>) {
        let id = block.id.by_ref();
        // B08: arguments that were cut are told as they came.
        let arguments = cut_arguments(&block.input).map_or(Cow::Borrowed(block.input.get()), Cow::Owned);
        let name = Text::from(self.reply.tools.client_name(&block.name));
        self.calls.push(match self.reply.tools.client(&block.name).map(|tool| tool.kind) {
            Some(ToolKind::Custom) => {
                let input = custom_input::text(&arguments).into();
                ToolCall::Custom(CustomToolCall { id, custom: CustomCall { name, input } })
            }
            _ => ToolCall::Function(FunctionToolCall {
                id,
                function: FunctionCall { name, arguments: Text(arguments) },
                extra_content: None,
                cache_control: None,
            }),
        });
    }

    /// The call of a client that declared its functions in the legacy form, which has place for one.
    fn legacy_call(&mut self) -> Option<FunctionCall<'a>> {
        if !self.reply.legacy_functions || self.calls.is_empty() {
            return None;
        }
        if self.calls.len() > 1 {
            lost::calls(self.losses);
        }
        std::mem::take(&mut self.calls).into_iter().find_map(|call| match call {
            ToolCall::Function(call) => Some(call.function),
            _ => None,
        })
    }

    fn message(mut self, refusal: Option<&'a Text<'a>>) -> ResponseMessage<'a> {
        let function_call = self.legacy_call();
        let calls = self.calls;
        let content = match self.texts.as_slice() {
            [] if calls.is_empty() && refusal.is_none() && function_call.is_none() => Some(Text::default()),
            [] => None,
            [text] => Some(Text::from(*text)),
            texts => Some(texts.concat().into()),
        };
        let reasoning_content = match self.thinking.as_slice() {
            [] => None,
            [text] => Some(Text::from(*text)),
            texts => Some(texts.join("\n").into()),
        };
        ResponseMessage {
            role: Some(Role::Assistant),
            content: content.map(Content::Text),
            refusal: refusal.map(Text::by_ref),
            annotations: (!self.annotations.is_empty()).then_some(self.annotations),
            tool_calls: (!calls.is_empty()).then_some(calls),
            function_call,
            reasoning_content,
            thinking_blocks: (!self.thinking_blocks.is_empty()).then_some(self.thinking_blocks),
            ..ResponseMessage::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::protocol::convert::names::{Charset, ToolNames};

    fn convert_content(content: Value, stop_reason: &str) -> Value {
        let text = json!({"id": "msg_1", "model": "m", "content": content, "stop_reason": stop_reason,
            "usage": {"input_tokens": 1, "output_tokens": 2}})
        .to_string();
        let mut tools = ToolNames::default();
        tools.upstream(Charset::CLAUDE, None, "patch", ToolKind::Custom);
        let reply = Reply { id: "r1".to_owned(), created: 7, tools, ..Reply::default() };
        let message = serde_json::from_str(&text).unwrap();
        let converted = convert(&message, &reply, &mut Losses::default()).unwrap();
        serde_json::to_value(converted).unwrap()["choices"][0].clone()
    }

    /// B08: no arguments are the text of an empty object; a custom tool gets its text back.
    #[test]
    fn arguments_are_texts() {
        let choice = convert_content(
            json!([
                {"type": "tool_use", "id": "t1", "name": "now", "input": {}},
                {"type": "tool_use", "id": "t2", "name": "patch", "input": {"input": "a\nb"}},
            ]),
            "tool_use",
        );
        let wanted = json!([
            {"type": "function", "id": "t1", "function": {"name": "now", "arguments": "{}"}},
            {"type": "custom", "id": "t2", "custom": {"name": "patch", "input": "a\nb"}},
        ]);
        assert_eq!((&choice["message"]["tool_calls"], &choice["finish_reason"]), (&wanted, &json!("tool_calls")));
    }

    #[test]
    fn each_end_has_its_reason() {
        for (reason, wanted) in [
            ("end_turn", "stop"),
            ("stop_sequence", "stop"),
            ("max_tokens", "length"),
            ("model_context_window_exceeded", "length"),
            ("pause_turn", "length"),
            ("refusal", "content_filter"),
            ("something_new", "stop"),
        ] {
            assert_eq!(convert_content(json!([{"type": "text", "text": "a"}]), reason)["finish_reason"], wanted);
        }
    }

    /// B13: Claude's signatures leave with a seal, by which they are known when they come back.
    #[test]
    fn signatures_are_sealed() {
        let choice = convert_content(json!([{"type": "thinking", "thinking": "hm", "signature": "EqQB"}]), "end_turn");
        let wanted = json!([{"type": "thinking", "thinking": "hm", "signature": "tollgate-claude:EqQB"}]);
        assert_eq!(choice["message"]["thinking_blocks"], wanted);
        assert_eq!(choice["message"]["reasoning_content"], "hm");
    }
}
