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
pub fn of(name: &str) -> Capabilities {
    let has = |part: &str| name.contains(part);
    if has("gemini-1") || has("gemini-2.0") {
        return Capabilities { max_output: 8192, thinking: Thinking::None, demands_signatures: false };
    }
    if has("gemini-2.5") {
        let thinking = if has("pro") {
            Thinking::Budget { min: 128, max: 32_768 }
        } else if has("lite") {
            Thinking::Budget { min: 512, max: 24_576 }
        } else {
            Thinking::Budget { min: 0, max: 24_576 }
        };
        return Capabilities { max_output: 65_536, thinking, demands_signatures: false };
    }
    Capabilities { max_output: 65_536, thinking: Thinking::Level, demands_signatures: true }
}

/// The thinking levels that the model `name` takes, if it takes levels. It refuses others
/// (<https://ai.google.dev/gemini-api/docs/thinking#thinking-levels>).
pub fn levels(name: &str) -> &'static [Effort] {
    const FROM_MINIMAL: &[Effort] = &[Effort::Minimal, Effort::Low, Effort::Medium, Effort::High];
    const FROM_LOW: &[Effort] = &[Effort::Low, Effort::Medium, Effort::High];
    let is_early_flash =
        ["gemini-3-flash", "gemini-3.5-flash", "gemini-3.6-flash"].iter().any(|part| name.contains(part));
    if name.contains("gemini-3-pro") {
        &[Effort::Low, Effort::High]
    } else if is_early_flash || (name.contains("gemini-3") && name.contains("lite")) {
        FROM_MINIMAL
    } else {
        FROM_LOW
    }
}
