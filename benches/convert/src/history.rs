//! The history of an agent: 60 messages and 30 tools, about as long as those that agents send.

use serde_json::{Value, json};
use tollgate::protocol::dialect::Dialect;

const TURNS: usize = 20;

fn prose(index: usize) -> String {
    format!("Step {index}: read the file and say what it does. ").repeat(8)
}

fn schema() -> Value {
    json!({"type": "object", "additionalProperties": false, "required": ["path"], "properties": {
        "path": {"type": "string", "description": "The file to work on, from the root."},
        "offset": {"type": "integer", "minimum": 0, "description": "The first line."},
        "limit": {"anyOf": [{"type": "integer", "exclusiveMinimum": 0}, {"type": "null"}]},
        "edits": {"type": "array", "items": {"type": "object", "properties": {"old": {"type": "string"}, "new": {"type": "string"}}}},
    }})
}

fn tools(one: impl Fn(String, String) -> Value) -> Vec<Value> {
    (0..30).map(|index| one(format!("tool_{index}"), format!("Does thing {index}. ").repeat(10))).collect()
}

/// The request.
pub fn request(dialect: Dialect) -> String {
    let arguments = json!({"path": "src/main.rs", "offset": 10, "limit": 200});
    let result = "fn main() { println!(\"hello\"); }\n".repeat(20);
    let mut turns: Vec<Value> = Vec::new();
    for index in 0..TURNS {
        let (id, name) = (format!("call_{index}"), format!("tool_{index}"));
        turns.extend(match dialect {
            Dialect::OpenAiChat => vec![
                json!({"role": "user", "content": prose(index)}),
                json!({"role": "assistant", "content": "I look.", "tool_calls": [{"id": id, "type": "function",
                    "function": {"name": name, "arguments": arguments.to_string()}}]}),
                json!({"role": "tool", "tool_call_id": id, "content": result}),
            ],
            Dialect::OpenAiResponses => vec![
                json!({"role": "user", "content": [{"type": "input_text", "text": prose(index)}]}),
                json!({"type": "function_call", "call_id": id, "name": name, "arguments": arguments.to_string()}),
                json!({"type": "function_call_output", "call_id": id, "output": result}),
            ],
            Dialect::Claude => vec![
                json!({"role": "user", "content": [{"type": "text", "text": prose(index)}]}),
                json!({"role": "assistant", "content": [{"type": "text", "text": "I look."},
                    {"type": "tool_use", "id": id, "name": name, "input": arguments}]}),
                json!({"role": "user", "content": [{"type": "tool_result", "tool_use_id": id, "content": result}]}),
            ],
            Dialect::Gemini => vec![
                json!({"role": "user", "parts": [{"text": prose(index)}]}),
                json!({"role": "model", "parts": [{"text": "I look."}, {"functionCall": {"id": id, "name": name, "args": arguments}}]}),
                json!({"role": "user", "parts": [{"functionResponse": {"id": id, "name": name, "response": {"output": result}}}]}),
            ],
        });
    }
    let system = "You are a careful programmer. ".repeat(100);
    match dialect {
        Dialect::OpenAiChat => {
            turns.insert(0, json!({"role": "system", "content": system}));
            let tools = tools(|name, description| json!({"type": "function", "function": {"name": name, "description": description, "parameters": schema()}}));
            json!({"model": "m", "stream": true, "messages": turns, "tools": tools})
        }
        Dialect::OpenAiResponses => {
            let tools = tools(|name, description| json!({"type": "function", "name": name, "description": description, "strict": false, "parameters": schema()}));
            json!({"model": "m", "stream": true, "store": false, "instructions": system, "input": turns, "tools": tools})
        }
        Dialect::Claude => {
            let tools = tools(|name, description| json!({"name": name, "description": description, "input_schema": schema()}));
            json!({"model": "m", "stream": true, "max_tokens": 32000, "system": system, "messages": turns, "tools": tools})
        }
        Dialect::Gemini => {
            let tools = tools(|name, description| json!({"name": name, "description": description, "parametersJsonSchema": schema()}));
            json!({"systemInstruction": {"parts": [{"text": system}]}, "contents": turns, "tools": [{"functionDeclarations": tools}]})
        }
    }
    .to_string()
}
