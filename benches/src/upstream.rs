//! A mock vendor that costs as little as possible, so that the system under test is what is measured.

use std::rc::Rc;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

use crate::http1::{MessageReader, Progress};

/// How the mock writes a stream of events.
#[derive(Clone, Copy)]
pub struct StreamShape {
    pub events: usize,
    /// Events per write; each event is an HTTP chunk of its own.
    pub burst: usize,
}

impl Default for StreamShape {
    fn default() -> Self {
        Self { events: 100, burst: 10 }
    }
}

/// Serves for ever on `listener`, on the current thread.
pub async fn serve(listener: TcpListener, shape: StreamShape) -> std::io::Result<()> {
    let answers = Rc::new(Answers::new(shape));
    loop {
        let (stream, _) = listener.accept().await?;
        stream.set_nodelay(true)?;
        tokio::task::spawn_local(connection(stream, answers.clone()));
    }
}

struct Answers {
    buffered: Vec<u8>,
    /// One entry a write.
    streamed: Vec<Vec<u8>>,
}

async fn connection(mut stream: TcpStream, answers: Rc<Answers>) -> std::io::Result<()> {
    let mut buffer = Vec::with_capacity(16 * 1024);
    let mut reader = MessageReader::default();
    loop {
        if stream.read_buf(&mut buffer).await? == 0 {
            return Ok(());
        }
        let Progress::Complete { body, end } = reader.advance(&buffer)? else { continue };
        if memchr::memmem::find(&buffer[body..end], b"\"stream\":true").is_some() {
            for burst in &answers.streamed {
                stream.write_all(burst).await?;
            }
        } else {
            stream.write_all(&answers.buffered).await?;
        }
        buffer.drain(..end);
        reader = MessageReader::default();
    }
}

impl Answers {
    fn new(shape: StreamShape) -> Self {
        let body = r#"{"id":"chatcmpl-bench","object":"chat.completion","created":1790000000,"model":"gpt-bench","choices":[{"index":0,"message":{"role":"assistant","content":"The quick brown fox jumps over the lazy dog, and then it does the same again.","refusal":null},"logprobs":null,"finish_reason":"stop"}],"usage":{"prompt_tokens":21,"completion_tokens":17,"total_tokens":38,"prompt_tokens_details":{"cached_tokens":0},"completion_tokens_details":{"reasoning_tokens":0}},"system_fingerprint":"fp_bench"}"#;
        let buffered = format!(
            "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nx-request-id: req_bench\r\ncontent-length: {}\r\n\r\n{body}",
            body.len()
        )
        .into_bytes();
        Self { buffered, streamed: stream_writes(shape) }
    }
}

fn stream_writes(shape: StreamShape) -> Vec<Vec<u8>> {
    let event = |choices: &str, usage: &str| {
        format!(
            "data: {{\"id\":\"chatcmpl-bench\",\"object\":\"chat.completion.chunk\",\"created\":1790000000,\"model\":\"gpt-bench\",\"system_fingerprint\":\"fp_bench\",\"choices\":[{choices}],\"usage\":{usage}}}\n\n"
        )
    };
    let mut events: Vec<String> = (0..shape.events.saturating_sub(3))
        .map(|index| {
            event(&format!("{{\"index\":0,\"delta\":{{\"content\":\" word{index}\"}},\"finish_reason\":null}}"), "null")
        })
        .collect();
    events.push(event("{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}", "null"));
    events.push(event("", "{\"prompt_tokens\":21,\"completion_tokens\":97,\"total_tokens\":118}"));
    events.push("data: [DONE]\n\n".to_owned());

    let mut writes: Vec<Vec<u8>> = events
        .chunks(shape.burst.max(1))
        .map(|burst| burst.iter().flat_map(|event| format!("{:x}\r\n{event}\r\n", event.len()).into_bytes()).collect())
        .collect();
    let head = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream; charset=utf-8\r\nx-request-id: req_bench\r\ntransfer-encoding: chunked\r\n\r\n";
    writes[0].splice(0..0, head.iter().copied());
    if let Some(last) = writes.last_mut() {
        last.extend_from_slice(b"0\r\n\r\n");
    }
    writes
}
