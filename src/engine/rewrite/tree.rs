//! A body as a tree that is only unfolded where a rule looks.
//!
//! What no rule touches keeps its bytes: the order of members, the spelling of numbers, even members that are there twice. Only
//! objects and lists on the way to a change are written anew, without the whitespace between their members.

use std::borrow::Cow;

use serde::Deserializer as _;
use serde::de::{Error as _, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

use crate::protocol::json::{quote, without_lone_surrogates};
use crate::protocol::wire::Text;

/// Most members and elements that are unfolded in one body. A body of real messages has thousands at most.
const MAX_NODES: usize = 500_000;

/// Most bytes that rules may add to one body.
const MAX_GROWTH: usize = 16 * 1024 * 1024;

/// Rules would make more of a body than an isolate can hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct TooMuch;

/// What may still be spent on a body.
pub(super) struct Budget {
    nodes: usize,
    bytes: usize,
}

impl Budget {
    /// The whole of it.
    pub(super) fn new() -> Self {
        Self { nodes: MAX_NODES, bytes: MAX_GROWTH }
    }

    /// Spends bytes that are added to the body.
    pub(super) fn grow(&mut self, bytes: usize) -> Result<(), TooMuch> {
        self.bytes = self.bytes.checked_sub(bytes).ok_or(TooMuch)?;
        Ok(())
    }
}

/// Members of an object, in their order.
pub(super) type Members<'a> = Vec<(Cow<'a, str>, Node<'a>)>;

/// A value.
pub(super) enum Node<'a> {
    /// Its JSON, not looked into.
    Json(Cow<'a, str>),
    /// An object.
    Object(Members<'a>),
    /// A list.
    Array(Vec<Node<'a>>),
}

impl<'a> Node<'a> {
    /// A string.
    pub(super) fn string(text: &str) -> Self {
        Self::Json(Cow::Owned(quote(text)))
    }

    /// An object.
    pub(super) fn object<const N: usize>(members: [(&'static str, Self); N]) -> Self {
        Self::Object(members.into_iter().map(|(name, value)| (Cow::Borrowed(name), value)).collect())
    }

    /// The members, where it is an object.
    pub(super) fn members(&mut self, budget: &mut Budget) -> Result<Option<&mut Members<'a>>, TooMuch> {
        if let Self::Json(Cow::Borrowed(json)) = self
            && json.starts_with('{')
        {
            let mut members = Vec::new();
            let visitor = MembersVisitor { members: &mut members, budget: &mut budget.nodes };
            let read = serde_json::Deserializer::from_str(json).deserialize_map(visitor);
            match read {
                Ok(true) => *self = Self::Object(members),
                Ok(false) => return Err(TooMuch),
                Err(_) => return Ok(None),
            }
        }
        Ok(match self {
            Self::Object(members) => Some(members),
            _ => None,
        })
    }

    /// The elements, where it is a list.
    pub(super) fn elements(&mut self, budget: &mut Budget) -> Result<Option<&mut Vec<Node<'a>>>, TooMuch> {
        if let Self::Json(Cow::Borrowed(json)) = self
            && json.starts_with('[')
        {
            let mut elements = Vec::new();
            let visitor = ElementsVisitor { elements: &mut elements, budget: &mut budget.nodes };
            let read = serde_json::Deserializer::from_str(json).deserialize_seq(visitor);
            match read {
                Ok(true) => *self = Self::Array(elements),
                Ok(false) => return Err(TooMuch),
                Err(_) => return Ok(None),
            }
        }
        Ok(match self {
            Self::Array(elements) => Some(elements),
            _ => None,
        })
    }

    /// Does `work` to all members of that name, where it is an object; tells whether any has changed. More than one is possible, and
    /// nobody knows which the upstream reads.
    pub(super) fn each_named(
        &mut self,
        name: &str,
        budget: &mut Budget,
        work: &mut dyn FnMut(&mut Self, &mut Budget) -> Result<bool, TooMuch>,
    ) -> Result<bool, TooMuch> {
        let mut has_changed = false;
        for (_, value) in self.members(budget)?.into_iter().flatten().filter(|(key, _)| key == name) {
            has_changed |= work(value, budget)?;
        }
        Ok(has_changed)
    }

    /// Does `work` to all elements, where it is a list; tells whether any has changed.
    pub(super) fn each(
        &mut self,
        budget: &mut Budget,
        work: &mut dyn FnMut(&mut Self, &mut Budget) -> Result<bool, TooMuch>,
    ) -> Result<bool, TooMuch> {
        let mut has_changed = false;
        for element in self.elements(budget)?.into_iter().flatten() {
            has_changed |= work(element, budget)?;
        }
        Ok(has_changed)
    }

    /// The member of that name, the last if there are more.
    pub(super) fn member(&mut self, name: &str, budget: &mut Budget) -> Result<Option<&mut Self>, TooMuch> {
        let members = self.members(budget)?;
        let mut found = members.into_iter().flatten().rev().filter(|(key, _)| key == name);
        Ok(found.next().map(|(_, value)| value))
    }

    /// The text of the member of that name.
    pub(super) fn text_of(&mut self, name: &str, budget: &mut Budget) -> Result<Option<String>, TooMuch> {
        Ok(self.member(name, budget)?.and_then(|member| member.text().map(Cow::into_owned)))
    }

    /// The text, where it is a string.
    pub(super) fn text(&self) -> Option<Cow<'_, str>> {
        let Self::Json(json) = self else { return None };
        if !json.starts_with('"') {
            return None;
        }
        serde_json::from_str::<Text<'_>>(json).ok().map(|text| text.0)
    }

    /// Whether it is a string.
    pub(super) fn is_text(&self) -> bool {
        matches!(self, Self::Json(json) if json.starts_with('"'))
    }

    /// Whether it is `null`.
    pub(super) fn is_null(&self) -> bool {
        matches!(self, Self::Json(json) if json == "null")
    }

    /// Whether it is `true`.
    pub(super) fn is_true(&self) -> bool {
        matches!(self, Self::Json(json) if json == "true")
    }

    /// Appends its JSON to `out`.
    pub(super) fn write(&self, out: &mut String) {
        match self {
            Self::Json(json) => out.push_str(json),
            Self::Object(members) => {
                out.push('{');
                for (index, (name, value)) in members.iter().enumerate() {
                    if index > 0 {
                        out.push(',');
                    }
                    out.push_str(&quote(name));
                    out.push(':');
                    value.write(out);
                }
                out.push('}');
            }
            Self::Array(elements) => {
                out.push('[');
                for (index, element) in elements.iter().enumerate() {
                    if index > 0 {
                        out.push(',');
                    }
                    element.write(out);
                }
                out.push(']');
            }
        }
    }
}

/// The text of a body, fit to be unfolded: half of a surrogate pair, which some clients send, cannot be read, and what cannot be read
/// would escape the rules.
pub(super) fn readable(body: &[u8]) -> Option<Cow<'_, str>> {
    std::str::from_utf8(body).ok().map(without_lone_surrogates)
}

/// The root of the tree of a body.
pub(super) fn root(body: &str) -> Node<'_> {
    Node::Json(Cow::Borrowed(body.trim_ascii()))
}

