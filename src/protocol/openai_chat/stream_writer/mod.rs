//! Writes a stream of Chat Completions
//! (<https://developers.openai.com/api/reference/resources/chat/subresources/completions/streaming-events>).
//!
//! All dialects' streams become Chat streams through this one writer. It knows what the order of chunks has to be: the role first,
//! one reason for the end per choice, the usage after it, `[DONE]` last and once.

#[cfg(test)]
mod tests;

use std::rc::Rc;

use super::error::error_type;
use super::frame;
use super::wire::content::Content;
use super::wire::response::{Annotation, FinishReason, Logprobs};
use super::wire::stream::{DONE, Delta};
use super::wire::usage::CompletionUsage;
use crate::protocol::convert::custom_input::CustomInput;
use crate::protocol::convert::names::ToolKind;
use crate::protocol::convert::{Reply, StreamFault};
use crate::protocol::dialect::Dialect;
use crate::protocol::wire::Raw;

/// The id of the answer to the request that left `reply` behind, in a whole answer and in a stream.
pub fn answer_id(reply: &Reply) -> String {
    format!("chatcmpl-{}", reply.id)
}

/// The state of a stream that is written.
///
/// Each method appends whole events to `out`, as soon as their content is there. After [`finish`](Self::finish) or
/// [`fault`](Self::fault) nothing more is written.
#[derive(Debug)]
pub struct StreamWriter {
    reply: Rc<Reply>,
    /// What every chunk begins with, up to and with `"choices":[`.
    head: Vec<u8>,
    choices: Vec<Choice>,
    usage: Option<CompletionUsage>,
    /// The decoded piece of a custom tool's input; kept for its memory.
    input: String,
    over: bool,
}

/// One of the answers.
#[derive(Debug)]
struct Choice {
    index: u64,
    calls: Vec<Call>,
    finish_reason: Option<FinishReason<'static>>,
}

/// A call of a tool.
#[derive(Debug)]
struct Call {
    kind: CallKind,
    /// Whether any of its arguments came.
    has_arguments: bool,
    closed: bool,
}

#[derive(Debug)]
enum CallKind {
    Function,
    /// The one call of a client that declared its functions in the legacy form.
    Legacy,
    /// A custom tool of the client that the upstream sees as a function.
    WrappedCustom(CustomInput),
    /// A custom tool that the upstream knows as such.
    Custom,
}

impl StreamWriter {
    /// A stream that answers the request that left `reply` behind.
    pub fn new(reply: Rc<Reply>) -> Self {
        Self { reply, head: vec![], choices: vec![], usage: None, input: String::new(), over: false }
    }

    /// Begins the stream, with the model's name if the upstream tells it, and with the role of the first choice. What is written
    /// first begins the stream if this was not called.
    pub fn start(&mut self, model: Option<&str>, out: &mut Vec<u8>) {
        let (id, created) = (answer_id(&self.reply), self.reply.created);
        self.start_as(&id, created, model, "", out);
    }

    /// Begins the stream as that of a given answer; `members` of each chunk end with a comma, if there are any.
    pub(super) fn start_as(&mut self, id: &str, created: u64, model: Option<&str>, members: &str, out: &mut Vec<u8>) {
        if !self.head.is_empty() || self.over {
            return;
        }
        let head = &mut self.head;
        head.extend_from_slice(b"data: {\"id\":");
        frame::string(head, id);
        head.extend_from_slice(b",\"object\":\"chat.completion.chunk\",\"created\":");
        frame::number(head, created);
        head.extend_from_slice(b",\"model\":");
        frame::string(head, model.filter(|model| !model.is_empty()).unwrap_or(&self.reply.model));
        head.push(b',');
        head.extend_from_slice(members.as_bytes());
        if self.reply.include_usage {
            // "All other chunks will also include a usage field, but with a null value."
            head.extend_from_slice(b"\"usage\":null,");
        }
        head.extend_from_slice(b"\"choices\":[");
        self.choice(0, out);
    }

    /// Appends text to the answer `choice`, which is 0 unless several were asked for. An empty text writes nothing.
    pub fn text(&mut self, choice: u64, text: &str, out: &mut Vec<u8>) {
        self.string_delta(choice, b"\"content\":", text, out);
    }

    /// Appends text and how likely its tokens were.
    pub fn text_with_logprobs(&mut self, choice: u64, text: &str, logprobs: &Logprobs<'_>, out: &mut Vec<u8>) {
        let delta = Delta { content: Some(Content::Text(text.into())), ..Delta::default() };
        self.delta_with_logprobs(choice, &delta, Some(logprobs), out);
    }

