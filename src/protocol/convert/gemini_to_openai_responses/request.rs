//! A Gemini request for a Responses upstream.

use crate::protocol::convert::{Context, ConvertError, Notes};
use crate::protocol::gemini::wire::request::GenerateContentRequest;
use crate::protocol::openai_responses::wire::request::Request as Target;

/// Converts `request`.
pub fn convert<'a>(
    _request: &'a GenerateContentRequest<'a>,
    _context: &'a Context<'a>,
    _notes: &mut Notes,
) -> Result<Target<'a>, ConvertError> {
    Err(ConvertError::unsupported("", "is not converted yet"))
}
