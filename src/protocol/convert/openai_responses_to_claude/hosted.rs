//! What the vendor's own tools did: one item, which is a call and its result at Claude.

use serde_json::json;

use crate::protocol::claude::wire::content::{
    ContentBlock, McpToolListingBlock, McpToolResultBlock, McpToolUseBlock, ToolUseBlock,
};
use crate::protocol::claude::wire::server_tools::{
    CodeExecutionContent, CodeExecutionResult, ServerToolResult, ToolError, WebSearchContent, WebSearchError,
    WebSearchResult,
};
use crate::protocol::convert::names::{Charset, made_up_call_id};
use crate::protocol::openai_responses::wire::hosted::{
    CodeInterpreterCall, CodeInterpreterOutput, McpCall, WebSearchAction, WebSearchCall,
};
use crate::protocol::openai_responses::wire::item::Item;
use crate::protocol::wire::{Raw, Text, TextOr};

/// The blocks of an item that a tool of the vendor has left, which stands at `index` of the answer `answer`; `None` for those
/// of which a client of Claude knows nothing.
pub(super) fn blocks<'a>(item: &'a Item<'a>, answer: &str, index: usize) -> Option<Vec<ContentBlock<'a>>> {
    let blocks = match item {
        Item::WebSearchCall(call) => web_search(call, answer, index)?,
        Item::CodeInterpreterCall(call) => code_execution(call, answer, index)?,
        Item::McpCall(call) => mcp_call(call, answer, index)?,
        Item::McpListTools(listing) => vec![ContentBlock::McpToolListing(McpToolListingBlock {
            mcp_server_name: listing.server_label.by_ref(),
            tools: Raw::of(&listing.tools).ok()?,
        })],
        _ => return None,
    };
    Some(blocks)
}

/// The id of such a call, which begins as Claude's do.
fn id<'a>(prefix: &str, own: Option<&Text<'_>>, answer: &str, index: usize) -> Text<'a> {
    let own = own.map_or_else(|| made_up_call_id(answer, index), |own| Charset::CLAUDE.fit(own).into_owned());
    format!("{prefix}_{own}").into()
}

fn server_tool_use<'a>(id: &Text<'a>, name: &'static str, input: &serde_json::Value) -> Option<ContentBlock<'a>> {
    Some(ContentBlock::ServerToolUse(Box::new(ToolUseBlock {
        id: id.clone(),
        name: name.into(),
        input: Raw::of(input).ok()?,
        caller: None,
        toolset_name: None,
        cache_control: None,
    })))
}

/// Searches only: Claude has nothing like a look at a page without its content.
fn web_search<'a>(call: &'a WebSearchCall<'a>, answer: &str, index: usize) -> Option<Vec<ContentBlock<'a>>> {
    let Some(WebSearchAction::Search(search)) = &call.action else { return None };
    let queries = search.queries.as_ref().and_then(|queries| queries.first());
    let query = search.query.as_deref().or(queries.map(|query| &**query)).unwrap_or_default();
    let id = id("srvtoolu", call.id.as_ref(), answer, index);
    let content = match call.status.as_deref() {
        Some("failed") => WebSearchContent::Error(WebSearchError {
            kind: "web_search_tool_result_error".into(),
            error_code: "unavailable".into(),
        }),
        _ => {
            let pages = search.sources.iter().flatten().filter_map(|source| source.url.as_ref());
            WebSearchContent::Results(pages.map(page).collect())
        }
    };
    let result = ServerToolResult { tool_use_id: id.clone(), content, caller: None, cache_control: None };
    Some(vec![
        server_tool_use(&id, "web_search", &json!({"query": query}))?,
        ContentBlock::WebSearchToolResult(Box::new(result)),
    ])
}

fn page<'a>(url: &'a Text<'a>) -> WebSearchResult<'a> {
    WebSearchResult {
        kind: "web_search_result".into(),
        url: url.by_ref(),
        title: url.by_ref(),
        encrypted_content: Text::default(),
        page_age: None,
    }
}

fn code_execution<'a>(call: &'a CodeInterpreterCall<'a>, answer: &str, index: usize) -> Option<Vec<ContentBlock<'a>>> {
    let id = id("srvtoolu", call.id.as_ref(), answer, index);
    let content = match call.status.as_deref() {
        Some("failed") => {
            CodeExecutionContent::Error(ToolError { error_code: "unavailable".into(), error_message: None })
        }
        _ => {
            let logs = call.outputs.iter().flatten().filter_map(|output| match output {
                CodeInterpreterOutput::Logs(output) => Some(&*output.logs),
                CodeInterpreterOutput::Image(_) | CodeInterpreterOutput::Other(_) => None,
            });
            CodeExecutionContent::Result(CodeExecutionResult {
                stdout: logs.collect::<String>().into(),
                stderr: Text::default(),
                return_code: 0,
                content: Vec::new(),
            })
        }
    };
    let code = call.code.as_deref().unwrap_or_default();
    let result = ServerToolResult { tool_use_id: id.clone(), content, caller: None, cache_control: None };
    Some(vec![
        server_tool_use(&id, "code_execution", &json!({"code": code}))?,
        ContentBlock::CodeExecutionToolResult(Box::new(result)),
    ])
}

fn mcp_call<'a>(call: &'a McpCall<'a>, answer: &str, index: usize) -> Option<Vec<ContentBlock<'a>>> {
    let id = id("mcptoolu", call.id.as_ref(), answer, index);
    let use_block = McpToolUseBlock {
        id: id.clone(),
        name: call.name.by_ref(),
        server_name: call.server_label.by_ref(),
        input: super::answer::input(&call.arguments)?,
        cache_control: None,
    };
    let (content, is_error) = match &call.error {
        Some(error) => (Some(error.get().to_owned().into()), true),
        None => (call.output.as_ref().map(Text::by_ref), false),
    };
    let result = McpToolResultBlock {
        tool_use_id: id,
        is_error: Some(is_error),
        content: Some(TextOr::Text(content.unwrap_or_default())),
        cache_control: None,
    };
    Some(vec![ContentBlock::McpToolUse(Box::new(use_block)), ContentBlock::McpToolResult(Box::new(result))])
}
