//! Items of what the vendor carried out by itself.

use tollgate_macros::Read;

use super::grounding;
use crate::protocol::convert::Reply;
use crate::protocol::convert::media::standard_base64;
use crate::protocol::gemini::wire::content::{Blob, CodeExecutionResult, ExecutableCode, Outcome, ToolCall};
use crate::protocol::openai_responses::ids;
use crate::protocol::openai_responses::wire::hosted::{
    CodeInterpreterCall, CodeInterpreterOutput, ImageGenerationCall, Logs, WebSearchCall,
};
use crate::protocol::openai_responses::wire::item::Item;
use crate::protocol::wire::Text;

/// A run of Python, with its result if it has come. `index` is its place in the output.
pub(super) fn code<'a>(
    code: &'a ExecutableCode<'a>,
    result: Option<&'a CodeExecutionResult<'a>>,
    reply: &Reply,
    index: usize,
) -> Item<'a> {
    let is_ok = result.is_none_or(|result| matches!(result.outcome, Some(Outcome::Ok) | None));
    let logs = |result: &'a CodeExecutionResult<'a>| {
        CodeInterpreterOutput::Logs(Logs { logs: result.output.as_deref().unwrap_or_default().into() })
    };
    Item::CodeInterpreterCall(CodeInterpreterCall {
        id: Some(ids::item("ci", reply, index).into()),
        status: Some(if is_ok { "completed" } else { "failed" }.into()),
        // Gemini's containers have no names.
        container_id: ids::item("cntr", reply, 0).into(),
        code: Some(code.code.as_deref().unwrap_or_default().into()),
        outputs: result.map(|result| vec![logs(result)]),
    })
}

/// An image that the model made; `None` for other media.
pub(super) fn image<'a>(blob: &'a Blob<'a>, reply: &Reply, index: usize) -> Option<Item<'a>> {
    let format = blob.mime_type.as_deref()?.strip_prefix("image/")?;
    Some(Item::ImageGenerationCall(ImageGenerationCall {
        id: Some(ids::item("ig", reply, index).into()),
        status: Some("completed".into()),
        result: Some(Text(standard_base64(blob.data.as_deref()?))),
        output_format: Some(format.into()),
        ..ImageGenerationCall::default()
    }))
}

/// The arguments of calls that the vendor carries out, as far as they are known.
#[derive(Default, Read)]
#[serde(default, bound(deserialize = "'de: 'a"))]
struct Arguments<'a> {
    queries: Vec<Text<'a>>,
    urls: Vec<Text<'a>>,
}

/// What a call on the web searched for and read, as items without ids; nothing for other calls.
pub(super) fn web_calls<'a>(call: &'a ToolCall<'a>) -> Vec<WebSearchCall<'a>> {
    let is_web = matches!(call.tool_type.as_deref(), Some("GOOGLE_SEARCH_WEB" | "URL_CONTEXT"));
    let arguments = call.args.as_ref().filter(|_| is_web).and_then(|args| args.read::<Arguments<'_>>().ok());
    let Arguments { queries, urls } = arguments.unwrap_or_default();
    grounding::actions(queries.into_iter(), urls.into_iter())
}
