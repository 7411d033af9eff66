//! What OpenAI's models can do, as far as a request from another dialect has to keep to it, for both of its dialects.
//!
//! <https://developers.openai.com/api/docs/models>, <https://developers.openai.com/api/docs/guides/reasoning>,
//! <https://developers.openai.com/api/docs/guides/latest-model>, `AllModels` of openai (Python) 3.57.0. A name that is not known is
//! that of a current model.

use crate::protocol::convert::effort::Effort;

/// What a model can do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Capabilities {
    /// Whether it thinks before it answers. Such models take `max_completion_tokens` only, and refuse sampling parameters, but see
    /// [`takes_sampling`](Self::takes_sampling).
    pub reasoning: bool,
    /// Whether it is one of OpenAI's. Others behind the same dialect may know only what is old.
    pub openai: bool,
    /// The efforts that it takes; none where it does not think.
    pub efforts: &'static [Effort],
    /// How much it thinks when nothing is said.
    pub default_effort: Effort,
    /// Whether it has custom tools, which take text.
    pub custom_tools: bool,
    /// How it takes tools in Chat Completions. Responses has no such bound.
    pub chat_tools: ChatTools,
    /// Whether borders of the prompt's cache can be set.
    pub cache_breakpoints: bool,
    /// The most tokens of one answer, reasoning included, where that is known.
    pub max_output: Option<u64>,
}

/// How a model takes tools in Chat Completions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChatTools {
    /// As it takes everything.
    Freely,
    /// With `reasoning_effort: "none"` only; without an effort it would think, and refuse the request.
    WithoutReasoning,
    /// Not at all.
    Never,
}

impl Capabilities {
    /// Whether it takes `temperature`, `top_p` and log probabilities in a request of this effort. Penalties and biases it takes
    /// only if it cannot think.
    pub fn takes_sampling(&self, effort: Option<Effort>) -> bool {
        !self.reasoning || effort.unwrap_or(self.default_effort) == Effort::None
    }
}

/// The first GPT whose tools in Chat Completions exclude thinking.
const CHAT_TOOLS_WITHOUT_REASONING: (u32, u32) = (5, 4);

/// The first GPT that takes borders of the prompt's cache (<https://developers.openai.com/api/docs/guides/prompt-caching>), and the
/// effort `max`.
const GPT_5_6: (u32, u32) = (5, 6);

/// What the model `name` can do.
pub fn of(name: &str) -> Capabilities {
    let name = name.rsplit('/').next().unwrap_or(name);
    let name = name.strip_prefix("ft:").unwrap_or(name);
    match kind(name) {
        Kind::Foreign => Capabilities {
            reasoning: false,
            openai: false,
            efforts: &[Effort::Low, Effort::Medium, Effort::High],
            default_effort: Effort::Medium,
            custom_tools: false,
            chat_tools: ChatTools::Freely,
            cache_breakpoints: false,
            max_output: None,
        },
        Kind::Plain => Capabilities {
            reasoning: false,
            openai: true,
            efforts: &[],
            default_effort: Effort::None,
            custom_tools: name.starts_with("gpt-5"),
            chat_tools: ChatTools::Freely,
            cache_breakpoints: false,
            max_output: Some(plain_output(name)),
        },
        Kind::OSeries => Capabilities {
            reasoning: true,
            openai: true,
            efforts: &[Effort::Low, Effort::Medium, Effort::High],
            default_effort: Effort::Medium,
            custom_tools: false,
            chat_tools: ChatTools::Freely,
            cache_breakpoints: false,
            max_output: Some(100_000),
        },
        Kind::Gpt(version) => gpt(name, version),
    }
}

/// What a model is.
enum Kind {
    /// Not OpenAI's.
    Foreign,
    /// A model that does not think.
    Plain,
    /// The first ones that do.
    OSeries,
    /// A GPT that thinks, of this version.
    Gpt((u32, u32)),
}

fn kind(name: &str) -> Kind {
    let starts = |prefixes: &[&str]| prefixes.iter().any(|prefix| name.starts_with(prefix));
    if name.strip_prefix('o').and_then(version).is_some() || starts(&["codex-mini", "computer-use"]) {
        return Kind::OSeries;
    }
    if starts(&["gpt-audio", "gpt-realtime", "gpt-image", "chatgpt", "gpt-5-chat", "gpt-5-search"]) {
        return Kind::Plain;
    }
    let current = Kind::Gpt((u32::MAX, 0));
    match name.strip_prefix("gpt-") {
        // The open models run anywhere.
        Some(rest) if rest.starts_with("oss") => Kind::Foreign,
        Some(rest) => match version(rest) {
            Some(version) if version < (5, 0) => Kind::Plain,
            Some(version) => Kind::Gpt(version),
            None => current,
        },
        None if name == "chat-latest" => current,
        None => Kind::Foreign,
    }
}

/// The version that `text` begins with, such as 5.6.
fn version(text: &str) -> Option<(u32, u32)> {
    let end = text.find(|character: char| !character.is_ascii_digit() && character != '.').unwrap_or(text.len());
    let mut numbers = text.get(..end)?.split('.').map(str::parse);
    Some((numbers.next()?.ok()?, numbers.next().and_then(Result::ok).unwrap_or(0)))
}

