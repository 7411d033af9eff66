//! What of a client's request its vendor alone has, so that it is lost alike wherever the request goes.

use super::Losses;
use crate::protocol::claude::wire::content::{ContentBlock, ResultBlock};
use crate::protocol::claude::wire::document::ImageBlock;
use crate::protocol::claude::wire::request::{MessagesRequest, Thinking};
use crate::protocol::claude::wire::tools::Tool as ClaudeTool;
use crate::protocol::dialect::Dialect;
use crate::protocol::gemini::wire::request::GenerateContentRequest;
use crate::protocol::gemini::wire::tools::FunctionCallingMode;
use crate::protocol::openai_chat::wire::message::ToolCall;
use crate::protocol::openai_chat::wire::request::{Request as ChatRequest, ResponseFormat};
use crate::protocol::openai_chat::wire::tools::{ToolChoice, ToolChoiceMode};
use crate::protocol::openai_responses::wire::request::{Request as ResponsesRequest, TextFormat};
use crate::protocol::wire::TextOr;

/// A client's request.
pub(super) trait LeftOut {
    /// Notes what goes to no dialect, or not to `to`, and which the conversion itself does not look at.
    fn left_out(&self, to: Dialect, losses: &mut Losses);
}

const NO_PLACE_FOR_A_DESCRIPTION: &str = "a schema of the answer has no description there";

impl LeftOut for ChatRequest<'_> {
    fn left_out(&self, to: Dialect, losses: &mut Losses) {
        let has_tools = self.tools.as_ref().is_some_and(|tools| !tools.is_empty()) || self.functions.is_some();
        let demands = matches!(self.tool_choice, Some(ToolChoice::Mode(ToolChoiceMode::Required)));
        if demands && !has_tools && to != Dialect::OpenAiResponses {
            losses.add("tool_choice", "there is no tool to call");
        }
        if let Some(ResponseFormat::JsonSchema(format)) = &self.response_format
            && to == Dialect::Claude
            && format.json_schema.description.is_some()
        {
            losses.add("response_format.json_schema.description", NO_PLACE_FOR_A_DESCRIPTION);
        }
        if to == Dialect::OpenAiResponses {
            for (index, message) in self.messages.iter().enumerate() {
                let calls = message.tool_calls.iter().flatten().enumerate();
                let signed =
                    |call: &ToolCall<'_>| matches!(call, ToolCall::Function(call) if call.extra_content.is_some());
                for (place, _) in calls.filter(|(_, call)| signed(call)) {
                    let path = format_args!("messages[{index}].tool_calls[{place}].extra_content");
                    losses.hint_once(path, "is of another vendor");
                }
            }
        }
    }
}

impl LeftOut for ResponsesRequest<'_> {
    fn left_out(&self, to: Dialect, losses: &mut Losses) {
        if to == Dialect::OpenAiChat {
            return;
        }
        if let Some(TextFormat::JsonSchema(format)) = self.text.as_ref().and_then(|text| text.format.as_ref())
            && format.description.is_some()
        {
            losses.add("text.format.description", NO_PLACE_FOR_A_DESCRIPTION);
        }
        if self.include.iter().flatten().any(|included| *included == "web_search_call.action.sources") {
            losses.add("include", "the sources of a search are told by the citations only");
        }
    }
}

impl LeftOut for MessagesRequest<'_> {
    fn left_out(&self, to: Dialect, losses: &mut Losses) {
        for (index, message) in self.messages.iter().enumerate() {
            let path = format!("messages[{index}]");
            if to == Dialect::OpenAiResponses && message.clear_at.as_ref().is_some_and(|until| *until != "never") {
                losses.add_once(format_args!("{path}.clear_at"), "has no counterpart, the instruction stays");
            }
            let Some(TextOr::Structured(blocks)) = &message.content else { continue };
            for (index, block) in blocks.iter().enumerate() {
                of_block(block, to, &format!("{path}.content[{index}]"), losses);
            }
        }
        let block_binding = match &self.thinking {
            Some(Thinking::Enabled(thinking)) => &thinking.block_binding,
            Some(Thinking::Adaptive(thinking)) => &thinking.block_binding,
            _ => &None,
        };
        if block_binding.is_some() {
            losses.add("thinking.block_binding", "has no counterpart");
        }
        for (index, tool) in self.tools.iter().flatten().enumerate() {
            let inclusion = match tool {
                ClaudeTool::WebSearch(tool) => &tool.response_inclusion,
                ClaudeTool::WebFetch(tool) => &tool.response_inclusion,
                _ => continue,
            };
            if inclusion.is_some() {
                losses.add(format!("tools[{index}].response_inclusion"), "has no counterpart");
            }
        }
    }
}

fn of_block(block: &ContentBlock<'_>, to: Dialect, path: &str, losses: &mut Losses) {
    let result = match block {
        ContentBlock::Image(block) => return of_image(block, path, losses),
        ContentBlock::ToolResult(result) => result,
        _ => return,
    };
    let Some(TextOr::Structured(blocks)) = &result.content else { return };
    for (index, block) in blocks.iter().enumerate() {
        let path = format!("{path}.content[{index}]");
        match block {
            ResultBlock::Image(block) => of_image(block, &path, losses),
            ResultBlock::SearchResult(block)
                if to == Dialect::Gemini
                    && block.citations.as_ref().is_some_and(|citations| citations.enabled == Some(true)) =>
            {
                losses.add_once(format_args!("{path}.citations"), "the answer does not cite what a tool has found");
            }
            _ => {}
        }
    }
}

