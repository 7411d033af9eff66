//! What a request asks for.

use serde_json::Value;
use tollgate::protocol::dialect::Dialect;

/// The signatures that this vendor makes, and so the only ones that it takes back.
pub const CLAUDE_SIGNATURE: &str = "Q2xhdWRlIHdhcyBoZXJl";
pub const GEMINI_SIGNATURE: &str = "R2VtaW5pIHdhcyBoZXJl";
pub const OPENAI_SECRET: &str = "T3BlbkFJIHdhcyBoZXJl";

/// What Gemini takes for the signature of a call that it did not make.
const SKIPPED: &str = "skip_thought_signature_validator";

/// What a request asks for.
#[derive(Debug, Default)]
pub struct Question {
    /// The names of the tools that the client carries out.
    pub tools: Vec<String>,
    /// The names of those that take a free text.
    pub custom_tools: Vec<String>,
    /// What the tools said, if this is the turn after calls.
    pub results: Option<Vec<String>>,
    /// Whether the answer has to be JSON.
    pub json: bool,
    /// Whether thinking is asked for.
    pub thinking: bool,
    /// How many images there are.
    pub images: usize,
    /// What the vendor finds wrong with secrets of thinking.
    pub faults: Vec<String>,
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map(Vec::as_slice).unwrap_or_default()
}

fn names<'a>(tools: impl Iterator<Item = &'a Value>) -> Vec<String> {
    tools.filter_map(Value::as_str).map(str::to_owned).collect()
}

fn text_of(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(parts) => parts.iter().map(|part| part["text"].as_str().unwrap_or_default()).collect(),
        other => other.to_string(),
    }
}

impl Question {
    pub fn read(dialect: Dialect, request: &Value) -> Self {
        match dialect {
            Dialect::OpenAiChat => Self::chat(request),
            Dialect::OpenAiResponses => Self::responses(request),
            Dialect::Claude => Self::claude(request),
            Dialect::Gemini => Self::gemini(request),
        }
    }

    fn chat(request: &Value) -> Self {
        let messages = list(&request["messages"]);
        let results: Vec<String> = messages
            .iter()
            .rev()
            .take_while(|message| message["role"] == "tool")
            .map(|message| text_of(&message["content"]))
            .collect();
        let parts = messages.iter().flat_map(|message| list(&message["content"]));
        Self {
            tools: names(list(&request["tools"]).iter().map(|tool| &tool["function"]["name"])),
            custom_tools: names(list(&request["tools"]).iter().map(|tool| &tool["custom"]["name"])),
            results: (!results.is_empty()).then(|| results.into_iter().rev().collect()),
            json: request["response_format"]["type"] == "json_schema",
            thinking: request["reasoning_effort"].as_str().is_some_and(|effort| effort != "none"),
            images: parts.filter(|part| part["type"] == "image_url").count(),
            faults: vec![],
        }
    }

    fn responses(request: &Value) -> Self {
        let items = list(&request["input"]);
        let is_output = |item: &&Value| item["type"].as_str().is_some_and(|kind| kind.ends_with("_call_output"));
        let results: Vec<String> =
            items.iter().rev().take_while(is_output).map(|item| text_of(&item["output"])).collect();
        let of_kind = |kind: &'static str| {
            let direct = list(&request["tools"]).iter();
            names(direct.filter(move |tool| tool["type"] == kind).map(|tool| &tool["name"]))
        };
        let content = items.iter().flat_map(|item| list(&item["content"]));
        let secrets = items.iter().filter_map(|item| item["encrypted_content"].as_str());
        Self {
            tools: of_kind("function"),
            custom_tools: of_kind("custom"),
            results: (!results.is_empty()).then(|| results.into_iter().rev().collect()),
            json: request["text"]["format"]["type"] == "json_schema",
            thinking: request["reasoning"]["effort"].as_str().is_some_and(|effort| effort != "none"),
            images: content.filter(|part| part["type"] == "input_image").count(),
            faults: secrets
                .filter(|secret| *secret != OPENAI_SECRET)
                .map(|secret| format!("the encrypted content {secret:?} could not be verified"))
                .collect(),
        }
    }

    fn claude(request: &Value) -> Self {
        let messages = list(&request["messages"]);
        let last = messages.last().map(|message| list(&message["content"])).unwrap_or_default();
        let results: Vec<String> = last
            .iter()
            .filter(|block| block["type"] == "tool_result")
            .map(|block| text_of(&block["content"]))
            .collect();
        let blocks = || messages.iter().flat_map(|message| list(&message["content"]));
        let nested = blocks().flat_map(|block| list(&block["content"]));
        let own_tools = list(&request["tools"]).iter();
        Self {
            tools: names(own_tools.filter(|tool| tool["input_schema"].is_object()).map(|tool| &tool["name"])),
            custom_tools: vec![],
            results: (!results.is_empty()).then_some(results),
            json: request["output_config"]["format"]["type"] == "json_schema",
            thinking: matches!(request["thinking"]["type"].as_str(), Some("enabled" | "adaptive")),
            images: blocks().chain(nested).filter(|block| block["type"] == "image").count(),
            faults: blocks()
                .filter(|block| block["type"] == "thinking" && block["signature"] != CLAUDE_SIGNATURE)
                .map(|block| format!("invalid `signature` in `thinking` block: {}", block["signature"]))
                .collect(),
        }
    }

    fn gemini(request: &Value) -> Self {
        let contents = list(&request["contents"]);
        let parts = || contents.iter().flat_map(|content| list(&content["parts"]));
        let last = contents.last().map(|content| list(&content["parts"])).unwrap_or_default();
        let results: Vec<String> = last
            .iter()
            .filter(|part| part["functionResponse"].is_object())
            .map(|part| text_of(&part["functionResponse"]["response"]))
            .collect();
        let declared = list(&request["tools"]).iter().flat_map(|tool| list(&tool["functionDeclarations"]));
        let config = &request["generationConfig"];
        let mut faults: Vec<String> = parts()
            .filter_map(|part| part["thoughtSignature"].as_str())
            .filter(|signature| ![GEMINI_SIGNATURE, SKIPPED].contains(signature))
            .map(|signature| format!("Thought signature is not valid: {signature}"))
            .collect();
        // The calls of the turn that goes on have to be signed, the first of each answer.
        let says = |content: &Value| {
            content["role"] != "model" && list(&content["parts"]).iter().any(|part| part["text"].is_string())
        };
        let turn_starts = contents.iter().rposition(says).unwrap_or(0);
        for content in contents.iter().skip(turn_starts).filter(|content| content["role"] == "model") {
            let first = list(&content["parts"]).iter().find(|part| part["functionCall"].is_object());
            if first.is_some_and(|part| !part["thoughtSignature"].is_string()) {
                faults.push("Function call is missing a thought_signature in functionCall parts".to_owned());
            }
        }
        Self {
            tools: names(declared.map(|declaration| &declaration["name"])),
            custom_tools: vec![],
            results: (!results.is_empty()).then_some(results),
            json: config["responseMimeType"] == "application/json",
            thinking: config["thinkingConfig"].is_object(),
            images: parts().filter(|part| part["inlineData"].is_object() || part["fileData"].is_object()).count(),
            faults,
        }
    }
}
