//! One of the answers of a stream: its calls, and how it ends.

use std::collections::{BTreeMap, VecDeque};

use serde_json::value::RawValue;

use super::super::wire::content::{FunctionCall, Part};
use super::super::wire::response::FinishReason;
use super::append_empty_part;
use crate::protocol::convert::arguments::ObjectEnd;
use crate::protocol::json;
use crate::protocol::wire::{Raw, Text};

/// One of the answers.
#[derive(Debug)]
pub(super) struct Candidate {
    index: usize,
    /// What stands in an event between the only part and the members of the answer.
    pub(super) close: Vec<u8>,
    /// Waits for its part.
    pub(super) signature: Option<String>,
    /// Whether a part was written.
    pub(super) has_parts: bool,
    /// As JSON.
    pub(super) grounding: Option<Vec<u8>>,
    /// As JSON.
    pub(super) citations: Option<Vec<u8>>,
    /// As JSON.
    pub(super) url_context: Option<Vec<u8>>,
    /// As JSON.
    pub(super) logprobs: Option<Vec<u8>>,
    /// The calls that are not written yet.
    calls: VecDeque<Call>,
    /// How many calls were written.
    written: usize,
    /// The latest call of each key that is not written yet, by its place counted from the first of all calls.
    places: BTreeMap<usize, usize>,
    /// The first call whose arguments are no object.
    malformed: Option<String>,
    /// Its key.
    pub(super) malformed_key: Option<usize>,
    reason: Option<String>,
    message: Option<String>,
}

/// A call that is not written yet.
#[derive(Debug)]
pub(super) struct Call {
    key: usize,
    id: Option<String>,
    name: String,
    signature: Option<String>,
    arguments: String,
    end: ObjectEnd,
    has_ended: bool,
}

impl Call {
    pub(super) fn part(&self) -> Part<'_> {
        let arguments = self.arguments.trim();
        let arguments = if arguments.is_empty() { "{}" } else { arguments };
        let call = FunctionCall {
            id: self.id.as_deref().map(Text::from),
            name: Some(Text::from(&*self.name)),
            args: Raw::parse(arguments).ok(),
        };
        Part {
            function_call: Some(call),
            thought_signature: self.signature.as_deref().map(Text::from),
            ..Part::default()
        }
    }

    /// Whether the arguments are an object, or none.
    fn is_well_formed(&self) -> bool {
        let arguments = self.arguments.trim();
        arguments.is_empty() || arguments.starts_with('{') && serde_json::from_str::<&RawValue>(arguments).is_ok()
    }
}

impl Candidate {
    pub(super) fn new(index: usize) -> Self {
        Self {
            index,
            close: format!("],\"role\":\"model\"}},\"index\":{index}}}]").into_bytes(),
            signature: None,
            has_parts: false,
            grounding: None,
            citations: None,
            url_context: None,
            logprobs: None,
            calls: VecDeque::new(),
            written: 0,
            places: BTreeMap::new(),
            malformed: None,
            malformed_key: None,
            reason: None,
            message: None,
        }
    }

    pub(super) fn open_call(&mut self, key: usize, id: Option<&str>, name: &str) {
        self.places.insert(key, self.written + self.calls.len());
        self.calls.push_back(Call {
            key,
            id: id.filter(|id| !id.is_empty()).map(str::to_owned),
            name: name.to_owned(),
            signature: self.signature.take(),
            arguments: String::new(),
            end: ObjectEnd::default(),
            has_ended: false,
        });
    }

    /// Adds to the arguments of a call; tells whether the call is complete.
    pub(super) fn arguments(&mut self, key: usize, json: &str) -> bool {
        let Some(call) = self.call(key).filter(|call| !call.has_ended) else { return false };
        call.arguments.push_str(json);
        call.end.feed(json);
        call.end.is_complete()
    }

    pub(super) fn call_end(&mut self, key: usize) {
        if let Some(call) = self.call(key) {
            call.has_ended = true;
        }
    }

    pub(super) fn end_calls(&mut self) {
        self.calls.iter_mut().for_each(|call| call.has_ended = true);
    }

    /// The next call to write, if it is complete. One whose arguments were cut or are no object cannot be written.
    pub(super) fn next_call(&mut self) -> Option<Call> {
        while self.calls.front().is_some_and(|call| call.has_ended || call.end.is_complete()) {
            let call = self.calls.pop_front()?;
            self.written += 1;
            if call.is_well_formed() {
                return Some(call);
            }
            self.malformed_key.get_or_insert(call.key);
            self.malformed.get_or_insert_with(|| format!("{}({})", call.name, call.arguments));
        }
        None
    }

    pub(super) fn finish_reason(&mut self, reason: &FinishReason<'_>, message: Option<&str>) {
        self.reason = Some(reason.as_str().to_owned());
        self.message = message.map(str::to_owned);
    }

    /// Writes what the last event has of it.
    pub(super) fn write_ending(&mut self, out: &mut Vec<u8>) {
        self.settle_reason();
        let reason = self.reason.as_deref().unwrap_or(STOP);
        out.push(b'{');
        // A refusal may have no content, but where there is some the SDKs want it in each event.
        if self.has_parts || self.signature.is_some() || reason == STOP {
            out.extend_from_slice(b"\"content\":{\"parts\":[");
            append_empty_part(self.signature.as_deref(), out);
            out.extend_from_slice(b"],\"role\":\"model\"},");
        }
        out.extend_from_slice(b"\"finishReason\":");
        json::append(out, reason);
        if let Some(message) = &self.message {
            out.extend_from_slice(b",\"finishMessage\":");
            json::append(out, message);
        }
        out.extend_from_slice(b",\"index\":");
        json::append(out, &self.index);
        for (name, value) in [
            (&b",\"citationMetadata\":"[..], &self.citations),
            (b",\"groundingMetadata\":", &self.grounding),
            (b",\"urlContextMetadata\":", &self.url_context),
            (b",\"logprobsResult\":", &self.logprobs),
        ] {
            if let Some(value) = value {
                out.extend_from_slice(name);
                out.extend_from_slice(value);
            }
        }
        out.push(b'}');
    }

    /// A call that could not be written is no success.
    fn settle_reason(&mut self) {
        if let Some(call) = self.malformed.take()
            && self.reason.as_deref().is_none_or(|reason| reason == STOP)
        {
            self.reason = Some(FinishReason::MalformedFunctionCall.as_str().to_owned());
            self.message = Some(format!("Malformed function call: {call}"));
        }
    }

    /// The latest call under `key`, unless it was written.
    fn call(&mut self, key: usize) -> Option<&mut Call> {
        let place = self.places.get(&key)?.checked_sub(self.written)?;
        self.calls.get_mut(place)
    }
}

const STOP: &str = "STOP";
