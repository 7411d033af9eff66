//! What is wrong with a request whoever is to answer it, and so is refused alike in all pairs.

use std::collections::BTreeSet;

use super::ConvertError;
use crate::protocol::claude::wire::request::MessagesRequest;
use crate::protocol::claude::wire::tools::Tool as ClaudeTool;
use crate::protocol::gemini::wire::request::GenerateContentRequest;
use crate::protocol::gemini::wire::tools::FunctionCallingMode;
use crate::protocol::openai_chat::wire::request::Request as ChatRequest;
use crate::protocol::openai_chat::wire::tools::Tool as ChatTool;
use crate::protocol::openai_responses::wire::request::Request as ResponsesRequest;
use crate::protocol::openai_responses::wire::tools::Tool as ResponsesTool;

/// A client's request.
pub(super) trait Checked {
    /// Refuses what makes no sense in the client's own dialect.
    fn check(&self) -> Result<(), ConvertError>;
}

impl Checked for ChatRequest<'_> {
    fn check(&self) -> Result<(), ConvertError> {
        within("temperature", self.temperature, 0.0, 2.0)?;
        within("top_p", self.top_p, 0.0, 1.0)?;
        within("presence_penalty", self.presence_penalty, -2.0, 2.0)?;
        within("frequency_penalty", self.frequency_penalty, -2.0, 2.0)?;
        let mut names = Names::default();
        for (index, tool) in self.tools.iter().flatten().enumerate() {
            match tool {
                ChatTool::Function(tool) => {
                    names.declare(None, &tool.function.name, || format!("tools[{index}].function.name"))?;
                }
                ChatTool::Custom(tool) => {
                    names.declare(None, &tool.custom.name, || format!("tools[{index}].custom.name"))?;
                }
                ChatTool::Other(_) => {}
            }
        }
        let mut names = Names::default();
        for (index, function) in self.functions.iter().flatten().enumerate() {
            names.declare(None, &function.name, || format!("functions[{index}].name"))?;
        }
        Ok(())
    }
}

impl Checked for ResponsesRequest<'_> {
    fn check(&self) -> Result<(), ConvertError> {
        within("temperature", self.temperature, 0.0, 2.0)?;
        within("top_p", self.top_p, 0.0, 1.0)?;
        let mut names = Names::default();
        for (index, tool) in self.tools.iter().flatten().enumerate() {
            let path = format!("tools[{index}]");
            let ResponsesTool::Namespace(namespace) = tool else {
                declare(&mut names, None, tool, &path)?;
                continue;
            };
            for (index, tool) in namespace.tools.iter().enumerate() {
                declare(&mut names, Some(&namespace.name), tool, &format!("{path}.tools[{index}]"))?;
            }
        }
        Ok(())
    }
}

fn declare<'a>(
    names: &mut Names<'a>,
    namespace: Option<&'a str>,
    tool: &'a ResponsesTool<'_>,
    path: &str,
) -> Result<(), ConvertError> {
    match tool {
        ResponsesTool::Function(tool) => names.declare(namespace, &tool.name, || format!("{path}.name")),
        ResponsesTool::Custom(tool) => names.declare(namespace, &tool.name, || format!("{path}.name")),
        _ => Ok(()),
    }
}

impl Checked for MessagesRequest<'_> {
    fn check(&self) -> Result<(), ConvertError> {
        within("temperature", self.temperature, 0.0, 1.0)?;
        within("top_p", self.top_p, 0.0, 1.0)?;
        let mut names = Names::default();
        for (index, tool) in self.tools.iter().flatten().enumerate() {
            let name = match tool {
                ClaudeTool::Custom(tool) => &tool.name,
                ClaudeTool::Bash(tool) | ClaudeTool::TextEditor(tool) | ClaudeTool::Memory(tool) => &tool.name,
                _ => continue,
            };
            names.declare(None, name, || format!("tools[{index}].name"))?;
        }
        Ok(())
    }
}

impl Checked for GenerateContentRequest<'_> {
    fn check(&self) -> Result<(), ConvertError> {
        if let Some(config) = &self.generation_config {
            within("generationConfig.temperature", config.temperature.map(|number| number.0), 0.0, 2.0)?;
            within("generationConfig.topP", config.top_p.map(|number| number.0), 0.0, 1.0)?;
        }
        let mut names = Names::default();
        for (index, tool) in self.tools.iter().enumerate() {
            for (place, function) in tool.function_declarations.iter().flatten().enumerate() {
                let path = || format!("tools[{index}].functionDeclarations[{place}].name");
                names.declare(None, function.name.as_deref().unwrap_or_default(), path)?;
            }
        }
        self.check_allowed_names(&names)
    }
}

