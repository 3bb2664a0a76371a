use leptos::prelude::*;
use protocol::tool::{self, Changes, Subject};
use serde_json::{Map, Value};
use transcript::unseen;

use crate::components::{code::CodeBlock, diff::DiffView};

/// All arguments of a call in readable form: a command as code, a change as a diff, the rest by name.
#[component]
pub(crate) fn ArgumentsView(
    tool: String,
    arguments: Value,
    /// What the call would do to its file as it is now, if known.
    #[prop(optional_no_strip)]
    change: Option<Change>,
) -> impl IntoView {
    let parts = parts(&tool, &arguments, change);
    view! { <div class="arguments">{parts.into_iter().map(part_view).collect_view()}</div> }
}

fn part_view(part: Part) -> AnyView {
    match part {
        Part::Code { language, text } => {
            view! { <CodeBlock language=Some(language.to_owned()) text=text /> }.into_any()
        }
        Part::Change(diff) => view! { <DiffView diff=diff /> }.into_any(),
        Part::Fact { name, value } => view! {
            <p class="fact">
                <span>{unseen::shown(&name).into_owned()}</span>
                <code>{unseen::shown(&value).into_owned()}</code>
            </p>
        }
        .into_any(),
    }
}

/// What a call would do to a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Change {
    /// A unified diff; `None` where nothing would change or where `effect` says why no diff can be made.
    pub(crate) diff: Option<String>,
    pub(crate) effect: String,
}

/// One part of the arguments as shown.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Part {
    Code {
        language: &'static str,
        text: String,
    },
    /// Lines prefixed with `+` or `-`.
    Change(String),
    Fact {
        name: String,
        value: String,
    },
}

/// Splits the arguments into parts. Nothing is left out: whoever allows a call has seen all of it.
fn parts(tool: &str, arguments: &Value, change: Option<Change>) -> Vec<Part> {
    let Value::Object(fields) = arguments else {
        return vec![Part::Code { language: "arguments", text: arguments.to_string() }];
    };
    let text = |name: &str| fields.get(name).and_then(Value::as_str);
    if let Some(Change { diff, effect }) = change {
        let effect = Part::Fact { name: "change".to_owned(), value: effect };
        return match diff {
            // The diff already contains the new text and the text it replaces.
            Some(diff) => facts(fields, &["content", "old", "new"]).chain([effect, Part::Change(diff)]).collect(),
            None => {
                let mut told = parts(tool, arguments, None);
                told.insert(0, effect);
                told
            }
        };
    }
    let known = tool::facts(tool);
    let changes_file = known.changes == Changes::Files;
    let (told, shown): (&[&str], Vec<Part>) = match known.subject {
        Subject::Command if text("command").is_some() => (
            &["command"],
            vec![Part::Code { language: "command", text: text("command").unwrap_or_default().to_owned() }],
        ),
        Subject::Host if text("host").is_some() && text("command").is_some() => {
            let port = fields.get("port").map(|port| format!(":{port}")).unwrap_or_default();
            let host = format!("{}{port}", text("host").unwrap_or_default());
            let code = |language, text: &str| Part::Code { language, text: text.to_owned() };
            (
                &["host", "port", "command"],
                vec![code("host", &host), code("command", text("command").unwrap_or_default())],
            )
        }
        Subject::Path if changes_file && text("content").is_some() => {
            (&["content"], vec![Part::Change(signed('+', text("content").unwrap_or_default()))])
        }
        Subject::Path if changes_file && text("old").is_some() && text("new").is_some() => {
            let diff = signed('-', text("old").unwrap_or_default()) + &signed('+', text("new").unwrap_or_default());
            (&["old", "new"], vec![Part::Change(diff)])
        }
        Subject::Name if known.changes == Changes::Pods && text("task").is_some() => {
            (&["task"], vec![Part::Code { language: "task", text: text("task").unwrap_or_default().to_owned() }])
        }
        _ => (&[], Vec::new()),
    };
    facts(fields, told).chain(shown).collect()
}

fn facts<'a>(fields: &'a Map<String, Value>, told: &'a [&str]) -> impl Iterator<Item = Part> + 'a {
    fields.iter().filter(|(name, _)| !told.contains(&name.as_str())).map(|(name, value)| Part::Fact {
        name: name.replace('_', " "),
        value: value.as_str().map_or_else(|| value.to_string(), str::to_owned),
    })
}

/// Each line prefixed with `sign`.
fn signed(sign: char, text: &str) -> String {
    text.lines().map(|line| format!("{sign}{line}\n")).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_command_is_code_and_its_limits_are_told_too() {
        let expected = [
            Part::Fact { name: "timeout s".into(), value: "9".into() },
            Part::Code { language: "command", text: "cargo test\n  --all".into() },
        ];
        assert_eq!(parts("Bash", &json!({ "command": "cargo test\n  --all", "timeout_s": 9 }), None), expected);
    }

    #[test]
    fn a_way_out_is_its_host_and_the_command_that_wants_it() {
        let asked = json!({ "host": "crates.io", "port": 443, "command": "cargo add x" });
        let expected = [
            Part::Code { language: "host", text: "crates.io:443".into() },
            Part::Code { language: "command", text: "cargo add x".into() },
        ];
        assert_eq!(parts("Network", &asked, None), expected);
    }

    #[test]
    fn a_change_reads_as_a_diff_with_every_line() {
        let edit = json!({ "path": "/a", "old": "one\ntwo", "new": "three", "replace_all": true });
        let expected = [
            Part::Fact { name: "path".into(), value: "/a".into() },
            Part::Fact { name: "replace all".into(), value: "true".into() },
            Part::Change("-one\n-two\n+three\n".into()),
        ];
        assert_eq!(parts("Edit", &edit, None), expected);
        let write = parts("Write", &json!({ "path": "/a", "content": "x\n\ny\n" }), None);
        assert_eq!(write[1], Part::Change("+x\n+\n+y\n".into()));
    }

    #[test]
    fn what_a_write_takes_from_a_file_is_shown_once_it_is_known() {
        let write = json!({ "path": "/a", "content": "x" });
        let change = |diff: Option<&str>, effect: &str| {
            parts("Write", &write, Some(Change { diff: diff.map(str::to_owned), effect: effect.to_owned() }))
        };
        let fact = |name: &str, value: &str| Part::Fact { name: name.into(), value: value.into() };
        let known = [fact("path", "/a"), fact("change", "+1 −2"), Part::Change("-a\n-b\n+x\n".into())];
        assert_eq!(change(Some("-a\n-b\n+x\n"), "+1 −2"), known);
        let refused = [fact("change", "it would fail"), fact("path", "/a"), Part::Change("+x\n".into())];
        assert_eq!(change(None, "it would fail"), refused);
    }

    #[test]
    fn what_has_another_shape_than_expected_is_shown_all_the_same() {
        assert_eq!(parts("Bash", &json!("rm"), None), [Part::Code { language: "arguments", text: "\"rm\"".into() }]);
        let odd = parts("Edit", &json!({ "old": 1, "new": "x" }), None);
        assert_eq!(odd.len(), 2);
    }
}
