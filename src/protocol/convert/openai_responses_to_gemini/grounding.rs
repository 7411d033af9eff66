//! What an answer names as its sources.

use crate::protocol::gemini::wire::grounding::{
    GroundingChunk, GroundingMetadata, GroundingSupport, Segment, WebChunk,
};
use crate::protocol::gemini::wire::proto::Count;
use crate::protocol::openai_responses::wire::content::{Annotation, OutputText, UrlCitation};
use crate::protocol::openai_responses::wire::hosted::{WebSearchAction, WebSearchCall};
use crate::protocol::wire::Text;

/// The sources so far.
#[derive(Debug, Default)]
pub(super) struct Sources {
    queries: Vec<String>,
    pages: Vec<Page>,
    supports: Vec<Support>,
}

#[derive(Debug, PartialEq)]
struct Page {
    uri: String,
    title: Option<String>,
}

#[derive(Debug)]
struct Support {
    part: usize,
    start: usize,
    end: usize,
    text: String,
    page: usize,
}

impl Sources {
    /// Notes what was searched for.
    pub(super) fn search(&mut self, call: &WebSearchCall<'_>) {
        let Some(WebSearchAction::Search(search)) = &call.action else { return };
        match &search.queries {
            Some(queries) => self.queries.extend(queries.iter().map(|query| (**query).to_owned())),
            None => self.queries.extend(search.query.iter().map(|query| (**query).to_owned())),
        }
    }

    /// Notes the citations of a text that stands in `part`, there from the byte `base` on.
    pub(super) fn cite(&mut self, text: &OutputText<'_>, part: usize, base: usize) {
        for annotation in text.annotations.iter().flatten() {
            if let Annotation::UrlCitation(citation) = annotation {
                self.page(citation, &text.text, part, base);
            }
        }
    }

    fn page(&mut self, citation: &UrlCitation<'_>, text: &str, part: usize, base: usize) {
        let title = citation.title.as_ref().map(|title| (**title).to_owned());
        let page = Page { uri: (*citation.url).to_owned(), title };
        let place = self.pages.iter().position(|known| *known == page).unwrap_or_else(|| {
            self.pages.push(page);
            self.pages.len() - 1
        });
        let (start, end) = (byte_at(text, citation.start_index), byte_at(text, citation.end_index));
        let cited = text.get(start..end).unwrap_or_default().to_owned();
        self.supports.push(Support { part, start: base + start, end: base + end.max(start), text: cited, page: place });
    }

    /// The member `groundingMetadata`.
    pub(super) fn metadata(self) -> Option<GroundingMetadata<'static>> {
        if self.queries.is_empty() && self.pages.is_empty() {
            return None;
        }
        let chunk = |page: Page| {
            let web = WebChunk { uri: Some(page.uri.into()), title: page.title.map(Text::from), domain: None };
            GroundingChunk { web: Some(web), ..GroundingChunk::default() }
        };
        Some(GroundingMetadata {
            web_search_queries: self.queries.into_iter().map(Text::from).collect(),
            grounding_chunks: self.pages.into_iter().map(chunk).collect(),
            grounding_supports: self.supports.into_iter().map(support).collect(),
            ..GroundingMetadata::default()
        })
    }
}

fn support(support: Support) -> GroundingSupport<'static> {
    let not_zero = |number: usize| Some(Count(number as u64)).filter(|count| count.0 > 0);
    GroundingSupport {
        segment: Some(Segment {
            part_index: not_zero(support.part),
            start_index: not_zero(support.start),
            end_index: Some(Count(support.end as u64)),
            text: Some(support.text.into()),
        }),
        grounding_chunk_indices: vec![Count(support.page as u64)],
        ..GroundingSupport::default()
    }
}

/// The byte at which the character with this number begins, as OpenAI counts characters and Gemini bytes.
fn byte_at(text: &str, character: u64) -> usize {
    let character = usize::try_from(character).unwrap_or(usize::MAX);
    text.char_indices().nth(character).map_or(text.len(), |(byte, _)| byte)
}
