//! What OpenAI checks in both of its dialects beyond the types.

use serde_json::Value;

use super::schema::short;

/// A list of faults, and where one is.
#[derive(Default)]
pub struct Faults(pub Vec<String>);

impl Faults {
    pub fn add(&mut self, path: &str, fault: impl std::fmt::Display) {
        self.0.push(format!("{path}: {fault}"));
    }

    pub fn unless(&mut self, right: bool, path: &str, fault: impl std::fmt::Display) {
        if !right {
            self.add(path, fault);
        }
    }
}

pub fn text<'a>(value: &'a Value, member: &str) -> &'a str {
    value[member].as_str().unwrap_or_default()
}

pub fn list(value: &Value) -> &[Value] {
    value.as_array().map(Vec::as_slice).unwrap_or_default()
}

/// Names of functions, of custom tools and of schemas.
pub fn name(name: &Value, path: &str, faults: &mut Faults) {
    let name = name.as_str().unwrap_or_default();
    let fits = (1..=64).contains(&name.len())
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'));
    faults.unless(fits, path, format!("{name:?} is no name: 1 to 64 of [a-zA-Z0-9_-]"));
}

/// Ids of calls.
pub fn call_id(id: &Value, path: &str, faults: &mut Faults) {
    let id = id.as_str().unwrap_or_default();
    faults.unless((1..=64).contains(&id.len()), path, format!("{id:?} has to have 1 to 64 characters"));
}

/// Whether `arguments` is the text of a JSON object.
pub fn is_arguments(arguments: &Value) -> bool {
    arguments.as_str().is_some_and(|text| serde_json::from_str::<serde_json::Map<String, Value>>(text).is_ok())
}

/// The arguments of a call that is sent back.
pub fn arguments(arguments: &Value, path: &str, faults: &mut Faults) {
    faults.unless(is_arguments(arguments), path, format!("{} is no text of a JSON object", short(arguments)));
}

/// The parameters of a function. <https://developers.openai.com/api/docs/guides/function-calling>
pub fn parameters(parameters: &Value, strict: bool, path: &str, faults: &mut Faults) {
    if parameters.is_null() {
        return;
    }
    faults.unless(parameters["type"] == "object", path, "has to be a schema of type object");
    for word in ["anyOf", "oneOf", "allOf", "enum", "not"] {
        faults.unless(parameters.get(word).is_none(), path, format!("must not have {word} at its top"));
    }
    schema(parameters, strict, path, faults);
}

/// A schema; `strict` is the subset of structured outputs.
/// <https://developers.openai.com/api/docs/guides/structured-outputs#supported-schemas>
pub fn schema(of: &Value, strict: bool, path: &str, faults: &mut Faults) {
    let Some(members) = of.as_object() else {
        return faults.unless(of.is_boolean() && !strict, path, "is no schema");
    };
    let is = |wanted: &str| of["type"] == wanted || list(&of["type"]).iter().any(|word| word == wanted);
    faults.unless(
        !is("array") || of.get("items").is_some() || of.get("prefixItems").is_some(),
        path,
        "an array schema has to have items",
    );
    if strict {
        self::strict(of, is("object") || of.get("properties").is_some(), path, faults);
    }
    for (name, member) in members {
        let path = format!("{path}.{name}");
        match name.as_str() {
            "properties" | "$defs" | "definitions" | "patternProperties" => {
                for (name, property) in member.as_object().into_iter().flatten() {
                    schema(property, strict, &format!("{path}.{name}"), faults);
                }
            }
            "anyOf" | "oneOf" | "allOf" | "prefixItems" => {
                for (index, branch) in list(member).iter().enumerate() {
                    schema(branch, strict, &format!("{path}[{index}]"), faults);
                }
            }
            "items" | "not" => schema(member, strict, &path, faults),
            _ => {}
        }
    }
}

