//! JSON looked at one level deep, and changed in place.
//!
//! A passthrough must keep unknown fields and the spelling of numbers byte for byte, and must not pay for a parse of what
//! it only forwards. So an object is split into its members without interpreting them, the few that the gateway owns are
//! read, and new text is spliced into the original bytes. The text is still checked to be JSON to its end.

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;

use bytes::Bytes;
use serde::Serialize;
use serde::de::{Deserialize, Deserializer, Error as _, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

use super::wire::Text;

/// The members of a JSON object, their values unread.
#[derive(Debug)]
pub struct Object<'a> {
    text: &'a [u8],
    members: Vec<(Cow<'a, str>, &'a RawValue)>,
}

impl<'a> Object<'a> {
    /// Splits `text`, which must be one whole JSON object.
    pub fn parse(text: &'a [u8]) -> Result<Self, JsonError> {
        let Members(members) = serde_json::from_slice(text).map_err(JsonError::from_serde)?;
        Ok(Self { text, members })
    }

    /// The member `name`. A second one of that name is an error: the gateway and the upstream might each read another.
    pub fn member(&self, name: &'static str) -> Result<Option<&'a RawValue>, JsonError> {
        let mut found = self.members.iter().filter(|(key, _)| key == name).map(|(_, value)| *value);
        let first = found.next();
        match found.next() {
            Some(_) => Err(JsonError::new(format!("`{name}` is there twice"))),
            None => Ok(first),
        }
    }

    /// The member `name` read as `T`; `None` when it is absent or null.
    pub fn read<T: Deserialize<'a>>(&self, name: &'static str) -> Result<Option<T>, JsonError> {
        let Some(value) = self.member(name)? else { return Ok(None) };
        serde_json::from_str(value.get()).map_err(|error| JsonError::new(format!("`{name}`: {}", plain(&error))))
    }

