//! A Claude Messages upstream's answer for a Responses client.

use std::borrow::Cow;

use super::hosted::{self, HostedCall};
use super::usage::Counts;
use super::{citations, ending, lost};
use crate::protocol::claude::fold::cut_arguments;
use crate::protocol::claude::wire::content::{ContentBlock, TextBlock, ThinkingBlock, ToolUseBlock};
use crate::protocol::claude::wire::response::Message;
use crate::protocol::convert::names::{Charset, ToolKind};
use crate::protocol::convert::seal::{Family, seal};
use crate::protocol::convert::{ConvertError, Losses, Reply, custom_input};
use crate::protocol::openai_responses::local_tools::LocalTool;
use crate::protocol::openai_responses::wire::content::{Annotation, OutputText, Part, PlainText, Refusal};
use crate::protocol::openai_responses::wire::item::{
    CustomToolCall, FunctionCall, Item, Message as MessageItem, ReasoningItem, Role,
};
use crate::protocol::openai_responses::wire::response::{IncompleteDetails, Response as Target, Status};
use crate::protocol::openai_responses::{echo, ids};
use crate::protocol::wire::{Text, TextOr};

/// Converts `response`.
pub fn convert<'a>(
    response: &'a Message<'a>,
    reply: &'a Reply,
    losses: &mut Losses,
) -> Result<Target<'a>, ConvertError> {
    let container = response.container.as_ref().map(|container| &*container.id);
    let mut output = Output { reply, container, items: Vec::new(), said: Said::default(), calls: Vec::new() };
    for (index, block) in (0..).zip(&response.content) {
        output.block(block, index, losses);
    }
    if response.stop_sequence.is_some() {
        lost::stop_sequence(losses);
    }
    lost::stop_reason(response.stop_reason.as_ref(), losses);
    let incomplete = ending::incomplete(response.stop_reason.as_ref());
    let refusal = ending::explanation(response.stop_details.as_ref());
    let items = output.finish(refusal, incomplete.is_some());
    let mut counts = Counts::default();
    if let Some(usage) = &response.usage {
        counts.update(usage);
    }
    let status = if incomplete.is_some() { Status::Incomplete } else { Status::Completed };
    Ok(Target {
        completed_at: incomplete.is_none().then_some(reply.created),
        status: Some(status),
        incomplete_details: incomplete.map(|reason| IncompleteDetails { reason: Some(reason) }),
        model: Some(response.model.by_ref()),
        output: items,
        usage: Some(counts.usage()),
        ..echo::response(reply)
    })
}

/// The items of an answer.
struct Output<'a> {
    reply: &'a Reply,
    container: Option<&'a str>,
    items: Vec<Item<'a>>,
    said: Said<'a>,
    calls: Vec<HostedCall>,
}

/// The message that is being put together: successive text blocks are one flow.
#[derive(Default)]
struct Said<'a> {
    texts: Vec<&'a Text<'a>>,
    characters: u64,
    annotations: Vec<Annotation<'a>>,
}

impl<'a> Output<'a> {
    fn block(&mut self, block: &'a ContentBlock<'a>, index: u64, losses: &mut Losses) {
        if let ContentBlock::Text(block) = block {
            return self.said.add(block, index, losses);
        }
        self.end_message(None, false);
        match block {
            ContentBlock::Thinking(block) => self.thinking(block),
            ContentBlock::RedactedThinking(block) => {
                self.reasoning(None, Some(seal(Family::ClaudeRedacted, &block.data)));
            }
            ContentBlock::ToolUse(call) => self.call(call),
            ContentBlock::McpToolListing(block) => {
                self.items.extend(hosted::listing(block, self.reply, self.items.len()));
            }
            _ => self.hosted(block, index, losses),
        }
    }

    /// A call that the vendor carries out, or its result.
    fn hosted(&mut self, block: &'a ContentBlock<'a>, index: u64, losses: &mut Losses) {
        if let Some(call) = HostedCall::of(block) {
            self.calls.push(call);
            return;
        }
        let id = hosted::answered(block);
        let call = id.and_then(|id| Some(self.calls.swap_remove(self.calls.iter().position(|call| call.id == id)?)));
        let item = call.and_then(|call| hosted::item(&call, Some(block), self.container, self.reply, self.items.len()));
        match item {
            Some(item) => self.items.push(item),
            None => lost::block(index, losses),
        }
    }

