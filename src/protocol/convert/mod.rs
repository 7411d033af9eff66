//! Conversions between the dialects: twelve ordered pairs, each with its requests, answers and streams.
//!
//! Each pair converts directly from one vendor's types to the other's; there is no form in between, which could only hold what all
//! have in common. A folder `A_to_B` has what travels from A to B: a client's request in A for an upstream that speaks B, and the
//! answers and streams of an upstream that speaks A for a client that speaks B. What the pairs towards B say alike stands in `to_B`, what
//! those from A do in `from_A`.
//!
//! Only declared members are read; what a vendor adds tomorrow is never carried across. What cannot be carried is told in
//! [`Losses`], or refused with a [`ConvertError`]. Nothing here does I/O: where a file has to be fetched first, the conversion says
//! so and is repeated with what was [fetched](media::Media).

pub mod arguments;
mod checks;
pub mod count;
pub mod custom_input;
pub mod custom_tool;
pub mod editor;
pub mod effort;
pub mod embeddings;
mod fault;
mod left_out;
pub mod loss;
pub mod media;
pub mod names;
pub mod notice;
pub mod pairing;
pub mod sampling;
pub mod seal;
pub mod whole;

pub mod from_claude;
pub mod from_gemini;
pub mod from_openai_chat;
pub mod to_claude;
pub mod to_gemini;
pub mod to_openai;

pub mod claude_to_gemini;
pub mod claude_to_openai_chat;
pub mod claude_to_openai_responses;
pub mod gemini_to_claude;
pub mod gemini_to_openai_chat;
pub mod gemini_to_openai_responses;
pub mod openai_chat_to_claude;
pub mod openai_chat_to_gemini;
pub mod openai_chat_to_openai_responses;
pub mod openai_responses_to_claude;
pub mod openai_responses_to_gemini;
pub mod openai_responses_to_openai_chat;

use std::borrow::Cow;
use std::fmt;
use std::rc::Rc;

use serde::{Deserialize, Serialize};

use super::claude::wire::request::{MessagesRequest, Thinking};
use super::dialect::Dialect;
use super::gemini::wire::request::GenerateContentRequest;
use super::json;
use super::{openai_chat, openai_responses};
pub use loss::Losses;
use media::Media;
use names::ToolNames;

/// Deepest nesting of JSON that is converted. No vendor's types come near it.
pub const MAX_DEPTH: usize = 100;

/// What a conversion of a request has to know beside the request.
#[derive(Debug, Clone, Copy)]
pub struct Context<'a> {
    /// The model as the upstream names it.
    pub model: &'a str,
    /// Whether the upstream is asked for a stream.
    pub stream: bool,
    /// What becomes of tools that the vendor runs itself and that the other vendor does not have.
    pub server_tools: ServerTools,
    /// The files that were fetched so far.
    pub media: &'a Media,
}

/// What becomes of a tool that only the vendor of the client's dialect can run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum ServerTools {
    /// The tool is left out, which is a loss. Agents declare such tools whether they need them or not.
    #[default]
    Drop,
    /// The request is refused.
    Refuse,
}

/// What a conversion of a request writes down on the way.
#[derive(Debug, Default)]
pub struct Notes {
    /// What was lost.
    pub losses: Losses,
    /// The tools whose names or kinds were changed.
    pub tools: ToolNames,
}

/// What the conversion of an answer has to know of the request.
#[derive(Debug, Clone, Default)]
pub struct Reply {
    /// Unique for the request, of ASCII letters, digits and `-`: ids that the upstream does not give are made of it.
    pub id: String,
    /// The model as the client named it, for upstreams that do not name theirs.
    pub model: String,
    /// When the request came, in seconds since 1970.
    pub created: u64,
    /// Whether a Chat client asked for the usage of its stream.
    pub include_usage: bool,
    /// Whether a Chat client declared its functions in the legacy form, `functions`, in which it also expects the call.
    pub legacy_functions: bool,
    /// Whether a Claude client asked for no thinking: then it is shown only what of it the next turn cannot do without.
    pub hides_thinking: bool,
    /// Whether a Gemini client wants its stream as one JSON array and not as events.
    pub as_array: bool,
    /// Whether an OpenAI client wants its embeddings in base64 and not as numbers.
    pub embeddings_in_base64: bool,
    /// The tools whose names or kinds were changed.
    pub tools: ToolNames,
    /// What a Responses answer repeats of its request, written by [`echo`](openai_responses::echo::echo): a JSON object, or nothing.
    pub echo: String,
}

/// A request that was converted.
#[derive(Debug, Default)]
pub struct ConvertedRequest {
    /// The body.
    pub body: Vec<u8>,
    /// What it could not carry.
    pub losses: Losses,
    /// What the answer's conversion has to know; the caller adds what does not stand in the body.
    pub reply: Reply,
}

