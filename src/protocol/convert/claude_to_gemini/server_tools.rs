//! What Claude's vendor did itself, for a client of Gemini.

use tollgate_macros::Read;

use crate::protocol::claude::wire::content::ContentBlock;
use crate::protocol::claude::wire::server_tools::{
    BashContent, CodeExecutionContent, CodeExecutionResult, WebFetchContent, WebSearchContent,
};
use crate::protocol::gemini::wire::content::{CodeExecutionResult as TargetResult, ExecutableCode, Outcome, Part};
use crate::protocol::gemini::wire::grounding::UrlMetadata;
use crate::protocol::wire::Text;

use super::grounding::Grounding;

/// What became of a block.
pub(super) enum Shown {
    /// It is this part.
    Part(Box<Part<'static>>),
    /// It is told beside the parts: what was searched for, found, read.
    Beside,
    /// There is nothing like it.
    Nothing,
}

/// What is told beside the parts.
#[derive(Default)]
pub(super) struct Beside {
    pub(super) grounding: Grounding,
    pub(super) urls: Vec<UrlMetadata<'static>>,
}

/// A call that the vendor carried out; `input` is JSON.
pub(super) fn call(name: &str, id: &str, input: &str, beside: &mut Beside) -> Shown {
    #[derive(Read, Default)]
    struct Input<'a> {
        #[serde(borrow)]
        code: Option<Text<'a>>,
        #[serde(borrow)]
        command: Option<Text<'a>>,
        #[serde(borrow)]
        query: Option<Text<'a>>,
    }
    let input: Input<'_> = serde_json::from_str(input).unwrap_or_default();
    let code = |code: String| {
        let code = ExecutableCode { id: Some(own(id)), language: Some("PYTHON".into()), code: Some(code.into()) };
        part(Part { executable_code: Some(Box::new(code)), ..Part::default() })
    };
    match (name, input) {
        ("code_execution", Input { code: Some(text), .. }) => code(text.into_owned()),
        // There is no language but Python, whose notebooks write a command of the shell like this.
        ("bash_code_execution", Input { command: Some(text), .. }) => code(format!("!{}", &*text)),
        ("web_search", Input { query: Some(query), .. }) => {
            beside.grounding.query(query.into_owned());
            Shown::Beside
        }
        ("web_search" | "web_fetch", _) => Shown::Beside,
        _ => Shown::Nothing,
    }
}

/// What such a call gave.
pub(super) fn result(block: &ContentBlock<'_>, beside: &mut Beside) -> Shown {
    match block {
        ContentBlock::CodeExecutionToolResult(block) => match &block.content {
            CodeExecutionContent::Result(result) => ran(&block.tool_use_id, result),
            CodeExecutionContent::Encrypted(result) => {
                outcome(&block.tool_use_id, result.return_code == 0, result.stderr.to_string())
            }
            CodeExecutionContent::Error(error) => failed(&block.tool_use_id, &error.error_code),
            CodeExecutionContent::Other(_) => Shown::Nothing,
        },
        ContentBlock::BashCodeExecutionToolResult(block) => match &block.content {
            BashContent::Result(result) => ran(&block.tool_use_id, result),
            BashContent::Error(error) => failed(&block.tool_use_id, &error.error_code),
            BashContent::Other(_) => Shown::Nothing,
        },
        ContentBlock::WebSearchToolResult(block) => match &block.content {
            WebSearchContent::Results(pages) => {
                for page in pages {
                    beside.grounding.page(&page.url, Some(&page.title));
                }
                Shown::Beside
            }
            WebSearchContent::Error(_) => Shown::Nothing,
        },
        ContentBlock::WebFetchToolResult(block) => match &block.content {
            WebFetchContent::Result(page) => {
                beside.urls.push(UrlMetadata {
                    retrieved_url: Some(own(&page.url)),
                    url_retrieval_status: Some("URL_RETRIEVAL_STATUS_SUCCESS".into()),
                });
                Shown::Beside
            }
            WebFetchContent::Error(_) | WebFetchContent::Other(_) => Shown::Nothing,
        },
        _ => Shown::Nothing,
    }
}

fn ran(id: &str, result: &CodeExecutionResult<'_>) -> Shown {
    outcome(id, result.return_code == 0, format!("{}{}", &*result.stdout, &*result.stderr))
}

fn outcome(id: &str, is_ok: bool, output: String) -> Shown {
    code_result(id, if is_ok { Outcome::Ok } else { Outcome::Failed }, output)
}

fn failed(id: &str, code: &str) -> Shown {
    let outcome = if code == "execution_time_exceeded" { Outcome::DeadlineExceeded } else { Outcome::Failed };
    code_result(id, outcome, code.to_owned())
}

fn code_result(id: &str, outcome: Outcome<'static>, output: String) -> Shown {
    let result = TargetResult { id: Some(own(id)), outcome: Some(outcome), output: Some(output.into()) };
    part(Part { code_execution_result: Some(Box::new(result)), ..Part::default() })
}

fn part(part: Part<'static>) -> Shown {
    Shown::Part(Box::new(part))
}

fn own(text: &str) -> Text<'static> {
    text.to_owned().into()
}