/// Collects members until the budget is spent, which gives `false`.
struct MembersVisitor<'b, 'a> {
    members: &'b mut Members<'a>,
    budget: &'b mut usize,
}

impl<'de> Visitor<'de> for MembersVisitor<'_, 'de> {
    type Value = bool;

    fn expecting(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("a JSON object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<bool, A::Error> {
        let mut is_whole = true;
        while let Some((Text(key), value)) = map.next_entry::<Text<'de>, &'de RawValue>()? {
            match self.budget.checked_sub(1) {
                Some(left) => *self.budget = left,
                None => is_whole = false,
            }
            if is_whole {
                self.members.push((key, Node::Json(Cow::Borrowed(value.get()))));
            }
        }
        Ok(is_whole)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, _seq: A) -> Result<bool, A::Error> {
        Err(A::Error::custom("not an object"))
    }
}

/// Collects elements until the budget is spent, which gives `false`.
struct ElementsVisitor<'b, 'a> {
    elements: &'b mut Vec<Node<'a>>,
    budget: &'b mut usize,
}

impl<'de> Visitor<'de> for ElementsVisitor<'_, 'de> {
    type Value = bool;

    fn expecting(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("a JSON list")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut sequence: A) -> Result<bool, A::Error> {
        let mut is_whole = true;
        while let Some(value) = sequence.next_element::<&'de RawValue>()? {
            match self.budget.checked_sub(1) {
                Some(left) => *self.budget = left,
                None => is_whole = false,
            }
            if is_whole {
                self.elements.push(Node::Json(Cow::Borrowed(value.get())));
            }
        }
        Ok(is_whole)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_touched_keeps_its_bytes() {
        let body =
            r#" { "a" : 1.50e+03 , "b":{"x" : [ 1, 2.0 ]}, "a":12345678901234567890123, "c":[{"d": "\u00e4"}]} "#;
        let mut tree = root(body);
        let mut budget = Budget::new();
        let list = tree.member("c", &mut budget).unwrap().unwrap().elements(&mut budget).unwrap().unwrap();
        list[0].members(&mut budget).unwrap();
        let mut out = String::new();
        tree.write(&mut out);
        let expected = r#"{"a":1.50e+03,"b":{"x" : [ 1, 2.0 ]},"a":12345678901234567890123,"c":[{"d":"\u00e4"}]}"#;
        assert_eq!(out, expected);
    }

    #[test]
    fn huge_lists_are_not_unfolded() {
        let body = format!("{{\"a\":[{}0]}}", "0,".repeat(MAX_NODES));
        let mut budget = Budget::new();
        let mut tree = root(&body);
        let list = tree.member("a", &mut budget).unwrap().unwrap();
        assert_eq!(list.elements(&mut budget).err(), Some(TooMuch));
    }

    #[test]
    fn other_types_have_neither_members_nor_elements() {
        for json in ["1", "\"a\"", "null", "[]", "true"] {
            assert!(root(json).members(&mut Budget::new()).unwrap().is_none(), "{json}");
        }
        assert!(root("{}").elements(&mut Budget::new()).unwrap().is_none());
        assert_eq!(root(r#""a\n""#).text().as_deref(), Some("a\n"));
    }
}
