//! A Pod's task list as clients see it: in the words in which its model gives it to the tool Tasks. In a journal it is a
//! plan (`plan_updated`), like that of an agent.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::PlanEntry;

const PENDING: &str = "pending";
const IN_PROGRESS: &str = "in_progress";
const DONE: &str = "done";
/// What a plan calls it.
const COMPLETED: &str = "completed";
/// A task has no priority; a step of a plan has.
const PRIORITY: &str = "medium";

/// One task. The names of a plan's step are read, too: an older server sends them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Task {
    #[serde(alias = "content")]
    pub text: String,
    /// `pending`, `in_progress` or `done`.
    #[serde(alias = "status")]
    pub state: String,
}

impl From<&PlanEntry> for Task {
    fn from(entry: &PlanEntry) -> Self {
        let state = match entry.status.as_str() {
            COMPLETED => DONE,
            IN_PROGRESS => IN_PROGRESS,
            _ => PENDING,
        };
        Self { text: entry.content.clone(), state: state.to_owned() }
    }
}

impl From<Task> for PlanEntry {
    fn from(Task { text, state }: Task) -> Self {
        let status = if state == DONE { COMPLETED.to_owned() } else { state };
        Self { content: text, priority: PRIORITY.to_owned(), status }
    }
}

pub(crate) fn serialize<S: Serializer>(entries: &[PlanEntry], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(entries.iter().map(Task::from))
}

pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<PlanEntry>, D::Error> {
    Ok(Vec::<Task>::deserialize(deserializer)?.into_iter().map(PlanEntry::from).collect())
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    struct Detail {
        #[serde(with = "super")]
        tasks: Vec<PlanEntry>,
    }

    fn read(tasks: Value) -> Detail {
        serde_json::from_value(json!({ "tasks": tasks })).unwrap()
    }

    #[test]
    fn a_task_is_told_in_the_words_in_which_it_was_given_and_read_in_those_of_a_plan_too() {
        let given = json!([
            { "text": "read", "state": "done" },
            { "text": "write", "state": "in_progress" },
            { "text": "ship", "state": "pending" },
        ]);
        let plan = json!([
            { "content": "read", "priority": "medium", "status": "completed" },
            { "content": "write", "priority": "medium", "status": "in_progress" },
            { "content": "ship", "priority": "medium", "status": "pending" },
        ]);
        let detail = read(given.clone());
        assert_eq!(serde_json::to_value(&detail.tasks).unwrap(), plan, "in the journal it is a plan");
        assert_eq!(read(plan), detail);
        assert_eq!(serde_json::to_value(&detail).unwrap()["tasks"], given);
    }
}
