//! The messages of a request: system instruction and contents.

use super::calls::Calls;
use super::media;
use super::thinking;
use crate::protocol::convert::loss::NO_CACHE_MARKS;
use crate::protocol::convert::notice::{self, notice};
use crate::protocol::convert::to_gemini::media::MediaReader;
use crate::protocol::convert::{Context, ConvertError, Notes};
use crate::protocol::gemini::capabilities::{self, Capabilities};
use crate::protocol::gemini::turns::{BEGINS_WITH_MODEL, Turns};
use crate::protocol::gemini::wire::content::{Content, Part, Role as TargetRole};
use crate::protocol::openai_chat::wire::content::{self as source, CacheControl};
use crate::protocol::openai_chat::wire::message::{Message, Role};
use crate::protocol::openai_chat::wire::request::Request;
use crate::protocol::wire::Text;

/// What a conversation becomes.
pub(super) struct Conversation<'a> {
    /// What the conversation begins with by the application.
    pub(super) system: Vec<Part<'a>>,
    /// The turns.
    pub(super) contents: Vec<Content<'a>>,
}

impl<'a> Conversation<'a> {
    /// Converts all messages.
    pub(super) fn convert(
        request: &'a Request<'a>,
        context: &'a Context<'a>,
        notes: &mut Notes,
    ) -> Result<Self, ConvertError> {
        let mut builder = Builder {
            notes,
            capabilities: capabilities::of(context.model),
            files: MediaReader::new(context),
            turns: Turns::default(),
            system: vec![],
            calls: Calls::default(),
            has_begun: false,
        };
        for (index, message) in request.messages.iter().enumerate() {
            builder.message(message, &format!("messages[{index}]"))?;
        }
        builder.finish()
    }
}

struct Builder<'a, 'n> {
    notes: &'n mut Notes,
    capabilities: Capabilities,
    files: MediaReader<'a>,
    turns: Turns<'a>,
    system: Vec<Part<'a>>,
    calls: Calls<'a>,
    /// Whether a message came that is not the application's.
    has_begun: bool,
}