fn gpt(name: &str, version: (u32, u32)) -> Capabilities {
    let efforts = efforts(name, version);
    let chat_tools = match version {
        version if version < CHAT_TOOLS_WITHOUT_REASONING => ChatTools::Freely,
        _ if efforts.contains(&Effort::None) => ChatTools::WithoutReasoning,
        _ => ChatTools::Never,
    };
    let is_quiet = ((5, 1)..=(5, 4)).contains(&version) && efforts.contains(&Effort::None);
    let default_effort = match efforts {
        [only] => *only,
        _ if is_quiet => Effort::None,
        _ => Effort::Medium,
    };
    Capabilities {
        reasoning: true,
        openai: true,
        efforts,
        default_effort,
        custom_tools: true,
        chat_tools,
        cache_breakpoints: version >= GPT_5_6,
        max_output: Some(128_000),
    }
}

fn efforts(name: &str, version: (u32, u32)) -> &'static [Effort] {
    use Effort::{High, Low, Max, Medium, Minimal, None, Xhigh};
    let is_codex = name.contains("-codex");
    let is_pro = name.contains("-pro");
    // These decide themselves how much they think.
    if name.contains("chat-latest") {
        return &[Medium];
    }
    match version {
        (5, 0) if is_pro => &[High],
        (5, 0) if is_codex => &[Low, Medium, High],
        (5, 0) => &[Minimal, Low, Medium, High],
        (5, 1) if is_codex && !name.contains("-max") => &[Low, Medium, High],
        (5, 1) if !is_codex => &[None, Low, Medium, High],
        _ if is_pro => &[Medium, High, Xhigh],
        version if version < GPT_5_6 && is_codex => &[Low, Medium, High, Xhigh],
        version if version < GPT_5_6 => &[None, Low, Medium, High, Xhigh],
        version if version < (6, 0) => &[None, Low, Medium, High, Xhigh, Max],
        (6, 0 | 1) if !name.contains("-astra") && !name.starts_with("gpt-6.1-sol") => {
            &[None, Low, Medium, High, Xhigh, Max]
        }
        _ => &[Low, Medium, High, Xhigh, Max],
    }
}

fn plain_output(name: &str) -> u64 {
    match () {
        () if name.starts_with("gpt-4.1") => 32_768,
        () if name.starts_with("gpt-5-search") => 128_000,
        () if name == "gpt-4" || name.starts_with("gpt-4-") || name.starts_with("gpt-3") => 4096,
        () => 16_384,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasoning_models_are_known_by_their_names() {
        for name in
            ["o1", "o3-mini", "o4-mini-2025-04-16", "gpt-5", "gpt-5.2-pro", "gpt-6-mini", "openai/gpt-6", "gpt-new"]
        {
            assert!(of(name).reasoning && of(name).openai, "{name}");
        }
        for name in ["gpt-4o", "ft:gpt-4.1:org::1", "gpt-5-chat-latest", "deepseek-chat", "omni", "gpt-oss-120b"] {
            assert!(!of(name).reasoning, "{name}");
        }
        assert!(!of("deepseek-chat").openai && !of("gpt-oss-120b").openai && of("ft:gpt-4.1:org::1").openai);
    }

    #[test]
    fn what_models_take_follows_from_their_names() {
        use ChatTools::{Freely, Never, WithoutReasoning};
        use Effort::{High, Low, Max, Medium, Minimal, None, Xhigh};
        for (name, least, most, usual, chat_tools, custom_tools, breakpoints) in [
            ("o3", Low, High, Medium, Freely, false, false),
            ("gpt-5-nano", Minimal, High, Medium, Freely, true, false),
            ("gpt-5-pro", High, High, High, Freely, true, false),
            ("gpt-5.1", None, High, None, Freely, true, false),
            ("gpt-5.1-codex-max", Low, Xhigh, Medium, Freely, true, false),
            ("gpt-5.2-2025-12-11", None, Xhigh, None, Freely, true, false),
            ("gpt-5.3-codex", Low, Xhigh, Medium, Freely, true, false),
            ("gpt-5.4-mini", None, Xhigh, None, WithoutReasoning, true, false),
            ("gpt-5.5", None, Xhigh, Medium, WithoutReasoning, true, false),
            ("gpt-5.6-luna", None, Max, Medium, WithoutReasoning, true, true),
            ("gpt-6-sol", None, Max, Medium, WithoutReasoning, true, true),
            ("gpt-6", None, Max, Medium, WithoutReasoning, true, true),
            ("gpt-6-astra", Low, Max, Medium, Never, true, true),
            ("gpt-6.1-sol", Low, Max, Medium, Never, true, true),
            ("gpt-6.1-terra", None, Max, Medium, WithoutReasoning, true, true),
            ("gpt-6.2-sol", Low, Max, Medium, Never, true, true),
            ("gpt-rosalind-research", Low, Max, Medium, Never, true, true),
        ] {
            let can = of(name);
            assert_eq!((can.efforts.first(), can.efforts.last()), (Some(&least), Some(&most)), "{name}");
            assert_eq!((can.default_effort, can.chat_tools), (usual, chat_tools), "{name}");
            assert_eq!((can.custom_tools, can.cache_breakpoints), (custom_tools, breakpoints), "{name}");
        }
    }

    #[test]
    fn sampling_goes_with_not_thinking() {
        assert!(of("gpt-4o").takes_sampling(Some(Effort::High)) && of("gpt-5.1").takes_sampling(None));
        assert!(of("gpt-6-sol").takes_sampling(Some(Effort::None)) && !of("gpt-6-sol").takes_sampling(None));
        assert!(of("deepseek-v4").takes_sampling(None) && !of("o3").takes_sampling(None));
    }
}
