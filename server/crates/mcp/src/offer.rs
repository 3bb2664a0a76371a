//! The tools of one server as they are offered to a model: bounded, cleaned, and under names that every vendor accepts.

use std::collections::{BTreeMap, BTreeSet};

use rmcp::model::{Tool, ToolAnnotations};
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};

use crate::{
    bounds::{DESCRIPTION_CHARS_MAX, SCHEMA_BYTES_MAX, SCHEMAS_BYTES_MAX, TOOLS_MAX},
    config::ServerConfig,
    names,
    text::plain,
};

/// Top-level schema keywords that some vendors refuse. The server checks its arguments anyway.
const REFUSED_AT_TOP: [&str; 6] = ["$schema", "$id", "oneOf", "anyOf", "allOf", "not"];

/// One tool.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Definition {
    /// The server's own name for it.
    pub(crate) original: String,
    pub(crate) description: String,
    pub(crate) schema: Value,
    /// Covers everything that the server says about the tool.
    pub(crate) digest: String,
}

/// All tools, by the names that models use.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Offer {
    pub(crate) tools: BTreeMap<String, Definition>,
    /// A sentence about each thing that was left out.
    pub(crate) left_out: Vec<String>,
}

impl Offer {
    pub(crate) fn of(config: &ServerConfig, listed: Vec<Tool>) -> Self {
        let mut offer = Self::default();
        let (mut bytes, mut seen) = (0, BTreeSet::new());
        for tool in listed.into_iter().filter(|tool| config.offers(&tool.name)) {
            let shown = plain(&tool.name, 80);
            if !seen.insert(tool.name.to_string()) {
                offer.left_out.push(format!("it has two tools that are called \"{shown}\"; the second is left out"));
                continue;
            }
            if offer.tools.len() >= TOOLS_MAX {
                offer
                    .left_out
                    .push(format!("it has more than {TOOLS_MAX} tools; name those that you want with `tools`"));
                break;
            }
            let schema = schema(&tool);
            let size = schema.to_string().len();
            if size > SCHEMA_BYTES_MAX || bytes + size > SCHEMAS_BYTES_MAX {
                offer
                    .left_out
                    .push(format!("what it says of the arguments of \"{shown}\" is too long; it is left out"));
                continue;
            }
            bytes += size;
            let definition = Definition {
                digest: digest(&tool),
                description: description(&tool),
                original: tool.name.to_string(),
                schema,
            };
            offer.tools.insert(names::fit(config.name.as_str(), &definition.original), definition);
        }
        offer
    }
}

/// Returns the schema as an object, which is what every vendor wants.
fn schema(tool: &Tool) -> Value {
    let mut schema: Map<String, Value> = (*tool.input_schema).clone();
    REFUSED_AT_TOP.iter().for_each(|word| drop(schema.remove(*word)));
    schema.insert("type".to_owned(), Value::from("object"));
    if !schema.get("properties").is_some_and(Value::is_object) {
        schema.insert("properties".to_owned(), Value::Object(Map::new()));
    }
    let mut schema = Value::Object(schema);
    clean(&mut schema);
    schema
}

/// Cleans the texts of a schema, which reach the model just as descriptions do.
fn clean(value: &mut Value) {
    match value {
        Value::String(text) => *text = plain(text, DESCRIPTION_CHARS_MAX),
        Value::Array(items) => items.iter_mut().for_each(clean),
        Value::Object(fields) => fields.values_mut().for_each(clean),
        Value::Null | Value::Bool(_) | Value::Number(_) => (),
    }
}

/// Returns the description. Hints are the server's own claims and are presented as such.
fn description(tool: &Tool) -> String {
    let said = tool.description.as_deref().or(tool.title.as_deref()).unwrap_or_default();
    let mut text = plain(said, DESCRIPTION_CHARS_MAX);
    if text.is_empty() {
        text = format!("The tool \"{}\" of a server that says nothing of it.", plain(&tool.name, 80));
    }
    if let Some(hint) = tool.annotations.as_ref().and_then(hint) {
        text.push_str(&format!(" (Its server says: {hint}.)"));
    }
    text
}

