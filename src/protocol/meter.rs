//! Reads usage, and how an answer ended, from the bytes that pass by.
//!
//! An event that only has to be forwarded is not parsed: most are told apart by the absence of one word.

use bytes::Bytes;
use memchr::memmem;
use serde::Deserialize;
use tollgate_macros::Read;

use super::convert::StreamFault;
use super::convert::whole::fault_in;
use super::dialect::Dialect;
use super::glance::{candidates, has_object, has_text, is_error, type_of};
use super::json::skim;
use super::sse::{self, Event};
use super::usage::Usage;
use super::{claude::usage::MessageUsage, gemini::usage::UsageMetadata};
use super::{openai_chat::usage::CompletionUsage, openai_responses::usage::ResponseUsage};

/// Longest buffered answer whose usage is read; that of a longer one is estimated.
const MAX_ANSWER_BYTES: usize = 16 * 1024 * 1024;

/// What was learnt from an answer's body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reading {
    /// The vendor's own figures; `None` when it gave none, or only zeros.
    pub usage: Option<Usage>,
    /// What the answer says of its own end.
    pub outcome: Outcome,
    /// Pieces of content seen, about one token each; for an estimate when there are no figures.
    pub pieces: u64,
}

/// What an answer says of its own end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// The dialect's mark of a proper end was there.
    Finished,
    /// The stream itself reported an error.
    Failed,
    /// Neither: the answer is cut short.
    Unfinished,
}

/// Watches one answer.
pub struct Meter {
    dialect: Dialect,
    framing: Framing,
    state: State,
}

enum Framing {
    Events(sse::Parser),
    Document { chunks: Vec<Bytes>, length: usize },
}

#[derive(Default)]
struct State {
    usage: Option<Usage>,
    claude: Option<MessageUsage>,
    /// The newest frame with Gemini's running total; parsed once, at the end.
    gemini: Vec<u8>,
    /// As far as can be told: it holds until more content comes.
    finished: bool,
    /// For certain: nothing of the dialect can follow.
    over: bool,
    failed: bool,
    /// What the stream reported when it failed.
    fault: Option<Box<StreamFault<'static>>>,
    pieces: u64,
    /// Gemini's answers that had a reason to end, as [`candidates`] tells them.
    ended: u64,
}

impl Meter {
    /// A meter for an answer in `dialect`, sent as a stream of events or as one JSON document.
    pub fn new(dialect: Dialect, events: bool) -> Self {
        let framing = if events {
            Framing::Events(sse::Parser::default())
        } else {
            Framing::Document { chunks: Vec::new(), length: 0 }
        };
        Self { dialect, framing, state: State::default() }
    }

    /// Sees the next bytes.
    pub fn chunk(&mut self, chunk: &Bytes) {
        match &mut self.framing {
            Framing::Events(parser) => {
                let (dialect, state) = (self.dialect, &mut self.state);
                parser.feed(chunk, &mut |event| state.event(dialect, event));
            }
            Framing::Document { chunks, length } => {
                *length += chunk.len();
                if *length > MAX_ANSWER_BYTES {
                    chunks.clear();
                } else {
                    chunks.push(chunk.clone());
                }
            }
        }
    }

    /// Whether the answer stands between two events, so that one may be put in.
    pub fn at_border(&self) -> bool {
        match &self.framing {
            Framing::Events(parser) => parser.at_border(),
            Framing::Document { .. } => false,
        }
    }

    /// Whether the answer has said that nothing more follows, well or badly. A reason to finish is not enough: figures may
    /// follow it, and other choices.
    pub fn has_ended(&self) -> bool {
        self.state.over || self.state.failed
    }

    /// What was learnt, when no more bytes come.
    pub fn finish(self) -> Reading {
        self.finish_with_fault().0
    }