    fn thinking(&mut self, block: &'a ThinkingBlock<'a>) {
        let signature = block.signature.as_deref().filter(|signature| !signature.is_empty());
        let text = Some(&block.thinking).filter(|thinking| !thinking.is_empty());
        if signature.is_some() || text.is_some() {
            self.reasoning(text, signature.map(|signature| seal(Family::Claude, signature)));
        }
    }

    fn reasoning(&mut self, text: Option<&'a Text<'a>>, encrypted_content: Option<String>) {
        let summary = text.map(|text| Part::SummaryText(PlainText { text: text.by_ref() }));
        self.items.push(Item::Reasoning(ReasoningItem {
            id: Some(ids::reasoning(self.reply, self.items.len()).into()),
            summary: summary.into_iter().collect(),
            content: None,
            encrypted_content: encrypted_content.map(Text::from),
            status: None,
        }));
    }

    fn call(&mut self, call: &'a ToolUseBlock<'a>) {
        let (reply, index) = (self.reply, self.items.len());
        let tool = reply.tools.client(&call.name);
        let name: &'a str = tool.map_or(&*call.name, |tool| &tool.name);
        let namespace = tool.and_then(|tool| tool.namespace.as_deref()).map(Text::from);
        let call_id = Text(Charset::OPENAI.fit(&call.id));
        // B08: arguments that were cut are told as they came.
        let cut = cut_arguments(&call.input);
        let status = Some(if cut.is_some() { "incomplete" } else { "completed" }.into());
        let arguments = cut.map_or(Cow::Borrowed(call.input.get()), Cow::Owned);
        let kind = tool.map_or(ToolKind::Function, |tool| tool.kind);
        let local = LocalTool::from_kind(kind).and_then(|local| {
            local.item(ids::item(local.id_prefix(), reply, index).into(), call_id.clone(), call.input.get())
        });
        self.items.push(match (local, kind) {
            (Some(item), _) => item,
            (None, ToolKind::Custom) => Item::CustomToolCall(CustomToolCall {
                id: Some(ids::custom_tool_call(reply, index).into()),
                call_id,
                name: name.into(),
                namespace,
                input: custom_input::text(&arguments).into(),
                status,
                ..CustomToolCall::default()
            }),
            (None, _) => Item::FunctionCall(FunctionCall {
                id: Some(ids::function_call(reply, index).into()),
                call_id,
                name: name.into(),
                namespace,
                arguments: Text(arguments),
                status,
                ..FunctionCall::default()
            }),
        });
    }

    /// Ends the message that is being put together, if there is one.
    fn end_message(&mut self, refusal: Option<&'a Text<'a>>, is_cut: bool) {
        let Said { texts, annotations, .. } = std::mem::take(&mut self.said);
        let text = match texts.as_slice() {
            [] => None,
            [only] => Some(only.by_ref()),
            texts => Some(texts.iter().map(|text| &***text).collect::<String>().into()),
        };
        let text = text.filter(|text: &Text<'_>| !text.is_empty()).map(|text| {
            Part::OutputText(OutputText { text, annotations: Some(annotations), logprobs: Some(Vec::new()) })
        });
        let refusal = refusal.map(|refusal| Part::Refusal(Refusal { refusal: refusal.by_ref() }));
        let parts: Vec<_> = text.into_iter().chain(refusal).collect();
        if parts.is_empty() {
            return;
        }
        self.items.push(Item::Message(MessageItem {
            id: Some(ids::message(self.reply, self.items.len()).into()),
            role: Role::Assistant,
            content: TextOr::Structured(parts),
            phase: None,
            status: Some(if is_cut { "incomplete" } else { "completed" }.into()),
        }));
    }

    fn finish(mut self, refusal: Option<&'a Text<'a>>, is_cut: bool) -> Vec<Item<'a>> {
        self.end_message(refusal, is_cut);
        // In an answer that is whole, what has no result waits for the client and is told by the client's own calls.
        for call in std::mem::take(&mut self.calls).iter().filter(|_| is_cut) {
            self.items.extend(hosted::item(call, None, self.container, self.reply, self.items.len()));
        }
        self.items
    }
}

impl<'a> Said<'a> {
    fn add(&mut self, block: &'a TextBlock<'a>, index: u64, losses: &mut Losses) {
        let start = self.characters;
        self.characters += block.text.chars().count() as u64;
        self.texts.push(&block.text);
        for citation in block.citations.iter().flatten() {
            match citations::annotation(citation, start, self.characters) {
                Some(annotation) => self.annotations.push(annotation),
                None => lost::citation(index, losses),
            }
        }
    }
}
