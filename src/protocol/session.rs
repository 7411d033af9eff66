//! Which conversation a request is part of, so that its prompts can be found in the cache of the account that had the earlier ones.
//!
//! A client that says it in a header costs a look at the headers. Otherwise the body is read: for the members in which known clients say
//! it, else for what all requests of a conversation begin with. Nothing is interpreted beyond that; two conversations that are taken for
//! one only share an account.

use http::HeaderMap;
use serde_json::value::RawValue;

use super::dialect::Dialect;
use super::hash::hash;
use super::json::{self, Object};
use super::request::ClientRequest;

/// The headers in which a client names its conversation, the surest first: any client, Claude Code, Codex, older Codex.
pub static SESSION_HEADERS: [&str; 5] =
    ["x-session-id", "x-claude-code-session-id", "session-id", "thread-id", "session_id"];

/// How much of what a conversation begins with counts, for each part of it.
const MAX_PART_BYTES: usize = 16 * 1024;

/// A number for the conversation that a request is part of; the same for all its requests, and another for each `caller`. `None` where
/// nothing tells.
pub fn identity(caller: &str, headers: &HeaderMap, request: &ClientRequest) -> Option<u64> {
    let seed = hash(0, caller.as_bytes());
    let said = SESSION_HEADERS.iter().filter_map(|name| headers.get(*name)).find(|value| !value.is_empty());
    if let Some(said) = said {
        return Some(hash(seed, said.as_bytes()));
    }
    let body = Object::parse(&request.body).ok()?;
    named(request.dialect, &body)
        .map(|name| hash(seed, name.as_bytes()))
        .or_else(|| prefix(seed, request.dialect, &body))
}

/// The name that a body gives its conversation.
fn named(dialect: Dialect, body: &Object<'_>) -> Option<String> {
    let text = |name| body.string(name).ok().flatten().filter(|text| !text.is_empty()).map(Into::into);
    match dialect {
        Dialect::OpenAiChat => text("prompt_cache_key"),
        Dialect::OpenAiResponses => conversation(body).or_else(|| text("prompt_cache_key")),
        Dialect::Claude => claude_session(body),
        Dialect::Gemini => None,
    }
}

fn conversation(body: &Object<'_>) -> Option<String> {
    let value = body.member("conversation").ok().flatten()?;
    let id = match body.object("conversation", value) {
        Ok(conversation) => conversation.string("id").ok().flatten()?.into_owned(),
        Err(_) => serde_json::from_str(value.get()).ok()?,
    };
    (!id.is_empty()).then_some(id)
}

/// Claude Code's `metadata.user_id` is an object in a string, which names the session; formerly the session stood at its end.
fn claude_session(body: &Object<'_>) -> Option<String> {
    let metadata = body.object("metadata", body.member("metadata").ok().flatten()?).ok()?;
    let user = metadata.string("user_id").ok().flatten()?;
    if user.trim_start().starts_with('{') {
        let user = Object::parse(user.as_bytes()).ok()?;
        return user.string("session_id").ok().flatten().filter(|id| !id.is_empty()).map(Into::into);
    }
    user.split_once("_session_").map(|(_, session)| session.to_owned()).filter(|session| !session.is_empty())
}

