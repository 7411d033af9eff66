//! Embeddings between OpenAI (<https://developers.openai.com/api/reference/resources/embeddings>) and Gemini
//! (<https://ai.google.dev/api/embeddings>).

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::Serialize;
use tollgate_macros::Read;

use super::{ConvertError, ConvertedRequest, ConvertedResponse, Losses, Reply, read, write};
use crate::protocol::gemini::path::resource;
use crate::protocol::gemini::wire::content::{Content, Part};
use crate::protocol::operation::Operation;
use crate::protocol::wire::{Raw, Text, TextOr};

/// The body of OpenAI's `POST /embeddings`.
#[derive(Debug, Serialize, Read)]
struct OpenAiRequest<'a> {
    #[serde(borrow)]
    model: Text<'a>,
    /// Texts, or tokens, which are numbers.
    #[serde(borrow)]
    input: TextOr<'a, Vec<Raw<'a>>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    dimensions: Option<u64>,
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    encoding_format: Option<Text<'a>>,
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    user: Option<Text<'a>>,
}

/// One of Gemini's requests.
#[derive(Debug, Serialize, Read)]
struct GeminiRequest<'a> {
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    model: Option<Text<'a>>,
    #[serde(borrow)]
    content: Content<'a>,
    #[serde(borrow, rename = "taskType", alias = "task_type", default, skip_serializing_if = "Option::is_none")]
    task_type: Option<Text<'a>>,
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    title: Option<Text<'a>>,
    #[serde(
        rename = "outputDimensionality",
        alias = "output_dimensionality",
        default,
        skip_serializing_if = "Option::is_none"
    )]
    output_dimensionality: Option<u64>,
}

/// The body of Gemini's `batchEmbedContents`.
#[derive(Debug, Serialize, Read)]
struct GeminiBatch<'a> {
    #[serde(borrow)]
    requests: Vec<GeminiRequest<'a>>,
}

/// OpenAI's answer.
#[derive(Debug, Serialize, Read)]
struct OpenAiResponse<'a> {
    #[serde(borrow, default = "list")]
    object: Text<'a>,
    #[serde(borrow)]
    data: Vec<OpenAiEmbedding<'a>>,
    #[serde(borrow, default)]
    model: Text<'a>,
    #[serde(default)]
    usage: OpenAiUsage,
}

#[derive(Debug, Serialize, Read)]
struct OpenAiEmbedding<'a> {
    #[serde(borrow, default = "embedding")]
    object: Text<'a>,
    #[serde(default)]
    index: usize,
    /// Numbers, or base64 of 32-bit floats, the least byte first.
    #[serde(borrow)]
    embedding: TextOr<'a, Vec<f32>>,
}

#[derive(Debug, Default, Clone, Copy, Serialize, Read)]
struct OpenAiUsage {
    #[serde(default)]
    prompt_tokens: u64,
    #[serde(default)]
    total_tokens: u64,
}

fn list<'a>() -> Text<'a> {
    "list".into()
}

fn embedding<'a>() -> Text<'a> {
    "embedding".into()
}

/// Gemini's answer; one embedding or several, as was asked.
#[derive(Debug, Default, Serialize, Read)]
struct GeminiResponse {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    embedding: Option<Values>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    embeddings: Option<Vec<Values>>,
    #[serde(rename = "usageMetadata", default, skip_serializing_if = "Option::is_none")]
    usage_metadata: Option<GeminiUsage>,
}

#[derive(Debug, Serialize, Read)]
struct Values {
    values: Vec<f32>,
}

#[derive(Debug, Default, Clone, Copy, Serialize, Read)]
struct GeminiUsage {
    #[serde(rename = "promptTokenCount", default)]
    prompt_token_count: u64,
    #[serde(rename = "totalTokenCount", default)]
    total_token_count: u64,
}

fn invalid(error: &serde_json::Error) -> ConvertError {
    ConvertError::invalid("", format!("the request body is not valid: {error}"))
}

