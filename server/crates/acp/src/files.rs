//! Turns what an agent asks yoi to do into a call of one of yoi's own tools.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use crate::wire::{Fault, cut};

/// The size of a command line, with all its arguments.
const COMMAND_BYTES_MAX: usize = 128 * 1024;
const VARIABLES_MAX: usize = 100;
/// The longest that a command may run.
const SECONDS_MAX: u64 = 600;

/// `fs/read_text_file`.
pub(crate) fn read(params: &Value) -> Result<Value, Fault> {
    let mut arguments = Map::from_iter([("path".to_owned(), json!(path(params)?))]);
    // Some agents count lines from 0.
    for (name, theirs) in [("offset", "line"), ("limit", "limit")] {
        if let Some(number) = params.get(theirs).and_then(Value::as_u64) {
            let number = if name == "offset" { number.max(1) } else { number };
            arguments.insert(name.to_owned(), json!(number));
        }
    }
    Ok(Value::Object(arguments))
}

/// `fs/write_text_file`.
pub(crate) fn write(params: &Value) -> Result<Value, Fault> {
    let content = params.get("content").and_then(Value::as_str);
    let content = content.ok_or_else(|| Fault::bad_params("`content` is a text"))?;
    Ok(json!({ "path": path(params)?, "content": content }))
}

/// `terminal/create`: a command line for a shell, as a person would type it.
pub(crate) fn command(params: &Value) -> Result<Value, Fault> {
    let text = |name: &str| params.get(name).and_then(Value::as_str).filter(|text| !text.is_empty());
    let program = text("command").ok_or_else(|| Fault::bad_params("`command` is a text that is not empty"))?;
    let words = params.get("args").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let words: Vec<&str> = words.iter().filter_map(Value::as_str).collect();
    // A command without arguments is a whole command line already.
    let line = match words.is_empty() {
        true => program.to_owned(),
        false => std::iter::once(program).chain(words).map(quoted).collect::<Vec<_>>().join(" "),
    };
    let variables: BTreeMap<&str, &str> = params
        .get("env")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .take(VARIABLES_MAX)
        .filter_map(|variable| Some((variable.get("name")?.as_str()?, variable.get("value")?.as_str()?)))
        .filter(|(name, _)| is_name(name))
        .collect();
    let exports: String = variables.iter().map(|(name, value)| format!("export {name}={}; ", quoted(value))).collect();
    let line = format!("{exports}{line}");
    if line.len() > COMMAND_BYTES_MAX {
        return Err(Fault::bad_params(format!("a command line has at most {COMMAND_BYTES_MAX} bytes")));
    }
    let mut arguments = json!({ "command": line, "timeout_s": SECONDS_MAX });
    if let Some(cwd) = text("cwd") {
        arguments["cwd"] = json!(cwd);
    }
    Ok(arguments)
}

fn path(params: &Value) -> Result<&str, Fault> {
    match params.get("path").and_then(Value::as_str) {
        Some(path) if path.starts_with('/') && !path.contains('\0') => Ok(path),
        Some(path) => Err(Fault::bad_params(format!("`path` is an absolute path, not \"{}\"", cut(path, 100)))),
        None => Err(Fault::bad_params("`path` is missing")),
    }
}

fn is_name(name: &str) -> bool {
    let is_letter = |letter: char| letter.is_ascii_alphabetic() || letter == '_';
    name.starts_with(is_letter) && name.chars().all(|letter| is_letter(letter) || letter.is_ascii_digit())
}

/// Quotes a word so that a shell reads it back unchanged.
fn quoted(word: &str) -> String {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "-_./=:@%+,".contains(letter);
    match !word.is_empty() && word.chars().all(is_plain) {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', r"'\''")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_is_one_line_and_no_word_of_it_becomes_another_command() {
        let table = [
            (json!({ "command": "ls -l | wc" }), "ls -l | wc"),
            (json!({ "command": "ls", "args": ["-l", "a b", "$(id)", "it's"] }), r"ls -l 'a b' '$(id)' 'it'\''s'"),
            (
                json!({ "command": "make", "args": ["x"], "env": [{ "name": "A", "value": "1 2" }, { "name": "B;id", "value": "" }] }),
                "export A='1 2'; make x",
            ),
        ];
        for (params, line) in table {
            assert_eq!(command(&params).unwrap()["command"], line);
        }
        assert_eq!(command(&json!({ "command": "pwd", "cwd": "/w" })).unwrap()["cwd"], "/w");
        assert!(command(&json!({ "command": "" })).is_err());
        assert!(command(&json!({ "command": "x".repeat(COMMAND_BYTES_MAX + 1) })).is_err());
    }

    #[test]
    fn a_file_is_named_by_an_absolute_path() {
        assert_eq!(
            read(&json!({ "path": "/a", "line": 3, "limit": 2 })).unwrap(),
            json!({ "path": "/a", "offset": 3, "limit": 2 })
        );
        assert_eq!(write(&json!({ "path": "/a", "content": "x" })).unwrap(), json!({ "path": "/a", "content": "x" }));
        for params in [json!({ "path": "a" }), json!({}), json!({ "path": 1 }), json!({ "path": "/a\0" })] {
            assert!(read(&params).is_err(), "{params}");
        }
        assert!(write(&json!({ "path": "/a" })).is_err());
    }
}