impl GenerateContentRequest<'_> {
    /// A model that has to call one of these functions can only if there are any. Those of a computer are not declared.
    fn check_allowed_names(&self, names: &Names<'_>) -> Result<(), ConvertError> {
        let Some(calling) = self.tool_config.as_ref().and_then(|config| config.function_calling_config.as_ref()) else {
            return Ok(());
        };
        if calling.mode != Some(FunctionCallingMode::Any) || self.tools.iter().any(|tool| tool.computer_use.is_some()) {
            return Ok(());
        }
        for (index, name) in calling.allowed_function_names.iter().enumerate() {
            if !names.0.contains(&(None, &**name)) {
                return Err(ConvertError::invalid(
                    format!("toolConfig.functionCallingConfig.allowedFunctionNames[{index}]"),
                    "names no function that is declared",
                ));
            }
        }
        Ok(())
    }
}

/// The tools so far, by namespace and name.
#[derive(Default)]
struct Names<'a>(BTreeSet<(Option<&'a str>, &'a str)>);

impl<'a> Names<'a> {
    fn declare(
        &mut self,
        namespace: Option<&'a str>,
        name: &'a str,
        path: impl Fn() -> String,
    ) -> Result<(), ConvertError> {
        if name.is_empty() {
            return Err(ConvertError::invalid(path(), "is missing"));
        }
        if !self.0.insert((namespace, name)) {
            return Err(ConvertError::invalid(path(), "is declared twice; give each tool a name of its own"));
        }
        Ok(())
    }
}

fn within(path: &'static str, value: Option<f64>, min: f64, max: f64) -> Result<(), ConvertError> {
    match value {
        Some(value) if !(min..=max).contains(&value) => {
            Err(ConvertError::invalid(path, format!("must be from {min} to {max}")))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use crate::protocol::convert::media::Media;
    use crate::protocol::convert::{Context, ConvertError, ServerTools, request};
    use crate::protocol::dialect::Dialect::{self, Claude, Gemini, OpenAiChat, OpenAiResponses};

    /// The paths at which `members` of a request in `from` are refused, towards each other dialect.
    fn refused(from: Dialect, members: Value) -> Vec<String> {
        let mut body = match from {
            OpenAiChat => json!({"model": "m", "messages": [{"role": "user", "content": "hi"}]}),
            OpenAiResponses => json!({"model": "m", "input": "hi"}),
            Claude => json!({"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": "hi"}]}),
            Gemini => json!({"contents": [{"parts": [{"text": "hi"}]}]}),
        };
        let members: serde_json::Map<String, Value> = serde_json::from_value(members).unwrap();
        body.as_object_mut().unwrap().extend(members);
        let media = Media::new();
        let context = Context { model: "m", stream: false, server_tools: ServerTools::Drop, media: &media };
        let others = [OpenAiChat, OpenAiResponses, Claude, Gemini].into_iter().filter(|to| *to != from);
        let mut paths: Vec<_> = others
            .map(|to| match request(from, to, &body.to_string(), &context) {
                Err(ConvertError::Invalid { path, .. }) => path,
                other => format!("{other:?}"),
            })
            .collect();
        paths.dedup();
        paths
    }

    #[test]
    fn each_tool_has_a_name_of_its_own() {
        let function = |name: &str| json!({"type": "function", "name": name, "parameters": {"type": "object"}});
        let of_chat = |name: &str| json!({"type": "function", "function": {"name": name}});
        let of_claude = |name: &str| json!({"name": name, "input_schema": {"type": "object"}});
        for (from, tools, path) in [
            (OpenAiChat, json!([of_chat("a"), of_chat("a")]), "tools[1].function.name"),
            (OpenAiChat, json!([of_chat("")]), "tools[0].function.name"),
            (OpenAiResponses, json!([function("a"), function("a")]), "tools[1].name"),
            (OpenAiResponses, json!([function("")]), "tools[0].name"),
            (Claude, json!([of_claude("a"), of_claude("a")]), "tools[1].name"),
            (Claude, json!([of_claude("")]), "tools[0].name"),
            (
                Gemini,
                json!([{"functionDeclarations": [{"name": "a"}, {"name": "a"}]}]),
                "tools[0].functionDeclarations[1].name",
            ),
            (Gemini, json!([{"functionDeclarations": [{"name": ""}]}]), "tools[0].functionDeclarations[0].name"),
        ] {
            assert_eq!(refused(from, json!({ "tools": tools })), [path], "{from:?}");
        }
    }

    #[test]
    fn sampling_is_within_the_range_of_the_clients_dialect() {
        for (from, member, value) in [
            (OpenAiChat, "temperature", 2.1),
            (OpenAiChat, "top_p", -0.1),
            (OpenAiResponses, "temperature", -1.0),
            (OpenAiResponses, "top_p", 1.1),
            (Claude, "temperature", 1.1),
        ] {
            assert_eq!(refused(from, json!({ member: value })), [member], "{from:?}");
        }
        assert_eq!(refused(Gemini, json!({"generationConfig": {"topP": 2}})), ["generationConfig.topP"]);
    }

    #[test]
    fn a_function_that_has_to_be_called_is_declared() {
        let members = json!({
            "tools": [{"functionDeclarations": [{"name": "a"}]}],
            "toolConfig": {"functionCallingConfig": {"mode": "ANY", "allowedFunctionNames": ["a", "b"]}},
        });
        assert_eq!(refused(Gemini, members), ["toolConfig.functionCallingConfig.allowedFunctionNames[1]"]);
    }
}
