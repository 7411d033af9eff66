//! How much the patterns of price rules say.

use std::cmp::Ordering;

use crate::engine::glob;

/// A pattern in which `*` stands for anything, also for nothing. Capitals do not matter, since vendors' names do not differ by them
/// alone and people write them as they like.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Glob(Box<str>);

/// How much a pattern says: the greater, the more.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Specificity {
    is_exact: bool,
    letters: usize,
    /// The more stars, the less is said, at the same number of letters.
    stars: std::cmp::Reverse<usize>,
}

impl Glob {
    /// A pattern.
    pub fn new(pattern: &str) -> Self {
        Self(pattern.into())
    }

    /// As it was written.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether it has no star, so that it matches one name.
    pub fn is_exact(&self) -> bool {
        !self.0.contains('*')
    }

    /// How much it says.
    pub fn specificity(&self) -> Specificity {
        let stars = self.0.bytes().filter(|byte| *byte == b'*').count();
        Specificity { is_exact: stars == 0, letters: self.0.len() - stars, stars: std::cmp::Reverse(stars) }
    }

    /// Whether it matches the whole name.
    pub fn matches(&self, name: &str) -> bool {
        glob::matches_in_any_case(&self.0, name)
    }
}

impl PartialOrd for Glob {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Glob {
    /// By what they say, then by their text.
    fn cmp(&self, other: &Self) -> Ordering {
        self.specificity().cmp(&other.specificity()).then_with(|| self.0.cmp(&other.0))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn stars_stand_for_anything() {
        for (pattern, name, expected) in [
            ("gpt-4o", "gpt-4o", true),
            ("gpt-4o", "GPT-4o", true),
            ("gpt-4o", "gpt-4o-mini", false),
            ("gpt-4o", "xgpt-4o", false),
            ("gpt-4o*", "gpt-4o", true),
            ("gpt-4o*", "gpt-4o-mini", true),
            ("*", "", true),
            ("*", "anything", true),
            ("", "", true),
            ("", "x", false),
            ("**", "x", true),
            ("*-mini", "gpt-4o-mini", true),
            ("*-mini", "gpt-4o-mini-2", false),
            ("claude-*-4-*", "claude-sonnet-4-5", true),
            ("claude-*-4-*", "claude-sonnet-4", false),
            ("a*b*c", "aXbXbXc", true),
            ("a*b*c", "aXbXbXd", false),
            ("a*a", "a", false),
            ("*é*", "café", true),
            ("gpt-?", "gpt-5", false),
            ("gpt-[45]", "gpt-5", false),
            ("gpt.4", "gpt-4", false),
        ] {
            assert_eq!(Glob::new(pattern).matches(name), expected, "{pattern} {name}");
        }
    }

    #[test]
    fn more_letters_say_more() {
        let in_order = ["*", "gpt-*", "gpt-*o*", "gpt-4*", "gpt-4o-*", "gpt-4o-mini*", "gpt-4o"];
        for pair in in_order.windows(2) {
            let [less, more] = pair else { unreachable!() };
            assert!(Glob::new(less).specificity() < Glob::new(more).specificity(), "{less} {more}");
        }
    }

    #[test]
    fn a_hostile_pattern_takes_no_longer_than_the_product_of_the_lengths() {
        let pattern = Glob::new(&"a*".repeat(500));
        assert!(!Glob::new(&format!("{}b", pattern.as_str())).matches(&"a".repeat(20_000)));
    }

    /// As short as it can be said.
    fn plainly(pattern: &[u8], name: &[u8]) -> bool {
        match (pattern.split_first(), name.split_first()) {
            (None, None) => true,
            (Some((b'*', rest)), None) => plainly(rest, name),
            (Some((b'*', rest)), Some((_, name_rest))) => plainly(rest, name) || plainly(pattern, name_rest),
            (Some((expected, rest)), Some((byte, name_rest))) => expected == byte && plainly(rest, name_rest),
            _ => false,
        }
    }

    proptest! {
        #[test]
        fn it_matches_what_the_plain_rule_matches(pattern in "[ab*]{0,8}", name in "[ab]{0,8}") {
            prop_assert_eq!(Glob::new(&pattern).matches(&name), plainly(pattern.as_bytes(), name.as_bytes()));
        }

        #[test]
        fn any_text_is_taken(pattern in ".{0,20}", name in ".{0,20}") {
            Glob::new(&pattern).matches(&name);
        }
    }
}
