//! One of the answers of a stream, while it comes.

use super::thinking::{signature, text_part};
use super::{answer, lost};
use crate::protocol::convert::seal::{Family, seal_base64};
use crate::protocol::convert::{Losses, Reply};
use crate::protocol::gemini::stream_writer::StreamWriter;
use crate::protocol::gemini::wire::content::Part;
use crate::protocol::gemini::wire::response::FinishReason as TargetReason;
use crate::protocol::json;
use crate::protocol::openai_chat::wire::content::{Content, Part as SourcePart};
use crate::protocol::openai_chat::wire::message::{ReasoningDetail, ThinkingBlock};
use crate::protocol::openai_chat::wire::response::{Annotation, Logprobs};
use crate::protocol::openai_chat::wire::stream::{ChunkChoice, Delta, FunctionCallDelta, ToolCallDelta};
use crate::protocol::wire::{Raw, Text};

/// The key of the legacy form of a call, which has no index.
const LEGACY_CALL: usize = usize::MAX;

/// What is known of an answer.
#[derive(Debug, Default)]
pub(super) struct Choice {
    reason: Option<TargetReason<'static>>,
    is_refused: bool,
    /// The text so far, by whose characters annotations count.
    text: String,
    calls: Vec<Call>,
    /// JSON of the annotations and probabilities, each of a chunk.
    annotations: Vec<String>,
    logprobs: Vec<String>,
}

/// A call of which something came.
#[derive(Debug, Default)]
struct Call {
    key: usize,
    id: String,
    /// Whether the writer knows it.
    is_open: bool,
    /// What came before its name.
    pending: String,
    is_custom: bool,
}

impl Choice {
    /// Whether a reason for the end came.
    pub(super) fn has_ended(&self) -> bool {
        self.reason.is_some()
    }

    /// Takes what a chunk adds.
    pub(super) fn take(
        &mut self,
        choice: &ChunkChoice<'_>,
        reply: &Reply,
        writer: &mut StreamWriter,
        out: &mut Vec<u8>,
    ) {
        let delta = &choice.delta;
        thoughts(delta, writer, out);
        if let Some(signature) = delta.extra_content.as_ref().and_then(signature) {
            writer.signature(&signature, out);
        }
        self.content(delta, writer, out);
        for image in delta.images.iter().flatten().filter_map(answer::image) {
            writer.part(&image, out);
        }
        for call in delta.tool_calls.iter().flatten() {
            self.call(call, reply, writer, out);
        }
        if let Some(call) = &delta.function_call {
            self.function(LEGACY_CALL, None, call, None, reply, writer, out);
        }
        if let Some(annotations) = &delta.annotations {
            self.annotations.extend(serde_json::to_string(annotations));
        }
        if let Some(logprobs) = &choice.logprobs {
            self.logprobs.extend(serde_json::to_string(logprobs));
        }
        if let Some(reason) = &choice.finish_reason {
            self.reason = Some(match answer::finish_reason(reason) {
                TargetReason::Stop if self.is_refused => TargetReason::Safety,
                reason => reason,
            });
        }
    }

    /// Tells the writer what only the end knows.
    pub(super) fn end(&mut self, writer: &mut StreamWriter, out: &mut Vec<u8>) {
        for call in self.calls.iter().filter(|call| call.is_custom && call.is_open) {
            let mut input = br#"{"input":"#.to_vec();
            json::append(&mut input, call.pending.as_str());
            input.push(b'}');
            writer.arguments(call.key, &String::from_utf8_lossy(&input), out);
        }
        let annotations: Vec<Annotation<'_>> =
            self.annotations.iter().filter_map(|json| serde_json::from_str::<Vec<_>>(json).ok()).flatten().collect();
        if let Some(grounding) = answer::grounding(&annotations, &self.text) {
            writer.grounding(&grounding);
        }
        if let Some(logprobs) = joined(&self.logprobs).as_ref().and_then(answer::logprobs) {
            writer.logprobs(&logprobs);
        }
        if let Some(reason) = self.reason.take() {
            writer.finish_reason(reason, None);
        }
    }

