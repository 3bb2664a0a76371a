//! What was found out about a call before rules decide on it.

use protocol::{PermissionDecision, WorkerId};
use serde_json::Value;

/// What was found out about a call. Anything unknown is allowed by no pattern.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Sight {
    /// The canonical folder of the call.
    pub folder: Option<String>,
    /// For a path: its canonical form, or, if it does not exist, its form relative to the nearest existing folder's.
    pub leads: Option<String>,
    /// For a command line that a parser of the shell's language understands: the words of each command in it, at any
    /// depth.
    pub commands: Option<Vec<Vec<String>>>,
    /// For a Pod's name: the Pod's id and current name.
    pub pod: Option<(WorkerId, String)>,
    /// The tool's own decision for a call that no rule covers. `None`: see [`crate::default_permission`].
    pub default: Option<PermissionDecision>,
    /// Why the call would fail even if a person allowed it, as a sentence.
    pub cannot: Option<String>,
    /// The path that the call is about is in the scope for what the call does there.
    pub is_in_scope: bool,
    /// The tool's definition has changed since it was accepted: a person is asked, whatever allows the call.
    pub is_changed: bool,
}

/// What was found out about the calls that are to be judged.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Sights(Vec<(String, Value, Sight)>);

impl Sights {
    pub fn note(&mut self, tool: &str, arguments: &Value, sight: Sight) {
        self.0.push((tool.to_owned(), arguments.clone(), sight));
    }

    /// Where the path of a call leads, if that was looked up.
    pub fn leads(&self, tool: &str, arguments: &Value) -> Option<String> {
        self.of(tool, arguments).leads
    }

    pub(crate) fn of(&self, tool: &str, arguments: &Value) -> Sight {
        let found = self.0.iter().find(|(name, given, _)| name == tool && given == arguments);
        found.map(|(_, _, sight)| sight.clone()).unwrap_or_default()
    }
}
