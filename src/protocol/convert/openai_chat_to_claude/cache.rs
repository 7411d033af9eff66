//! Borders of the prompt cache.

use crate::protocol::claude::wire::content::CacheControl;
use crate::protocol::convert::Losses;
use crate::protocol::openai_chat::wire::content::{CacheControl as ChatCacheControl, PromptCacheBreakpoint};

/// Hands out borders, of which Claude takes four in a request.
#[derive(Debug)]
pub struct Marks {
    left: usize,
    lasting: bool,
}

impl Marks {
    /// For a new request.
    pub fn new() -> Self {
        Self { left: 4, lasting: true }
    }

    /// The border that was set at `path`, in either way of saying so.
    ///
    /// Claude's borders live for 5 minutes or an hour, and those of an hour have to come first. OpenAI's own lifetimes have no
    /// counterpart there: its borders become those of 5 minutes.
    pub fn mark<'a>(
        &mut self,
        own: Option<&'a PromptCacheBreakpoint<'a>>,
        claude: Option<&'a ChatCacheControl<'a>>,
        path: &str,
        losses: &mut Losses,
    ) -> Option<CacheControl<'a>> {
        if own.is_none() && claude.is_none() {
            return None;
        }
        if self.left == 0 {
            losses.hint(path, "is one cache breakpoint more than Claude takes");
            return None;
        }
        self.left -= 1;
        if own.is_some_and(|own| own.ttl.is_some()) {
            losses.hint(path, "lives for 5 minutes at Claude");
        }
        let ttl = claude.and_then(|claude| claude.ttl.as_ref()).filter(|ttl| self.lasting && ***ttl == *"1h");
        self.lasting = ttl.is_some();
        Some(CacheControl { kind: "ephemeral".into(), ttl: ttl.map(|ttl| ttl.by_ref()) })
    }
}
