//! Patterns in which `*` stands for anything.

/// Whether `text` is what `pattern` describes.
pub(super) fn matches(pattern: &str, text: &str) -> bool {
    matches_by(pattern, text, |one, other| one == other)
}

/// The same where capitals do not matter.
pub(super) fn matches_in_any_case(pattern: &str, text: &str) -> bool {
    matches_by(pattern, text, u8::eq_ignore_ascii_case)
}

/// Takes at most as many steps as the product of the lengths.
fn matches_by(pattern: &str, text: &str, is_same: impl Fn(&u8, &u8) -> bool) -> bool {
    let (pattern, text) = (pattern.as_bytes(), text.as_bytes());
    let (mut at, mut read) = (0, 0);
    // Where to go on when the star that was met last has to stand for one byte more.
    let mut star: Option<(usize, usize)> = None;
    while let Some(next) = text.get(read) {
        match pattern.get(at) {
            Some(b'*') => {
                star = Some((at, read));
                at += 1;
            }
            Some(byte) if is_same(byte, next) => {
                at += 1;
                read += 1;
            }
            _ => {
                let Some((star_at, taken)) = star else { return false };
                star = Some((star_at, taken + 1));
                at = star_at + 1;
                read = taken + 1;
            }
        }
    }
    pattern.get(at..).unwrap_or_default().iter().all(|byte| *byte == b'*')
}

#[cfg(test)]
mod tests {
    use super::{matches, matches_in_any_case};

    #[test]
    fn stars_stand_for_anything() {
        for (pattern, text, expected) in [
            ("", "", true),
            ("", "a", false),
            ("*", "", true),
            ("*", "abc", true),
            ("a*", "abc", true),
            ("a*", "ba", false),
            ("*-latest", "claude-latest", true),
            ("*-latest", "claude-latest-2", false),
            ("a*b*c", "aXbYbZc", true),
            ("a*b*c", "aXcYb", false),
            ("gpt-?", "gpt-5", false),
            ("**", "x", true),
            ("ä*", "äöü", true),
        ] {
            assert_eq!(matches(pattern, text), expected, "{pattern} {text}");
        }
        assert!(matches_in_any_case("Claude-*", "claude-Opus") && !matches("Claude-*", "claude-Opus"));
        // Many stars take no longer than their number times the length.
        assert!(!matches(&format!("{}c", "a*".repeat(50)), &"a".repeat(20_000).replace("aaa", "aab")));
    }
}
