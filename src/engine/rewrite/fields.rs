//! Where the texts of a request stand in each dialect. Everything else, such as calls' arguments, thinking, schemas and the names of
//! things, is none of them.

use super::tree::{Budget, Node, TooMuch};
use crate::protocol::dialect::Dialect;
use crate::store::options::Field;

/// Which texts are wanted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Fields(u8);

impl Fields {
    /// Those in the list.
    pub(super) fn of(fields: &[Field]) -> Self {
        Self(fields.iter().fold(0, |mask, field| mask | 1 << (*field as u8)))
    }

    fn has(self, field: Field) -> bool {
        self.0 & (1 << (field as u8)) != 0
    }
}

/// Gets each text of the wanted sorts, and tells whether it has changed it.
pub(super) type Visit<'v, 'a> = dyn FnMut(&mut Node<'a>, &mut Budget) -> Result<bool, TooMuch> + 'v;

/// Shows `visit` all texts of the wanted sorts in a request of `dialect`; tells whether any has changed.
pub(super) fn visit<'a>(
    dialect: Dialect,
    wanted: Fields,
    root: &mut Node<'a>,
    budget: &mut Budget,
    visit: &mut Visit<'_, 'a>,
) -> Result<bool, TooMuch> {
    match dialect {
        Dialect::Claude => claude(wanted, root, budget, visit),
        Dialect::OpenAiChat => chat(wanted, root, budget, visit),
        Dialect::OpenAiResponses => responses(wanted, root, budget, visit),
        Dialect::Gemini => gemini(wanted, root, budget, visit),
    }
}

/// A text, or a list of parts in which `kinds` have one in `text`; parts of another kind are passed over.
fn content<'a>(
    node: &mut Node<'a>,
    kinds: &[&str],
    budget: &mut Budget,
    visit: &mut Visit<'_, 'a>,
) -> Result<bool, TooMuch> {
    if node.is_text() {
        return visit(node, budget);
    }
    node.each(budget, &mut |part, budget| {
        if part.is_text() {
            return visit(part, budget);
        }
        let kind = part.text_of("type", budget)?;
        if kind.is_some_and(|kind| !kinds.contains(&&*kind)) {
            return Ok(false);
        }
        text(part, "text", budget, visit)
    })
}

/// The member `name`, where it is a text.
fn text<'a>(node: &mut Node<'a>, name: &str, budget: &mut Budget, visit: &mut Visit<'_, 'a>) -> Result<bool, TooMuch> {
    node.each_named(name, budget, &mut |node, budget| if node.is_text() { visit(node, budget) } else { Ok(false) })
}

/// Descriptions of the elements of the list `name`, directly or one level deeper in one of `wrappers`.
fn descriptions<'a>(
    root: &mut Node<'a>,
    name: &str,
    wrappers: &[&str],
    budget: &mut Budget,
    visit: &mut Visit<'_, 'a>,
) -> Result<bool, TooMuch> {
    root.each_named(name, budget, &mut |tools, budget| {
        tools.each(budget, &mut |tool, budget| {
            let mut has_changed = text(tool, "description", budget, visit)?;
            for wrapper in wrappers {
                has_changed |=
                    tool.each_named(wrapper, budget, &mut |inner, budget| text(inner, "description", budget, visit))?;
            }
            Ok(has_changed)
        })
    })
}

/// Which texts a message of `role` has, in the dialects of OpenAI and Claude.
fn field_of(role: Option<&str>) -> Field {
    match role {
        Some("system" | "developer") => Field::System,
        Some("assistant") => Field::Assistant,
        Some("tool" | "function") => Field::ToolResults,
        _ => Field::User,
    }
}

fn claude<'a>(
    wanted: Fields,
    root: &mut Node<'a>,
    budget: &mut Budget,
    visit: &mut Visit<'_, 'a>,
) -> Result<bool, TooMuch> {
    let mut has_changed = false;
    if wanted.has(Field::System) {
        has_changed |=
            root.each_named("system", budget, &mut |node, budget| content(node, &["text"], budget, visit))?;
    }
    if wanted.has(Field::ToolDescriptions) {
        has_changed |= descriptions(root, "tools", &[], budget, visit)?;
    }
    has_changed |= root.each_named("messages", budget, &mut |messages, budget| {
        messages.each(budget, &mut |message, budget| {
            let field = field_of(message.text_of("role", budget)?.as_deref());
            message.each_named("content", budget, &mut |node, budget| {
                let mut has_changed = wanted.has(field) && content(node, &["text"], budget, visit)?;
                if wanted.has(Field::ToolResults) {
                    has_changed |= node.each(budget, &mut |block, budget| {
                        let kind = block.text_of("type", budget)?;
                        if kind.as_deref() != Some("tool_result") {
                            return Ok(false);
                        }
                        block.each_named("content", budget, &mut |node, budget| content(node, &["text"], budget, visit))
                    })?;
                }
                Ok(has_changed)
            })
        })
    })?;
    Ok(has_changed)
}

/// Embeddings' inputs, which stand beside messages in none of the dialects.
fn input<'a>(root: &mut Node<'a>, budget: &mut Budget, visit: &mut Visit<'_, 'a>) -> Result<bool, TooMuch> {
    root.each_named("input", budget, &mut |node, budget| {
        if node.is_text() {
            return visit(node, budget);
        }
        node.each(budget, &mut |node, budget| if node.is_text() { visit(node, budget) } else { Ok(false) })
    })
}

