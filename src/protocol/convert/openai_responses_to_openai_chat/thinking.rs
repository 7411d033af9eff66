//! How much the model thinks.

use crate::protocol::convert::effort::{Amount, Effort, UNKNOWN_EFFORT};
use crate::protocol::convert::{ConvertError, Losses, to_openai};
use crate::protocol::openai_chat::capabilities::Capabilities;
use crate::protocol::openai_responses::wire::request::{Effort as Source, Request};

const PATH: &str = "reasoning.effort";

/// The effort that stands for what the client asks for; `last` is what the input says about it.
pub(super) fn effort(
    request: &Request<'_>,
    last: Option<&Source<'_>>,
    has_tools: bool,
    model: Capabilities,
    losses: &mut Losses,
) -> Result<Option<Effort>, ConvertError> {
    let asked = last.or_else(|| request.reasoning.as_ref()?.effort.as_ref());
    let wanted = asked.and_then(|effort| Effort::from_word(effort.as_str()));
    if asked.is_some() && wanted.is_none() {
        losses.add(PATH, UNKNOWN_EFFORT);
    }
    to_openai::effort::chat(wanted.map(Amount::Effort), PATH, has_tools, model, losses)
}
