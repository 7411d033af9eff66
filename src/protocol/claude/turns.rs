//! Builds the turns of a conversation as Claude takes them: one message a turn, none empty.

use super::wire::content::ContentBlock;
use super::wire::request::{InputMessage, Role};
use crate::protocol::wire::TextOr;

/// The turns so far. Successive blocks of one side become one message.
#[derive(Debug, Default)]
pub struct Turns<'a> {
    turns: Vec<(Role<'a>, Vec<ContentBlock<'a>>)>,
}

impl<'a> Turns<'a> {
    /// Adds a block to the turn of `role`.
    pub fn push(&mut self, role: Role<'a>, block: ContentBlock<'a>) {
        match self.turns.last_mut() {
            Some((last, blocks)) if *last == role => blocks.push(block),
            _ => self.turns.push((role, vec![block])),
        }
    }

    /// The last turn.
    pub fn last(&self) -> Option<(&Role<'a>, &[ContentBlock<'a>])> {
        self.turns.last().map(|(role, blocks)| (role, blocks.as_slice()))
    }

    /// Adds these turns to `others`.
    pub fn append_to(self, others: &mut Self) {
        for (role, blocks) in self.turns {
            blocks.into_iter().for_each(|block| others.push(role.clone(), block));
        }
    }

    /// All turns.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = (&Role<'a>, &[ContentBlock<'a>])> {
        self.turns.iter().map(|(role, blocks)| (role, blocks.as_slice()))
    }

    /// All turns, to mend.
    pub fn iter_mut(&mut self) -> impl DoubleEndedIterator<Item = (&Role<'a>, &mut Vec<ContentBlock<'a>>)> {
        self.turns.iter_mut().map(|(role, blocks)| (&*role, blocks))
    }

    /// The messages. Results of tools come first in their turn, as Claude demands.
    pub fn finish(self) -> Vec<InputMessage<'a>> {
        let message = |(role, mut blocks): (Role<'a>, Vec<ContentBlock<'a>>)| {
            blocks.sort_by_key(|block| role == Role::User && !matches!(block, ContentBlock::ToolResult(_)));
            InputMessage { role, content: Some(TextOr::Structured(blocks)), clear_at: None, output_config: None }
        };
        self.turns.into_iter().map(message).collect()
    }
}
