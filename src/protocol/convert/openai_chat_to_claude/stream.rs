//! A Chat Completions upstream's stream for a Claude Messages client.

use std::rc::Rc;

use super::answer::{self, Piece, Thinking};
use super::calls::Calls;
use super::{citations, lost, response};
use crate::protocol::claude::stream_writer::StreamWriter;
use crate::protocol::claude::wire::response::StopReason;
use crate::protocol::claude::wire::usage::Usage;
use crate::protocol::convert::{Losses, Reply, StreamConverter, StreamFault};
use crate::protocol::openai_chat::chunks::Chunks;
use crate::protocol::openai_chat::fault;
use crate::protocol::openai_chat::wire::content::{Content, Part};
use crate::protocol::openai_chat::wire::response::Annotation;
use crate::protocol::openai_chat::wire::stream::{Chunk, ChunkChoice, DONE, Delta};
use crate::protocol::wire::Text;

/// The state of a stream that is converted.
pub struct Stream {
    reply: Rc<Reply>,
    chunks: Chunks,
    writer: StreamWriter,
    calls: Calls,
    /// Why the answer ended, as soon as that is known. The end is written when the usage had its chance to come, which is after it.
    ending: Option<StopReason<'static>>,
    has_content: bool,
    /// Whether the tier is told, which each chunk repeats.
    has_tier: bool,
    refusal: String,
    losses: Losses,
}

impl Stream {
    /// A stream that answers what left `reply` behind.
    pub fn new(reply: Rc<Reply>) -> Self {
        let writer = StreamWriter::new(&reply);
        let (calls, refusal) = (Calls::default(), String::new());
        Self {
            reply,
            chunks: Chunks::default(),
            writer,
            calls,
            ending: None,
            has_content: false,
            has_tier: false,
            refusal,
            losses: Losses::of_stream(),
        }
    }

    fn chunk(&mut self, chunk: &Chunk<'_>, out: &mut Vec<u8>) {
        if let Some(error) = &chunk.error {
            return self.writer.fault(&fault::of_member(error), out);
        }
        if let Some(usage) = chunk.usage.as_ref().filter(|usage| answer::has_counts(usage)) {
            self.writer.usage(&answer::usage(usage));
        }
        if !self.has_tier
            && let Some(service_tier) = answer::service_tier(chunk.service_tier.as_ref())
        {
            self.has_tier = true;
            self.writer.usage(&Usage { service_tier: Some(service_tier), ..Usage::default() });
        }
        if chunk.moderation.is_some() {
            lost::moderation(&mut self.losses);
        }
        for choice in chunk.choices.iter().flatten() {
            if choice.index != 0 {
                lost::choices(&mut self.losses);
                continue;
            }
            self.writer.start("", chunk.model.as_deref().unwrap_or_default(), None, out);
            self.choice(choice, out);
        }
    }

    fn choice(&mut self, choice: &ChunkChoice<'_>, out: &mut Vec<u8>) {
        if choice.logprobs.is_some() {
            lost::logprobs(&mut self.losses);
        }
        self.delta(&choice.delta, out);
        lost::finish_reason(choice.finish_reason.as_ref(), &mut self.losses);
        match choice.finish_reason.as_ref().map(answer::stop_reason) {
            None => {}
            Some(Ok(reason)) => self.ending = Some(reason),
            Some(Err(end)) => self.writer.fault(&end, out),
        }
    }

    fn delta(&mut self, delta: &Delta<'_>, out: &mut Vec<u8>) {
        self.thinking(delta, out);
        if let Some(signature) = answer::gemini_signature(delta.extra_content.as_ref()) {
            self.writer.signature(&signature, out);
        }
        match &delta.content {
            None => {}
            Some(Content::Text(text)) => self.text(text, out),
            Some(Content::Parts(parts)) => {
                for (index, part) in parts.iter().enumerate() {
                    lost::part(part, index, &mut self.losses);
                    self.part(part, out);
                }
            }
        }
        if let Some(refusal) = &delta.refusal {
            self.refusal.push_str(refusal);
            self.text(refusal, out);
        }
        if let Some(audio) = &delta.audio {
            lost::audio(&mut self.losses);
            self.text(audio.transcript.as_deref().unwrap_or_default(), out);
        }
        for annotation in delta.annotations.iter().flatten() {
            match annotation {
                Annotation::UrlCitation(annotation) => {
                    self.writer.citation(&citations::citation(&annotation.url_citation), out);
                }
                Annotation::Other(_) => lost::annotations(&mut self.losses),
            }
        }
        for call in delta.tool_calls.iter().flatten() {
            self.has_content = true;
            self.calls.delta(call, &self.reply, &mut self.writer, out);
        }
        if let Some(call) = &delta.function_call {
            self.has_content = true;
            self.calls.function_call(call, &self.reply, &mut self.writer, out);
        }
    }