fn chat<'a>(
    wanted: Fields,
    root: &mut Node<'a>,
    budget: &mut Budget,
    visit: &mut Visit<'_, 'a>,
) -> Result<bool, TooMuch> {
    let mut has_changed = false;
    if wanted.has(Field::User) {
        has_changed |= input(root, budget, visit)?;
    }
    if wanted.has(Field::ToolDescriptions) {
        has_changed |= descriptions(root, "tools", &["function", "custom"], budget, visit)?;
        has_changed |= descriptions(root, "functions", &[], budget, visit)?;
    }
    has_changed |= root.each_named("messages", budget, &mut |messages, budget| {
        messages.each(budget, &mut |message, budget| {
            let field = field_of(message.text_of("role", budget)?.as_deref());
            if !wanted.has(field) {
                return Ok(false);
            }
            message.each_named("content", budget, &mut |node, budget| content(node, &["text"], budget, visit))
        })
    })?;
    Ok(has_changed)
}

fn responses<'a>(
    wanted: Fields,
    root: &mut Node<'a>,
    budget: &mut Budget,
    visit: &mut Visit<'_, 'a>,
) -> Result<bool, TooMuch> {
    const TEXTS: [&str; 3] = ["input_text", "output_text", "text"];
    let mut has_changed = false;
    if wanted.has(Field::System) {
        has_changed |= text(root, "instructions", budget, visit)?;
    }
    if wanted.has(Field::ToolDescriptions) {
        has_changed |= descriptions(root, "tools", &[], budget, visit)?;
    }
    has_changed |= root.each_named("input", budget, &mut |node, budget| {
        if node.is_text() {
            return if wanted.has(Field::User) { visit(node, budget) } else { Ok(false) };
        }
        node.each(budget, &mut |item, budget| {
            let kind = item.text_of("type", budget)?;
            match kind.as_deref() {
                None | Some("message") => {
                    let field = field_of(item.text_of("role", budget)?.as_deref());
                    if !wanted.has(field) {
                        return Ok(false);
                    }
                    item.each_named("content", budget, &mut |node, budget| content(node, &TEXTS, budget, visit))
                }
                Some(kind) if kind.ends_with("_call_output") && wanted.has(Field::ToolResults) => {
                    item.each_named("output", budget, &mut |node, budget| content(node, &TEXTS, budget, visit))
                }
                Some(_) => Ok(false),
            }
        })
    })?;
    Ok(has_changed)
}

/// Both spellings of a member, which Gemini takes for the same.
fn either<'a>(
    node: &mut Node<'a>,
    names: [&str; 2],
    budget: &mut Budget,
    work: &mut Visit<'_, 'a>,
) -> Result<bool, TooMuch> {
    let [camel, snake] = names;
    Ok(node.each_named(camel, budget, work)? | node.each_named(snake, budget, work)?)
}

fn gemini<'a>(
    wanted: Fields,
    root: &mut Node<'a>,
    budget: &mut Budget,
    visit: &mut Visit<'_, 'a>,
) -> Result<bool, TooMuch> {
    // A question for a number of tokens has the request that it is about in it.
    let mut has_changed =
        either(root, ["generateContentRequest", "generate_content_request"], budget, &mut |inner, budget| {
            gemini_request(wanted, inner, budget, visit)
        })?;
    has_changed |= gemini_request(wanted, root, budget, visit)?;
    if wanted.has(Field::User) {
        let mut embedded = |node: &mut Node<'a>, budget: &mut Budget| {
            node.each_named("content", budget, &mut |content, budget| {
                gemini_content(wanted, Field::User, content, budget, visit)
            })
        };
        has_changed |= embedded(root, budget)?;
        has_changed |=
            root.each_named("requests", budget, &mut |requests, budget| requests.each(budget, &mut embedded))?;
    }
    Ok(has_changed)
}

fn gemini_request<'a>(
    wanted: Fields,
    root: &mut Node<'a>,
    budget: &mut Budget,
    visit: &mut Visit<'_, 'a>,
) -> Result<bool, TooMuch> {
    let mut has_changed = false;
    if wanted.has(Field::System) {
        has_changed |= either(root, ["systemInstruction", "system_instruction"], budget, &mut |node, budget| {
            gemini_content(wanted, Field::System, node, budget, visit)
        })?;
    }
    if wanted.has(Field::ToolDescriptions) {
        has_changed |= root.each_named("tools", budget, &mut |tools, budget| {
            tools.each(budget, &mut |tool, budget| {
                Ok(descriptions(tool, "functionDeclarations", &[], budget, visit)?
                    | descriptions(tool, "function_declarations", &[], budget, visit)?)
            })
        })?;
    }
    has_changed |= root.each_named("contents", budget, &mut |contents, budget| {
        contents.each(budget, &mut |content, budget| {
            let is_model = content.text_of("role", budget)?.as_deref() == Some("model");
            let field = if is_model { Field::Assistant } else { Field::User };
            gemini_content(wanted, field, content, budget, visit)
        })
    })?;
    Ok(has_changed)
}

/// The parts of a content whose texts are of the sort `field`.
fn gemini_content<'a>(
    wanted: Fields,
    field: Field,
    node: &mut Node<'a>,
    budget: &mut Budget,
    visit: &mut Visit<'_, 'a>,
) -> Result<bool, TooMuch> {
    node.each_named("parts", budget, &mut |parts, budget| {
        parts.each(budget, &mut |part, budget| {
            let is_thought = part.member("thought", budget)?.is_some_and(|thought| thought.is_true());
            let mut has_changed = wanted.has(field) && !is_thought && text(part, "text", budget, visit)?;
            if wanted.has(Field::ToolResults) {
                has_changed |=
                    either(part, ["functionResponse", "function_response"], budget, &mut |result, budget| {
                        result.each_named("response", budget, &mut |response, budget| {
                            let mut has_changed = false;
                            for name in ["output", "result", "content", "error"] {
                                has_changed |= text(response, name, budget, visit)?;
                            }
                            Ok(has_changed)
                        })
                    })?;
            }
            Ok(has_changed)
        })
    })
}
