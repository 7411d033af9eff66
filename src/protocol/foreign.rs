//! Takes thinking that another vendor made out of a request that is passed on.
//!
//! A conversation can change its upstream from one turn to the next: by failover, or because an operator wants it. What the former
//! one sealed the client sends back, and the new one would refuse it. All else keeps its bytes as long as there is nothing to take out.

use memchr::memmem;
use serde_json::{Value, json};

use super::convert::seal::{self, Family};
use super::dialect::Dialect;
use super::gemini::SKIP_SIGNATURE;

/// The body without thinking of other vendors and without signatures that nobody made; `None` if there is none, which costs one
/// look at the bytes, at Claude two.
pub fn without_foreign_thinking(dialect: Dialect, body: &[u8]) -> Option<Vec<u8>> {
    // Gemini's clients keep signatures as base64.
    let mark = if dialect == Dialect::Gemini { seal::ENCODED_MARK } else { seal::MARK };
    let is_suspicious =
        memmem::find(body, mark.as_bytes()).is_some() || (dialect == Dialect::Claude && has_empty_signature(body));
    if !is_suspicious {
        return None;
    }
    let mut request: Value = serde_json::from_slice(body).ok()?;
    let is_changed = match dialect {
        Dialect::OpenAiChat => remove_details(&mut request),
        Dialect::OpenAiResponses => remove_reasoning(&mut request),
        Dialect::Claude => remove_thinking(&mut request),
        Dialect::Gemini => replace_signatures(&mut request),
    };
    if is_changed { serde_json::to_vec(&request).ok() } else { None }
}

fn has_empty_signature(body: &[u8]) -> bool {
    const NAME: &[u8] = b"\"signature\":";
    memmem::find_iter(body, NAME)
        .any(|at| body.get(at + NAME.len()..).is_some_and(|value| value.trim_ascii_start().starts_with(b"\"\"")))
}

fn list<'a>(value: &'a mut Value, name: &str) -> Option<&'a mut Vec<Value>> {
    value.get_mut(name)?.as_array_mut()
}

/// Thinking that a Chat client keeps beside its messages was sealed where it was converted; a vendor of Chat Completions gets
/// back only what it gave itself.
fn remove_details(request: &mut Value) -> bool {
    let is_foreign = |detail: &Value| {
        let sealed = ["signature", "data", "encrypted_content"].iter().filter_map(|name| detail.get(*name)?.as_str());
        sealed.map(seal::unseal).any(|unsealed| unsealed.is_some())
    };
    let mut is_changed = false;
    for message in list(request, "messages").into_iter().flatten() {
        for name in ["thinking_blocks", "reasoning_details"] {
            let Some(details) = list(message, name) else { continue };
            let before = details.len();
            details.retain(|detail| !is_foreign(detail));
            is_changed |= details.len() != before;
            if let (true, Some(members)) = (details.is_empty(), message.as_object_mut()) {
                members.remove(name);
            }
        }
    }
    is_changed
}

fn remove_reasoning(request: &mut Value) -> bool {
    let Some(items) = list(request, "input") else { return false };
    let before = items.len();
    items.retain(|item| {
        item["type"] != "reasoning"
            || item["encrypted_content"].as_str().is_none_or(|sealed| seal::unseal(sealed).is_none())
    });
    items.len() != before
}

fn remove_thinking(request: &mut Value) -> bool {
    let is_foreign = |block: &Value| {
        let sealed = match block["type"].as_str() {
            Some("thinking") => block["signature"].as_str(),
            Some("redacted_thinking") => block["data"].as_str(),
            _ => return false,
        };
        sealed.is_none_or(|sealed| !seal::is_genuine(sealed))
    };
    let Some(messages) = list(request, "messages") else { return false };
    let mut is_changed = false;
    for message in messages.iter_mut() {
        let Some(blocks) = list(message, "content") else { continue };
        let before = blocks.len();
        blocks.retain(|block| !is_foreign(block));
        is_changed |= blocks.len() != before;
    }
    if !is_changed {
        return false;
    }
    messages.retain(|message| message["content"].as_array().is_none_or(|blocks| !blocks.is_empty()));
    // A model that thinks with a budget demands its thinking before the calls of the turn that goes on.
    let needs_thinking = messages.iter().rev().find(|message| message["role"] == "assistant").is_some_and(|message| {
        let blocks = message["content"].as_array().map(Vec::as_slice).unwrap_or_default();
        let has = |kind: &str| blocks.iter().any(|block| block["type"] == kind);
        has("tool_use") && !has("thinking") && !has("redacted_thinking")
    });
    let thinking = request.get_mut("thinking").filter(|thinking| thinking["type"] == "enabled");
    if let (true, Some(thinking)) = (needs_thinking, thinking) {
        *thinking = json!({"type": "disabled"});
    }
    true
}

