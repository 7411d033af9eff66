//! What Gemini's models can do, as far as a request from another dialect has to keep to it
//! (<https://ai.google.dev/gemini-api/docs/models>, <https://ai.google.dev/gemini-api/docs/thinking>).

use crate::protocol::convert::effort::Effort;

/// What a model can do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Capabilities {
    /// The most tokens that one answer can have.
    pub max_output: u64,
    /// How it is asked to think.
    pub thinking: Thinking,
    /// Whether function calls of the current turn have to have the signature that they came with.
    pub demands_signatures: bool,
    /// Whether it reads files at any public address
    /// (<https://ai.google.dev/gemini-api/docs/file-input-methods>).
    pub remote_files: bool,
    /// Whether it takes JSON Schema beside Gemini's own (<https://ai.google.dev/gemini-api/docs/structured-output>).
    pub json_schema: bool,
    /// Whether it is of the third generation or later: media within the results of functions, functions beside the vendor's own
    /// tools, functions together with a JSON answer.
    pub third_generation: bool,
}

/// How a model is asked to think.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Thinking {
    /// It does not.
    None,
    /// With `thinkingBudget`, within these limits; 0 turns it off where the least is 0, -1 leaves it to the model.
    Budget {
        /// The least.
        min: u64,
        /// The most.
        max: u64,
    },
    /// With `thinkingLevel`.
    Level,
}

/// What the model `name` can do; a name that is not known is taken for a current model.
///
/// An answer of Gemini 4 can go on beyond its limit with a continuation, which is a request of its own and not counted in here.
pub fn of(name: &str) -> Capabilities {
    let has = |part: &str| name.contains(part);
    let current = Capabilities {
        max_output: 65_536,
        thinking: Thinking::Level,
        demands_signatures: true,
        remote_files: true,
        json_schema: true,
        third_generation: true,
    };
    let earlier = Capabilities { demands_signatures: false, third_generation: false, ..current };
    if has("gemini-1") || has("gemini-2.0") || has("gemma-") {
        let first = Capabilities { remote_files: false, json_schema: false, ..earlier };
        return Capabilities { max_output: 8192, thinking: Thinking::None, ..first };
    }
    if has("gemini-2.5") {
        return match (has("image") || has("tts"), has("pro"), has("lite")) {
            (true, ..) => Capabilities { max_output: 32_768, thinking: Thinking::None, ..earlier },
            (_, true, _) => Capabilities { thinking: Thinking::Budget { min: 128, max: 32_768 }, ..earlier },
            (_, _, true) => Capabilities { thinking: Thinking::Budget { min: 512, max: 24_576 }, ..earlier },
            _ => Capabilities { thinking: Thinking::Budget { min: 0, max: 24_576 }, ..earlier },
        };
    }
    if has("image") {
        return Capabilities { max_output: 32_768, ..current };
    }
    current
}

/// Whether the model `name`, if it takes a budget, can be kept from thinking, with a budget of 0. Flash-Lite can, though its other
/// budgets begin at 512 (<https://ai.google.dev/gemini-api/docs/thinking#set-budget>).
pub fn can_be_kept_from_thinking(name: &str) -> bool {
    matches!(of(name).thinking, Thinking::Budget { min: 0 | 512, .. })
}

/// The thinking levels that the model `name` takes, if it takes levels, the least first. It refuses others
/// (<https://docs.cloud.google.com/gemini-enterprise-agent-platform/models/thinking>).
pub fn levels(name: &str) -> &'static [Effort] {
    const FROM_MINIMAL: &[Effort] = &[Effort::Minimal, Effort::Low, Effort::Medium, Effort::High];
    const FROM_LOW: &[Effort] = &[Effort::Low, Effort::Medium, Effort::High];
    const TO_XHIGH: &[Effort] = &[Effort::Low, Effort::Medium, Effort::High, Effort::Xhigh];
    let has = |part: &str| name.contains(part);
    let is_early_flash = ["gemini-3-flash", "gemini-3.5-flash", "gemini-3.6-flash"].into_iter().any(has);
    if has("gemini-3-pro") {
        &[Effort::Low, Effort::High]
    } else if is_early_flash || (has("gemini-3") && has("lite")) {
        FROM_MINIMAL
    } else if has("gemini-4") {
        TO_XHIGH
    } else {
        FROM_LOW
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_models_take_follows_from_their_names() {
        let budget = |min, max| Thinking::Budget { min, max };
        for (name, max_output, thinking, signatures) in [
            ("gemini-1.5-pro", 8192, Thinking::None, false),
            ("gemini-2.0-flash", 8192, Thinking::None, false),
            ("gemma-3-27b-it", 8192, Thinking::None, false),
            ("gemini-2.5-pro", 65_536, budget(128, 32_768), false),
            ("models/gemini-2.5-flash", 65_536, budget(0, 24_576), false),
            ("gemini-2.5-flash-lite", 65_536, budget(512, 24_576), false),
            ("gemini-2.5-flash-image", 32_768, Thinking::None, false),
            ("gemini-3-pro-image", 32_768, Thinking::Level, true),
            ("gemini-3.8-flash", 65_536, Thinking::Level, true),
            ("gemini-4-hydrogen", 65_536, Thinking::Level, true),
            ("gemini-flash-latest", 65_536, Thinking::Level, true),
        ] {
            let model = of(name);
            assert_eq!(
                (model.max_output, model.thinking, model.demands_signatures, model.third_generation),
                (max_output, thinking, signatures, signatures),
                "{name}"
            );
        }
    }

    #[test]
    fn levels_and_budgets_of_each_kind() {
        let words = |name| levels(name).iter().map(|level| level.word()).collect::<Vec<_>>().join(" ");
        for (name, expected) in [
            ("gemini-3-pro-preview", "low high"),
            ("gemini-3.1-pro", "low medium high"),
            ("gemini-3-flash", "minimal low medium high"),
            ("gemini-3.1-flash-lite", "minimal low medium high"),
            ("gemini-3.6-flash", "minimal low medium high"),
            ("gemini-3.8-flash", "low medium high"),
            ("gemini-4-hydrogen", "low medium high xhigh"),
            ("something-new", "low medium high"),
        ] {
            assert_eq!(words(name), expected, "{name}");
        }
        assert!(can_be_kept_from_thinking("gemini-2.5-flash") && can_be_kept_from_thinking("gemini-2.5-flash-lite"));
        assert!(!can_be_kept_from_thinking("gemini-2.5-pro") && !can_be_kept_from_thinking("gemini-3.8-flash"));
    }
}