fn of_image(block: &ImageBlock<'_>, path: &str, losses: &mut Losses) {
    if block.transformations.is_some() {
        losses.add_once(format_args!("{path}.transformations"), "what becomes of large images cannot be told");
    }
}

impl LeftOut for GenerateContentRequest<'_> {
    fn left_out(&self, to: Dialect, losses: &mut Losses) {
        if to == Dialect::Claude {
            for (index, tool) in self.tools.iter().enumerate() {
                for (place, function) in tool.function_declarations.iter().flatten().enumerate() {
                    if function.behavior.as_deref().is_some_and(|behavior| behavior != "BLOCKING") {
                        let path = format_args!("tools[{index}].functionDeclarations[{place}].behavior");
                        losses.add_once(path, "the model waits for the result of each call");
                    }
                }
            }
        }
        let calling = self.tool_config.as_ref().and_then(|config| config.function_calling_config.as_ref());
        let restricts = calling.is_some_and(|calling| {
            matches!(calling.mode, None | Some(FunctionCallingMode::Auto)) && !calling.allowed_function_names.is_empty()
        });
        if restricts && to != Dialect::OpenAiChat {
            losses.add(
                "toolConfig.functionCallingConfig.allowedFunctionNames",
                "restricts nothing in this mode, which is AUTO",
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use crate::protocol::convert::media::Media;
    use crate::protocol::convert::{Context, ServerTools, request};
    use crate::protocol::dialect::Dialect::{self, Claude, Gemini, OpenAiChat, OpenAiResponses};

    fn losses(from: Dialect, to: Dialect, body: &Value) -> String {
        let media = Media::new();
        let model = if to == Claude { "claude-opus-4-5" } else { "m" };
        let context = Context { model, stream: false, server_tools: ServerTools::Drop, media: &media };
        request(from, to, &body.to_string(), &context).unwrap().losses.text()
    }

    #[test]
    fn what_only_the_clients_vendor_has_is_told() {
        let user = json!([{"role": "user", "content": "hi"}]);
        let image = json!({"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AAAA"},
            "transformations": {"oversized_image": "error"}});
        let images = json!([{"role": "user", "content": [image]}]);
        let found = json!([{"type": "search_result", "source": "s", "title": "t", "content": [{"type": "text", "text": "x"}],
            "citations": {"enabled": true}}]);
        let results = json!([
            {"role": "user", "content": "hi"},
            {"role": "assistant", "content": [{"type": "tool_use", "id": "t1", "name": "f", "input": {}}]},
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t1", "content": found}]},
        ]);
        let schema = json!({"name": "n", "description": "d", "schema": {"type": "object"}});
        let signed = json!([
            {"role": "user", "content": "hi"},
            {"role": "assistant", "tool_calls": [{"id": "c", "type": "function", "extra_content": {"google": {}},
                "function": {"name": "f", "arguments": "{}"}}]},
            {"role": "tool", "tool_call_id": "c", "content": "x"},
        ]);
        let contents = json!([{"parts": [{"text": "hi"}]}]);
        let declared = json!([{"functionDeclarations": [{"name": "f", "behavior": "NON_BLOCKING"}]}]);
        let calling = json!({"functionCallingConfig": {"mode": "AUTO", "allowedFunctionNames": ["f"]}});
        for (from, body, path, targets) in [
            (
                Claude,
                json!({"messages": images}),
                "content[0].transformations",
                vec![OpenAiChat, OpenAiResponses, Gemini],
            ),
            (
                Claude,
                json!({"messages": results}),
                "content[0].content[0].citations",
                vec![OpenAiChat, OpenAiResponses, Gemini],
            ),
            (OpenAiChat, json!({"messages": user, "tool_choice": "required"}), "tool_choice", vec![Claude, Gemini]),
            (
                OpenAiChat,
                json!({"messages": user, "response_format": {"type": "json_schema", "json_schema": schema}}),
                "response_format.json_schema.description",
                vec![Claude, Gemini],
            ),
            (OpenAiChat, json!({"messages": signed}), "tool_calls[0].extra_content", vec![OpenAiResponses]),
            (
                OpenAiResponses,
                json!({"input": "hi", "include": ["web_search_call.action.sources"]}),
                "include",
                vec![Claude, Gemini],
            ),
            (Gemini, json!({"contents": contents, "tools": declared}), "behavior", vec![Claude, OpenAiResponses]),
            (
                Gemini,
                json!({"contents": contents, "tools": declared, "toolConfig": calling}),
                "allowedFunctionNames",
                vec![Claude, OpenAiResponses],
            ),
        ] {
            let mut body = body;
            body["model"] = json!("m");
            if from == Claude {
                body["max_tokens"] = json!(99);
            }
            for to in targets {
                let losses = losses(from, to, &body);
                assert!(losses.contains(&format!("{path}: ")), "{from:?} to {to:?}: {losses}");
            }
        }
    }
}
