//! What the vendor's own tools did: a call and its result, which are two blocks of Claude, as one item.

use tollgate_macros::Read;

use crate::protocol::claude::wire::content::{ContentBlock, McpToolListingBlock, McpToolResultBlock};
use crate::protocol::claude::wire::document::BasicBlock;
use crate::protocol::claude::wire::server_tools::{
    BashContent, CodeExecutionContent, CodeExecutionResult, TextEditorContent, WebFetchContent, WebSearchContent,
};
use crate::protocol::convert::Reply;
use crate::protocol::openai_responses::ids;
use crate::protocol::openai_responses::wire::hosted::{
    CodeInterpreterCall, CodeInterpreterOutput, Logs, McpCall, McpListTools, OpenPage, WebSearch, WebSearchAction,
    WebSearchCall, WebSource,
};
use crate::protocol::openai_responses::wire::item::Item;
use crate::protocol::wire::{Raw, Text, TextOr};

/// A call that waits for its result.
#[derive(Debug, Clone)]
pub(super) struct HostedCall {
    /// What the result names.
    pub(super) id: String,
    /// The tool.
    pub(super) name: String,
    /// The MCP server, where it is a tool of one.
    pub(super) server: Option<String>,
    /// JSON.
    pub(super) input: String,
}

impl HostedCall {
    /// The call that `block` begins.
    pub(super) fn of(block: &ContentBlock<'_>) -> Option<Self> {
        match block {
            ContentBlock::ServerToolUse(call) => Some(Self {
                id: call.id.to_string(),
                name: call.name.to_string(),
                server: None,
                input: call.input.get().to_owned(),
            }),
            ContentBlock::McpToolUse(call) => Some(Self {
                id: call.id.to_string(),
                name: call.name.to_string(),
                server: Some(call.server_name.to_string()),
                input: call.input.get().to_owned(),
            }),
            _ => None,
        }
    }
}

/// The call whose result `block` is.
pub(super) fn answered<'a>(block: &'a ContentBlock<'_>) -> Option<&'a str> {
    Some(match block {
        ContentBlock::WebSearchToolResult(result) => &result.tool_use_id,
        ContentBlock::WebFetchToolResult(result) => &result.tool_use_id,
        ContentBlock::CodeExecutionToolResult(result) => &result.tool_use_id,
        ContentBlock::BashCodeExecutionToolResult(result) => &result.tool_use_id,
        ContentBlock::TextEditorCodeExecutionToolResult(result) => &result.tool_use_id,
        ContentBlock::McpToolResult(result) => &result.tool_use_id,
        _ => return None,
    })
}

/// The arguments that are of interest.
#[derive(Debug, Default, Read)]
#[serde(default)]
struct Input {
    query: Option<String>,
    url: Option<String>,
    code: Option<String>,
    command: Option<String>,
}

/// The item of a call, which stands at `index` of the output, with its result if that has come; `None` for tools of which a
/// client of Responses knows nothing.
pub(super) fn item<'a>(
    call: &HostedCall,
    result: Option<&'a ContentBlock<'a>>,
    container: Option<&str>,
    reply: &Reply,
    index: usize,
) -> Option<Item<'a>> {
    let input: Input = serde_json::from_str(&call.input).unwrap_or_default();
    if let Some(server) = &call.server {
        let result = match result {
            Some(ContentBlock::McpToolResult(result)) => Some(&**result),
            _ => None,
        };
        return Some(Item::McpCall(mcp_call(call, server, result, ids::item("mcp", reply, index))));
    }
    match call.name.as_str() {
        "web_search" => Some(Item::WebSearchCall(web_search(input, result, ids::item("ws", reply, index)))),
        "web_fetch" => Some(Item::WebSearchCall(web_fetch(input, result, ids::item("ws", reply, index)))),
        "code_execution" | "bash_code_execution" | "text_editor_code_execution" => {
            let (outputs, status) = code_outputs(result);
            let code = match call.name.as_str() {
                "code_execution" => input.code,
                "bash_code_execution" => input.command,
                _ => None,
            };
            Some(Item::CodeInterpreterCall(CodeInterpreterCall {
                id: Some(ids::item("ci", reply, index).into()),
                status: Some(status.into()),
                container_id: container.unwrap_or(&call.id).to_owned().into(),
                code: Some(code.unwrap_or_else(|| call.input.clone()).into()),
                outputs: Some(outputs),
            }))
        }
        _ => None,
    }
}