    /// The same, and the error that a stream reported.
    pub fn finish_with_fault(mut self) -> (Reading, Option<StreamFault<'static>>) {
        match &mut self.framing {
            Framing::Events(parser) => {
                let (dialect, state) = (self.dialect, &mut self.state);
                parser.finish(&mut |event| state.event(dialect, event));
            }
            Framing::Document { chunks, length } => {
                self.state.pieces = length.div_ceil(4) as u64;
                if *length > MAX_ANSWER_BYTES {
                    // Too long to look at; that it came to its end is known from the connection.
                    self.state.finished = true;
                } else {
                    self.state.document(self.dialect, chunks);
                }
            }
        }
        let fault = self.state.fault.take().map(|fault| *fault);
        (self.state.reading(), fault)
    }
}

impl State {
    fn event(&mut self, dialect: Dialect, event: Event<'_>) {
        match dialect {
            Dialect::OpenAiChat => self.chat_event(event.data),
            Dialect::OpenAiResponses => self.responses_event(event),
            Dialect::Claude => self.claude_event(event),
            Dialect::Gemini => self.gemini_event(event.data),
        }
    }

    fn fail(&mut self, dialect: Dialect, data: &[u8]) {
        self.failed = true;
        self.fault.get_or_insert_with(|| Box::new(fault_in(dialect, data)));
    }

    fn chat_event(&mut self, data: &[u8]) {
        #[derive(Read)]
        struct Chunk {
            usage: Option<CompletionUsage>,
        }
        if data.starts_with(b"[DONE]") {
            (self.finished, self.over) = (true, true);
            return;
        }
        if has_object(data, b"\"error\"") && is_error(data) {
            return self.fail(Dialect::OpenAiChat, data);
        }
        self.pieces += 1;
        // Compatible vendors have been seen to leave out the `[DONE]`, so a reason to finish is an end as well, unless another
        // choice goes on. Others put an empty reason into every chunk.
        if memmem::find(data, b"\"finish_reason\"").is_some() {
            self.finished = has_text(data, b"\"finish_reason\"");
        }
        // Some vendors put zeros, or a growing total, into every chunk: the last that counts anything stands.
        if has_object(data, b"\"usage\"")
            && let Ok(Chunk { usage: Some(usage) }) = serde_json::from_slice(data)
        {
            self.newest(usage.into());
        }
    }

    fn responses_event(&mut self, event: Event<'_>) {
        #[derive(Read)]
        struct Terminal {
            response: Snapshot,
        }
        #[derive(Read)]
        struct Snapshot {
            usage: Option<ResponseUsage>,
        }
        let name = if event.name.is_empty() { type_of(event.data) } else { event.name };
        match name {
            b"response.completed" | b"response.incomplete" => (self.finished, self.over) = (true, true),
            b"response.failed" | b"error" => self.fail(Dialect::OpenAiResponses, event.data),
            _ => {
                self.pieces += u64::from(name.ends_with(b".delta"));
                return;
            }
        }
        if let Ok(Terminal { response: Snapshot { usage: Some(usage) } }) = serde_json::from_slice(event.data) {
            self.newest(usage.into());
        }
    }

    fn claude_event(&mut self, event: Event<'_>) {
        #[derive(Read)]
        struct Start {
            message: Delta,
        }
        #[derive(Read)]
        struct Delta {
            usage: Option<MessageUsage>,
        }
        let newer = match event.name {
            b"content_block_delta" => {
                self.pieces += 1;
                None
            }
            b"message_start" => serde_json::from_slice(event.data).ok().and_then(|Start { message }| message.usage),
            b"message_delta" => serde_json::from_slice(event.data).ok().and_then(|Delta { usage }| usage),
            b"message_stop" => {
                (self.finished, self.over) = (true, true);
                None
            }
            b"error" => {
                self.fail(Dialect::Claude, event.data);
                None
            }
            _ => None,
        };
        if let Some(newer) = newer {
            self.claude = Some(self.claude.take().unwrap_or_default().updated(newer));
        }
    }

    fn gemini_event(&mut self, data: &[u8]) {
        if has_object(data, b"\"error\"") && is_error(data) {
            return self.fail(Dialect::Gemini, data);
        }
        self.pieces += 1;
        // There is no mark of the end but the last reason, or that the prompt was blocked. What comes for an answer after its reason
        // does not undo it; another answer may still go on.
        if has_text(data, b"\"finishReason\"") || has_text(data, b"\"blockReason\"") {
            self.finished = true;
            self.ended |= candidates(data);
        } else if self.finished && candidates(data) & !self.ended != 0 {
            self.finished = false;
        }
        if memmem::find(data, b"\"usageMetadata\"").is_some() {
            self.gemini.clear();
            self.gemini.extend_from_slice(data);
        }
    }

