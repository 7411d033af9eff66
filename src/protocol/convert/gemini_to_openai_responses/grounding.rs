//! The sources of an answer, as annotations and searches.

use crate::protocol::gemini::wire::grounding::{CitationMetadata, GroundingMetadata, GroundingSupport};
use crate::protocol::gemini::wire::response::Candidate;
use crate::protocol::openai_responses::wire::content::{Annotation, UrlCitation};
use crate::protocol::openai_responses::wire::hosted::{OpenPage, WebSearch, WebSearchAction, WebSearchCall};
use crate::protocol::wire::Text;

/// The citations of `text`.
pub(super) fn annotations<'a>(
    text: &str,
    grounding: Option<&'a GroundingMetadata<'a>>,
    citations: Option<&'a CitationMetadata<'a>>,
) -> Vec<Annotation<'a>> {
    let mut annotations = Vec::new();
    for support in grounding.iter().flat_map(|grounding| &grounding.grounding_supports) {
        annotations.extend(supported(text, support, grounding.into_iter()));
    }
    for source in citations.iter().flat_map(|citations| &citations.citation_sources) {
        let bytes = |count: Option<crate::protocol::gemini::wire::proto::Count>| count.map_or(0, |count| count.0);
        let place = characters(text, bytes(source.start_index), bytes(source.end_index));
        if let (Some(uri), Some((start_index, end_index))) = (&source.uri, place) {
            let title = Some(source.title.as_ref().unwrap_or(uri).by_ref());
            annotations.push(Annotation::UrlCitation(UrlCitation { url: uri.by_ref(), title, start_index, end_index }));
        }
    }
    annotations
}

fn supported<'a>(
    text: &str,
    support: &'a GroundingSupport<'a>,
    grounding: impl Iterator<Item = &'a GroundingMetadata<'a>>,
) -> Vec<Annotation<'a>> {
    let Some((start_index, end_index)) = place(text, support) else { return Vec::new() };
    let chunks: Vec<_> = grounding.flat_map(|grounding| &grounding.grounding_chunks).collect();
    let cited = support.grounding_chunk_indices.iter().filter_map(|index| {
        let web = chunks.get(usize::try_from(index.0).ok()?)?.web.as_ref()?;
        let url = web.uri.as_ref()?;
        let title = Some(web.title.as_ref().or(web.domain.as_ref()).unwrap_or(url).by_ref());
        Some(Annotation::UrlCitation(UrlCitation { url: url.by_ref(), title, start_index, end_index }))
    });
    cited.collect()
}

/// Where the supported part of the text is, in characters. Its own text is the surer sign: bytes are counted within a part, and
/// parts are joined.
fn place(text: &str, support: &GroundingSupport<'_>) -> Option<(u64, u64)> {
    let segment = support.segment.as_ref()?;
    let (start, end) = (segment.start_index.map_or(0, |start| start.0), segment.end_index.map_or(0, |end| end.0));
    let supported = segment.text.as_deref().filter(|supported| !supported.is_empty());
    let there = || text.get(usize::try_from(start).ok()?..usize::try_from(end).ok()?);
    match supported {
        Some(supported) if there() != Some(supported) => {
            let start = text.find(supported)?;
            characters(text, start as u64, (start + supported.len()) as u64)
        }
        _ => characters(text, start, end),
    }
}

/// Numbers of characters for numbers of bytes.
fn characters(text: &str, start: u64, end: u64) -> Option<(u64, u64)> {
    let count = |bytes: u64| Some(text.get(..usize::try_from(bytes).ok()?)?.chars().count() as u64);
    Some((count(start)?, count(end)?)).filter(|(start, end)| start < end)
}

/// The searches and the pages that were read for a candidate, unless the answer shows them itself.
pub(super) fn searches<'a>(candidate: &'a Candidate<'a>) -> Vec<WebSearchCall<'a>> {
    let parts = candidate.content.iter().flat_map(|content| &content.parts);
    if parts.into_iter().any(|part| part.tool_call.is_some()) {
        return Vec::new();
    }
    let queries = candidate.grounding_metadata.iter().flat_map(|grounding| &grounding.web_search_queries);
    let pages = candidate.url_context_metadata.iter().flat_map(|metadata| &metadata.url_metadata);
    let pages = pages.filter_map(|page| page.retrieved_url.as_ref());
    actions(queries.map(Text::by_ref), pages.map(Text::by_ref))
}

/// The items for queries and pages.
pub(super) fn actions<'a>(
    queries: impl Iterator<Item = Text<'a>>,
    pages: impl Iterator<Item = Text<'a>>,
) -> Vec<WebSearchCall<'a>> {
    let queries: Vec<_> = queries.collect();
    let search = queries
        .first()
        .cloned()
        .map(|query| WebSearchAction::Search(WebSearch { query: Some(query), queries: Some(queries), sources: None }));
    let pages = pages.map(|url| WebSearchAction::OpenPage(OpenPage { url: Some(url) }));
    let call = |action| WebSearchCall { id: None, status: Some("completed".into()), action: Some(action) };
    search.into_iter().chain(pages).map(call).collect()
}
