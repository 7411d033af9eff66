//! What OpenAI's models can do, as far as a request from another dialect has to keep to it, for both of its dialects
//! (<https://developers.openai.com/api/docs/models>).

/// What a model can do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Capabilities {
    /// Whether it thinks before it answers. Such models take `max_completion_tokens` only, and refuse sampling parameters.
    pub reasoning: bool,
    /// Whether it is one of OpenAI's. Others behind the same dialect may know only what is old.
    pub openai: bool,
}

/// What the model `name` can do.
pub fn of(name: &str) -> Capabilities {
    let name = name.rsplit('/').next().unwrap_or(name);
    let generation = |prefix: &str| {
        let rest = name.strip_prefix(prefix)?;
        rest.split(|character: char| !character.is_ascii_digit()).next()?.parse::<u32>().ok()
    };
    let reasoning = generation("gpt-").is_some_and(|generation| generation >= 5 && !name.contains("-chat"))
        || generation("o").is_some()
        || name.starts_with("codex");
    let openai = reasoning || name.starts_with("gpt-") || name.starts_with("chatgpt");
    Capabilities { reasoning, openai }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasoning_models_are_known_by_their_names() {
        for name in ["o1", "o3-mini", "o4-mini-2025-04-16", "gpt-5", "gpt-5.2-pro", "gpt-6-mini", "openai/gpt-6"] {
            assert!(of(name).reasoning && of(name).openai, "{name}");
        }
        for name in ["gpt-4o", "gpt-4.1", "gpt-5-chat-latest", "deepseek-chat", "omni", "gpt-oss-120b"] {
            assert!(!of(name).reasoning, "{name}");
        }
        assert!(!of("deepseek-chat").openai);
    }
}
