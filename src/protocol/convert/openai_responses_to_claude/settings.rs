//! What steers an answer beside conversation, tools and thinking.

use crate::protocol::claude::capabilities::Capabilities;
use crate::protocol::claude::turns::Turns;
use crate::protocol::claude::wire::content::{CacheControl, ContentBlock};
use crate::protocol::claude::wire::document::BasicBlock;
use crate::protocol::claude::wire::request::Metadata;
use crate::protocol::convert::loss::{NO_CACHE_MARKS, NO_COUNTERPART};
use crate::protocol::convert::sampling::max_tokens;
use crate::protocol::convert::to_claude::answer_format::{self, AnswerFormat};
use crate::protocol::convert::{ConvertError, Losses};
use crate::protocol::openai_responses::wire::request::{Request, TextFormat};
use crate::protocol::wire::Text;

/// The most cache breakpoints that Claude takes in one request.
const MAX_MARKS: usize = 4;

/// Refuses what needs a state that only the vendor of Responses keeps.
pub(super) fn refuse_state(request: &Request<'_>) -> Result<(), ConvertError> {
    let refused = |path: &'static str, message: &'static str| Err(ConvertError::unsupported(path, message));
    if request.previous_response_id.is_some() {
        return refused(
            "previous_response_id",
            "Claude keeps no responses; send the whole conversation in input, with store set to false",
        );
    }
    if request.conversation.is_some() {
        return refused("conversation", "Claude keeps no conversations; send the whole conversation in input");
    }
    if request.prompt.is_some() {
        return refused("prompt", "Claude keeps no prompts; send the prompt's text in instructions and input");
    }
    if request.background == Some(true) {
        return refused("background", "Claude answers at once or as a stream; leave background out");
    }
    if request.prompt_cache_options.as_ref().is_some_and(|options| options.prewarm == Some(true)) {
        return refused("prompt_cache_options.prewarm", "Claude's cache cannot be filled in this way; leave it out");
    }
    Ok(())
}

/// The bound on the answer, which Claude demands: B82.
pub(super) fn bound(request: &Request<'_>, model: Capabilities, losses: &mut Losses) -> Result<u64, ConvertError> {
    let Some(wanted) = request.max_output_tokens else { return Ok(model.max_output) };
    max_tokens("max_output_tokens", u64::try_from(wanted).unwrap_or(0), model.max_output, losses)
}

/// The form of the answer's text; `wanted` comes with its path.
pub(super) fn format<'a>(
    wanted: Option<(&'a TextFormat<'a>, String)>,
    model: Capabilities,
    losses: &mut Losses,
) -> Result<AnswerFormat<'a>, ConvertError> {
    let Some((wanted, path)) = wanted else { return Ok(AnswerFormat::default()) };
    match wanted {
        TextFormat::Text(_) => Ok(AnswerFormat::default()),
        TextFormat::JsonObject(_) => answer_format::json(&path, None, model, losses),
        TextFormat::JsonSchema(format) => {
            let schema = (format!("{path}.schema"), format.schema.by_ref());
            answer_format::json(&path, Some((&schema.0, schema.1)), model, losses)
        }
        TextFormat::Other(_) => Err(ConvertError::unsupported(path, "this form of text is not known")),
    }
}

/// Caching up to the last block. A client that names a key for the cache counts on it, as the vendor of Responses caches without
/// being asked; others are not made to pay for entries that nobody reads.
pub(super) fn cache_control<'a>(request: &Request<'_>) -> Option<CacheControl<'a>> {
    let options = request.prompt_cache_options.as_ref();
    let is = |text: Option<&Text<'_>>, word: &str| text.is_some_and(|text| *text == word);
    if is(options.and_then(|options| options.mode.as_ref()), "explicit") {
        return None;
    }
    let is_wanted = request.prompt_cache_key.is_some() || options.is_some() || request.prompt_cache_retention.is_some();
    let is_long = is(options.and_then(|options| options.ttl.as_ref()), "12h")
        || is(request.prompt_cache_retention.as_ref(), "24h");
    is_wanted.then(|| CacheControl { kind: "ephemeral".into(), ttl: is_long.then(|| "1h".into()) })
}

