//! The arguments of the Pod tools. The schemas given to a model are generated from these types.

use protocol::{Access, ApiError, ScopeRule, misread};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::Value;

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Nothing {}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Named {
    /// The Pod's name, as listed by ListPods.
    pub(super) name: String,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Message {
    /// The Pod's name, as listed by ListPods.
    pub(super) name: String,
    /// The text to send.
    pub(super) message: String,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct SpawnArguments {
    /// A name that no other Pod has: 1 to 64 characters of A-Z, a-z, 0-9, dot, underscore and hyphen.
    pub(super) name: String,
    /// What it should do, with everything it needs to know: it does not see your conversation.
    pub(super) task: String,
    /// The folders or files of your own scope to lend it; empty for none.
    pub(super) scope: Vec<LentRule>,
    /// A profile from the configuration; your own settings when absent.
    #[serde(default)]
    pub(super) profile: Option<String>,
    /// A model of the provider; your own model when absent.
    #[serde(default)]
    pub(super) model: Option<String>,
    /// Whether it works in a git work tree of its own, on a new branch that begins with what you have checked out. You
    /// need your own folder's repository for that. What it commits there, you can merge with git.
    #[serde(default)]
    pub(super) worktree: bool,
    /// The name of that branch; its own name when absent.
    #[serde(default)]
    pub(super) branch: Option<String>,
}

/// One rule of the scope to lend.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct LentRule {
    /// An absolute path.
    path: String,
    access: LentAccess,
    /// Whether the rule applies to everything beneath the path; if false, only to what is directly in it.
    #[serde(default = "yes")]
    recursive: bool,
}

#[derive(Debug, Clone, Copy, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum LentAccess {
    /// The child may read it, and so may you.
    Read,
    /// The child may write it; until the child is stopped, you may only read it.
    Write,
    /// The child may not access this part of what it is lent.
    Deny,
}

fn yes() -> bool {
    true
}

impl From<LentRule> for ScopeRule {
    fn from(rule: LentRule) -> Self {
        let access = match rule.access {
            LentAccess::Read => Access::Read,
            LentAccess::Write => Access::Write,
            LentAccess::Deny => Access::Deny,
        };
        Self { path: rule.path, access, recursive: rule.recursive }
    }
}

/// Parses the arguments. An error names the place that does not fit.
pub(super) fn read<T: DeserializeOwned + Serialize>(arguments: Value) -> Result<T, ApiError> {
    let wrong = |why: String| ApiError::invalid(format!("the arguments do not fit: {why}; see the tool's schema"));
    let read: T = serde_json::from_value(arguments.clone()).map_err(|error| wrong(error.to_string()))?;
    match misread(&arguments, &read) {
        Some(place) if place.is_empty() => Err(wrong("they have to be an object, not an array".to_owned())),
        Some(place) => Err(wrong(format!("`{place}` has to be an object, not an array"))),
        None => Ok(read),
    }
}

pub(super) fn schema<T: JsonSchema>() -> Value {
    schemars::schema_for!(T).to_value()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn arguments_are_objects_as_their_schema_says_and_never_arrays_of_their_fields() {
        let spawn = |rule: Value| read::<SpawnArguments>(json!({ "name": "a", "task": "b", "scope": [rule] }));
        assert!(spawn(json!({ "path": "/a", "access": "read" })).is_ok());
        let refusal = spawn(json!(["/a", "read", true])).unwrap_err().detail;
        assert!(refusal.contains("`scope[0]` has to be an object"), "{refusal}");
        assert!(read::<Named>(json!(["a"])).unwrap_err().detail.contains("they have to be an object"));
        assert!(read::<Nothing>(json!({})).is_ok() && read::<Nothing>(json!([])).is_err());
    }
}