    fn document(&mut self, dialect: Dialect, chunks: &[Bytes]) {
        let joined;
        let answer: &[u8] = match chunks {
            [] => return,
            [whole] => whole,
            several => {
                joined = several.concat();
                &joined
            }
        };
        // Gemini streams without `alt=sse` as one array; its last element has the final figures.
        if dialect == Dialect::Gemini && answer.trim_ascii_start().starts_with(b"[") {
            if let Ok(parts) = serde_json::from_slice::<Vec<&serde_json::value::RawValue>>(answer) {
                parts.iter().for_each(|part| self.gemini_event(part.get().as_bytes()));
            }
            return;
        }
        let Some(usage) = document_usage(dialect, answer) else { return };
        self.finished = true;
        self.newest(usage);
    }

    fn newest(&mut self, usage: Usage) {
        if !usage.is_zero() {
            self.usage = Some(usage);
        }
    }

    fn reading(mut self) -> Reading {
        if let Some(wire) = self.claude.take() {
            self.newest(wire.into());
        }
        if let Some(usage) = document_usage(Dialect::Gemini, &self.gemini) {
            self.newest(usage);
        }
        let outcome = match (self.failed, self.finished) {
            (true, _) => Outcome::Failed,
            (false, true) => Outcome::Finished,
            (false, false) => Outcome::Unfinished,
        };
        Reading { usage: self.usage, outcome, pieces: self.pieces }
    }
}

