//! A Chat Completions request for a Claude Messages upstream.

use super::cache::Marks;
use super::content::Parts;
use super::messages;
use super::sampling::{max_tokens, sampling};
use super::thinking::{self, Asked, Model};
use super::{schema, tools};
use crate::protocol::claude::capabilities::{self, Capabilities, Thinking as Manner};
use crate::protocol::claude::turns::Turns;
use crate::protocol::claude::wire::content::{ContentBlock, TextBlock};
use crate::protocol::claude::wire::document::BasicBlock;
use crate::protocol::claude::wire::request::{
    JsonSchemaFormat, MessagesRequest as Target, Metadata, OutputConfig, OutputFormat, Role,
};
use crate::protocol::claude::wire::tools::{ToolChoice, ToolChoiceMode};
use crate::protocol::convert::{Context, ConvertError, Losses, Notes};
use crate::protocol::openai_chat::wire::request::{Request, ResponseFormat, Stop};
use crate::protocol::wire::{Raw, Text, TextOr};

/// The longest id of a user that Claude takes, in characters.
const LONGEST_USER_ID: usize = 256;

/// Converts `request`.
pub fn convert<'a>(
    request: &'a Request<'a>,
    context: &'a Context<'a>,
    notes: &mut Notes,
) -> Result<Target<'a>, ConvertError> {
    let model = Model::new(context.model);
    refuse(request)?;
    left_out(request, &mut notes.losses)?;
    let max_tokens = max_tokens(request, model.can, &mut notes.losses)?;
    let mut marks = Marks::default();
    let tools = tools::tools(request, model.can, &mut marks, notes)?;
    let mut choice = tools::choice(request, &tools, notes)?;
    let mut asked = thinking::asked(request, model, max_tokens, &mut notes.losses);
    if tools::is_forced(choice.as_ref()) {
        choice = forced(choice, model, &mut asked, &mut notes.losses);
    }
    let parts = Parts::new(context.media, marks);
    let conversation = messages::convert(&request.messages, parts, notes)?;
    let (mut system, mut turns) = (conversation.system, conversation.turns);
    // What Claude is held to, it has to begin itself.
    let takes_prefill = model.can.prefill && !matches!(request.response_format, Some(ResponseFormat::JsonSchema(_)));
    end_with_the_user(&mut turns, takes_prefill, &mut asked, &mut notes.losses);
    thinking_of_calls(&turns, model.can, &mut asked, &mut notes.losses);
    let format = response_format(request, model.can, &mut system, &mut notes.losses)?;
    let sampling = sampling(request, model.can, asked.is_thinking(), &mut notes.losses)?;
    let output_config = OutputConfig { effort: asked.effort, format, task_budget: None };
    Ok(Target {
        model: context.model.into(),
        max_tokens: Some(max_tokens),
        messages: turns.finish(),
        system: system_prompt(system),
        stream: context.stream.then_some(true),
        stop_sequences: stop_sequences(request, &mut notes.losses),
        temperature: sampling.temperature,
        top_p: sampling.top_p,
        top_k: sampling.top_k,
        tools: (!tools.is_empty()).then_some(tools),
        tool_choice: choice,
        thinking: asked.thinking,
        output_config: (output_config != OutputConfig::default()).then_some(output_config),
        metadata: user_id(request, &mut notes.losses).map(|user_id| Metadata { user_id: Some(user_id) }),
        service_tier: service_tier(request, &mut notes.losses),
        ..Target::default()
    })
}

/// What nothing of Claude's can stand for.
fn refuse(request: &Request<'_>) -> Result<(), ConvertError> {
    match request.n {
        None | Some(1) => {}
        Some(0) => return Err(ConvertError::invalid("n", "has to be at least 1")),
        Some(_) => return Err(ConvertError::unsupported("n", "Claude gives one answer; ask for one at a time")),
    }
    if request.modalities.iter().flatten().any(|modality| *modality == "audio") {
        return Err(ConvertError::unsupported("modalities", "Claude does not speak; ask for text"));
    }
    Ok(())
}

