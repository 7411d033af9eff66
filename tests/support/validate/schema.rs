//! A strict check against a vendor's JSON Schema: what is not declared is a fault.

use serde_json::{Map, Value};

/// Definitions by their name.
pub struct Schema(Map<String, Value>);

impl Schema {
    /// Reads a file of `schemas/`.
    pub fn parse(text: &str) -> Self {
        Self(serde_json::from_str(text).unwrap())
    }

    /// Declares a member that the vendor or its clients know and the SDK does not, in each of `definitions`.
    pub fn declare(&mut self, definitions: &[&str], member: &str, schema: &Value) {
        for definition in definitions {
            let of_name = self.0.get_mut(*definition).unwrap_or_else(|| panic!("there is no {definition}"));
            of_name["properties"][member] = schema.clone();
        }
    }

    /// Takes members for optional that the SDK's type of `definition` requires and the vendor does not.
    pub fn optional(&mut self, definition: &str, members: &[&str]) {
        let of_name = self.0.get_mut(definition).unwrap_or_else(|| panic!("there is no {definition}"));
        let required = of_name["required"].as_array_mut().unwrap();
        required.retain(|name| !members.iter().any(|member| name == member));
    }

    /// What is wrong with `value` as the definition `name`.
    pub fn check(&self, name: &str, value: &Value, path: &str) -> Vec<String> {
        let mut faults = vec![];
        self.value(self.0.get(name).unwrap_or_else(|| panic!("there is no {name}")), value, path, &mut faults);
        faults
    }

    fn resolve<'a>(&'a self, schema: &'a Value) -> &'a Value {
        match schema["$ref"].as_str() {
            Some(name) => self.resolve(self.0.get(name).unwrap_or_else(|| panic!("there is no {name}"))),
            None => schema,
        }
    }

    fn value(&self, schema: &Value, value: &Value, path: &str, faults: &mut Vec<String>) {
        let schema = self.resolve(schema);
        if let Some(branches) = schema["anyOf"].as_array() {
            return self.any_of(branches, value, path, faults);
        }
        if let Some(wanted) = schema["type"].as_str()
            && !is_of(wanted, value)
        {
            return faults.push(format!("{path} has to be of type {wanted}, not {}", short(value)));
        }
        if let Some(constant) = schema.get("const")
            && value != constant
        {
            faults.push(format!("{path} has to be {constant}, not {}", short(value)));
        }
        if let Some(list) = schema["enum"].as_array()
            && !list.contains(value)
        {
            faults.push(format!("{path} is {}, which is none of {list:?}", short(value)));
        }
        match value {
            Value::Object(members) => self.object(schema, members, path, faults),
            Value::Array(elements) => {
                for (index, element) in elements.iter().enumerate() {
                    self.value(&schema["items"], element, &format!("{path}[{index}]"), faults);
                }
            }
            _ => {}
        }
    }

    fn object(&self, schema: &Value, members: &Map<String, Value>, path: &str, faults: &mut Vec<String>) {
        for name in schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str) {
            if !members.contains_key(name) {
                faults.push(format!("{path}.{name} is missing"));
            }
        }
        for (name, member) in members {
            let path = format!("{path}.{name}");
            match (schema["properties"].get(name), &schema["additionalProperties"]) {
                (Some(schema), _) => self.value(schema, member, &path, faults),
                (None, Value::Bool(false)) => faults.push(format!("{path} is not known")),
                (None, schema @ Value::Object(_)) => self.value(schema, member, &path, faults),
                (None, _) => {}
            }
        }
    }

    /// The branches that `value` tells to be are tried; the one with the fewest faults speaks.
    fn any_of(&self, branches: &[Value], value: &Value, path: &str, faults: &mut Vec<String>) {
        let mut flat = vec![];
        branches.iter().for_each(|branch| self.flatten(branch, &mut flat));
        let fitting: Vec<&Value> = flat.iter().copied().filter(|branch| self.may_be(branch, value)).collect();
        let attempts = fitting.iter().map(|branch| {
            let mut faults = vec![];
            self.value(branch, value, path, &mut faults);
            faults
        });
        match attempts.min_by_key(Vec::len) {
            Some(fewest) => faults.extend(fewest),
            None => faults.push(format!("{path} is nothing that is known here: {}", short(value))),
        }
    }

    fn flatten<'a>(&'a self, branch: &'a Value, flat: &mut Vec<&'a Value>) {
        let branch = self.resolve(branch);
        match branch["anyOf"].as_array() {
            Some(branches) => branches.iter().for_each(|branch| self.flatten(branch, flat)),
            None => flat.push(branch),
        }
    }

    /// Whether the members that tell objects apart allow `value` to be this.
    fn may_be(&self, branch: &Value, value: &Value) -> bool {
        if branch["type"].as_str().is_some_and(|wanted| !is_of(wanted, value)) {
            return false;
        }
        ["type", "role"].into_iter().all(|name| {
            let schema = self.resolve(&branch["properties"][name]);
            match value.get(name) {
                Some(word) if schema.get("const").is_some() => schema["const"] == *word,
                Some(word) => schema["enum"].as_array().is_none_or(|list| list.contains(word)),
                None => true,
            }
        })
    }
}

fn is_of(wanted: &str, value: &Value) -> bool {
    match wanted {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        "null" => value.is_null(),
        _ => panic!("{wanted} is no type"),
    }
}

/// A value for a message.
pub fn short(value: &Value) -> String {
    value.to_string().chars().take(120).collect()
}
