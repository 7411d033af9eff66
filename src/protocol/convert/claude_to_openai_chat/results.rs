//! Results of tools. Chat takes texts there and nothing else.

use std::borrow::Cow;

use super::content::{Blocks, search_result, text, unmarked};
use crate::protocol::claude::wire::content::{ResultBlock, ToolResultBlock};
use crate::protocol::convert::{ConvertError, Losses};
use crate::protocol::openai_chat::wire::content::Part;
use crate::protocol::wire::{Text, TextOr};

/// A result, taken apart.
#[derive(Debug, Default)]
pub struct Parts<'a> {
    texts: Vec<Cow<'a, str>>,
    /// What is no text, for a message of the user.
    pub shown: Vec<Part<'a>>,
}

/// Takes a result apart.
pub fn take_apart<'a>(
    block: &'a ToolResultBlock<'a>,
    path: &str,
    blocks: &mut Blocks<'a>,
    losses: &mut Losses,
) -> Result<Parts<'a>, ConvertError> {
    unmarked(block.cache_control.as_ref(), path, losses);
    let mut parts = Parts::default();
    match &block.content {
        None => {}
        Some(TextOr::Text(content)) => parts.texts.push(Cow::Borrowed(content)),
        Some(TextOr::Structured(content)) => {
            for (index, block) in content.iter().enumerate() {
                parts.add(block, &format!("{path}.content[{index}]"), blocks, losses)?;
            }
        }
    }
    Ok(parts)
}

impl<'a> Parts<'a> {
    fn add(
        &mut self,
        block: &'a ResultBlock<'a>,
        path: &str,
        blocks: &mut Blocks<'a>,
        losses: &mut Losses,
    ) -> Result<(), ConvertError> {
        match block {
            ResultBlock::Text(block) => {
                unmarked(block.cache_control.as_ref(), path, losses);
                self.texts.push(Cow::Borrowed(&block.text));
            }
            ResultBlock::Image(block) => self.shown.push(blocks.image(block, path, losses)?),
            ResultBlock::Document(block) => {
                for part in blocks.document(block, path, losses)? {
                    match part {
                        Part::Text(part) => self.texts.push(part.text.0),
                        part => self.shown.push(part),
                    }
                }
            }
            ResultBlock::SearchResult(block) => self.texts.push(search_result(block, path, losses).into()),
            ResultBlock::ToolReference(block) => {
                self.texts.push(format!("The tool {} is available.", &*block.tool_name).into());
            }
            ResultBlock::BrowserState(block) => {
                self.texts.push(format!("Open tabs: {}", block.tabs.get()).into());
            }
            ResultBlock::Other(_) => losses.add(path, "is of a kind that is not known"),
        }
        Ok(())
    }

    /// The text of the result: one string, which all vendors take. That the call failed stays visible to the model.
    pub fn text(&mut self, is_error: bool) -> Text<'a> {
        let text = match self.texts.as_mut_slice() {
            [] if self.shown.is_empty() => Cow::Borrowed(""),
            [] => Cow::Borrowed("The result is in the next message."),
            [text] => std::mem::take(text),
            texts => texts.join("\n").into(),
        };
        Text(if is_error { format!("error: {text}").into() } else { text })
    }

    /// What is shown, with a label that tells which call gave it.
    pub fn labelled(self, id: &str) -> Vec<Part<'a>> {
        if self.shown.is_empty() {
            return self.shown;
        }
        let label = text(format!("Result of the tool call {id}:").into());
        [label].into_iter().chain(self.shown).collect()
    }
}
