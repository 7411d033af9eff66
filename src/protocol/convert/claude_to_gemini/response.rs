//! A Claude Messages upstream's answer for a Gemini client.

use std::borrow::Cow;

use crate::protocol::claude::fold::cut_arguments;
use crate::protocol::claude::wire::content::{ContentBlock, TextBlock, ToolUseBlock};
use crate::protocol::claude::wire::response::Message;
use crate::protocol::convert::seal::{self, Family};
use crate::protocol::convert::{ConvertError, Losses, Reply};
use crate::protocol::gemini::wire::content::{Content, FunctionCall, Part, Role};
use crate::protocol::gemini::wire::grounding::UrlContextMetadata;
use crate::protocol::gemini::wire::proto::Count;
use crate::protocol::gemini::wire::response::{Candidate, GenerateContentResponse as Target};
use crate::protocol::wire::Text;

use super::server_tools::{self, Beside, Shown};
use super::{ending, lost};

/// Converts `response`.
pub fn convert<'a>(
    response: &'a Message<'a>,
    reply: &'a Reply,
    losses: &mut Losses,
) -> Result<Target<'a>, ConvertError> {
    let mut parts = Parts { reply, losses, parts: Vec::new(), thinking: Vec::new(), beside: Beside::default() };
    for (index, block) in response.content.iter().enumerate() {
        parts.block(index, block);
    }
    parts.flush_thinking();
    let Parts { parts, beside: Beside { grounding, urls }, .. } = parts;
    let (finish_reason, finish_message) =
        ending::finish_reason(response.stop_reason.as_ref(), response.stop_details.as_ref());
    lost::stop_reason(response.stop_reason.as_ref(), losses);
    if response.container.is_some() {
        lost::container(losses);
    }
    let candidate = Candidate {
        index: Some(Count(0)),
        content: Some(Content { role: Some(Role::Model), parts }),
        finish_reason: Some(finish_reason),
        finish_message: finish_message.map(Text::from),
        grounding_metadata: grounding.finish().map(Box::new),
        url_context_metadata: (!urls.is_empty()).then(|| Box::new(UrlContextMetadata { url_metadata: urls })),
        ..Candidate::default()
    };
    Ok(Target {
        candidates: candidate.into(),
        usage_metadata: response.usage.as_ref().map(ending::usage),
        model_version: Some(response.model.by_ref()),
        response_id: Some(response.id.by_ref()),
        ..Target::default()
    })
}

/// Thinking as a thought signature: Claude's blocks themselves, sealed. A client may drop the thoughts that it is shown, and Claude
/// wants text and signature of its thinking back as they were.
pub(super) fn signature(blocks: &[ContentBlock<'_>]) -> Option<String> {
    let blocks = serde_json::to_string(blocks).ok()?;
    Some(seal::seal_base64(Family::Claude, &blocks))
}

struct Parts<'a, 'l> {
    reply: &'a Reply,
    losses: &'l mut Losses,
    parts: Vec<Part<'a>>,
    /// Thinking whose signature waits for a part to stand on.
    thinking: Vec<ContentBlock<'a>>,
    beside: Beside,
}

impl<'a> Parts<'a, '_> {
    fn block(&mut self, index: usize, block: &'a ContentBlock<'a>) {
        match block {
            ContentBlock::Text(block) => self.text(block),
            ContentBlock::Thinking(thinking) => {
                if !thinking.thinking.is_empty() {
                    let text = Some(thinking.thinking.by_ref());
                    self.parts.push(Part { text, thought: Some(true), ..Part::default() });
                }
                // Without a signature Claude would not take it back.
                if thinking.signature.as_ref().is_some_and(|signature| !signature.is_empty()) {
                    self.thinking.push(block.clone());
                }
            }
            ContentBlock::RedactedThinking(_) => self.thinking.push(block.clone()),
            ContentBlock::ToolUse(block) => self.tool_use(block),
            ContentBlock::ServerToolUse(call) => {
                let shown = server_tools::call(&call.name, &call.id, call.input.get(), &mut self.beside);
                if !self.shown(shown) {
                    lost::call(index, self.losses);
                }
            }
            block => {
                let shown = server_tools::result(block, &mut self.beside);
                if !self.shown(shown) {
                    lost::block(block, index, self.losses);
                }
            }
        }
    }

    /// Shows what there is to show; tells whether there is anything.
    fn shown(&mut self, shown: Shown) -> bool {
        match shown {
            Shown::Part(part) => self.push(*part),
            Shown::Beside => {}
            Shown::Nothing => return false,
        }
        true
    }

    /// Texts that follow each other are one part: a client reads places of citations within all of the text.
    fn text(&mut self, block: &'a TextBlock<'a>) {
        if block.text.is_empty() {
            return;
        }
        match self.parts.last_mut() {
            Some(Part { text: Some(text), thought: None, .. }) if self.thinking.is_empty() => {
                text.0.to_mut().push_str(&block.text);
            }
            _ => self.push(Part { text: Some(block.text.by_ref()), ..Part::default() }),
        }
        let place = self.parts.len().saturating_sub(1);
        let length = self.parts.last().and_then(|part| part.text.as_ref()).map_or(0, |text| text.len());
        let citations = block.citations.as_deref().unwrap_or_default();
        let start = length.saturating_sub(block.text.len());
        self.beside.grounding.support(citations, &block.text, place, start);
    }

    fn tool_use(&mut self, block: &'a ToolUseBlock<'a>) {
        // Gemini has calls with whole arguments only.
        if cut_arguments(&block.input).is_some() {
            return;
        }
        let name = self.reply.tools.client_name(&block.name);
        let call = FunctionCall {
            id: Some(block.id.by_ref()),
            name: Some(Text(Cow::Borrowed(name))),
            args: Some(block.input.by_ref()),
        };
        self.push(Part { function_call: Some(call), ..Part::default() });
    }

    /// Adds a part, which gets the signature that waits.
    fn push(&mut self, part: Part<'a>) {
        let thinking = std::mem::take(&mut self.thinking);
        let signature = if thinking.is_empty() { None } else { signature(&thinking) };
        self.parts.push(Part { thought_signature: signature.map(Text::from), ..part });
    }

    fn flush_thinking(&mut self) {
        if !self.thinking.is_empty() {
            self.push(Part { text: Some("".into()), ..Part::default() });
        }
    }
}