fn hint(annotations: &ToolAnnotations) -> Option<&'static str> {
    match (annotations.read_only_hint, annotations.destructive_hint) {
        (Some(true), _) => Some("reads only"),
        (_, Some(true)) => Some("may destroy"),
        (Some(false), Some(false)) => Some("adds, and destroys nothing"),
        _ => None,
    }
}

/// Sorts the keys, so that the same definition always gives the same digest.
fn digest(tool: &Tool) -> String {
    let whole = serde_json::json!({
        "name": tool.name,
        "title": tool.title,
        "description": tool.description,
        "schema": *tool.input_schema,
        "annotations": tool.annotations,
    });
    let hash = Sha256::digest(protocol::tool::arguments_line(&whole));
    hash.iter().take(16).map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use std::{collections::BTreeMap as Map, sync::Arc};

    use serde_json::json;

    use super::*;
    use crate::config::{Address, ServerName};

    fn config(tools: Option<Vec<String>>) -> ServerConfig {
        let address = Address::program(vec!["x".into()], Map::new(), true).unwrap();
        ServerConfig::new(ServerName::parse("s").unwrap(), address, tools, Vec::new()).unwrap()
    }

    fn tool(name: &str, description: &str, schema: Value) -> Tool {
        let Value::Object(schema) = schema else { panic!("a schema is an object") };
        Tool::new(name.to_owned(), description.to_owned(), Arc::new(schema))
    }

    #[test]
    fn what_is_said_of_a_tool_is_bounded_and_cleaned() {
        let odd = json!({ "type": "array", "$schema": "x", "anyOf": [], "properties": { "a": { "description": "b\u{202e}\u{1b}[2Jc" } } });
        let offer =
            Offer::of(&config(None), vec![tool("a.b", &"x\u{200b}".repeat(9_000), odd), tool("c", "", json!({}))]);
        let first = offer.tools.values().next().unwrap();
        assert_eq!(first.original, "a.b");
        assert_eq!(first.description.chars().count(), 2_000);
        assert_eq!(first.schema, json!({ "type": "object", "properties": { "a": { "description": "bc" } } }));
        assert!(offer.tools["s__c"].description.contains("says nothing"));
    }

    #[test]
    fn too_many_too_long_and_two_of_one_name_are_left_out_and_said() {
        let long = json!({ "properties": { "a": { "description": "x ".repeat(900) }, "b": { "enum": vec!["y".repeat(100); 200] } } });
        let mut all = vec![tool("long", "", long), tool("one", "", json!({})), tool("one", "other", json!({}))];
        let offer = Offer::of(&config(None), all.clone());
        assert_eq!(offer.tools.keys().collect::<Vec<_>>(), ["s__one"]);
        assert_eq!(offer.left_out.len(), 2, "{:?}", offer.left_out);
        all.extend((0..300).map(|at| tool(&format!("t{at}"), "", json!({}))));
        let offer = Offer::of(&config(None), all);
        assert_eq!(offer.tools.len(), 100);
        assert!(offer.left_out.last().unwrap().contains("more than 100"));
    }

    #[test]
    fn only_those_are_offered_that_are_wanted() {
        let all = || vec![tool("a", "", json!({})), tool("b", "", json!({}))];
        let names = |tools| Offer::of(&config(tools), all()).tools.into_keys().collect::<Vec<_>>();
        assert_eq!(names(None), ["s__a", "s__b"]);
        assert_eq!(names(Some(vec!["b".into(), "c".into()])), ["s__b"]);
    }

    #[test]
    fn another_definition_has_another_digest() {
        let digest = |tool: Tool| Offer::of(&config(None), vec![tool]).tools["s__a"].digest.clone();
        let first = digest(tool("a", "reads", json!({ "x": 1, "y": 2 })));
        assert_eq!(first, digest(tool("a", "reads", json!({ "y": 2, "x": 1 }))));
        assert_ne!(first, digest(tool("a", "reads ", json!({ "x": 1, "y": 2 }))));
        assert_ne!(first, digest(tool("a", "reads", json!({ "x": 1 }))));
        let hinted =
            tool("a", "reads", json!({ "x": 1, "y": 2 })).with_annotations(ToolAnnotations::new().read_only(true));
        assert_ne!(first, digest(hinted));
    }
}
