//! Paths into a body: `messages[*].content[0].text`.

use std::borrow::Cow;

use crate::protocol::json::quote;

/// Most steps of a path.
const MAX_STEPS: usize = 32;

/// One step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Step {
    /// A member of an object.
    Name(Box<str>),
    /// An element of a list, from 0, or from -1 backwards.
    Index(i64),
    /// Every element of a list.
    Each,
}

/// A path, at least one step long. It begins with a name, since a body is an object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Path {
    /// All steps but the last.
    pub(super) parents: Box<[Step]>,
    /// The last step.
    pub(super) last: Step,
}

impl Path {
    /// Reads a path. The grammar is that of docs/rewriting.md.
    pub(super) fn parse(text: &str) -> Result<Self, Cow<'static, str>> {
        let mut steps = Vec::new();
        let mut rest = text;
        loop {
            let (step, after) = if let Some(inner) = rest.strip_prefix('[') {
                bracket(inner)?
            } else {
                let end = rest.find(['.', '[', ']', '"']).unwrap_or(rest.len());
                let (name, after) = rest.split_at(end);
                if name.is_empty() || name.contains(char::is_whitespace) {
                    return Err(Cow::Borrowed("has a name that is empty or has to stand in brackets and quotes"));
                }
                (Step::Name(name.into()), after)
            };
            if steps.len() == MAX_STEPS {
                return Err(Cow::Owned(format!("has more than {MAX_STEPS} steps")));
            }
            steps.push(step);
            rest = match after.strip_prefix('.') {
                Some(after) if !after.starts_with('[') => after,
                None if after.starts_with('[') => after,
                None if after.is_empty() => break,
                _ => return Err(Cow::Borrowed("must go on with a dot and a name, or with a bracket")),
            };
        }
        if !matches!(steps.first(), Some(Step::Name(_))) {
            return Err(Cow::Borrowed("must begin with a name, since a body is an object"));
        }
        let last = steps.pop().ok_or("must not be empty")?;
        Ok(Self { parents: steps.into(), last })
    }

    /// The name that it begins with.
    pub(super) fn first_name(&self) -> &str {
        match self.parents.first().unwrap_or(&self.last) {
            Step::Name(name) => name,
            Step::Index(_) | Step::Each => "",
        }
    }

    /// The second step, if there is one.
    pub(super) fn second(&self) -> Option<&Step> {
        match &*self.parents {
            [] => None,
            [_] => Some(&self.last),
            [_, second, ..] => Some(second),
        }
    }
}

/// What stands in a bracket, and what comes after it.
fn bracket(inner: &str) -> Result<(Step, &str), Cow<'static, str>> {
    if inner.starts_with('"') {
        let mut names = serde_json::Deserializer::from_str(inner).into_iter::<String>();
        let name = names.next().and_then(Result::ok).ok_or("has a name in quotes that is no JSON string")?;
        let after = inner.get(names.byte_offset()..).and_then(|after| after.strip_prefix(']'));
        return Ok((Step::Name(name.into()), after.ok_or("has a bracket that is not closed")?));
    }
    let (content, after) = inner.split_once(']').ok_or("has a bracket that is not closed")?;
    if content == "*" {
        return Ok((Step::Each, after));
    }
    let digits = content.strip_prefix('-').unwrap_or(content);
    if digits.is_empty() || digits.len() > 9 || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(Cow::Owned(format!(
            "has {} in a bracket instead of a number, * or a name in quotes",
            quote(content)
        )));
    }
    Ok((Step::Index(content.parse().map_err(|_| "has a number that is too large")?), after))
}

/// Where in a list of `length` elements the one with the number `index` is.
pub(super) fn place(index: i64, length: usize) -> Option<usize> {
    let length = i64::try_from(length).ok()?;
    let place = if index < 0 { length + index } else { index };
    (0..length).contains(&place).then(|| usize::try_from(place).ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_read() {
        let name = |text: &str| Step::Name(text.into());
        for (text, steps) in [
            ("a", vec![name("a")]),
            ("a.b-c.$d", vec![name("a"), name("b-c"), name("$d")]),
            ("a[0][-1][*].b", vec![name("a"), Step::Index(0), Step::Index(-1), Step::Each, name("b")]),
            (r#"a["b.c"].d["e\"]"]"#, vec![name("a"), name("b.c"), name("d"), name("e\"]")]),
            (r#"["a"]"#, vec![name("a")]),
        ] {
            let path = Path::parse(text).unwrap();
            let read: Vec<Step> = path.parents.iter().cloned().chain([path.last]).collect();
            assert_eq!(read, steps, "{text}");
        }
    }

    #[test]
    fn what_is_no_path_is_refused() {
        let long = format!("a{}", "[0]".repeat(MAX_STEPS));
        for text in [
            "",
            ".",
            "a.",
            ".a",
            "a..b",
            "a b",
            "[0]",
            "[*]",
            "a[",
            "a[]",
            "a[x]",
            "a[1.5]",
            "a[0",
            "a]",
            "a[0]b",
            "a.[0]",
            "a[--1]",
            "a[-]",
            "a[99999999999]",
            r#"a["b"#,
            r#"a["b"c]"#,
            r#"a["b]"#,
            "a\"b",
            "$[",
            &long,
        ] {
            assert!(Path::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn elements_are_counted_from_both_ends() {
        for (index, length, expected) in [
            (0, 2, Some(0)),
            (1, 2, Some(1)),
            (2, 2, None),
            (-1, 2, Some(1)),
            (-2, 2, Some(0)),
            (-3, 2, None),
            (0, 0, None),
        ] {
            assert_eq!(place(index, length), expected);
        }
    }
}
