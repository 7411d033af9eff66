//! What vendors answer, and what their clients ask: a vocabulary for each dialect, and [`Wire`] for cases that hold in all
//! of them.

pub mod chat;
pub mod claude;
pub mod gemini;
pub mod responses;

use serde_json::{Value, json};

/// Joins events to a stream.
pub fn sse<E: AsRef<str>>(events: impl IntoIterator<Item = E>) -> String {
    events.into_iter().map(|event| event.as_ref().to_owned()).collect()
}

/// One event, without a name.
pub fn data(data: &str) -> String {
    format!("data: {data}\n\n")
}

/// One event with a name, whose data repeats it as its type.
pub fn event(name: &str, rest: &str) -> String {
    let rest = if rest.is_empty() { String::new() } else { format!(",{rest}") };
    format!("event: {name}\ndata: {{\"type\":\"{name}\"{rest}}}\n\n")
}

/// A dialect on the wire, for tables of cases.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wire {
    Chat,
    Responses,
    Claude,
    Gemini,
}

impl Wire {
    pub const ALL: [Self; 4] = [Self::Chat, Self::Responses, Self::Claude, Self::Gemini];

    /// The name in a document.
    pub fn dialect(self) -> &'static str {
        match self {
            Self::Chat => "openai_chat",
            Self::Responses => "openai_responses",
            Self::Claude => "claude",
            Self::Gemini => "gemini",
        }
    }

    /// The channel of the vendor.
    pub fn channel(self) -> &'static str {
        match self {
            Self::Chat | Self::Responses => "openai",
            Self::Claude => "claude",
            Self::Gemini => "gemini",
        }
    }

    /// What a base URL of the vendor's has after the host.
    pub fn base_path(self) -> &'static str {
        if self.channel() == "openai" { "/v1" } else { "" }
    }

    /// The path and query of a call, which are the vendor's as well as the gateway's.
    pub fn target(self, model: &str, stream: bool) -> String {
        match (self, stream) {
            (Self::Chat, _) => "/v1/chat/completions".to_owned(),
            (Self::Responses, _) => "/v1/responses".to_owned(),
            (Self::Claude, _) => "/v1/messages".to_owned(),
            (Self::Gemini, false) => format!("/v1beta/models/{model}:generateContent"),
            (Self::Gemini, true) => format!("/v1beta/models/{model}:streamGenerateContent?alt=sse"),
        }
    }

    /// A client's request.
    pub fn request(self, model: &str, stream: bool) -> String {
        match self {
            Self::Chat => chat::request(model, stream),
            Self::Responses => responses::request(model, stream),
            Self::Claude => claude::request(model, stream),
            Self::Gemini => gemini::request(),
        }
    }

    /// A buffered answer, which took 11 tokens in and 5 out.
    pub fn answer(self) -> String {
        match self {
            Self::Chat => chat::answer("Hello there", 11, 5),
            Self::Responses => responses::answer("Hello there", 11, 5),
            Self::Claude => claude::answer("Hello there", 11, 5),
            Self::Gemini => gemini::answer("Hello there", 11, 5),
        }
    }

    /// A streamed answer, which took 11 tokens in and 5 out. The first two events come before the end of it.
    pub fn events(self) -> Vec<String> {
        match self {
            Self::Chat => chat::events(&["Hello", " there"], 11, 5),
            Self::Responses => responses::events(&["Hello", " there"], 11, 5),
            Self::Claude => claude::events(&["Hello", " there"], 11, 5),
            Self::Gemini => gemini::events(&["Hello", " there"], 11, 5),
        }
    }

    /// The events as they reach a client that did not ask for more than its vendor would tell.
    pub fn events_for_client(self) -> Vec<String> {
        let is_extra = |event: &String| self == Self::Chat && event.contains("\"choices\":[]");
        self.events().into_iter().filter(|event| !is_extra(event)).collect()
    }

    /// The header in which the vendor wants its key, and its value.
    pub fn authentication(self, secret: &str) -> (&'static str, String) {
        match self {
            Self::Chat | Self::Responses => ("authorization", format!("Bearer {secret}")),
            Self::Claude => ("x-api-key", secret.to_owned()),
            Self::Gemini => ("x-goog-api-key", secret.to_owned()),
        }
    }

    /// An error of the vendor with `message`, as the body of an HTTP error.
    pub fn vendor_error(self, status: u16, message: &str) -> String {
        match self {
            Self::Chat | Self::Responses => {
                json!({"error": {"message": message, "type": "vendor_type", "param": null, "code": "vendor_code"}})
                    .to_string()
            }
            Self::Claude => {
                json!({"type": "error", "error": {"type": "vendor_type", "message": message}, "request_id": "req_v"})
                    .to_string()
            }
            Self::Gemini => {
                json!({"error": {"code": status, "message": message, "status": "VENDOR_STATUS"}}).to_string()
            }
        }
    }

    /// The gateway's own error, byte for byte, as vendors write theirs.
    pub fn error(self, status: u16, code: &str, message: &str, request_id: &str) -> String {
        let error = match self {
            Self::Chat | Self::Responses => {
                json!({"error": {"message": message, "type": chat::error_type(status), "param": null, "code": code}})
            }
            Self::Claude => json!({
                "type": "error",
                "error": {
                    "type": claude::error_type(status),
                    "message": message,
                    "details": {"error_code": code},
                },
                "request_id": request_id,
            }),
            Self::Gemini => json!({"error": {
                "code": status,
                "message": message,
                "status": gemini::status_name(status),
                "details": [{
                    "@type": "type.googleapis.com/google.rpc.ErrorInfo",
                    "reason": code.to_ascii_uppercase(),
                    "domain": "tollgate",
                }],
            }}),
        };
        error.to_string()
    }

    /// The event by which the gateway tells a client that its stream broke off.
    pub fn error_event(self, status: u16, code: &str, message: &str, request_id: &str) -> String {
        match self {
            Self::Chat | Self::Gemini => data(&self.error(status, code, message, request_id)),
            Self::Claude => format!("event: error\n{}", data(&self.error(status, code, message, request_id))),
            Self::Responses => format!("event: error\n{}", data(&responses::error(code, message).to_string())),
        }
    }
}

/// The message in an error of any dialect.
pub fn message_of(error: &Value) -> &str {
    error["error"]["message"].as_str().or(error["message"].as_str()).expect("an error has a message")
}
