//! Thinking: how much of it, and the reasoning items that a Gemini client keeps as signatures.

use std::borrow::Cow;

use serde::Serialize;
use tollgate_macros::Read;

use crate::protocol::convert::Losses;
use crate::protocol::convert::effort::Effort;
use crate::protocol::convert::seal::{Family, seal, seal_base64, unseal};
use crate::protocol::gemini::wire::content::Part as GeminiPart;
use crate::protocol::gemini::wire::request::{ThinkingConfig, ThinkingLevel};
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
    capabilities: Capabilities,
    losses: &mut Losses,
) -> Option<Reasoning<'a>> {
    const PATH: &str = "generationConfig.thinkingConfig";
    if !capabilities.reasoning {
        if config.thinking_budget.is_some_and(|budget| budget.0 != 0) || config.thinking_level.is_some() {
            losses.add(PATH, "this model does not think");
        }
        return None;
    }
    let budget = config.thinking_budget.map(|budget| u64::try_from(budget.0).ok().map(Effort::from_budget));
    let effort = match (&config.thinking_level, budget) {
        (Some(level), _) => effort_of(level, losses),
        (None, Some(effort)) => effort,
        (None, None) => None,
    };
    let nearest = effort.map(|effort| effort.nearest(capabilities.efforts));
    if nearest != effort {
        losses.add(PATH, "the model is asked for the nearest effort that it has");
    }
    let reasoning = Reasoning {
        effort: nearest.map(word),
        summary: (config.include_thoughts == Some(true)).then(|| "auto".into()),
        ..Reasoning::default()
    };
    (reasoning != Reasoning::default()).then_some(reasoning)
}

fn effort_of(level: &ThinkingLevel<'_>, losses: &mut Losses) -> Option<Effort> {
    Some(match level {
        ThinkingLevel::Minimal => Effort::Minimal,
        ThinkingLevel::Low => Effort::Low,
        ThinkingLevel::Medium => Effort::Medium,
        ThinkingLevel::High => Effort::High,
        ThinkingLevel::Xhigh => Effort::Xhigh,
        ThinkingLevel::Other(word) if word.ends_with("UNSPECIFIED") => return None,
        ThinkingLevel::Other(_) => {
            losses.add("generationConfig.thinkingConfig.thinkingLevel", "this level is not known");
            return None;
        }
    })
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