/// Notes what has no counterpart.
fn left_out(request: &Request<'_>, losses: &mut Losses) -> Result<(), ConvertError> {
    for (path, penalty) in
        [("presence_penalty", request.presence_penalty), ("frequency_penalty", request.frequency_penalty)]
    {
        match penalty {
            Some(penalty) if !(-2.0..=2.0).contains(&penalty) => {
                return Err(ConvertError::invalid(path, "has to be between -2 and 2"));
            }
            Some(penalty) if penalty != 0.0 => losses.add(path, "has no counterpart"),
            _ => {}
        }
    }
    let is_biased = request.logit_bias.as_ref().is_some_and(|bias| !matches!(bias.get(), "{}" | "null"));
    for (path, is_given) in [
        ("seed", request.seed.is_some()),
        ("logit_bias", is_biased),
        ("logprobs", request.logprobs == Some(true)),
        ("verbosity", request.verbosity.as_ref().is_some_and(|verbosity| *verbosity != "medium")),
        ("moderation", request.moderation.is_some()),
        ("extra_body", request.extra_body.is_some()),
    ] {
        if is_given {
            losses.add(path, "has no counterpart");
        }
    }
    for (path, is_given) in [
        ("prediction", request.prediction.is_some()),
        ("audio", request.audio.is_some()),
        ("store", request.store == Some(true)),
        ("metadata", request.metadata.is_some()),
        ("prompt_cache_key", request.prompt_cache_key.is_some()),
        ("prompt_cache_options", request.prompt_cache_options.is_some()),
        ("prompt_cache_retention", request.prompt_cache_retention.is_some()),
    ] {
        if is_given {
            losses.hint(path, "has no counterpart");
        }
    }
    Ok(())
}

/// A call that has to be made excludes thinking at Claude. The call was asked for more expressly.
fn forced<'a>(
    choice: Option<ToolChoice<'a>>,
    model: Model<'_>,
    asked: &mut Asked<'a>,
    losses: &mut Losses,
) -> Option<ToolChoice<'a>> {
    if !capabilities::takes_forced_choice(model.name) {
        losses.add("tool_choice", "is auto, this model cannot be made to call a tool");
        let disable_parallel_tool_use = match choice {
            Some(ToolChoice::Any(mode)) => mode.disable_parallel_tool_use,
            Some(ToolChoice::Tool(tool)) => tool.disable_parallel_tool_use,
            _ => None,
        };
        return Some(ToolChoice::Auto(ToolChoiceMode { disable_parallel_tool_use }));
    }
    thinking::turn_off(asked, "tool_choice", "excludes thinking, which is left out", losses);
    if asked.thinking.is_none() {
        asked.thinking = thinking::off(model);
    }
    choice
}

/// Older models go on with a last turn of their own, where OpenAI's begin a new one; newer ones refuse it.
fn end_with_the_user<'a>(turns: &mut Turns<'a>, takes_prefill: bool, asked: &mut Asked<'a>, losses: &mut Losses) {
    if !matches!(turns.last(), Some((Role::Assistant, _))) {
        return;
    }
    if !takes_prefill {
        losses.add("messages", "end with the assistant, which cannot be gone on with here; a user turn is added");
        turns.push(
            Role::User,
            ContentBlock::Text(TextBlock { text: "Continue.".into(), citations: None, cache_control: None }),
        );
        return;
    }
    losses.add("messages", "end with the assistant, which Claude goes on with instead of answering it");
    thinking::turn_off(asked, "reasoning_effort", "is left out, Claude does not think before it goes on", losses);
    // Claude refuses white space at the end of what it goes on with.
    if let Some((_, blocks)) = turns.iter_mut().next_back()
        && let Some(ContentBlock::Text(block)) = blocks.last_mut()
        && block.text.ends_with(char::is_whitespace)
    {
        block.text = block.text.trim_end().to_owned().into();
    }
}

/// Models that are given a budget want each call's thinking back. Where the client has lost it, they must not think.
fn thinking_of_calls<'a>(turns: &Turns<'a>, model: Capabilities, asked: &mut Asked<'a>, losses: &mut Losses) {
    if model.thinking != Manner::Budget {
        return;
    }
    let is_bare = |blocks: &[ContentBlock<'_>]| {
        let has_call = blocks.iter().any(|block| matches!(block, ContentBlock::ToolUse(_)));
        has_call && !matches!(blocks.first(), Some(ContentBlock::Thinking(_) | ContentBlock::RedactedThinking(_)))
    };
    let last = turns.iter().rev().find(|(role, _)| **role == Role::Assistant);
    if last.is_some_and(|(_, blocks)| is_bare(blocks)) {
        thinking::turn_off(
            asked,
            "messages",
            "have calls without Claude's thinking, so that it does not think this time",
            losses,
        );
    }
}

