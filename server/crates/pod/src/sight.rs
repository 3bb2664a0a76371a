//! What was found out in the world about a call before rules decide on it.

use protocol::{PermissionDecision, WorkerId};
use serde_json::Value;

/// What was found out about a call. What is not known is allowed by no pattern.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Sight {
    /// Where the folder of the call leads, from the root.
    pub folder: Option<String>,
    /// Of a path: where it leads, from the root; of what is not there, by its nearest folder that is.
    pub leads: Option<String>,
    /// Of a command line that a parser of the shell's language makes sense of: the words of each command in it, however
    /// deep.
    pub commands: Option<Vec<Vec<String>>>,
    /// Of a Pod's name: the Pod, by its id and as it is called now.
    pub pod: Option<(WorkerId, String)>,
    /// What becomes of the call when no rule is about it, by its tool's own word. None: as [`crate::default_permission`] says.
    pub default: Option<PermissionDecision>,
    /// Its tool is defined otherwise than it was when it was accepted: whatever allows it, a person is asked.
    pub is_changed: bool,
}

/// What was found out about the calls that are to be judged.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Sights(Vec<(String, Value, Sight)>);

impl Sights {
    pub fn note(&mut self, tool: &str, arguments: &Value, sight: Sight) {
        self.0.push((tool.to_owned(), arguments.clone(), sight));
    }

    /// Where the path of a call leads, if that was looked at.
    pub fn leads(&self, tool: &str, arguments: &Value) -> Option<String> {
        self.of(tool, arguments).leads
    }

    pub(crate) fn of(&self, tool: &str, arguments: &Value) -> Sight {
        let found = self.0.iter().find(|(name, given, _)| name == tool && given == arguments);
        found.map(|(_, _, sight)| sight.clone()).unwrap_or_default()
    }
}
