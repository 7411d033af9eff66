//! A conversation as Claude takes it: it begins and ends with the user.

use super::content::text_block;
use crate::protocol::claude::turns::Turns;
use crate::protocol::claude::wire::content::ContentBlock;
use crate::protocol::claude::wire::request::Role;
use crate::protocol::convert::Losses;

/// What stands for a beginning that the model made, which a shortened history may have.
const BEGINNING: &str = "(The assistant begins the conversation.)";

/// What stands for a turn of the user where there has to be one.
pub const GO_ON: &str = "Continue.";

/// Puts a turn of the user before the first one, if that is the model's. `path` is that of the conversation.
pub fn begin_with_the_user(turns: &mut Turns<'_>, path: &str, losses: &mut Losses) {
    if !matches!(turns.iter().next(), Some((Role::Assistant, _))) {
        return;
    }
    losses.add(path, "begins with the model; a turn of the user is put before it");
    let others = std::mem::take(turns);
    turns.push(Role::User, said(BEGINNING));
    others.append_to(turns);
}

/// Sees to a last turn that is the model's own: older models go on with it, where those of other vendors begin a new one; newer ones
/// refuse it, and get a turn of the user. Whether the model goes on, before which it does not think.
pub fn end_with_the_user(turns: &mut Turns<'_>, takes_prefill: bool, path: &str, losses: &mut Losses) -> bool {
    if !matches!(turns.last(), Some((Role::Assistant, _))) {
        return false;
    }
    if !takes_prefill {
        losses.add(path, "ends with the model, which cannot be gone on with here; a turn of the user is added");
        turns.push(Role::User, said(GO_ON));
        return false;
    }
    losses.add(path, "ends with the model, which goes on with it instead of answering it");
    // Claude refuses white space at the end of what it goes on with.
    if let Some((_, blocks)) = turns.iter_mut().next_back()
        && let Some(ContentBlock::Text(block)) = blocks.last_mut()
        && block.text.ends_with(char::is_whitespace)
    {
        block.text = block.text.trim_end().to_owned().into();
    }
    true
}

fn said<'a>(text: &'static str) -> ContentBlock<'a> {
    ContentBlock::Text(text_block(text.into()))
}
