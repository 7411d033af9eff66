//! What steers an answer beside conversation, tools and thinking.

use super::schema;
use crate::protocol::claude::capabilities;
use crate::protocol::claude::turns::Turns;
use crate::protocol::claude::wire::content::{CacheControl, ContentBlock};
use crate::protocol::claude::wire::document::BasicBlock;
use crate::protocol::claude::wire::request::{JsonSchemaFormat, Metadata, OutputFormat};
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
pub(super) fn max_tokens(request: &Request<'_>, model: &str, losses: &mut Losses) -> Result<u64, ConvertError> {
    let most = capabilities::of(model).max_output;
    let Some(wanted) = request.max_output_tokens else { return Ok(most) };
    match u64::try_from(wanted) {
        Ok(wanted) if wanted > most => {
            losses.add("max_output_tokens", "lowered to the most that the model writes");
            Ok(most)
        }
        Ok(wanted) if wanted > 0 => Ok(wanted),
        _ => Err(ConvertError::invalid("max_output_tokens", "it has to be at least 1")),
    }
}

/// Temperature and nucleus.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Sampling {
    /// 0 to 1.
    pub(super) temperature: Option<f64>,
    /// 0 to 1.
    pub(super) top_p: Option<f64>,
}

/// Sampling within what the model takes: B83.
pub(super) fn sampling(
    request: &Request<'_>,
    model: &str,
    thinks: bool,
    losses: &mut Losses,
) -> Result<Sampling, ConvertError> {
    if request.temperature.is_some_and(|temperature| !(0.0..=2.0).contains(&temperature)) {
        return Err(ConvertError::invalid("temperature", "it has to be between 0 and 2"));
    }
    if request.top_p.is_some_and(|top_p| !(0.0..=1.0).contains(&top_p)) {
        return Err(ConvertError::invalid("top_p", "it has to be between 0 and 1"));
    }
    let capabilities = capabilities::of(model);
    let mut sampling = Sampling { temperature: request.temperature, top_p: request.top_p };
    if sampling == Sampling::default() {
        return Ok(sampling);
    }
    if thinks || !capabilities.sampling {
        let reason = match capabilities.sampling {
            true => "Claude takes no sampling parameters while it thinks",
            false => "this model takes no sampling parameters",
        };
        for (path, value) in [("temperature", sampling.temperature), ("top_p", sampling.top_p)] {
            if value.is_some() {
                losses.add(path, reason);
            }
        }
        return Ok(Sampling::default());
    }
    if sampling.temperature.is_some_and(|temperature| temperature > 1.0) {
        losses.add("temperature", "lowered to 1, the most that Claude takes");
        sampling.temperature = Some(1.0);
    }
    if sampling.temperature.is_some() && sampling.top_p.is_some() && !capabilities.both_samplings {
        losses.add("top_p", "Claude takes it only without temperature");
        sampling.top_p = None;
    }
    Ok(sampling)
}

/// The form of the answer's text.
#[derive(Debug, Default)]
pub(super) struct Form<'a> {
    /// What the model is held to.
    pub(super) format: Option<OutputFormat<'a>>,
    /// What it is told, where it cannot be held to it.
    pub(super) told: Option<String>,
}

/// The form of the answer's text; `wanted` comes with its path.
pub(super) fn format<'a>(
    wanted: Option<(&'a TextFormat<'a>, String)>,
    model: &str,
    losses: &mut Losses,
) -> Result<Form<'a>, ConvertError> {
    let Some((wanted, path)) = wanted else { return Ok(Form::default()) };
    match wanted {
        TextFormat::Text(_) => Ok(Form::default()),
        TextFormat::JsonObject(_) => {
            losses.add(path, "Claude is told to answer with a JSON object, it is not held to it");
            let told = "Answer with one JSON object and nothing else, without a code block around it.".to_owned();
            Ok(Form { format: None, told: Some(told) })
        }
        TextFormat::JsonSchema(wanted) if capabilities::of(model).structured_output => {
            let schema = schema::of_output(&wanted.schema, &format!("{path}.schema"), losses)?;
            Ok(Form { format: Some(OutputFormat::JsonSchema(JsonSchemaFormat { schema })), told: None })
        }
        TextFormat::JsonSchema(wanted) => {
            losses.add(path, "this model is told the schema, it is not held to it");
            let told = format!(
                "Answer with JSON that follows this JSON Schema and nothing else, without a code block around it:\n{}",
                wanted.schema.get()
            );
            Ok(Form { format: None, told: Some(told) })
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
            losses.hint("service_tier", "Claude has no such tier");
            None
        }
    }
}

/// Notes members that have no counterpart.
pub(super) fn note_what_is_left(request: &Request<'_>, losses: &mut Losses) {
    let is_asked = |what: &str| request.include.as_ref().is_some_and(|include| include.iter().any(|own| *own == what));
    if request.top_logprobs.is_some_and(|count| count > 0) || is_asked("message.output_text.logprobs") {
        losses.add("top_logprobs", "Claude tells no probabilities");
    }
    if request.text.as_ref().is_some_and(|text| text.verbosity.as_ref().is_some_and(|word| *word != "medium")) {
        losses.add("text.verbosity", "Claude has no such setting");
    }
    if request.context_management.is_some() {
        losses.add("context_management", "Claude does not compact the conversation in this way");
    }
    if request.moderation.is_some() {
        losses.add("moderation", "Claude has no such setting");
    }
    let hints = [
        (request.store == Some(true), "store", "Claude keeps no responses"),
        (request.metadata.is_some(), "metadata", "Claude keeps no metadata"),
        (request.client_metadata.is_some(), "client_metadata", "Claude keeps no metadata"),
        (request.prompt_cache_key.is_some(), "prompt_cache_key", "Claude's cache needs no key"),
        (request.truncation.as_ref().is_some_and(|word| *word == "auto"), "truncation", "Claude does not truncate"),
        (request.image.is_some(), "image", "Claude has no such setting"),
        (request.access_programs.is_some(), "access_programs", "Claude has no such programs"),
    ];
    for (is_there, path, reason) in hints {
        if is_there {
            losses.hint(path, reason);
        }
    }
}
