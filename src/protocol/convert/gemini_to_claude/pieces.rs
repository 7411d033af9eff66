//! What a part of Gemini's answer becomes, for whole answers and streams alike.

use serde_json::json;

use crate::protocol::claude::wire::content::{ContentBlock, RedactedThinkingBlock, ToolUseBlock};
use crate::protocol::claude::wire::server_tools::{
    CodeExecutionContent, CodeExecutionResult, ServerToolResult, ToolError,
};
use crate::protocol::convert::Reply;
use crate::protocol::convert::names::{Charset, made_up_call_id};
use crate::protocol::convert::seal::{self, Family};
use crate::protocol::gemini::wire::content::{
    CodeExecutionResult as CodeResult, ExecutableCode, FunctionCall, Outcome, Part,
};
use crate::protocol::wire::{Raw, Text};

/// A piece of Claude's answer.
pub(super) enum Piece<'a> {
    /// Thinking.
    Thinking(&'a str),
    /// The signature of the thinking so far; of an empty block where there is none.
    Signature(String),
    /// Text.
    Text(Text<'a>),
    /// A call that the client has to carry out.
    Call(Box<ToolUseBlock<'a>>),
    /// A whole block.
    Block(Box<ContentBlock<'a>>),
}

/// Takes parts apart, and gives ids to what has none.
#[derive(Default)]
pub(super) struct Pieces {
    /// How many ids were made.
    made: usize,
    /// The id of the code that waits for its result.
    code: Option<String>,
}

impl Pieces {
    /// What `part` becomes, in order. A part that cannot be shown becomes a text that says so.
    pub(super) fn of<'a>(&mut self, part: &'a Part<'a>, reply: &'a Reply) -> impl Iterator<Item = Piece<'a>> + use<'a> {
        self.both(part, reply).into_iter().flatten()
    }

    fn both<'a>(&mut self, part: &'a Part<'a>, reply: &'a Reply) -> [Option<Piece<'a>>; 2] {
        if part.tool_call.is_some() || part.tool_response.is_some() {
            return [kept(part), None];
        }
        // Calls have to come back with their signature, for texts it is only good. Who asked for no thinking may look for the text in
        // the first block.
        let is_needed = part.function_call.is_some() || !reply.hides_thinking;
        let signature = part.thought_signature.as_deref().filter(|signature| is_needed && !signature.is_empty());
        let signature = signature.map(|signature| Piece::Signature(seal::seal(Family::Gemini, signature)));
        if part.thought == Some(true) {
            // The signature of thoughts follows them; that of all else comes before.
            let text = part.text.as_deref().filter(|text| !reply.hides_thinking && !text.is_empty());
            return [text.map(Piece::Thinking), signature];
        }
        [signature, self.content(part, reply)]
    }

    fn content<'a>(&mut self, part: &'a Part<'a>, reply: &'a Reply) -> Option<Piece<'a>> {
        match part {
            Part { text: Some(text), .. } => (!text.is_empty()).then(|| Piece::Text(text.by_ref())),
            Part { function_call: Some(call), .. } => Some(self.call(call, reply)),
            Part { executable_code: Some(code), .. } => Some(self.executable_code(code, reply)),
            Part { code_execution_result: Some(result), .. } => Some(self.code_execution_result(result, reply)),
            Part { inline_data: Some(blob), .. } => {
                let media_type = blob.mime_type.as_deref().unwrap_or("file");
                Some(Piece::Text(
                    format!("[The answer has a part of type {media_type}, which cannot be shown here.]").into(),
                ))
            }
            _ => None,
        }
    }

    fn call<'a>(&mut self, call: &'a FunctionCall<'a>, reply: &'a Reply) -> Piece<'a> {
        let upstream = call.name.as_deref().unwrap_or_default();
        let (name, namespace) = match reply.tools.client(upstream) {
            Some(tool) => (Text::from(tool.name.as_str()), tool.namespace.as_deref()),
            None => (Text::from(upstream), None),
        };
        let id = match call.id.as_deref() {
            Some(id) if !id.is_empty() => Text(Charset::CLAUDE.fit(id)),
            _ => self.make_id("toolu", reply).into(),
        };
        let input = match &call.args {
            Some(args) if args.get().trim_start().starts_with('{') => args.by_ref(),
            _ => raw(&json!({})),
        };
        Piece::Call(Box::new(ToolUseBlock {
            id,
            name,
            input,
            caller: None,
            toolset_name: namespace.map(Text::from),
            cache_control: None,
        }))
    }

    fn executable_code<'a>(&mut self, code: &'a ExecutableCode<'a>, reply: &Reply) -> Piece<'a> {
        let id = self.make_id("srvtoolu", reply);
        self.code = Some(id.clone());
        let block = ToolUseBlock {
            id: id.into(),
            name: "code_execution".into(),
            input: raw(&json!({"code": code.code.as_deref().unwrap_or_default()})),
            caller: None,
            toolset_name: None,
            cache_control: None,
        };
        Piece::Block(Box::new(ContentBlock::ServerToolUse(Box::new(block))))
    }

    fn code_execution_result<'a>(&mut self, result: &'a CodeResult<'a>, reply: &Reply) -> Piece<'a> {
        let id = self.code.take().unwrap_or_else(|| self.make_id("srvtoolu", reply));
        let output = result.output.as_ref().map(Text::by_ref).unwrap_or_default();
        let ran = |stdout, stderr, return_code| {
            CodeExecutionContent::Result(CodeExecutionResult { stdout, stderr, return_code, content: Vec::new() })
        };
        let content = match &result.outcome {
            Some(Outcome::Ok) | None => ran(output, Text::default(), 0),
            Some(Outcome::Failed | Outcome::Other(_)) => ran(Text::default(), output, 1),
            Some(Outcome::DeadlineExceeded) => CodeExecutionContent::Error(ToolError {
                error_code: "execution_time_exceeded".into(),
                error_message: None,
            }),
        };
        let block = ServerToolResult { tool_use_id: id.into(), content, caller: None, cache_control: None };
        Piece::Block(Box::new(ContentBlock::CodeExecutionToolResult(Box::new(block))))
    }

    /// An id like Claude's, always the same for the same answer and place.
    pub(super) fn make_id(&mut self, prefix: &str, reply: &Reply) -> String {
        let id = made_up_call_id(&reply.id, self.made);
        self.made += 1;
        format!("{prefix}_{}", id.trim_start_matches("call_"))
    }
}

/// A part that only Gemini can read and wants back whole, as a sealed block.
fn kept<'a>(part: &Part<'_>) -> Option<Piece<'a>> {
    let part = serde_json::to_string(part).ok()?;
    let data = seal::seal(Family::Gemini, &part).into();
    Some(Piece::Block(Box::new(ContentBlock::RedactedThinking(RedactedThinkingBlock { data }))))
}

fn raw<'a>(value: &serde_json::Value) -> Raw<'a> {
    // A value is always JSON.
    Raw::of(value).unwrap_or(Raw(std::borrow::Cow::Borrowed(serde_json::value::RawValue::NULL)))
}
