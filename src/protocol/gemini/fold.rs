//! Puts the events of a stream together to the answer that a request without streaming would have had.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use tollgate_macros::Read;

use super::error::status_name;
use super::wire::grounding::{CitationMetadata, LogprobsResult};
use super::wire::proto::{Count, Members};
use super::wire::response::Status;
use crate::protocol::convert::{self, StreamFault};
use crate::protocol::json;
use crate::protocol::wire::Text;

/// Most members of one object that are kept; the vendor has a third of that.
const MAX_MEMBERS: usize = 64;

/// The answer so far. Time is linear in the stream: what was put together is not read again.
///
/// Texts are joined over the borders of events, but not across a signature, which belongs to its own part. Of everything else the
/// latest counts, members that are not known included.
#[derive(Debug, Default)]
pub struct Fold {
    candidates: BTreeMap<u64, Candidate>,
    /// The other members of the answer, as JSON.
    members: Latest,
    is_blocked: bool,
    fault: Option<StreamFault<'static>>,
}

/// Members by their names, each as the JSON that came last.
#[derive(Debug, Default)]
struct Latest(Vec<(String, String)>);

#[derive(Debug, Default)]
struct Candidate {
    has_index: bool,
    role: Option<String>,
    has_content: bool,
    parts: Vec<Part>,
    is_finished: bool,
    /// The members of which each event has a piece, as JSON.
    citations: Vec<String>,
    logprobs: Vec<String>,
    /// The others.
    members: Latest,
}

#[derive(Debug)]
enum Part {
    /// Text, or a summary of thoughts.
    Text { text: String, is_thought: bool },
    /// JSON.
    Other(String),
}

impl Fold {
    /// Takes the data of the next event. What comes after an error is left out.
    pub fn event(&mut self, data: &str) {
        if self.fault.is_none() && self.take(data).is_none() {
            self.fault.get_or_insert_with(StreamFault::unreadable);
        }
    }

    /// The answer, or why there is none: the vendor's error, or that the stream was cut.
    pub fn finish(self) -> Result<Vec<u8>, StreamFault<'static>> {
        if let Some(fault) = self.fault {
            return Err(fault);
        }
        let is_complete = !self.candidates.is_empty() && self.candidates.values().all(|one| one.is_finished);
        if !is_complete && !self.is_blocked {
            return Err(StreamFault::cut_off());
        }
        let mut body = b"{".to_vec();
        if !self.candidates.is_empty() {
            begin_member("candidates", &mut body);
            body.push(b'[');
            for (index, candidate) in &self.candidates {
                candidate.write(*index, &mut body);
            }
            body.push(b']');
        }
        self.members.write(&mut body);
        body.push(b'}');
        Ok(body)
    }

    /// `None` for what is no event.
    fn take(&mut self, data: &str) -> Option<()> {
        let Members(members): Members<'_, &RawValue> = convert::read(data).ok()?;
        for (name, value) in members {
            match &*name {
                "error" => self.fault = Some(fault(serde_json::from_str(value.get()).ok()?)),
                "candidates" => {
                    let candidates: Vec<Members<'_, &RawValue>> = serde_json::from_str(value.get()).ok()?;
                    for candidate in candidates {
                        self.candidate(candidate)?;
                    }
                }
                name => {
                    self.is_blocked |= name == "promptFeedback" && value.get().contains("\"blockReason\"");
                    self.members.set(name, value);
                }
            }
        }
        Some(())
    }

    fn candidate(&mut self, Members(members): Members<'_, &RawValue>) -> Option<()> {
        let index = members.iter().find(|(name, _)| *name == "index");
        let index: Count = match index {
            Some((_, index)) => serde_json::from_str(index.get()).ok()?,
            None => Count(0),
        };
        let candidate = self.candidates.entry(index.0).or_default();
        for (name, value) in members {
            match &*name {
                "index" => candidate.has_index = true,
                "content" => candidate.content(value)?,
                "citationMetadata" => candidate.citations.push(value.get().to_owned()),
                "logprobsResult" => candidate.logprobs.push(value.get().to_owned()),
                name => {
                    candidate.is_finished |= name == "finishReason";
                    candidate.members.set(name, value);
                }
            }
        }
        Some(())
    }
}

