//! Thinking: how much of it, and the signatures that an answer brought and a request takes back.

use std::borrow::Cow;

use crate::protocol::convert::effort::{Amount, Effort, UNKNOWN_EFFORT};
use crate::protocol::convert::loss::{FOREIGN_THINKING, NO_COUNTERPART};
use crate::protocol::convert::seal::{Family, unseal};
use crate::protocol::convert::{Losses, Notes, to_gemini};
use crate::protocol::gemini::capabilities::Capabilities;
use crate::protocol::gemini::wire::content::Part;
use crate::protocol::gemini::wire::request::ThinkingConfig;
use crate::protocol::openai_responses::wire::content::Part as ItemPart;
use crate::protocol::openai_responses::wire::item::ReasoningItem;
use crate::protocol::openai_responses::wire::request::Reasoning;
use crate::protocol::wire::Text;

/// The member `thinkingConfig`, in the measure of the model `name`.
pub(super) fn config<'a>(reasoning: &Reasoning<'a>, name: &str, losses: &mut Losses) -> Option<ThinkingConfig<'a>> {
    const PATH: &str = "reasoning.effort";
    if reasoning.mode.as_deref().is_some_and(|mode| mode != "standard") {
        losses.add("reasoning.mode", NO_COUNTERPART);
    }
    if reasoning.context.is_some() {
        losses.hint("reasoning.context", "the model decides which of its earlier thinking it sees");
    }
    let effort = reasoning.effort.as_ref().and_then(|word| {
        let effort = Effort::from_word(word.as_str());
        if effort.is_none() {
            losses.add(PATH, UNKNOWN_EFFORT);
        }
        effort
    });
    let summary = reasoning.summary.as_ref().or(reasoning.generate_summary.as_ref());
    to_gemini::thinking::config(effort.map(Amount::Effort), summary.map(|_| true), PATH, name, losses)
}

/// A reasoning item that comes back: the thoughts that Gemini said in it or the parts that it keeps, and its signature, which
/// belongs to the next part.
pub(super) fn replayed<'a>(
    item: &'a ReasoningItem<'a>,
    path: &str,
    capabilities: Capabilities,
    notes: &mut Notes,
) -> (Vec<Part<'a>>, Option<Text<'a>>) {
    let sealed = item.encrypted_content.as_deref().and_then(unseal);
    let Some((Family::Gemini, signature)) = sealed else {
        notes.losses.hint_once(path, FOREIGN_THINKING);
        return (Vec::new(), None);
    };
    if signature.starts_with('[') {
        let Cow::Borrowed(parts) = signature else { return (Vec::new(), None) };
        let parts = if capabilities.demands_signatures { parts } else { "[]" };
        return (serde_json::from_str(parts).unwrap_or_default(), None);
    }
    let thought = |part: &'a ItemPart<'a>| match part {
        ItemPart::SummaryText(summary) if !summary.text.is_empty() => {
            Some(Part { text: Some(summary.text.by_ref()), thought: Some(true), ..Part::default() })
        }
        _ => None,
    };
    let thoughts = item.summary.iter().filter_map(thought).collect();
    (thoughts, Some(Text(signature)).filter(|signature| !signature.is_empty()))
}