/// The usage of a whole JSON answer; `None` when it is not a whole object, zeros when it tells none.
fn document_usage(dialect: Dialect, answer: &[u8]) -> Option<Usage> {
    fn read<'a, U: Deserialize<'a> + Into<Usage>>(answer: &'a [u8], member: &str) -> Usage {
        skim::<Option<U>>(answer, member).flatten().map(Into::into).unwrap_or_default()
    }
    let answer = answer.trim_ascii();
    if !(answer.starts_with(b"{") && answer.ends_with(b"}")) {
        return None;
    }
    Some(match dialect {
        Dialect::OpenAiChat => read::<CompletionUsage>(answer, "usage"),
        Dialect::OpenAiResponses => read::<ResponseUsage>(answer, "usage"),
        Dialect::Claude => read::<MessageUsage>(answer, "usage"),
        Dialect::Gemini => read::<UsageMetadata>(answer, "usageMetadata"),
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn read(dialect: Dialect, events: bool, pieces: &[&[u8]]) -> Reading {
        let mut meter = Meter::new(dialect, events);
        for piece in pieces {
            meter.chunk(&Bytes::copy_from_slice(piece));
        }
        meter.finish()
    }

    /// Reads `stream` whole, cut at every place, and byte by byte; all must agree.
    fn read_stream(dialect: Dialect, stream: &str) -> Reading {
        let bytes = stream.as_bytes();
        let whole = read(dialect, true, &[bytes]);
        for cut in 0..bytes.len() {
            let (head, tail) = bytes.split_at(cut);
            assert_eq!(read(dialect, true, &[head, tail]), whole, "cut at {cut}");
        }
        assert_eq!(read(dialect, true, &bytes.chunks(1).collect::<Vec<_>>()), whole);
        whole
    }

    fn tokens(input: u64, output: u64) -> Option<Usage> {
        Some(Usage { input, output, ..Usage::default() })
    }

    /// B34: nulls and zeros before the real figures do not count, and figures are never summed.
    #[test]
    fn chat_the_last_figures_that_count_anything_stand() {
        let reading = read_stream(
            Dialect::OpenAiChat,
            "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"a \\\"usage\\\":{\"}}],\"usage\":null}\n\n\
             data: {\"choices\":[],\"usage\": {\"prompt_tokens\":0,\"completion_tokens\":0,\"total_tokens\":0}}\n\n\
             data: {\"choices\":[],\"usage\":{\"prompt_tokens\":7,\"completion_tokens\":1,\"total_tokens\":8}}\n\n\
             data: {\"choices\":[],\"usage\" : {\"prompt_tokens\":7,\"completion_tokens\":3,\"total_tokens\":10}}\n\n\
             data: {\"choices\":[],\"usage\":{\"prompt_tokens\":0,\"completion_tokens\":0,\"total_tokens\":0}}\n\n\
             data: [DONE]\n\n",
        );
        assert_eq!(reading.usage, tokens(7, 3));
        assert_eq!(reading.outcome, Outcome::Finished);
    }

    /// B35: nothing depends on `choices`.
    #[test]
    fn chat_chunks_without_choices() {
        for choices in ["", "\"choices\":[],", "\"choices\":null,"] {
            let stream = format!("data: {{{choices}\"usage\":{{\"prompt_tokens\":1}}}}\n\n");
            assert_eq!(read(Dialect::OpenAiChat, true, &[stream.as_bytes()]).usage, tokens(1, 0));
        }
    }

    /// B28: a stream without its end mark is not finished, and an error frame is a failure.
    #[test]
    fn chat_cut_and_failed_streams() {
        let cut = read_stream(Dialect::OpenAiChat, "data: {\"choices\":[{\"delta\":{\"content\":\"Hel\"}}]}\n\n");
        assert_eq!((cut.outcome, cut.usage, cut.pieces), (Outcome::Unfinished, None, 1));
        let without_mark = read_stream(Dialect::OpenAiChat, "data: {\"choices\":[{\"finish_reason\": \"stop\"}]}\n\n");
        assert_eq!(without_mark.outcome, Outcome::Finished);
        let failed = read_stream(Dialect::OpenAiChat, "data: {\"error\":{\"message\":\"no\"}}\n\n");
        assert_eq!(failed.outcome, Outcome::Failed);
    }

    /// A reason to finish is an end only until more comes, and only where it says something.
    #[test]
    fn a_reason_to_finish_is_not_the_end_for_certain() {
        let chat = |reason: &str| format!("data: {{\"choices\":[{{\"finish_reason\":{reason}}}]}}\n\n");
        let usage = "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":1}}\n\n";
        let gemini = |reason: &str| format!("data: {{\"candidates\":[{{\"finishReason\":{reason}}}]}}\n\n");
        for (dialect, stream, finished) in [
            (Dialect::OpenAiChat, chat("\"stop\"") + usage, true),
            (Dialect::OpenAiChat, chat("\"stop\"") + &chat("null"), false),
            (Dialect::OpenAiChat, chat("\"\""), false),
            (Dialect::Gemini, gemini("\"STOP\""), true),
            (Dialect::Gemini, gemini("\"STOP\"") + &gemini("null"), true),
            (Dialect::Gemini, gemini("\"STOP\"") + "data: {\"candidates\":[{\"index\":1,\"content\":{}}]}\n\n", false),
            (Dialect::Gemini, "data: {\"promptFeedback\":{\"blockReason\":\"SAFETY\"}}\n\n".to_owned(), true),
            (Dialect::Gemini, "data: {\"promptFeedback\":{}}\n\n".to_owned(), false),
        ] {
            let mut meter = Meter::new(dialect, true);
            meter.chunk(&Bytes::from(stream.clone()));
            assert!(!meter.has_ended(), "{stream}");
            assert_eq!(meter.finish().outcome == Outcome::Finished, finished, "{stream}");
        }
        let mut meter = Meter::new(Dialect::OpenAiChat, true);
        meter.chunk(&Bytes::from_static(b"data: [DONE]\n\n"));
        assert!(meter.has_ended());
    }

    #[test]
    fn an_answer_too_long_to_look_at_is_estimated() {
        let mut meter = Meter::new(Dialect::Claude, false);
        let megabyte = Bytes::from(vec![b' '; 1 << 20]);
        (0..17).for_each(|_| meter.chunk(&megabyte));
        let reading = meter.finish();
        assert_eq!((reading.outcome, reading.usage, reading.pieces), (Outcome::Finished, None, 17 << 18));
    }

    #[test]
    fn responses_usage_stands_in_the_terminal_event() {
        let reading = read_stream(
            Dialect::OpenAiResponses,
            "event: response.created\ndata: {\"type\":\"response.created\",\"response\":{\"usage\":null}}\n\n\
             event: response.output_text.delta\ndata: {\"type\":\"response.output_text.delta\",\"delta\":\"x\"}\n\n\
             data: {\"type\":\"response.incomplete\",\"response\":{\"output\":[],\"usage\":{\"input_tokens\":5,\"output_tokens\":2}}}\n\n",
        );
        assert_eq!(reading, Reading { usage: tokens(5, 2), outcome: Outcome::Finished, pieces: 1 });
        let failed = read_stream(Dialect::OpenAiResponses, "event: response.failed\ndata: {\"response\":{}}\n\n");
        assert_eq!(failed.outcome, Outcome::Failed);
    }

    #[test]
    fn claude_usage_is_the_start_overlaid_with_the_deltas() {
        let stream = "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"usage\":{\"input_tokens\":9,\"output_tokens\":1}}}\n\n\
             event: ping\ndata: {\"type\":\"ping\"}\n\n\
             event: content_block_delta\ndata: {\"type\":\"content_block_delta\"}\n\n\
             event: message_delta\ndata: {\"type\":\"message_delta\",\"usage\":{\"output_tokens\":4}}\n\n\
             event: message_delta\ndata: {\"type\":\"message_delta\",\"usage\":{\"output_tokens\":6}}\n\n";
        assert_eq!(
            read_stream(Dialect::Claude, stream),
            Reading { usage: tokens(9, 6), outcome: Outcome::Unfinished, pieces: 1 }
        );
        let finished = format!("{stream}event: message_stop\ndata: {{\"type\":\"message_stop\"}}\n\n");
        assert_eq!(read_stream(Dialect::Claude, &finished).outcome, Outcome::Finished);
        let failed = format!("{stream}event: error\ndata: {{\"type\":\"error\"}}\n\n");
        assert_eq!(read_stream(Dialect::Claude, &failed).outcome, Outcome::Failed);
    }

    #[test]
    fn gemini_usage_is_the_last_running_total() {
        let chunks = [
            "{\"candidates\":[{\"content\":{}}],\"usageMetadata\":{\"promptTokenCount\":4}}",
            "{\"candidates\":[{\"finishReason\":\"STOP\"}],\"usageMetadata\":{\"promptTokenCount\":4,\"candidatesTokenCount\":3}}",
        ];
        let stream: String = chunks.iter().map(|chunk| format!("data: {chunk}\r\n\r\n")).collect();
        let expected = Reading { usage: tokens(4, 3), outcome: Outcome::Finished, pieces: 2 };
        assert_eq!(read_stream(Dialect::Gemini, &stream), expected);
        // Without `alt=sse` the same chunks come as one array.
        let array = format!("[{}\n,\r\n{}]", chunks[0], chunks[1]);
        let reading = read(Dialect::Gemini, false, &[array.as_bytes()]);
        assert_eq!((reading.usage, reading.outcome), (expected.usage, expected.outcome));
    }

    #[test]
    fn documents_in_any_number_of_chunks() {
        let chat = b"{\"choices\":[],\"usage\":{\"prompt_tokens\":7,\"completion_tokens\":3}}";
        for size in [1, 10, 100] {
            let reading = read(Dialect::OpenAiChat, false, &chat.chunks(size).collect::<Vec<_>>());
            assert_eq!((reading.usage, reading.outcome), (tokens(7, 3), Outcome::Finished));
        }
        assert_eq!(read(Dialect::Claude, false, &[b"{\"usage\":"]).outcome, Outcome::Unfinished);
        assert_eq!(read(Dialect::Claude, false, &[b"{\"id\":1}"]).usage, None);
    }

    proptest! {
        #[test]
        fn arbitrary_bytes_do_not_panic(bytes in proptest::collection::vec(any::<u8>(), 0..300), events: bool) {
            for dialect in Dialect::ALL {
                read(dialect, events, &[&bytes]);
            }
        }
    }
}
