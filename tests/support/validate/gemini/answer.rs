//! Answers, whole and in events.

use serde_json::Value;

use super::super::check::{Check, list};
use super::content;

const FINISH_REASONS: [&str; 22] = [
    "STOP",
    "MAX_TOKENS",
    "SAFETY",
    "RECITATION",
    "LANGUAGE",
    "OTHER",
    "BLOCKLIST",
    "PROHIBITED_CONTENT",
    "SPII",
    "MALFORMED_FUNCTION_CALL",
    "IMAGE_SAFETY",
    "IMAGE_PROHIBITED_CONTENT",
    "IMAGE_RECITATION",
    "IMAGE_OTHER",
    "NO_IMAGE",
    "UNEXPECTED_TOOL_CALL",
    "TOO_MANY_TOOL_CALLS",
    "MISSING_THOUGHT_SIGNATURE",
    "MALFORMED_RESPONSE",
    "ESCALATION",
    "PUP_LIMITED_DISABLED",
    "CONTINUATION",
];

/// A whole answer.
pub(super) fn whole(check: &mut Check, body: &Value) {
    event(check, "", body);
    for (index, candidate) in list(&body["candidates"]).iter().enumerate() {
        check.require(candidate["finishReason"].is_string(), &format!("candidates[{index}]"), "without finishReason");
    }
    let has_candidates = !list(&body["candidates"]).is_empty();
    check.require(has_candidates || is_blocked(body), "", "neither candidates nor a blockReason");
    check.require(
        body["modelVersion"].is_string() && body["responseId"].is_string(),
        "",
        "without modelVersion or responseId",
    );
}

/// The events of a stream.
pub(super) fn stream(events: &[(String, String)]) -> Vec<String> {
    let mut check = Check::default();
    let mut finished: Vec<u64> = Vec::new();
    let mut seen: Vec<u64> = Vec::new();
    let (mut is_over, mut is_blocked, mut has_usage) = (false, false, false);
    let mut names: Option<(Value, Value)> = None;
    for (place, (name, data)) in events.iter().enumerate() {
        let at = format!("event {place}");
        check.require(name.is_empty(), &at, "has a name");
        check.require(!is_over, &at, "after an error");
        let Ok(value) = serde_json::from_str::<Value>(data) else {
            check.fault(&at, "no JSON");
            continue;
        };
        if value.get("error").is_some() {
            error(&mut check, &at, &value);
            is_over = true;
            continue;
        }
        event(&mut check, &at, &value);
        let own = (value["modelVersion"].clone(), value["responseId"].clone());
        let is_same = names.as_ref().is_none_or(|names| *names == own);
        check.require(is_same, &at, "another modelVersion or responseId");
        check.require(own.0.is_string() && own.1.is_string(), &at, "without modelVersion or responseId");
        names = Some(own);
        is_blocked |= self::is_blocked(&value);
        let had_usage = has_usage;
        has_usage = value["usageMetadata"].is_object();
        check.require(!had_usage || has_usage, &at, "the usageMetadata before is not the last");
        for candidate in list(&value["candidates"]) {
            let index = candidate["index"].as_u64().unwrap_or_default();
            check.require(!finished.contains(&index), &at, format!("candidate {index} after its finishReason"));
            if !seen.contains(&index) {
                seen.push(index);
            }
            if candidate["finishReason"].is_string() {
                finished.push(index);
            }
        }
    }
    let is_finished = !seen.is_empty() && seen.iter().all(|index| finished.contains(index));
    check.require(is_over || is_blocked || is_finished, "the end", "neither finishReason nor error came");
    check.faults
}

fn error(check: &mut Check, at: &str, value: &Value) {
    check.members(at, value, "error:obj!");
    check.members(at, &value["error"], "code:count! message:str! status:text! details:list");
    for detail in list(&value["error"]["details"]) {
        check.require(detail["@type"].is_string(), at, "a detail without @type");
    }
}

fn is_blocked(value: &Value) -> bool {
    value["promptFeedback"]["blockReason"].is_string()
}

fn event(check: &mut Check, at: &str, value: &Value) {
    check.members(
        at,
        value,
        "candidates:list promptFeedback:obj usageMetadata:obj modelVersion:text responseId:text modelStatus:obj createTime:text",
    );
    if value["usageMetadata"].is_object() {
        usage(check, &format!("{at}.usageMetadata"), &value["usageMetadata"]);
    }
    for (index, candidate) in list(&value["candidates"]).iter().enumerate() {
        self::candidate(check, &format!("{at}.candidates[{index}]"), candidate);
    }
}

fn candidate(check: &mut Check, at: &str, candidate: &Value) {
    check.members(
        at,
        candidate,
        "index:count content:obj finishReason:text finishMessage:str continuationToken:text safetyRatings:list \
         citationMetadata:obj groundingMetadata:obj urlContextMetadata:obj tokenCount:count avgLogprobs:num \
         logprobsResult:obj",
    );
    check.word(at, &candidate["finishReason"], &FINISH_REASONS);
    let content = &candidate["content"];
    if content.is_object() {
        check.members(at, content, "role:(model)! parts:list");
        for (index, part) in list(&content["parts"]).iter().enumerate() {
            let at = format!("{at}.parts[{index}]");
            content::part(check, &at, part, false);
            check.require(part.get("functionResponse").is_none(), &at, "a functionResponse of the model");
        }
    }
    let grounding = &candidate["groundingMetadata"];
    if grounding.is_object() {
        check.members(
            at,
            grounding,
            "webSearchQueries:list imageSearchQueries:list searchEntryPoint:obj groundingChunks:list groundingSupports:list \
             retrievalMetadata:obj googleMapsWidgetContextToken:text",
        );
        let chunks = list(&grounding["groundingChunks"]).len() as u64;
        for support in list(&grounding["groundingSupports"]) {
            let spec = "segment:obj groundingChunkIndices:list confidenceScores:list renderedParts:list";
            check.members(at, support, spec);
            check.members(at, &support["segment"], "partIndex:count startIndex:count endIndex:count text:str");
            let is_known = |index: &Value| index.as_u64().is_some_and(|index| index < chunks);
            check.require(list(&support["groundingChunkIndices"]).iter().all(is_known), at, "an index without a chunk");
        }
    }
}

fn usage(check: &mut Check, at: &str, usage: &Value) {
    check.members(
        at,
        usage,
        "promptTokenCount:count cachedContentTokenCount:count candidatesTokenCount:count thoughtsTokenCount:count \
         toolUsePromptTokenCount:count totalTokenCount:count! promptTokensDetails:list cacheTokensDetails:list \
         candidatesTokensDetails:list toolUsePromptTokensDetails:list serviceTier:text trafficType:text",
    );
    let count = |name: &str| usage[name].as_u64().unwrap_or_default();
    let parts = ["promptTokenCount", "candidatesTokenCount", "thoughtsTokenCount", "toolUsePromptTokenCount"];
    let sum: u64 = parts.iter().map(|name| count(name)).sum();
    check.require(count("totalTokenCount") == sum, at, format!("the total is not the sum {sum}"));
}
