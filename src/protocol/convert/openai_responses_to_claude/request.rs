//! A Responses request for a Claude Messages upstream.

use super::items::Conversation;
use super::thinking::{self, Wanted};
use super::tools::Toolbox;
use super::{choice, content, settings};
use crate::protocol::claude::wire::content::ContentBlock;
use crate::protocol::claude::wire::document::BasicBlock;
use crate::protocol::claude::wire::request::{MessagesRequest as Target, OutputConfig, Role, Thinking};
use crate::protocol::convert::{Context, ConvertError, Notes};
use crate::protocol::openai_responses::wire::item::{InputItem, Item};
use crate::protocol::openai_responses::wire::request::{Request, TextFormat};
use crate::protocol::wire::TextOr;

/// What stands for a turn of the user where Claude demands one and there is none.
const GO_ON: &str = "Continue.";

/// Converts `request`.
pub fn convert<'a>(
    request: &'a Request<'a>,
    context: &'a Context<'a>,
    notes: &mut Notes,
) -> Result<Target<'a>, ConvertError> {
    settings::refuse_state(request)?;
    let items: &[InputItem<'a>] = match &request.input {
        Some(TextOr::Structured(items)) => items,
        Some(TextOr::Text(_)) | None => &[],
    };
    let mut toolbox = toolbox(request, items, context, notes)?;
    let mut conversation = conversation(request, items, notes)?;
    let (wanted, format) = overlaid(request, items, notes);

    let max_tokens = settings::max_tokens(request, context.model, &mut notes.losses)?;
    let tool_choice = choice::convert(request, context.model, &mut toolbox, &mut notes.losses);
    let forced = choice::is_forced(tool_choice.as_ref());
    let mut thought = thinking::convert(&wanted, context.model, max_tokens, forced, &mut notes.losses);
    let has_budget = matches!(thought.thinking, Some(Thinking::Enabled(_)));
    if has_budget && thinking::is_missing(&mut conversation.turns) {
        notes.losses.add("reasoning", "turned off: the thinking before the last tool calls was another model's");
        thought.thinking = None;
    }
    let sampling = settings::sampling(request, context.model, thought.is_on(), &mut notes.losses)?;
    let format = settings::format(format, context.model, &mut notes.losses)?;

    let mut system = conversation.system;
    let instructions = request.instructions.as_ref().filter(|text| !content::is_blank(text));
    if let Some(instructions) = instructions {
        system.insert(0, BasicBlock::Text(content::text(instructions.by_ref())));
    }
    let told = toolbox.guidance.drain(..).chain(format.told);
    system.extend(told.map(|text| BasicBlock::Text(content::text(text.into()))));
    let mut turns = conversation.turns;
    let cache_control = settings::cache_control(request);
    settings::bound_marks(&mut system, &mut turns, cache_control.as_ref());

    settings::note_what_is_left(request, &mut notes.losses);
    Ok(Target {
        model: context.model.into(),
        max_tokens: Some(max_tokens),
        messages: turns.finish(),
        system: (!system.is_empty()).then_some(TextOr::Structured(system)),
        stream: context.stream.then_some(true),
        temperature: sampling.temperature,
        top_p: sampling.top_p,
        tools: (!toolbox.tools.is_empty()).then_some(toolbox.tools),
        tool_choice,
        thinking: thought.thinking,
        output_config: (thought.effort.is_some() || format.format.is_some()).then_some(OutputConfig {
            effort: thought.effort,
            format: format.format,
            task_budget: None,
        }),
        cache_control,
        metadata: settings::metadata(request),
        service_tier: settings::service_tier(request, &mut notes.losses),
        mcp_servers: (!toolbox.servers.is_empty()).then_some(toolbox.servers),
        ..Target::default()
    })
}

/// The tools, wherever they stand.
fn toolbox<'a>(
    request: &'a Request<'a>,
    items: &'a [InputItem<'a>],
    context: &'a Context<'a>,
    notes: &mut Notes,
) -> Result<Toolbox<'a>, ConvertError> {
    let mut toolbox = Toolbox::new(context, request.max_tool_calls);
    toolbox.add_all(request.tools.as_deref().unwrap_or_default(), "tools", notes)?;
    for (index, item) in items.iter().enumerate() {
        let tools = match item {
            InputItem::Typed(Item::AdditionalTools(added)) => &added.tools,
            InputItem::Typed(Item::ToolSearchOutput(found)) => &found.tools,
            _ => continue,
        };
        toolbox.add_all(tools, &format!("input[{index}].tools"), notes)?;
    }
    Ok(toolbox)
}

