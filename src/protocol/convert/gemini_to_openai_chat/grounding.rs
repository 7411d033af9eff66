//! Where an answer comes from: annotations of its text.

use tollgate_macros::Read;

use crate::protocol::gemini::wire::grounding::GroundingChunk;
use crate::protocol::gemini::wire::proto::Count;
use crate::protocol::gemini::wire::response::Candidate;
use crate::protocol::openai_chat::wire::response::{Annotation, UrlCitation, UrlCitationAnnotation};
use crate::protocol::wire::Text;

/// The text of an answer, by whose places annotations count.
#[derive(Debug, Default)]
pub(super) struct Said {
    text: String,
    /// Where each part that has text begins, with its place among the parts.
    parts: Vec<(u64, usize)>,
}

impl Said {
    /// Adds the text of the part `index`.
    pub(super) fn push(&mut self, index: u64, text: &str) {
        self.parts.push((index, self.text.len()));
        self.text.push_str(text);
    }

    /// The whole text.
    pub(super) fn text(&self) -> &str {
        &self.text
    }

    /// Gemini counts bytes within a part where OpenAI counts characters of the whole.
    fn characters(&self, part: Option<Count>, bytes: u64) -> u64 {
        let begin =
            part.filter(|part| part.0 > 0).and_then(|part| self.parts.iter().find(|(index, _)| *index == part.0));
        let place = usize::try_from(bytes).unwrap_or(usize::MAX).saturating_add(begin.map_or(0, |(_, begin)| *begin));
        self.text.char_indices().take_while(|(index, _)| *index < place).count() as u64
    }
}

/// The annotations of an answer that is complete.
pub(super) fn annotations<'a>(candidate: &'a Candidate<'a>, said: &Said) -> Vec<Annotation<'a>> {
    let mut annotations = Vec::new();
    if let Some(grounding) = &candidate.grounding_metadata {
        for support in &grounding.grounding_supports {
            let Some(segment) = &support.segment else { continue };
            let place =
                |bytes: Option<Count>| said.characters(segment.part_index, bytes.map_or(0, |Count(bytes)| bytes));
            let (start, end) = (place(segment.start_index), place(segment.end_index));
            for Count(index) in &support.grounding_chunk_indices {
                let chunk = usize::try_from(*index).ok().and_then(|index| grounding.grounding_chunks.get(index));
                annotations.extend(chunk.and_then(|chunk| page(chunk, start, end)));
            }
        }
        if grounding.grounding_supports.is_empty() {
            let end = said.text.chars().count() as u64;
            annotations.extend(grounding.grounding_chunks.iter().filter_map(|chunk| page(chunk, end, end)));
        }
    }
    if let Some(citations) = &candidate.citation_metadata {
        for source in &citations.citation_sources {
            let Some(uri) = &source.uri else { continue };
            let place = |bytes: Option<Count>| said.characters(None, bytes.map_or(0, |Count(bytes)| bytes));
            let title = source.title.as_ref().map(Text::by_ref);
            annotations.push(citation(uri.by_ref(), title, place(source.start_index), place(source.end_index)));
        }
    }
    annotations
}

/// What was found, if it has an address.
fn page<'a>(chunk: &'a GroundingChunk<'a>, start: u64, end: u64) -> Option<Annotation<'a>> {
    #[derive(Read)]
    struct Place<'a> {
        #[serde(borrow, default)]
        uri: Option<Text<'a>>,
        #[serde(borrow, default)]
        title: Option<Text<'a>>,
    }
    let (uri, title) = if let Some(web) = &chunk.web {
        (web.uri.as_ref().map(Text::by_ref), web.title.as_ref().map(Text::by_ref))
    } else if let Some(file) = &chunk.retrieved_context {
        (file.uri.as_ref().map(Text::by_ref), file.title.as_ref().map(Text::by_ref))
    } else {
        let place = chunk.maps.as_ref().or(chunk.image.as_ref())?.read::<Place<'a>>().ok()?;
        (place.uri, place.title)
    };
    Some(citation(uri?, title, start, end))
}

fn citation<'a>(url: Text<'a>, title: Option<Text<'a>>, start: u64, end: u64) -> Annotation<'a> {
    let url_citation = UrlCitation {
        title: Some(title.unwrap_or_else(|| url.clone())),
        url,
        start_index: Some(start),
        end_index: Some(end),
        content: None,
    };
    Annotation::UrlCitation(UrlCitationAnnotation { url_citation })
}
