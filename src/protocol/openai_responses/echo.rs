//! What an answer repeats of its request.

use super::wire::request::Request;

/// Members of an object without its braces.
pub fn echo(_request: &Request<'_>) -> String {
    String::new()
}
