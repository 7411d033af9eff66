//! Thinking: how much of it, and the reasoning items that a Gemini client keeps as signatures.

use std::borrow::Cow;

use serde::Serialize;
use tollgate_macros::Read;

use crate::protocol::convert::effort::Effort;
use crate::protocol::convert::from_gemini::thinking;
use crate::protocol::convert::seal::{Family, seal, seal_base64, unseal};
use crate::protocol::convert::{ConvertError, Losses, to_openai};
use crate::protocol::gemini::wire::content::Part as GeminiPart;
use crate::protocol::gemini::wire::request::ThinkingConfig;
use crate::protocol::openai_chat::capabilities::Capabilities;
use crate::protocol::openai_responses::wire::content::{Part, PlainText};
use crate::protocol::openai_responses::wire::item::ReasoningItem;
use crate::protocol::openai_responses::wire::request::{Effort as Word, Reasoning};
use crate::protocol::wire::Text;

/// What a reasoning item has to have when it goes back, as a Gemini client keeps it.
#[derive(Debug, Serialize, Read)]
struct Kept<'a> {
    #[serde(borrow)]
    id: Option<Cow<'a, str>>,
    encrypted_content: Cow<'a, str>,
}

/// The thought signature that keeps a reasoning item for later.
pub(in crate::protocol::convert) fn signature(id: Option<&str>, encrypted_content: &str) -> String {
    let kept = Kept { id: id.map(Cow::Borrowed), encrypted_content: encrypted_content.into() };
    // Two strings are always valid JSON.
    seal_base64(Family::OpenAi, &serde_json::to_string(&kept).unwrap_or_default())
}

/// The encrypted content of a reasoning item that keeps a whole part, which Gemini wants back and Responses has no item for.
pub(super) fn kept_part(part: &GeminiPart<'_>) -> String {
    // What was read as JSON can be written as JSON.
    seal(Family::Gemini, &serde_json::to_string(&[part]).unwrap_or_default())
}

/// The reasoning item that `signature` keeps, if it is OpenAI's, with the thoughts that stood before it.
pub(super) fn replayed<'a>(signature: &str, thoughts: &[&'a str]) -> Option<ReasoningItem<'a>> {
    let (Family::OpenAi, payload) = unseal(signature)? else { return None };
    let (id, content) = match serde_json::from_str::<Kept<'_>>(&payload) {
        Ok(kept) => (kept.id.map(Cow::into_owned), kept.encrypted_content.into_owned()),
        Err(_) => (None, payload.into_owned()),
    };
    let summary = |text: &&'a str| Part::SummaryText(PlainText { text: (*text).into() });
    Some(ReasoningItem {
        id: id.map(Text::from),
        summary: thoughts.iter().map(summary).collect(),
        encrypted_content: Some(content.into()),
        ..ReasoningItem::default()
    })
}

/// The member `reasoning`.
pub(super) fn reasoning<'a>(
    config: &ThinkingConfig<'_>,
    model: Capabilities,
    losses: &mut Losses,
) -> Result<Option<Reasoning<'a>>, ConvertError> {
    let amount = thinking::amount(config, losses)?;
    let effort = to_openai::effort::responses(amount, thinking::PATH, model, losses);
    let is_shown = config.include_thoughts == Some(true) && model.reasoning;
    let reasoning =
        Reasoning { effort: effort.map(word), summary: is_shown.then(|| "auto".into()), ..Reasoning::default() };
    Ok((reasoning != Reasoning::default()).then_some(reasoning))
}

fn word<'a>(effort: Effort) -> Word<'a> {
    match effort {
        Effort::None => Word::None,
        Effort::Minimal => Word::Minimal,
        Effort::Low => Word::Low,
        Effort::Medium => Word::Medium,
        Effort::High => Word::High,
        Effort::Xhigh => Word::XHigh,
        Effort::Max => Word::Max,
    }
}
