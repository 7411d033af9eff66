//! Where an answer comes from: grounding of Gemini as searches, pages and citations of Claude.

use serde_json::json;
use tollgate_macros::Read;

use crate::protocol::claude::wire::citation::{Citation, SearchResultLocation, WebSearchResultLocation};
use crate::protocol::claude::wire::content::{ContentBlock, TextBlock, ToolUseBlock};
use crate::protocol::claude::wire::server_tools::{ServerToolResult, WebSearchContent, WebSearchResult};
use crate::protocol::convert::Reply;
use crate::protocol::convert::seal::{self, Family};
use crate::protocol::gemini::wire::grounding::{
    CitationMetadata, GroundingChunk, GroundingMetadata, GroundingSupport, WebChunk,
};
use crate::protocol::gemini::wire::proto::Count;
use crate::protocol::wire::{Raw, Text};

use super::pieces::Pieces;

/// A stretch of the answer's text, in bytes within a part, and what it is drawn from.
pub(super) struct Cited {
    pub(super) part: Option<usize>,
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) citations: Vec<Citation<'static>>,
}

/// What of the answer is drawn from what, in the order of the text.
pub(super) fn cited(grounding: Option<&GroundingMetadata<'_>>, repeated: Option<&CitationMetadata<'_>>) -> Vec<Cited> {
    let supports = grounding
        .iter()
        .flat_map(|grounding| grounding.grounding_supports.iter().filter_map(|support| supported(grounding, support)));
    let sources = repeated.iter().flat_map(|repeated| &repeated.citation_sources).filter_map(|source| {
        let place = |count: Option<Count>| count.and_then(|count| usize::try_from(count.0).ok());
        Some(Cited {
            part: None,
            start: place(source.start_index).unwrap_or(0),
            end: place(source.end_index)?,
            citations: vec![citation(source.uri.as_deref()?, source.title.as_deref())],
        })
    });
    let mut cited: Vec<_> = supports.chain(sources).collect();
    cited.sort_by_key(|cited| (cited.part, cited.start));
    cited
}

fn supported(grounding: &GroundingMetadata<'_>, support: &GroundingSupport<'_>) -> Option<Cited> {
    let segment = support.segment.as_ref()?;
    let place = |count: u64| usize::try_from(count).ok();
    let chunks = support.grounding_chunk_indices.iter().filter_map(|index| {
        let chunk = grounding.grounding_chunks.get(place(index.0)?)?;
        found(chunk, index.0)
    });
    let citations: Vec<_> = chunks.collect();
    (!citations.is_empty()).then_some(Cited {
        part: segment.part_index.and_then(|index| place(index.0)),
        start: segment.start_index.and_then(|index| place(index.0)).unwrap_or(0),
        end: segment.end_index.and_then(|index| place(index.0))?,
        citations,
    })
}

fn found(chunk: &GroundingChunk<'_>, index: u64) -> Option<Citation<'static>> {
    #[derive(Read)]
    struct Place<'a> {
        #[serde(borrow)]
        uri: Text<'a>,
        #[serde(borrow)]
        title: Option<Text<'a>>,
    }
    if let Some(page) = &chunk.web {
        return Some(citation(page.uri.as_deref()?, page.title.as_deref()));
    }
    if let Some(context) = &chunk.retrieved_context {
        let source = context.uri.as_deref().or(context.file_search_store.as_deref()).unwrap_or_default();
        return Some(Citation::SearchResultLocation(SearchResultLocation {
            cited_text: own(context.text.as_deref().unwrap_or_default()),
            source: own(source),
            title: context.title.as_deref().map(own),
            search_result_index: index,
            start_block_index: 0,
            end_block_index: 1,
        }));
    }
    let place: Place<'_> = chunk.maps.as_ref()?.read().ok()?;
    Some(citation(&place.uri, place.title.as_deref()))
}

/// What the page says there Gemini does not tell.
fn citation(url: &str, title: Option<&str>) -> Citation<'static> {
    Citation::WebSearchResultLocation(WebSearchResultLocation {
        cited_text: Text::default(),
        url: own(url),
        title: title.map(own),
        encrypted_index: seal::seal(Family::Gemini, "").into(),
    })
}

/// The searches that were made and the pages that they found, as calls and results. Which search found which page Gemini does not tell:
/// all are results of the last one.
pub(super) fn searches(
    grounding: &GroundingMetadata<'_>,
    pieces: &mut Pieces,
    reply: &Reply,
) -> Vec<ContentBlock<'static>> {
    let mut blocks = Vec::new();
    let queries = &grounding.web_search_queries;
    for (index, query) in queries.iter().enumerate() {
        let id = pieces.make_id("srvtoolu", reply);
        let input = Raw::of(&json!({"query": &**query}));
        let Ok(input) = input else { continue };
        blocks.push(ContentBlock::ServerToolUse(Box::new(ToolUseBlock {
            id: id.clone().into(),
            name: "web_search".into(),
            input,
            caller: None,
            toolset_name: None,
            cache_control: None,
        })));
        let pages = if index + 1 == queries.len() { pages(grounding) } else { Vec::new() };
        blocks.push(ContentBlock::WebSearchToolResult(Box::new(ServerToolResult {
            tool_use_id: id.into(),
            content: WebSearchContent::Results(pages),
            caller: None,
            cache_control: None,
        })));
    }
    blocks
}

fn pages(grounding: &GroundingMetadata<'_>) -> Vec<WebSearchResult<'static>> {
    let pages = grounding.grounding_chunks.iter().filter_map(|chunk| chunk.web.as_ref());
    let result = |page: &WebChunk<'_>| {
        Some(WebSearchResult {
            kind: "web_search_result".into(),
            url: own(page.uri.as_deref()?),
            title: own(page.title.as_deref().unwrap_or_default()),
            encrypted_content: seal::seal(Family::Gemini, "").into(),
            page_age: None,
        })
    };
    pages.filter_map(result).collect()
}

/// The text in blocks, so that what is cited stands in blocks of its own, as Claude has it. `cited` is in order.
pub(super) fn split<'a>(text: &str, cited: Vec<Cited>) -> Vec<ContentBlock<'a>> {
    let mut blocks: Vec<TextBlock<'a>> = Vec::new();
    let mut done = 0;
    for Cited { start, end, citations, .. } in cited {
        let end = end.min(text.len());
        let overlaps = start < done;
        match (overlaps, blocks.last_mut()) {
            // A stretch that overlaps the former one is told together with it.
            (true, Some(TextBlock { citations: Some(former), .. })) => former.extend(citations),
            _ => {
                let (Some(before), Some(stretch)) = (text.get(done..start), text.get(start..end)) else { continue };
                // Blanks alone are no block.
                let (before, stretch) = if before.trim().is_empty() {
                    ("", text.get(done..end).unwrap_or(stretch))
                } else {
                    (before, stretch)
                };
                push(before, None, &mut blocks);
                push(stretch, Some(citations), &mut blocks);
                done = end;
            }
        }
    }
    let rest = text.get(done..).unwrap_or_default();
    match blocks.last_mut() {
        Some(last) if rest.trim().is_empty() => last.text.0.to_mut().push_str(rest),
        _ => push(rest, None, &mut blocks),
    }
    blocks.into_iter().map(ContentBlock::Text).collect()
}

fn push<'a>(text: &str, citations: Option<Vec<Citation<'a>>>, blocks: &mut Vec<TextBlock<'a>>) {
    if !text.is_empty() {
        blocks.push(TextBlock { text: text.to_owned().into(), citations, cache_control: None });
    }
}

fn own(text: &str) -> Text<'static> {
    text.to_owned().into()
}
