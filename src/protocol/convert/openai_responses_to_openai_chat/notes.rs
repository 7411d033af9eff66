//! Notes on a text: where it comes from, and how likely its tokens were.

use crate::protocol::openai_chat::wire::response::{
    Annotation as Target, TokenLogprob, TopLogprob, UrlCitation, UrlCitationAnnotation,
};
use crate::protocol::openai_responses::wire::content::{Annotation, LogProb};
use crate::protocol::wire::Text;

/// The note, on a text that begins after `offset` characters; `None` for files, which a Chat client does not have.
pub(super) fn annotation<'a>(annotation: &'a Annotation<'a>, offset: u64) -> Option<Target<'a>> {
    let Annotation::UrlCitation(citation) = annotation else { return None };
    Some(Target::UrlCitation(UrlCitationAnnotation {
        url_citation: UrlCitation {
            url: citation.url.by_ref(),
            title: Some(citation.title.as_ref().map_or_else(Text::default, Text::by_ref)),
            start_index: Some(citation.start_index.saturating_add(offset)),
            end_index: Some(citation.end_index.saturating_add(offset)),
            content: None,
        },
    }))
}

/// How likely the tokens of a text were.
pub(super) fn logprobs<'a>(tokens: &'a [LogProb<'a>]) -> Vec<TokenLogprob<'a>> {
    let convert = |token: &'a LogProb<'a>| TokenLogprob {
        token: token.token.by_ref(),
        logprob: token.logprob,
        bytes: bytes(token.bytes.as_ref(), &token.token),
        top_logprobs: token.top_logprobs.iter().flatten().filter_map(top).collect(),
    };
    tokens.iter().map(convert).collect()
}

fn top<'a>(top: &'a crate::protocol::openai_responses::wire::content::TopLogProb<'a>) -> Option<TopLogprob<'a>> {
    let token = top.token.as_ref()?;
    Some(TopLogprob { token: token.by_ref(), logprob: top.logprob?, bytes: bytes(top.bytes.as_ref(), token) })
}

/// Events have no bytes; those of a token that is whole characters are known.
fn bytes(bytes: Option<&Vec<u8>>, token: &str) -> Option<Vec<u8>> {
    bytes.cloned().or_else(|| (!token.contains('\u{fffd}')).then(|| token.as_bytes().to_vec()))
}