impl Candidate {
    fn content(&mut self, content: &RawValue) -> Option<()> {
        #[derive(Read)]
        struct Content<'a> {
            #[serde(borrow)]
            role: Option<Text<'a>>,
            #[serde(borrow)]
            parts: Option<Vec<&'a RawValue>>,
        }
        let content: Content<'_> = serde_json::from_str(content.get()).ok()?;
        self.has_content = true;
        self.role = content.role.map(Text::into_owned).or(self.role.take());
        for (place, part) in content.parts.into_iter().flatten().enumerate() {
            self.part(part, place == 0)?;
        }
        Some(())
    }

    /// Adds a part. The first one of an event may go on with the text before it.
    fn part(&mut self, part: &RawValue, may_go_on: bool) -> Option<()> {
        #[derive(serde::Deserialize)]
        #[serde(deny_unknown_fields)]
        struct TextPart<'a> {
            #[serde(borrow)]
            text: Text<'a>,
            #[serde(default)]
            thought: bool,
        }
        let Ok(TextPart { text: more, thought }) = serde_json::from_str(part.get()) else {
            // It has to be an object at least.
            self.parts.push(Part::Other(part.get().starts_with('{').then(|| part.get().to_owned())?));
            return Some(());
        };
        match self.parts.last_mut() {
            Some(Part::Text { text, is_thought }) if may_go_on && (*is_thought == thought || more.is_empty()) => {
                text.push_str(&more);
            }
            Some(_) if may_go_on && more.is_empty() => {}
            _ => self.parts.push(Part::Text { text: more.into_owned(), is_thought: thought }),
        }
        Some(())
    }

    fn write(&self, index: u64, body: &mut Vec<u8>) {
        if body.last() != Some(&b'[') {
            body.push(b',');
        }
        body.push(b'{');
        if self.has_content {
            begin_member("content", body);
            body.push(b'{');
            if !self.parts.is_empty() {
                begin_member("parts", body);
                body.push(b'[');
                self.parts.iter().for_each(|part| part.write(body));
                body.push(b']');
            }
            if let Some(role) = &self.role {
                begin_member("role", body);
                json::append(body, role);
            }
            body.push(b'}');
        }
        self.members.write(body);
        if self.has_index {
            begin_member("index", body);
            json::append(body, &index);
        }
        write_joined("citationMetadata", &self.citations, join_citations, body);
        write_joined("logprobsResult", &self.logprobs, join_logprobs, body);
        body.push(b'}');
    }
}

impl Part {
    fn write(&self, body: &mut Vec<u8>) {
        if body.last() != Some(&b'[') {
            body.push(b',');
        }
        match self {
            Self::Text { text, is_thought } => {
                body.extend_from_slice(b"{\"text\":");
                json::append(body, text);
                body.extend_from_slice(if *is_thought { b",\"thought\":true}" } else { b"}" });
            }
            Self::Other(part) => body.extend_from_slice(part.as_bytes()),
        }
    }
}

impl Latest {
    fn set(&mut self, name: &str, value: &RawValue) {
        if let Some((_, known)) = self.0.iter_mut().find(|(known, _)| known == name) {
            value.get().clone_into(known);
        } else if self.0.len() < MAX_MEMBERS {
            self.0.push((name.to_owned(), value.get().to_owned()));
        }
    }

    fn write(&self, body: &mut Vec<u8>) {
        for (name, value) in &self.0 {
            begin_member(name, body);
            body.extend_from_slice(value.as_bytes());
        }
    }
}

/// Begins a member of the object that `body` ends in.
fn begin_member(name: &str, body: &mut Vec<u8>) {
    if body.last() != Some(&b'{') {
        body.push(b',');
    }
    json::append(body, name);
    body.push(b':');
}

/// Writes a member that came in pieces. One that came whole is written as it came.
fn write_joined<'a, T: Deserialize<'a> + Serialize>(
    name: &str,
    pieces: &'a [String],
    join: fn(&mut T, T),
    body: &mut Vec<u8>,
) {
    match pieces {
        [] => {}
        [whole] => {
            begin_member(name, body);
            body.extend_from_slice(whole.as_bytes());
        }
        pieces => {
            let pieces = pieces.iter().filter_map(|piece| serde_json::from_str(piece).ok());
            let joined: Option<T> = pieces.reduce(|mut whole, piece| {
                join(&mut whole, piece);
                whole
            });
            begin_member(name, body);
            json::append(body, &joined);
        }
    }
}

fn join_citations<'a>(whole: &mut CitationMetadata<'a>, piece: CitationMetadata<'a>) {
    whole.citation_sources.extend(piece.citation_sources);
}

fn join_logprobs<'a>(whole: &mut LogprobsResult<'a>, piece: LogprobsResult<'a>) {
    whole.top_candidates.extend(piece.top_candidates);
    whole.chosen_candidates.extend(piece.chosen_candidates);
}

