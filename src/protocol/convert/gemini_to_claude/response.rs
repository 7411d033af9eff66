//! A Gemini upstream's answer for a Claude Messages client.

use crate::protocol::claude::wire::content::{ContentBlock, TextBlock, ThinkingBlock};
use crate::protocol::claude::wire::request::Role;
use crate::protocol::claude::wire::response::{Message as Target, StopReason};
use crate::protocol::claude::wire::usage::{ServerToolUsage, Usage};
use crate::protocol::convert::{ConvertError, Losses, Reply};
use crate::protocol::gemini::wire::response::{Candidate, GenerateContentResponse};
use crate::protocol::wire::Text;

use super::citations::{self, Cited};
use super::ending::{self, Ending};
use super::lost;
use super::pieces::{Piece, Pieces};

/// Converts `response`.
pub fn convert<'a>(
    response: &'a GenerateContentResponse<'a>,
    reply: &'a Reply,
    losses: &mut Losses,
) -> Result<Target<'a>, ConvertError> {
    let candidate = ending::first(&response.candidates);
    lost::candidates(&response.candidates, losses);
    let ending = match candidate {
        Some(candidate) => candidate
            .finish_reason
            .as_ref()
            .map(|reason| ending::of_candidate(reason, candidate.finish_message.as_deref())),
        None => {
            let blocked = ending::of_prompt(response.prompt_feedback.as_ref());
            Some(blocked.ok_or_else(|| ConvertError::Unreadable("it has neither an answer nor a reason".to_owned()))?)
        }
    };
    let (reason, stop_details) = match ending {
        None => (StopReason::EndTurn, None),
        Some(Ending::Stop(reason, details)) => (reason, details),
        Some(Ending::Failure(fault)) => return Err(ConvertError::Failed(fault)),
    };
    let content = candidate.map(|candidate| content(candidate, reply, losses)).unwrap_or_default();
    let has_calls = content.iter().any(|block| matches!(block, ContentBlock::ToolUse(_)));
    let stop_reason = if has_calls && reason == StopReason::EndTurn { StopReason::ToolUse } else { reason };
    Ok(Target {
        id: ending::message_id(response.response_id.as_ref(), &reply.id).into(),
        kind: "message".into(),
        role: Role::Assistant,
        model: response.model_version.as_ref().map_or_else(|| reply.model.as_str().into(), Text::by_ref),
        content,
        stop_reason: Some(stop_reason),
        stop_sequence: None,
        stop_details,
        container: None,
        diagnostics: None,
        usage: Some(usage(response, candidate)),
        context_management: None,
        input_transformations: None,
    })
}

fn usage<'a>(response: &GenerateContentResponse<'_>, candidate: Option<&Candidate<'_>>) -> Usage<'a> {
    let mut usage = response.usage_metadata.as_ref().map(ending::usage).unwrap_or_else(|| Usage {
        input_tokens: Some(0),
        output_tokens: Some(0),
        ..Usage::default()
    });
    usage.server_tool_use = candidate.and_then(server_tool_usage);
    usage
}

/// How often the vendor searched and read.
pub(super) fn server_tool_usage(candidate: &Candidate<'_>) -> Option<ServerToolUsage> {
    let searches = candidate.grounding_metadata.as_ref().map_or(0, |grounding| grounding.web_search_queries.len());
    let fetches = candidate.url_context_metadata.as_ref().map_or(0, |urls| urls.url_metadata.len());
    (searches + fetches > 0).then_some(ServerToolUsage {
        web_search_requests: Some(searches as u64),
        web_fetch_requests: Some(fetches as u64),
    })
}

