//! A Claude Messages upstream's answer for a Gemini client.

use crate::protocol::claude::wire::response::Message;
use crate::protocol::convert::{ConvertError, Losses, Reply};
use crate::protocol::gemini::wire::response::GenerateContentResponse as Target;

/// Converts `response`.
pub fn convert<'a>(
    _response: &'a Message<'a>,
    _reply: &'a Reply,
    _losses: &mut Losses,
) -> Result<Target<'a>, ConvertError> {
    Err(ConvertError::unsupported("", "is not converted yet"))
}
