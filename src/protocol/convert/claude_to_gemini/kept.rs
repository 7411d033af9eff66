//! Parts that only Gemini can read and wants back whole: the calls that it carried out itself, and what they gave.
//!
//! A client of Claude keeps them as the sealed data of a redacted thinking block.

use std::borrow::Cow;

use tollgate_macros::Read;

use crate::protocol::gemini::wire::content::{Part, ToolCall, ToolResponse};
use crate::protocol::wire::{Raw, Text};

/// The part of Gemini's that a client has kept; `None` if it is none of those.
pub(super) fn read<'a>(text: &str) -> Option<Part<'a>> {
    #[derive(Read)]
    #[serde(rename_all = "camelCase")]
    struct Kept<'a> {
        #[serde(borrow)]
        tool_call: Option<KeptTool<'a>>,
        #[serde(borrow)]
        tool_response: Option<KeptTool<'a>>,
        #[serde(borrow)]
        thought_signature: Option<Text<'a>>,
    }
    #[derive(Read)]
    #[serde(rename_all = "camelCase")]
    struct KeptTool<'a> {
        #[serde(borrow)]
        id: Option<Text<'a>>,
        #[serde(borrow)]
        tool_type: Option<Text<'a>>,
        #[serde(borrow)]
        args: Option<Raw<'a>>,
        #[serde(borrow)]
        response: Option<Raw<'a>>,
    }
    let own = |text: Option<Text<'_>>| text.map(|text| text.into_owned().into());
    let own_json = |raw: Option<Raw<'_>>| raw.map(|raw| Raw(Cow::Owned(raw.0.into_owned())));
    let Kept { tool_call, tool_response, thought_signature } = serde_json::from_str(text).ok()?;
    let call = |tool: KeptTool<'_>| {
        Box::new(ToolCall { id: own(tool.id), tool_type: own(tool.tool_type), args: own_json(tool.args) })
    };
    let response = |tool: KeptTool<'_>| {
        Box::new(ToolResponse { id: own(tool.id), tool_type: own(tool.tool_type), response: own_json(tool.response) })
    };
    if tool_call.is_none() && tool_response.is_none() {
        return None;
    }
    Some(Part {
        tool_call: tool_call.map(call),
        tool_response: tool_response.map(response),
        thought_signature: own(thought_signature),
        ..Part::default()
    })
}
