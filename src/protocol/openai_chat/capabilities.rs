//! What OpenAI's models can do, as far as a request from another dialect has to keep to it, for both of its dialects
//! (<https://developers.openai.com/api/docs/models>).

use crate::protocol::convert::effort::Effort;

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

/// The version of a model `gpt-MAJOR.MINOR…`.
pub fn gpt_version(name: &str) -> Option<(u32, u32)> {
    let rest = name.rsplit('/').next()?.strip_prefix("gpt-")?;
    let version = rest.split(|character: char| !character.is_ascii_digit() && character != '.').next()?;
    let (major, minor) = version.split_once('.').unwrap_or((version, "0"));
    Some((major.parse().ok()?, minor.parse().ok()?))
}

/// The efforts that the model `name` knows (<https://developers.openai.com/api/docs/guides/reasoning>).
pub fn efforts(name: &str) -> &'static [Effort] {
    use Effort::{High, Low, Max, Medium, Minimal, None, Xhigh};
    let is_codex = name.contains("codex");
    match gpt_version(name) {
        _ if name.contains("gpt-5-pro") => &[High],
        Some((5, 0)) => &[Minimal, Low, Medium, High],
        Some((5, 1)) if name.contains("codex-max") => &[Low, Medium, High, Xhigh],
        Some((5, 1)) if is_codex => &[Low, Medium, High],
        Some((5, 1)) => &[None, Low, Medium, High],
        Some((5, 2..=5)) if is_codex => &[Low, Medium, High, Xhigh],
        Some((5, 2..=5)) => &[None, Low, Medium, High, Xhigh],
        Some(_) if is_codex => &[Low, Medium, High, Xhigh, Max],
        Some(_) => &[None, Low, Medium, High, Xhigh, Max],
        Option::None => &[Low, Medium, High],
    }
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

    #[test]
    fn efforts_depend_on_the_version() {
        assert_eq!(gpt_version("openai/gpt-5.6-sol"), Some((5, 6)));
        assert_eq!(gpt_version("gpt-6-mini"), Some((6, 0)));
        assert_eq!(gpt_version("gpt-4o"), Some((4, 0)));
        assert_eq!(gpt_version("o3"), None);
        assert!(efforts("gpt-6").contains(&Effort::Max) && !efforts("gpt-5.4").contains(&Effort::Max));
        assert!(!efforts("gpt-5").contains(&Effort::None) && efforts("o3").first() == Some(&Effort::Low));
    }
}