/// An answer that was converted.
#[derive(Debug)]
pub struct ConvertedResponse {
    /// The body.
    pub body: Vec<u8>,
    /// What it could not carry.
    pub losses: Losses,
}

/// Converts a stream, event by event.
///
/// A converter writes whole events, in the framing of its target, and each as soon as its source has come. Blocks that it opens it
/// closes; it finishes once. If the source reports an error, so does the target, in its own way, and no end that looks like
/// success follows; the same if the source ends without having said that it was done.
pub trait StreamConverter {
    /// Takes the data of one event and appends what follows from it to `out`.
    fn event(&mut self, data: &str, out: &mut Vec<u8>);

    /// Whether the target's last event has been written; nothing is written after it.
    fn is_over(&self) -> bool;

    /// Learns that the source has ended, and appends what is missing: the end if the source was done, else an error.
    fn finish(&mut self, out: &mut Vec<u8>);

    /// What of the events so far could not be carried: of what the stream would lose in many places, the first.
    fn losses(&self) -> &Losses;
}

/// An error inside a stream, as far as dialects agree about errors.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StreamFault<'a> {
    /// The HTTP status that the error would have had.
    pub status: u16,
    /// The vendor's word for it, such as `context_length_exceeded`, or ours.
    pub code: Cow<'a, str>,
    /// For people.
    pub message: Cow<'a, str>,
}

impl StreamFault<'static> {
    /// The source ended without its end.
    pub fn cut_off() -> Self {
        Self {
            status: 502,
            code: "upstream_cut".into(),
            message:
                "the provider broke the answer off before its end; what came so far is incomplete, repeat the request"
                    .into(),
        }
    }

    /// The source said something that cannot be read.
    pub fn unreadable() -> Self {
        Self {
            status: 502,
            code: "upstream_error".into(),
            message:
                "the provider sent an event that cannot be read; what came so far is incomplete, repeat the request"
                    .into(),
        }
    }
}

/// Why something cannot be converted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ConvertError {
    /// The request is at fault, whoever is to answer it.
    Invalid {
        /// The member.
        path: String,
        /// What is wrong with it and what to do.
        message: Cow<'static, str>,
    },
    /// The other dialect has nothing like it. Another upstream may.
    Unsupported {
        /// The member.
        path: String,
        /// What is wrong with it and what to do.
        message: Cow<'static, str>,
    },
    /// These files have to be fetched first; they are all that is missing.
    NeedsMedia(Vec<String>),
    /// An answer is not one of its dialect.
    Unreadable(String),
    /// An answer says that the provider has failed, whatever its HTTP status.
    Failed(StreamFault<'static>),
}

impl ConvertError {
    /// The request is at fault.
    pub fn invalid(path: impl Into<String>, message: impl Into<Cow<'static, str>>) -> Self {
        Self::Invalid { path: path.into(), message: message.into() }
    }

    /// The other dialect has nothing like it.
    pub fn unsupported(path: impl Into<String>, message: impl Into<Cow<'static, str>>) -> Self {
        Self::Unsupported { path: path.into(), message: message.into() }
    }
}

impl fmt::Display for ConvertError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Invalid { path, message } | Self::Unsupported { path, message } if path.is_empty() => {
                formatter.write_str(message)
            }
            Self::Invalid { path, message } | Self::Unsupported { path, message } => {
                write!(formatter, "{path}: {message}")
            }
            Self::NeedsMedia(urls) => write!(formatter, "files have to be fetched first: {}", urls.join(", ")),
            Self::Failed(fault) => write!(formatter, "the provider failed ({}): {}", fault.code, fault.message),
            Self::Unreadable(what) => write!(formatter, "the provider's answer cannot be read: {what}"),
        }
    }
}

impl std::error::Error for ConvertError {}

/// Runs `$action` for the pair of two different dialects, with `$pair` as the name of its folder.
macro_rules! for_pair {
    ($from:expr, $to:expr, $pair:ident => $action:expr, same => $same:expr) => {{
        use Dialect::{Claude, Gemini, OpenAiChat, OpenAiResponses};
        macro_rules! run {
            ($folder:ident) => {{
                use $folder as $pair;
                $action
            }};
        }
        match ($from, $to) {
            (OpenAiChat, OpenAiResponses) => run!(openai_chat_to_openai_responses),
            (OpenAiChat, Claude) => run!(openai_chat_to_claude),
            (OpenAiChat, Gemini) => run!(openai_chat_to_gemini),
            (OpenAiResponses, OpenAiChat) => run!(openai_responses_to_openai_chat),
            (OpenAiResponses, Claude) => run!(openai_responses_to_claude),
            (OpenAiResponses, Gemini) => run!(openai_responses_to_gemini),
            (Claude, OpenAiChat) => run!(claude_to_openai_chat),
            (Claude, OpenAiResponses) => run!(claude_to_openai_responses),
            (Claude, Gemini) => run!(claude_to_gemini),
            (Gemini, OpenAiChat) => run!(gemini_to_openai_chat),
            (Gemini, OpenAiResponses) => run!(gemini_to_openai_responses),
            (Gemini, Claude) => run!(gemini_to_claude),
            (OpenAiChat, OpenAiChat) | (OpenAiResponses, OpenAiResponses) | (Claude, Claude) | (Gemini, Gemini) => {
                $same
            }
        }
    }};
}

