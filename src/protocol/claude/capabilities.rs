//! What Claude's models can do, as far as a request from another dialect has to keep to it
//! (<https://platform.claude.com/docs/en/about-claude/models/overview>).

use crate::protocol::convert::effort::Effort;

/// What a model can do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Capabilities {
    /// The most tokens that one answer can have, thinking included.
    pub max_output: u64,
    /// How it is asked to think.
    pub thinking: Thinking,
    /// The efforts that it knows in `output_config` (<https://platform.claude.com/docs/en/build-with-claude/effort>); none where it is
    /// given a budget, or does not think.
    pub efforts: &'static [Effort],
    /// Whether `temperature` and `top_p` may stand in one request.
    pub both_samplings: bool,
    /// Whether it takes sampling parameters at all.
    pub sampling: bool,
    /// Whether `output_config.format` makes it keep to a schema.
    pub structured_output: bool,
    /// Whether it goes on with a last turn of its own.
    pub prefill: bool,
}

/// How a model is asked to think.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Thinking {
    /// It does not.
    None,
    /// With `budget_tokens`, at least 1024 and less than `max_tokens`.
    Budget,
    /// By itself, with an effort in `output_config`.
    Adaptive,
}

/// What the model `name` can do; a name that is not known is taken for a current model.
///
/// Limits of answers are those of the models' pages, such as <https://platform.claude.com/docs/en/models/sonnet-4-6/overview>.
/// From 4.7 on sampling parameters are refused, from 4.6 on a last turn of the model's own
/// (<https://platform.claude.com/docs/en/about-claude/models/migration-guide>).
pub fn of(name: &str) -> Capabilities {
    let version = version(name).unwrap_or(CURRENT);
    let max_output = match version {
        _ if !name.contains("claude") => 64_000,
        (..3, _) | (3, ..5) => 4096,
        (3, 5 | 6) => 8192,
        (4, 0 | 1) if name.contains("opus") => 32_000,
        (3, _) | (4, ..6) => 64_000,
        _ => 128_000,
    };
    const EFFORTS: &[Effort] = &[Effort::Low, Effort::Medium, Effort::High, Effort::Xhigh, Effort::Max];
    const WITHOUT_XHIGH: &[Effort] = &[Effort::Low, Effort::Medium, Effort::High, Effort::Max];
    let (thinking, efforts): (_, &[Effort]) = match version {
        (..3, _) | (3, ..7) => (Thinking::None, &[]),
        (3, _) | (4, ..6) => (Thinking::Budget, &[]),
        (4, 6) => (Thinking::Adaptive, WITHOUT_XHIGH),
        _ => (Thinking::Adaptive, EFFORTS),
    };
    Capabilities {
        max_output,
        thinking,
        efforts,
        both_samplings: version < (4, 1),
        sampling: version < (4, 7),
        structured_output: version >= (4, 1),
        prefill: version < (4, 6),
    }
}

/// What a name without a version stands for.
const CURRENT: (u32, u32) = (u32::MAX, 0);

/// The version in a name, wherever it stands: `claude-3-5-haiku-20241022`, `claude-opus-4-1`, `anthropic/claude-sonnet-4.5`,
/// `claude-opus-4@20250514`, `anthropic.claude-opus-4-6-v1`.
fn version(name: &str) -> Option<(u32, u32)> {
    let (_, rest) = name.split_once("claude")?;
    let number = |word: &str| Some(word).filter(|word| word.len() <= 2)?.parse::<u32>().ok();
    let mut words = rest.split(|character: char| !character.is_ascii_alphanumeric());
    let major = words.find_map(|word| number(word.strip_prefix('v').unwrap_or(word)))?;
    Some((major, words.next().and_then(number).unwrap_or(0)))
}

/// How a model is kept from thinking.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ThinkingOff {
    /// It does not think unless it is asked to.
    Absent,
    /// With `disabled`.
    Disabled,
    /// With `between_tools`, after which it still tells how it gets on.
    BetweenTools,
    /// It always thinks; the least effort is all that can be asked for.
    Never,
}

