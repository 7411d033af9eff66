//! What an answer repeats of its request, with the vendor's defaults for what the request leaves open.
//!
//! <https://developers.openai.com/api/reference/resources/responses/methods/create>, `Response` of openai (Python) 3.57.0, which
//! requires `parallel_tool_calls`, `tool_choice` and `tools`.

use serde::Serialize;
use tollgate_macros::Read;

use super::wire::request::{Effort, Reasoning, Request, TextFormat, TextOptions};
use super::wire::response::Response;
use super::wire::tools::{McpTool, Tool};
use crate::protocol::convert::Reply;
use crate::protocol::wire::{Raw, Text};

/// What is repeated of a request that says nothing.
const PLAIN: &str = concat!(
    r#"{"background":false,"instructions":null,"max_output_tokens":null,"max_tool_calls":null,"parallel_tool_calls":true,"#,
    r#""previous_response_id":null,"prompt_cache_key":null,"reasoning":{"effort":null,"summary":null},"#,
    r#""safety_identifier":null,"service_tier":"default","store":false,"temperature":1.0,"#,
    r#""text":{"format":{"type":"text"},"verbosity":"medium"},"tool_choice":"auto","tools":[],"top_logprobs":0,"top_p":1.0,"#,
    r#""truncation":"disabled","user":null,"metadata":{}}"#,
);

/// What an answer repeats.
#[derive(Debug, Serialize, Read)]
struct Echo<'a> {
    background: bool,
    #[serde(borrow)]
    instructions: Option<Text<'a>>,
    max_output_tokens: Option<u64>,
    max_tool_calls: Option<u64>,
    parallel_tool_calls: bool,
    #[serde(borrow)]
    previous_response_id: Option<Text<'a>>,
    #[serde(borrow)]
    prompt_cache_key: Option<Text<'a>>,
    #[serde(borrow)]
    reasoning: EchoedReasoning<'a>,
    #[serde(borrow)]
    safety_identifier: Option<Text<'a>>,
    #[serde(borrow)]
    service_tier: Text<'a>,
    store: bool,
    temperature: f64,
    #[serde(borrow)]
    text: Raw<'a>,
    #[serde(borrow)]
    tool_choice: Raw<'a>,
    #[serde(borrow)]
    tools: Raw<'a>,
    top_logprobs: u64,
    top_p: f64,
    #[serde(borrow)]
    truncation: Text<'a>,
    #[serde(borrow)]
    user: Option<Text<'a>>,
    #[serde(borrow)]
    metadata: Raw<'a>,
}

/// How the model reasons; null is its default.
#[derive(Debug, Serialize, Read)]
struct EchoedReasoning<'a> {
    #[serde(borrow)]
    effort: Option<Effort<'a>>,
    #[serde(borrow)]
    summary: Option<Text<'a>>,
}

/// What the answers to `request` repeat of it: a JSON object.
///
/// `store` and `background` are false, whatever was asked for: an upstream of another dialect keeps no answers.
pub fn echo(request: &Request<'_>) -> String {
    written(request).unwrap_or_else(|_| PLAIN.to_owned())
}

fn written<'a>(request: &'a Request<'a>) -> Result<String, serde_json::Error> {
    let text = |text: &'a Option<Text<'a>>| text.as_ref().map(Text::by_ref);
    let echo = Echo {
        background: false,
        instructions: text(&request.instructions),
        max_output_tokens: request.max_output_tokens.and_then(|tokens| u64::try_from(tokens).ok()),
        max_tool_calls: request.max_tool_calls,
        parallel_tool_calls: request.parallel_tool_calls.unwrap_or(true),
        previous_response_id: text(&request.previous_response_id),
        prompt_cache_key: text(&request.prompt_cache_key),
        reasoning: EchoedReasoning {
            effort: request.reasoning.as_ref().and_then(|reasoning| reasoning.effort.clone()),
            summary: request.reasoning.as_ref().and_then(|reasoning| reasoning.summary.clone()),
        },
        safety_identifier: text(&request.safety_identifier),
        service_tier: service_tier(request.service_tier.as_deref()).into(),
        store: false,
        temperature: request.temperature.unwrap_or(1.0),
        text: text_options(request.text.clone().unwrap_or_default())?,
        tool_choice: request.tool_choice.as_ref().map_or_else(|| Raw::of(&"auto"), Raw::of)?,
        tools: Raw::of(&tools(request.tools.as_deref().unwrap_or_default()))?,
        top_logprobs: request.top_logprobs.unwrap_or(0),
        top_p: request.top_p.unwrap_or(1.0),
        truncation: request.truncation.as_deref().unwrap_or("disabled").into(),
        user: text(&request.user),
        metadata: request.metadata.as_ref().map_or_else(|| Raw::parse("{}"), |metadata| Ok(metadata.by_ref()))?,
    };
    // It stands in events, whose data has one line; within strings line ends are escaped.
    serde_json::to_string(&echo).map(|echo| echo.replace(['\n', '\r'], " "))
}

