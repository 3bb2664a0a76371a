//! Tasks: the Pod's task list, which people see beside its transcript. Each call replaces the whole list.

use async_trait::async_trait;
use pod::ToolOutcome;
use protocol::PlanEntry;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use crate::{Output, Place, Tool, arguments};

/// The most tasks of a list, and the most characters of one.
const TASKS_MAX: usize = 100;
const TASK_CHARS_MAX: usize = 500;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Arguments {
    /// All tasks in order, at most 100; an empty list removes them.
    #[serde(alias = "todos", alias = "tasks")]
    items: Vec<Item>,
}

/// One task. Models are used to other names, so those are taken too, and further fields are ignored.
#[derive(Debug, Deserialize, JsonSchema)]
struct Item {
    /// What is to be done, in one line of at most 500 characters.
    #[serde(alias = "content", alias = "title", alias = "task")]
    text: String,
    #[serde(default, alias = "status")]
    state: State,
}

#[derive(Debug, Clone, Copy, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum State {
    #[default]
    #[serde(alias = "todo", alias = "open", alias = "not_started")]
    Pending,
    #[serde(alias = "in-progress", alias = "active", alias = "doing")]
    InProgress,
    #[serde(alias = "completed", alias = "complete", alias = "finished")]
    Done,
}

/// The tool `Tasks`.
#[derive(Debug)]
pub struct Tasks;

#[async_trait]
impl Tool for Tasks {
    fn name(&self) -> &'static str {
        "Tasks"
    }

    fn description(&self) -> &'static str {
        "Replaces your task list, which the person sees beside the conversation. Keep one for work of several steps: give \
         all tasks each time, mark the one that you work on as in_progress, and mark a task as done as soon as it is. \
         When your context is summarised, the list stays."
    }

    fn schema(&self) -> Value {
        arguments::schema_of::<Arguments>()
    }

    async fn call(&self, _: &Place, arguments: Value, _: Output) -> ToolOutcome {
        match arguments::parsed::<Arguments>("Tasks", arguments).and_then(entries) {
            Err(sentence) => ToolOutcome::failed("invalid_input", sentence),
            Ok(tasks) => {
                let done = tasks.iter().filter(|task| task.status == "completed").count();
                let lines: Vec<String> = tasks.iter().map(PlanEntry::line).collect();
                let outcome = ToolOutcome::done(format!("{done} of {} tasks are done", tasks.len()));
                ToolOutcome { tasks: Some(tasks), ..outcome.with_content(lines.join("\n")) }
            }
        }
    }
}

/// The list as it is stored. The error is a sentence.
fn entries(arguments: Arguments) -> Result<Vec<PlanEntry>, String> {
    let Arguments { items } = arguments;
    if items.len() > TASKS_MAX {
        return Err(format!("these are {} tasks; a list has at most {TASKS_MAX}", items.len()));
    }
    let entry = |(at, Item { text, state }): (usize, Item)| {
        let content = text.split_whitespace().collect::<Vec<_>>().join(" ");
        if content.is_empty() || content.chars().count() > TASK_CHARS_MAX {
            return Err(format!("items[{at}].text has from 1 to {TASK_CHARS_MAX} characters"));
        }
        let status = match state {
            State::Pending => "pending",
            State::InProgress => "in_progress",
            State::Done => "completed",
        };
        Ok(PlanEntry { content, priority: "medium".to_owned(), status: status.to_owned() })
    };
    items.into_iter().enumerate().map(entry).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn parsed(arguments: Value) -> Result<Vec<String>, String> {
        let entries = arguments::parsed::<Arguments>("Tasks", arguments).and_then(entries)?;
        Ok(entries.iter().map(PlanEntry::line).collect())
    }

    #[test]
    fn the_names_that_models_are_used_to_are_taken() {
        let items = json!([
            { "text": " read\nit ", "state": "done" },
            { "content": "write", "status": "in_progress", "activeForm": "Writing" },
            { "title": "test", "status": "completed" },
            { "text": "ship" },
        ]);
        let lines = ["[x] read it", "[~] write", "[x] test", "[ ] ship"];
        assert_eq!(parsed(json!({ "items": items.clone() })).unwrap(), lines);
        assert_eq!(parsed(json!({ "todos": items })).unwrap(), lines);
        assert_eq!(parsed(json!({ "items": [] })).unwrap(), [""; 0]);
    }

    #[test]
    fn what_is_no_list_is_refused_with_its_place() {
        let long = "x".repeat(TASK_CHARS_MAX + 1);
        for (arguments, place) in [
            (json!({}), "items"),
            (json!({ "items": [{ "state": "done" }] }), "items[0]"),
            (json!({ "items": [{ "text": "a", "state": "maybe" }] }), "items[0].state"),
            (json!({ "items": [{ "text": "a" }, { "text": " " }] }), "items[1].text"),
            (json!({ "items": [{ "text": long }] }), "items[0].text"),
            (json!({ "items": vec![json!({ "text": "a" }); TASKS_MAX + 1] }), "at most 100"),
        ] {
            let sentence = parsed(arguments).unwrap_err();
            assert!(sentence.contains(place), "{sentence}");
        }
    }
}
