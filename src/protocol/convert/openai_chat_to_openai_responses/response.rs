//! A Chat Completions upstream's answer for a Responses client.

use crate::protocol::convert::{ConvertError, Losses, Reply};
use crate::protocol::openai_chat::wire::response::Response;
use crate::protocol::openai_responses::wire::response::Response as Target;

/// Converts `response`.
pub fn convert<'a>(
    _response: &'a Response<'a>,
    _reply: &'a Reply,
    _losses: &mut Losses,
) -> Result<Target<'a>, ConvertError> {
    Err(ConvertError::unsupported("", "is not converted yet"))
}
