//! What a model is told about the arguments, and what it is told when they do not fit.

use serde_json::json;
use tools::{
    Tool,
    bash::{Bash, BashOptions},
};

use crate::place::{Desk, code};

#[test]
fn every_tool_has_a_closed_schema_with_described_fields() {
    let tools = tools::files::tools();
    let names = tools.iter().map(|tool| tool.name()).collect::<Vec<_>>();
    assert_eq!(names, ["Read", "Write", "Edit", "Glob", "Grep"]);
    for tool in tools {
        let schema = tool.schema();
        assert_eq!(schema["additionalProperties"], json!(false), "{schema}");
        for (field, property) in schema["properties"].as_object().unwrap() {
            assert!(property["description"].is_string(), "{}.{field}", tool.name());
        }
        let text = schema.to_string();
        assert!(!["$ref", "$schema", "\"format\"", "\"title\""].iter().any(|word| text.contains(word)), "{text}");
        assert_eq!(tool.only_reads(), !["Write", "Edit"].contains(&tool.name()));
    }
}

#[test]
fn arguments_that_do_not_fit_are_refused_by_field_and_with_the_way_out() {
    let mut desk = Desk::new();
    let cases = [
        ("Read", json!({ "file": "a" }), "file: unknown field `file`"),
        ("Read", json!({}), "missing field `path`"),
        ("Read", json!({ "path": 3 }), "path: invalid type"),
        ("Read", json!({ "path": "a", "limit": "x" }), "limit: invalid type"),
        ("Read", json!({ "path": "a", "offset": -1 }), "offset: invalid value"),
        ("Read", json!(null), "these are no arguments of Read: "),
        ("Read", json!(["a", null, null]), "these are no arguments of Read: an array"),
        ("Glob", json!({ "pattern": "a[" }), "pattern: unclosed character class"),
        ("Glob", json!({ "pattern": "../*" }), "pattern: it is matched against paths beneath `path`"),
        ("Grep", json!({ "pattern": "(" }), "pattern: unclosed group"),
        ("Grep", json!({ "pattern": "a{900}{900}{900}" }), "pattern: "),
        ("Grep", json!({ "pattern": "a", "glob": "{a" }), "glob: unclosed alternate group"),
        ("Grep", json!({ "pattern": "a", "context": 11 }), "context: 11 is not from 0 to 10"),
        ("Grep", json!({ "pattern": "a", "limit": 1001 }), "limit: 1001 is not from 1 to 1000"),
        ("Read", json!({ "path": "a\u{0}b" }), "path: it has a NUL character in it"),
        ("Write", json!({ "path": "a".repeat(256), "content": "" }), "path: one of its names"),
    ];
    for (tool, arguments, wanted) in cases {
        let outcome = desk.call(tool, arguments.clone());
        assert_eq!(code(&outcome), "invalid_input", "{arguments}: {}", outcome.summary);
        assert!(outcome.summary.contains(wanted), "{arguments}: {}", outcome.summary);
        assert!(!outcome.summary.contains('\n'), "one line: {}", outcome.summary);
    }
    let outcome = desk.call("Read", json!({}));
    assert!(outcome.summary.ends_with("it takes {path, offset?, limit?}"), "{}", outcome.summary);
}

#[test]
fn what_does_not_fit_is_known_without_a_call() {
    let tools = tools::files::tools();
    let misfit = |name: &str, arguments| tools.iter().find(|tool| tool.name() == name).unwrap().misfit(&arguments);
    let sentence = misfit("Write", json!({ "path": "a.txt", "contents": "x" })).unwrap();
    assert!(sentence.contains("unknown field `contents`"), "{sentence}");
    assert!(sentence.ends_with("it takes {path, content}"), "{sentence}");
    assert_eq!(misfit("Write", json!({ "path": "a.txt", "content": "x" })), None);
    assert!(misfit("Edit", json!({ "path": "a.txt" })).is_some());
    let bash = Bash::new(BashOptions::of_this_process());
    for (arguments, wanted) in [
        (json!({ "cmd": "ls" }), "unknown field `cmd`"),
        (json!({ "command": "ls", "timeout_s": 0 }), "timeout_s is 0; it must be from 1 to 600"),
        (json!({ "command": "ls", "timeout_s": 5000, "background": true }), "timeout_s is 5000"),
        (json!({ "command": "a\0b" }), "NUL character"),
    ] {
        let sentence = bash.misfit(&arguments).unwrap();
        assert!(sentence.contains(wanted), "{arguments}: {sentence}");
    }
    assert_eq!(bash.misfit(&json!({ "command": "ls", "timeout_s": 600 })), None);
}