    /// Appends reasoning, as `reasoning_content`: the vendor has no such member, most clients read this one.
    pub fn reasoning(&mut self, choice: u64, text: &str, out: &mut Vec<u8>) {
        self.string_delta(choice, b"\"reasoning_content\":", text, out);
    }

    /// Appends text of a refusal.
    pub fn refusal(&mut self, choice: u64, text: &str, out: &mut Vec<u8>) {
        self.string_delta(choice, b"\"refusal\":", text, out);
    }

    /// Adds a note on the text so far.
    pub fn annotation(&mut self, choice: u64, annotation: &Annotation<'_>, out: &mut Vec<u8>) {
        let delta = Delta { annotations: Some(vec![annotation.clone()]), ..Delta::default() };
        self.delta(choice, &delta, out);
    }

    /// Adds what no other method does: members of the message beside text and calls, such as `extra_content` and
    /// `thinking_blocks`. It has neither role nor calls.
    pub fn delta(&mut self, choice: u64, delta: &Delta<'_>, out: &mut Vec<u8>) {
        self.delta_with_logprobs(choice, delta, None, out);
    }

    /// As [`delta`](Self::delta), with how likely its tokens were.
    pub fn delta_with_logprobs(
        &mut self,
        choice: u64,
        delta: &Delta<'_>,
        logprobs: Option<&Logprobs<'_>>,
        out: &mut Vec<u8>,
    ) {
        if self.choice(choice, out).is_none() {
            return;
        }
        self.begin(choice, out);
        frame::json(out, delta);
        if let Some(logprobs) = logprobs {
            out.extend_from_slice(b",\"logprobs\":");
            frame::json(out, logprobs);
        }
        out.extend_from_slice(b",\"finish_reason\":null}]}\n\n");
    }

    /// Begins a call of the tool that the upstream calls `name`; the client's name and kind are found. Returns the call's
    /// index, which [`arguments`](Self::arguments) wants. Calls may be open at the same time.
    pub fn tool_call(
        &mut self,
        choice: u64,
        id: &str,
        name: &str,
        extra_content: Option<&Raw<'_>>,
        out: &mut Vec<u8>,
    ) -> usize {
        let reply = self.reply.clone();
        let (name, kind) = match reply.tools.client(name) {
            Some(tool) if tool.kind == ToolKind::Custom => {
                (&*tool.name, CallKind::WrappedCustom(CustomInput::default()))
            }
            Some(tool) => (&*tool.name, CallKind::Function),
            None => (name, CallKind::Function),
        };
        self.call(choice, id, name, kind, extra_content, out)
    }

    /// Begins a call of a custom tool of an upstream that has such tools. Its [`arguments`](Self::arguments) are its input as it
    /// is.
    pub fn custom_call(&mut self, choice: u64, id: &str, name: &str, out: &mut Vec<u8>) -> usize {
        let reply = self.reply.clone();
        self.call(choice, id, reply.tools.client_name(name), CallKind::Custom, None, out)
    }

    fn call(
        &mut self,
        choice: u64,
        id: &str,
        name: &str,
        kind: CallKind,
        extra_content: Option<&Raw<'_>>,
        out: &mut Vec<u8>,
    ) -> usize {
        let is_function = matches!(kind, CallKind::Function);
        let is_legacy = is_function && self.reply.legacy_functions;
        let Some(state) = self.choice(choice, out) else { return 0 };
        let index = state.calls.len();
        if is_legacy {
            // That form has one call; further ones have no place.
            state.calls.push(Call { kind: CallKind::Legacy, has_arguments: false, closed: index > 0 });
            if index == 0 {
                self.legacy_call(choice, b"\"name\":", name, out);
            }
            return index;
        }
        state.calls.push(Call { kind, has_arguments: false, closed: false });
        self.begin_call(choice, index, out);
        out.extend_from_slice(b",\"id\":");
        frame::string(out, id);
        out.extend_from_slice(if is_function {
            b",\"type\":\"function\",\"function\":{\"name\":"
        } else {
            b",\"type\":\"custom\",\"custom\":{\"name\":"
        });
        frame::string(out, name);
        out.extend_from_slice(if is_function { b",\"arguments\":\"\"}" } else { b",\"input\":\"\"}" });
        if let Some(extra_content) = extra_content {
            out.extend_from_slice(b",\"extra_content\":");
            frame::json(out, extra_content);
        }
        Self::end_call(out);
        index
    }