    fn content(&mut self, delta: &Delta<'_>, writer: &mut StreamWriter, out: &mut Vec<u8>) {
        match &delta.content {
            None => {}
            Some(Content::Text(text)) => self.push_text(text, writer, out),
            Some(Content::Parts(parts)) => {
                for part in parts {
                    match part {
                        SourcePart::Text(part) => self.push_text(&part.text, writer, out),
                        SourcePart::Other(raw) => {
                            let thoughts = answer::thoughts_of_part(raw).unwrap_or_default();
                            writer.thought(&thoughts, out);
                        }
                        SourcePart::Refusal(part) => self.push_text(&part.refusal, writer, out),
                        SourcePart::ImageUrl(_) | SourcePart::InputAudio(_) | SourcePart::File(_) => {}
                    }
                }
            }
        }
        if let Some(refusal) = delta.refusal.as_ref().filter(|refusal| !refusal.is_empty()) {
            self.is_refused = true;
            self.push_text(refusal, writer, out);
        }
        if let Some(transcript) = delta.audio.as_ref().and_then(|audio| audio.transcript.as_ref()) {
            self.push_text(transcript, writer, out);
        }
    }

    fn push_text(&mut self, text: &str, writer: &mut StreamWriter, out: &mut Vec<u8>) {
        self.text.push_str(text);
        writer.text(text, out);
    }

    fn call(&mut self, call: &ToolCallDelta<'_>, reply: &Reply, writer: &mut StreamWriter, out: &mut Vec<u8>) {
        let id = call.id.as_deref().filter(|id| !id.is_empty());
        let key = self.key(call.index, id);
        let signature = call.extra_content.as_ref();
        if let Some(function) = &call.function {
            self.function(key, id, function, signature, reply, writer, out);
        }
        if let Some(custom) = &call.custom {
            let name = custom.name.as_deref();
            let state = self.state(key, id);
            state.is_custom = true;
            state.pending.push_str(custom.input.as_deref().unwrap_or_default());
            if let Some(name) = name.filter(|_| !state.is_open) {
                state.is_open = true;
                writer.function_call(key, Some(&state.id), reply.tools.client_name(name), out);
            }
        }
    }

    #[allow(clippy::too_many_arguments)]
    fn function(
        &mut self,
        key: usize,
        id: Option<&str>,
        function: &FunctionCallDelta<'_>,
        extra_content: Option<&Raw<'_>>,
        reply: &Reply,
        writer: &mut StreamWriter,
        out: &mut Vec<u8>,
    ) {
        let state = self.state(key, id);
        let arguments = function.arguments.as_deref().unwrap_or_default();
        if state.is_open {
            writer.arguments(key, arguments, out);
            return;
        }
        if let Some(signature) = extra_content.and_then(signature) {
            writer.signature(&signature, out);
        }
        let Some(name) = function.name.as_deref().filter(|name| !name.is_empty()) else {
            state.pending.push_str(arguments);
            return;
        };
        state.is_open = true;
        writer.function_call(key, Some(&state.id), reply.tools.client_name(name), out);
        writer.arguments(key, &std::mem::take(&mut state.pending), out);
        writer.arguments(key, arguments, out);
    }

    /// Which call a fragment belongs to. Vendors that give no index send an id with each call.
    fn key(&self, index: Option<u64>, id: Option<&str>) -> usize {
        let next = self.calls.len();
        let of_id = || id.and_then(|id| self.calls.iter().find(|call| call.id == id)).map(|call| call.key);
        match index {
            Some(index) => {
                let index = usize::try_from(index).unwrap_or(usize::MAX - 1);
                // A new id under an old index is another call all the same.
                let current = self.calls.iter().rev().find(|call| call.key == index);
                match (current, id) {
                    (Some(call), Some(id)) if !call.id.is_empty() && call.id != id => {
                        of_id().unwrap_or(UNINDEXED + next)
                    }
                    _ => index,
                }
            }
            None => match (of_id(), id) {
                (Some(key), _) => key,
                (None, Some(_)) => UNINDEXED + next,
                (None, None) => self.calls.last().map_or(UNINDEXED, |call| call.key),
            },
        }
    }

