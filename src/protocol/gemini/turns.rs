//! Builds the turns of a conversation as Gemini takes them: one content a turn, none empty.

use super::SKIP_SIGNATURE;
use super::wire::content::{Content, Part, Role};

/// What stands for a beginning that the model made, which a shortened history may have.
const BEGINNING: &str = "(The assistant begins the conversation.)";

/// What is said of a conversation before which a turn of the user is put.
pub const BEGINS_WITH_MODEL: &str = "begins with the model; a turn of the user is put before it";

/// The turns so far. Successive parts of one side become one content.
#[derive(Debug, Default)]
pub struct Turns<'a> {
    turns: Vec<(Role<'a>, Vec<Part<'a>>)>,
}

impl<'a> Turns<'a> {
    /// Adds a part to the turn of `role`.
    pub fn push(&mut self, role: Role<'a>, part: Part<'a>) {
        match self.turns.last_mut() {
            Some((last, parts)) if *last == role => parts.push(part),
            _ => self.turns.push((role, vec![part])),
        }
    }

    /// All turns, to look at or to mend.
    pub fn iter_mut(&mut self) -> impl DoubleEndedIterator<Item = (&Role<'a>, &mut Vec<Part<'a>>)> {
        self.turns.iter_mut().map(|(role, parts)| (&*role, parts))
    }

    /// Puts a turn of the user before the first one, if that is the model's: its calls have to follow one. Whether that was needed.
    pub fn begin_with_the_user(&mut self) -> bool {
        let begins_with_model = matches!(self.turns.first(), Some((Role::Model, _)));
        if begins_with_model {
            self.turns.insert(0, (Role::User, vec![Part { text: Some(BEGINNING.into()), ..Part::default() }]));
        }
        begins_with_model
    }

    /// Gives the first call of each answer since the user last spoke a signature, if it has none: the documented one that says so (B14).
    pub fn sign_calls(&mut self) {
        for (role, parts) in self.turns.iter_mut().rev() {
            if *role == Role::User && !parts.iter().any(|part| part.function_response.is_some()) {
                break;
            }
            if let Some(call) = parts.iter_mut().find(|part| part.function_call.is_some()) {
                call.thought_signature.get_or_insert_with(|| SKIP_SIGNATURE.into());
            }
        }
    }

    /// The contents.
    pub fn finish(self) -> Vec<Content<'a>> {
        let content = |(role, parts)| Content { role: Some(role), parts };
        self.turns.into_iter().map(content).collect()
    }
}