    /// Appends to the arguments of a call: JSON of a function, or the input of a custom tool.
    pub fn arguments(&mut self, choice: u64, call: usize, piece: &str, out: &mut Vec<u8>) {
        if piece.is_empty() {
            return;
        }
        let mut input = std::mem::take(&mut self.input);
        input.clear();
        if let Some(state) = self.open_call(choice, call, out) {
            state.has_arguments = true;
            match &mut state.kind {
                CallKind::Function => self.function_arguments(choice, call, piece, out),
                CallKind::Legacy => self.legacy_call(choice, b"\"arguments\":", piece, out),
                CallKind::Custom => self.custom_input(choice, call, piece, out),
                CallKind::WrappedCustom(custom) => {
                    custom.feed(piece, &mut input);
                    self.custom_input(choice, call, &input, out);
                }
            }
        }
        self.input = input;
    }

    /// Ends a call, which [`finish`](Self::finish) does as well. A function without arguments gets `{}`, since clients read them
    /// as JSON.
    pub fn close_call(&mut self, choice: u64, call: usize, out: &mut Vec<u8>) {
        let Some(state) = self.open_call(choice, call, out) else { return };
        state.closed = true;
        match &mut state.kind {
            CallKind::Function if !state.has_arguments => self.function_arguments(choice, call, "{}", out),
            CallKind::Legacy if !state.has_arguments => self.legacy_call(choice, b"\"arguments\":", "{}", out),
            CallKind::Function | CallKind::Legacy | CallKind::Custom => {}
            CallKind::WrappedCustom(custom) => {
                let mut rest = String::new();
                custom.finish(&mut rest);
                self.custom_input(choice, call, &rest, out);
            }
        }
    }

    /// Notes why an answer ended; the last word counts, and is written by [`finish`](Self::finish). `stop` becomes `tool_calls`
    /// where there are calls, and that `function_call` for clients of legacy functions.
    pub fn finish_reason(&mut self, choice: u64, reason: FinishReason<'_>, out: &mut Vec<u8>) {
        if let Some(choice) = self.choice(choice, out) {
            choice.finish_reason = Some(reason.into_owned());
        }
    }

    /// Notes what the answer took so far; the last word counts. It is written only for a client that asked for it.
    pub fn usage(&mut self, usage: CompletionUsage) {
        self.usage = Some(usage);
    }

    /// Ends the stream: what is open is closed, each choice gets its reason, `stop` where none was noted, and the usage and
    /// `[DONE]` follow.
    pub fn finish(&mut self, out: &mut Vec<u8>) {
        if self.over {
            return;
        }
        self.start(None, out);
        for position in 0..self.choices.len() {
            let Some((index, calls)) = self.choices.get(position).map(|choice| (choice.index, choice.calls.len()))
            else {
                continue;
            };
            (0..calls).for_each(|call| self.close_call(index, call, out));
            let Some(choice) = self.choices.get_mut(position) else { continue };
            let reason = match choice.finish_reason.take() {
                None | Some(FinishReason::Stop) if calls > 0 => FinishReason::ToolCalls,
                None => FinishReason::Stop,
                Some(reason) => reason,
            };
            let reason = match reason {
                FinishReason::ToolCalls if self.reply.legacy_functions => FinishReason::FunctionCall,
                reason => reason,
            };
            self.begin(index, out);
            out.extend_from_slice(b"{},\"finish_reason\":");
            frame::string(out, reason.as_str());
            out.extend_from_slice(b"}]}\n\n");
        }
        if let Some(usage) = self.usage.take().filter(|_| self.reply.include_usage) {
            self.usage_chunk(&usage, out);
        }
        out.extend_from_slice(b"data: ");
        out.extend_from_slice(DONE.as_bytes());
        out.extend_from_slice(b"\n\n");
        self.over = true;
    }

    /// Ends the stream with an error. There is no `[DONE]` after it, which some clients take for a success.
    pub fn fault(&mut self, fault: &StreamFault<'_>, out: &mut Vec<u8>) {
        let fault = &fault.for_client(Dialect::OpenAiChat);
        if std::mem::replace(&mut self.over, true) {
            return;
        }
        out.extend_from_slice(b"data: {\"error\":{\"message\":");
        frame::string(out, &fault.message);
        out.extend_from_slice(b",\"type\":");
        frame::string(out, error_type(fault.status));
        out.extend_from_slice(b",\"param\":null,\"code\":");
        frame::string(out, &fault.code);
        out.extend_from_slice(b"}}\n\n");
    }

