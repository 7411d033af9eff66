//! Writes a whole answer as the stream that a client with `stream` would have got.

use std::rc::Rc;

use super::fault::of_member;
use super::stream_writer::StreamWriter;
use super::wire::content::Content;
use super::wire::message::{FunctionCall, ToolCall};
use super::wire::response::{Choice, Response};
use super::wire::stream::{AudioDelta, Delta, FunctionCallDelta};
use crate::protocol::convert::{Reply, read};
use crate::protocol::wire::Text;

/// Appends the events of the answer `body` to `out`, with its usage if the client asked for it.
///
/// Fails, and appends nothing, if `body` is no answer.
pub fn unfold(body: &str, include_usage: bool, out: &mut Vec<u8>) -> Result<(), serde_json::Error> {
    let response: Response<'_> = read(body)?;
    let mut writer = StreamWriter::new(Rc::new(Reply { include_usage, ..Reply::default() }));
    if let Some(error) = &response.error {
        writer.fault(&of_member(error), out);
        return Ok(());
    }
    writer.start_as(&response.id, response.created, Some(&response.model), &members(&response)?, out);
    for choice in &response.choices {
        self::choice(choice, &mut writer, out);
    }
    if let Some(verdicts) = &response.moderation {
        writer.moderation(verdicts, out);
    }
    if let Some(usage) = response.usage {
        writer.usage(usage);
    }
    writer.finish(out);
    Ok(())
}

/// What each chunk repeats.
fn members(response: &Response<'_>) -> Result<String, serde_json::Error> {
    let mut members = String::new();
    for (name, value) in
        [("service_tier", &response.service_tier), ("system_fingerprint", &response.system_fingerprint)]
    {
        if let Some(value) = value {
            members.push_str(&format!("\"{name}\":{},", serde_json::to_string(value)?));
        }
    }
    Ok(members)
}

fn choice(choice: &Choice<'_>, writer: &mut StreamWriter, out: &mut Vec<u8>) {
    let message = &choice.message;
    let at = choice.index;
    writer.reasoning(at, message.reasoning_content.as_deref().unwrap_or_default(), out);
    let reasoning = Delta {
        reasoning: message.reasoning.as_ref().map(Text::by_ref),
        reasoning_details: message.reasoning_details.clone(),
        thinking_blocks: message.thinking_blocks.clone(),
        ..Delta::default()
    };
    delta(at, &reasoning, writer, out);
    match (&message.content, &choice.logprobs) {
        (None, None) => {}
        (Some(Content::Text(text)), None) => writer.text(at, text, out),
        (content, logprobs) => {
            let content = Delta { content: content.clone(), ..Delta::default() };
            writer.delta_with_logprobs(at, &content, logprobs.as_ref(), out);
        }
    }
    writer.refusal(at, message.refusal.as_deref().unwrap_or_default(), out);
    message.annotations.iter().flatten().for_each(|annotation| writer.annotation(at, annotation, out));
    message.tool_calls.iter().flatten().for_each(|call| tool_call(at, call, writer, out));
    let rest = Delta {
        function_call: message.function_call.as_ref().map(function_call),
        audio: message.audio.as_ref().map(|audio| AudioDelta {
            id: Some(audio.id.by_ref()),
            data: Some(audio.data.by_ref()),
            transcript: Some(audio.transcript.by_ref()),
            expires_at: Some(audio.expires_at),
        }),
        extra_content: message.extra_content.clone(),
        ..Delta::default()
    };
    delta(at, &rest, writer, out);
    if let Some(reason) = &choice.finish_reason {
        writer.finish_reason(at, reason.clone(), out);
    }
}

/// Members of a message that come in one piece.
fn delta(at: u64, delta: &Delta<'_>, writer: &mut StreamWriter, out: &mut Vec<u8>) {
    if *delta != Delta::default() {
        writer.delta(at, delta, out);
    }
}

fn function_call<'a>(call: &'a FunctionCall<'a>) -> FunctionCallDelta<'a> {
    FunctionCallDelta { name: Some(call.name.by_ref()), arguments: Some(call.arguments.by_ref()) }
}

/// Kinds of calls that are not known are left out: nobody could put their pieces together.
fn tool_call(at: u64, call: &ToolCall<'_>, writer: &mut StreamWriter, out: &mut Vec<u8>) {
    let (index, arguments) = match call {
        ToolCall::Function(call) => {
            let index = writer.tool_call(at, &call.id, &call.function.name, call.extra_content.as_ref(), out);
            (index, &call.function.arguments)
        }
        ToolCall::Custom(call) => (writer.custom_call(at, &call.id, &call.custom.name, out), &call.custom.input),
        ToolCall::Other(_) => return,
    };
    writer.arguments(at, index, arguments, out);
    writer.close_call(at, index, out);
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::protocol::convert::{StreamFault, whole};
    use crate::protocol::dialect::Dialect;
    use crate::protocol::golden;

    fn fold(stream: &[u8]) -> Result<Value, StreamFault<'static>> {
        whole::fold(Dialect::OpenAiChat, stream).map(|body| serde_json::from_slice(&body).unwrap())
    }

    /// The answer as a stream can say it.
    fn sayable(body: &str) -> Value {
        let mut body: Value = serde_json::from_str(body).unwrap();
        // A stream's chunks have no metadata.
        body.as_object_mut().unwrap().remove("metadata");
        if let Some(usage) = body["usage"].as_object_mut() {
            usage.retain(|_, value| !value.is_null());
        }
        for choice in body["choices"].as_array_mut().unwrap() {
            let message = choice["message"].as_object_mut().unwrap();
            // An empty text is what every stream begins with.
            message.retain(|_, value| !value.is_null() && *value != json!([]) && *value != "");
            ["content", "refusal"].iter().for_each(|name| {
                message.entry(*name).or_insert(Value::Null);
            });
            let calls = message.get_mut("tool_calls").and_then(Value::as_array_mut);
            for call in calls.into_iter().flatten() {
                call.as_object_mut().unwrap().entry("type").or_insert(json!("function"));
                if call.pointer("/function/arguments").is_some_and(|arguments| arguments == "") {
                    call["function"]["arguments"] = json!("{}");
                }
            }
            if message.contains_key("tool_calls") && choice["finish_reason"] == "stop" {
                choice["finish_reason"] = json!("tool_calls");
            }
        }
        body
    }

    #[test]
    fn what_is_unfolded_folds_to_the_same() {
        for (name, body) in golden::texts("openai_chat/response", "json") {
            let mut stream = vec![];
            unfold(&body, true, &mut stream).unwrap();
            // A stream that says nothing has one choice all the same.
            if name == "choices-empty" {
                continue;
            }
            let folded = sayable(&serde_json::to_string(&fold(&stream).unwrap()).unwrap());
            assert_eq!(folded, sayable(&body), "{name}");
        }
    }

    #[test]
    fn each_stream_folds_to_an_answer_or_to_its_error() {
        for (name, stream) in golden::texts("openai_chat/stream", "sse") {
            match fold(stream.as_bytes()) {
                Ok(body) => {
                    let text = body.to_string();
                    let read: Response<'_> = serde_json::from_str(&text).unwrap();
                    assert!(!read.choices.is_empty(), "{name}");
                    assert!(read.choices.iter().all(|choice| choice.finish_reason.is_some()), "{name}: {text}");
                }
                Err(fault) => assert!(name.contains("error") || name.contains("cut"), "{name}: {fault:?}"),
            }
        }
    }
}
