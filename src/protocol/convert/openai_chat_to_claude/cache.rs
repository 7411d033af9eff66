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
        let asked = claude.and_then(|claude| claude.ttl.as_ref()).filter(|ttl| ***ttl == *"1h");
        let ttl = asked.filter(|_| self.lasting);
        if asked.is_some() && ttl.is_none() {
            losses.hint(path, "lives for 5 minutes, as one before it does");
        }
        self.lasting = ttl.is_some();
        Some(CacheControl { kind: "ephemeral".into(), ttl: ttl.map(|ttl| ttl.by_ref()) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::wire::Text;

    #[test]
    fn borders_keep_to_claudes_rules() {
        let (mut marks, mut losses) = (Marks::new(), Losses::default());
        let claude = |ttl: &'static str| ChatCacheControl { kind: "ephemeral".into(), ttl: Some(ttl.into()) };
        let (long, short) = (claude("1h"), claude("5m"));
        let own = PromptCacheBreakpoint { mode: "explicit".into(), ttl: Some("12h".into()) };
        let mut ttls = vec![];
        for (own, claude) in [(None, Some(&long)), (Some(&own), None), (None, Some(&long)), (None, Some(&short))] {
            let mark = marks.mark(own, claude, "x", &mut losses).unwrap();
            ttls.push(mark.ttl.map(Text::into_owned));
        }
        assert_eq!(ttls, [Some("1h".to_owned()), None, None, None]);
        assert!(marks.mark(None, None, "x", &mut losses).is_none());
        assert!(marks.mark(None, Some(&short), "fifth", &mut losses).is_none());
        assert!(losses.text().contains("fifth") && !losses.matters());
    }
}
