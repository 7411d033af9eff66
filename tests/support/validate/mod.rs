//! Strict validators of the four dialects, as their vendors check: what a vendor would refuse is a fault here.

mod check;
mod claude;
mod gemini;
mod openai;
mod openai_chat;
mod openai_responses;
mod schema;

use serde_json::Value;
use tollgate::protocol::dialect::Dialect;

/// What a vendor would refuse in the body of a request for an answer.
pub fn request(dialect: Dialect, body: &Value) -> Vec<String> {
    match dialect {
        Dialect::OpenAiChat => openai_chat::request(body),
        Dialect::OpenAiResponses => openai_responses::request(body),
        Dialect::Claude => claude::request(body),
        Dialect::Gemini => gemini::request(body),
    }
}

/// What a client would not understand in a whole answer.
pub fn response(dialect: Dialect, body: &Value) -> Vec<String> {
    match dialect {
        Dialect::OpenAiChat => openai_chat::response(body),
        Dialect::OpenAiResponses => openai_responses::response(body),
        Dialect::Claude => claude::response(body),
        Dialect::Gemini => gemini::response(body),
    }
}

/// What a client would not understand in a stream, given as the names and the data of its events.
pub fn stream(dialect: Dialect, events: &[(String, String)]) -> Vec<String> {
    match dialect {
        Dialect::OpenAiChat => openai_chat::stream(events),
        Dialect::OpenAiResponses => openai_responses::stream(events),
        Dialect::Claude => claude::stream(events),
        Dialect::Gemini => gemini::stream(events),
    }
}

/// The events of a stream in bytes, as names and data.
pub fn events(text: &str) -> Vec<(String, String)> {
    let mut events = Vec::new();
    let mut sink = |event: tollgate::protocol::sse::Event<'_>| {
        let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
        events.push((text(event.name), text(event.data)));
    };
    let mut parser = tollgate::protocol::sse::Parser::default();
    parser.feed(text.as_bytes(), &mut sink);
    parser.finish(&mut sink);
    events
}