/// An OpenAI request for Gemini's `batchEmbedContents`.
pub fn to_gemini(body: &str, model: &str) -> Result<ConvertedRequest, ConvertError> {
    let request: OpenAiRequest<'_> = read(body).map_err(|error| invalid(&error))?;
    let mut losses = Losses::default();
    if request.user.is_some() {
        losses.hint("user", "has no counterpart in Gemini");
    }
    let texts: Vec<Text<'_>> = match &request.input {
        TextOr::Text(text) => vec![text.by_ref()],
        TextOr::Structured(inputs) => {
            let text = |(index, input): (usize, &'_ Raw<'_>)| {
                serde_json::from_str::<String>(input.get()).map(Text::from).map_err(|_| {
                    let message = "tokens are known to the vendor's own models only; send the text instead";
                    ConvertError::unsupported(format!("input[{index}]"), message)
                })
            };
            inputs.iter().enumerate().map(text).collect::<Result<_, _>>()?
        }
    };
    if texts.is_empty() || texts.iter().any(|text| text.is_empty()) {
        return Err(ConvertError::invalid("input", "is empty, or has an empty text; send what is to be embedded"));
    }
    check_dimensions("dimensions", request.dimensions)?;
    let resource = resource(model);
    let requests = texts.into_iter().map(|text| GeminiRequest {
        model: Some((&*resource).into()),
        content: Content { role: None, parts: vec![Part { text: Some(text), ..Part::default() }] },
        task_type: None,
        title: None,
        output_dimensionality: request.dimensions,
    });
    let body = write(&GeminiBatch { requests: requests.collect() })?;
    let embeddings_in_base64 = request.encoding_format.as_deref() == Some("base64");
    Ok(ConvertedRequest { body, losses, reply: Reply { embeddings_in_base64, ..Reply::default() } })
}

