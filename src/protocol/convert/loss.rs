//! What a conversion could not carry over.

use std::fmt::{self, Write};

/// Longest list of losses that is told, in bytes; it stands in a header.
const MAX_TEXT_BYTES: usize = 1024;

/// Most losses that are kept; further ones are only counted.
const MAX_KEPT: usize = 64;

/// The reason for what is left out where the other dialect has nothing like it.
pub const NO_COUNTERPART: &str = "has no counterpart";

/// The reason for marks of a prompt cache, where the other vendor has none or other ones.
pub const NO_CACHE_MARKS: &str = "is left out, the prompt is cached by the vendor's own measure";

/// The reason for thinking that another family of models has made, and for its seals.
pub const FOREIGN_THINKING: &str = "thinking of another model is left out";

/// One thing that was left out or changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Loss {
    /// Where it stands in the source, such as `messages[2].content[0].cache_control`.
    pub path: String,
    /// What became of it and why, in a few words without line ends.
    pub reason: &'static str,
    /// Whether the answer can be another one without it. A mark for a cache is lost without consequence.
    pub matters: bool,
}

/// Everything that a conversion could not carry over.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Losses {
    kept: Vec<Loss>,
    further: usize,
    matters: bool,
    /// Whether of losses that differ by a number in their place the first is kept.
    of_stream: bool,
}

impl Losses {
    /// Those of a stream, whose thousand events may lose the same thing a thousand times: of losses that differ by a number in their
    /// place, the first is told.
    pub fn of_stream() -> Self {
        Self { of_stream: true, ..Self::default() }
    }

    /// Notes that what stands at `path` was left out or changed, which may change the answer.
    pub fn add(&mut self, path: impl Into<String>, reason: &'static str) {
        self.push(Loss { path: path.into(), reason, matters: true });
    }

    /// Notes the loss of something that has no influence on the answer: a mark for a cache, a name for a statistic.
    pub fn hint(&mut self, path: impl Into<String>, reason: &'static str) {
        self.push(Loss { path: path.into(), reason, matters: false });
    }

    /// The same as [`Losses::add`] for what can stand at many places; the first is told.
    pub fn add_once(&mut self, path: impl fmt::Display, reason: &'static str) {
        if !self.has(reason) {
            self.add(path.to_string(), reason);
        }
    }

    /// The same as [`Losses::hint`] for what can stand at many places; the first is told.
    pub fn hint_once(&mut self, path: impl fmt::Display, reason: &'static str) {
        if !self.has(reason) {
            self.hint(path.to_string(), reason);
        }
    }

    fn has(&self, reason: &str) -> bool {
        self.kept.iter().any(|loss| loss.reason == reason)
    }

    /// Takes over what `others` lists.
    pub fn append(&mut self, others: Self) {
        self.further += others.further;
        self.matters |= others.matters;
        others.kept.into_iter().for_each(|loss| self.push(loss));
    }

    /// Whether nothing was lost.
    pub fn is_empty(&self) -> bool {
        self.kept.is_empty()
    }

    /// Whether anything was lost that may change the answer.
    pub fn matters(&self) -> bool {
        self.matters
    }

    /// What was lost, the first of it.
    pub fn iter(&self) -> impl Iterator<Item = &Loss> {
        self.kept.iter()
    }

    /// All of it on one line of visible ASCII, bounded: `path: reason; path: reason; and 3 more`.
    pub fn text(&self) -> String {
        let mut text = String::new();
        for (index, loss) in self.kept.iter().enumerate() {
            let before = text.len();
            let separator = if index == 0 { "" } else { "; " };
            let path = loss.path.chars().map(|character| if matches!(character, ' '..='~') { character } else { '?' });
            text.push_str(separator);
            text.extend(path.take(200));
            // Writing to a string cannot fail.
            let _ = write!(text, ": {}", loss.reason);
            if text.len() > MAX_TEXT_BYTES {
                text.truncate(before);
                let _ = write!(text, "; and {} more", self.kept.len() - index + self.further);
                return text;
            }
        }
        if self.further > 0 {
            let _ = write!(text, "; and {} more", self.further);
        }
        text
    }

    fn push(&mut self, loss: Loss) {
        self.matters |= loss.matters;
        if self.of_stream
            && self.kept.iter().any(|known| {
                (known.reason, known.matters) == (loss.reason, loss.matters) && is_alike(&known.path, &loss.path)
            })
        {
            return;
        }
        if self.kept.len() < MAX_KEPT {
            self.kept.push(loss);
        } else {
            self.further += 1;
        }
    }
}

/// Whether two paths are the same but for numbers in them.
fn is_alike(one: &str, other: &str) -> bool {
    one.bytes().filter(|byte| !byte.is_ascii_digit()).eq(other.bytes().filter(|byte| !byte.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_is_bounded_and_visible() {
        let mut losses = Losses::default();
        losses.hint("a", "has no counterpart");
        assert!(!losses.matters());
        losses.add("b\n\u{e4}", "is gone");
        assert!(losses.matters());
        assert_eq!(losses.text(), "a: has no counterpart; b??: is gone");
        (0..1000).for_each(|index| losses.add(format!("messages[{index}]"), "is gone"));
        assert!(losses.text().len() < MAX_TEXT_BYTES + 20 && losses.text().contains("more"), "{}", losses.text());
    }
    #[test]
    fn of_a_stream_the_first_of_each_kind_is_told() {
        let mut losses = Losses::of_stream();
        (9..1000).for_each(|index| losses.add(format!("parts[{index}].text"), "is gone"));
        losses.add("parts[1]", "is gone");
        losses.hint("parts[1]", "is gone");
        losses.hint("parts[1]", "is kept");
        let expected = "parts[9].text: is gone; parts[1]: is gone; parts[1]: is gone; parts[1]: is kept";
        assert_eq!(losses.text(), expected);
    }
}
