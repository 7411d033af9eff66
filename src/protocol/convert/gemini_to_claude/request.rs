//! A Gemini request for a Claude Messages upstream.

use crate::protocol::claude::capabilities;
use crate::protocol::claude::wire::content::TextBlock;
use crate::protocol::claude::wire::document::BasicBlock;
use crate::protocol::claude::wire::request::{MessagesRequest as Target, OutputConfig};
use crate::protocol::convert::effort::Amount;
use crate::protocol::convert::from_gemini::thinking;
use crate::protocol::convert::loss::NO_COUNTERPART;
use crate::protocol::convert::to_claude::conversation::end_with_the_user;
use crate::protocol::convert::to_claude::sampling::stop_sequences;
use crate::protocol::convert::to_claude::thinking::{
    Asked, give_way_to_choice, give_way_to_history, give_way_to_prefill,
};
use crate::protocol::convert::{Context, ConvertError, Losses, Notes, to_claude};
use crate::protocol::gemini::wire::content::Content;
use crate::protocol::gemini::wire::request::{GenerateContentRequest, ServiceTier, ThinkingConfig};
use crate::protocol::wire::{Text, TextOr};

use super::{generation, messages, tools};

/// Converts `request`.
pub fn convert<'a>(
    request: &'a GenerateContentRequest<'a>,
    context: &'a Context<'a>,
    notes: &mut Notes,
) -> Result<Target<'a>, ConvertError> {
    refuse_state_of_the_vendor(request)?;
    note_what_has_no_counterpart(request, notes);
    let model = capabilities::of(context.model);
    let config = request.generation_config.as_ref();
    let tools = tools::tools(request, context, notes)?;
    let mut turns = messages::turns(request, context, notes)?;
    let losses = &mut notes.losses;
    let max_tokens = generation::max_tokens(config, model, losses)?;
    let asked = config.and_then(|config| config.thinking_config.as_ref());
    let mut thinking = thinking(asked, context.model, max_tokens, losses)?;
    let mode = "toolConfig.functionCallingConfig.mode";
    give_way_to_choice(tools.choice.as_ref(), &mut thinking, mode, context.model, losses);
    if end_with_the_user(&mut turns, model.prefill, "contents", losses) {
        give_way_to_prefill(&mut thinking, thinking::PATH, losses);
    }
    give_way_to_history(&turns, &mut thinking, "contents", losses);
    let sampling = generation::sampling(config, model, thinking.is_on(), losses)?;
    let mut system = system(request.system_instruction.as_ref(), losses);
    let format = generation::answer_format(config, model, &mut system, losses)?;
    let output_config = OutputConfig { effort: thinking.effort, format, task_budget: None };
    Ok(Target {
        model: context.model.into(),
        max_tokens: Some(max_tokens),
        messages: turns.finish(),
        system: system_prompt(system),
        stream: context.stream.then_some(true),
        stop_sequences: config
            .and_then(|config| stop_sequences(&config.stop_sequences, "generationConfig.stopSequences", losses)),
        temperature: sampling.temperature,
        top_p: sampling.top_p,
        top_k: sampling.top_k,
        tools: (!tools.tools.is_empty()).then_some(tools.tools),
        tool_choice: tools.choice,
        thinking: thinking.thinking,
        output_config: (output_config != OutputConfig::default()).then_some(output_config),
        service_tier: service_tier(request, losses),
        ..Target::default()
    })
}

/// How the model is asked to think. To want to see thoughts is to want some.
fn thinking<'a>(
    asked: Option<&ThinkingConfig<'_>>,
    name: &str,
    max_tokens: u64,
    losses: &mut Losses,
) -> Result<Asked<'a>, ConvertError> {
    let Some(config) = asked else { return Ok(Asked::default()) };
    let is_shown = config.include_thoughts == Some(true);
    let amount = thinking::amount(config, losses)?.or(is_shown.then_some(Amount::Free));
    Ok(to_claude::thinking::asked(amount, is_shown, thinking::PATH, name, max_tokens, losses))
}

/// What only Gemini can answer, since it keeps a part of the request.
fn refuse_state_of_the_vendor(request: &GenerateContentRequest<'_>) -> Result<(), ConvertError> {
    let refuse = |path: &str, message: &'static str| Err(ConvertError::unsupported(path, message));
    if request.cached_content.is_some() {
        return refuse(
            "cachedContent",
            "what Google has cached is not known to this model's provider; send it in full",
        );
    }
    if request.continuation_token.is_some() {
        return refuse("continuationToken", "this model cannot resume an answer; send the conversation so far");
    }
    Ok(())
}

fn note_what_has_no_counterpart(request: &GenerateContentRequest<'_>, notes: &mut Notes) {
    if !request.safety_settings.is_empty() {
        notes.losses.add("safetySettings", NO_COUNTERPART);
    }
    if request.store.is_some() {
        notes.losses.hint("store", NO_COUNTERPART);
    }
    if request.labels.is_some() {
        notes.losses.hint("labels", NO_COUNTERPART);
    }
}

fn system<'a>(instruction: Option<&'a Content<'a>>, losses: &mut Losses) -> Vec<Text<'a>> {
    let mut texts = Vec::new();
    for (index, part) in instruction.iter().flat_map(|content| &content.parts).enumerate() {
        match &part.text {
            Some(text) if text.trim().is_empty() => {}
            Some(text) => texts.push(text.by_ref()),
            None => losses.add(format!("systemInstruction.parts[{index}]"), "is no text"),
        }
    }
    texts
}

fn system_prompt(mut texts: Vec<Text<'_>>) -> Option<TextOr<'_, Vec<BasicBlock<'_>>>> {
    let block = |text| BasicBlock::Text(TextBlock { text, citations: None, cache_control: None });
    match texts.len() {
        0 => None,
        1 => texts.pop().map(TextOr::Text),
        _ => Some(TextOr::Structured(texts.into_iter().map(block).collect())),
    }
}

fn service_tier<'a>(request: &GenerateContentRequest<'_>, losses: &mut Losses) -> Option<Text<'a>> {
    match request.service_tier.as_ref()? {
        ServiceTier::Standard => Some("standard_only".into()),
        ServiceTier::Priority => Some("auto".into()),
        ServiceTier::Flex | ServiceTier::Other(_) => {
            losses.hint("serviceTier", NO_COUNTERPART);
            None
        }
    }
}
