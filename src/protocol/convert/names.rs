//! Names of tools and ids of calls, within what each vendor accepts.
//!
//! What fits is passed on unchanged. What does not is made to fit, always in the same way, so that call and result still meet
//! and the next turn says the same.

use std::borrow::Cow;
use std::collections::BTreeMap;

/// What a vendor accepts as a name or an id.
#[derive(Debug, Clone, Copy)]
pub struct Charset {
    /// The greatest length.
    pub max: usize,
    /// What is allowed beside ASCII letters, digits, `_` and `-`.
    pub further: &'static str,
}

impl Charset {
    /// Names of tools and ids of calls at OpenAI.
    pub const OPENAI: Self = Self { max: 64, further: "" };
    /// Names of tools at Claude. Ids have no documented length, this one is on the safe side.
    pub const CLAUDE: Self = Self { max: 128, further: "" };
    /// Names of tools at Gemini.
    pub const GEMINI: Self = Self { max: 128, further: ".:" };

    fn allows(self, character: char) -> bool {
        character.is_ascii_alphanumeric() || matches!(character, '_' | '-') || self.further.contains(character)
    }

    fn fits(self, text: &str) -> bool {
        !text.is_empty() && text.len() <= self.max && text.chars().all(|character| self.allows(character))
    }

    /// `text` if it is acceptable; else its beginning, what is not allowed replaced, and a hash of the whole, so that different
    /// texts stay different and the same text stays the same.
    pub fn fit(self, text: &str) -> Cow<'_, str> {
        if self.fits(text) {
            return Cow::Borrowed(text);
        }
        let hash = blake3::hash(text.as_bytes()).to_hex();
        let hash = hash.get(..12).unwrap_or_default();
        let kept = text.chars().map(|character| if self.allows(character) { character } else { '_' });
        let mut fitted: String = kept.take(self.max.saturating_sub(hash.len() + 1)).collect();
        fitted.push('_');
        fitted.push_str(hash);
        Cow::Owned(fitted)
    }
}

/// The id of a call within what OpenAI accepts, which bounds its length only: vendors that put names and dots into their ids want
/// them back as they were.
pub fn openai_call_id(id: &str) -> Cow<'_, str> {
    if (1..=Charset::OPENAI.max).contains(&id.len()) { Cow::Borrowed(id) } else { Charset::OPENAI.fit(id) }
}

/// An id for a call that its vendor gave none: always the same for the same answer and place.
pub fn made_up_call_id(answer: &str, index: usize) -> String {
    let hash = blake3::hash(format!("{answer}/{index}").as_bytes()).to_hex();
    format!("call_{}", hash.get(..24).unwrap_or_default())
}

/// What a client's tool was before it got a name that the upstream accepts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClientTool {
    /// Its name at the client.
    pub name: String,
    /// The namespace that it stands in, in Responses.
    pub namespace: Option<String>,
    /// Its kind.
    pub kind: ToolKind,
}

/// What kind of tool a client has declared where the upstream sees a function.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ToolKind {
    /// A function.
    Function,
    /// A tool that takes a free text, which the upstream sends as the one argument [`CUSTOM_INPUT`].
    Custom,
    /// The search among deferred tools that Responses defines and its client carries out.
    ToolSearch,
    /// The commands of Responses' `local_shell`, which its client runs.
    LocalShell,
    /// The commands of Responses' `shell`, which its client runs.
    Shell,
    /// The changes of files of Responses' `apply_patch`, which its client makes.
    ApplyPatch,
    /// The computer of Responses' `computer` and `computer_use_preview`, which its client operates.
    Computer,
}

/// The argument that stands for the free text of a [`ToolKind::Custom`].
pub const CUSTOM_INPUT: &str = "input";

/// Which tool of the client each name at the upstream means. Only what is not itself is written down.
#[derive(Debug, Clone, Default)]
pub struct ToolNames(BTreeMap<String, ClientTool>);

impl ToolNames {
    /// The name at the upstream of a client's tool, which is the same for each mention of the tool.
    pub fn upstream<'a>(
        &mut self,
        charset: Charset,
        namespace: Option<&str>,
        name: &'a str,
        kind: ToolKind,
    ) -> Cow<'a, str> {
        let full = match namespace {
            Some(namespace) => Cow::Owned(format!("{namespace}__{name}")),
            None => Cow::Borrowed(name),
        };
        let fitted: Cow<'a, str> = match &full {
            Cow::Borrowed(name) => charset.fit(name),
            Cow::Owned(full) => Cow::Owned(charset.fit(full).into_owned()),
        };
        if fitted != name || kind != ToolKind::Function {
            let tool = ClientTool { name: name.to_owned(), namespace: namespace.map(str::to_owned), kind };
            self.0.insert(fitted.clone().into_owned(), tool);
        }
        fitted
    }

    /// The client's tool behind a name; `None` where it is a function of that very name.
    pub fn client(&self, upstream: &str) -> Option<&ClientTool> {
        self.0.get(upstream)
    }

    /// The client's name for the tool that the upstream calls `upstream`.
    pub fn client_name<'a>(&'a self, upstream: &'a str) -> &'a str {
        self.client(upstream).map_or(upstream, |tool| &tool.name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// B07: long ids that differ in the last character stay different, and the same id stays the same.
    #[test]
    fn long_ids_stay_apart() {
        let (one, two) = (format!("toolu_{}_1", "k".repeat(66)), format!("toolu_{}_2", "k".repeat(66)));
        let fit = |id: &str| Charset::OPENAI.fit(id).into_owned();
        assert!(fit(&one).len() <= 64 && fit(&one) != fit(&two) && fit(&one) == fit(&one));
        assert_eq!(fit("call_1"), "call_1");
        assert!(fit("a.b").starts_with("a_b_") && fit("").len() > 4);
        assert_eq!(
            (openai_call_id("functions.ls:0"), openai_call_id(&one)),
            ("functions.ls:0".into(), fit(&one).into())
        );
    }

    #[test]
    fn a_name_leads_back_to_the_tool() {
        let mut names = ToolNames::default();
        assert_eq!(names.upstream(Charset::CLAUDE, None, "ls", ToolKind::Function), "ls");
        assert_eq!(names.client("ls"), None);
        let upstream = names.upstream(Charset::CLAUDE, Some("git"), "log", ToolKind::Function).into_owned();
        assert_eq!(names.client(&upstream).unwrap().namespace.as_deref(), Some("git"));
        assert_eq!(names.client_name(&upstream), "log");
        names.upstream(Charset::CLAUDE, None, "apply_patch", ToolKind::Custom);
        assert_eq!(names.client("apply_patch").unwrap().kind, ToolKind::Custom);
    }
}
