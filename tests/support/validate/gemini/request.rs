//! The members of a request.

use serde_json::Value;

use super::super::check::{Check, list};
use super::{content, schema, tools};

/// Checks a whole request.
pub(super) fn check(check: &mut Check, body: &Value) {
    check.members(
        "",
        body,
        "model:text systemInstruction:obj contents:list! tools:list toolConfig:obj safetySettings:list generationConfig:obj \
         cachedContent:text serviceTier:(standard|flex|priority) store:bool continuationToken:text labels:obj",
    );
    let contents = list(&body["contents"]);
    check.require(!contents.is_empty(), "contents", "contents is not specified");
    content::conversation(check, contents);
    let system = &body["systemInstruction"];
    if system.is_object() {
        check.members("systemInstruction", system, "role:str parts:list!");
        check.require(!list(&system["parts"]).is_empty(), "systemInstruction", "parts must not be empty");
        for (index, part) in list(&system["parts"]).iter().enumerate() {
            let at = format!("systemInstruction.parts[{index}]");
            content::part(check, &at, part, true);
            check.require(part["text"].is_string(), &at, "only text");
        }
    }
    for (index, setting) in list(&body["safetySettings"]).iter().enumerate() {
        check.members(&format!("safetySettings[{index}]"), setting, "category:text! threshold:text!");
    }
    tools::check(check, body);
    if body["generationConfig"].is_object() {
        config(check, &body["generationConfig"]);
    }
}

fn config(check: &mut Check, config: &Value) {
    let at = "generationConfig";
    check.members(
        at,
        config,
        "temperature:num topP:num topK:num candidateCount:count maxOutputTokens:count stopSequences:list presencePenalty:num \
         frequencyPenalty:num seed:int responseLogprobs:bool logprobs:count responseMimeType:text responseSchema:obj \
         responseJsonSchema:obj responseModalities:list mediaResolution:text speechConfig:obj thinkingConfig:obj \
         imageConfig:obj enableEnhancedCivicAnswers:bool audioTranscriptionConfig:obj",
    );
    check.range(at, &config["temperature"], 0.0, 2.0);
    check.range(at, &config["topP"], 0.0, 1.0);
    check.range(at, &config["topK"], 1.0, f64::MAX);
    check.range(at, &config["candidateCount"], 1.0, 8.0);
    check.range(at, &config["maxOutputTokens"], 1.0, f64::from(i32::MAX));
    check.range(at, &config["presencePenalty"], -2.0, 1.999_999);
    check.range(at, &config["frequencyPenalty"], -2.0, 1.999_999);
    check.range(at, &config["seed"], f64::from(i32::MIN), f64::from(i32::MAX));
    check.range(at, &config["logprobs"], 0.0, 20.0);
    let stops = list(&config["stopSequences"]);
    check.require(stops.len() <= 5, at, "at most 5 stop sequences");
    let is_text = |stop: &Value| stop.as_str().is_some_and(|stop| !stop.is_empty());
    check.require(stops.iter().all(is_text), at, "an empty stop sequence");
    let wants_logprobs = config["responseLogprobs"] == true;
    check.require(config["logprobs"].is_null() || wants_logprobs, at, "logprobs without responseLogprobs");
    for modality in list(&config["responseModalities"]) {
        check.word(at, modality, &["TEXT", "IMAGE", "AUDIO", "VIDEO", "DOCUMENT"]);
    }
    form(check, config);
    thinking(check, &config["thinkingConfig"]);
}

/// The form of the answer.
fn form(check: &mut Check, config: &Value) {
    let at = "generationConfig";
    let mime = config["responseMimeType"].as_str().unwrap_or("text/plain");
    check.require(
        matches!(mime, "text/plain" | "application/json" | "text/x.enum"),
        at,
        format!("unknown type {mime:?}"),
    );
    let has = |name: &str| config.get(name).is_some();
    let has_schema = has("responseSchema") || has("responseJsonSchema");
    check.require(!has_schema || mime != "text/plain", at, "a response schema needs a responseMimeType");
    check.require(!(has("responseSchema") && has("responseJsonSchema")), at, "two response schemas");
    if has("responseSchema") {
        schema::check(check, "generationConfig.responseSchema", &config["responseSchema"]);
    }
}

fn thinking(check: &mut Check, thinking: &Value) {
    let at = "generationConfig.thinkingConfig";
    if !thinking.is_null() {
        check.members(
            at,
            thinking,
            "includeThoughts:bool thinkingBudget:int thinkingLevel:(MINIMAL|LOW|MEDIUM|HIGH|XHIGH|minimal|low|medium|high|xhigh)",
        );
        check.range(at, &thinking["thinkingBudget"], -1.0, 32_768.0);
        let both = !thinking["thinkingBudget"].is_null() && !thinking["thinkingLevel"].is_null();
        check.require(!both, at, "thinkingBudget and thinkingLevel exclude each other");
    }
}