    fn state(&mut self, key: usize, id: Option<&str>) -> &mut Call {
        let place = self.calls.iter().position(|call| call.key == key).unwrap_or_else(|| {
            self.calls.push(Call { key, ..Call::default() });
            self.calls.len() - 1
        });
        // The place was just found.
        #[allow(clippy::indexing_slicing)]
        let call = &mut self.calls[place];
        if let Some(id) = id.filter(|_| call.id.is_empty()) {
            id.clone_into(&mut call.id);
        }
        call
    }
}

/// Notes what of a chunk for the answer `index` the client is not told.
pub(super) fn note(choice: &ChunkChoice<'_>, index: usize, losses: &mut Losses) {
    let delta = &choice.delta;
    if let Some(Content::Parts(parts)) = &delta.content {
        parts.iter().enumerate().for_each(|(place, part)| lost::part(part, place, index, losses));
    }
    if delta.audio.is_some() {
        lost::audio(index, losses);
    }
    if delta.thinking_blocks.as_ref().is_none_or(Vec::is_empty) {
        lost::seals(delta.reasoning_details.as_deref(), index, losses);
    }
    lost::finish_reason(choice.finish_reason.as_ref(), index, losses);
}

/// The place of the call with this key among the calls; `None` for the legacy form of one.
pub(super) fn place_of(key: usize) -> Option<usize> {
    (key != LEGACY_CALL).then(|| key.checked_sub(UNINDEXED).unwrap_or(key))
}

/// Where the keys of calls without an index begin; no vendor counts so far.
const UNINDEXED: usize = 1 << 20;

/// The thoughts, once: vendors tell the same ones in several members.
fn thoughts(delta: &Delta<'_>, writer: &mut StreamWriter, out: &mut Vec<u8>) {
    if let Some(blocks) = delta.thinking_blocks.as_ref().filter(|blocks| !blocks.is_empty()) {
        blocks.iter().for_each(|block| thinking_block(block, writer, out));
        return;
    }
    let text = [&delta.reasoning_content, &delta.reasoning].into_iter().flatten().find(|text| !text.is_empty());
    if let Some(text) = text {
        writer.thought(text, out);
        return;
    }
    for detail in delta.reasoning_details.iter().flatten() {
        match detail {
            ReasoningDetail::Text(detail) => writer.thought(detail.text.as_deref().unwrap_or_default(), out),
            ReasoningDetail::Summary(detail) => writer.thought(&detail.summary, out),
            ReasoningDetail::Encrypted(_) | ReasoningDetail::Other(_) => {}
        }
    }
}

/// Claude's thinking; its secrets are kept by the client and understood when they come back.
fn thinking_block(block: &ThinkingBlock<'_>, writer: &mut StreamWriter, out: &mut Vec<u8>) {
    let secret = |family, payload: &str| Part {
        thought: Some(true),
        thought_signature: Some(seal_base64(family, payload).into()),
        ..text_part(Text::default())
    };
    match block {
        ThinkingBlock::Thinking(block) => {
            writer.thought(block.thinking.as_deref().unwrap_or_default(), out);
            if let Some(signature) = block.signature.as_deref().filter(|signature| !signature.is_empty()) {
                writer.part(&secret(Family::Claude, signature), out);
            }
        }
        ThinkingBlock::RedactedThinking(block) => writer.part(&secret(Family::ClaudeRedacted, &block.data), out),
        ThinkingBlock::Other(_) => {}
    }
}

/// The probabilities of all chunks.
fn joined(chunks: &[String]) -> Option<Logprobs<'_>> {
    let mut all = Logprobs::default();
    for chunk in chunks.iter().filter_map(|json| serde_json::from_str::<Logprobs<'_>>(json).ok()) {
        all.content.get_or_insert_default().extend(chunk.content.into_iter().flatten());
        all.refusal.get_or_insert_default().extend(chunk.refusal.into_iter().flatten());
    }
    all.content = all.content.filter(|tokens| !tokens.is_empty());
    (!chunks.is_empty()).then_some(all)
}
