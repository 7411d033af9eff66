//! Thinking in a conversation: Gemini's signatures go back to Gemini, what others thought does not.

use std::borrow::Cow;

use tollgate_macros::Read;

use crate::protocol::convert::Notes;
use crate::protocol::convert::loss::FOREIGN_THINKING;
use crate::protocol::convert::seal::{Family, unseal};
use crate::protocol::gemini::wire::content::Part;
use crate::protocol::openai_chat::wire::message::{Message, ReasoningDetail};
use crate::protocol::wire::{Raw, Text};

/// The format by which OpenRouter tells signatures of Gemini.
const OPENROUTER_FORMAT: &str = "google-gemini-v1";

/// The signature in `google.thought_signature` of an `extra_content`
/// (<https://ai.google.dev/gemini-api/docs/thought-signatures#openai>).
pub(super) fn signature<'a>(extra_content: &'a Raw<'a>) -> Option<Text<'a>> {
    #[derive(Read)]
    struct Extra<'a> {
        #[serde(borrow)]
        google: Option<Google<'a>>,
    }
    #[derive(Read)]
    struct Google<'a> {
        #[serde(borrow)]
        thought_signature: Option<Text<'a>>,
    }
    let signature = extra_content.read::<Extra<'a>>().ok()?.google?.thought_signature?;
    genuine(signature.0)
}

/// The signature that OpenRouter keeps for the call `id`, or else for the first call of a message.
pub(super) fn openrouter_signature<'a>(message: &'a Message<'a>, id: &str, is_first: bool) -> Option<Text<'a>> {
    let details = message.reasoning_details.as_deref().unwrap_or_default();
    let mut signatures = details.iter().filter_map(|detail| match detail {
        ReasoningDetail::Encrypted(detail) if detail.format.as_deref() == Some(OPENROUTER_FORMAT) => Some(detail),
        _ => None,
    });
    let has_call = |detail_id: Option<&str>| {
        detail_id.is_some_and(|detail_id| {
            message.tool_calls.iter().flatten().any(|call| super::calls::id(call) == Some(detail_id))
        })
    };
    let signature = signatures.find(|detail| {
        let detail_id = detail.id.as_deref();
        detail_id == Some(id) || (is_first && !has_call(detail_id))
    })?;
    genuine(Cow::Borrowed(&signature.data))
}

/// A signature that Gemini made, if it is one.
fn genuine(signature: Cow<'_, str>) -> Option<Text<'_>> {
    if signature.is_empty() {
        return None;
    }
    match unseal(&signature).map(|(family, payload)| (family, payload.into_owned())) {
        None => Some(Text(signature)),
        Some((Family::Gemini, payload)) => Some(payload.into()),
        Some(_) => None,
    }
}

/// Notes that thoughts are not told again: they are another vendor's, or only summaries.
pub(super) fn left_out(message: &Message<'_>, path: &str, notes: &mut Notes) {
    let members = [
        ("reasoning_content", message.reasoning_content.is_some()),
        ("reasoning", message.reasoning.is_some()),
        ("reasoning_details", message.reasoning_details.is_some()),
        ("thinking_blocks", message.thinking_blocks.is_some()),
    ];
    if let Some((member, _)) = members.into_iter().find(|(_, is_there)| *is_there) {
        notes.losses.hint_once(format!("{path}.{member}"), FOREIGN_THINKING);
    }
}

/// A part with text.
pub(super) fn text_part(text: Text<'_>) -> Part<'_> {
    Part { text: Some(text), ..Part::default() }
}
