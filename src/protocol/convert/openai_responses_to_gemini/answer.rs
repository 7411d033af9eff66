//! What whole answers and streams have in common.

use std::collections::BTreeMap;

use crate::protocol::convert::Reply;
use crate::protocol::convert::names::CUSTOM_INPUT;
use crate::protocol::gemini::wire::content::{Blob, CodeExecutionResult, ExecutableCode, Outcome, Part};
use crate::protocol::gemini::wire::proto::Count;
use crate::protocol::gemini::wire::response::{FinishReason, UsageMetadata};
use crate::protocol::openai_responses::wire::hosted::{
    CodeInterpreterCall, CodeInterpreterOutput, ImageGenerationCall,
};
use crate::protocol::openai_responses::wire::item::Item;
use crate::protocol::openai_responses::wire::response::{IncompleteReason, Response, Status, Usage};
use crate::protocol::wire::Raw;

/// A call that the client carries out.
pub(super) struct Call<'a> {
    pub(super) id: &'a str,
    /// The function at the client.
    pub(super) name: String,
    /// JSON as text, as it came.
    pub(super) arguments: String,
}

/// The call in `item`, if it is one of a function or of a custom tool.
pub(super) fn call<'a>(item: &'a Item<'a>, reply: &Reply) -> Option<Call<'a>> {
    let name = |namespace: Option<&str>, name: &str| match reply.tools.client(name) {
        Some(tool) => tool.name.clone(),
        None => namespace.map_or_else(|| name.to_owned(), |namespace| format!("{namespace}__{name}")),
    };
    match item {
        Item::FunctionCall(call) => Some(Call {
            id: &call.call_id,
            name: name(call.namespace.as_deref(), &call.name),
            arguments: (*call.arguments).to_owned(),
        }),
        Item::CustomToolCall(call) => Some(Call {
            id: &call.call_id,
            name: name(call.namespace.as_deref(), &call.name),
            arguments: Raw::of(&BTreeMap::from([(CUSTOM_INPUT, &*call.input)])).ok()?.get().to_owned(),
        }),
        _ => None,
    }
}

/// A run of Python.
pub(super) fn code<'a>(call: &'a CodeInterpreterCall<'a>) -> [Part<'a>; 2] {
    let logs = call.outputs.iter().flatten().filter_map(|output| match output {
        CodeInterpreterOutput::Logs(logs) => Some(&*logs.logs),
        CodeInterpreterOutput::Image(_) | CodeInterpreterOutput::Other(_) => None,
    });
    let output = logs.collect::<Vec<_>>().join("\n");
    let outcome = if call.status.as_deref() == Some("failed") { Outcome::Failed } else { Outcome::Ok };
    let id = call.id.as_deref();
    let code = ExecutableCode {
        id: id.map(Into::into),
        language: Some("PYTHON".into()),
        code: Some(call.code.as_deref().unwrap_or_default().into()),
    };
    let result = CodeExecutionResult { id: id.map(Into::into), outcome: Some(outcome), output: Some(output.into()) };
    [
        Part { executable_code: Some(Box::new(code)), ..Part::default() },
        Part { code_execution_result: Some(Box::new(result)), ..Part::default() },
    ]
}

/// Whether the image was made.
pub(super) fn has_image(call: &ImageGenerationCall<'_>) -> bool {
    call.result.as_deref().is_some_and(|data| !data.is_empty())
}

/// An image, if it was made.
pub(super) fn image<'a>(call: &'a ImageGenerationCall<'a>) -> Option<Part<'a>> {
    let data = call.result.as_deref().filter(|data| !data.is_empty())?;
    let media_type = format!("image/{}", call.output_format.as_deref().unwrap_or("png"));
    let blob = Blob { mime_type: Some(media_type.into()), data: Some(data.into()), display_name: None };
    Some(Part { inline_data: Some(blob), ..Part::default() })
}

/// Why the answer ended, and the same in words.
pub(super) fn finish_reason(
    response: &Response<'_>,
    has_refused: bool,
) -> (FinishReason<'static>, Option<&'static str>) {
    let reason = response.incomplete_details.as_ref().and_then(|details| details.reason.as_ref());
    match (response.status.as_ref(), reason) {
        (Some(Status::Incomplete), Some(IncompleteReason::MaxOutputTokens)) => (FinishReason::MaxTokens, None),
        (Some(Status::Incomplete), Some(IncompleteReason::ContentFilter)) => {
            (FinishReason::Safety, Some("the provider's filter stopped the answer"))
        }
        (Some(Status::Incomplete), _) => (FinishReason::Unspecific, Some("the provider stopped the answer")),
        _ if has_refused => (FinishReason::Safety, Some("the model refused")),
        _ => (FinishReason::Stop, None),
    }
}

/// The member `usageMetadata` (B38): thoughts stand beside the candidates.
pub(super) fn usage<'a>(usage: &Usage) -> UsageMetadata<'a> {
    let thoughts = usage.output_tokens_details.as_ref().map_or(0, |details| details.reasoning_tokens);
    let cached = usage.input_tokens_details.as_ref().map_or(0, |details| details.cached_tokens);
    let not_zero = |count: u64| Some(Count(count)).filter(|count| count.0 > 0);
    UsageMetadata {
        prompt_token_count: Some(Count(usage.input_tokens)),
        cached_content_token_count: not_zero(cached),
        candidates_token_count: Some(Count(usage.output_tokens.saturating_sub(thoughts))),
        thoughts_token_count: not_zero(thoughts),
        total_token_count: Some(Count(usage.input_tokens.saturating_add(usage.output_tokens))),
        ..UsageMetadata::default()
    }
}
