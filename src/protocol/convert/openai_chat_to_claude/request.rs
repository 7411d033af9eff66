//! A Chat Completions request for a Claude Messages upstream.

use crate::protocol::claude::wire::request::MessagesRequest as Target;
use crate::protocol::convert::{Context, ConvertError, Notes};
use crate::protocol::openai_chat::wire::request::Request;

/// Converts `request`.
pub fn convert<'a>(
    _request: &'a Request<'a>,
    _context: &'a Context<'a>,
    _notes: &mut Notes,
) -> Result<Target<'a>, ConvertError> {
    Err(ConvertError::unsupported("", "is not converted yet"))
}
