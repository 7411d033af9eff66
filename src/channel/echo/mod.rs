//! Answers from inside the gateway: repeats the last text of the user, in any dialect, buffered and streamed.
//!
//! A new user sees an answer without any account, and a load test needs no upstream.

#![expect(clippy::indexing_slicing, reason = "indexing a JSON value gives null where there is nothing")]

mod claude;
mod gemini;
mod openai_chat;
mod openai_responses;

use bytes::Bytes;
use http::header::{CONTENT_TYPE, HeaderValue};
use http::{HeaderMap, StatusCode};
use serde_json::{Value, json};

use super::endpoint::Endpoint;
use super::{Call, Channel, ChannelError, Dispatch};
use crate::platform::body::Body;
use crate::platform::fetch::UpstreamResponse;
use crate::protocol::dialect::Dialect;
use crate::protocol::operation::Operation;
use crate::protocol::sse::event;

/// The channel.
pub struct Echo;

impl Channel for Echo {
    fn id(&self) -> &'static str {
        "echo"
    }

    fn default_base_url(&self) -> Option<&'static str> {
        None
    }

    fn dialects(&self) -> &'static [Dialect] {
        &Dialect::ALL
    }

    fn needs_credential(&self) -> bool {
        false
    }

    fn prepare(&self, _endpoint: &Endpoint, _secret: Option<&str>, call: &Call<'_>) -> Result<Dispatch, ChannelError> {
        let request: Value =
            serde_json::from_slice(&call.body).map_err(|error| ChannelError::Invalid(error.to_string()))?;
        match call.operation {
            Operation::Generate => generate(call, &request),
            Operation::CountTokens => Ok(count_tokens(call.dialect, estimate_tokens(&request))),
            operation => Err(ChannelError::Unsupported { dialect: call.dialect, operation }),
        }
    }
}

/// What to say, and the figures around it.
struct Reply<'a> {
    request_id: &'a str,
    model: &'a str,
    /// Seconds since the epoch.
    created: i64,
    text: String,
    input_tokens: u64,
    output_tokens: u64,
}

impl Reply<'_> {
    /// The text in the pieces of a stream: each word with the space before it.
    fn pieces(&self) -> impl Iterator<Item = &str> {
        let mut rest = self.text.as_str();
        std::iter::from_fn(move || {
            if rest.is_empty() {
                return None;
            }
            let first = rest.chars().next().map_or(0, char::len_utf8);
            let end = rest.get(first..).and_then(|tail| tail.find(' ')).map_or(rest.len(), |at| at + first);
            let (piece, tail) = rest.split_at(end);
            rest = tail;
            Some(piece)
        })
    }
}

fn generate(call: &Call<'_>, request: &Value) -> Result<Dispatch, ChannelError> {
    let turns = match call.dialect {
        Dialect::OpenAiChat | Dialect::Claude => "messages",
        Dialect::OpenAiResponses => "input",
        Dialect::Gemini => "contents",
    };
    let text = last_user_text(&request[turns])
        .ok_or_else(|| ChannelError::Invalid(format!("`{turns}` holds no text of a user to repeat")))?;
    let reply = Reply {
        request_id: call.request_id,
        model: call.model,
        created: call.now.seconds(),
        input_tokens: estimate_tokens(request),
        output_tokens: tokens_of(text.len()),
        text,
    };
    Ok(match (call.dialect, call.stream) {
        (Dialect::OpenAiChat, false) => json_answer(&openai_chat::buffered(&reply)),
        (Dialect::OpenAiChat, true) => event_stream(openai_chat::streamed(&reply, request)),
        (Dialect::OpenAiResponses, false) => json_answer(&openai_responses::buffered(&reply)),
        (Dialect::OpenAiResponses, true) => event_stream(openai_responses::streamed(&reply)),
        (Dialect::Claude, false) => json_answer(&claude::buffered(&reply)),
        (Dialect::Claude, true) => event_stream(claude::streamed(&reply)),
        (Dialect::Gemini, false) => json_answer(&gemini::buffered(&reply)),
        (Dialect::Gemini, true) if call.query.is_some_and(|query| query.split('&').any(|pair| pair == "alt=sse")) => {
            event_stream(gemini::streamed(&reply).iter().map(|chunk| event(None, chunk)).collect())
        }
        (Dialect::Gemini, true) => json_answer(&gemini::streamed(&reply).into()),
    })
}

