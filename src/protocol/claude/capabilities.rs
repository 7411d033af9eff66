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
        max_output: 64_000,
        thinking: Thinking::Adaptive,
        both_samplings: false,
        sampling: true,
        structured_output: true,
    };
    if legacy || third {
        let max_output = if legacy { 4096 } else { 8192 };
        return Capabilities {
            max_output,
            thinking: Thinking::None,
            both_samplings: true,
            structured_output: false,
            ..current
        };
    }
    if budget {
        let max_output = if has(&["opus-4-0", "opus-4-1", "opus-4-2025"]) { 32_000 } else { 64_000 };
        let structured_output = has(&["-4-1", "-4-5", "-4.5"]);
        return Capabilities { max_output, thinking: Thinking::Budget, structured_output, ..current };
    }
    current
}
