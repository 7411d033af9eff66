//! The `usageMetadata` object.

use tollgate_macros::Read;

use crate::protocol::usage::Usage;

/// `usageMetadata` as Gemini sends it; members that are zero are left out. In a stream it is cumulative.
#[derive(Debug, Default, Read)]
#[serde(default, rename_all = "camelCase")]
pub struct UsageMetadata {
    prompt_token_count: Option<u64>,
    cached_content_token_count: Option<u64>,
    candidates_token_count: Option<u64>,
    thoughts_token_count: Option<u64>,
    tool_use_prompt_token_count: Option<u64>,
    total_token_count: Option<u64>,
    prompt_tokens_details: Vec<ModalityTokenCount>,
    candidates_tokens_details: Vec<ModalityTokenCount>,
}

#[derive(Debug, Default, Read)]
#[serde(default, rename_all = "camelCase")]
struct ModalityTokenCount {
    modality: String,
    token_count: u64,
}

fn audio(details: &[ModalityTokenCount]) -> u64 {
    let audio = details.iter().filter(|detail| detail.modality == "AUDIO");
    audio.fold(0, |sum, detail| sum.saturating_add(detail.token_count))
}

impl From<UsageMetadata> for Usage {
    fn from(wire: UsageMetadata) -> Self {
        let prompt = wire.prompt_token_count.unwrap_or(0);
        let prompt_and_tool_use = prompt.saturating_add(wire.tool_use_prompt_token_count.unwrap_or(0));
        let candidates = wire.candidates_token_count.unwrap_or(0);
        let thoughts = wire.thoughts_token_count.unwrap_or(0);
        let cache_read = wire.cached_content_token_count.unwrap_or(0);
        let audio_input = audio(&wire.prompt_tokens_details);
        let audio_output = audio(&wire.candidates_tokens_details);
        // Thoughts stand beside the candidates. Some endpoints count them inside, which the total gives away.
        let thoughts_inside =
            thoughts > 0 && wire.total_token_count == Some(prompt_and_tool_use.saturating_add(candidates));
        let visible = if thoughts_inside { candidates.saturating_sub(thoughts) } else { candidates };
        Self {
            input: prompt_and_tool_use.saturating_sub(cache_read).saturating_sub(audio_input),
            cache_read,
            audio_input,
            output: visible.saturating_sub(audio_output),
            reasoning: thoughts,
            audio_output,
            ..Self::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn usage(json: &str) -> Usage {
        serde_json::from_str::<UsageMetadata>(json).unwrap().into()
    }

    /// B38: thinking is output too.
    #[test]
    fn thoughts_are_counted() {
        let expected = Usage { input: 12, cache_read: 8, output: 198, reasoning: 405, ..Usage::default() };
        assert_eq!(
            usage(
                r#"{"promptTokenCount":20,"cachedContentTokenCount":8,"candidatesTokenCount":198,
                    "thoughtsTokenCount":405,"toolUsePromptTokenCount":0,"totalTokenCount":623}"#
            ),
            expected
        );
    }

    #[test]
    fn thoughts_inside_the_candidates_are_not_counted_twice() {
        let expected = Usage { input: 20, output: 100, reasoning: 50, ..Usage::default() };
        assert_eq!(
            usage(
                r#"{"promptTokenCount":20,"candidatesTokenCount":150,"thoughtsTokenCount":50,"totalTokenCount":170}"#
            ),
            expected
        );
    }

    #[test]
    fn missing_members_are_zero() {
        assert_eq!(usage(r#"{"promptTokenCount":9,"totalTokenCount":9}"#), Usage { input: 9, ..Usage::default() });
    }
}
