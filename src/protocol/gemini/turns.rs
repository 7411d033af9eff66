//! Builds the turns of a conversation as Gemini takes them: one content a turn, none empty.

use super::wire::content::{Content, Part, Role};

/// The turns so far. Successive parts of one side become one content.
#[derive(Debug, Default)]
pub struct Turns<'a> {
    turns: Vec<(Role<'a>, Vec<Part<'a>>)>,
}

impl<'a> Turns<'a> {
    /// Adds a part to the turn of `role`.
    pub fn push(&mut self, role: Role<'a>, part: Part<'a>) {
        match self.turns.last_mut() {
            Some((last, parts)) if *last == role => parts.push(part),
            _ => self.turns.push((role, vec![part])),
        }
    }

    /// All turns, to look at or to mend.
    pub fn iter_mut(&mut self) -> impl DoubleEndedIterator<Item = (&Role<'a>, &mut Vec<Part<'a>>)> {
        self.turns.iter_mut().map(|(role, parts)| (&*role, parts))
    }

    /// The contents.
    pub fn finish(self) -> Vec<Content<'a>> {
        let content = |(role, parts)| Content { role: Some(role), parts };
        self.turns.into_iter().map(content).collect()
    }
}
