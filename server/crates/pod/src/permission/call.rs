//! A call as rules see it: which tool, in which folder, about what. What its text alone does not say, the runtime finds
//! out before the call is judged.

use protocol::{
    PermissionDecision::{self, Allow},
    PermissionRule, WorkerId, tool,
};
use serde_json::Value;

use super::{
    address::{HostPort, host_matches, url_matches, url_spellings},
    command::CommandLine,
    default_permission, is_command, main_argument,
    pattern::{exact, matches},
    spelling,
};
use crate::Sight;

/// One call to be matched against rules.
#[derive(Debug)]
pub(super) struct Call<'a> {
    pub(super) tool: &'a str,
    /// The decision if no rule matches.
    pub(super) default: PermissionDecision,
    folder: String,
    subject: Subject,
}

#[derive(Debug)]
enum Subject {
    Text(String),
    Path {
        given: String,
        /// By the text alone.
        spelled: Vec<String>,
        leads: Vec<String>,
    },
    Url(String),
    Command(CommandLine),
    Pod {
        given: String,
        id: Option<WorkerId>,
        /// Its current name.
        name: Option<String>,
    },
    /// `None`: no rule can name it.
    Host(Option<HostPort>),
}

/// The folder in which a call is made, by the text alone.
pub fn call_folder(cwd: &str, tool: &str, arguments: &Value) -> String {
    let within = arguments.get("cwd").and_then(Value::as_str).filter(|_| is_command(tool)).unwrap_or_default();
    spelling::plain(cwd, if within.is_empty() { "." } else { within }).pop().unwrap_or_else(|| cwd.to_owned())
}

/// True for tools whose main argument names an existing Pod.
pub fn names_a_pod(tool: &str) -> bool {
    tool::facts(tool).subject == tool::Subject::Pod
}

impl<'a> Call<'a> {
    /// `from` is the folder that relative paths in the rules are resolved against; those of the call are resolved
    /// against `cwd`.
    pub(super) fn of(cwd: &str, from: &str, tool: &'a str, arguments: &Value, sight: Sight) -> Self {
        let given = main_argument(tool, arguments);
        let subject = match tool::facts(tool).subject {
            tool::Subject::Command => Subject::Command(CommandLine::of(given, sight.commands.as_deref())),
            tool::Subject::Url => Subject::Url(given.to_owned()),
            tool::Subject::Path => Subject::Path {
                given: given.to_owned(),
                spelled: spelling::plain(cwd, given).pop().map(|path| spelling::plain(from, &path)).unwrap_or_default(),
                leads: sight.leads.map(|path| spelling::plain(from, &path)).unwrap_or_default(),
            },
            tool::Subject::Host => {
                let port = arguments.get("port").and_then(Value::as_u64).and_then(|port| u16::try_from(port).ok());
                Subject::Host(port.and_then(|port| HostPort::parse(given, port)))
            }
            tool::Subject::Pod => {
                let (id, name) = sight.pod.unzip();
                Subject::Pod { given: given.to_owned(), id, name }
            }
            tool::Subject::Pattern | tool::Subject::Name | tool::Subject::Id | tool::Subject::Title => {
                Subject::Text(given.to_owned())
            }
            tool::Subject::Arguments => Subject::Text(tool::arguments_line(arguments)),
        };
        let folder = sight.folder.unwrap_or_else(|| call_folder(cwd, tool, arguments));
        let default = sight.default.unwrap_or_else(|| default_permission(tool));
        Self { tool, default, folder, subject }
    }

    /// How many parts of the call have to be decided on: its commands, or one.
    pub(super) fn parts(&self) -> usize {
        match &self.subject {
            Subject::Command(line) => line.count(),
            _ => 1,
        }
    }

    /// Whether the rule matches this part of the call.
    pub(super) fn is_meant(&self, at: usize, rule: &PermissionRule, from: &str) -> bool {
        if rule.tool != self.tool || rule.folder.as_ref().is_some_and(|folder| *folder != self.folder) {
            return false;
        }
        let allows = rule.decision == Allow;
        if let (Some(meant), Subject::Pod { id, .. }) = (&rule.pod, &self.subject)
            && (allows || id.as_ref() == Some(meant))
        {
            return id.as_ref() == Some(meant);
        }
        let Some(pattern) = rule.pattern.as_deref() else { return true };
        match &self.subject {
            Subject::Text(given) => matches(pattern, given),
            Subject::Command(line) => line.is_meant(at, pattern, rule.decision, rule.folder.is_some()),
            Subject::Host(host) => host.as_ref().is_some_and(|host| host_matches(pattern, host, rule.decision)),
            Subject::Url(given) if allows => url_matches(pattern, given),
            Subject::Url(given) => {
                matches(pattern, given)
                    || url_matches(pattern, given)
                    || url_spellings(given).iter().any(|given| url_matches(pattern, given) || matches(pattern, given))
            }
            Subject::Path { leads, .. } if allows => {
                let exactly = exact(pattern).map(|path| spelling::plain(from, &path)).unwrap_or_default();
                pattern == "*" || leads.iter().any(|path| matches(pattern, path) || exactly.contains(path))
            }
            Subject::Path { given, spelled, leads } => {
                std::iter::once(given).chain(spelled).chain(leads).any(|path| matches(pattern, path))
            }
            // A name alone could be any Pod that takes it next.
            Subject::Pod { given, id, .. } if allows && exact(pattern).is_some() => id.is_none() && given.is_empty(),
            Subject::Pod { name, .. } if allows => name.as_ref().is_some_and(|name| matches(pattern, name)),
            Subject::Pod { given, name, .. } => std::iter::once(given).chain(name).any(|name| matches(pattern, name)),
        }
    }

    /// Whether the rule matches every part of the call.
    pub(super) fn is_covered(&self, rule: &PermissionRule, from: &str) -> bool {
        (0..self.parts()).all(|part| self.is_meant(part, rule, from))
    }

    /// The folder that it is made in.
    pub(super) fn folder(&self) -> &str {
        &self.folder
    }

    /// For a path: where it leads, from the root.
    pub(super) fn whole_path(&self) -> Option<&str> {
        match &self.subject {
            Subject::Path { leads, .. } => leads.last().map(String::as_str),
            _ => None,
        }
    }

    /// The rule that matches exactly this call.
    pub(super) fn rule(&self, decision: PermissionDecision) -> PermissionRule {
        let (text, pod) = match &self.subject {
            Subject::Text(given) | Subject::Url(given) => (given.clone(), None),
            Subject::Command(line) => (line.given().to_owned(), None),
            // Where it leads, relative to the working directory if it is beneath that.
            Subject::Path { given, leads, .. } => (leads.first().unwrap_or(given).clone(), None),
            Subject::Pod { given, id, name } => (name.as_ref().unwrap_or(given).clone(), id.clone()),
            Subject::Host(host) => (host.as_ref().map(HostPort::rule).unwrap_or_default(), None),
        };
        let folder = tool::facts(self.tool).subject.is_in_folder().then(|| self.folder.clone());
        let pattern = Some(super::pattern::of_text(&text));
        PermissionRule { tool: self.tool.to_owned(), pattern, folder, pod, decision }
    }
}
