//! Makes a stream of a whole answer.

use serde_json::value::RawValue;

use crate::protocol::convert::ConvertError;
use crate::protocol::json;

/// Appends the answer `body` to `out` as a stream: one event, which is what the vendor sends for a short answer. `as_array` tells
/// the framing.
pub fn unfold(body: &str, as_array: bool, out: &mut Vec<u8>) -> Result<(), ConvertError> {
    let body: &RawValue = serde_json::from_str(body).map_err(|error| ConvertError::Unreadable(error.to_string()))?;
    out.extend_from_slice(if as_array { b"[" } else { b"data: " });
    json::append_line(out, body);
    out.extend_from_slice(if as_array { b"]" } else { b"\n\n" });
    Ok(())
}
