//! Conversations that a vendor keeps: by which id a request continues one, and under which id an answer can be continued.
//!
//! Vendors keep them for an account, so whoever continues one has to come with the same credential. Responses:
//! `previous_response_id` and `conversation`, <https://platform.openai.com/docs/api-reference/responses/create>. Claude: `thread` of the
//! beta `message-threads-2026-08-12`. Gemini: `cachedContent`, <https://ai.google.dev/api/caching>.

use std::borrow::Cow;

use memchr::memmem;
use serde::Deserialize;
use serde_json::value::RawValue;

use super::dialect::Dialect;
use super::json::skim;
use super::operation::Operation;
use super::wire::Text;

/// How much of an answer is looked at for its id, which stands at its beginning.
const MAX_LOOKED_AT: usize = 64 * 1024;

/// The id by which a request continues what a vendor keeps. Most bodies are only searched for a word.
pub fn continued(dialect: Dialect, body: &[u8]) -> Option<String> {
    match dialect {
        Dialect::OpenAiChat => None,
        Dialect::OpenAiResponses => text(body, "previous_response_id").or_else(|| conversation(body)),
        Dialect::Claude => text(member(body, "thread")?.get().as_bytes(), "previous_message_id"),
        Dialect::Gemini => text(body, "cachedContent").or_else(|| text(body, "cached_content")),
    }
    .filter(|id| !id.is_empty())
}

fn conversation(body: &[u8]) -> Option<String> {
    let value = member(body, "conversation")?.get();
    if value.starts_with('{') { text(value.as_bytes(), "id") } else { serde_json::from_str(value).ok() }
}

/// Whether the vendor keeps the answer, so that it can be continued by its id.
pub fn is_kept(dialect: Dialect, operation: Operation, body: &[u8]) -> bool {
    operation == Operation::Generate
        && match dialect {
            // What is not said is true.
            Dialect::OpenAiResponses => member(body, "store").is_none_or(|store| store.get() != "false"),
            Dialect::Claude => member(body, "thread").is_some_and(|thread| thread.get() != "null"),
            Dialect::OpenAiChat | Dialect::Gemini => false,
        }
}

fn member<'a>(body: &'a [u8], name: &str) -> Option<&'a RawValue> {
    memmem::find(body, name.as_bytes())?;
    skim(body, name)
}

fn text(body: &[u8], name: &str) -> Option<String> {
    let value = member(body, name)?.get();
    Option::<Text<'_>>::deserialize(&mut serde_json::Deserializer::from_str(value))
        .ok()
        .flatten()
        .map(|Text(text)| Cow::into_owned(text))
}

/// Finds the id of an answer in its first bytes, be it a document or a stream of events.
#[derive(Debug, Default)]
pub struct IdFinder {
    seen: Vec<u8>,
    /// How much has to be there before another look is worth it, so that an answer in many small pieces is not read again for each.
    next_look: usize,
    id: Option<String>,
}

impl IdFinder {
    /// Sees the next bytes.
    pub fn feed(&mut self, chunk: &[u8]) {
        let room = MAX_LOOKED_AT.saturating_sub(self.seen.len());
        if self.id.is_some() || room == 0 {
            return;
        }
        self.seen.extend_from_slice(chunk.get(..room).unwrap_or(chunk));
        if self.seen.len() >= self.next_look {
            self.id = id_in(&self.seen);
            self.next_look = 2 * self.seen.len();
        }
    }

    /// The id, if it was there.
    pub fn finish(self) -> Option<String> {
        self.id.or_else(|| id_in(&self.seen))
    }
}