    /// Whether the stream has ended.
    pub fn is_over(&self) -> bool {
        self.over
    }

    /// Whether anything was written.
    pub fn has_started(&self) -> bool {
        !self.head.is_empty()
    }

    /// The answer `index`, begun with its role where it is new; `None` after the end.
    fn choice(&mut self, index: u64, out: &mut Vec<u8>) -> Option<&mut Choice> {
        if self.over {
            return None;
        }
        if self.head.is_empty() {
            self.start(None, out);
        }
        let position = match self.choices.iter().position(|choice| choice.index == index) {
            Some(position) => position,
            None => {
                self.choices.push(Choice { index, calls: vec![], finish_reason: None });
                self.begin(index, out);
                out.extend_from_slice(
                    b"{\"role\":\"assistant\",\"content\":\"\",\"refusal\":null},\"finish_reason\":null}]}\n\n",
                );
                self.choices.len() - 1
            }
        };
        self.choices.get_mut(position)
    }

    fn open_call(&mut self, choice: u64, call: usize, out: &mut Vec<u8>) -> Option<&mut Call> {
        self.choice(choice, out)?.calls.get_mut(call).filter(|call| !call.closed)
    }

    /// A chunk of one string, the most frequent one.
    fn string_delta(&mut self, choice: u64, member: &[u8], text: &str, out: &mut Vec<u8>) {
        if text.is_empty() || self.choice(choice, out).is_none() {
            return;
        }
        self.begin(choice, out);
        out.push(b'{');
        out.extend_from_slice(member);
        frame::string(out, text);
        out.extend_from_slice(b"},\"finish_reason\":null}]}\n\n");
    }

    fn function_arguments(&self, choice: u64, call: usize, piece: &str, out: &mut Vec<u8>) {
        self.begin_call(choice, call, out);
        out.extend_from_slice(b",\"function\":{\"arguments\":");
        frame::string(out, piece);
        out.push(b'}');
        Self::end_call(out);
    }

    fn custom_input(&self, choice: u64, call: usize, piece: &str, out: &mut Vec<u8>) {
        if piece.is_empty() {
            return;
        }
        self.begin_call(choice, call, out);
        out.extend_from_slice(b",\"custom\":{\"input\":");
        frame::string(out, piece);
        out.push(b'}');
        Self::end_call(out);
    }

    fn legacy_call(&self, choice: u64, member: &[u8], text: &str, out: &mut Vec<u8>) {
        self.begin(choice, out);
        out.extend_from_slice(b"{\"function_call\":{");
        out.extend_from_slice(member);
        frame::string(out, text);
        out.extend_from_slice(b"}},\"finish_reason\":null}]}\n\n");
    }

    /// The beginning of a chunk, up to the value of `delta`.
    fn begin(&self, choice: u64, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.head);
        out.extend_from_slice(b"{\"index\":");
        frame::number(out, choice);
        out.extend_from_slice(b",\"delta\":");
    }

    fn begin_call(&self, choice: u64, call: usize, out: &mut Vec<u8>) {
        self.begin(choice, out);
        out.extend_from_slice(b"{\"tool_calls\":[{\"index\":");
        frame::number(out, call as u64);
    }

    fn end_call(out: &mut Vec<u8>) {
        out.extend_from_slice(b"}]},\"finish_reason\":null}]}\n\n");
    }

    /// The verdicts on the request and the answer, which stand in a chunk of their own.
    pub(super) fn moderation(&mut self, verdicts: &Raw<'_>, out: &mut Vec<u8>) {
        if self.choice(0, out).is_some() {
            out.extend_from_slice(&self.head);
            out.extend_from_slice(b"],\"moderation\":");
            frame::json(out, verdicts);
            out.extend_from_slice(b"}\n\n");
        }
    }

    fn usage_chunk(&self, usage: &CompletionUsage, out: &mut Vec<u8>) {
        let null = b"\"usage\":null,\"choices\":[";
        out.extend_from_slice(self.head.strip_suffix(null).unwrap_or(&self.head));
        out.extend_from_slice(b"\"choices\":[],\"usage\":");
        frame::json(out, usage);
        out.extend_from_slice(b"}\n\n");
    }
}