fn web_search<'a>(input: Input, result: Option<&'a ContentBlock<'a>>, id: String) -> WebSearchCall<'a> {
    let (sources, status) = match result {
        Some(ContentBlock::WebSearchToolResult(result)) => match &result.content {
            WebSearchContent::Results(pages) => {
                let source =
                    |url: &'a Text<'a>| WebSource { r#type: "url".into(), url: Some(url.by_ref()), name: None };
                (Some(pages.iter().map(|page| source(&page.url)).collect()), "completed")
            }
            WebSearchContent::Error(_) => (None, "failed"),
        },
        _ => (None, "incomplete"),
    };
    let query = input.query.map(Text::from);
    let search = WebSearch { queries: query.clone().map(|query| vec![query]), query, sources };
    WebSearchCall { id: Some(id.into()), status: Some(status.into()), action: Some(WebSearchAction::Search(search)) }
}

fn web_fetch<'a>(input: Input, result: Option<&'a ContentBlock<'a>>, id: String) -> WebSearchCall<'a> {
    let status = match result {
        Some(ContentBlock::WebFetchToolResult(result)) => match &result.content {
            WebFetchContent::Result(_) => "completed",
            WebFetchContent::Error(_) | WebFetchContent::Other(_) => "failed",
        },
        _ => "incomplete",
    };
    let page = OpenPage { url: input.url.map(Text::from) };
    WebSearchCall { id: Some(id.into()), status: Some(status.into()), action: Some(WebSearchAction::OpenPage(page)) }
}

/// What code printed, and how it ended.
fn code_outputs<'a>(result: Option<&'a ContentBlock<'a>>) -> (Vec<CodeInterpreterOutput<'a>>, &'static str) {
    let logs = |logs: Text<'a>| {
        let output = (!logs.is_empty()).then_some(CodeInterpreterOutput::Logs(Logs { logs }));
        (output.into_iter().collect(), "completed")
    };
    match result {
        Some(ContentBlock::CodeExecutionToolResult(result)) => match &result.content {
            CodeExecutionContent::Result(result) => logs(printed(result)),
            CodeExecutionContent::Encrypted(result) => logs(result.stderr.by_ref()),
            CodeExecutionContent::Error(_) | CodeExecutionContent::Other(_) => (Vec::new(), "failed"),
        },
        Some(ContentBlock::BashCodeExecutionToolResult(result)) => match &result.content {
            BashContent::Result(result) => logs(printed(result)),
            BashContent::Error(_) | BashContent::Other(_) => (Vec::new(), "failed"),
        },
        Some(ContentBlock::TextEditorCodeExecutionToolResult(result)) => match &result.content {
            TextEditorContent::View(view) => logs(view.content.by_ref()),
            TextEditorContent::Create(_) | TextEditorContent::StrReplace(_) => (Vec::new(), "completed"),
            TextEditorContent::Error(_) | TextEditorContent::Other(_) => (Vec::new(), "failed"),
        },
        _ => (Vec::new(), "incomplete"),
    }
}

fn printed<'a>(result: &'a CodeExecutionResult<'a>) -> Text<'a> {
    match (result.stdout.is_empty(), result.stderr.is_empty()) {
        (_, true) => result.stdout.by_ref(),
        (true, false) => result.stderr.by_ref(),
        (false, false) => format!("{}{}", &*result.stdout, &*result.stderr).into(),
    }
}

fn mcp_call<'a>(
    call: &HostedCall,
    server: &str,
    result: Option<&'a McpToolResultBlock<'a>>,
    id: String,
) -> McpCall<'a> {
    let text = result.and_then(|result| match result.content.as_ref()? {
        TextOr::Text(text) => Some(text.by_ref()),
        TextOr::Structured(blocks) => {
            let texts = blocks.iter().filter_map(|block| match block {
                BasicBlock::Text(block) => Some(&*block.text),
                BasicBlock::Image(_) | BasicBlock::Other(_) => None,
            });
            Some(texts.collect::<Vec<_>>().join("\n").into())
        }
    });
    let failed = result.is_some_and(|result| result.is_error == Some(true));
    let error = text.as_ref().filter(|_| failed).and_then(|text| {
        let content = serde_json::json!([{"type": "text", "text": &**text}]);
        Raw::of(&serde_json::json!({"type": "mcp_tool_execution_error", "content": content})).ok()
    });
    let status = match result {
        None => "incomplete",
        Some(_) if failed => "failed",
        Some(_) => "completed",
    };
    McpCall {
        id: Some(id.into()),
        server_label: server.to_owned().into(),
        name: call.name.clone().into(),
        arguments: call.input.clone().into(),
        output: text.filter(|_| !failed),
        error,
        approval_request_id: None,
        status: Some(status.into()),
    }
}

/// The tools of a remote server.
pub(super) fn listing<'a>(listing: &'a McpToolListingBlock<'a>, reply: &Reply, index: usize) -> Option<Item<'a>> {
    Some(Item::McpListTools(McpListTools {
        id: Some(ids::item("mcpl", reply, index).into()),
        server_label: listing.mcp_server_name.by_ref(),
        tools: listing.tools.read().ok()?,
        error: None,
    }))
}