    /// The member `name` as text; `None` when it is absent or null. Borrowed unless it holds an escape.
    pub fn string(&self, name: &'static str) -> Result<Option<Cow<'a, str>>, JsonError> {
        Ok(self.read::<Option<Text<'a>>>(name)?.flatten().map(|Text(text)| text))
    }

    /// The members of `value`, which is the member `name` and has to be an object.
    pub fn object(&self, name: &'static str, value: &'a RawValue) -> Result<Self, JsonError> {
        if !value.get().starts_with('{') {
            return Err(JsonError::new(format!("`{name}` has to be an object")));
        }
        Self::parse(value.get().as_bytes())
    }

    /// Where `value` stands in the text that was parsed.
    pub fn span(&self, value: &'a RawValue) -> Range<usize> {
        span(self.text, value)
    }

    /// The place after the opening brace, where a new first member can be put in.
    pub fn first_member_at(&self) -> usize {
        self.text.iter().position(|byte| *byte == b'{').map_or(0, |brace| brace + 1)
    }

    /// Whether it has no members.
    pub fn is_empty(&self) -> bool {
        self.members.is_empty()
    }
}

/// Reads the top-level member `name` of the object `text` without checking that the rest is JSON: for answers of vendors,
/// where nothing depends on what is skipped. Strings and nesting are respected.
pub fn skim<'a, T: Deserialize<'a>>(text: &'a [u8], name: &str) -> Option<T> {
    let mut at = 0;
    // Only braces are counted: a name stands directly in an object, so inside of brackets there are braces around it.
    let mut depth = 0u32;
    loop {
        at += memchr::memchr3(b'"', b'{', b'}', text.get(at..)?)?;
        match text.get(at)? {
            b'{' => depth += 1,
            b'}' => depth = depth.checked_sub(1)?,
            _ => {
                let end = string_end(text, at + 1)?;
                let rest = text.get(end + 1..)?.trim_ascii_start();
                if depth == 1 && text.get(at + 1..end) == Some(name.as_bytes()) && rest.starts_with(b":") {
                    return T::deserialize(&mut serde_json::Deserializer::from_slice(rest.get(1..)?)).ok();
                }
                at = end;
            }
        }
        at += 1;
    }
}

/// Whether objects and lists in `text`, which need not be valid, are nested more than `limit` levels deep.
pub fn is_deeper_than(text: &str, limit: usize) -> bool {
    let text = text.as_bytes();
    // Nesting needs at least a bracket a level; counting them is faster than looking where strings are.
    let brackets = || text.iter().filter(|byte| matches!(byte, b'{' | b'[')).count();
    if text.len() <= limit || brackets() <= limit {
        return false;
    }
    let (mut depth, mut at) = (0usize, 0);
    while let Some(byte) = text.get(at) {
        match byte {
            b'"' => match string_end(text, at + 1) {
                Some(end) => at = end,
                None => return false,
            },
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth > limit {
            return true;
        }
        at += 1;
    }
    false
}

/// Where the string that begins at `from` has its closing quote.
fn string_end(text: &[u8], from: usize) -> Option<usize> {
    let mut at = from;
    loop {
        at += memchr::memchr2(b'"', b'\\', text.get(at..)?)?;
        if text.get(at) == Some(&b'"') {
            return Some(at);
        }
        at += 2;
    }
}

/// The elements of the JSON array `value`, unread.
pub fn elements(value: &RawValue) -> Result<Vec<&RawValue>, JsonError> {
    serde_json::from_str::<Vec<&RawValue>>(value.get()).map_err(JsonError::from_serde)
}

/// The elements of the JSON array `value`, unread, one after the other: what is not asked for is not looked at.
pub fn elements_lazily(value: &RawValue) -> impl Iterator<Item = &RawValue> {
    let mut rest = value.get().strip_prefix('[');
    std::iter::from_fn(move || {
        let text = rest?;
        let mut stream = serde_json::Deserializer::from_str(text).into_iter::<&RawValue>();
        let element = stream.next()?.ok()?;
        rest = text.get(stream.byte_offset()..)?.trim_start().strip_prefix(',');
        Some(element)
    })
}

/// Where `value`, which was borrowed from `text`, stands in it.
pub fn span(text: &[u8], value: &RawValue) -> Range<usize> {
    let start = (value.get().as_ptr() as usize).saturating_sub(text.as_ptr() as usize);
    start..start + value.get().len()
}

/// Writes `text` as a JSON string.
pub fn quote(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// Appends `value` to `out`, in one pass.
pub fn append(out: &mut Vec<u8>, value: &(impl Serialize + ?Sized)) {
    // Writing to memory cannot fail, and the types of the vendors have no maps with keys that are no strings.
    let _ = serde_json::to_writer(out, value);
}

/// Appends `value` to `out` on one line, whatever JSON it carries: a line of an event stream must not break.
pub fn append_line(out: &mut Vec<u8>, value: &(impl Serialize + ?Sized)) {
    let start = out.len();
    append(out, value);
    // Within strings line ends are escaped, so these stand between tokens.
    for byte in out.iter_mut().skip(start).filter(|byte| matches!(byte, b'\n' | b'\r')) {
        *byte = b' ';
    }
}

/// JSON without the whitespace between its tokens.
pub fn compact(json: &str) -> Cow<'_, str> {
    let mut kept: Option<String> = None;
    let (mut done, mut in_string, mut is_escaped) = (0, false, false);
    for (at, byte) in json.bytes().enumerate() {
        match byte {
            _ if std::mem::take(&mut is_escaped) => {}
            b'\\' if in_string => is_escaped = true,
            b'"' => in_string = !in_string,
            b' ' | b'\n' | b'\r' | b'\t' if !in_string => {
                let kept = kept.get_or_insert_with(|| String::with_capacity(json.len()));
                kept.push_str(json.get(done..at).unwrap_or_default());
                done = at + 1;
            }
            _ => {}
        }
    }
    match kept {
        None => Cow::Borrowed(json),
        Some(mut kept) => {
            kept.push_str(json.get(done..).unwrap_or_default());
            Cow::Owned(kept)
        }
    }
}

/// `value` on one line.
pub fn line(value: &(impl Serialize + ?Sized)) -> Vec<u8> {
    let mut line = Vec::new();
    append_line(&mut line, value);
    line
}

/// Replacements in a text, to be made at once.
#[derive(Debug, Default)]
pub struct Splice(Vec<(Range<usize>, String)>);

impl Splice {
    /// Puts `new` in the place of `old`; an empty range inserts.
    pub fn replace(&mut self, old: Range<usize>, new: impl Into<String>) {
        self.0.push((old, new.into()));
    }

    /// The text with all replacements made; the same bytes when there are none. Ranges must not overlap.
    pub fn apply(mut self, text: &Bytes) -> Bytes {
        if self.0.is_empty() {
            return text.clone();
        }
        self.0.sort_by_key(|(range, _)| range.start);
        let grown: usize = self.0.iter().map(|(_, new)| new.len()).sum();
        let mut spliced = Vec::with_capacity(text.len() + grown);
        let mut done = 0;
        for (range, new) in &self.0 {
            spliced.extend_from_slice(text.get(done..range.start).unwrap_or_default());
            spliced.extend_from_slice(new.as_bytes());
            done = range.end;
        }
        spliced.extend_from_slice(text.get(done..).unwrap_or_default());
        spliced.into()
    }
}

/// Why a text is not the JSON that was wanted. Its words go to the client.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JsonError(String);

impl JsonError {
    fn new(message: String) -> Self {
        Self(message)
    }

    fn from_serde(error: serde_json::Error) -> Self {
        Self(format!("{} at line {} column {}", plain(&error), error.line(), error.column()))
    }
}

/// serde_json's message without the place that it appends.
fn plain(error: &serde_json::Error) -> String {
    let text = error.to_string();
    text.rsplit_once(" at line ").map_or(text.clone(), |(message, _)| message.to_owned())
}

impl fmt::Display for JsonError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl std::error::Error for JsonError {}

struct Members<'a>(Vec<(Cow<'a, str>, &'a RawValue)>);

impl<'de> Deserialize<'de> for Members<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct MembersVisitor;
        impl<'de> Visitor<'de> for MembersVisitor {
            type Value = Members<'de>;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("a JSON object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Members<'de>, A::Error> {
                let mut members = Vec::with_capacity(16);
                while let Some((Text(key), value)) = map.next_entry()? {
                    members.push((key, value));
                }
                Ok(Members(members))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, _seq: A) -> Result<Members<'de>, A::Error> {
                Err(A::Error::custom("a JSON object is expected, not an array"))
            }
        }
        deserializer.deserialize_map(MembersVisitor)
    }
}

