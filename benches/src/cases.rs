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
}

/// Chat completions, buffered, few connections and many, and streamed in 100 events.
pub const CASES: [Case; 4] = [
    Case { name: "chat_16", connections: 16, stream: false, asks_for_usage: false },
    Case { name: "chat_64", connections: 64, stream: false, asks_for_usage: false },
    Case { name: "stream_16", connections: 16, stream: true, asks_for_usage: true },
    Case { name: "stream_16_usage_unasked", connections: 16, stream: true, asks_for_usage: false },
];

/// The case of that name.
pub fn by_name(name: &str) -> Option<Case> {
    CASES.iter().copied().find(|case| case.name == name)
}

impl Case {
    /// The request as bytes.
    pub fn request(&self, address: SocketAddr) -> Rc<[u8]> {
        let Self { stream, .. } = self;
        let options = if self.asks_for_usage { r#""stream_options":{"include_usage":true},"# } else { "" };
        let body = format!(
            r#"{{"model":"bench/gpt-bench","stream":{stream},{options}"messages":[{{"role":"system","content":"You are a helpful assistant."}},{{"role":"user","content":"Say something about a fox and a dog."}}]}}"#
        );
        let head = format!(
            "POST /v1/chat/completions HTTP/1.1\r\nhost: {address}\r\nauthorization: Bearer {KEY}\r\ncontent-type: application/json\r\nuser-agent: OpenAI/Python 3.57.0\r\naccept: application/json\r\ncontent-length: {}\r\n\r\n",
            body.len()
        );
        (head + &body).into_bytes().into()
    }
}