/// What the answer has to look like. What Claude cannot be held to is told in the system prompt.
fn response_format<'a>(
    request: &'a Request<'a>,
    model: Capabilities,
    system: &mut Vec<BasicBlock<'a>>,
    losses: &mut Losses,
) -> Result<Option<OutputFormat<'a>>, ConvertError> {
    let instruction = match &request.response_format {
        None | Some(ResponseFormat::Text(_)) => return Ok(None),
        Some(ResponseFormat::JsonSchema(format)) => match &format.json_schema.schema {
            Some(schema) if model.structured_output => return json_schema(schema, losses).map(Some),
            Some(schema) => format!(
                "Answer with one JSON object and nothing else. It has to follow this JSON Schema:\n{}",
                schema.get()
            ),
            None => "Answer with one JSON object and nothing else.".to_owned(),
        },
        Some(ResponseFormat::JsonObject(_)) => "Answer with one JSON object and nothing else.".to_owned(),
        Some(ResponseFormat::Other(_)) => {
            return Err(ConvertError::unsupported("response_format", "is text, json_object or json_schema"));
        }
    };
    losses.add("response_format", "is told in the system prompt, Claude cannot be held to it");
    system.push(BasicBlock::Text(TextBlock { text: instruction.into(), citations: None, cache_control: None }));
    Ok(None)
}

fn json_schema<'a>(schema: &'a Raw<'a>, losses: &mut Losses) -> Result<OutputFormat<'a>, ConvertError> {
    let path = "response_format.json_schema.schema";
    let value = schema.read().map_err(|error| ConvertError::invalid(path, error.to_string()))?;
    let (strict, is_changed) = schema::strict(value);
    if is_changed {
        losses.add(path, "has rules that Claude only reads, in the descriptions");
    }
    let schema = Raw::of(&strict).map_err(|error| ConvertError::invalid(path, error.to_string()))?;
    Ok(OutputFormat::JsonSchema(JsonSchemaFormat { schema }))
}

/// One text without marks stays a text.
fn system_prompt(mut blocks: Vec<BasicBlock<'_>>) -> Option<TextOr<'_, Vec<BasicBlock<'_>>>> {
    match blocks.as_mut_slice() {
        [] => None,
        [BasicBlock::Text(TextBlock { text, cache_control: None, .. })] => Some(TextOr::Text(std::mem::take(text))),
        _ => Some(TextOr::Structured(blocks)),
    }
}

fn stop_sequences<'a>(request: &'a Request<'a>, losses: &mut Losses) -> Option<Vec<Text<'a>>> {
    let given = match request.stop.as_ref()? {
        Stop::Text(text) => std::slice::from_ref(text),
        Stop::Sequences(sequences) => sequences,
    };
    let kept: Vec<_> = given.iter().filter(|text| !text.trim().is_empty()).map(Text::by_ref).collect();
    if kept.len() < given.len() {
        losses.add("stop", "Claude takes no stop sequence of white space alone");
    }
    (!kept.is_empty()).then_some(kept)
}

fn user_id<'a>(request: &'a Request<'a>, losses: &mut Losses) -> Option<Text<'a>> {
    let (path, id) = match (&request.safety_identifier, &request.user) {
        (Some(id), _) => ("safety_identifier", id),
        (None, Some(id)) => ("user", id),
        (None, None) => return None,
    };
    if id.is_empty() || id.chars().count() > LONGEST_USER_ID {
        losses.hint(path, "is longer than Claude takes");
        return None;
    }
    Some(id.by_ref())
}

/// Claude either uses what capacity there is, or the standard one alone.
fn service_tier<'a>(request: &Request<'_>, losses: &mut Losses) -> Option<Text<'a>> {
    match request.service_tier.as_deref()? {
        "auto" | "priority" | "fast" => Some("auto".into()),
        "default" => Some("standard_only".into()),
        _ => {
            losses.hint("service_tier", "has no counterpart");
            None
        }
    }
}