/// A hash of what all requests of a conversation begin with: instructions, tools and the first that the user said.
fn prefix(seed: u64, dialect: Dialect, body: &Object<'_>) -> Option<u64> {
    let (instructions, turns): (&[&'static str], &'static str) = match dialect {
        Dialect::OpenAiChat => (&["tools"], "messages"),
        Dialect::OpenAiResponses => (&["instructions", "tools"], "input"),
        Dialect::Claude => (&["system", "tools"], "messages"),
        Dialect::Gemini => (&["systemInstruction", "system_instruction", "tools"], "contents"),
    };
    let member = |name: &'static str| body.member(name).ok().flatten();
    let part = |state: u64, value: &RawValue| {
        let text = value.get().as_bytes();
        hash(state, text.get(..MAX_PART_BYTES).unwrap_or(text))
    };
    let turns = member(turns)?;
    let state = instructions.iter().filter_map(|name| member(name)).fold(seed, part);
    if !turns.get().starts_with('[') {
        return Some(part(state, turns));
    }
    // Instructions may stand among the turns as well, before the first of the user's.
    let mut state = state;
    for turn in json::elements_lazily(turns) {
        state = part(state, turn);
        if is_users(turn) {
            return Some(state);
        }
    }
    None
}

/// Whether a turn is the user's; Gemini's may leave out whose it is.
fn is_users(turn: &RawValue) -> bool {
    let role = Object::parse(turn.get().as_bytes()).ok().and_then(|turn| Some(turn.string("role").ok()??.into_owned()));
    role.is_none_or(|role| role == "user")
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use http::HeaderValue;

    use super::*;
    use crate::protocol::operation::Operation;

    fn identity_of(caller: &str, dialect: Dialect, header: Option<(&'static str, &str)>, body: &str) -> Option<u64> {
        let mut headers = HeaderMap::new();
        if let Some((name, value)) = header {
            headers.insert(name, HeaderValue::from_str(value).unwrap());
        }
        let body = Bytes::from(body.to_owned());
        let request = match dialect {
            Dialect::Gemini => ClientRequest::from_gemini_path(Operation::Generate, "m".to_owned(), false, body),
            _ => ClientRequest::from_body(dialect, Operation::Generate, body),
        };
        identity(caller, &headers, &request.unwrap())
    }

    #[track_caller]
    fn check_same(dialect: Dialect, one: &str, other: &str, expected: bool) {
        let (first, second) = (identity_of("k", dialect, None, one), identity_of("k", dialect, None, other));
        assert_eq!(first.is_some() && first == second, expected, "{one}\n{other}");
        assert_ne!(first, identity_of("other", dialect, None, one), "another caller's");
    }

    #[test]
    fn a_header_says_it_whatever_the_body_has() {
        for name in SESSION_HEADERS {
            let of = |value, body: &str| identity_of("k", Dialect::Claude, Some((name, value)), body);
            let (one, other) = (r#"{"model":"a","messages":[]}"#, r#"{"model":"b","messages":[{"role":"user"}]}"#);
            assert_eq!(of("s", one), of("s", other), "{name}");
            assert_ne!(of("s", one), of("t", one), "{name}");
            assert_ne!(of("s", one), identity_of("other", Dialect::Claude, Some((name, "s")), one));
            assert_ne!(of("", other), of("s", other));
        }
    }

    /// The fields in which known clients say it.
    #[test]
    fn a_body_that_names_its_conversation_is_taken_at_its_word() {
        use Dialect::{Claude, OpenAiChat, OpenAiResponses};
        for (dialect, name) in [
            (OpenAiChat, r#""prompt_cache_key":"NAME""#),
            (OpenAiResponses, r#""prompt_cache_key":"NAME""#),
            (OpenAiResponses, r#""conversation":"NAME""#),
            (OpenAiResponses, r#""conversation":{"id":"NAME"}"#),
            (Claude, r#""metadata":{"user_id":"{\"device_id\":\"d\",\"session_id\":\"NAME\"}"}"#),
            (Claude, r#""metadata":{"user_id":"user_0_account__session_NAME"}"#),
        ] {
            let body = |id: &str, text: &str| {
                let text = format!(r#"[{{"role":"user","content":"{text}"}}]"#);
                format!(r#"{{"model":"m",{},"messages":{text},"input":{text}}}"#, name.replace("NAME", id))
            };
            check_same(dialect, &body("1", "a"), &body("1", "b"), true);
            check_same(dialect, &body("1", "a"), &body("2", "a"), false);
        }
    }

    /// What a conversation begins with stays, whatever follows.
    #[test]
    fn otherwise_the_beginning_tells() {
        use Dialect::{Claude, Gemini, OpenAiChat, OpenAiResponses};
        for (dialect, instructions, turns, user) in [
            (OpenAiChat, r#""tools":[{"a":1}]"#, "messages", r#"{"role":"user","content":"hi"}"#),
            (OpenAiResponses, r#""instructions":"be good""#, "input", r#"{"role":"user","content":"hi"}"#),
            (Claude, r#""system":"be good""#, "messages", r#"{"role":"user","content":"hi"}"#),
            (Gemini, r#""systemInstruction":{"parts":[]}"#, "contents", r#"{"parts":[{"text":"hi"}]}"#),
        ] {
            let body = |instructions: &str, list: &str| format!(r#"{{"model":"m",{instructions},"{turns}":[{list}]}}"#);
            let first = body(instructions, user);
            let later = body(instructions, &format!(r#"{user},{{"role":"assistant","content":"ho"}},{user}"#));
            check_same(dialect, &first, &later, true);
            check_same(dialect, &first, &body(instructions, &user.replace("hi", "hello")), false);
            check_same(dialect, &first, &body(r#""tools":[{"b":2}]"#, user), false);
            let system = r#"{"role":"developer","content":"x"}"#;
            check_same(dialect, &first, &body(instructions, &format!("{system},{user}")), false);
        }
        check_same(OpenAiResponses, r#"{"input":"a","x":1}"#, r#"{"input":"a","x":2}"#, true);
        for body in [r#"{"messages":[]}"#, "{}", r#"{"messages":[{"role":"assistant"}]}"#] {
            assert_eq!(identity_of("k", Claude, None, body), None, "{body}");
        }
    }
}
