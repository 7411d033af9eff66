//! A Responses request for a Claude Messages upstream.

use super::items::Conversation;
use super::thinking::Wanted;
use super::tools::Toolbox;
use super::{choice, settings};
use crate::protocol::claude::capabilities;
use crate::protocol::claude::wire::content::ContentBlock;
use crate::protocol::claude::wire::document::BasicBlock;
use crate::protocol::claude::wire::request::{MessagesRequest as Target, OutputConfig};
use crate::protocol::convert::to_claude::content::{is_blank, text_block};
use crate::protocol::convert::to_claude::conversation::{GO_ON, begin_with_the_user, end_with_the_user};
use crate::protocol::convert::to_claude::{sampling, thinking};
use crate::protocol::convert::{Context, ConvertError, Notes};
use crate::protocol::openai_responses::wire::item::{InputItem, Item};
use crate::protocol::openai_responses::wire::request::{Request, TextFormat};
use crate::protocol::wire::TextOr;

/// Where the amount of thinking stands.
const EFFORT: &str = "reasoning.effort";

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
    let conversation = conversation(request, items, notes)?;
    let (wanted, format) = overlaid(request, items, notes);

    let (name, model) = (context.model, capabilities::of(context.model));
    let losses = &mut notes.losses;
    let max_tokens = settings::bound(request, model, losses)?;
    let tool_choice = choice::convert(request, name, &mut toolbox, losses);
    let mut thinking = thinking::asked(wanted.amount(), wanted.summary, EFFORT, name, max_tokens, losses);
    thinking::give_way_to_choice(tool_choice.as_ref(), &mut thinking, "tool_choice", name, losses);
    let mut turns = conversation.turns;
    let takes_prefill = model.prefill && !matches!(format, Some((TextFormat::JsonSchema(_), _)));
    if end_with_the_user(&mut turns, takes_prefill, "input", losses) {
        thinking::give_way_to_prefill(&mut thinking, EFFORT, losses);
    }
    thinking::give_way_to_history(&turns, &mut thinking, "input", losses);
    let sampling = sampling::sampling(
        ("temperature", request.temperature),
        ("top_p", request.top_p),
        ("top_k", None),
        model,
        thinking.is_on(),
        losses,
    )?;
    let format = settings::format(format, model, losses)?;

    let mut system = conversation.system;
    let instructions = request.instructions.as_ref().filter(|text| !is_blank(text));
    if let Some(instructions) = instructions {
        system.insert(0, BasicBlock::Text(text_block(instructions.by_ref())));
    }
    let told = toolbox.guidance.drain(..).chain(format.told);
    system.extend(told.map(|text| BasicBlock::Text(text_block(text.into()))));
    let cache_control = settings::cache_control(request);
    settings::bound_marks(&mut system, &mut turns, cache_control.as_ref());

    settings::note_what_is_left(request, losses);
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
        thinking: thinking.thinking,
        output_config: (thinking.effort.is_some() || format.format.is_some()).then_some(OutputConfig {
            effort: thinking.effort,
            format: format.format,
            task_budget: None,
        }),
        cache_control,
        metadata: settings::metadata(request),
        service_tier: settings::service_tier(request, losses),
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

/// The conversation, of at least one turn, which begins with one of the user.
fn conversation<'a>(
    request: &'a Request<'a>,
    items: &'a [InputItem<'a>],
    notes: &mut Notes,
) -> Result<Conversation<'a>, ConvertError> {
    let mut conversation = Conversation::default();
    for (index, item) in items.iter().enumerate() {
        conversation.item(item, &format!("input[{index}]"), notes)?;
    }
    if let Some(TextOr::Text(text)) = &request.input {
        conversation.user_text(text.by_ref());
    }
    conversation.settle()?;
    drop_open_thinking(&mut conversation);
    if conversation.turns.last().is_none() {
        if conversation.system.is_empty() && request.instructions.is_none() {
            return Err(ConvertError::invalid("input", "there is nothing to answer; send at least one text"));
        }
        notes.losses.add("input", "there are instructions only; a turn of the user is put after them");
        conversation.user_text(GO_ON.into());
    }
    begin_with_the_user(&mut conversation.turns, "input", &mut notes.losses);
    Ok(conversation)
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
