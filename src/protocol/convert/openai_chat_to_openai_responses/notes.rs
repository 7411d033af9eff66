//! Notes on a text: where it comes from, and how likely its tokens were.

use crate::protocol::openai_chat::wire::response::{Annotation, TokenLogprob};
use crate::protocol::openai_responses::wire::content::{Annotation as Target, LogProb, TopLogProb, UrlCitation};
use crate::protocol::wire::Text;

/// The note; `None` for kinds that Responses does not have.
pub(super) fn annotation<'a>(annotation: &'a Annotation<'a>) -> Option<Target<'a>> {
    let Annotation::UrlCitation(note) = annotation else { return None };
    let citation = &note.url_citation;
    let start_index = citation.start_index.unwrap_or(0);
    Some(Target::UrlCitation(UrlCitation {
        url: citation.url.by_ref(),
        title: Some(citation.title.as_ref().map_or_else(Text::default, Text::by_ref)),
        start_index,
        end_index: citation.end_index.unwrap_or(start_index),
    }))
}

/// How likely the tokens of a text were.
pub(super) fn logprobs<'a>(tokens: &'a [TokenLogprob<'a>]) -> Vec<LogProb<'a>> {
    let convert = |token: &'a TokenLogprob<'a>| LogProb {
        token: token.token.by_ref(),
        bytes: Some(bytes(token.bytes.as_deref(), &token.token)),
        logprob: token.logprob,
        top_logprobs: Some(
            token
                .top_logprobs
                .iter()
                .map(|top| TopLogProb {
                    token: Some(top.token.by_ref()),
                    bytes: Some(bytes(top.bytes.as_deref(), &top.token)),
                    logprob: Some(top.logprob),
                })
                .collect(),
        ),
    };
    tokens.iter().map(convert).collect()
}

/// The bytes are required in Responses.
fn bytes(bytes: Option<&[u8]>, token: &str) -> Vec<u8> {
    bytes.unwrap_or(token.as_bytes()).to_vec()
}