/// Leaves the last cache breakpoints, as many as Claude takes together with the request's own, and none that lives longer than
/// one before it.
pub(super) fn bound_marks<'a>(
    system: &mut [BasicBlock<'a>],
    turns: &mut Turns<'a>,
    cache_control: Option<&CacheControl<'_>>,
) {
    let most = MAX_MARKS - usize::from(cache_control.is_some());
    let of_system = system.iter_mut().filter_map(|block| match block {
        BasicBlock::Text(text) => Some(&mut text.cache_control),
        BasicBlock::Image(image) => Some(&mut image.cache_control),
        BasicBlock::Other(_) => None,
    });
    let of_turns = turns.iter_mut().flat_map(|(_, blocks)| blocks).filter_map(|block| match block {
        ContentBlock::Text(text) => Some(&mut text.cache_control),
        ContentBlock::Image(image) => Some(&mut image.cache_control),
        ContentBlock::Document(document) => Some(&mut document.cache_control),
        _ => None,
    });
    let mut marks: Vec<_> = of_system.chain(of_turns).filter(|mark| mark.is_some()).collect();
    let further = marks.len().saturating_sub(most);
    let mut is_short = false;
    for (index, mark) in marks.iter_mut().enumerate() {
        match mark.as_mut() {
            Some(_) if index < further => **mark = None,
            Some(control) if is_short => control.ttl = None,
            Some(control) => is_short = control.ttl.is_none(),
            None => {}
        }
    }
}

/// Whom the request is for.
pub(super) fn metadata<'a>(request: &'a Request<'a>) -> Option<Metadata<'a>> {
    let user_id = request.safety_identifier.as_ref().or(request.user.as_ref())?;
    Some(Metadata { user_id: Some(user_id.by_ref()) })
}

/// The tier: Claude has the one that is paid for, or the common one.
pub(super) fn service_tier<'a>(request: &Request<'_>, losses: &mut Losses) -> Option<Text<'a>> {
    match &**request.service_tier.as_ref()? {
        "default" => Some("standard_only".into()),
        "auto" | "priority" => Some("auto".into()),
        _ => {
            losses.hint("service_tier", NO_COUNTERPART);
            None
        }
    }
}

/// Notes members that have no counterpart.
pub(super) fn note_what_is_left(request: &Request<'_>, losses: &mut Losses) {
    let is_asked = |what: &str| request.include.as_ref().is_some_and(|include| include.iter().any(|own| *own == what));
    if request.top_logprobs.is_some_and(|count| count > 0) || is_asked("message.output_text.logprobs") {
        losses.add("top_logprobs", NO_COUNTERPART);
    }
    if request.text.as_ref().is_some_and(|text| text.verbosity.as_ref().is_some_and(|word| *word != "medium")) {
        losses.add("text.verbosity", NO_COUNTERPART);
    }
    if request.context_management.is_some() {
        losses.add("context_management", "the conversation is sent as it is");
    }
    if request.moderation.is_some() {
        losses.add("moderation", NO_COUNTERPART);
    }
    let hints = [
        (request.store == Some(true), "store", "the answer is not kept"),
        (request.metadata.is_some(), "metadata", NO_COUNTERPART),
        (request.client_metadata.is_some(), "client_metadata", NO_COUNTERPART),
        (request.prompt_cache_key.is_some(), "prompt_cache_key", NO_CACHE_MARKS),
        (
            request.truncation.as_ref().is_some_and(|word| *word == "auto"),
            "truncation",
            "the conversation is sent as it is",
        ),
        (request.image.is_some(), "image", NO_COUNTERPART),
        (request.access_programs.is_some(), "access_programs", NO_COUNTERPART),
    ];
    for (is_there, path, reason) in hints {
        if is_there {
            losses.hint(path, reason);
        }
    }
}
