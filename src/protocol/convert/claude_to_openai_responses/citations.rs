//! What a text is drawn from.

use crate::protocol::claude::wire::citation::Citation;
use crate::protocol::openai_responses::wire::content::{Annotation, UrlCitation};
use crate::protocol::wire::Text;

/// The annotation of the characters from `start` to `end`, if the citation is of a page of the web. The other vendor's annotations
/// know no places in documents of the request.
pub(super) fn annotation<'a>(citation: &'a Citation<'_>, start: u64, end: u64) -> Option<Annotation<'a>> {
    let (url, title) = match citation {
        Citation::WebSearchResultLocation(place) => (&place.url, &place.title),
        Citation::SearchResultLocation(place) if is_url(&place.source) => (&place.source, &place.title),
        _ => return None,
    };
    let title = title.as_ref().map_or_else(Text::default, Text::by_ref);
    Some(Annotation::UrlCitation(UrlCitation {
        url: url.by_ref(),
        title: Some(title),
        start_index: start,
        end_index: end,
    }))
}

fn is_url(source: &str) -> bool {
    source.starts_with("https://") || source.starts_with("http://")
}
