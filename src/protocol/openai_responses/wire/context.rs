//! Items that change what the model has before it: its tools, its parameters, its earlier turns.
//!
//! <https://developers.openai.com/api/reference/resources/responses>, `ResponseInputItem` of openai (Python) 3.57.0.

use serde::Serialize;
use tollgate_macros::Read;

use super::item::Role;
use super::request::{Reasoning, TextOptions};
use super::tools::Tool;
use crate::protocol::wire::{Raw, Text};

/// Tools that are added at this point of the input. Codex has all its tools here.
#[derive(Debug, Clone, PartialEq, Serialize, Read)]
pub struct AdditionalTools<'a> {
    /// `at_…`
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub id: Option<Text<'a>>,
    /// `developer`
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub role: Option<Role<'a>>,
    /// The tools.
    #[serde(borrow)]
    pub tools: Vec<Tool<'a>>,
}

/// Parameters that hold from this point on.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Read)]
pub struct ConfigurationUpdate<'a> {
    /// The item's.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub id: Option<Text<'a>>,
    /// Its `effort`.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub reasoning: Option<Reasoning<'a>>,
    /// Its `format`.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub text: Option<TextOptions<'a>>,
}

/// A search among the tools.
#[derive(Debug, Clone, PartialEq, Serialize, Read)]
pub struct ToolSearchCall<'a> {
    /// `tsc_…`
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub id: Option<Text<'a>>,
    /// Null where the vendor searches.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub call_id: Option<Text<'a>>,
    /// Any JSON, not text that holds JSON.
    #[serde(borrow)]
    pub arguments: Raw<'a>,
    /// `server` or `client`: who searches.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub execution: Option<Text<'a>>,
    /// `in_progress`, `completed`, `incomplete`.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub status: Option<Text<'a>>,
    /// Who made the item.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub created_by: Option<Text<'a>>,
}

/// The tools that were found.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Read)]
pub struct ToolSearchOutput<'a> {
    /// `tso_…`
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub id: Option<Text<'a>>,
    /// Null where the vendor searched.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub call_id: Option<Text<'a>>,
    /// What can be called from now on.
    #[serde(borrow)]
    pub tools: Vec<Tool<'a>>,
    /// `server` or `client`: who searched.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub execution: Option<Text<'a>>,
    /// `in_progress`, `completed`, `incomplete`.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub status: Option<Text<'a>>,
    /// Who made the item.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub created_by: Option<Text<'a>>,
}

/// A program that calls tools; it runs at the vendor.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Read)]
pub struct Program<'a> {
    /// The item's.
    #[serde(borrow)]
    pub id: Text<'a>,
    /// What its calls name as their caller.
    #[serde(borrow)]
    pub call_id: Text<'a>,
    /// The source.
    #[serde(borrow)]
    pub code: Text<'a>,
    /// To be sent back.
    #[serde(borrow)]
    pub fingerprint: Text<'a>,
}

/// What a program returned.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Read)]
pub struct ProgramOutput<'a> {
    /// The item's.
    #[serde(borrow)]
    pub id: Text<'a>,
    /// The program's.
    #[serde(borrow)]
    pub call_id: Text<'a>,
    /// The text.
    #[serde(borrow)]
    pub result: Text<'a>,
    /// `completed`, `incomplete`.
    #[serde(borrow)]
    pub status: Text<'a>,
}

/// The conversation so far, compacted.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Read)]
pub struct Compaction<'a> {
    /// `cmp_…`
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub id: Option<Text<'a>>,
    /// The content, sealed.
    #[serde(borrow)]
    pub encrypted_content: Text<'a>,
    /// Who made the item.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub created_by: Option<Text<'a>>,
}

/// Asks for a compaction.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Read)]
pub struct CompactionTrigger<'a> {
    /// The item's.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub id: Option<Text<'a>>,
}

/// An item that the vendor has.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Read)]
pub struct ItemReference<'a> {
    /// The item.
    #[serde(borrow)]
    pub id: Text<'a>,
}
