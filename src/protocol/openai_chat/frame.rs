//! Pieces of JSON that are written straight into a stream's buffer, for both of OpenAI's dialects.

use serde::Serialize;

/// Appends `text` as a JSON string.
pub fn string(out: &mut Vec<u8>, text: &str) {
    // Writing to memory cannot fail.
    let _ = serde_json::to_writer(out, text);
}

/// Appends a number.
pub fn number(out: &mut Vec<u8>, number: u64) {
    let _ = serde_json::to_writer(out, &number);
}

/// Appends `value` as JSON on one line. What our own types hold can always be written.
pub fn json(out: &mut Vec<u8>, value: &(impl Serialize + ?Sized)) {
    let before = out.len();
    if serde_json::to_writer(&mut *out, value).is_err() {
        out.truncate(before);
        out.extend_from_slice(b"null");
    }
    one_line(out.get_mut(before..).unwrap_or_default());
}

/// Puts JSON on one line, as the data of an event has to be: within strings line ends are escaped, elsewhere they are space.
pub fn one_line(json: &mut [u8]) {
    if memchr::memchr2(b'\n', b'\r', json).is_some() {
        json.iter_mut().filter(|byte| matches!(byte, b'\n' | b'\r')).for_each(|byte| *byte = b' ');
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::wire::Raw;

    #[test]
    fn carried_json_is_put_on_one_line() {
        let mut out = vec![];
        json(&mut out, &Raw::parse("{\n\"a\":\r\n\"\\n\"}").unwrap());
        assert_eq!(out, b"{ \"a\":  \"\\n\"}");
    }
}
