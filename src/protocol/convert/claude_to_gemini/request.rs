//! A Claude Messages request for a Gemini upstream.

use crate::protocol::claude::wire::request::MessagesRequest;
use crate::protocol::convert::{Context, ConvertError, Notes};
use crate::protocol::gemini::wire::request::GenerateContentRequest as Target;

/// Converts `request`.
pub fn convert<'a>(
    _request: &'a MessagesRequest<'a>,
    _context: &'a Context<'a>,
    _notes: &mut Notes,
) -> Result<Target<'a>, ConvertError> {
    Err(ConvertError::unsupported("", "is not converted yet"))
}