/// The conversation, of at least one turn, which begins and ends with one of the user.
fn conversation<'a>(
    request: &'a Request<'a>,
    items: &'a [InputItem<'a>],
    notes: &mut Notes,
) -> Result<Conversation<'a>, ConvertError> {
    let mut conversation = Conversation::default();
    for (index, item) in items.iter().enumerate() {
        let begins_with_model = conversation.turns.last().is_none() && is_of_model(item);
        if begins_with_model {
            notes.losses.hint(format!("input[{index}]"), "a turn of the user is put before it");
            conversation.user_text(GO_ON.into());
        }
        conversation.item(item, &format!("input[{index}]"), notes)?;
    }
    if let Some(TextOr::Text(text)) = &request.input {
        conversation.user_text(text.by_ref());
    }
    conversation.settle()?;
    drop_open_thinking(&mut conversation);
    match conversation.turns.last() {
        Some((Role::User, _)) => {}
        None if conversation.system.is_empty() && request.instructions.is_none() => {
            return Err(ConvertError::invalid("input", "there is nothing to answer; send at least one text"));
        }
        _ => {
            notes.losses.hint("input", "a turn of the user is put at its end, where Claude demands one");
            conversation.user_text(GO_ON.into());
        }
    }
    Ok(conversation)
}

/// Whether an item becomes a part of a turn of the model.
fn is_of_model(item: &InputItem<'_>) -> bool {
    use crate::protocol::openai_responses::wire::item::Role as Speaker;
    match item {
        InputItem::Message(message) | InputItem::Typed(Item::Message(message)) => {
            message.role == Speaker::Assistant && has_text(message)
        }
        InputItem::Typed(
            Item::FunctionCall(_)
            | Item::CustomToolCall(_)
            | Item::LocalShellCall(_)
            | Item::ShellCall(_)
            | Item::ApplyPatchCall(_)
            | Item::ComputerCall(_),
        ) => true,
        _ => false,
    }
}

fn has_text(message: &crate::protocol::openai_responses::wire::item::Message<'_>) -> bool {
    match &message.content {
        TextOr::Text(text) => !content::is_blank(text),
        TextOr::Structured(parts) => !parts.is_empty(),
    }
}

/// Claude refuses turns that end with thinking, as those of an interrupted answer do.
fn drop_open_thinking(conversation: &mut Conversation<'_>) {
    let is_thinking =
        |block: &ContentBlock<'_>| matches!(block, ContentBlock::Thinking(_) | ContentBlock::RedactedThinking(_));
    for (_, blocks) in conversation.turns.iter_mut() {
        let kept = blocks.iter().rposition(|block| !is_thinking(block)).map_or(0, |last| last + 1);
        blocks.truncate(kept);
    }
}

/// How to think and in which form to answer, after what later items have put in place of the request's own.
fn overlaid<'a>(
    request: &'a Request<'a>,
    items: &'a [InputItem<'a>],
    notes: &mut Notes,
) -> (Wanted, Option<(&'a TextFormat<'a>, String)>) {
    let mut wanted = Wanted::of(request.reasoning.as_ref(), &mut notes.losses);
    let format = request.text.as_ref().and_then(|text| text.format.as_ref());
    let mut format = format.map(|format| (format, "text.format".to_owned()));
    for (index, item) in items.iter().enumerate() {
        let InputItem::Typed(Item::ConfigurationUpdate(update)) = item else { continue };
        if let Some(reasoning) = &update.reasoning {
            wanted.update(reasoning, &format!("input[{index}].reasoning.effort"), &mut notes.losses);
        }
        if let Some(later) = update.text.as_ref().and_then(|text| text.format.as_ref()) {
            format = Some((later, format!("input[{index}].text.format")));
        }
    }
    (wanted, format)
}