    fn thinking(&mut self, delta: &Delta<'_>, out: &mut Vec<u8>) {
        let thinking = Thinking {
            reasoning_content: delta.reasoning_content.as_ref(),
            reasoning: delta.reasoning.as_ref(),
            details: delta.reasoning_details.as_deref(),
            blocks: delta.thinking_blocks.as_deref(),
        };
        for piece in thinking.pieces() {
            self.has_content = true;
            match piece {
                Piece::Text(text) => self.writer.thinking(text, out),
                Piece::Signature(signature) => self.writer.signature(signature, out),
                Piece::Redacted(data) => self.writer.redacted_thinking(data, out),
            }
        }
    }

    fn text(&mut self, text: &str, out: &mut Vec<u8>) {
        self.has_content |= !text.is_empty();
        self.writer.text(text, out);
    }

    fn part(&mut self, part: &Part<'_>, out: &mut Vec<u8>) {
        match part {
            Part::Text(part) => self.text(&part.text, out),
            Part::Refusal(part) => self.text(&part.refusal, out),
            Part::Other(raw) => {
                if let Some(thinking) = answer::thinking_part(raw) {
                    self.writer.thinking(&thinking, out);
                }
            }
            _ => {}
        }
    }

    /// Ends the stream as the source said, or as one that was cut off.
    fn end(&mut self, is_done: bool, out: &mut Vec<u8>) {
        // Some vendors say that they are done and not why.
        let reason = self.ending.take().or((is_done && self.has_content).then_some(StopReason::EndTurn));
        let Some(reason) = reason else { return self.writer.fault(&StreamFault::cut_off(), out) };
        self.calls.finish(&self.reply, &mut self.writer, out);
        let has_refused = !self.refusal.is_empty();
        match reason {
            StopReason::EndTurn | StopReason::Refusal if has_refused => {
                let details = response::refused(Some(Text::from(&*self.refusal)));
                self.writer.stop(StopReason::Refusal, None, Some(details));
            }
            StopReason::Refusal => self.writer.stop(StopReason::Refusal, None, Some(response::refused(None))),
            reason => self.writer.stop(reason, None, None),
        }
        self.writer.finish(out);
    }
}

impl StreamConverter for Stream {
    fn event(&mut self, data: &str, out: &mut Vec<u8>) {
        if self.writer.is_over() {
            return;
        }
        if data.trim() == DONE {
            return self.end(true, out);
        }
        match self.chunks.read(data) {
            Ok(chunk) => self.chunk(&chunk, out),
            Err(_) => self.writer.fault(&StreamFault::unreadable(), out),
        }
    }

    fn is_over(&self) -> bool {
        self.writer.is_over()
    }

    fn losses(&self) -> &Losses {
        &self.losses
    }

