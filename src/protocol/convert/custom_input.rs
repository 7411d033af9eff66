//! The free text of a custom tool, taken out of the function arguments in which an upstream without such tools sends it.

/// Takes the text out of `{"input":"…"}` while it comes, however it is cut.
///
/// Arguments of any other form are passed on as they are: the client's tool then sees what the model has written.
#[derive(Debug, Default)]
pub struct CustomInput {
    place: Place,
    /// What came before it was clear that the arguments have the form that is wanted.
    head: String,
    /// An escape that has not come whole, from its backslash on.
    escape: String,
    /// The first half of a pair of surrogates.
    high: Option<u16>,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum Place {
    /// Before the text.
    #[default]
    Head,
    /// In the text.
    Text,
    /// After the text.
    Done,
    /// In arguments of another form.
    Raw,
}

/// What the beginning of the arguments is.
enum Head {
    /// It may become the form that is wanted.
    Unclear,
    /// The text begins at this byte.
    Text(usize),
    /// There is no argument at all.
    Empty,
    /// Another form.
    Other,
}

/// The text in whole arguments.
pub fn text(arguments: &str) -> String {
    let mut input = CustomInput::default();
    let mut text = String::with_capacity(arguments.len());
    input.feed(arguments, &mut text);
    input.finish(&mut text);
    text
}

impl CustomInput {
    /// Takes the next piece of the arguments and appends what is sure of the text.
    pub fn feed(&mut self, piece: &str, text: &mut String) {
        match self.place {
            Place::Head => self.feed_head(piece, text),
            Place::Text => self.feed_text(piece, text),
            Place::Raw => text.push_str(piece),
            Place::Done => {}
        }
    }

    /// Appends what was held back, when no more arguments come.
    pub fn finish(&mut self, text: &mut String) {
        if self.place == Place::Head {
            text.push_str(self.head.trim());
        }
        self.lone_surrogate(text);
        self.place = Place::Done;
    }

    fn feed_head(&mut self, piece: &str, text: &mut String) {
        self.head.push_str(piece);
        let head = std::mem::take(&mut self.head);
        match look(&head) {
            Head::Unclear => self.head = head,
            Head::Empty => self.place = Place::Done,
            Head::Other => {
                self.place = Place::Raw;
                text.push_str(&head);
            }
            Head::Text(start) => {
                self.place = Place::Text;
                self.feed_text(head.get(start..).unwrap_or_default(), text);
            }
        }
    }

    fn feed_text(&mut self, mut piece: &str, text: &mut String) {
        while !piece.is_empty() {
            if !self.escape.is_empty() {
                piece = self.feed_escape(piece, text);
                continue;
            }
            let end = memchr::memchr2(b'"', b'\\', piece.as_bytes()).unwrap_or(piece.len());
            let (plain, rest) = piece.split_at_checked(end).unwrap_or((piece, ""));
            if !plain.is_empty() {
                self.lone_surrogate(text);
                text.push_str(plain);
            }
            if rest.starts_with('"') {
                self.lone_surrogate(text);
                self.place = Place::Done;
                return;
            }
            piece = rest;
            if let Some(after) = rest.strip_prefix('\\') {
                self.escape.push('\\');
                piece = after;
            }
        }
    }

    /// Completes an escape with the beginning of `piece`; the rest is returned.
    fn feed_escape<'a>(&mut self, piece: &'a str, text: &mut String) -> &'a str {
        let mut characters = piece.chars();
        for character in characters.by_ref() {
            self.escape.push(character);
            if self.escape.starts_with("\\u") && self.escape.chars().count() < 6 {
                continue;
            }
            let escape = std::mem::take(&mut self.escape);
            self.decode(&escape, text);
            break;
        }
        characters.as_str()
    }

    fn decode(&mut self, escape: &str, text: &mut String) {
        if let Some(unit) = escape.strip_prefix("\\u").and_then(|digits| u16::from_str_radix(digits, 16).ok()) {
            return self.unit(unit, text);
        }
        self.lone_surrogate(text);
        match escape {
            "\\n" => text.push('\n'),
            "\\t" => text.push('\t'),
            "\\r" => text.push('\r'),
            "\\b" => text.push('\u{8}'),
            "\\f" => text.push('\u{c}'),
            "\\\"" | "\\\\" | "\\/" => text.push_str(escape.get(1..).unwrap_or_default()),
            // No escape of JSON: kept, since a model may write a regular expression like this.
            _ => text.push_str(escape),
        }
    }

    fn unit(&mut self, unit: u16, text: &mut String) {
        let units: Vec<u16> = self.high.take().into_iter().chain([unit]).collect();
        if units.len() == 1 && (0xD800..0xDC00).contains(&unit) {
            self.high = Some(unit);
        } else {
            text.extend(char::decode_utf16(units).map(|unit| unit.unwrap_or(char::REPLACEMENT_CHARACTER)));
        }
    }

    fn lone_surrogate(&mut self, text: &mut String) {
        if self.high.take().is_some() {
            text.push(char::REPLACEMENT_CHARACTER);
        }
    }
}

/// The name of the argument, [`CUSTOM_INPUT`](super::names::CUSTOM_INPUT), as it is written.
const KEY: &str = "\"input\"";

/// Looks for `{"input":"`, with space around its tokens.
fn look(head: &str) -> Head {
    let mut rest = head;
    for token in ["{", KEY, ":", "\""] {
        rest = rest.trim_start();
        match rest.strip_prefix(token) {
            Some(after) => rest = after,
            None if token.starts_with(rest) => return Head::Unclear,
            None if token == KEY && rest.starts_with('}') => return Head::Empty,
            None => return Head::Other,
        }
    }
    Head::Text(head.len() - rest.len())
}

#[cfg(test)]
mod tests {
    use super::super::names::CUSTOM_INPUT;
    use super::*;

    fn in_pieces(arguments: &str, cut: usize) -> String {
        let mut input = CustomInput::default();
        let mut text = String::new();
        let cut = (cut..=arguments.len()).find(|cut| arguments.is_char_boundary(*cut)).unwrap();
        let (head, tail) = arguments.split_at(cut);
        input.feed(head, &mut text);
        input.feed(tail, &mut text);
        input.finish(&mut text);
        text
    }

    #[test]
    fn the_text_is_the_same_however_it_is_cut() {
        assert_eq!(KEY, format!("\"{CUSTOM_INPUT}\""));
        for (arguments, expected) in [
            (r#"{"input":"*** Begin\n\t\"a\" \\ \/ \u00e9\ud83c\udf0d"}"#, "*** Begin\n\t\"a\" \\ / é🌍"),
            (" { \"input\" : \"北\" , \"x\": 1 }", "北"),
            (r#"{"input":""}"#, ""),
            ("{}", ""),
            ("{ }", ""),
            ("", ""),
            (r#"{"input":"cut of"#, "cut of"),
            (r#"{"inp"#, r#"{"inp"#),
            (r#"{"patch":"a"}"#, r#"{"patch":"a"}"#),
            (r#"{"input":{"a":1}}"#, r#"{"input":{"a":1}}"#),
            ("ls -l", "ls -l"),
            (r#"{"input":"\ud83c-\ud83c\n\ud83c"}"#, "\u{fffd}-\u{fffd}\n\u{fffd}"),
            (r#"{"input":"\d\u12x4"}"#, "\\d\\u12x4"),
        ] {
            assert_eq!(text(arguments), expected);
            for cut in 0..=arguments.len() {
                assert_eq!(in_pieces(arguments, cut), expected, "{arguments} cut at {cut}");
            }
        }
    }
}
