//! A Responses request for a Gemini upstream.

use super::items::Conversation;
use super::tools::Tools;
use super::{options, thinking};
use crate::protocol::convert::{Context, ConvertError, Notes};
use crate::protocol::gemini::capabilities;
use crate::protocol::gemini::wire::content::Content;
use crate::protocol::gemini::wire::request::{GenerateContentRequest as Target, GenerationConfig};
use crate::protocol::gemini::wire::tools::ToolConfig;
use crate::protocol::openai_responses::wire::request::Request;

/// Converts `request`.
pub fn convert<'a>(
    request: &'a Request<'a>,
    context: &'a Context<'a>,
    notes: &mut Notes,
) -> Result<Target<'a>, ConvertError> {
    options::refuse_state(request)?;
    options::note_losses(request, &mut notes.losses);
    let capabilities = capabilities::of(context.model);

    let mut conversation = Conversation::new(context, capabilities, notes);
    if let Some(instructions) = &request.instructions {
        conversation.instructions(instructions);
    }
    if let Some(input) = &request.input {
        conversation.input(input)?;
    }
    let mut input = conversation.finish()?;

    let mut tools = Tools::new(context, capabilities);
    tools.declare(request.tools.as_deref().unwrap_or_default(), "tools", notes)?;
    for (path, found) in input.found.tools {
        tools.declare(found, &path, notes)?;
    }
    let mut tool_config = ToolConfig::default();
    if let Some(choice) = &request.tool_choice {
        tool_config.function_calling_config = options::tool_choice(choice, &tools, notes);
    }
    let tools = tools.finish(&mut tool_config, notes)?;

    let losses = &mut notes.losses;
    let mut config = GenerationConfig::default();
    options::sampling(request, capabilities, &mut config, losses)?;
    let update = input.found.update;
    let updated = update.and_then(|update| update.text.as_ref()).filter(|text| text.format.is_some());
    if let Some(format) = updated.or(request.text.as_ref()).and_then(|text| text.format.as_ref()) {
        let told = options::format(format, "text.format", !tools.is_empty(), capabilities, &mut config, losses)?;
        input.system.extend(told);
    }
    let mut reasoning = request.reasoning.clone().unwrap_or_default();
    if let Some(effort) = update.and_then(|update| update.reasoning.as_ref()?.effort.as_ref()) {
        reasoning.effort = Some(effort.clone());
    }
    config.thinking_config = thinking::config(&reasoning, context.model, losses);

    let system = (!input.system.is_empty()).then_some(Content { role: None, parts: input.system });
    Ok(Target {
        system_instruction: system,
        contents: input.contents,
        tools,
        tool_config: (tool_config != ToolConfig::default()).then_some(tool_config),
        generation_config: (config != GenerationConfig::default()).then_some(config),
        service_tier: request.service_tier.as_ref().and_then(|tier| options::service_tier(tier, losses)),
        store: request.store.filter(|store| !store),
        ..Target::default()
    })
}