fn strict(of: &Value, is_object: bool, path: &str, faults: &mut Faults) {
    for word in
        ["allOf", "oneOf", "not", "dependentRequired", "dependentSchemas", "if", "then", "else", "patternProperties"]
    {
        faults.unless(of.get(word).is_none(), path, format!("a strict schema must not have {word}"));
    }
    if !is_object {
        return;
    }
    faults.unless(
        of["additionalProperties"] == false,
        path,
        "a strict schema has to set additionalProperties to false",
    );
    let required = list(&of["required"]);
    for (name, _) in of["properties"].as_object().into_iter().flatten() {
        faults.unless(required.iter().any(|one| one == name), path, format!("a strict schema has to require {name}"));
    }
}

/// `metadata`
pub fn metadata(metadata: &Value, path: &str, faults: &mut Faults) {
    let Some(members) = metadata.as_object() else { return };
    faults.unless(members.len() <= 16, path, "has more than 16 members");
    for (name, value) in members {
        let fits = name.chars().count() <= 64 && value.as_str().is_none_or(|text| text.chars().count() <= 512);
        faults.unless(fits, path, format!("{name} is too long"));
    }
}

/// A number within its bounds.
pub fn range(body: &Value, member: &str, least: f64, most: f64, faults: &mut Faults) {
    if let Some(number) = body[member].as_f64() {
        faults.unless((least..=most).contains(&number), member, format!("{number} is not within {least} to {most}"));
    }
}

/// Whether the model thinks, by its name. <https://developers.openai.com/api/docs/guides/reasoning>
pub fn thinks(model: &str) -> bool {
    let is_o = model.strip_prefix('o').is_some_and(|rest| rest.starts_with(|first: char| first.is_ascii_digit()));
    is_o || (gpt(model).is_some_and(|version| version >= (5, 0)) && !model.starts_with("gpt-5-chat"))
}

/// The version of a GPT.
pub fn gpt(model: &str) -> Option<(u32, u32)> {
    let rest = model.strip_prefix("gpt-")?;
    let version = rest.split('-').next()?;
    let (major, minor) = version.split_once('.').unwrap_or((version, "0"));
    Some((major.parse().ok()?, minor.parse().ok()?))
}

/// The efforts that a model refuses, of those that have a table in the vendor's documents.
pub fn effort(model: &str, effort: &Value, path: &str, faults: &mut Faults) {
    let Some(word) = effort.as_str() else { return };
    if !thinks(model) {
        return faults.add(path, format!("{model} does not reason"));
    }
    let version = gpt(model);
    let is_refused = match word {
        "none" => {
            version.is_none_or(|version| !((5, 1)..(6, 2)).contains(&version))
                || model.starts_with("gpt-6.1-sol")
                || model.contains("astra")
        }
        "minimal" => version != Some((5, 0)),
        "xhigh" => version.is_none_or(|version| version < (5, 2)) && !model.contains("codex-max"),
        "max" => version.is_none_or(|version| version < (5, 6)),
        _ => false,
    };
    faults.unless(!is_refused, path, format!("{model} does not take {word}"));
}

/// Where an image is.
pub fn image_url(url: &Value, path: &str, faults: &mut Faults) {
    let url = url.as_str().unwrap_or_default();
    let is_data = ["png", "jpeg", "jpg", "webp", "gif"]
        .iter()
        .any(|kind| url.strip_prefix(&format!("data:image/{kind};base64,")).is_some_and(is_base64));
    let is_remote = url.starts_with("https://") || url.starts_with("http://");
    faults.unless(is_data || is_remote, path, format!("{} is no address of an image", short(&url.into())));
}

/// A file's bytes.
pub fn file_data(data: &Value, path: &str, faults: &mut Faults) {
    let data = data.as_str().unwrap_or_default();
    let base64 = data.strip_prefix("data:").and_then(|rest| rest.split_once(";base64,"));
    faults.unless(
        base64.is_some_and(|(kind, data)| kind.contains('/') && is_base64(data)),
        path,
        "is no data URL with Base64",
    );
}

/// Base64 in the ordinary alphabet.
pub fn is_base64(text: &str) -> bool {
    let body = text.trim_end_matches('=');
    !body.is_empty()
        && text.len().is_multiple_of(4)
        && text.len() - body.len() <= 2
        && body.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/'))
}
