//! How much the model thinks, and the thinking that it is given back.

use crate::protocol::claude::capabilities::{self, Capabilities, Thinking as Manner, ThinkingOff};
use crate::protocol::claude::wire::content::{ContentBlock, RedactedThinkingBlock, ThinkingBlock};
use crate::protocol::claude::wire::request::{
    Display, Effort as ClaudeEffort, Empty, Thinking, ThinkingAdaptive, ThinkingEnabled,
};
use crate::protocol::convert::Losses;
use crate::protocol::convert::effort::{Effort, claude_budget};
use crate::protocol::convert::seal::{Family, unseal};
use crate::protocol::openai_chat::wire::message::{Message, ReasoningDetail, ThinkingBlock as ChatThinkingBlock};
use crate::protocol::openai_chat::wire::request::{ReasoningEffort, Request};
use crate::protocol::wire::Text;

/// What the client wants.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Wanted {
    path: &'static str,
    measure: Measure,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Measure {
    Effort(Effort),
    Tokens(u64),
}

impl Measure {
    fn effort(self) -> Effort {
        match self {
            Self::Effort(effort) => effort,
            Self::Tokens(tokens) => Effort::from_budget(tokens),
        }
    }

    /// A word leaves room for the answer, an explicit number is the client's own choice.
    fn tokens(self, max_tokens: u64) -> u64 {
        match self {
            Self::Effort(effort) => effort.budget().min(max_tokens - max_tokens / 4),
            Self::Tokens(tokens) => tokens,
        }
    }
}

/// How the model is asked to think.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Asked<'a> {
    /// `thinking`.
    pub thinking: Option<Thinking<'a>>,
    /// `output_config.effort`.
    pub effort: Option<ClaudeEffort<'a>>,
}

impl Asked<'_> {
    /// Whether the model is asked to think.
    pub fn is_thinking(&self) -> bool {
        matches!(self.thinking, Some(Thinking::Enabled(_) | Thinking::Adaptive(_)))
    }
}

/// The model that is asked.
#[derive(Debug, Clone, Copy)]
pub struct Model<'a> {
    /// Its name.
    pub name: &'a str,
    /// What it can do.
    pub can: Capabilities,
}

impl<'a> Model<'a> {
    /// The model that the upstream calls `name`.
    pub fn new(name: &'a str) -> Self {
        Self { name, can: capabilities::of(name) }
    }
}

/// How the model is asked to think, by what the client wants and the model can.
pub fn asked<'a>(request: &Request<'_>, model: Model<'_>, max_tokens: u64, losses: &mut Losses) -> Asked<'a> {
    if matches!(request.reasoning_effort, Some(ReasoningEffort::Other(_))) {
        losses.add("reasoning_effort", "is not known");
    }
    let Some(Wanted { path, measure }) = wanted(request) else { return Asked::default() };
    let effort = measure.effort();
    let is_hidden = request.reasoning.as_ref().and_then(|reasoning| reasoning.exclude) == Some(true);
    let display = Some(if is_hidden { Display::Omitted } else { Display::Summarized });
    match model.can.thinking {
        Manner::None if effort == Effort::None => Asked::default(),
        Manner::None => {
            losses.add(path, "has no counterpart, this model does not think");
            Asked::default()
        }
        Manner::Budget if effort == Effort::None => Asked::default(),
        Manner::Budget => match claude_budget(measure.tokens(max_tokens), max_tokens) {
            Some(budget_tokens) => {
                let enabled =
                    ThinkingEnabled { budget_tokens, display: display.filter(|_| is_hidden), block_binding: None };
                Asked { thinking: Some(Thinking::Enabled(enabled)), effort: None }
            }
            None => {
                losses.add(path, "is left out, max_tokens leaves no room for the 1024 tokens of the least thinking");
                Asked::default()
            }
        },
        Manner::Adaptive if effort == Effort::None => quiet(model, path, losses),
        Manner::Adaptive => Asked {
            thinking: Some(Thinking::Adaptive(ThinkingAdaptive { display, block_binding: None })),
            effort: Some(claude_effort(effort.nearest(capabilities::efforts(model.name)))),
        },
    }
}

/// Not at all, or as little as the model can.
fn quiet<'a>(model: Model<'_>, path: &'static str, losses: &mut Losses) -> Asked<'a> {
    if capabilities::thinking_off(model.name) == ThinkingOff::Never {
        losses.add(path, "is raised to low, this model always thinks");
        return Asked { thinking: None, effort: Some(ClaudeEffort::Low) };
    }
    Asked { thinking: off(model), effort: None }
}