/// Converts a request that asks for an answer. Two equal dialects need no conversion, and are refused.
pub fn request(
    from: Dialect,
    to: Dialect,
    body: &str,
    context: &Context<'_>,
) -> Result<ConvertedRequest, ConvertError> {
    let mut notes = Notes::default();
    let mut reply = Reply::default();
    let body = for_pair!(from, to, pair => {
        let request = read(body).map_err(|error| ConvertError::invalid("", format!("the request body is not valid: {error}")))?;
        checks::Checked::check(&request)?;
        remember(&request, &mut reply);
        let converted = pair::request::convert(&request, context, &mut notes)?;
        left_out::LeftOut::left_out(&request, to, &mut notes.losses);
        write(&converted)?
    }, same => return Err(ConvertError::unsupported("", "there is nothing to convert")));
    reply.tools = notes.tools;
    Ok(ConvertedRequest { body, losses: notes.losses, reply })
}

/// Converts a whole answer, not an error.
pub fn response(from: Dialect, to: Dialect, body: &str, reply: &Reply) -> Result<ConvertedResponse, ConvertError> {
    let mut losses = Losses::default();
    // A type whose members are all optional could also be read from a list.
    if !body.trim_start().starts_with('{') {
        return Err(ConvertError::Unreadable("it is no object".to_owned()));
    }
    let whole = json::without_lone_surrogates(body);
    let body = &*whole;
    let body = for_pair!(from, to, pair => {
        let response = read(body).map_err(|error| match fault::in_place_of_answer(from, body) {
            Some(fault) => ConvertError::Failed(fault),
            None => ConvertError::Unreadable(error.to_string()),
        })?;
        if let Some(fault) = fault::Answered::fault(&response) {
            return Err(ConvertError::Failed(fault));
        }
        if !fault::Answered::is_answer(&response) {
            return Err(ConvertError::Unreadable("there is no answer in it".to_owned()));
        }
        write(&pair::response::convert(&response, reply, &mut losses)?)?
    }, same => return Err(ConvertError::unsupported("", "there is nothing to convert")));
    Ok(ConvertedResponse { body, losses })
}

/// Converts a stream; `None` for two equal dialects.
pub fn stream(from: Dialect, to: Dialect, reply: Rc<Reply>) -> Option<Box<dyn StreamConverter>> {
    for_pair!(from, to, pair => Some(Box::new(pair::stream::Stream::new(reply))), same => None)
}

/// What an answer has to know of its request.
trait Remembered {
    fn remember(&self, reply: &mut Reply);
}

fn remember(request: &impl Remembered, reply: &mut Reply) {
    request.remember(reply);
}

impl Remembered for openai_chat::wire::request::Request<'_> {
    fn remember(&self, reply: &mut Reply) {
        reply.include_usage = self.stream_options.and_then(|options| options.include_usage) == Some(true);
        reply.legacy_functions = self.functions.is_some() && self.tools.is_none();
    }
}

impl Remembered for openai_responses::wire::request::Request<'_> {
    fn remember(&self, reply: &mut Reply) {
        reply.echo = openai_responses::echo::echo(self);
    }
}

impl Remembered for MessagesRequest<'_> {
    fn remember(&self, reply: &mut Reply) {
        reply.hides_thinking = !matches!(self.thinking, Some(Thinking::Enabled(_) | Thinking::Adaptive(_)));
    }
}

impl Remembered for GenerateContentRequest<'_> {
    fn remember(&self, _reply: &mut Reply) {}
}

/// Reads a vendor's type, if it is not nested so deep that reading it could exhaust the stack.
pub fn read<'a, T: Deserialize<'a>>(text: &'a str) -> Result<T, serde_json::Error> {
    if json::is_deeper_than(text, MAX_DEPTH) {
        return Err(serde::de::Error::custom(format_args!("it is nested more than {MAX_DEPTH} levels deep")));
    }
    serde_json::from_str(text)
}

fn write(value: &impl Serialize) -> Result<Vec<u8>, ConvertError> {
    serde_json::to_vec(value).map_err(|error| ConvertError::invalid("", error.to_string()))
}
