//! A Gemini request for a Responses upstream.

use super::contents::Conversation;
use super::{options, thinking, tools};
use crate::protocol::convert::{Context, ConvertError, Losses, Notes};
use crate::protocol::gemini::wire::content::Content;
use crate::protocol::gemini::wire::request::{GenerateContentRequest, GenerationConfig, Modality};
use crate::protocol::openai_chat::capabilities::{self, Capabilities};
use crate::protocol::openai_responses::wire::request::Request as Target;
use crate::protocol::openai_responses::wire::tools::Tool;
use crate::protocol::wire::TextOr;

/// Converts `request`.
pub fn convert<'a>(
    request: &'a GenerateContentRequest<'a>,
    context: &'a Context<'a>,
    notes: &mut Notes,
) -> Result<Target<'a>, ConvertError> {
    options::refuse(request)?;
    options::note_losses(request, &mut notes.losses);
    let capabilities = capabilities::of(context.model);
    let config = request.generation_config.as_ref();

    let mut target = Target {
        model: Some(context.model.into()),
        // Nothing is to be kept that the client cannot refer to. Reasoning then has to travel with it.
        store: Some(false),
        include: capabilities.reasoning.then(|| vec!["reasoning.encrypted_content".into()]),
        stream: context.stream.then_some(true),
        ..Target::default()
    };

    let resolution = config.and_then(|config| config.media_resolution.as_ref());
    let mut conversation = Conversation::new(resolution, notes);
    for (index, content) in request.contents.iter().enumerate() {
        conversation.turn(content, &format!("contents[{index}]"))?;
    }
    target.input = Some(TextOr::Structured(conversation.finish()?));

    let makes_images = config.is_some_and(|config| config.response_modalities.contains(&Modality::Image));
    let converted = tools::tools(&request.tools, makes_images, context, notes)?;
    if converted.iter().any(|tool| matches!(tool, Tool::CodeInterpreter(_))) {
        target.include.get_or_insert_default().push("code_interpreter_call.outputs".into());
    }
    target.tools = (!converted.is_empty()).then_some(converted);
    if let Some(config) = &request.tool_config {
        target.tool_choice = tools::tool_choice(config, notes);
    }

    let losses = &mut notes.losses;
    let mut instructions = instructions(request.system_instruction.as_ref())?;
    if let Some(config) = config {
        generation(config, capabilities, &mut target, losses)?;
        let (format, further) = options::format(config, losses)?;
        target.text = format;
        instructions.extend(further);
    }
    target.instructions = (!instructions.is_empty()).then(|| instructions.join("\n\n").into());
    target.service_tier = request.service_tier.as_ref().and_then(|tier| options::service_tier(tier, losses));
    Ok(target)
}

fn generation<'a>(
    config: &'a GenerationConfig<'a>,
    capabilities: Capabilities,
    target: &mut Target<'a>,
    losses: &mut Losses,
) -> Result<(), ConvertError> {
    if let Some(thinking) = &config.thinking_config {
        target.reasoning = thinking::reasoning(thinking, capabilities, losses)?;
    }
    options::sampling(config, capabilities, target, losses)
}

/// The texts that are always said first.
fn instructions(content: Option<&Content<'_>>) -> Result<Vec<String>, ConvertError> {
    let mut texts = Vec::new();
    for (index, part) in content.iter().flat_map(|content| &content.parts).enumerate() {
        match &part.text {
            Some(text) if text.is_empty() => {}
            Some(text) => texts.push((**text).to_owned()),
            None => {
                let path = format!("systemInstruction.parts[{index}]");
                return Err(ConvertError::unsupported(path, "OpenAI takes nothing but text as instructions"));
            }
        }
    }
    Ok(texts)
}