/// The tier that is used: `auto` is none.
fn service_tier(asked: Option<&str>) -> &str {
    asked.filter(|tier| *tier != "auto").unwrap_or("default")
}

fn text_options<'a>(mut options: TextOptions<'_>) -> Result<Raw<'a>, serde_json::Error> {
    options.format.get_or_insert(TextFormat::Text(Default::default()));
    options.verbosity.get_or_insert("medium".into());
    Raw::of(&options)
}

/// The tools, without what opens the door of an MCP server.
fn tools<'a>(tools: &'a [Tool<'a>]) -> Vec<Tool<'a>> {
    let shown = |tool: &'a Tool<'a>| match tool {
        Tool::Mcp(tool) => Tool::Mcp(McpTool { authorization: None, headers: None, ..tool.clone() }),
        tool => tool.clone(),
    };
    tools.iter().map(shown).collect()
}

/// What the request behind `reply` left to be repeated: a JSON object.
pub(super) fn of(reply: &Reply) -> &str {
    if reply.echo.is_empty() { PLAIN } else { &reply.echo }
}

/// The answer to the request that left `reply` behind, with all that is known before it is made.
pub fn response(reply: &Reply) -> Response<'_> {
    let Ok(echo) = serde_json::from_str::<Echo<'_>>(of(reply)) else { return Response::default() };
    Response {
        id: super::ids::response(reply).into(),
        object: Some("response".into()),
        created_at: Some(reply.created),
        model: Some(Text::from(&*reply.model)),
        background: Some(echo.background),
        instructions: echo.instructions.and_then(|instructions| Raw::of(&instructions).ok()),
        max_output_tokens: echo.max_output_tokens,
        max_tool_calls: echo.max_tool_calls,
        parallel_tool_calls: Some(echo.parallel_tool_calls),
        previous_response_id: echo.previous_response_id,
        prompt_cache_key: echo.prompt_cache_key,
        reasoning: Some(Reasoning {
            effort: echo.reasoning.effort,
            summary: echo.reasoning.summary,
            ..Reasoning::default()
        }),
        safety_identifier: echo.safety_identifier,
        service_tier: Some(echo.service_tier),
        store: Some(echo.store),
        temperature: Some(echo.temperature),
        text: Some(echo.text),
        tool_choice: Some(echo.tool_choice),
        tools: Some(echo.tools),
        top_logprobs: Some(echo.top_logprobs),
        top_p: Some(echo.top_p),
        truncation: Some(echo.truncation),
        user: echo.user,
        metadata: Some(echo.metadata),
        ..Response::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_that_says_nothing_leaves_the_defaults() {
        assert_eq!(echo(&Request::default()), PLAIN);
    }

    #[test]
    fn what_was_asked_for_is_repeated_without_secrets() {
        let request = r#"{"model":"m","instructions":"Be \"brief\".","temperature":0.5,"store":true,"tool_choice":"required",
            "text":{"format":{"type":"json_object"}},"reasoning":{"effort":"high"},"metadata":{"a":"b"},"service_tier":"auto",
            "tools":[{"type":"mcp","server_label":"s","server_url":"https://s.example","authorization":"secret",
                "headers":{"x":"secret"}},{"type":"function","name":"ls","parameters":{"type":"object",
                "x":1.50}}]}"#;
        let reply = Reply { echo: echo(&serde_json::from_str(request).unwrap()), ..Reply::default() };
        assert!(!reply.echo.contains("secret") && !reply.echo.contains('\n'), "{}", reply.echo);
        let response = response(&reply);
        assert_eq!(response.instructions.unwrap().get(), r#""Be \"brief\".""#);
        assert_eq!(response.reasoning.unwrap().effort.unwrap().as_str(), "high");
        assert_eq!(response.text.unwrap().get(), r#"{"format":{"type":"json_object"},"verbosity":"medium"}"#);
        assert_eq!((response.temperature, response.store), (Some(0.5), Some(false)));
        assert!(response.tools.unwrap().get().contains("1.50"));
        assert_eq!(response.tool_choice.unwrap().get(), "\"required\"");
        assert_eq!(response.metadata.unwrap().get(), r#"{"a":"b"}"#);
    }
}
