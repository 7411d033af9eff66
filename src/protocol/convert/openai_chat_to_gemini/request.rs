//! A Chat Completions request for a Gemini upstream.

use crate::protocol::convert::{Context, ConvertError, Notes};
use crate::protocol::gemini::wire::request::GenerateContentRequest as Target;
use crate::protocol::openai_chat::wire::request::Request;

/// Converts `request`.
pub fn convert<'a>(
    _request: &'a Request<'a>,
    _context: &'a Context<'a>,
    _notes: &mut Notes,
) -> Result<Target<'a>, ConvertError> {
    Err(ConvertError::unsupported("", "is not converted yet"))
}
