//! Pieces of JSON that are written straight into a stream's buffer, for both of OpenAI's dialects.

use serde::Serialize;

/// Appends `text` as a JSON string.
pub fn string(out: &mut Vec<u8>, text: &str) {
    json(out, text);
}

/// Appends a number.
pub fn number(out: &mut Vec<u8>, number: u64) {
    json(out, &number);
}

/// Appends `value` as JSON. What our own types hold can always be written.
pub fn json(out: &mut Vec<u8>, value: &(impl Serialize + ?Sized)) {
    let before = out.len();
    if serde_json::to_writer(&mut *out, value).is_err() {
        out.truncate(before);
        out.extend_from_slice(b"null");
    }
}
