//! The system prompt, which each dialect keeps in its own form.

use std::borrow::Cow;

use super::tree::{Budget, Members, Node, TooMuch};
use crate::protocol::dialect::Dialect;

/// What becomes of the system prompt. What is added is a paragraph of its own: a part of its own where the prompt is a list of parts,
/// else an empty line away from the rest.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum System {
    /// This goes before it.
    Prepend(Box<str>),
    /// This goes after it.
    Append(Box<str>),
    /// This takes its place.
    Replace(Box<str>),
}

const BETWEEN: &str = "\n\n";

impl System {
    fn text(&self) -> &str {
        match self {
            Self::Prepend(text) | Self::Append(text) | Self::Replace(text) => text,
        }
    }

    /// The prompt that was `before`, changed.
    fn joined(&self, before: &str) -> String {
        match self {
            _ if before.is_empty() => self.text().to_owned(),
            Self::Prepend(text) => format!("{text}{BETWEEN}{before}"),
            Self::Append(text) => format!("{before}{BETWEEN}{text}"),
            Self::Replace(text) => text.to_string(),
        }
    }

    /// Changes the prompt in a request of `dialect`; tells whether there was a place for it.
    pub(super) fn apply<'a>(
        &'a self,
        dialect: Dialect,
        root: &mut Node<'a>,
        budget: &mut Budget,
    ) -> Result<bool, TooMuch> {
        budget.grow(self.text().len() + 64)?;
        match dialect {
            Dialect::Claude => self.in_member(root, "system", text_part, budget),
            Dialect::OpenAiResponses => self.in_member(root, "instructions", text_part, budget),
            Dialect::OpenAiChat => self.in_messages(root, budget),
            Dialect::Gemini => self.in_gemini(root, budget),
        }
    }

    /// Where the prompt is the member `name`, a text or a list of parts.
    fn in_member<'a>(
        &'a self,
        root: &mut Node<'a>,
        name: &'static str,
        part: fn(&'a str) -> Node<'a>,
        budget: &mut Budget,
    ) -> Result<bool, TooMuch> {
        let Some(members) = root.members(budget)? else { return Ok(false) };
        if !members.iter().any(|(key, _)| key == name) {
            members.push((Cow::Borrowed(name), Node::string(self.text())));
            return Ok(true);
        }
        let mut has_changed = false;
        for (_, value) in members.iter_mut().filter(|(key, _)| key == name) {
            has_changed |= self.in_content(value, part, budget)?;
        }
        Ok(has_changed)
    }

    /// In a text, a list of parts, or nothing.
    fn in_content<'a>(
        &'a self,
        node: &mut Node<'a>,
        part: fn(&'a str) -> Node<'a>,
        budget: &mut Budget,
    ) -> Result<bool, TooMuch> {
        if let Some(text) = node.text() {
            *node = Node::string(&self.joined(&text));
            return Ok(true);
        }
        if node.is_null() {
            *node = Node::string(self.text());
            return Ok(true);
        }
        let Some(parts) = node.elements(budget)? else { return Ok(false) };
        self.in_parts(parts, part, budget)?;
        Ok(true)
    }

    fn in_parts<'a>(
        &'a self,
        parts: &mut Vec<Node<'a>>,
        part: fn(&'a str) -> Node<'a>,
        budget: &mut Budget,
    ) -> Result<(), TooMuch> {
        match self {
            Self::Prepend(text) => parts.insert(0, part(text)),
            Self::Append(text) => parts.push(part(text)),
            Self::Replace(text) => {
                let mut new = part(text);
                // A cache that ended after the old prompt ends after the new one.
                let mut mark = None;
                for old in parts.iter_mut().rev() {
                    if let Some(place) = cache_mark(old.members(budget)?) {
                        mark = Some(place);
                        break;
                    }
                }
                if let (Some(mark), Some(members)) = (mark, new.members(budget)?) {
                    members.push((Cow::Borrowed("cache_control"), mark));
                }
                parts.clear();
                parts.push(new);
            }
        }
        Ok(())
    }

    /// In Chat's first message of the application.
    fn in_messages<'a>(&'a self, root: &mut Node<'a>, budget: &mut Budget) -> Result<bool, TooMuch> {
        let Some(messages) = root.member("messages", budget)? else { return Ok(false) };
        let Some(messages) = messages.elements(budget)? else { return Ok(false) };
        let mut first = None;
        let mut end = 0;
        for (index, message) in messages.iter_mut().enumerate() {
            let role = message.text_of("role", budget)?;
            let is_system = matches!(role.as_deref(), Some("system" | "developer"));
            match (first, is_system) {
                (None, true) => (first, end) = (Some(index), index + 1),
                (Some(_), true) if end == index => end = index + 1,
                (Some(_), false) => break,
                _ => {}
            }
        }
        let Some(first) = first else {
            let text = Node::string(self.text());
            messages.insert(0, Node::object([("role", Node::string("system")), ("content", text)]));
            return Ok(true);
        };
        if matches!(self, Self::Replace(_)) {
            messages.drain(first + 1..end);
        }
        messages.get_mut(first).map_or(Ok(false), |message| self.in_member(message, "content", text_part, budget))
    }

    /// In Gemini's content, under either name.
    fn in_gemini<'a>(&'a self, root: &mut Node<'a>, budget: &mut Budget) -> Result<bool, TooMuch> {
        // A question for a number of tokens has the request that it is about in it.
        for name in ["generateContentRequest", "generate_content_request"] {
            if let Some(inner) = root.member(name, budget)?
                && inner.members(budget)?.is_some()
            {
                return self.in_gemini_request(inner, budget);
            }
        }
        self.in_gemini_request(root, budget)
    }

    fn in_gemini_request<'a>(&'a self, root: &mut Node<'a>, budget: &mut Budget) -> Result<bool, TooMuch> {
        let Some(members) = root.members(budget)? else { return Ok(false) };
        let is_named = |key: &str| matches!(key, "systemInstruction" | "system_instruction");
        let content = || Node::object([("parts", Node::Array(vec![gemini_part(self.text())]))]);
        if !members.iter().any(|(key, _)| is_named(key)) {
            members.push((Cow::Borrowed("systemInstruction"), content()));
            return Ok(true);
        }
        let mut has_changed = false;
        for (_, value) in members.iter_mut().filter(|(key, _)| is_named(key)) {
            if let Some(parts) = value.member("parts", budget)? {
                let Some(parts) = parts.elements(budget)? else { continue };
                self.in_parts(parts, gemini_part, budget)?;
            } else if value.is_null() || value.members(budget)?.is_some() {
                *value = content();
            } else {
                continue;
            }
            has_changed = true;
        }
        Ok(has_changed)
    }
}

/// What a part says of the cache.
fn cache_mark<'a>(members: Option<&mut Members<'a>>) -> Option<Node<'a>> {
    let place = members?.iter_mut().find(|(key, value)| key == "cache_control" && !value.is_null())?;
    Some(std::mem::replace(&mut place.1, Node::Json(Cow::Borrowed("null"))))
}

fn text_part(text: &str) -> Node<'_> {
    Node::object([("type", Node::string("text")), ("text", Node::string(text))])
}

fn gemini_part(text: &str) -> Node<'_> {
    Node::object([("text", Node::string(text))])
}
