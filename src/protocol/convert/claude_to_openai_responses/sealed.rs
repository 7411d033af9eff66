//! Reasoning items of OpenAI in the hands of a Claude client: a thinking block whose signature is the sealed item.

use serde::Serialize;
use tollgate_macros::Read;

use crate::protocol::convert::seal::{Family, seal, unseal};
use crate::protocol::openai_responses::wire::content::{Part, PlainText};
use crate::protocol::openai_responses::wire::item::ReasoningItem;
use crate::protocol::wire::Text;

/// What of an item the client's thinking block does not say.
#[derive(Debug, Serialize, Read)]
struct Sealed<'a> {
    #[serde(borrow)]
    id: Text<'a>,
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    encrypted_content: Option<Text<'a>>,
    /// Whether the text is the reasoning itself, which open models show, and not its summary.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    open: bool,
}

/// The signature under which a Claude client keeps `item`; `None` if there is nothing that would have to come back.
pub(in crate::protocol::convert) fn signature(item: &ReasoningItem<'_>) -> Option<String> {
    let encrypted_content = item.encrypted_content.as_ref().filter(|content| !content.is_empty());
    let open = item.content.as_ref().is_some_and(|content| !content.is_empty());
    if encrypted_content.is_none() && !open {
        return None;
    }
    let id = item.id.as_ref().map(Text::by_ref).unwrap_or_default();
    let sealed = Sealed { id, encrypted_content: encrypted_content.map(Text::by_ref), open };
    serde_json::to_string(&sealed).ok().map(|sealed| seal(Family::OpenAi, &sealed))
}

/// The item that a thinking block stands for; `None` if another family has made it.
pub(super) fn item<'a>(thinking: &'a Text<'a>, signature: &str) -> Option<ReasoningItem<'a>> {
    let Some((Family::OpenAi, payload)) = unseal(signature) else { return None };
    let sealed: Sealed<'_> = serde_json::from_str(&payload).ok()?;
    let owned = |text: Text<'_>| Text::from(text.into_owned());
    let text = |part: fn(PlainText<'a>) -> Part<'a>| {
        let text = (!thinking.is_empty()).then(|| part(PlainText { text: thinking.by_ref() }));
        text.into_iter().collect::<Vec<_>>()
    };
    let (summary, content) = match sealed.open {
        true => (Vec::new(), Some(text(Part::ReasoningText))),
        false => (text(Part::SummaryText), None),
    };
    Some(ReasoningItem {
        id: (!sealed.id.is_empty()).then(|| owned(sealed.id)),
        summary,
        content,
        encrypted_content: sealed.encrypted_content.map(owned),
        status: None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_item_comes_back_as_it_was() {
        for text in [
            r#"{"id":"rs_1","summary":[{"type":"summary_text","text":"a"}],"encrypted_content":"g\"A"}"#,
            r#"{"id":"rs_1","summary":[],"encrypted_content":"gA"}"#,
            r#"{"id":"rs_1","summary":[],"content":[{"type":"reasoning_text","text":"a"}]}"#,
        ] {
            let before: ReasoningItem<'_> = serde_json::from_str(text).unwrap();
            let parts = before.summary.iter().chain(before.content.iter().flatten());
            let mut thinking = parts.map(|part| match part {
                Part::SummaryText(part) | Part::ReasoningText(part) => part.text.by_ref(),
                _ => panic!("{part:?}"),
            });
            let thinking = thinking.next().unwrap_or_default();
            assert_eq!(item(&thinking, &signature(&before).unwrap()).unwrap(), before);
        }
        assert!(signature(&ReasoningItem::default()).is_none());
    }

    /// B13: what another family has signed, or nobody, is not sent.
    #[test]
    fn another_familys_is_none() {
        for foreign in ["", "EqQBCkYIBhgCKkDx", &seal(Family::Gemini, "c2ln"), &seal(Family::OpenAi, "no JSON")] {
            assert!(item(&"hm".into(), foreign).is_none(), "{foreign}");
        }
    }
}
