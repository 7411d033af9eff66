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
pub fn of(name: &str) -> Capabilities {
    let has = |parts: &[&str]| parts.iter().any(|part| name.contains(part));
    let legacy = has(&["claude-2", "claude-3-opus", "claude-3-sonnet", "claude-3-haiku", "claude-instant"]);
    let third = has(&["claude-3-5", "claude-3.5"]);
    let budget = has(&["claude-3-7", "claude-3.7", "-4-0", "-4-1", "-4-5", "-4.5", "-4-2025"]);
    let current = Capabilities {
        max_output: if name.contains("claude") && !has(&["sonnet-4-6", "sonnet-4.6"]) { 128_000 } else { 64_000 },
        thinking: Thinking::Adaptive,
        both_samplings: false,
        sampling: has(&["-4-6", "-4.6"]),
        structured_output: true,
        prefill: false,
    };
    if legacy || third {
        let max_output = if legacy { 4096 } else { 8192 };
        return Capabilities {
            max_output,
            thinking: Thinking::None,
            both_samplings: true,
            sampling: true,
            structured_output: false,
            prefill: true,
            ..current
        };
    }
    if budget {
        let max_output = if has(&["opus-4-0", "opus-4-1", "opus-4-2025"]) { 32_000 } else { 64_000 };
        let structured_output = has(&["-4-1", "-4-5", "-4.5"]);
        return Capabilities {
            max_output,
            thinking: Thinking::Budget,
            sampling: true,
            structured_output,
            prefill: true,
            ..current
        };
    }
    current
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
    let has = |parts: &[&str]| parts.iter().any(|part| name.contains(part));
    if of(name).thinking != Thinking::Adaptive {
        ThinkingOff::Absent
    } else if has(&["sonnet-5-5"]) {
        ThinkingOff::BetweenTools
    } else if has(&["-4-6", "-4-7", "-4-8", "sonnet-5", "haiku-5"]) || (has(&["opus-5"]) && !has(&["opus-5-5"])) {
        ThinkingOff::Disabled
    } else {
        ThinkingOff::Never
    }
}

/// Whether the model `name` can be made to call a tool. The newest refuse a `tool_choice` of `any` or `tool`
/// (<https://platform.claude.com/docs/en/models/opus-5-5/whats-new-opus-5-5>).
pub fn takes_forced_choice(name: &str) -> bool {
    !["opus-5-5", "fable-5-1", "fable-5-2", "mythos-5-1", "mythos-5-2"].iter().any(|part| name.contains(part))
}

/// The efforts that the model `name` knows in `output_config`.
pub fn efforts(name: &str) -> &'static [Effort] {
    if name.contains("-4-6") {
        return &[Effort::Low, Effort::Medium, Effort::High, Effort::Max];
    }
    &[Effort::Low, Effort::Medium, Effort::High, Effort::Xhigh, Effort::Max]
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
        ] {
            assert_eq!(thinking_off(name), off, "{name}");
        }
        assert!(takes_forced_choice("claude-opus-5") && !takes_forced_choice("claude-opus-5-5"));
    }

    #[test]
    fn what_models_take_follows_from_their_names() {
        for (name, max_output, thinking, sampling) in [
            ("claude-3-5-haiku-20241022", 8192, Thinking::None, true),
            ("claude-opus-4-1-20250805", 32_000, Thinking::Budget, true),
            ("claude-sonnet-4-5", 64_000, Thinking::Budget, true),
            ("claude-sonnet-4-6", 64_000, Thinking::Adaptive, true),
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
