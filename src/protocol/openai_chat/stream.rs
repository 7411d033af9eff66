//! Takes the usage chunk out of a stream again, for a client that did not ask for it.

use bytes::{Bytes, BytesMut};
use tollgate_macros::Read;

use crate::protocol::glance::has_object;
use crate::protocol::sse::{self, MAX_EVENT_BYTES};

/// What every usage chunk contains; a piece without it that ends on an event's border passes untouched.
pub const USAGE_MEMBER: &[u8] = b"\"usage\"";

/// Removes the event whose `choices` are empty and whose `usage` is not. Only an event that has not arrived whole is held
/// back.
#[derive(Debug, Default)]
pub struct UsageChunkRemover {
    held: BytesMut,
    /// How much of `held` is known to have no end of an event, so that no byte is looked at for every piece.
    searched: usize,
}

impl UsageChunkRemover {
    /// Takes a piece of the stream and returns what may go on.
    pub fn feed(&mut self, piece: Bytes) -> Bytes {
        if self.held.is_empty() && ends_event(&piece) && !has_object(&piece, USAGE_MEMBER) {
            return piece;
        }
        self.held.extend_from_slice(&piece);
        let mut passed = BytesMut::new();
        while let Some(end) = event_end(&self.held, self.searched) {
            let event = self.held.split_to(end);
            self.searched = 0;
            if !is_usage_chunk(&event) {
                passed.extend_from_slice(&event);
            }
        }
        if self.held.len() > MAX_EVENT_BYTES {
            passed.extend_from_slice(&self.held.split());
        }
        self.searched = self.held.len().saturating_sub(2);
        passed.freeze()
    }

    /// What was held back when the stream ended.
    pub fn finish(&mut self) -> Bytes {
        let rest = self.held.split();
        if is_usage_chunk(&rest) { Bytes::new() } else { rest.freeze() }
    }
}

fn ends_event(piece: &[u8]) -> bool {
    piece.ends_with(b"\n\n") || piece.ends_with(b"\n\r\n")
}

/// Where the first event of `bytes` ends, its blank line included; its last line does not end before `from`.
fn event_end(bytes: &[u8], from: usize) -> Option<usize> {
    memchr::memchr_iter(b'\n', bytes.get(from..).unwrap_or_default()).find_map(|offset| {
        let at = from + offset;
        let rest = bytes.get(at + 1..).unwrap_or_default();
        if rest.starts_with(b"\n") {
            Some(at + 2)
        } else if rest.starts_with(b"\r\n") {
            Some(at + 3)
        } else {
            None
        }
    })
}

fn is_usage_chunk(event: &[u8]) -> bool {
    #[derive(Read)]
    struct Chunk {
        #[serde(default)]
        choices: Option<Vec<serde::de::IgnoredAny>>,
        usage: Option<serde::de::IgnoredAny>,
    }
    if !has_object(event, USAGE_MEMBER) {
        return false;
    }
    let mut is_usage_chunk = false;
    let mut parser = sse::Parser::default();
    let mut look = |event: sse::Event<'_>| {
        is_usage_chunk = serde_json::from_slice::<Chunk>(event.data)
            .is_ok_and(|chunk| chunk.usage.is_some() && chunk.choices.is_none_or(|choices| choices.is_empty()));
    };
    parser.feed(event, &mut look);
    parser.finish(&mut look);
    is_usage_chunk
}

#[cfg(test)]
mod tests {
    use super::*;

    const CONTENT: &str = "data: {\"choices\":[{\"delta\":{\"content\":\"é\"}}],\"usage\":null}\n\n";
    const USAGE: &str = "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":1}}\n\n";
    const DONE: &str = "data: [DONE]\n\n";

    fn remove(pieces: &[&[u8]]) -> Vec<u8> {
        let mut remover = UsageChunkRemover::default();
        let mut passed: Vec<u8> = pieces.iter().flat_map(|piece| remover.feed(Bytes::copy_from_slice(piece))).collect();
        passed.extend_from_slice(&remover.finish());
        passed
    }

    #[test]
    fn the_usage_chunk_goes_wherever_the_stream_is_cut() {
        for line_end in ["\n", "\r\n"] {
            let stream = [CONTENT, USAGE, DONE].concat().replace('\n', line_end);
            let expected = [CONTENT, DONE].concat().replace('\n', line_end);
            for cut in 0..stream.len() {
                let (head, tail) = stream.as_bytes().split_at(cut);
                assert_eq!(remove(&[head, tail]), expected.as_bytes(), "cut at {cut}");
            }
            assert_eq!(remove(&stream.as_bytes().chunks(1).collect::<Vec<_>>()), expected.as_bytes());
        }
    }

    #[test]
    fn a_chunk_with_both_content_and_usage_stays() {
        let both = "data: {\"choices\":[{\"delta\":{}}],\"usage\":{\"prompt_tokens\":1}}\n\n";
        assert_eq!(remove(&[both.as_bytes()]), both.as_bytes());
    }

    #[test]
    fn untouched_pieces_are_not_copied() {
        let piece = Bytes::from_static(CONTENT.as_bytes());
        let passed = UsageChunkRemover::default().feed(piece.clone());
        assert_eq!(passed.as_ptr(), piece.as_ptr());
    }

    #[test]
    fn an_unfinished_last_event_is_passed_on() {
        assert_eq!(remove(&[b"data: {\"cho"]), b"data: {\"cho");
    }
}