fn count_tokens(dialect: Dialect, tokens: u64) -> Dispatch {
    json_answer(&match dialect {
        Dialect::OpenAiChat | Dialect::OpenAiResponses => {
            json!({"object": "response.input_tokens", "input_tokens": tokens})
        }
        Dialect::Claude => json!({"input_tokens": tokens}),
        Dialect::Gemini => json!({"totalTokens": tokens}),
    })
}

/// The text of the last turn that is a user's. Turns are objects with a role (Gemini may leave it out) and text in
/// `content` or `parts`; Responses also takes one string for all of it.
fn last_user_text(turns: &Value) -> Option<String> {
    if let Some(text) = turns.as_str() {
        return Some(text.to_owned());
    }
    let is_user = |turn: &&Value| turn["role"].as_str().is_none_or(|role| role == "user");
    turns.as_array()?.iter().rev().filter(is_user).map(turn_text).find(|text| !text.is_empty())
}

fn turn_text(turn: &Value) -> String {
    let content = if turn["content"].is_null() { &turn["parts"] } else { &turn["content"] };
    match content {
        Value::String(text) => text.clone(),
        Value::Array(parts) => {
            let texts: Vec<&str> = parts.iter().filter_map(|part| part["text"].as_str()).collect();
            texts.join("\n")
        }
        _ => String::new(),
    }
}

/// The strings of a request at about four bytes a token.
fn estimate_tokens(request: &Value) -> u64 {
    fn bytes(value: &Value) -> usize {
        match value {
            Value::String(text) => text.len(),
            Value::Array(values) => values.iter().map(bytes).sum(),
            Value::Object(members) => members.values().map(bytes).sum(),
            _ => 1,
        }
    }
    tokens_of(bytes(request))
}

fn tokens_of(bytes: usize) -> u64 {
    bytes.div_ceil(4).max(1) as u64
}

fn json_answer(value: &Value) -> Dispatch {
    answer("application/json", Body::Whole(value.to_string().into()))
}

fn event_stream(events: Vec<Bytes>) -> Dispatch {
    answer("text/event-stream; charset=utf-8", Body::from_chunks(events))
}

fn answer(content_type: &'static str, body: Body) -> Dispatch {
    let headers = HeaderMap::from_iter([(CONTENT_TYPE, HeaderValue::from_static(content_type))]);
    Dispatch::Answer(UpstreamResponse { status: StatusCode::OK, headers, body })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_text_of_the_user_is_found() {
        let check = |turns: Value, expected: Option<&str>| assert_eq!(last_user_text(&turns).as_deref(), expected);
        check(json!("hi"), Some("hi"));
        check(json!([{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}]), Some("a"));
        check(
            json!([{"role": "user", "content": [{"type": "text", "text": "a"}, {"type": "image"}, {"text": "b"}]}]),
            Some("a\nb"),
        );
        check(json!([{"parts": [{"text": "a"}]}, {"role": "model", "parts": [{"text": "b"}]}]), Some("a"));
        check(
            json!([{"role": "user", "content": "a"}, {"role": "user", "content": [{"type": "tool_result"}]}]),
            Some("a"),
        );
        check(json!([]), None);
        check(json!({"role": "user"}), None);
        check(Value::Null, None);
    }

    #[test]
    fn pieces_make_up_the_text() {
        let reply = |text: &str| Reply {
            request_id: "r",
            model: "m",
            created: 0,
            text: text.to_owned(),
            input_tokens: 1,
            output_tokens: 1,
        };
        for text in ["", "one", "one two  three ", " é 北京 x"] {
            assert_eq!(reply(text).pieces().collect::<String>(), text);
        }
        assert_eq!(reply("one two").pieces().collect::<Vec<_>>(), ["one", " two"]);
    }
}
