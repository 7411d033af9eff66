//! What an answer may hold that a Responses client is not told, in the same words for whole answers and for streams.

use super::thoughts;
use crate::protocol::convert::Losses;
use crate::protocol::openai_chat::wire::content::Part;
use crate::protocol::openai_chat::wire::response::{Annotation, FinishReason, Logprobs};

/// Answers beside the first.
pub(super) fn choices(losses: &mut Losses) {
    losses.add("choices[1]", "one answer is all that can be told");
}

/// Verdicts.
pub(super) fn moderation(losses: &mut Losses) {
    losses.add("moderation", "the verdicts have another form, left out");
}

/// Sound.
pub(super) fn audio(losses: &mut Losses) {
    losses.add("choices[0].message.audio", "only what is said in it can be told");
}

/// A reason for the end that is not known.
pub(super) fn finish_reason(reason: Option<&FinishReason<'_>>, losses: &mut Losses) {
    if matches!(reason, Some(FinishReason::Other(_))) {
        losses.add("choices[0].finish_reason", "is not known");
    }
}

/// Notes on the text, if one is none about a page.
pub(super) fn annotations(annotations: Option<&[Annotation<'_>]>, losses: &mut Losses) {
    let is_page = |annotation: &Annotation<'_>| matches!(annotation, Annotation::UrlCitation(_));
    if !annotations.unwrap_or_default().iter().all(is_page) {
        losses.add("choices[0].message.annotations", "notes of an unknown type, left out");
    }
}

/// How likely the tokens of a refusal were.
pub(super) fn logprobs(logprobs: Option<&Logprobs<'_>>, losses: &mut Losses) {
    if logprobs.is_some_and(|logprobs| logprobs.refusal.is_some()) {
        losses.add("choices[0].logprobs.refusal", "a refusal has none");
    }
}

/// A part of the content, if it is lost.
pub(super) fn part(part: &Part<'_>, index: usize, losses: &mut Losses) {
    match part {
        Part::Text(_) | Part::Refusal(_) => {}
        Part::Other(raw) if thoughts::mistral_thinking(raw).is_some() => {}
        _ => losses.add(format!("choices[0].message.content[{index}]"), "a part of an unknown type, left out"),
    }
}