fn content<'a>(candidate: &'a Candidate<'a>, reply: &'a Reply, losses: &mut Losses) -> Vec<ContentBlock<'a>> {
    lost::members(candidate, losses);
    let mut pieces = Pieces::default();
    let mut answer = Answer::default();
    let parts = candidate.content.iter().flat_map(|content| &content.parts);
    for (index, part) in parts.enumerate() {
        lost::part(part, index, losses);
        for piece in pieces.of(part, reply) {
            answer.add(index, piece);
        }
    }
    let grounding = candidate.grounding_metadata.as_deref();
    answer.cite(citations::cited(grounding, candidate.citation_metadata.as_deref()));
    if let Some(grounding) = grounding {
        answer.insert_searches(citations::searches(grounding, &mut pieces, reply));
    }
    answer.blocks
}

/// The blocks so far.
#[derive(Default)]
struct Answer<'a> {
    blocks: Vec<ContentBlock<'a>>,
    /// For each part with text: its place, that of its block, and the bytes of the block before it.
    texts: Vec<(usize, usize, usize)>,
    /// Whether thinking may be added to the last block.
    is_thinking: bool,
}

impl<'a> Answer<'a> {
    fn add(&mut self, part: usize, piece: Piece<'a>) {
        let continues_thinking = std::mem::take(&mut self.is_thinking);
        match piece {
            Piece::Thinking(text) => {
                self.is_thinking = true;
                match self.blocks.last_mut() {
                    Some(ContentBlock::Thinking(block)) if continues_thinking => {
                        block.thinking.0.to_mut().push_str(text);
                    }
                    _ => self.blocks.push(thinking(text.into(), "".into())),
                }
            }
            Piece::Signature(signature) => match self.blocks.last_mut() {
                Some(ContentBlock::Thinking(block)) if continues_thinking => block.signature = Some(signature.into()),
                _ => self.blocks.push(thinking("".into(), signature.into())),
            },
            Piece::Text(text) => {
                let bytes = match self.blocks.last_mut() {
                    Some(ContentBlock::Text(block)) => {
                        let bytes = block.text.len();
                        block.text.0.to_mut().push_str(&text);
                        bytes
                    }
                    _ => {
                        self.blocks.push(ContentBlock::Text(TextBlock { text, citations: None, cache_control: None }));
                        0
                    }
                };
                self.texts.push((part, self.blocks.len().saturating_sub(1), bytes));
            }
            Piece::Call(call) => self.blocks.push(ContentBlock::ToolUse(call)),
            Piece::Block(block) => self.blocks.push(*block),
        }
    }

    /// Puts citations into the texts that they support.
    fn cite(&mut self, cited: Vec<Cited>) {
        let mut of_blocks: Vec<(usize, Vec<Cited>)> = Vec::new();
        for mut cited in cited {
            // Without a place the first text is meant, or the text as a whole, of which there mostly is one.
            let found = match cited.part {
                Some(place) => self.texts.iter().find(|(part, ..)| *part == place),
                None => self.texts.first(),
            };
            let Some((_, block, bytes)) = found.copied() else { continue };
            cited.start = cited.start.saturating_add(bytes);
            cited.end = cited.end.saturating_add(bytes);
            match of_blocks.iter_mut().find(|(of, _)| *of == block) {
                Some((_, list)) => list.push(cited),
                None => of_blocks.push((block, vec![cited])),
            }
        }
        // From the last to the first, so that places stay true.
        of_blocks.sort_by_key(|(block, _)| std::cmp::Reverse(*block));
        for (block, mut cited) in of_blocks {
            cited.sort_by_key(|cited| cited.start);
            let Some(ContentBlock::Text(text)) = self.blocks.get(block) else { continue };
            let split = citations::split(&text.text, cited);
            self.blocks.splice(block..=block, split);
        }
    }

    /// Searches come before the text that is drawn from them.
    fn insert_searches(&mut self, searches: Vec<ContentBlock<'a>>) {
        let is_text = |block: &ContentBlock<'_>| matches!(block, ContentBlock::Text(_));
        let place = self.blocks.iter().position(is_text).unwrap_or(self.blocks.len());
        self.blocks.splice(place..place, searches);
    }
}

fn thinking<'a>(text: Text<'a>, signature: Text<'a>) -> ContentBlock<'a> {
    ContentBlock::Thinking(ThinkingBlock { thinking: text, signature: Some(signature) })
}
