//! The arguments of a call while they arrive in pieces.

/// Tells when a JSON object that arrives in pieces is complete, without keeping it.
///
/// A vendor that streams calls side by side does not tell the end of each; that the braces are closed does.
#[derive(Debug, Clone, Default)]
pub struct ObjectEnd {
    depth: u32,
    in_string: bool,
    is_escaped: bool,
    is_complete: bool,
}

impl ObjectEnd {
    /// Takes the next piece.
    pub fn feed(&mut self, piece: &str) {
        for byte in piece.bytes() {
            match byte {
                _ if std::mem::take(&mut self.is_escaped) => {}
                b'\\' if self.in_string => self.is_escaped = true,
                b'"' => self.in_string = !self.in_string,
                _ if self.in_string => {}
                b'{' | b'[' => self.depth += 1,
                b'}' | b']' => {
                    self.depth = self.depth.saturating_sub(1);
                    self.is_complete |= self.depth == 0;
                }
                _ => {}
            }
        }
    }

    /// Whether the object is complete.
    pub fn is_complete(&self) -> bool {
        self.is_complete
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_brace_ends_it_and_nothing_before() {
        let text = r#" {"a":{"b":"}\"}\\"},"c":[{}]}"#;
        let mut end = ObjectEnd::default();
        for character in text.chars() {
            assert!(!end.is_complete(), "before {character}");
            end.feed(&character.to_string());
        }
        assert!(end.is_complete());
        for open in ["", "null", "{", r#"{"a":"}"#, "[{}"] {
            let mut end = ObjectEnd::default();
            end.feed(open);
            assert!(!end.is_complete(), "{open}");
        }
    }
}
