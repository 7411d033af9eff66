use serde_json::{Value, json};

use crate::protocol::convert::media::Media;
use crate::protocol::convert::{self, Context, ConvertError, ConvertedRequest, ServerTools};
use crate::protocol::dialect::Dialect;

fn converted(model: &str, request: &Value) -> Result<ConvertedRequest, ConvertError> {
    let context = Context { model, stream: false, server_tools: ServerTools::Refuse, media: &Media::new() };
    convert::request(Dialect::Claude, Dialect::OpenAiResponses, &request.to_string(), &context)
}

fn body(model: &str, request: &Value) -> Value {
    serde_json::from_slice(&converted(model, request).unwrap().body).unwrap()
}
