//! Where an answer comes from: searches, pages and citations of Claude as grounding of Gemini.

use crate::protocol::claude::wire::citation::Citation;
use crate::protocol::gemini::wire::grounding::{
    GroundingChunk, GroundingMetadata, GroundingSupport, RetrievedContext, Segment, WebChunk,
};
use crate::protocol::gemini::wire::proto::Count;
use crate::protocol::wire::Text;

/// What was found so far, and what it supports.
#[derive(Default)]
pub(super) struct Grounding(GroundingMetadata<'static>);

impl Grounding {
    /// A search.
    pub(super) fn query(&mut self, query: String) {
        self.0.web_search_queries.push(query.into());
    }

    /// A page that was found. Its place among all that was.
    pub(super) fn page(&mut self, url: &str, title: Option<&str>) -> usize {
        let is_it =
            |chunk: &GroundingChunk<'_>| chunk.web.as_ref().is_some_and(|page| page.uri.as_deref() == Some(url));
        self.place(is_it, || {
            let web = WebChunk { uri: Some(own(url)), title: title.map(own), domain: None };
            GroundingChunk { web: Some(web), ..GroundingChunk::default() }
        })
    }

    /// A part of the answer that is drawn from `citations`: the bytes from `start` to before `end` of the part `part`.
    pub(super) fn support(&mut self, citations: &[Citation<'_>], text: &str, part: usize, start: usize) {
        let mut places: Vec<Count> = Vec::new();
        for citation in citations {
            let Some(place) = self.source(citation).map(|place| Count(place as u64)) else { continue };
            if !places.contains(&place) {
                places.push(place);
            }
        }
        if places.is_empty() {
            return;
        }
        let unless_zero = |count: usize| (count > 0).then_some(Count(count as u64));
        let segment = Segment {
            part_index: unless_zero(part),
            start_index: unless_zero(start),
            end_index: unless_zero(start + text.len()),
            text: Some(own(text)),
        };
        self.0.grounding_supports.push(GroundingSupport {
            segment: Some(segment),
            grounding_chunk_indices: places,
            ..GroundingSupport::default()
        });
    }

    /// All of it; `None` if there was nothing.
    pub(super) fn finish(self) -> Option<GroundingMetadata<'static>> {
        (self.0 != GroundingMetadata::default()).then_some(self.0)
    }

    fn source(&mut self, citation: &Citation<'_>) -> Option<usize> {
        let title = |title: &Option<Text<'_>>| title.as_deref().map(own);
        let (title, text) = match citation {
            Citation::WebSearchResultLocation(place) => return Some(self.page(&place.url, place.title.as_deref())),
            Citation::CharLocation(place) => (title(&place.document_title), &place.cited_text),
            Citation::PageLocation(place) => (title(&place.document_title), &place.cited_text),
            Citation::ContentBlockLocation(place) => (title(&place.document_title), &place.cited_text),
            Citation::SearchResultLocation(place) => {
                let context = RetrievedContext {
                    uri: Some(own(&place.source)),
                    title: title(&place.title),
                    text: Some(own(&place.cited_text)),
                    ..RetrievedContext::default()
                };
                return Some(self.context(context));
            }
            Citation::Other(_) => return None,
        };
        let page_number = match citation {
            Citation::PageLocation(place) => Some(Count(place.start_page_number)),
            _ => None,
        };
        Some(self.context(RetrievedContext {
            title,
            text: Some(own(text)),
            page_number,
            ..RetrievedContext::default()
        }))
    }

    fn context(&mut self, context: RetrievedContext<'static>) -> usize {
        let is_it = |chunk: &GroundingChunk<'_>| chunk.retrieved_context.as_ref() == Some(&context);
        self.place(is_it, || GroundingChunk { retrieved_context: Some(context.clone()), ..GroundingChunk::default() })
    }

    fn place(
        &mut self,
        is_it: impl Fn(&GroundingChunk<'static>) -> bool,
        new: impl FnOnce() -> GroundingChunk<'static>,
    ) -> usize {
        let chunks = &mut self.0.grounding_chunks;
        if let Some(place) = chunks.iter().position(is_it) {
            return place;
        }
        chunks.push(new());
        chunks.len() - 1
    }
}

fn own(text: &str) -> Text<'static> {
    text.to_owned().into()
}