/// Turns thinking off where it must not be on, which is noted with `reason`.
pub fn turn_off(asked: &mut Asked<'_>, path: &'static str, reason: &'static str, losses: &mut Losses) {
    if asked.is_thinking() {
        losses.add(path, reason);
        asked.thinking = None;
    }
}

/// What has to be said for a model not to think; nothing for those that think only when asked, and for those that always do.
pub fn off<'a>(model: Model<'_>) -> Option<Thinking<'a>> {
    match capabilities::thinking_off(model.name) {
        ThinkingOff::Absent | ThinkingOff::Never => None,
        ThinkingOff::Disabled => Some(Thinking::Disabled(Empty {})),
        ThinkingOff::BetweenTools => Some(Thinking::BetweenTools(Empty {})),
    }
}

/// What the client wants, in any of the ways in which clients say so. An explicit number of tokens wins over a word.
fn wanted(request: &Request<'_>) -> Option<Wanted> {
    let reasoning = request.reasoning.as_ref();
    let thinking = request.thinking.as_ref();
    let kind = thinking.map(|thinking| &*thinking.kind);
    let word = |word: &str| Effort::from_word(word).map(Measure::Effort);
    let at = |path, measure| Wanted { path, measure };
    if kind == Some("disabled") {
        return Some(at("thinking", Measure::Effort(Effort::None)));
    }
    if reasoning.and_then(|reasoning| reasoning.enabled) == Some(false) {
        return Some(at("reasoning", Measure::Effort(Effort::None)));
    }
    if let Some(tokens) = thinking.and_then(|thinking| thinking.budget_tokens) {
        return Some(at("thinking", Measure::Tokens(tokens)));
    }
    if let Some(tokens) = reasoning.and_then(|reasoning| reasoning.max_tokens) {
        return Some(at("reasoning", Measure::Tokens(tokens)));
    }
    if let Some(measure) = request.reasoning_effort.as_ref().and_then(|effort| word(effort.as_str())) {
        return Some(at("reasoning_effort", measure));
    }
    if let Some(measure) = reasoning.and_then(|reasoning| word(reasoning.effort.as_ref()?.as_str())) {
        return Some(at("reasoning", measure));
    }
    match kind {
        Some("enabled" | "adaptive") => Some(at("thinking", Measure::Effort(Effort::High))),
        _ if reasoning.and_then(|reasoning| reasoning.enabled) == Some(true) => {
            Some(at("reasoning", Measure::Effort(Effort::Medium)))
        }
        _ => None,
    }
}

fn claude_effort<'a>(effort: Effort) -> ClaudeEffort<'a> {
    match effort {
        Effort::None | Effort::Minimal | Effort::Low => ClaudeEffort::Low,
        Effort::Medium => ClaudeEffort::Medium,
        Effort::High => ClaudeEffort::High,
        Effort::Xhigh => ClaudeEffort::Xhigh,
        Effort::Max => ClaudeEffort::Max,
    }
}

/// The thinking of an earlier answer, as far as Claude has made it: with its signature, without which Claude refuses it.
pub fn replayed<'a>(message: &'a Message<'a>, path: &str, losses: &mut Losses) -> Vec<ContentBlock<'a>> {
    let blocks: Vec<_> = match (&message.thinking_blocks, &message.reasoning_details) {
        (Some(blocks), _) => blocks.iter().filter_map(thinking_block).collect(),
        (None, Some(details)) => details.iter().filter_map(reasoning_detail).collect(),
        (None, None) => Vec::new(),
    };
    let given = message.thinking_blocks.as_ref().map_or(0, Vec::len)
        + message.reasoning_details.as_ref().map_or(0, Vec::len)
        + usize::from(message.reasoning_content.is_some() || message.reasoning.is_some());
    if given > 0 && blocks.is_empty() {
        losses.hint_once(path, "has thinking without Claude's signature, which is left out");
    }
    blocks
}

fn thinking_block<'a>(block: &'a ChatThinkingBlock<'a>) -> Option<ContentBlock<'a>> {
    match block {
        ChatThinkingBlock::Thinking(block) => {
            let signature = genuine(block.signature.as_ref()?, Family::Claude)?;
            let thinking = block.thinking.as_ref().map(Text::by_ref).unwrap_or_default();
            Some(ContentBlock::Thinking(ThinkingBlock { thinking, signature: Some(signature) }))
        }
        ChatThinkingBlock::RedactedThinking(block) => {
            let data = genuine(&block.data, Family::ClaudeRedacted)?;
            Some(ContentBlock::RedactedThinking(RedactedThinkingBlock { data }))
        }
        ChatThinkingBlock::Other(_) => None,
    }
}