/// `text`, in which each escape of half a surrogate pair is one of U+FFFD: vendors that cut their texts into pieces cut pairs too, and
/// what is left is no JSON that can be read.
pub fn without_lone_surrogates(text: &str) -> Cow<'_, str> {
    let has_any = |escape: &str| memchr::memmem::find(text.as_bytes(), escape.as_bytes()).is_some();
    if !has_any("\\ud") && !has_any("\\uD") {
        return Cow::Borrowed(text);
    }
    let unit = |rest: &str| {
        let digits = rest.strip_prefix("\\u").and_then(|rest| rest.get(..4))?;
        u16::from_str_radix(digits, 16).ok()
    };
    let mut whole = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, _)) = rest.split_once('\\') {
        let (head, escape) = rest.split_at(before.len());
        whole.push_str(head);
        let low = escape.get(6..).and_then(unit).filter(|low| (0xdc00..0xe000).contains(low));
        let (written, length) = match unit(escape) {
            Some(0xd800..0xdc00) if low.is_some() => (escape.get(..12), 12),
            Some(0xd800..0xe000) => (Some("\\ufffd"), 6),
            // Also an escaped backslash, which escapes nothing after it.
            _ => (escape.get(..2), 2),
        };
        whole.push_str(written.unwrap_or(escape));
        rest = if written.is_some() { escape.get(length..).unwrap_or_default() } else { "" };
    }
    whole.push_str(rest);
    Cow::Owned(whole)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_a_surrogate_pair_is_replaced() {
        for (text, whole) in [
            (r#"{"a":"x\ud83d"}"#, r#"{"a":"x\ufffd"}"#),
            (r#"{"a":"\uDE00\ud83d\ude00\ud83d"}"#, r#"{"a":"\ufffd\ud83d\ude00\ufffd"}"#),
            (r#"{"a":"\\ud83d\n"}"#, r#"{"a":"\\ud83d\n"}"#),
            (r#"{"a":"\ud83"#, r#"{"a":"\ud83"#),
            (r#"{"a":"\u00e4"}"#, r#"{"a":"\u00e4"}"#),
        ] {
            assert_eq!(without_lone_surrogates(text), whole);
        }
    }

    #[test]
    fn a_member_is_replaced_and_the_rest_is_kept_byte_for_byte() {
        let text = Bytes::from_static(b" {\"model\" : \"a\\u0062\",\"x\":1.50e+03,\"y\":{\"model\":\"no\"}}\n");
        let object = Object::parse(&text).unwrap();
        assert_eq!(object.string("model").unwrap().unwrap(), "ab");
        let mut splice = Splice::default();
        splice.replace(object.span(object.member("model").unwrap().unwrap()), quote("n\"ew"));
        let spliced = splice.apply(&text);
        assert_eq!(spliced, &b" {\"model\" : \"n\\\"ew\",\"x\":1.50e+03,\"y\":{\"model\":\"no\"}}\n"[..]);
    }

    #[test]
    fn a_member_given_twice_is_refused_however_it_is_spelt() {
        let object = Object::parse(br#"{"model":"a","mod\u0065l":"b","x":1,"x":2}"#).unwrap();
        assert!(object.member("model").unwrap_err().to_string().contains("twice"));
    }

    #[test]
    fn skimming_finds_top_level_members_only() {
        let text = br#" {"a":{"usage":1,"b":["usage",{"usage":2}]},"c":"\"usage\":3, }","usage" : {"x":[1,2]} ,"d":4}"#;
        let number = |name| skim::<u32>(text, name);
        assert_eq!(skim::<&RawValue>(text, "usage").map(RawValue::get), Some(r#"{"x":[1,2]}"#));
        assert_eq!(number("d"), Some(4));
        assert_eq!(number("x"), None);
        assert_eq!(number("c"), None);
        assert_eq!(skim::<&str>(br#"{"usage":"usage"}"#, "usage"), Some("usage"));
        for damaged in ["", "{", "}", "{\"usage\"", "{\"usage\":", "{\"usage\":{", "{\"\\", "}}{"] {
            assert_eq!(skim::<u32>(damaged.as_bytes(), "usage"), None, "{damaged}");
        }
    }

    #[test]
    fn what_is_not_an_object_is_refused() {
        for text in ["", "[]", "3", "nul", "{\"a\":}", "{\"a\":1}x", "{\"a\":1", "{\"a\":\"\u{1}\"}"] {
            assert!(Object::parse(text.as_bytes()).is_err(), "{text}");
        }
        assert!(Object::parse(b"{\"a\":\"\xff\"}").is_err());
    }

    #[test]
    fn depth_is_no_danger() {
        let deep = format!("{{\"a\":{}{}}}", "[".repeat(200_000), "]".repeat(200_000));
        assert!(Object::parse(deep.as_bytes()).is_ok());
    }

    #[test]
    fn carried_json_stays_on_its_line() {
        let mut out = b"data: ".to_vec();
        append_line(&mut out, &serde_json::from_str::<&RawValue>("{\n \"a\":\r\n\"b\\n\"}").unwrap());
        assert_eq!(out, b"data: {  \"a\":  \"b\\n\"}");
    }

    #[test]
    fn whitespace_between_tokens_goes() {
        assert_eq!(compact("{ \"a b\\\" c\" :\n\t[1, \"\u{e4} \\\\\" ] }"), "{\"a b\\\" c\":[1,\"\u{e4} \\\\\"]}");
        assert!(matches!(compact(r#"{"a b":1.50}"#), Cow::Borrowed(_)));
    }

    #[test]
    fn wrong_types_are_named() {
        let object = Object::parse(br#"{"model":7,"stream":"yes","none":null}"#).unwrap();
        assert!(object.string("model").unwrap_err().to_string().starts_with("`model`"));
        assert!(object.read::<bool>("stream").is_err());
        assert_eq!(object.string("none").unwrap(), None);
    }
}
