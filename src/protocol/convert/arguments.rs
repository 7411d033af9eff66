//! The arguments of a call: while they arrive in pieces, and as a request repeats them.

use super::ConvertError;

/// The arguments of the call `id`, which stands at `path` in a request, for a dialect that has them as text too. None at all are an
/// empty object. What is not JSON was cut short: to repair it would make the model believe that it said something else.
pub fn repeated<'a>(arguments: &'a str, id: &str, path: &str) -> Result<&'a str, ConvertError> {
    let trimmed = arguments.trim();
    if matches!(trimmed, "" | "null") {
        return Ok("{}");
    }
    if trimmed.starts_with('{') && serde_json::from_str::<serde::de::IgnoredAny>(trimmed).is_ok() {
        return Ok(arguments);
    }
    Err(ConvertError::invalid(
        path,
        format!(
            "the arguments of the tool call {id:?} are no JSON object; drop the call with its result, or mend them"
        ),
    ))
}

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
    pub fn feed(&mut self, piece: impl AsRef<[u8]>) {
        for byte in piece.as_ref() {
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

    /// B08: empty arguments are an empty object, cut ones are a fault that names the call.
    #[test]
    fn what_was_cut_is_not_repaired() {
        for (arguments, expected) in [("", "{}"), (" ", "{}"), ("null", "{}"), ("{ \"a\":1}", "{ \"a\":1}")] {
            assert_eq!(repeated(arguments, "c1", "x"), Ok(expected));
        }
        for arguments in ["{\"a\":", "a", "[]", "{}{}"] {
            assert!(repeated(arguments, "c1", "x").unwrap_err().to_string().contains("\"c1\""), "{arguments}");
        }
    }

    #[test]
    fn the_last_brace_ends_it_and_nothing_before() {
        let text = r#" {"a":{"b":"}\"}\\"},"c":[{}]}"#;
        let mut end = ObjectEnd::default();
        for character in text.chars() {
            assert!(!end.is_complete(), "before {character}");
            end.feed(character.to_string());
        }
        assert!(end.is_complete());
        for open in ["", "null", "{", r#"{"a":"}"#, "[{}"] {
            let mut end = ObjectEnd::default();
            end.feed(open);
            assert!(!end.is_complete(), "{open}");
        }
    }
}
