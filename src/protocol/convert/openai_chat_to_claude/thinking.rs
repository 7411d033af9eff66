//! The thinking that the model is given back.

use crate::protocol::claude::wire::content::{ContentBlock, RedactedThinkingBlock, ThinkingBlock};
use crate::protocol::convert::Losses;
use crate::protocol::convert::loss::FOREIGN_THINKING;
use crate::protocol::convert::seal::{Family, unseal};
use crate::protocol::openai_chat::wire::message::{Message, ReasoningDetail, ThinkingBlock as ChatThinkingBlock};
use crate::protocol::wire::Text;

/// The thinking of an earlier answer, as far as Claude has made it: with its signature, without which Claude refuses it.
pub fn replayed<'a>(message: &'a Message<'a>, path: &str, losses: &mut Losses) -> Vec<ContentBlock<'a>> {
    let blocks: Vec<_> = match (&message.thinking_blocks, &message.reasoning_details) {
        (Some(blocks), _) => blocks.iter().filter_map(thinking_block).collect(),
        (None, Some(details)) => details.iter().filter_map(reasoning_detail).collect(),
        (None, None) => Vec::new(),
    };
    let given = message.thinking_blocks.as_ref().map_or(0, Vec::len)
        + message.reasoning_details.as_ref().map_or(0, Vec::len)
        + usize::from(message.reasoning_content.is_some() || message.reasoning.is_some());
    if given > 0 && blocks.is_empty() {
        losses.hint_once(path, FOREIGN_THINKING);
    }
    blocks
}

fn thinking_block<'a>(block: &'a ChatThinkingBlock<'a>) -> Option<ContentBlock<'a>> {
    match block {
        ChatThinkingBlock::Thinking(block) => {
            let signature = genuine(block.signature.as_ref()?, Family::Claude)?;
            let thinking = block.thinking.as_ref().map(Text::by_ref).unwrap_or_default();
            Some(ContentBlock::Thinking(ThinkingBlock { thinking, signature: Some(signature) }))
        }
        ChatThinkingBlock::RedactedThinking(block) => {
            let data = genuine(&block.data, Family::ClaudeRedacted)?;
            Some(ContentBlock::RedactedThinking(RedactedThinkingBlock { data }))
        }
        ChatThinkingBlock::Other(_) => None,
    }
}

fn reasoning_detail<'a>(detail: &'a ReasoningDetail<'a>) -> Option<ContentBlock<'a>> {
    let is_claude = |format: &Option<Text<'_>>| format.as_ref().is_some_and(|format| format.starts_with("anthropic-"));
    match detail {
        ReasoningDetail::Text(detail) if is_claude(&detail.format) => {
            let signature = genuine(detail.signature.as_ref()?, Family::Claude)?;
            let thinking = detail.text.as_ref().map(Text::by_ref).unwrap_or_default();
            Some(ContentBlock::Thinking(ThinkingBlock { thinking, signature: Some(signature) }))
        }
        ReasoningDetail::Encrypted(detail) if is_claude(&detail.format) => {
            let data = genuine(&detail.data, Family::ClaudeRedacted)?;
            Some(ContentBlock::RedactedThinking(RedactedThinkingBlock { data }))
        }
        _ => None,
    }
}

/// Claude's own secret. One without a seal is Claude's as well: these members are made for Claude's.
fn genuine<'a>(secret: &'a Text<'a>, wanted: Family) -> Option<Text<'a>> {
    match unseal(secret) {
        Some((family, payload)) => (family == wanted && !payload.is_empty()).then_some(Text(payload)),
        None => (!secret.is_empty()).then(|| secret.by_ref()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// B13: only what Claude has signed goes back to it, byte for byte.
    #[test]
    fn only_genuine_thinking_is_replayed() {
        let check = |signature: &str| {
            let text = format!(
                r#"{{"role":"assistant","thinking_blocks":[{{"type":"thinking","thinking":"hm","signature":"{signature}"}}]}}"#
            );
            let message: Message<'_> = serde_json::from_str(&text).unwrap();
            let blocks = replayed(&message, "messages[1]", &mut Losses::default());
            serde_json::to_string(&blocks).unwrap()
        };
        let genuine = r#"[{"type":"thinking","thinking":"hm","signature":"EqQB"}]"#;
        assert_eq!(check("EqQB"), genuine);
        assert_eq!(check("tollgate-claude:EqQB"), genuine);
        for foreign in ["", "tollgate-gemini:c2ln", "tollgate-openai:x", "tollgate-claude:"] {
            assert_eq!(check(foreign), "[]", "{foreign}");
        }
    }
}