/// The vendor's error. Its code is the reason that its details tell, else the name of its status.
pub(crate) fn fault(status: Status<'_>) -> StreamFault<'static> {
    #[derive(Read)]
    struct Detail<'a> {
        #[serde(borrow)]
        reason: Option<Text<'a>>,
    }
    let http = status.code.and_then(|code| u16::try_from(code.0).ok()).filter(|code| (400..600).contains(code));
    let http = http.unwrap_or(500);
    let reasons = status.details.iter().filter_map(|detail| detail.read::<Detail<'_>>().ok()?.reason);
    let code = reasons.map(Text::into_owned).next().or_else(|| status.status.map(Text::into_owned));
    StreamFault {
        status: http,
        code: code.map_or(Cow::Borrowed(status_name(http)), Cow::Owned),
        message: Cow::Owned(status.message.map(Text::into_owned).unwrap_or_default()),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::super::unfold::unfold;
    use super::super::wire::response::GenerateContentResponse;
    use super::*;
    use crate::protocol::golden;
    use crate::protocol::sse::Parser;

    fn fold(stream: &[u8], size: usize) -> Result<Vec<u8>, StreamFault<'static>> {
        let (mut fold, mut parser) = (Fold::default(), Parser::default());
        let mut sink = |event: crate::protocol::sse::Event<'_>| fold.event(std::str::from_utf8(event.data).unwrap());
        stream.chunks(size).for_each(|piece| parser.feed(piece, &mut sink));
        parser.finish(&mut sink);
        fold.finish()
    }

    #[test]
    fn what_was_made_a_stream_is_put_together_again() {
        golden::check_documents("gemini/response", 50, &|text| {
            let mut stream = Vec::new();
            unfold(text, false, &mut stream).unwrap();
            let mut array = Vec::new();
            unfold(text, true, &mut array).unwrap();
            assert_eq!(serde_json::from_slice::<Vec<Value>>(&array)?.len(), 1);
            Ok(String::from_utf8(fold(&stream, 7).unwrap()).unwrap())
        });
    }

    #[test]
    fn streams_become_answers_however_they_are_cut() {
        let mut failed = Vec::new();
        golden::each_stream("gemini/stream", &mut |name, stream| {
            let whole = fold(stream, stream.len());
            for size in [1, 5, 64] {
                assert_eq!(fold(stream, size), whole, "{name}");
            }
            match whole {
                Ok(body) => {
                    let body = String::from_utf8(body).unwrap();
                    let answer: GenerateContentResponse<'_> = serde_json::from_str(&body).unwrap();
                    assert!(!answer.candidates.is_empty() || answer.prompt_feedback.is_some(), "{name}");
                }
                Err(fault) => failed.push(format!("{name}: {} {}", fault.status, fault.code)),
            }
        });
        let expected = [
            "b28-cut-without-finish: 502 upstream_cut",
            "error-midway: 503 UNAVAILABLE",
            "error-with-details: 429 RESOURCE_EXHAUSTED",
        ];
        assert_eq!(failed, expected);
    }

    #[test]
    fn texts_are_joined_but_not_across_what_belongs_to_one_of_them() {
        let mut fold = Fold::default();
        for part in [
            json!({"text": "h", "thought": true}),
            json!({"text": "m", "thought": true}),
            json!({"text": "a"}),
            json!({"text": "b"}),
            json!({"text": "", "thoughtSignature": "s"}),
            json!({"text": "c"}),
            json!({"functionCall": {"name": "f"}}),
            json!({"text": ""}),
        ] {
            fold.event(&json!({"candidates": [{"content": {"role": "model", "parts": [part]}}]}).to_string());
        }
        fold.event(r#"{"candidates":[{"finishReason":"STOP"}],"usageMetadata":{"totalTokenCount":3},"new":1}"#);
        let body: Value = serde_json::from_slice(&fold.finish().unwrap()).unwrap();
        let expected = json!([
            {"text": "hm", "thought": true}, {"text": "ab"}, {"text": "", "thoughtSignature": "s"}, {"text": "c"},
            {"functionCall": {"name": "f"}},
        ]);
        assert_eq!(body["candidates"][0]["content"]["parts"], expected);
        assert_eq!((&body["new"], &body["usageMetadata"]["totalTokenCount"]), (&json!(1), &json!(3)));
    }

    #[test]
    fn what_cannot_be_read_is_a_fault() {
        for data in ["no JSON", "[]", r#"{"candidates":3}"#, r#"{"candidates":[{"content":{"parts":[3]}}]}"#] {
            let mut fold = Fold::default();
            fold.event(data);
            assert_eq!(fold.finish().unwrap_err(), StreamFault::unreadable(), "{data}");
        }
        assert_eq!(Fold::default().finish().unwrap_err(), StreamFault::cut_off());
    }
}
