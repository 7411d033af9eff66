//! A Claude Messages request for a Responses upstream.

use crate::protocol::claude::wire::request::MessagesRequest;
use crate::protocol::convert::{Context, ConvertError, Notes};
use crate::protocol::openai_responses::wire::request::Request as Target;

/// Converts `request`.
pub fn convert<'a>(
    _request: &'a MessagesRequest<'a>,
    _context: &'a Context<'a>,
    _notes: &mut Notes,
) -> Result<Target<'a>, ConvertError> {
    Err(ConvertError::unsupported("", "is not converted yet"))
}