/// How the model `name` is kept from thinking
/// (<https://platform.claude.com/docs/en/build-with-claude/thinking-troubleshooting>).
pub fn thinking_off(name: &str) -> ThinkingOff {
    let has = |part: &str| name.contains(part);
    match version(name).unwrap_or(CURRENT) {
        _ if of(name).thinking != Thinking::Adaptive => ThinkingOff::Absent,
        (4, _) => ThinkingOff::Disabled,
        (5, 5) if has("sonnet") => ThinkingOff::BetweenTools,
        (5, _) if has("sonnet") || has("haiku") => ThinkingOff::Disabled,
        (5, 0) if has("opus") => ThinkingOff::Disabled,
        _ => ThinkingOff::Never,
    }
}

/// Whether the model `name` can be made to call a tool. The newest refuse a `tool_choice` of `any` or `tool`
/// (<https://platform.claude.com/docs/en/models/opus-5-5/whats-new-opus-5-5>).
pub fn takes_forced_choice(name: &str) -> bool {
    let is_of = |family: &str| name.contains(family);
    match version(name) {
        Some((5, 5)) => !is_of("opus"),
        Some((5, 1 | 2)) => !is_of("fable") && !is_of("mythos"),
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_model_is_kept_from_thinking_in_its_own_way() {
        for (name, off) in [
            ("claude-sonnet-4-5", ThinkingOff::Absent),
            ("claude-opus-4-6", ThinkingOff::Disabled),
            ("claude-sonnet-5", ThinkingOff::Disabled),
            ("claude-opus-5", ThinkingOff::Disabled),
            ("claude-sonnet-5-5", ThinkingOff::BetweenTools),
            ("claude-opus-5-5", ThinkingOff::Never),
            ("claude-fable-5", ThinkingOff::Never),
            ("claude-mythos-preview", ThinkingOff::Never),
            ("anthropic/claude-sonnet-5.5", ThinkingOff::BetweenTools),
            ("claude-haiku-5-5", ThinkingOff::Disabled),
            ("claude-opus-4-6", ThinkingOff::Disabled),
        ] {
            assert_eq!(thinking_off(name), off, "{name}");
        }
        assert!(takes_forced_choice("claude-opus-5") && !takes_forced_choice("claude-opus-5-5"));
        assert!(takes_forced_choice("claude-sonnet-5-5") && !takes_forced_choice("claude-fable-5-2"));
        assert!(of("claude-opus-4-0").both_samplings && !of("claude-opus-4-1").both_samplings);
        assert!(!of("claude-sonnet-4-0").structured_output && of("claude-haiku-4-5").structured_output);
    }

    #[test]
    fn what_models_take_follows_from_their_names() {
        for (name, max_output, thinking, sampling) in [
            ("claude-3-5-haiku-20241022", 8192, Thinking::None, true),
            ("claude-opus-4-1-20250805", 32_000, Thinking::Budget, true),
            ("claude-sonnet-4-5", 64_000, Thinking::Budget, true),
            ("anthropic/claude-opus-4.1", 32_000, Thinking::Budget, true),
            ("claude-4-opus-20250514", 32_000, Thinking::Budget, true),
            ("claude-opus-4@20250514", 32_000, Thinking::Budget, true),
            ("claude-sonnet-4-20250514", 64_000, Thinking::Budget, true),
            ("claude-3-7-sonnet-latest", 64_000, Thinking::Budget, true),
            ("claude-3-haiku-20240307", 4096, Thinking::None, true),
            ("claude-2.1", 4096, Thinking::None, true),
            ("claude-instant-1.2", 4096, Thinking::None, true),
            ("us.anthropic.claude-haiku-4-5-20251001-v1:0", 64_000, Thinking::Budget, true),
            ("claude-sonnet-4-6", 128_000, Thinking::Adaptive, true),
            ("anthropic.claude-opus-4-6-v1", 128_000, Thinking::Adaptive, true),
            ("claude-haiku-5-5", 128_000, Thinking::Adaptive, false),
            ("claude-mythos-preview", 128_000, Thinking::Adaptive, false),
            ("claude-opus-4-8", 128_000, Thinking::Adaptive, false),
            ("claude-opus-5-5", 128_000, Thinking::Adaptive, false),
            ("something-new", 64_000, Thinking::Adaptive, false),
        ] {
            let model = of(name);
            assert_eq!((model.max_output, model.thinking, model.sampling), (max_output, thinking, sampling), "{name}");
            assert_eq!(model.prefill, thinking != Thinking::Adaptive, "{name}");
        }
    }
}
