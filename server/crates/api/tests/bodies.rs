//! Every body that the OpenAPI document describes, with an array in place of each object.

#![allow(clippy::unwrap_used)]

mod common;

use common::{Server, answer, code};
use reqwest::Method;
use serde_json::{Map, Value, json};

/// A value that fits a schema; each variant of a list's items once.
fn sample(document: &Value, schema: &Value) -> Vec<Value> {
    if let Some(reference) = schema["$ref"].as_str() {
        let name = reference.rsplit('/').next().unwrap();
        return match name {
            "PodName" | "RuntimeId" | "WorkerId" | "CommandId" => vec![json!("a")],
            "Timestamp" => vec![json!("2026-11-21T00:00:00Z")],
            name => sample(document, &document["components"]["schemas"][name]),
        };
    }
    if let Some(words) = schema["enum"].as_array() {
        return words[..1].to_vec();
    }
    if let Some(choices) = schema["oneOf"].as_array() {
        let choices = choices.iter().filter(|choice| choice["type"] != "null");
        return choices.flat_map(|choice| sample(document, choice)).collect();
    }
    let kind = match &schema["type"] {
        Value::Array(kinds) => kinds[0].clone(),
        kind => kind.clone(),
    };
    match kind.as_str() {
        Some("array") => vec![Value::Array(sample(document, &schema["items"]))],
        Some("object") => objects(document, schema),
        Some("string") if schema["pattern"].as_str().is_some_and(|pattern| pattern.starts_with("^[0-9]")) => {
            vec![json!("1")]
        }
        Some("string") if schema["pattern"].as_str().is_some_and(|pattern| pattern.starts_with("^([A-Z]{3}")) => {
            vec![json!("USD")]
        }
        Some("string") => vec![json!("a")],
        Some("boolean") => vec![json!(true)],
        Some("integer" | "number") => vec![json!(1)],
        _ => panic!("{schema}"),
    }
}

/// As many objects as the largest number of variants that a property has.
fn objects(document: &Value, schema: &Value) -> Vec<Value> {
    let properties = schema["properties"].as_object().cloned().unwrap_or_default();
    let choices: Vec<_> = properties.iter().map(|(name, schema)| (name, sample(document, schema))).collect();
    let most = choices.iter().map(|(_, values)| values.len()).max().unwrap_or(1);
    let object = |at: usize| {
        let pick = |(name, values): &(&String, Vec<Value>)| ((*name).clone(), values[at % values.len()].clone());
        Value::Object(choices.iter().map(pick).collect::<Map<_, _>>())
    };
    (0..most).map(object).collect()
}

/// The body with one object replaced by an array of its values, and the field that leads there; for each object.
fn arrays(body: &Value) -> Vec<(String, Value)> {
    let mut found = Vec::new();
    let mut pointers = vec![String::new()];
    while let Some(pointer) = pointers.pop() {
        match body.pointer(&pointer).unwrap() {
            Value::Object(object) => {
                let mut changed = body.clone();
                *changed.pointer_mut(&pointer).unwrap() = object.values().cloned().collect();
                let field = pointer.split('/').nth(1).map_or("the body".to_owned(), |field| format!("`{field}"));
                found.push((field, changed));
                pointers.extend(object.keys().map(|key| format!("{pointer}/{key}")));
            }
            Value::Array(items) => pointers.extend((0..items.len()).map(|at| format!("{pointer}/{at}"))),
            _ => (),
        }
    }
    found
}

#[tokio::test]
async fn no_body_is_taken_with_an_array_where_the_document_says_object() {
    let server = Server::start().await;
    let ada = server.pod("ada").await;
    let (_, document) = server.get("/api/v1/openapi.json").await;
    let mut tried = 0;
    for (path, item) in document["paths"].as_object().unwrap() {
        for method in ["post", "put", "patch"] {
            let body = &item[method]["requestBody"]["content"]["application/json"]["schema"];
            if body.is_null() {
                continue;
            }
            let address = path
                .replace("/api/v1/runtimes/{runtime_id}/workers/{worker_id}", &ada)
                .replace("{name}", "Read")
                .replace(['{', '}'], "");
            for (field, body) in sample(&document, body).iter().flat_map(arrays) {
                let method = Method::from_bytes(method.to_uppercase().as_bytes()).unwrap();
                let told = answer(server.request(method, &address).json(&body)).await;
                assert_eq!(code(&told), (400, "invalid_input"), "{path} {body}");
                let detail = told.1["detail"].as_str().unwrap();
                assert!(detail.contains(&field), "{path} {body}: {detail}");
                tried += 1;
            }
        }
    }
    assert!(tried > 40, "{tried}");
    assert_eq!(server.get("/api/v1/pods").await.1["items"].as_array().unwrap().len(), 1, "none of them made a Pod");
}

#[tokio::test]
async fn segments_and_rules_written_as_arrays_of_their_fields_are_refused_by_name() {
    let server = Server::start().await;
    let ada = server.pod("ada").await;
    let input = server.post(&format!("{ada}/input"), json!({ "segments": [["text", "x"]] })).await;
    let scope = json!({ "name": "bob", "scope": [["/tmp", "read", true]] });
    let pod = server.post("/api/v1/pods", scope).await;
    for (told, field) in [(input, "`segments[0]`"), (pod, "`scope[0]`")] {
        assert_eq!(code(&told), (400, "invalid_input"));
        assert!(told.1["detail"].as_str().unwrap().contains(field), "{}", told.1);
    }
}

#[tokio::test]
async fn a_key_that_stands_twice_in_a_body_is_refused_wherever_it_is() {
    let server = Server::start().await;
    let ada = server.pod("ada").await;
    for (path, body) in [
        ("/api/v1/pods".to_owned(), r#"{"name":"bob","name":"eve"}"#),
        (format!("{ada}/tools/Read"), r#"{"arguments":{"path":"/a","path":"/b"}}"#),
        (format!("{ada}/input"), r#"{"segments":[{"type":"text","text":"a","text":"b"}]}"#),
    ] {
        let request = server.request(Method::POST, &path).header("content-type", "application/json").body(body);
        let told = answer(request).await;
        assert_eq!(code(&told), (400, "invalid_input"), "{body}");
        assert!(told.1["detail"].as_str().unwrap().contains("duplicate field"), "{}", told.1);
    }
}
