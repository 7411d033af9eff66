//! Contents and their parts.

use serde_json::Value;

use super::super::check::{Check, list};

/// The members of a part that say what it is; one of them has to be there.
const DATA: [&str; 9] = [
    "text",
    "inlineData",
    "fileData",
    "functionCall",
    "functionResponse",
    "executableCode",
    "codeExecutionResult",
    "toolCall",
    "toolResponse",
];

/// A part, and whether it stands in a request.
pub(super) fn part(check: &mut Check, at: &str, part: &Value, is_request: bool) {
    check.members(
        at,
        part,
        "text:str inlineData:obj fileData:obj functionCall:obj functionResponse:obj executableCode:obj \
         codeExecutionResult:obj toolCall:obj toolResponse:obj thought:bool thoughtSignature:text mediaResolution:obj \
         mediaProcessing:str videoMetadata:obj documentMetadata:obj spreadsheetMetadata:obj audioMetadata:obj \
         speechMetadata:obj audioTranscription:obj partMetadata:obj",
    );
    let data = DATA.iter().filter(|name| part.get(name).is_some()).count();
    let is_signed = part["thoughtSignature"].is_string();
    check.require(data == 1 || data == 0 && is_signed, at, format!("{data} of the members of `data`, one is wanted"));
    if is_request && let Some(text) = part["text"].as_str() {
        check.require(!text.is_empty() || is_signed, at, "an empty text");
    }
    for (name, member) in part.as_object().into_iter().flatten() {
        self::member(check, &format!("{at}.{name}"), name, member);
    }
}

fn member(check: &mut Check, at: &str, name: &str, member: &Value) {
    match name {
        "inlineData" => {
            check.members(at, member, "mimeType:text! data:text! displayName:str");
            check.require(member["data"].as_str().is_some_and(is_base64), at, "data is no base64");
        }
        "fileData" => check.members(at, member, "mimeType:text fileUri:text! displayName:str"),
        "functionCall" => {
            check.members(at, member, "id:text name:text! args:obj");
            function_name(check, at, &member["name"]);
        }
        "functionResponse" => {
            check.members(at, member, "id:text name:text! response:obj! parts:list willContinue:bool scheduling:text");
            function_name(check, at, &member["name"]);
            for (index, inner) in list(&member["parts"]).iter().enumerate() {
                let at = format!("{at}.parts[{index}]");
                check.members(
                    &at,
                    inner,
                    "inlineData:obj fileData:obj mediaResolution:obj mediaProcessing:str videoMetadata:obj \
                     documentMetadata:obj spreadsheetMetadata:obj audioMetadata:obj",
                );
                for (name, member) in inner.as_object().into_iter().flatten() {
                    self::member(check, &format!("{at}.{name}"), name, member);
                }
            }
        }
        "executableCode" => check.members(at, member, "id:text language:(PYTHON|LANGUAGE_UNSPECIFIED)! code:str!"),
        "codeExecutionResult" => {
            let spec = "id:text outcome:(OUTCOME_OK|OUTCOME_FAILED|OUTCOME_DEADLINE_EXCEEDED)! output:str";
            check.members(at, member, spec);
        }
        "toolCall" => check.members(at, member, "id:text toolType:text! args:obj"),
        "toolResponse" => check.members(at, member, "id:text toolType:text! response:obj"),
        "thoughtSignature" => {
            let signature = member.as_str().unwrap_or_default();
            let is_skip =
                matches!(signature, "skip_thought_signature_validator" | "context_engineering_is_the_way_to_go");
            check.require(is_skip || is_base64(signature), at, format!("{signature:?} is no base64"));
        }
        _ => {}
    }
}

/// A function's name.
pub(super) fn function_name(check: &mut Check, at: &str, name: &Value) {
    let is_valid = |name: &str| {
        name.len() <= 128
            && name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
            && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_.:-".contains(&byte))
    };
    check.require(name.as_str().is_some_and(is_valid), at, format!("invalid function name {name}"));
}

/// Base64 in either alphabet, padded or not, as protocol buffers are read.
fn is_base64(text: &str) -> bool {
    let body = text.trim_end_matches('=');
    body.len() % 4 != 1 && body.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+/-_".contains(&byte))
}

/// The turns of a conversation.
pub(super) fn conversation(check: &mut Check, contents: &[Value]) {
    let mut calls: Option<Vec<&Value>> = None;
    let mut last = "";
    for (index, content) in contents.iter().enumerate() {
        let at = format!("contents[{index}]");
        check.members(&at, content, "role:(user|model) parts:list!");
        let role = content["role"].as_str().unwrap_or("user");
        let parts = list(&content["parts"]);
        check.require(!parts.is_empty(), &at, "parts must not be empty");
        for (index, part) in parts.iter().enumerate() {
            self::part(check, &format!("{at}.parts[{index}]"), part, true);
        }
        let own: Vec<&Value> = parts.iter().map(|part| &part["functionCall"]).filter(|call| call.is_object()).collect();
        let responses: Vec<&Value> =
            parts.iter().map(|part| &part["functionResponse"]).filter(|one| one.is_object()).collect();
        check.require(own.is_empty() || role == "model", &at, "a function call of the user");
        check.require(responses.is_empty() || role == "user", &at, "a function response of the model");
        match calls.take() {
            Some(calls) => answers(check, &at, &calls, &responses),
            None => {
                check.require(responses.is_empty(), &at, "a function response turn has to come right after a call turn")
            }
        }
        if !own.is_empty() {
            check.require(
                last != "model" && index > 0,
                &at,
                "a function call turn has to come right after a user turn",
            );
            calls = Some(own);
        }
        last = role;
    }
    check.require(calls.is_none(), "contents", "the last call has no response");
}

/// Whether the responses are those to the calls.
fn answers(check: &mut Check, at: &str, calls: &[&Value], responses: &[&Value]) {
    check.require(
        calls.len() == responses.len(),
        at,
        format!("{} function responses to {} calls", responses.len(), calls.len()),
    );
    for (call, response) in calls.iter().zip(responses) {
        let ids = (call["id"].as_str(), response["id"].as_str());
        let is_same = call["name"] == response["name"] && (ids.0 == ids.1 || ids.0.is_none() || ids.1.is_none());
        check.require(is_same, at, format!("the response {response} to the call {call}"));
    }
}
