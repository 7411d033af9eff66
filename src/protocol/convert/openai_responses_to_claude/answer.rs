//! Items of an answer as content blocks.

use std::borrow::Cow;

use serde_json::json;

use super::{hosted, lost};
use crate::protocol::claude::wire::citation::{Citation, WebSearchResultLocation};
use crate::protocol::claude::wire::content::{ContentBlock, TextBlock, ThinkingBlock, ToolUseBlock};
use crate::protocol::convert::claude_to_openai_responses::sealed;
use crate::protocol::convert::names::{CUSTOM_INPUT, Charset};
use crate::protocol::convert::{Losses, Reply};
use crate::protocol::openai_responses::local_tools;
use crate::protocol::openai_responses::wire::content::{Annotation, OutputText, Part};
use crate::protocol::openai_responses::wire::item::{Item, Message, ReasoningItem};
use crate::protocol::wire::{Raw, Text, TextOr};

/// Stands between the sections of a summary, which are one text at Claude.
pub(super) const SECTION: &str = "\n\n";

/// The blocks of an answer.
pub(super) struct Blocks<'a> {
    reply: &'a Reply,
    /// The blocks so far.
    pub(super) blocks: Vec<ContentBlock<'a>>,
    /// What the model said in order to refuse.
    pub(super) refusal: Option<String>,
}

impl<'a> Blocks<'a> {
    pub(super) fn new(reply: &'a Reply) -> Self {
        Self { reply, blocks: Vec::new(), refusal: None }
    }

    /// Whether the client has calls to carry out.
    pub(super) fn has_calls(&self) -> bool {
        self.blocks.iter().any(|block| matches!(block, ContentBlock::ToolUse(_)))
    }

    /// Adds the item at `index` of the output.
    pub(super) fn item(&mut self, item: &'a Item<'a>, index: usize, losses: &mut Losses) {
        match item {
            Item::Message(message) => {
                lost::message(message, index, losses);
                self.message(message);
            }
            Item::Reasoning(item) => self.blocks.extend(thinking(item).map(ContentBlock::Thinking)),
            Item::FunctionCall(call) => {
                self.call(&call.call_id, &call.name, input_or_wrapped(&call.arguments, index, losses));
            }
            Item::CustomToolCall(call) => {
                self.call(&call.call_id, &call.name, Raw::of(&json!({CUSTOM_INPUT: &*call.input})).ok());
            }
            _ => match (local_tools::call(item), hosted::blocks(item, &self.reply.id, index)) {
                (Some(call), _) => {
                    let input = Raw::parse(&call.arguments).map(|raw| Raw(Cow::Owned(raw.0.into_owned()))).ok();
                    self.call(call.call_id, call.tool.name(), input);
                }
                (None, Some(blocks)) => self.blocks.extend(blocks),
                (None, None) => lost::item(index, losses),
            },
        }
    }

    fn message(&mut self, message: &'a Message<'a>) {
        let parts = match &message.content {
            TextOr::Text(text) => return self.text(text.by_ref(), Vec::new()),
            TextOr::Structured(parts) => parts,
        };
        for part in parts {
            match part {
                Part::OutputText(part) => self.text(part.text.by_ref(), citations(part)),
                Part::InputText(part) => self.text(part.text.by_ref(), Vec::new()),
                Part::Refusal(part) => {
                    self.text(part.refusal.by_ref(), Vec::new());
                    self.refusal = Some(part.refusal.to_string());
                }
                _ => {}
            }
        }
    }

    fn text(&mut self, text: Text<'a>, citations: Vec<Citation<'a>>) {
        if !text.is_empty() {
            let citations = (!citations.is_empty()).then_some(citations);
            self.blocks.push(ContentBlock::Text(TextBlock { text, citations, cache_control: None }));
        }
    }

    fn call(&mut self, id: &'a str, name: &'a str, input: Option<Raw<'a>>) {
        let Some(input) = input else { return };
        self.blocks.push(ContentBlock::ToolUse(Box::new(ToolUseBlock {
            id: Text(Charset::CLAUDE.fit(id)),
            name: self.reply.tools.client_name(name).into(),
            input,
            caller: None,
            toolset_name: None,
            cache_control: None,
        })));
    }
}

/// The thinking block of a reasoning item; nothing if it neither says anything nor has to come back.
fn thinking<'a>(item: &'a ReasoningItem<'a>) -> Option<ThinkingBlock<'a>> {
    let texts = item.summary.iter().chain(item.content.iter().flatten()).filter_map(|part| match part {
        Part::SummaryText(part) | Part::ReasoningText(part) => Some(&part.text),
        _ => None,
    });
    let texts: Vec<&'a Text<'a>> = texts.collect();
    let thinking = match texts.as_slice() {
        [] => Text::default(),
        [only] => only.by_ref(),
        texts => texts.iter().map(|text| &***text).collect::<Vec<_>>().join(SECTION).into(),
    };
    let signature = sealed::signature(item);
    if thinking.is_empty() && signature.is_none() {
        return None;
    }
    Some(ThinkingBlock { thinking, signature: Some(signature.unwrap_or_default().into()) })
}

/// Arguments as an object; none at all are an empty one.
pub(super) fn input<'a>(arguments: &'a str) -> Option<Raw<'a>> {
    let arguments = arguments.trim();
    let input = Raw::parse(if arguments.is_empty() { "{}" } else { arguments }).ok()?;
    input.get().starts_with('{').then_some(input)
}

/// Arguments as an object. What is no JSON, since it was cut, is kept in one, as Claude's vendor advises
/// (<https://platform.claude.com/docs/en/agents-and-tools/tool-use/fine-grained-tool-streaming>).
fn input_or_wrapped<'a>(arguments: &'a str, index: usize, losses: &mut Losses) -> Option<Raw<'a>> {
    input(arguments).or_else(|| {
        lost::arguments(index, losses);
        Raw::of(&json!({"INVALID_JSON": arguments})).ok()
    })
}

fn citations<'a>(part: &'a OutputText<'a>) -> Vec<Citation<'a>> {
    part.annotations.iter().flatten().filter_map(|annotation| citation(annotation, &part.text)).collect()
}

/// The citation of a page of the web in `text`.
pub(super) fn citation<'a>(annotation: &'a Annotation<'a>, text: &str) -> Option<Citation<'a>> {
    let Annotation::UrlCitation(page) = annotation else { return None };
    let start = usize::try_from(page.start_index).ok()?;
    let length = usize::try_from(page.end_index).ok()?.saturating_sub(start);
    Some(Citation::WebSearchResultLocation(WebSearchResultLocation {
        cited_text: text.chars().skip(start).take(length).collect::<String>().into(),
        url: page.url.by_ref(),
        title: page.title.as_ref().map(Text::by_ref),
        encrypted_index: Text::default(),
    }))
}