    fn finish(&mut self, out: &mut Vec<u8>) {
        if !self.writer.is_over() {
            self.end(false, out);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The names of the events, each with its block's place and with the text of its delta.
    fn convert(events: &[&str]) -> String {
        let reply = Reply { id: "r1".to_owned(), model: "m".to_owned(), ..Reply::default() };
        let (mut stream, mut out) = (Stream::new(Rc::new(reply)), Vec::new());
        events.iter().for_each(|event| stream.event(event, &mut out));
        stream.finish(&mut out);
        assert!(stream.is_over());
        let text = String::from_utf8(out).unwrap();
        let describe = |frame: &str| {
            let (name, data) = frame.strip_prefix("event: ").unwrap().split_once("\ndata: ").unwrap();
            let value: serde_json::Value = serde_json::from_str(data).unwrap();
            let place = value["index"].as_u64().map(|index| index.to_string()).unwrap_or_default();
            let delta = &value["delta"];
            let members = ["text", "thinking", "partial_json", "signature", "stop_reason"];
            let text = members.iter().find_map(|member| delta[member].as_str()).unwrap_or_default();
            let kind = value["content_block"]["type"].as_str().unwrap_or(text);
            let tokens =
                value["usage"]["output_tokens"].as_u64().map(|tokens| format!(" {tokens}")).unwrap_or_default();
            format!("{}{place} {kind}{tokens}", name.trim_start_matches("content_block_")).trim_end().to_owned()
        };
        text.split_terminator("\n\n").map(describe).collect::<Vec<_>>().join(", ")
    }

    fn delta(delta: &str) -> String {
        format!(r#"{{"choices":[{{"index":0,"delta":{delta},"finish_reason":null}}]}}"#)
    }

    /// B22: thinking and text in turns, in one delta even, become blocks one after another.
    #[test]
    fn thinking_and_text_become_blocks_one_after_another() {
        let deltas = [
            r#"{"role":"assistant"}"#,
            r#"{"reasoning_content":"a"}"#,
            r#"{"reasoning_content":"b","content":"X"}"#,
            r#"{"content":"Y"}"#,
            r#"{"reasoning_content":"c"}"#,
            r#"{"content":"Z"}"#,
        ]
        .map(delta);
        let mut events: Vec<&str> = deltas.iter().map(|delta| &**delta).collect();
        events.push(r#"{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}"#);
        events.push(DONE);
        let wanted = "message_start, start0 thinking, delta0 a, delta0 b, stop0, start1 text, delta1 X, delta1 Y, stop1, \
            start2 thinking, delta2 c, stop2, start3 text, delta3 Z, stop3, message_delta end_turn 0, message_stop";
        assert_eq!(convert(&events), wanted);
    }

    /// B26: a last fragment beside the reason for the end counts, and the end waits for the usage.
    #[test]
    fn the_last_fragment_and_the_usage_after_the_end_count() {
        let events = [
            r#"{"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"c","function":{"name":"f","arguments":"{\"p\":"}}]}}]}"#,
            r#"{"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"1}"}}]},"finish_reason":"tool_calls"}]}"#,
            r#"{"choices":[],"usage":{"prompt_tokens":9,"completion_tokens":4,"total_tokens":13}}"#,
            DONE,
        ];
        let wanted =
            "message_start, start0 tool_use, delta0 {\"p\":, delta0 1}, stop0, message_delta tool_use 4, message_stop";
        assert_eq!(convert(&events), wanted);
    }

    /// B28: what was cut off is an error, and nothing is made up.
    #[test]
    fn a_cut_stream_is_an_error() {
        let text = delta(r#"{"content":"Hel"}"#);
        assert_eq!(convert(&[&text]), "message_start, start0 text, delta0 Hel, error");
        assert_eq!(convert(&[]), "error");
        assert_eq!(convert(&[DONE]), "error");
        assert_eq!(convert(&[&text, "{"]), "message_start, start0 text, delta0 Hel, error");
        assert_eq!(
            convert(&[&text, r#"{"error":{"message":"m"}}"#, DONE]),
            "message_start, start0 text, delta0 Hel, error"
        );
    }

    /// B08: a call without arguments has no delta, which means `{}`.
    #[test]
    fn a_call_without_arguments_is_whole() {
        let call = delta(r#"{"tool_calls":[{"index":0,"id":"c","function":{"name":"now","arguments":""}}]}"#);
        let end = r#"{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}"#;
        let wanted = "message_start, start0 tool_use, stop0, message_delta tool_use 0, message_stop";
        assert_eq!(convert(&[&call, end]), wanted);
    }

    /// B34, B35: zeros and null do not overwrite counts, and a chunk without choices is no harm.
    #[test]
    fn the_last_counts_win() {
        let events = [
            r#"{"choices":[{"index":0,"delta":{"content":"a"}}],"usage":null}"#,
            r#"{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}],"usage":{"prompt_tokens":7,"completion_tokens":3}}"#,
            r#"{"choices":[],"usage":{"prompt_tokens":0,"completion_tokens":0}}"#,
            r#"{"choices":null}"#,
            "{}",
            DONE,
        ];
        let wanted = "message_start, start0 text, delta0 a, stop0, message_delta end_turn 3, message_stop";
        assert_eq!(convert(&events), wanted);
    }
}
