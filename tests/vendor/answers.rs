//! The answer to a question, as each vendor writes it.

use serde_json::{Value, json};
use tollgate::protocol::dialect::Dialect;

use crate::questions::{CLAUDE_SIGNATURE, GEMINI_SIGNATURE, OPENAI_SECRET, Question};

/// What an answer consists of.
struct Plan {
    thoughts: Option<&'static str>,
    text: Option<String>,
    calls: Vec<(String, Value)>,
}

/// The answer.
pub fn write(dialect: Dialect, question: &Question, calls: &[(String, Value)]) -> Value {
    let known = |name: &String| question.tools.contains(name) || question.custom_tools.contains(name);
    let calls: Vec<(String, Value)> = match question.results {
        None => calls.iter().filter(|(name, _)| known(name)).cloned().collect(),
        Some(_) => vec![],
    };
    let text = match &question.results {
        Some(results) => Some(format!("The tools said: {}", results.join(" | "))),
        None if !calls.is_empty() => None,
        None if question.json => Some(r#"{"answer":42}"#.to_owned()),
        None if question.images > 0 => Some(format!("I see {} image(s)", question.images)),
        None => Some("Hello there".to_owned()),
    };
    let plan = Plan { thoughts: question.thinking.then_some("Let me think."), text, calls };
    match dialect {
        Dialect::OpenAiChat => chat(&plan, question),
        Dialect::OpenAiResponses => responses(&plan, question),
        Dialect::Claude => claude(&plan),
        Dialect::Gemini => gemini(&plan),
    }
}

/// A refusal.
pub fn error(dialect: Dialect, message: &str) -> String {
    match dialect {
        Dialect::Claude => json!({"type": "error", "error": {"type": "invalid_request_error", "message": message}}),
        Dialect::Gemini => json!({"error": {"code": 400, "message": message, "status": "INVALID_ARGUMENT"}}),
        Dialect::OpenAiChat | Dialect::OpenAiResponses => {
            json!({"error": {"message": message, "type": "invalid_request_error", "param": null, "code": null}})
        }
    }
    .to_string()
}

fn chat(plan: &Plan, question: &Question) -> Value {
    let calls: Vec<Value> = plan
        .calls
        .iter()
        .enumerate()
        .map(|(index, (name, arguments))| {
            let id = format!("call_{index}");
            if question.custom_tools.contains(name) {
                return json!({"id": id, "type": "custom", "custom": {"name": name, "input": arguments["input"]}});
            }
            json!({"id": id, "type": "function", "function": {"name": name, "arguments": arguments.to_string()}})
        })
        .collect();
    let mut message = json!({"role": "assistant", "content": plan.text, "refusal": null, "annotations": []});
    if !calls.is_empty() {
        message["tool_calls"] = calls.into();
    }
    let reason = if plan.calls.is_empty() { "stop" } else { "tool_calls" };
    json!({"id": "chatcmpl-1", "object": "chat.completion", "created": 1_796_000_000, "model": "vendor-model",
        "choices": [{"index": 0, "message": message, "logprobs": null, "finish_reason": reason}],
        "usage": {"prompt_tokens": 20, "completion_tokens": 10, "total_tokens": 30,
            "prompt_tokens_details": {"cached_tokens": 5, "audio_tokens": 0},
            "completion_tokens_details": {"reasoning_tokens": 4, "audio_tokens": 0,
                "accepted_prediction_tokens": 0, "rejected_prediction_tokens": 0}},
        "service_tier": "default", "system_fingerprint": "fp_1"})
}

fn responses(plan: &Plan, question: &Question) -> Value {
    let mut output = Vec::new();
    if let Some(thoughts) = plan.thoughts {
        output.push(json!({"type": "reasoning", "id": "rs_1", "encrypted_content": OPENAI_SECRET,
            "summary": [{"type": "summary_text", "text": thoughts}]}));
    }
    if let Some(text) = &plan.text {
        let part = json!({"type": "output_text", "text": text, "annotations": [], "logprobs": []});
        output.push(
            json!({"type": "message", "id": "msg_1", "status": "completed", "role": "assistant", "content": [part]}),
        );
    }
    for (index, (name, arguments)) in plan.calls.iter().enumerate() {
        let (id, call_id) = (format!("fc_{index}"), format!("call_{index}"));
        output.push(if question.custom_tools.contains(name) {
            json!({"type": "custom_tool_call", "id": id, "call_id": call_id, "name": name, "input": arguments["input"],
                "status": "completed"})
        } else {
            json!({"type": "function_call", "id": id, "call_id": call_id, "name": name,
                "arguments": arguments.to_string(), "status": "completed"})
        });
    }
    json!({"id": "resp_1", "object": "response", "created_at": 1_796_000_000, "status": "completed", "error": null,
        "incomplete_details": null, "instructions": null, "max_output_tokens": null, "model": "vendor-model",
        "output": output, "parallel_tool_calls": true, "previous_response_id": null,
        "reasoning": {"effort": null, "summary": null}, "store": false, "temperature": 1.0,
        "text": {"format": {"type": "text"}}, "tool_choice": "auto", "tools": [], "top_p": 1.0,
        "truncation": "disabled", "metadata": {},
        "usage": {"input_tokens": 20, "input_tokens_details": {"cached_tokens": 5, "cache_write_tokens": 0},
            "output_tokens": 10, "output_tokens_details": {"reasoning_tokens": 4}, "total_tokens": 30}})
}

fn claude(plan: &Plan) -> Value {
    let mut content = Vec::new();
    if let Some(thoughts) = plan.thoughts {
        content.push(json!({"type": "thinking", "thinking": thoughts, "signature": CLAUDE_SIGNATURE}));
    }
    if let Some(text) = &plan.text {
        content.push(json!({"type": "text", "text": text}));
    }
    for (index, (name, arguments)) in plan.calls.iter().enumerate() {
        content.push(json!({"type": "tool_use", "id": format!("toolu_{index}"), "name": name, "input": arguments}));
    }
    let reason = if plan.calls.is_empty() { "end_turn" } else { "tool_use" };
    json!({"id": "msg_1", "type": "message", "role": "assistant", "model": "vendor-model", "content": content,
        "stop_reason": reason, "stop_sequence": null,
        "usage": {"input_tokens": 15, "cache_read_input_tokens": 5, "cache_creation_input_tokens": 0, "output_tokens": 10}})
}

fn gemini(plan: &Plan) -> Value {
    let mut parts = Vec::new();
    if let Some(thoughts) = plan.thoughts {
        parts.push(json!({"text": thoughts, "thought": true}));
    }
    if let Some(text) = &plan.text {
        parts.push(json!({"text": text}));
    }
    for (index, (name, arguments)) in plan.calls.iter().enumerate() {
        let mut part = json!({"functionCall": {"name": name, "args": arguments}});
        if index == 0 {
            part["thoughtSignature"] = GEMINI_SIGNATURE.into();
        }
        parts.push(part);
    }
    json!({"candidates": [{"content": {"role": "model", "parts": parts}, "finishReason": "STOP", "index": 0}],
        "usageMetadata": {"promptTokenCount": 20, "cachedContentTokenCount": 5, "candidatesTokenCount": 6,
            "thoughtsTokenCount": 4, "totalTokenCount": 30},
        "modelVersion": "vendor-model", "responseId": "r1"})
}
