//! What Claude's models can do, as far as a request from another dialect has to keep to it
//! (<https://platform.claude.com/docs/en/about-claude/models/overview>).

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
    /// How it is asked not to think.
    pub quiet: Quiet,
}

/// How a model is asked not to think (<https://platform.claude.com/docs/en/build-with-claude/thinking>).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Quiet {
    /// By not being asked to.
    Omitted,
    /// With `disabled`, since it thinks unless told otherwise.
    Disabled,
    /// With `between_tools`, for the same reason.
    BetweenTools,
    /// It always thinks, and refuses to be forced to call a tool.
    Never,
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
    let fourth = has(&["-4-6", "-4.6", "-4-7", "-4.7", "-4-8", "-4.8"]);
    let quiet = if fourth {
        Quiet::Omitted
    } else if has(&["sonnet-5-5", "sonnet-5.5"]) {
        Quiet::BetweenTools
    } else if has(&["haiku-5", "sonnet-5"]) || (has(&["opus-5"]) && !has(&["opus-5-5", "opus-5.5"])) {
        Quiet::Disabled
    } else {
        Quiet::Never
    };
    let current = Capabilities {
        max_output: if name.contains("claude") && !has(&["sonnet-4-6", "sonnet-4.6"]) { 128_000 } else { 64_000 },
        thinking: Thinking::Adaptive,
        both_samplings: false,
        sampling: has(&["-4-6", "-4.6"]),
        structured_output: true,
        prefill: false,
        quiet,
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
            quiet: Quiet::Omitted,
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
            quiet: Quiet::Omitted,
            ..current
        };
    }
    current
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn models_are_known_by_their_names() {
        for (name, max_output, thinking, quiet) in [
            ("claude-3-5-haiku-20241022", 8192, Thinking::None, Quiet::Omitted),
            ("claude-opus-4-1-20250805", 32_000, Thinking::Budget, Quiet::Omitted),
            ("claude-sonnet-4-5", 64_000, Thinking::Budget, Quiet::Omitted),
            ("claude-sonnet-4-6", 64_000, Thinking::Adaptive, Quiet::Omitted),
            ("claude-opus-4-8", 128_000, Thinking::Adaptive, Quiet::Omitted),
            ("claude-opus-5", 128_000, Thinking::Adaptive, Quiet::Disabled),
            ("claude-opus-5-5", 128_000, Thinking::Adaptive, Quiet::Never),
            ("claude-sonnet-5-5", 128_000, Thinking::Adaptive, Quiet::BetweenTools),
            ("claude-haiku-5-5", 128_000, Thinking::Adaptive, Quiet::Disabled),
            ("claude-fable-5-2", 128_000, Thinking::Adaptive, Quiet::Never),
            ("something-new", 64_000, Thinking::Adaptive, Quiet::Never),
        ] {
            let model = of(name);
            assert_eq!((model.max_output, model.thinking, model.quiet), (max_output, thinking, quiet), "{name}");
            assert_eq!(model.prefill, thinking != Thinking::Adaptive, "{name}");
        }
        assert!(of("claude-sonnet-4-5").sampling && !of("claude-opus-5").sampling);
    }
}
