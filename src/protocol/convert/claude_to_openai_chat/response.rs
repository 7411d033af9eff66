//! A Claude Messages upstream's answer for a Chat Completions client.

use crate::protocol::claude::wire::response::Message;
use crate::protocol::convert::{ConvertError, Losses, Reply};
use crate::protocol::openai_chat::wire::response::Response as Target;

/// Converts `response`.
pub fn convert<'a>(
    _response: &'a Message<'a>,
    _reply: &'a Reply,
    _losses: &mut Losses,
) -> Result<Target<'a>, ConvertError> {
    Err(ConvertError::unsupported("", "is not converted yet"))
}
