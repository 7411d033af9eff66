//! Regular expressions on texts.

use std::borrow::Cow;

use regex_lite::{Captures, Regex, RegexBuilder};

use super::fields::{self, Fields};
use super::tree::{Budget, Node, TooMuch};
use crate::protocol::dialect::Dialect;
use crate::store::options::Replacement;

/// Most bytes that a compiled expression may take, which bounds what each byte of a prompt costs: whoever has a gateway key can send long
/// ones, and a thread that looks through them serves nobody else. What nests repetitions grows beyond it.
const MAX_EXPRESSION_BYTES: usize = 32 * 1024;

/// A regular expression and what takes the place of its matches.
pub(super) struct Replace {
    expression: Regex,
    with: Box<[Piece]>,
    fields: Fields,
}

/// A piece of what takes the place of a match.
#[derive(Debug, PartialEq, Eq)]
enum Piece {
    Text(Box<str>),
    Group(usize),
}

impl Replace {
    /// Compiles a rule; the error is the member that is at fault, and what is wrong with it.
    pub(super) fn compile(rule: &Replacement) -> Result<Self, (&'static str, Cow<'static, str>)> {
        let expression = RegexBuilder::new(&rule.pattern)
            .size_limit(MAX_EXPRESSION_BYTES)
            .build()
            .map_err(|error| ("pattern", Cow::Owned(error.to_string())))?;
        if rule.fields.is_empty() {
            return Err(("in", Cow::Borrowed("must name at least one sort of text")));
        }
        let with = pieces(&rule.with, &expression).map_err(|what| ("with", what))?;
        Ok(Self { expression, with, fields: Fields::of(&rule.fields) })
    }

    /// Replaces all matches in a request of `dialect`; tells whether there was any.
    pub(super) fn apply<'a>(
        &self,
        dialect: Dialect,
        root: &mut Node<'a>,
        budget: &mut Budget,
    ) -> Result<bool, TooMuch> {
        fields::visit(dialect, self.fields, root, budget, &mut |node, budget| {
            let Some(text) = node.text() else { return Ok(false) };
            let Some(replaced) = self.replaced(&text, budget)? else { return Ok(false) };
            *node = Node::string(&replaced);
            Ok(true)
        })
    }

    /// `text` with all matches replaced; `None` if that is the same.
    fn replaced(&self, text: &str, budget: &mut Budget) -> Result<Option<String>, TooMuch> {
        let mut out = String::new();
        let mut done = 0;
        for groups in self.expression.captures_iter(text) {
            let Some(whole) = groups.get(0) else { continue };
            out.push_str(text.get(done..whole.start()).unwrap_or_default());
            let before = out.len();
            self.expand(&groups, &mut out);
            budget.grow((out.len() - before).saturating_sub(whole.len()))?;
            done = whole.end();
        }
        out.push_str(text.get(done..).unwrap_or_default());
        Ok((out != text).then_some(out))
    }

    fn expand(&self, groups: &Captures<'_>, out: &mut String) {
        for piece in &self.with {
            match piece {
                Piece::Text(text) => out.push_str(text),
                Piece::Group(number) => out.push_str(groups.get(*number).map_or("", |group| group.as_str())),
            }
        }
    }
}

/// Takes what replaces a match apart: `$1` and `$name` are groups, `$$` is a dollar. There are no braces, which are variables in a
/// document.
fn pieces(with: &str, expression: &Regex) -> Result<Box<[Piece]>, Cow<'static, str>> {
    let mut pieces = Vec::new();
    let mut text = String::new();
    let mut rest = with;
    while let Some((before, after)) = rest.split_once('$') {
        text.push_str(before);
        if let Some(after) = after.strip_prefix('$') {
            text.push('$');
            rest = after;
            continue;
        }
        let is_number = after.starts_with(|first: char| first.is_ascii_digit());
        let belongs = |character: char| {
            character.is_ascii_digit() || (!is_number && (character.is_ascii_alphanumeric() || character == '_'))
        };
        let (name, after) = after.split_at(after.find(|character| !belongs(character)).unwrap_or(after.len()));
        let group = if name.is_empty() {
            return Err(Cow::Borrowed("has a $ that begins no group; write $$ for a dollar"));
        } else if is_number {
            name.parse().ok().filter(|number| *number < expression.captures_len())
        } else {
            expression.capture_names().position(|known| known == Some(name))
        };
        let group = group.ok_or_else(|| format!("the pattern has no group `{name}`"))?;
        if !text.is_empty() {
            pieces.push(Piece::Text(std::mem::take(&mut text).into()));
        }
        pieces.push(Piece::Group(group));
        rest = after;
    }
    text.push_str(rest);
    if !text.is_empty() {
        pieces.push(Piece::Text(text.into()));
    }
    Ok(pieces.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn replace(pattern: &str, with: &str) -> Result<Replace, &'static str> {
        let rule = Replacement {
            pattern: pattern.to_owned(),
            with: with.to_owned(),
            fields: vec![crate::store::options::Field::User],
        };
        Replace::compile(&rule).map_err(|(member, _)| member)
    }

    #[test]
    fn matches_are_replaced_with_their_groups() {
        for (pattern, with, text, expected) in [
            ("b+", "x", "abbcb", Some("axcx")),
            (r"(\d+)-(?<name>\w+)", "$name:$1x$$", "1-a 22-b", Some("a:1x$ b:22x$")),
            ("(?i)secret", "[redacted]", "A SeCrEt.", Some("A [redacted].")),
            ("a(b)?", "<$1>", "a ab", Some("<> <b>")),
            ("", "-", "äb", Some("-ä-b-")),
            ("x", "y", "abc", None),
            ("a", "a", "aaa", None),
            ("(?s)^.*$", "", "a\nb", Some("")),
        ] {
            let replaced = replace(pattern, with).ok().unwrap().replaced(text, &mut Budget::new());
            assert_eq!(replaced.unwrap().as_deref(), expected, "{pattern}");
        }
    }

    #[test]
    fn what_cannot_be_compiled_is_refused() {
        for (pattern, with, member) in [
            ("(", "", "pattern"),
            (r"\p{L}", "", "pattern"),
            ("((a{1000}){1000}){1000}", "", "pattern"),
            ("a", "$1", "with"),
            ("(a)", "$name", "with"),
            ("(a)", "a $ b", "with"),
        ] {
            assert_eq!(replace(pattern, with).err(), Some(member), "{pattern} {with}");
        }
    }

    #[test]
    fn growth_has_an_end() {
        let rule = replace("", &"x".repeat(1000)).ok().unwrap();
        assert_eq!(rule.replaced(&"y".repeat(100_000), &mut Budget::new()), Err(TooMuch));
    }
}