/// A Gemini request for OpenAI's embeddings.
pub fn to_openai(operation: Operation, body: &str, model: &str) -> Result<ConvertedRequest, ConvertError> {
    let requests = if operation == Operation::EmbedBatch {
        read::<GeminiBatch<'_>>(body).map_err(|error| invalid(&error))?.requests
    } else {
        vec![read::<GeminiRequest<'_>>(body).map_err(|error| invalid(&error))?]
    };
    if requests.is_empty() {
        return Err(ConvertError::invalid("requests", "is empty; send at least one request"));
    }
    let mut losses = Losses::default();
    let dimensions = requests.first().and_then(|request| request.output_dimensionality);
    check_dimensions("outputDimensionality", dimensions)?;
    let mut input = Vec::with_capacity(requests.len());
    for (index, request) in requests.iter().enumerate() {
        let path = if operation == Operation::EmbedBatch { format!("requests[{index}].") } else { String::new() };
        if request.output_dimensionality != dimensions {
            let message = "differs from that of the first request, and OpenAI has one for all; send them apart";
            return Err(ConvertError::unsupported(format!("{path}outputDimensionality"), message));
        }
        if request.task_type.is_some() {
            losses.add(format!("{path}taskType"), "has no counterpart in OpenAI");
        }
        if request.title.is_some() {
            losses.add(format!("{path}title"), "has no counterpart in OpenAI");
        }
        let mut text = String::new();
        for (place, part) in request.content.parts.iter().enumerate() {
            match &part.text {
                Some(piece) => text.push_str(piece),
                None => {
                    let message = "OpenAI embeds texts only; leave other parts out";
                    return Err(ConvertError::unsupported(format!("{path}content.parts[{place}]"), message));
                }
            }
        }
        input.push(Raw::of(&text).map_err(|error| invalid(&error))?);
    }
    let request = OpenAiRequest {
        model: model.into(),
        input: TextOr::Structured(input),
        dimensions,
        encoding_format: Some("float".into()),
        user: None,
    };
    Ok(ConvertedRequest { body: write(&request)?, losses, reply: Reply::default() })
}

fn check_dimensions(path: &str, dimensions: Option<u64>) -> Result<(), ConvertError> {
    if dimensions == Some(0) { Err(ConvertError::invalid(path, "has to be at least 1")) } else { Ok(()) }
}

fn unreadable(error: impl ToString) -> ConvertError {
    ConvertError::Unreadable(error.to_string())
}

/// Gemini's answer for an OpenAI client. Gemini may not tell how many tokens it read; the count is then 0.
pub fn answer_to_openai(body: &str, reply: &Reply) -> Result<ConvertedResponse, ConvertError> {
    let response: GeminiResponse = read(body).map_err(unreadable)?;
    let usage = response.usage_metadata.unwrap_or_default();
    let embeddings = response.embeddings.or(response.embedding.map(|one| vec![one]));
    let embeddings = embeddings.ok_or_else(|| unreadable("it has no embeddings"))?;
    let data = embeddings.into_iter().enumerate().map(|(index, Values { values })| OpenAiEmbedding {
        object: embedding(),
        index,
        embedding: if reply.embeddings_in_base64 {
            let bytes: Vec<u8> = values.into_iter().flat_map(f32::to_le_bytes).collect();
            TextOr::Text(STANDARD.encode(bytes).into())
        } else {
            TextOr::Structured(values)
        },
    });
    let usage = OpenAiUsage {
        prompt_tokens: usage.prompt_token_count,
        total_tokens: usage.total_token_count.max(usage.prompt_token_count),
    };
    let response = OpenAiResponse { object: list(), data: data.collect(), model: reply.model.as_str().into(), usage };
    Ok(ConvertedResponse { body: write(&response)?, losses: Losses::default() })
}

/// OpenAI's answer for a Gemini client.
pub fn answer_to_gemini(operation: Operation, body: &str) -> Result<ConvertedResponse, ConvertError> {
    let response: OpenAiResponse<'_> = read(body).map_err(unreadable)?;
    let mut data = response.data;
    data.sort_by_key(|one| one.index);
    let values = |one: OpenAiEmbedding<'_>| match one.embedding {
        TextOr::Structured(values) => Ok(Values { values }),
        TextOr::Text(text) => {
            let bytes = STANDARD.decode(text.as_bytes()).map_err(unreadable)?;
            let floats = bytes.chunks_exact(4).filter_map(|bytes| bytes.try_into().ok().map(f32::from_le_bytes));
            Ok(Values { values: floats.collect() })
        }
    };
    let mut embeddings = data.into_iter().map(values).collect::<Result<Vec<_>, _>>()?;
    let usage_metadata = Some(GeminiUsage {
        prompt_token_count: response.usage.prompt_tokens,
        total_token_count: response.usage.total_tokens,
    });
    let response = if operation == Operation::EmbedBatch {
        GeminiResponse { embedding: None, embeddings: Some(embeddings), usage_metadata }
    } else {
        let one = (!embeddings.is_empty()).then(|| embeddings.swap_remove(0));
        let one = one.ok_or_else(|| unreadable("it has no embeddings"))?;
        GeminiResponse { embedding: Some(one), embeddings: None, usage_metadata }
    };
    Ok(ConvertedResponse { body: write(&response)?, losses: Losses::default() })
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn value(body: &[u8]) -> Value {
        serde_json::from_slice(body).unwrap()
    }

    #[test]
    fn openai_texts_become_a_batch() {
        let body = r#"{"model":"m","input":["a","b\n"],"dimensions":8,"encoding_format":"base64"}"#;
        let converted = to_gemini(body, "gemini-embedding-001").unwrap();
        let request = |text: &str| json!({"model": "models/gemini-embedding-001", "content": {"parts": [{"text": text}]}, "outputDimensionality": 8});
        assert_eq!(value(&converted.body), json!({"requests": [request("a"), request("b\n")]}));
        let answer = answer_to_openai(r#"{"embeddings":[{"values":[1.0,-2.5]}]}"#, &converted.reply).unwrap();
        assert_eq!(value(&answer.body)["data"][0]["embedding"], "AACAPwAAIMA=");
        assert!(matches!(to_gemini(r#"{"model":"m","input":[[1,2]]}"#, "m"), Err(ConvertError::Unsupported { .. })));
        assert!(to_gemini(r#"{"model":"m","input":[]}"#, "m").is_err());
    }

    #[test]
    fn gemini_contents_become_inputs() {
        let body = r#"{"requests":[{"content":{"parts":[{"text":"a"},{"text":"b"}]}},{"content":{"parts":[{"text":"c"}]},"task_type":"RETRIEVAL_QUERY"}]}"#;
        let converted = to_openai(Operation::EmbedBatch, body, "text-embedding-3-small").unwrap();
        let expected = json!({"model": "text-embedding-3-small", "input": ["ab", "c"], "encoding_format": "float"});
        assert_eq!(value(&converted.body), expected);
        assert!(converted.losses.text().starts_with("requests[1].taskType"));
        let answer = r#"{"object":"list","data":[{"index":1,"embedding":[2.0]},{"index":0,"embedding":"AACAPw=="}],"model":"m","usage":{"prompt_tokens":3,"total_tokens":3}}"#;
        let answer = answer_to_gemini(Operation::EmbedBatch, answer).unwrap();
        assert_eq!(
            value(&answer.body),
            json!({"embeddings": [{"values": [1.0]}, {"values": [2.0]}], "usageMetadata": {"promptTokenCount": 3, "totalTokenCount": 3}})
        );
    }
}
