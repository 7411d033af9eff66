//! What calls gave, which Gemini wants right behind them and in their order.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use serde::Serialize;

use super::media::{audio, file, image, screenshot};
use crate::protocol::convert::to_gemini::media::{MediaReader, Place, in_response};
use crate::protocol::convert::{ConvertError, Losses};
use crate::protocol::gemini::wire::content::{FunctionResponse, Part};
use crate::protocol::openai_responses::wire::content::{Content, Part as ContentPart};
use crate::protocol::openai_responses::wire::context::ToolSearchOutput;
use crate::protocol::openai_responses::wire::item::{InputItem, Item};
use crate::protocol::openai_responses::wire::tools::Tool;
use crate::protocol::wire::{Raw, Text, TextOr};

/// The outputs of a request by their calls. Responses lets them stand anywhere behind the call.
pub(super) struct Outputs<'a> {
    by_call: BTreeMap<&'a str, VecDeque<(usize, &'a Item<'a>)>>,
    taken: BTreeSet<usize>,
}

impl<'a> Outputs<'a> {
    /// Those among `items`.
    pub(super) fn of(items: &'a [InputItem<'a>]) -> Self {
        let mut by_call: BTreeMap<&str, VecDeque<(usize, &Item<'_>)>> = BTreeMap::new();
        for (index, item) in items.iter().enumerate() {
            if let InputItem::Typed(item) = item
                && let Some(id) = call_id(item)
            {
                by_call.entry(id).or_default().push_back((index, item));
            }
        }
        Self { by_call, taken: BTreeSet::new() }
    }

    /// The output of the call `id`: its place and itself.
    pub(super) fn take(&mut self, id: &str) -> Option<(usize, &'a Item<'a>)> {
        let found = self.by_call.get_mut(id)?.pop_front()?;
        self.taken.insert(found.0);
        Some(found)
    }

    /// Whether the output at the place `index` had its call before it.
    pub(super) fn was_taken(&self, index: usize) -> bool {
        self.taken.contains(&index)
    }
}

/// The call that `item` is the output of.
pub(super) fn call_id<'a>(item: &'a Item<'a>) -> Option<&'a str> {
    match item {
        Item::FunctionCallOutput(output) | Item::CustomToolCallOutput(output) => {
            Some(output.call_id.as_deref().unwrap_or_default())
        }
        Item::ToolSearchOutput(output) => output.call_id.as_deref(),
        Item::LocalShellCallOutput(output) => output.call_id.as_deref().or(output.id.as_deref()),
        Item::ShellCallOutput(output) => Some(&output.call_id),
        Item::ApplyPatchCallOutput(output) => Some(&output.call_id),
        Item::ComputerCallOutput(output) => Some(&output.call_id),
        _ => None,
    }
}

/// An output as Gemini takes it.
pub(super) struct Converted<'a> {
    /// The response itself.
    pub(super) response: FunctionResponse<'a>,
    /// Media that the model does not take in a response; they follow all responses of the turn.
    pub(super) media: Vec<Part<'a>>,
}

/// Converts `item`, which is an output. `path` is where it stands.
pub(super) fn convert<'a>(
    item: &'a Item<'a>,
    path: &str,
    files: &mut MediaReader<'a>,
    losses: &mut Losses,
) -> Result<Converted<'a>, ConvertError> {
    let mut following = Vec::new();
    let mut response = FunctionResponse::default();
    response.response = Some(match item {
        Item::FunctionCallOutput(output) | Item::CustomToolCallOutput(output) => match &output.output {
            TextOr::Text(text) => wrapped("output", &**text)?,
            TextOr::Structured(_) => {
                let Contents { text, parts } = contents(&output.output, &format!("{path}.output"), files, losses)?;
                for part in parts {
                    if files.fits_response(&part) {
                        response.parts.push(in_response(part));
                    } else {
                        following.push(part);
                    }
                }
                let pointer = match (text.is_empty(), response.parts.is_empty(), following.is_empty()) {
                    (true, false, _) => "see the attached media",
                    (true, true, false) => "see the media below",
                    _ => &text,
                };
                wrapped("output", pointer)?
            }
        },
        Item::ToolSearchOutput(output) => wrapped("output", &found(output))?,
        Item::LocalShellCallOutput(output) => wrapped("output", &*output.output)?,
        Item::ShellCallOutput(output) => wrapped("output", &output.output)?,
        Item::ComputerCallOutput(output) => {
            let path = format!("{path}.output");
            let part = screenshot(&output.output, &path, files)?;
            if files.fits_response(&part) {
                response.parts.push(in_response(part));
            } else {
                following.push(part);
            }
            wrapped("output", "the screen is in the image")?
        }
        Item::ApplyPatchCallOutput(output) => {
            let member = if output.status == "failed" { "error" } else { "output" };
            wrapped(member, output.output.as_deref().unwrap_or(&output.status))?
        }
        _ => wrapped("output", "")?,
    });
    Ok(Converted { response, media: following })
}

struct Contents<'a> {
    text: String,
    parts: Vec<Part<'a>>,
}

fn contents<'a>(
    content: &'a Content<'a>,
    path: &str,
    files: &mut MediaReader<'a>,
    losses: &mut Losses,
) -> Result<Contents<'a>, ConvertError> {
    let TextOr::Structured(given) = content else {
        return Ok(Contents { text: String::new(), parts: Vec::new() });
    };
    let (mut texts, mut parts) = (Vec::new(), Vec::new());
    for (index, part) in given.iter().enumerate() {
        let path = format!("{path}[{index}]");
        match part {
            ContentPart::InputText(text) => texts.push(&*text.text),
            ContentPart::OutputText(text) => texts.push(&*text.text),
            ContentPart::InputImage(input) => parts.push(image(input, Place::Response, &path, files, losses)?),
            ContentPart::InputFile(input) => parts.push(file(input, Place::Response, &path, files, losses)?),
            ContentPart::InputAudio(sound) => parts.push(audio(sound, &path)?),
            ContentPart::Refusal(_)
            | ContentPart::ReasoningText(_)
            | ContentPart::SummaryText(_)
            | ContentPart::Other(_) => {
                return Err(ConvertError::unsupported(path, "this kind of content cannot stand in a tool's output"));
            }
        }
    }
    texts.retain(|text| !text.is_empty());
    Ok(Contents { text: texts.join("\n"), parts })
}

/// The names of the tools that were found; they themselves are declared like all others.
fn found<'a>(output: &'a ToolSearchOutput<'a>) -> Vec<Text<'a>> {
    let mut names = Vec::new();
    for tool in &output.tools {
        match tool {
            Tool::Function(function) => names.push(function.name.by_ref()),
            Tool::Custom(custom) => names.push(custom.name.by_ref()),
            Tool::Namespace(namespace) => names.push(namespace.name.by_ref()),
            _ => {}
        }
    }
    names
}

/// `{"MEMBER": VALUE}`: a response is an object, in which `output` and `error` are understood.
fn wrapped<T: Serialize + ?Sized>(member: &str, value: &T) -> Result<Raw<'static>, ConvertError> {
    let object = BTreeMap::from([(member, value)]);
    Raw::of(&object).map_err(|error| ConvertError::invalid("", error.to_string()))
}
