//! A Responses upstream's answer for a Gemini client.

use crate::protocol::convert::{ConvertError, Losses, Reply};
use crate::protocol::gemini::wire::response::GenerateContentResponse as Target;
use crate::protocol::openai_responses::wire::response::Response;

/// Converts `response`.
pub fn convert<'a>(
    _response: &'a Response<'a>,
    _reply: &'a Reply,
    _losses: &mut Losses,
) -> Result<Target<'a>, ConvertError> {
    Err(ConvertError::unsupported("", "is not converted yet"))
}
