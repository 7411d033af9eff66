//! What the validators of Claude and Gemini check with.

use serde_json::Value;

/// Faults so far.
#[derive(Debug, Default)]
pub(super) struct Check {
    pub(super) faults: Vec<String>,
}

impl Check {
    /// Notes a fault at a place.
    pub(super) fn fault(&mut self, at: &str, what: impl std::fmt::Display) {
        self.faults.push(format!("{at}: {what}"));
    }

    /// Notes a fault unless `holds`.
    pub(super) fn require(&mut self, holds: bool, at: &str, what: impl std::fmt::Display) {
        if !holds {
            self.fault(at, what);
        }
    }

    /// Checks the members of an object against `spec`: words `name:kind`, with `!` behind what has to be there and `?` behind what
    /// may be null. Kinds are `str`, `text` (not empty), `count`, `int`, `num`, `bool`, `obj`, `list`, `any`, and words in
    /// parentheses, `(a|b)`.
    pub(super) fn members(&mut self, at: &str, value: &Value, spec: &str) {
        let Some(members) = value.as_object() else { return self.fault(at, format!("no object: {value}")) };
        let mut known = Vec::new();
        for word in spec.split_whitespace() {
            let (name, kind) = word.split_once(':').unwrap();
            let (kind, is_nullable) = kind.strip_suffix('?').map_or((kind, false), |kind| (kind, true));
            let (kind, is_required) = kind.strip_suffix('!').map_or((kind, false), |kind| (kind, true));
            known.push(name);
            let at = format!("{at}.{name}");
            match members.get(name) {
                None => self.require(!is_required, &at, "missing"),
                Some(Value::Null) => self.require(is_nullable || kind == "any", &at, "null"),
                Some(value) => self.require(is_of(kind, value), &at, format!("{value} is no {kind}")),
            }
        }
        for name in members.keys() {
            self.require(known.contains(&name.as_str()), at, format!("unknown member {name:?}"));
        }
    }

    /// Checks a member that has to be one of some words, if it is there.
    pub(super) fn word(&mut self, at: &str, value: &Value, words: &[&str]) {
        if let Some(word) = value.as_str() {
            self.require(words.contains(&word), at, format!("unknown word {word:?}"));
        }
    }

    /// Checks a number's range, if it is there.
    pub(super) fn range(&mut self, at: &str, value: &Value, least: f64, greatest: f64) {
        if let Some(number) = value.as_f64() {
            self.require(number >= least && number <= greatest, at, format!("{number} is not in {least}..={greatest}"));
        }
    }
}

fn is_of(kind: &str, value: &Value) -> bool {
    match kind {
        "str" => value.is_string(),
        "text" => value.as_str().is_some_and(|text| !text.is_empty()),
        "count" => value.is_u64(),
        "int" => value.is_i64() || value.is_u64(),
        "num" => value.is_number(),
        "bool" => value.is_boolean(),
        "obj" => value.is_object(),
        "list" => value.is_array(),
        "any" => true,
        words => {
            let words = words.strip_prefix('(').and_then(|words| words.strip_suffix(')')).unwrap();
            value.as_str().is_some_and(|word| words.split('|').any(|known| known == word))
        }
    }
}

/// The elements of a list; none if it is no list.
pub(super) fn list(value: &Value) -> &[Value] {
    value.as_array().map(Vec::as_slice).unwrap_or_default()
}

/// The kind of a tagged object.
pub(super) fn kind(value: &Value) -> &str {
    value["type"].as_str().unwrap_or_default()
}

/// Whether it is base64 of the ordinary alphabet, padded.
pub(super) fn is_base64(text: &str) -> bool {
    let body = text.trim_end_matches('=');
    !text.is_empty()
        && text.len().is_multiple_of(4)
        && text.len() - body.len() <= 2
        && body.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/'))
}
