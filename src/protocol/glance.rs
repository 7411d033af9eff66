//! Telling a vendor's events apart without parsing them, by the words that stand in them.

use memchr::memmem;
use tollgate_macros::Read;

/// Whether `data` holds `member` with an object as its value. `member` carries its quotes, so text inside a JSON string
/// cannot look like it.
pub(super) fn has_object(data: &[u8], member: &[u8]) -> bool {
    has_value(data, member, b"{")
}

/// Whether `data` holds `member` with a value that begins with `start`.
fn has_value(data: &[u8], member: &[u8], start: &[u8]) -> bool {
    memmem::find_iter(data, member).any(|at| {
        let rest = data.get(at + member.len()..).unwrap_or_default().trim_ascii_start();
        rest.strip_prefix(b":").is_some_and(|value| value.trim_ascii_start().starts_with(start))
    })
}

/// Whether `data` holds `member` with a text as its value that is not empty.
pub(super) fn has_text(data: &[u8], member: &[u8]) -> bool {
    has_value(data, member, b"\"") && !has_value(data, member, b"\"\"")
}

/// Whether `data` is an object with a top-level `error` that is not null.
pub(super) fn is_error(data: &[u8]) -> bool {
    #[derive(Read)]
    struct Frame {
        error: Option<serde::de::IgnoredAny>,
    }
    serde_json::from_slice::<Frame>(data).is_ok_and(|frame| frame.error.is_some())
}

/// The value of the first `"type"` member, which OpenAI writes first.
pub(super) fn type_of(data: &[u8]) -> &[u8] {
    let Some(at) = memmem::find(data, b"\"type\"") else { return b"" };
    let rest = data.get(at + 6..).unwrap_or_default().trim_ascii_start();
    let Some(value) = rest.strip_prefix(b":").and_then(|rest| rest.trim_ascii_start().strip_prefix(b"\"")) else {
        return b"";
    };
    value.get(..memchr::memchr(b'"', value).unwrap_or(0)).unwrap_or_default()
}

/// Which of Gemini's answers an event is about, a bit for each; there are at most eight.
pub(super) fn candidates(data: &[u8]) -> u64 {
    #[derive(Read)]
    struct Event {
        #[serde(default)]
        candidates: Vec<Candidate>,
    }
    #[derive(Read)]
    struct Candidate {
        #[serde(default)]
        index: u32,
    }
    let event = serde_json::from_slice(data).unwrap_or(Event { candidates: Vec::new() });
    event.candidates.iter().fold(0, |bits, candidate| bits | 1_u64.checked_shl(candidate.index).unwrap_or(0))
}