fn reasoning_detail<'a>(detail: &'a ReasoningDetail<'a>) -> Option<ContentBlock<'a>> {
    let is_claude = |format: &Option<Text<'_>>| format.as_ref().is_some_and(|format| format.starts_with("anthropic-"));
    match detail {
        ReasoningDetail::Text(detail) if is_claude(&detail.format) => {
            let signature = genuine(detail.signature.as_ref()?, Family::Claude)?;
            let thinking = detail.text.as_ref().map(Text::by_ref).unwrap_or_default();
            Some(ContentBlock::Thinking(ThinkingBlock { thinking, signature: Some(signature) }))
        }
        ReasoningDetail::Encrypted(detail) if is_claude(&detail.format) => {
            let data = genuine(&detail.data, Family::ClaudeRedacted)?;
            Some(ContentBlock::RedactedThinking(RedactedThinkingBlock { data }))
        }
        _ => None,
    }
}

/// Claude's own secret. One without a seal is Claude's as well: these members are made for Claude's.
fn genuine<'a>(secret: &'a Text<'a>, wanted: Family) -> Option<Text<'a>> {
    match unseal(secret) {
        Some((family, payload)) => (family == wanted && !payload.is_empty()).then_some(Text(payload)),
        None => (!secret.is_empty()).then(|| secret.by_ref()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn budget(members: &str, max_tokens: u64) -> Option<u64> {
        let text = format!(r#"{{"model":"m","messages":[],{members}}}"#);
        let request: Request<'_> = serde_json::from_str(&text).unwrap();
        let asked = asked(&request, Model::new("claude-sonnet-4-5"), max_tokens, &mut Losses::default());
        match asked.thinking {
            Some(Thinking::Enabled(enabled)) => Some(enabled.budget_tokens),
            _ => None,
        }
    }

    /// B16: a budget stands below `max_tokens`, and there is none where not even the least does.
    #[test]
    fn a_budget_stays_below_the_bound() {
        assert_eq!(budget(r#""reasoning_effort":"high""#, 1500), Some(1125));
        assert_eq!(budget(r#""reasoning_effort":"medium""#, 900), None);
        assert_eq!(budget(r#""reasoning_effort":"high""#, 16_384), Some(12_288));
        assert_eq!(budget(r#""thinking":{"type":"enabled","budget_tokens":9000}"#, 9000), Some(8999));
        assert_eq!(budget(r#""reasoning_effort":"none""#, 16_384), None);
        assert_eq!(
            budget(r#""reasoning_effort":"low","thinking":{"type":"enabled","budget_tokens":5000}"#, 9000),
            Some(5000)
        );
        assert_eq!(budget(r#""reasoning":{"max_tokens":2000}"#, 9000), Some(2000));
    }

    /// B13: only what Claude has signed goes back to it, byte for byte.
    #[test]
    fn only_genuine_thinking_is_replayed() {
        let check = |signature: &str| {
            let text = format!(
                r#"{{"role":"assistant","thinking_blocks":[{{"type":"thinking","thinking":"hm","signature":"{signature}"}}]}}"#
            );
            let message: Message<'_> = serde_json::from_str(&text).unwrap();
            let blocks = replayed(&message, "messages[1]", &mut Losses::default());
            serde_json::to_string(&blocks).unwrap()
        };
        let genuine = r#"[{"type":"thinking","thinking":"hm","signature":"EqQB"}]"#;
        assert_eq!(check("EqQB"), genuine);
        assert_eq!(check("tollgate-claude:EqQB"), genuine);
        for foreign in ["", "tollgate-gemini:c2ln", "tollgate-openai:x", "tollgate-claude:"] {
            assert_eq!(check(foreign), "[]", "{foreign}");
        }
    }

    #[test]
    fn newer_models_are_asked_with_an_effort() {
        let asked = |model: &str, members: &str| {
            let text = format!(r#"{{"model":"m","messages":[],{members}}}"#);
            let request: Request<'_> = serde_json::from_str(&text).unwrap();
            asked(&request, Model::new(model), 4000, &mut Losses::default())
        };
        let adaptive = asked("claude-opus-5-5", r#""reasoning_effort":"xhigh""#);
        assert!(
            matches!(adaptive.thinking, Some(Thinking::Adaptive(_))) && adaptive.effort == Some(ClaudeEffort::Xhigh)
        );
        let none = r#""reasoning_effort":"none""#;
        assert_eq!(asked("claude-opus-5-5", none), Asked { thinking: None, effort: Some(ClaudeEffort::Low) });
        assert!(matches!(asked("claude-opus-5", none).thinking, Some(Thinking::Disabled(_))));
        assert!(matches!(asked("claude-sonnet-5-5", none).thinking, Some(Thinking::BetweenTools(_))));
        assert_eq!(asked("claude-opus-4-6", r#""reasoning_effort":"xhigh""#).effort, Some(ClaudeEffort::Max));
    }
}
