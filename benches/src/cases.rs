//! What is measured: the same requests against each subject.

use std::net::SocketAddr;
use std::rc::Rc;

/// The gateway key in every request.
pub const KEY: &str = "tg-bench-0123456789abcdef";

/// One case.
#[derive(Clone, Copy)]
pub struct Case {
    /// The name that it is printed under.
    pub name: &'static str,
    /// Connections at once; each sends its next request when the answer is complete.
    pub connections: usize,
    /// Whether the answer is streamed.
    pub stream: bool,
    /// Whether a streaming client asks for usage by itself. If not, the gateway has to ask and to take the answer out again.
    pub asks_for_usage: bool,
    /// What the client speaks. The vendor always speaks Chat Completions.
    pub client: Client,
}

/// What a client speaks.
#[derive(Clone, Copy)]
pub enum Client {
    Chat,
    Responses,
    Claude,
    Gemini,
}

/// Chat completions, buffered, few connections and many, and streamed in 100 events.
pub const CASES: [Case; 4] = [
    Case { name: "chat_16", connections: 16, stream: false, asks_for_usage: false, client: Client::Chat },
    Case { name: "chat_64", connections: 64, stream: false, asks_for_usage: false, client: Client::Chat },
    Case { name: "stream_16", connections: 16, stream: true, asks_for_usage: true, client: Client::Chat },
    Case {
        name: "stream_16_usage_unasked",
        connections: 16,
        stream: true,
        asks_for_usage: false,
        client: Client::Chat,
    },
];

/// A stream that passes, and the same stream for clients that do not understand it.
pub const CONVERTED: [Case; 4] = [
    Case { name: "stream_16", connections: 16, stream: true, asks_for_usage: true, client: Client::Chat },
    Case { name: "responses_16", connections: 16, stream: true, asks_for_usage: true, client: Client::Responses },
    Case { name: "claude_16", connections: 16, stream: true, asks_for_usage: true, client: Client::Claude },
    Case { name: "gemini_16", connections: 16, stream: true, asks_for_usage: true, client: Client::Gemini },
];

/// The case of that name.
pub fn by_name(name: &str) -> Option<Case> {
    CASES.iter().chain(&CONVERTED).copied().find(|case| case.name == name)
}

impl Case {
    /// The request as bytes.
    pub fn request(&self, address: SocketAddr) -> Rc<[u8]> {
        let (path, body) = self.path_and_body();
        let head = format!(
            "POST {path} HTTP/1.1\r\nhost: {address}\r\nauthorization: Bearer {KEY}\r\ncontent-type: application/json\r\nuser-agent: OpenAI/Python 3.57.0\r\naccept: application/json\r\ncontent-length: {}\r\n\r\n",
            body.len()
        );
        (head + &body).into_bytes().into()
    }

    fn path_and_body(&self) -> (&'static str, String) {
        let Self { stream, .. } = self;
        let (system, question) = ("You are a helpful assistant.", "Say something about a fox and a dog.");
        let options = if self.asks_for_usage { r#""stream_options":{"include_usage":true},"# } else { "" };
        match self.client {
            Client::Chat => (
                "/v1/chat/completions",
                format!(
                    r#"{{"model":"bench/gpt-bench","stream":{stream},{options}"messages":[{{"role":"system","content":"{system}"}},{{"role":"user","content":"{question}"}}]}}"#
                ),
            ),
            Client::Responses => (
                "/v1/responses",
                format!(
                    r#"{{"model":"bench/gpt-bench","stream":{stream},"instructions":"{system}","input":"{question}"}}"#
                ),
            ),
            Client::Claude => (
                "/v1/messages",
                format!(
                    r#"{{"model":"bench/gpt-bench","stream":{stream},"max_tokens":1000,"system":"{system}","messages":[{{"role":"user","content":"{question}"}}]}}"#
                ),
            ),
            Client::Gemini => (
                "/v1beta/models/bench%2Fgpt-bench:streamGenerateContent?alt=sse",
                format!(
                    r#"{{"systemInstruction":{{"parts":[{{"text":"{system}"}}]}},"contents":[{{"role":"user","parts":[{{"text":"{question}"}}]}}]}}"#
                ),
            ),
        }
    }
}
