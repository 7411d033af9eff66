//! What a Chat model takes that a request of Claude's may ask for.

use crate::protocol::convert::effort::Effort;
use crate::protocol::openai_chat::capabilities::{self, Capabilities};

/// A model behind Chat Completions.
#[derive(Debug, Clone, Copy)]
pub struct Model<'a> {
    name: &'a str,
    /// What it can do.
    pub can: Capabilities,
    /// The generation of a GPT, such as 5.2.
    version: Option<(u32, u32)>,
}

impl<'a> Model<'a> {
    /// The model that the upstream calls `name`.
    pub fn new(name: &'a str) -> Self {
        let last = name.rsplit('/').next().unwrap_or(name);
        let version = last.strip_prefix("gpt-").and_then(|rest| {
            let end =
                rest.find(|character: char| !character.is_ascii_digit() && character != '.').unwrap_or(rest.len());
            let mut numbers = rest.get(..end)?.split('.').map(str::parse);
            Some((numbers.next()?.ok()?, numbers.next().and_then(Result::ok).unwrap_or(0)))
        });
        Self { name: last, can: capabilities::of(name), version }
    }

    /// The efforts that it knows (<https://developers.openai.com/api/docs/guides/reasoning>). Others than OpenAI's know at least three.
    pub fn efforts(self) -> &'static [Effort] {
        use Effort::{High, Low, Max, Medium, Minimal, None, Xhigh};
        if !self.can.openai {
            return &[Low, Medium, High];
        }
        let is_pro = self.name.contains("-pro");
        match self.version {
            Some((5, 0)) if is_pro => &[High],
            Some((5, 0)) => &[Minimal, Low, Medium, High],
            Some((5, 1)) => &[None, Low, Medium, High],
            Some(_) if is_pro => &[Medium, High, Xhigh],
            Some(version) if version < (5, 6) => &[None, Low, Medium, High, Xhigh],
            Some(_) => &[None, Low, Medium, High, Xhigh, Max],
            Option::None => &[Low, Medium, High],
        }
    }

    /// Whether borders of the prompt cache can be set; before, OpenAI alone knows them
    /// (<https://developers.openai.com/api/docs/guides/prompt-caching>).
    pub fn takes_breakpoints(self) -> bool {
        self.can.openai && self.version.is_some_and(|version| version >= (5, 6))
    }

    /// Whether it searches the web by itself, as only OpenAI's search models do; what others take is not known.
    pub fn searches(self) -> bool {
        !self.can.openai || self.name.contains("search")
    }

    /// Whether it is Gemini behind Google's Chat endpoint.
    pub fn is_gemini(self) -> bool {
        self.name.contains("gemini")
    }

    /// The most tokens that one answer can have, where that is known.
    pub fn max_output(self) -> Option<u64> {
        if !self.can.openai {
            return None;
        }
        match self.version {
            Some((4, 1)) => Some(32_768),
            Some((4, 5)) => Some(16_384),
            Some((3 | 4, _)) if self.name.starts_with("gpt-4o") => Some(16_384),
            Some((3 | 4, _)) => Some(4096),
            Some(_) => Some(128_000),
            None if self.can.reasoning => Some(100_000),
            None => Some(16_384),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn models_are_known_by_their_names() {
        let highest = |name| Model::new(name).efforts().last().copied();
        for (name, effort, breakpoints, max_output) in [
            ("gpt-6.2-sol", Some(Effort::Max), true, Some(128_000)),
            ("openai/gpt-5.2", Some(Effort::Xhigh), false, Some(128_000)),
            ("gpt-5-mini", Some(Effort::High), false, Some(128_000)),
            ("o3-mini", Some(Effort::High), false, Some(100_000)),
            ("gpt-4o-mini", Some(Effort::Xhigh), false, Some(16_384)),
            ("gpt-4.1", Some(Effort::Xhigh), false, Some(32_768)),
            ("deepseek-v4", Some(Effort::High), false, None),
        ] {
            let model = Model::new(name);
            assert_eq!(
                (highest(name), model.takes_breakpoints(), model.max_output()),
                (effort, breakpoints, max_output),
                "{name}"
            );
        }
        assert!(Model::new("gpt-5-search-api").searches() && !Model::new("gpt-6").searches());
    }
}
