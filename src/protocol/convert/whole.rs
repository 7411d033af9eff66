//! Whole answers from streams, and streams from whole answers, within one dialect.

use super::{ConvertError, Reply, StreamFault};
use crate::protocol::dialect::Dialect;

/// The answer that a stream of `dialect` amounts to.
pub fn fold(dialect: Dialect, stream: &[u8]) -> Result<Vec<u8>, StreamFault<'static>> {
    let _ = (dialect, stream);
    Err(StreamFault::unreadable())
}

/// The stream that a client of `dialect` gets for a whole answer.
pub fn unfold(dialect: Dialect, body: &str, reply: &Reply) -> Result<Vec<u8>, ConvertError> {
    let _ = (dialect, reply);
    Err(ConvertError::Unreadable(body.to_owned()))
}