fn id_in(seen: &[u8]) -> Option<String> {
    let id = |object: &[u8]| skim::<String>(object, "id").filter(|id| !id.is_empty());
    let start = seen.trim_ascii_start();
    if start.starts_with(b"{") {
        return id(start);
    }
    // The first event of either dialect holds the answer as it begins, the id first and then perhaps much more.
    let data = start.get(memmem::find(start, b"data:")? + b"data:".len()..)?;
    [&b"\"response\""[..], b"\"message\""].iter().find_map(|name| {
        let value = data.get(memmem::find(data, name)? + name.len()..)?.trim_ascii_start().strip_prefix(b":")?;
        id(value.trim_ascii_start())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_that_continue_something_are_known() {
        use Dialect::{Claude, Gemini, OpenAiChat, OpenAiResponses};
        for (dialect, body, expected) in [
            (OpenAiResponses, r#"{"model":"m","previous_response_id":"resp_1"}"#, Some("resp_1")),
            (OpenAiResponses, r#"{"model":"m","previous_response_id":null}"#, None),
            (OpenAiResponses, r#"{"previous_response_id":null,"conversation":"conv_1"}"#, Some("conv_1")),
            (OpenAiResponses, r#"{"conversation":{"id":"conv_2"}}"#, Some("conv_2")),
            (OpenAiResponses, r#"{"conversation":7}"#, None),
            (OpenAiResponses, r#"{"input":"previous_response_id"}"#, None),
            (OpenAiResponses, r#"{"input":[{"previous_response_id":"resp_9"}]}"#, None),
            (OpenAiChat, r#"{"previous_response_id":"resp_1"}"#, None),
            (Claude, r#"{"thread":{"type":"continue","previous_message_id":"msg_1"}}"#, Some("msg_1")),
            (Claude, r#"{"thread":{"type":"create"}}"#, None),
            (Claude, r#"{"thread":null}"#, None),
            (Gemini, r#"{"contents":[],"cachedContent":"cachedContents/1"}"#, Some("cachedContents/1")),
            (Gemini, r#"{"cached_content":"cachedContents/2"}"#, Some("cachedContents/2")),
            (Gemini, r#"{"cachedContent":""}"#, None),
        ] {
            assert_eq!(continued(dialect, body.as_bytes()).as_deref(), expected, "{body}");
        }
    }

    #[test]
    fn answers_that_are_kept_are_known() {
        let kept = |dialect, body: &str| is_kept(dialect, Operation::Generate, body.as_bytes());
        assert!(kept(Dialect::OpenAiResponses, r#"{"input":"a"}"#));
        assert!(kept(Dialect::OpenAiResponses, r#"{"store":null}"#));
        assert!(!kept(Dialect::OpenAiResponses, r#"{"store": false}"#));
        assert!(kept(Dialect::Claude, r#"{"thread":{"type":"create"}}"#));
        assert!(!kept(Dialect::Claude, r#"{"messages":[]}"#));
        assert!(!kept(Dialect::OpenAiChat, r#"{"store":true}"#));
        assert!(!is_kept(Dialect::OpenAiResponses, Operation::CountTokens, b"{}"));
    }

    #[test]
    fn the_id_of_an_answer_is_found_however_it_is_cut() {
        for (answer, expected) in [
            (r#" {"object":"response","metadata":{"id":"no"},"id":"resp_1","output":[]}"#, Some("resp_1")),
            (
                "event: response.created\ndata: {\"type\":\"response.created\",\"response\":{\"id\":\"resp_2\",\"object\":\"response\"}}\n\n",
                Some("resp_2"),
            ),
            (
                "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"model\":\"m\",\"id\":\"msg_1\"}}\n\nevent: ping\n",
                Some("msg_1"),
            ),
            (": comment\n\ndata: {}\n\n", None),
            ("{\"error\":{\"id\":\"x\"}}", None),
            ("", None),
        ] {
            for size in [1, 7, 4096] {
                let mut finder = IdFinder::default();
                answer.as_bytes().chunks(size).for_each(|chunk| finder.feed(chunk));
                assert_eq!(finder.finish().as_deref(), expected, "{answer}");
            }
        }
        let mut finder = IdFinder::default();
        (0..100).for_each(|_| finder.feed(&[b' '; 4096]));
        finder.feed(br#"{"id":"resp_1"}"#);
        assert_eq!(finder.finish(), None);
    }
}
