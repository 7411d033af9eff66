//! Items in a row as messages.
//!
//! In Responses text, reasoning, calls and results are items of their own; in Chat Completions a turn of the model is one message
//! with all its calls, their results follow at once, and nothing may stand between.

use crate::protocol::convert::ConvertError;
use crate::protocol::convert::pairing::Pairing;
use crate::protocol::openai_chat::wire::content::{Content, Part, TextPart};
use crate::protocol::openai_chat::wire::message::{Message, Role, ThinkingBlock, ToolCall};
use crate::protocol::wire::Text;

/// Stands between texts that were apart.
const PARAGRAPH: &str = "\n\n";

/// The messages so far.
#[derive(Debug, Default)]
pub(super) struct Turns<'a> {
    messages: Vec<Message<'a>>,
    turn: Option<Turn<'a>>,
    pairing: Pairing,
}

/// A turn of the model, which goes on.
#[derive(Debug, Default)]
struct Turn<'a> {
    content: Vec<Part<'a>>,
    reasoning: Vec<Text<'a>>,
    thinking_blocks: Vec<ThinkingBlock<'a>>,
    calls: Vec<ToolCall<'a>>,
    results: Vec<Message<'a>>,
    /// Images and files of the results, which a result cannot have.
    shown: Vec<Part<'a>>,
    /// What others said before all calls were answered.
    held: Vec<Message<'a>>,
}

impl<'a> Turns<'a> {
    /// Adds what somebody else than the model says.
    pub(super) fn say(&mut self, message: Message<'a>) {
        match &mut self.turn {
            Some(turn) if self.pairing.is_open() => turn.held.push(message),
            _ => {
                self.end_turn();
                self.messages.push(message);
            }
        }
    }

    /// Adds what the model says.
    pub(super) fn answer(&mut self, parts: impl IntoIterator<Item = Part<'a>>) {
        self.turn().content.extend(parts);
    }

    /// Adds what the model thought.
    pub(super) fn think(&mut self, text: Text<'a>) {
        self.turn().reasoning.push(text);
    }

    /// Adds what Claude thought, with its signature.
    pub(super) fn think_signed(&mut self, block: ThinkingBlock<'a>) {
        self.turn().thinking_blocks.push(block);
    }

    /// Adds a call; `id` is the client's.
    pub(super) fn call(&mut self, id: &str, name: &str, path: String, call: ToolCall<'a>) {
        self.turn().calls.push(call);
        self.pairing.call(id, name, path);
    }

    /// Adds the result of the call `id`, and what is shown after it.
    pub(super) fn result(
        &mut self,
        id: &str,
        path: String,
        message: Message<'a>,
        shown: Vec<Part<'a>>,
    ) -> Result<(), ConvertError> {
        self.pairing.result(id, path)?;
        if let Some(turn) = &mut self.turn {
            turn.results.push(message);
            turn.shown.extend(shown);
        }
        Ok(())
    }

    /// All messages.
    pub(super) fn finish(mut self) -> Result<Vec<Message<'a>>, ConvertError> {
        self.pairing.settle()?;
        self.end_turn();
        Ok(self.messages)
    }

    /// The turn of the model that goes on, or a new one once the calls of the last one are answered.
    fn turn(&mut self) -> &mut Turn<'a> {
        if self.turn.as_ref().is_some_and(|turn| !turn.results.is_empty()) && !self.pairing.is_open() {
            self.end_turn();
        }
        self.turn.get_or_insert_default()
    }

    fn end_turn(&mut self) {
        let Some(turn) = self.turn.take() else { return };
        // Only called when no call is open.
        self.pairing = Pairing::default();
        let is_said = !(turn.content.is_empty() && turn.calls.is_empty());
        if is_said {
            self.messages.push(Message {
                role: Role::Assistant,
                content: content(turn.content),
                reasoning_content: joined(turn.reasoning),
                thinking_blocks: Some(turn.thinking_blocks).filter(|blocks| !blocks.is_empty()),
                tool_calls: Some(turn.calls).filter(|calls| !calls.is_empty()),
                ..Message::default()
            });
        }
        self.messages.extend(turn.results);
        if !turn.shown.is_empty() {
            let content = Some(Content::Parts(turn.shown));
            self.messages.push(Message { role: Role::User, content, ..Message::default() });
        }
        self.messages.extend(turn.held);
    }
}

/// Texts as one, since all vendors take that; a refusal keeps its kind.
fn content(parts: Vec<Part<'_>>) -> Option<Content<'_>> {
    if parts.iter().any(|part| !matches!(part, Part::Text(_))) {
        return Some(Content::Parts(parts));
    }
    let texts = parts.into_iter().filter_map(|part| match part {
        Part::Text(part) => Some(part.text),
        _ => None,
    });
    joined(texts).map(Content::Text)
}

/// Texts with empty lines between them; `None` for none.
pub(super) fn joined<'a>(texts: impl IntoIterator<Item = Text<'a>>) -> Option<Text<'a>> {
    let mut texts = texts.into_iter();
    let first = texts.next()?;
    Some(texts.fold(first, |all, text| format!("{}{PARAGRAPH}{}", &*all, &*text).into()))
}

/// A part that is text.
pub(super) fn text_part(text: Text<'_>) -> Part<'_> {
    Part::Text(TextPart { text, ..TextPart::default() })
}
