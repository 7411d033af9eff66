//! Writes a stream of Responses
//! (<https://developers.openai.com/api/reference/resources/responses/streaming-events>).
//!
//! All dialects' streams become Responses streams through this one writer. It numbers the events, opens and closes items and their
//! parts in order, and remembers what it wrote, because the last event repeats all of it.

mod call;
mod events;
mod item;
mod local;
mod part;
#[cfg(test)]
mod tests;

use std::rc::Rc;

use call::{Call, CallKind, Identity};
pub(super) use events::{Events, place};
use item::PartedItem;
use local::LocalCall;
pub(super) use part::{Part, PartKind};

use super::local_tools::LocalTool;
use super::wire::content::{Annotation, LogProb};
use super::wire::item::Item;
use super::wire::response::{IncompleteReason, Usage};
use super::{echo, ids};
use crate::protocol::convert::custom_input::CustomInput;
use crate::protocol::convert::names::ToolKind;
use crate::protocol::convert::{Reply, StreamFault};
use crate::protocol::dialect::Dialect;
use crate::protocol::openai_chat::frame;

/// The state of a stream that is written.
///
/// Each method appends whole events to `out`, as soon as their content is there. A message or reasoning ends where something else
/// begins; calls may be open at the same time. After [`finish`](Self::finish) or [`fault`](Self::fault) nothing more is written.
#[derive(Debug)]
pub struct StreamWriter {
    reply: Rc<Reply>,
    events: Events,
    model: Option<String>,
    output: Vec<Output>,
    /// The message or the reasoning that is open.
    open: Option<PartedItem>,
    usage: Option<Usage>,
    /// The decoded piece of a custom tool's input; kept for its memory.
    input: String,
    over: bool,
}

/// A place in the output.
#[derive(Debug)]
enum Output {
    /// The message or the reasoning that is open.
    Open,
    /// A call that is open.
    Call(Box<Call>),
    /// A call of which nothing is shown before it is whole.
    Local(Box<LocalCall>),
    /// A whole item, as JSON.
    Done(Vec<u8>),
}

impl StreamWriter {
    /// A stream that answers the request that left `reply` behind.
    pub fn new(reply: Rc<Reply>) -> Self {
        Self {
            reply,
            events: Events::default(),
            model: None,
            output: vec![],
            open: None,
            usage: None,
            input: String::new(),
            over: false,
        }
    }

    /// Begins the stream, with the model's name if the upstream tells it. What is written first begins the stream if this was not
    /// called.
    pub fn start(&mut self, model: Option<&str>, out: &mut Vec<u8>) {
        if !self.has_started() {
            self.create(model, out);
            self.state("response.in_progress", &Status::InProgress, out);
        }
    }

    /// Appends text to the open message, or to a new one. An empty text writes nothing.
    pub fn text(&mut self, text: &str, out: &mut Vec<u8>) {
        self.delta(PartKind::Text, text, out);
    }

