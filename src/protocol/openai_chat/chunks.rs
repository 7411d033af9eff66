//! Reads the chunks of one stream.

use super::wire::content::Content;
use super::wire::stream::{Chunk, ChunkChoice, Delta};
use crate::protocol::convert::read;
use crate::protocol::few::Few;
use crate::protocol::wire::Text;

/// How many chunks in a row may differ from the ones before them until no more is learnt.
const MAX_MISSES: u32 = 16;

/// Reads the chunks of one stream.
///
/// Most chunks are the one before with another text, and perhaps another padding. So what stands around these two strings is
/// remembered; where a chunk has the same around them, it says the same, and only its strings are read.
#[derive(Debug, Default)]
pub struct Chunks {
    usual: Usual,
    is_known: bool,
    misses: u32,
}

/// What stands around the text of a chunk that has nothing else to say.
#[derive(Debug, Default)]
struct Usual {
    /// Which answer it belongs to.
    index: u64,
    /// Up to the text.
    before: String,
    /// From the text to the padding, or to the end.
    after: String,
    /// From the padding to the end.
    end: Option<String>,
}

impl Chunks {
    /// The chunk that `data` holds. One that differs from an earlier one in nothing but its text has nothing but that and its
    /// index.
    pub fn read<'a>(&mut self, data: &'a str) -> Result<Chunk<'a>, serde_json::Error> {
        if self.is_known
            && let Some(text) = self.usual.text(data)
        {
            self.misses = 0;
            let delta = Delta { content: Some(Content::Text(text)), ..Delta::default() };
            let choice = ChunkChoice { index: self.usual.index, delta, ..ChunkChoice::default() };
            return Ok(Chunk { choices: Some(Few::One(choice)), ..Chunk::default() });
        }
        let chunk = read::<Chunk<'_>>(data)?;
        if self.misses < MAX_MISSES {
            self.misses += 1;
            self.is_known |= self.usual.learn(&chunk, data).is_some();
        }
        Ok(chunk)
    }
}

impl Usual {
    /// The text of a chunk that has the same around it.
    fn text<'a>(&self, data: &'a str) -> Option<Text<'a>> {
        let (text, rest) = string(data.strip_prefix(&*self.before)?)?;
        let is_same = match &self.end {
            None => rest == self.after,
            Some(end) => string(rest.strip_prefix(&*self.after)?)?.1 == end,
        };
        is_same.then_some(text)
    }

    /// Remembers what stands around the text of `chunk`, which was read from `data`, if it says nothing else that could matter
    /// twice.
    fn learn(&mut self, chunk: &Chunk<'_>, data: &str) -> Option<()> {
        let [choice] = &**chunk.choices.as_ref()? else { return None };
        let Some(Content::Text(text)) = &choice.delta.content else { return None };
        let delta = Delta { content: choice.delta.content.clone(), ..Delta::default() };
        let says_more = chunk.usage.is_some()
            || chunk.error.is_some()
            || chunk.moderation.is_some()
            || *choice != ChunkChoice { index: choice.index, delta, ..ChunkChoice::default() };
        if says_more {
            return None;
        }
        let (before, rest) = around(data, text)?;
        let padding = chunk.obfuscation.as_ref().and_then(|padding| around(rest, padding));
        self.index = choice.index;
        before.clone_into(&mut self.before);
        padding.map_or(rest, |(after, _)| after).clone_into(&mut self.after);
        self.end = padding.map(|(_, end)| end.to_owned());
        Some(())
    }
}

/// The JSON string that `text` begins with, and what follows it.
fn string(text: &str) -> Option<(Text<'_>, &str)> {
    let mut strings = serde_json::Deserializer::from_str(text).into_iter::<Text<'_>>();
    let string = strings.next()?.ok()?;
    Some((string, text.get(strings.byte_offset()..)?))
}

/// What stands before and after the JSON string that `text` was borrowed from; `None` if it was not borrowed from `data`.
fn around<'a>(data: &'a str, text: &Text<'_>) -> Option<(&'a str, &'a str)> {
    let start = (text.as_ptr() as usize).checked_sub(data.as_ptr() as usize)?;
    let before = data.get(..start)?.strip_suffix('"')?;
    let rest = data.get(start..)?.strip_prefix(&**text)?.strip_prefix('"')?;
    Some((before, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(text: &str, more: &str) -> String {
        format!(
            r#"{{"id":"c","model":"m","choices":[{{"index":1,"delta":{{"content":{text}}},"finish_reason":null}}]{more}}}"#
        )
    }

    #[test]
    fn a_chunk_like_the_one_before_says_the_same_with_another_text() {
        for more in ["", r#","obfuscation":"ab""#, r#","usage":null,"obfuscation":"ab","x":[1]"#] {
            let mut chunks = Chunks::default();
            chunks.read(&event(r#""a""#, more)).unwrap();
            assert!(chunks.is_known);
            for (text, more) in [(r#""b""#, more.replace("ab", "abcdef")), (r#""\"\u00e4\n""#, more.replace("ab", ""))]
            {
                let data = event(text, &more);
                let usual = chunks.usual.text(&data).unwrap();
                let whole: Chunk<'_> = serde_json::from_str(&data).unwrap();
                let chunk = chunks.read(&data).unwrap();
                assert_eq!(chunk.choices, whole.choices);
                assert_eq!(usual, serde_json::from_str::<String>(text).unwrap().as_str());
            }
        }
    }

    #[test]
    fn a_chunk_that_differs_is_read_whole() {
        let mut chunks = Chunks::default();
        chunks.read(&event(r#""a""#, "")).unwrap();
        let different = [
            event("null", ""),
            event(r#"["a"]"#, ""),
            event(r#""a""#, r#","usage":{"prompt_tokens":1}"#),
            event(r#""a""#, "").replace("null}", r#""stop"}"#),
            event(r#""a""#, "").replace(r#""index":1"#, r#""index":2"#),
            event(r#""a","refusal":"b""#, ""),
        ];
        for data in different {
            let mut chunks = Chunks::default();
            chunks.read(&event(r#""a""#, "")).unwrap();
            assert_eq!(chunks.usual.text(&data), None, "{data}");
            let expected = serde_json::from_str::<Chunk<'_>>(&data).ok();
            assert_eq!(chunks.read(&data).ok(), expected, "{data}");
        }
        for damaged in [event("\"a", ""), event("\"\u{1}\"", ""), event(r#""a"b"#, ""), event(r#""a""#, "x")] {
            assert!(chunks.read(&damaged).is_err(), "{damaged}");
        }
    }

    #[test]
    fn what_says_more_than_a_text_is_not_remembered() {
        let more = [
            event(r#""a","role":"assistant""#, ""),
            event(r#""a""#, r#","usage":{"prompt_tokens":1}"#),
            event(r#""a""#, r#","error":"e""#),
            event(r#""a""#, "").replace("null}", r#""stop"}"#),
            event(r#""\n""#, ""),
        ];
        for data in more {
            let mut chunks = Chunks::default();
            let _ = chunks.read(&data);
            assert!(!chunks.is_known, "{data}");
        }
    }
}
