//! A Gemini request for a Claude Messages upstream.

use crate::protocol::claude::capabilities;
use crate::protocol::claude::wire::content::TextBlock;
use crate::protocol::claude::wire::document::BasicBlock;
use crate::protocol::claude::wire::request::{MessagesRequest as Target, OutputConfig};
use crate::protocol::convert::{Context, ConvertError, Notes};
use crate::protocol::gemini::wire::content::Content;
use crate::protocol::gemini::wire::request::{GenerateContentRequest, ServiceTier};
use crate::protocol::wire::{Text, TextOr};

use super::{generation, messages, thinking, tools};

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
    let max_tokens = generation::max_tokens(config, &model, notes)?;
    let asked = config.and_then(|config| config.thinking_config.as_ref());
    let thinking = thinking::thinking(asked, context.model, max_tokens, tools.choice.as_ref(), &mut turns, notes)?;
    let sampling = generation::sampling(config, &model, thinking.is_on(), notes)?;
    let mut system = system(request.system_instruction.as_ref(), notes);
    let format = generation::answer_format(config, &model, &mut system, notes)?;
    messages::check_last_turn(&mut turns, &model, thinking.is_on(), notes)?;
    let output_config = OutputConfig { effort: thinking.effort, format, task_budget: None };
    Ok(Target {
        model: context.model.into(),
        max_tokens: Some(max_tokens),
        messages: turns.finish(),
        system: system_prompt(system),
        stream: context.stream.then_some(true),
        stop_sequences: generation::stop_sequences(config, notes),
        temperature: sampling.temperature,
        top_p: sampling.top_p,
        top_k: sampling.top_k,
        tools: (!tools.tools.is_empty()).then_some(tools.tools),
        tool_choice: tools.choice,
        thinking: thinking.thinking,
        output_config: (output_config != OutputConfig::default()).then_some(output_config),
        service_tier: service_tier(request, notes),
        ..Target::default()
    })
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
        notes.losses.add("safetySettings", "what is filtered cannot be set");
    }
    if request.store.is_some() {
        notes.losses.hint("store", "has no counterpart");
    }
    if request.labels.is_some() {
        notes.losses.hint("labels", "has no counterpart");
    }
}

fn system<'a>(instruction: Option<&'a Content<'a>>, notes: &mut Notes) -> Vec<Text<'a>> {
    let mut texts = Vec::new();
    for (index, part) in instruction.iter().flat_map(|content| &content.parts).enumerate() {
        match &part.text {
            Some(text) if text.trim().is_empty() => {}
            Some(text) => texts.push(text.by_ref()),
            None => notes.losses.add(format!("systemInstruction.parts[{index}]"), "is no text"),
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

fn service_tier<'a>(request: &GenerateContentRequest<'_>, notes: &mut Notes) -> Option<Text<'a>> {
    match request.service_tier.as_ref()? {
        ServiceTier::Standard => Some("standard_only".into()),
        ServiceTier::Priority => Some("auto".into()),
        ServiceTier::Flex | ServiceTier::Other(_) => {
            notes.losses.hint("serviceTier", "has no counterpart");
            None
        }
    }
}