impl<'a> Builder<'a, '_> {
    fn message(&mut self, message: &'a Message<'a>, path: &str) -> Result<(), ConvertError> {
        self.marks(message, path);
        match &message.role {
            Role::Tool => self.calls.result(message, path, &mut self.files, self.notes),
            Role::Function => self.calls.legacy_result(message, path, self.notes),
            Role::System | Role::Developer => {
                self.settle()?;
                self.system(message, path)
            }
            Role::Assistant => {
                self.settle()?;
                self.has_begun = true;
                self.assistant(message, path)
            }
            Role::User => {
                self.settle()?;
                self.has_begun = true;
                self.user(message, path)
            }
            Role::Other(_) => Err(ConvertError::invalid(format!("{path}.role"), "is not a role of a message")),
        }
    }

    /// Ends the results of the calls so far, before anything that is none.
    fn settle(&mut self) -> Result<(), ConvertError> {
        let parts = self.calls.settle()?;
        parts.into_iter().for_each(|part| self.turns.push(TargetRole::User, part));
        Ok(())
    }

    /// Gemini has one place for the application's words, before the conversation. Later ones stay where they are, said by the user.
    fn system(&mut self, message: &'a Message<'a>, path: &str) -> Result<(), ConvertError> {
        let parts = media::parts(message.content.as_ref(), path, &mut self.files, self.notes)?;
        if parts.iter().any(|part| part.text.is_none()) {
            return Err(ConvertError::unsupported(
                format!("{path}.content"),
                "Gemini takes only text in system messages; move the rest into a user message",
            ));
        }
        if self.has_begun && !parts.is_empty() {
            self.notes.losses.add_once(path, notice::TOLD);
        }
        for mut part in parts {
            if self.has_begun {
                part.text = part.text.map(|text| Text::from(notice(&text)));
                self.turns.push(TargetRole::User, part);
            } else {
                self.system.push(part);
            }
        }
        Ok(())
    }

    fn user(&mut self, message: &'a Message<'a>, path: &str) -> Result<(), ConvertError> {
        let parts = media::parts(message.content.as_ref(), path, &mut self.files, self.notes)?;
        parts.into_iter().for_each(|part| self.turns.push(TargetRole::User, part));
        Ok(())
    }

    fn assistant(&mut self, message: &'a Message<'a>, path: &str) -> Result<(), ConvertError> {
        let mut parts = media::parts(message.content.as_ref(), path, &mut self.files, self.notes)?;
        if let Some(refusal) = message.refusal.as_ref().filter(|refusal| !refusal.is_empty()) {
            parts.push(Part { text: Some(refusal.by_ref()), ..Part::default() });
        }
        if message.audio.is_some() {
            self.notes.losses.add(format!("{path}.audio"), "a spoken answer is held by its own vendor");
        }
        thinking::left_out(message, path, self.notes);
        let texts = parts.len();
        parts.extend(self.calls.calls(message, path, self.notes)?);
        if let Some(signature) = message.extra_content.as_ref().and_then(thinking::signature) {
            let place = texts.checked_sub(1).unwrap_or(texts);
            match parts.get_mut(place) {
                Some(part) if part.thought_signature.is_none() => part.thought_signature = Some(signature),
                Some(_) => {}
                None => {
                    parts.push(Part {
                        text: Some(Text::default()),
                        thought_signature: Some(signature),
                        ..Part::default()
                    });
                }
            }
        }
        parts.into_iter().for_each(|part| self.turns.push(TargetRole::Model, part));
        Ok(())
    }

    fn finish(mut self) -> Result<Conversation<'a>, ConvertError> {
        self.settle()?;
        self.files.finish()?;
        if self.turns.begin_with_the_user() {
            self.notes.losses.add("messages", BEGINS_WITH_MODEL);
        }
        if self.capabilities.demands_signatures {
            self.turns.sign_calls();
        }
        let mut contents = self.turns.finish();
        if contents.is_empty() && !self.system.is_empty() {
            self.notes.losses.add("messages", "there are only system messages, which are told as a user turn");
            contents.push(user(std::mem::take(&mut self.system)));
        }
        if contents.is_empty() {
            return Err(ConvertError::invalid("messages", "there is nothing in them to answer"));
        }
        Ok(Conversation { system: self.system, contents })
    }

    /// What is said about a message and not in it.
    fn marks(&mut self, message: &Message<'_>, path: &str) {
        if has_cache_mark(message) {
            self.notes.losses.hint_once(path, NO_CACHE_MARKS);
        }
        let names_speaker = message.name.is_some() && !matches!(message.role, Role::Tool | Role::Function);
        if names_speaker {
            self.notes.losses.add_once(format!("{path}.name"), "Gemini does not tell speakers of a role apart");
        }
    }
}

fn user(parts: Vec<Part<'_>>) -> Content<'_> {
    Content { role: Some(TargetRole::User), parts }
}

fn has_cache_mark(message: &Message<'_>) -> bool {
    fn any(control: Option<&CacheControl<'_>>, is_breakpoint: bool) -> bool {
        control.is_some() || is_breakpoint
    }
    let in_parts = match &message.content {
        Some(source::Content::Parts(parts)) => parts.iter().any(|part| match part {
            source::Part::Text(part) => any(part.cache_control.as_ref(), part.prompt_cache_breakpoint.is_some()),
            source::Part::ImageUrl(part) => any(part.cache_control.as_ref(), part.prompt_cache_breakpoint.is_some()),
            source::Part::InputAudio(part) => any(part.cache_control.as_ref(), part.prompt_cache_breakpoint.is_some()),
            source::Part::File(part) => any(part.cache_control.as_ref(), part.prompt_cache_breakpoint.is_some()),
            source::Part::Refusal(_) | source::Part::Other(_) => false,
        }),
        _ => false,
    };
    in_parts || message.cache_control.is_some()
}