    /// Appends text and how likely its tokens were.
    pub fn text_with_logprobs(&mut self, text: &str, logprobs: &[LogProb<'_>], out: &mut Vec<u8>) {
        if let Some((item, events)) = self.item_for(PartKind::Text, out) {
            item.part(PartKind::Text, events, out).delta_with_logprobs(text, logprobs, events, out);
        }
    }

    /// Appends to a refusal.
    pub fn refusal(&mut self, text: &str, out: &mut Vec<u8>) {
        self.delta(PartKind::Refusal, text, out);
    }

    /// Adds a note on the text so far, or on the empty text if there is none.
    pub fn annotation(&mut self, annotation: &Annotation<'_>, out: &mut Vec<u8>) {
        if let Some((item, events)) = self.item_for(PartKind::Text, out) {
            item.part(PartKind::Text, events, out).annotation(annotation, events, out);
        }
    }

    /// Whether a part of text is open, to which an annotation would belong.
    pub fn has_open_text(&mut self) -> bool {
        self.open.as_mut().is_some_and(|item| item.open_text().is_some())
    }

    /// Appends to the summary of the open reasoning, or of a new one.
    pub fn reasoning(&mut self, text: &str, out: &mut Vec<u8>) {
        self.delta(PartKind::Summary, text, out);
    }

    /// Appends to the text of the open reasoning itself, which is what open models show, or to that of a new one.
    pub fn reasoning_text(&mut self, text: &str, out: &mut Vec<u8>) {
        self.delta(PartKind::Reasoning, text, out);
    }

    /// Gives the open reasoning, or a new one without text, its `encrypted_content`. Reasoning that follows is another item.
    pub fn seal_reasoning(&mut self, encrypted_content: impl Into<String>, out: &mut Vec<u8>) {
        if let Some((item, _)) = self.item_for(PartKind::Summary, out) {
            item.encrypted_content = Some(encrypted_content.into());
        }
    }

    /// Ends the part that is open; text of the same kind that follows becomes another part of the same item.
    pub fn end_part(&mut self, out: &mut Vec<u8>) {
        if let Some(item) = &mut self.open {
            item.close_part(&mut self.events, out);
        }
    }

    /// Ends the reasoning that is open. Messages need no such word: they end where something else begins.
    pub fn end_reasoning(&mut self, out: &mut Vec<u8>) {
        if self.open.as_ref().is_some_and(|item| item.is_reasoning) {
            self.close_open(false, out);
        }
    }

    /// Begins a call of the tool that the upstream calls `name`; the client's name, namespace and kind are found. Returns what
    /// [`arguments`](Self::arguments) wants: the place in the output.
    pub fn tool_call(&mut self, call_id: &str, name: &str, out: &mut Vec<u8>) -> usize {
        let kind = self.reply.tools.client(name).map(|tool| tool.kind);
        if let Some(tool) = kind.and_then(LocalTool::from_kind) {
            return self.local_call(tool, call_id, name, out);
        }
        let kind = match kind {
            Some(ToolKind::Custom) => CallKind::WrappedCustom(CustomInput::default()),
            _ => CallKind::Function,
        };
        self.call(call_id, name, kind, out)
    }

    /// Begins a call of a custom tool of an upstream that has such tools. Its [`arguments`](Self::arguments) are its input as it
    /// is.
    pub fn custom_call(&mut self, call_id: &str, name: &str, out: &mut Vec<u8>) -> usize {
        self.call(call_id, name, CallKind::Custom, out)
    }

    fn local_call(&mut self, tool: LocalTool, call_id: &str, name: &str, out: &mut Vec<u8>) -> usize {
        if self.over {
            return 0;
        }
        self.settle(out);
        let (call_id, name) = (call_id.to_owned(), name.to_owned());
        let call = LocalCall { tool, call_id, name, arguments: String::new(), ended: false };
        self.output.push(Output::Local(Box::new(call)));
        self.output.len() - 1
    }

    fn call(&mut self, call_id: &str, name: &str, kind: CallKind, out: &mut Vec<u8>) -> usize {
        if self.over {
            return 0;
        }
        self.settle(out);
        let reply = self.reply.clone();
        let tool = reply.tools.client(name);
        let output_index = self.output.len();
        let item_id = match kind {
            CallKind::Function => ids::function_call(&reply, output_index),
            CallKind::Custom | CallKind::WrappedCustom(_) => ids::custom_tool_call(&reply, output_index),
        };
        let identity = Identity {
            output_index,
            item_id: &item_id,
            call_id,
            name: tool.map_or(name, |tool| &tool.name),
            namespace: tool.and_then(|tool| tool.namespace.as_deref()),
        };
        self.output.push(Output::Call(Box::new(Call::open(&identity, kind, &mut self.events, out))));
        output_index
    }

    /// Appends to the arguments of a call: JSON of a function, or the input of a custom tool.
    pub fn arguments(&mut self, call: usize, piece: &str, out: &mut Vec<u8>) {
        let Self { output, events, input, over: false, .. } = self else { return };
        match output.get_mut(call) {
            Some(Output::Call(call)) if !piece.is_empty() && !call.ended => call.arguments(piece, input, events, out),
            Some(Output::Local(call)) if !call.ended => call.arguments.push_str(piece),
            _ => {}
        }
    }

    /// Notes that all arguments of a call have come. Its item is closed when the next one begins or the stream ends, because only
    /// then it is known whether it was cut.
    pub fn close_call(&mut self, call: usize) {
        match self.output.get_mut(call) {
            Some(Output::Call(call)) => call.ended = true,
            Some(Output::Local(call)) => call.ended = true,
            _ => {}
        }
    }

    /// Adds an item that is there as a whole, such as a search that the vendor has made. It has an id of its own.
    pub fn whole_item(&mut self, item: &Item<'_>, out: &mut Vec<u8>) {
        if self.over {
            return;
        }
        self.settle(out);
        let mut json = vec![];
        frame::json(&mut json, item);
        let output_index = self.output.len();
        for moment in ["added", "done"] {
            self.events.item(moment, output_index, out, |out| out.extend_from_slice(&json));
        }
        self.output.push(Output::Done(json));
    }

    /// How many items there are so far: the place of the next one, for its [id](ids).
    pub fn item_count(&self) -> usize {
        self.output.len()
    }

    /// Notes what the answer took so far; the last word counts. What was never told is written as zeros.
    pub fn usage(&mut self, usage: Usage) {
        self.usage = Some(usage.with_all_details());
    }

    /// Ends the stream. What is open is closed; with a reason why the answer is incomplete, the last item is incomplete as well,
    /// unless it is a call whose arguments are whole.
    pub fn finish(&mut self, incomplete: Option<IncompleteReason<'_>>, out: &mut Vec<u8>) {
        if self.over {
            return;
        }
        self.start(None, out);
        // The vendor always tells it, and there are clients that take no end without it.
        self.usage.get_or_insert_with(|| Usage::default().with_all_details());
        let is_cut = incomplete.is_some();
        self.close_open(is_cut, out);
        for index in 0..self.output.len() {
            self.close(index, is_cut && index + 1 == self.output.len(), out);
        }
        match incomplete {
            Some(reason) => self.state("response.incomplete", &Status::Incomplete(reason), out),
            None => self.state("response.completed", &Status::Completed, out),
        }
        self.over = true;
    }

    /// Ends the stream with an error. What is open stays open, and is not in the output.
    pub fn fault(&mut self, fault: &StreamFault<'_>, out: &mut Vec<u8>) {
        let fault = &fault.for_client(Dialect::OpenAiResponses);
        if self.over {
            return;
        }
        if !self.has_started() {
            self.create(None, out);
        }
        self.state("response.failed", &Status::Failed(fault), out);
        self.over = true;
    }

    /// Whether the stream has ended.
    pub fn is_over(&self) -> bool {
        self.over
    }

    /// Whether anything was written.
    pub fn has_started(&self) -> bool {
        self.model.is_some()
    }

    fn create(&mut self, model: Option<&str>, out: &mut Vec<u8>) {
        let model = model.filter(|model| !model.is_empty()).unwrap_or(&self.reply.model);
        self.model = Some(model.to_owned());
        self.state("response.created", &Status::InProgress, out);
    }

    fn delta(&mut self, kind: PartKind, text: &str, out: &mut Vec<u8>) {
        if !text.is_empty()
            && let Some((item, events)) = self.item_for(kind, out)
        {
            item.part(kind, events, out).delta(text, events, out);
        }
    }

    /// The open item, if a part of this kind can be in it; else a new one. `None` after the end.
    fn item_for(&mut self, kind: PartKind, out: &mut Vec<u8>) -> Option<(&mut PartedItem, &mut Events)> {
        if self.over {
            return None;
        }
        let is_reasoning = matches!(kind, PartKind::Summary | PartKind::Reasoning);
        let fits = |item: &PartedItem| item.is_reasoning == is_reasoning && item.encrypted_content.is_none();
        if !self.open.as_ref().is_some_and(fits) {
            self.settle(out);
            let index = self.output.len();
            let id = if is_reasoning { ids::reasoning(&self.reply, index) } else { ids::message(&self.reply, index) };
            self.open = Some(PartedItem::open(is_reasoning, index, id, &mut self.events, out));
            self.output.push(Output::Open);
        }
        self.open.as_mut().map(|item| (item, &mut self.events))
    }

    /// Makes room for a new item: begins the stream if nothing has, and closes what has ended.
    fn settle(&mut self, out: &mut Vec<u8>) {
        self.start(None, out);
        self.close_open(false, out);
        for index in 0..self.output.len() {
            let has_ended = match self.output.get(index) {
                Some(Output::Call(call)) => call.ended,
                Some(Output::Local(call)) => call.ended,
                _ => false,
            };
            if has_ended {
                self.close(index, false, out);
            }
        }
    }

    fn close_open(&mut self, is_cut: bool, out: &mut Vec<u8>) {
        let Some(item) = self.open.take() else { return };
        let index = item.output_index;
        let is_cut = is_cut && index + 1 == self.output.len();
        let done = item.close(is_cut, &mut self.events, out);
        if let Some(place) = self.output.get_mut(index) {
            *place = Output::Done(done);
        }
    }

    /// Closes a call.
    fn close(&mut self, index: usize, is_cut: bool, out: &mut Vec<u8>) {
        let Some(place) = self.output.get_mut(index) else { return };
        match std::mem::replace(place, Output::Open) {
            Output::Call(call) => *place = Output::Done(call.close(is_cut, &mut self.events, out)),
            Output::Local(call) => *place = Output::Done(call.close(&self.reply, index, &mut self.events, out)),
            other => *place = other,
        }
    }

    fn state(&mut self, kind: &str, status: &Status<'_>, out: &mut Vec<u8>) {
        self.events.begin(kind, out);
        out.extend_from_slice(b",\"response\":");
        self.response(status, out);
        Events::end(out);
    }

    fn response(&self, status: &Status<'_>, out: &mut Vec<u8>) {
        out.extend_from_slice(b"{\"id\":");
        frame::string(out, &ids::response(&self.reply));
        out.extend_from_slice(b",\"object\":\"response\",\"created_at\":");
        frame::number(out, self.reply.created);
        out.extend_from_slice(b",\"status\":\"");
        out.extend_from_slice(status.word().as_bytes());
        out.extend_from_slice(b"\",\"error\":");
        status.error(out);
        out.extend_from_slice(b",\"incomplete_details\":");
        status.incomplete_details(out);
        out.extend_from_slice(b",\"model\":");
        frame::string(out, self.model.as_deref().unwrap_or(&self.reply.model));
        out.extend_from_slice(b",\"output\":[");
        let done = self.output.iter().filter_map(|place| match place {
            Output::Done(item) => Some(item),
            Output::Open | Output::Call(_) | Output::Local(_) => None,
        });
        for (index, item) in done.enumerate() {
            if index > 0 {
                out.push(b',');
            }
            out.extend_from_slice(item);
        }
        out.extend_from_slice(b"],\"usage\":");
        frame::json(out, &self.usage.as_ref().filter(|_| !matches!(status, Status::InProgress)));
        out.push(b',');
        let echo = echo::of(&self.reply);
        out.extend_from_slice(echo.strip_prefix('{').unwrap_or(echo).as_bytes());
    }
}

/// How far the response is, with what belongs to that.
enum Status<'a> {
    InProgress,
    Completed,
    Incomplete(IncompleteReason<'a>),
    Failed(&'a StreamFault<'a>),
}

impl Status<'_> {
    fn word(&self) -> &'static str {
        match self {
            Self::InProgress => "in_progress",
            Self::Completed => "completed",
            Self::Incomplete(_) => "incomplete",
            Self::Failed(_) => "failed",
        }
    }

    fn error(&self, out: &mut Vec<u8>) {
        let Self::Failed(fault) = self else { return out.extend_from_slice(b"null") };
        out.extend_from_slice(b"{\"code\":");
        frame::string(out, &fault.code);
        out.extend_from_slice(b",\"message\":");
        frame::string(out, &fault.message);
        out.push(b'}');
    }

    fn incomplete_details(&self, out: &mut Vec<u8>) {
        let Self::Incomplete(reason) = self else { return out.extend_from_slice(b"null") };
        out.extend_from_slice(b"{\"reason\":");
        frame::string(out, reason.as_str());
        out.push(b'}');
    }
}