fn replace_signatures(request: &mut Value) -> bool {
    let Some(contents) = list(request, "contents") else { return false };
    let mut is_changed = false;
    for content in contents {
        for part in list(content, "parts").into_iter().flatten() {
            let Some(members) = part.as_object_mut() else { continue };
            let is_call = members.contains_key("functionCall") || members.contains_key("function_call");
            for name in ["thoughtSignature", "thought_signature"] {
                let sealed = members.get(name).and_then(Value::as_str);
                let family = sealed.and_then(seal::unseal).map(|(family, _)| family);
                if family.is_none_or(|family| family == Family::Gemini) {
                    continue;
                }
                is_changed = true;
                if is_call {
                    members.insert(name.to_owned(), SKIP_SIGNATURE.into());
                } else {
                    members.remove(name);
                }
            }
        }
    }
    is_changed
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::convert::seal::{seal, seal_base64};

    fn clean(dialect: Dialect, request: &Value) -> Option<Value> {
        let cleaned = without_foreign_thinking(dialect, request.to_string().as_bytes())?;
        serde_json::from_slice(&cleaned).ok()
    }

    /// B13: what this family has not signed goes, what it has stays, and thinking is turned off where it would be missed.
    #[test]
    fn claude_gets_its_own_thinking_only() {
        let foreign = seal(Family::Gemini, "c2ln");
        for signature in ["", foreign.as_str()] {
            let request = json!({"thinking": {"type": "enabled", "budget_tokens": 2000}, "messages": [
                {"role": "assistant", "content": [{"type": "thinking", "thinking": "hm", "signature": signature}]},
                {"role": "assistant", "content": [
                    {"type": "thinking", "thinking": "hm", "signature": signature}, {"type": "tool_use", "id": "t"}]},
                {"role": "user", "content": "next"}]});
            let expected = json!({"thinking": {"type": "disabled"}, "messages": [
                {"role": "assistant", "content": [{"type": "tool_use", "id": "t"}]},
                {"role": "user", "content": "next"}]});
            assert_eq!(clean(Dialect::Claude, &request), Some(expected));
        }
        let genuine = json!({"messages": [{"content": [{"type": "thinking", "thinking": "", "signature": "EqQB"}]}]});
        assert_eq!(clean(Dialect::Claude, &genuine), None);
        let quoted = json!({"messages": [{"content": "\"signature\":\"\" tollgate-"}]});
        assert_eq!(clean(Dialect::Claude, &quoted), None);
    }

    #[test]
    fn chat_gets_back_what_it_gave_itself() {
        let request = json!({"messages": [
            {"role": "assistant", "content": "a", "thinking_blocks": [{"type": "thinking", "signature": seal(Family::Claude, "x")}]},
            {"role": "assistant", "content": "b", "reasoning_details": [{"type": "reasoning.encrypted", "data": "own"}]}]});
        let expected = json!({"messages": [{"role": "assistant", "content": "a"},
            {"role": "assistant", "content": "b", "reasoning_details": [{"type": "reasoning.encrypted", "data": "own"}]}]});
        assert_eq!(clean(Dialect::OpenAiChat, &request), Some(expected));
    }

    #[test]
    fn openai_gets_its_own_reasoning_only() {
        let request = json!({"input": [
            {"type": "reasoning", "summary": [], "encrypted_content": seal(Family::Claude, "x")},
            {"type": "reasoning", "summary": [], "encrypted_content": "gAAA"}, {"role": "user", "content": "a"}]});
        let expected = json!({"input": [
            {"type": "reasoning", "summary": [], "encrypted_content": "gAAA"}, {"role": "user", "content": "a"}]});
        assert_eq!(clean(Dialect::OpenAiResponses, &request), Some(expected));
    }

    #[test]
    fn gemini_skips_what_it_has_not_signed() {
        let sealed = seal_base64(Family::Claude, "x");
        let request = json!({"contents": [{"parts": [
            {"text": "a", "thoughtSignature": sealed}, {"functionCall": {"name": "f"}, "thoughtSignature": sealed},
            {"functionCall": {"name": "g"}, "thoughtSignature": "c2ln"}]}]});
        let expected = json!({"contents": [{"parts": [
            {"text": "a"}, {"functionCall": {"name": "f"}, "thoughtSignature": SKIP_SIGNATURE},
            {"functionCall": {"name": "g"}, "thoughtSignature": "c2ln"}]}]});
        assert_eq!(clean(Dialect::Gemini, &request), Some(expected));
    }
}
