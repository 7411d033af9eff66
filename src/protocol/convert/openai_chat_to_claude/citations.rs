//! Notes on the text: pages that it comes from.

use super::lost;
use crate::protocol::claude::wire::citation::{Citation, WebSearchResultLocation};
use crate::protocol::claude::wire::content::{ContentBlock, TextBlock};
use crate::protocol::convert::Losses;
use crate::protocol::convert::seal::{Family, seal};
use crate::protocol::openai_chat::wire::response::{Annotation, UrlCitation};
use crate::protocol::wire::Text;

/// A page. What Claude seals into its own citations nobody else can give; the mark tells that it is none of Claude's.
pub fn citation<'a>(citation: &'a UrlCitation<'a>) -> Citation<'a> {
    Citation::WebSearchResultLocation(WebSearchResultLocation {
        cited_text: citation.content.as_ref().map(Text::by_ref).unwrap_or_default(),
        url: citation.url.by_ref(),
        title: citation.title.as_ref().map(Text::by_ref),
        encrypted_index: seal(Family::OpenAi, "").into(),
    })
}

/// A text with its notes. Claude's notes hold for a whole block: the text is cut where a note begins and ends.
pub fn cited<'a>(text: &'a str, annotations: &'a [Annotation<'a>], losses: &mut Losses) -> Vec<ContentBlock<'a>> {
    let pages: Vec<&UrlCitation<'_>> = annotations
        .iter()
        .filter_map(|annotation| match annotation {
            Annotation::UrlCitation(annotation) => Some(&annotation.url_citation),
            Annotation::Other(_) => None,
        })
        .collect();
    if pages.len() < annotations.len() {
        lost::annotations(losses);
    }
    if text.is_empty() {
        return Vec::new();
    }
    pieces(text, &pages)
        .unwrap_or_else(|| vec![(text, pages)])
        .into_iter()
        .map(|(text, pages)| {
            let citations: Vec<_> = pages.into_iter().map(citation).collect();
            let citations = (!citations.is_empty()).then_some(citations);
            ContentBlock::Text(TextBlock { text: text.into(), citations, cache_control: None })
        })
        .collect()
}

type Cited<'a> = (&'a str, Vec<&'a UrlCitation<'a>>);

/// The text in pieces, each with its pages; `None` if the places do not lie in the text one after another.
fn pieces<'a>(text: &'a str, pages: &[&'a UrlCitation<'a>]) -> Option<Vec<Cited<'a>>> {
    let mut pieces: Vec<Cited<'a>> = Vec::new();
    let (mut rest, mut position) = (text, 0);
    let mut last = (0, 0);
    for page in pages {
        let (start, end) = (page.start_index?, page.end_index?);
        if (start, end) == last && end > 0 {
            pieces.last_mut()?.1.push(page);
            continue;
        }
        if start < position || end <= start {
            return None;
        }
        let (before, after) = split_at_character(rest, start - position)?;
        let (cited, after) = split_at_character(after, end - start)?;
        if !before.is_empty() {
            pieces.push((before, Vec::new()));
        }
        pieces.push((cited, vec![page]));
        (rest, position, last) = (after, end, (start, end));
    }
    if !rest.is_empty() {
        pieces.push((rest, Vec::new()));
    }
    Some(pieces)
}

fn split_at_character(text: &str, count: u64) -> Option<(&str, &str)> {
    let count = usize::try_from(count).ok()?;
    let end = text.char_indices().map(|(at, _)| at).chain([text.len()]).nth(count)?;
    text.split_at_checked(end)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(annotations: &str) -> String {
        let annotations: Vec<Annotation<'_>> = serde_json::from_str(annotations).unwrap();
        let blocks = cited("Süß (a). Ende", &annotations, &mut Losses::default());
        let texts: Vec<_> = blocks
            .iter()
            .map(|block| match block {
                ContentBlock::Text(block) => {
                    format!("{}/{}", &*block.text, block.citations.as_ref().map_or(0, Vec::len))
                }
                _ => String::new(),
            })
            .collect();
        texts.join("|")
    }

    #[test]
    fn a_text_is_cut_where_its_notes_are() {
        let note = |start: u64, end: u64| {
            format!(r#"{{"type":"url_citation","url_citation":{{"url":"u","start_index":{start},"end_index":{end}}}}}"#)
        };
        assert_eq!(check("[]"), "Süß (a). Ende/0");
        assert_eq!(check(&format!("[{},{}]", note(4, 7), note(4, 7))), "Süß /0|(a)/2|. Ende/0");
        assert_eq!(check(&format!("[{}]", note(0, 13))), "Süß (a). Ende/1");
        for odd in [note(4, 99), note(5, 4)] {
            assert_eq!(check(&format!("[{odd}]")), "Süß (a). Ende/1", "{odd}");
        }
        assert_eq!(check(&format!("[{},{}]", note(4, 7), note(0, 3))), "Süß (a). Ende/2");
    }
}
