//! The facts about tools by name, in one table: for whoever decides on a call, carries it out, or shows it.

use serde_json::Value;

use crate::PermissionDecision::{self, Allow, Ask};

/// The facts about one tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Facts {
    pub name: &'static str,
    pub changes: Changes,
    pub subject: Subject,
    /// The decision on a call that no rule matches.
    pub default: PermissionDecision,
    pub card: Card,
}

/// What its calls may change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Changes {
    /// So its calls may run in parallel.
    Nothing,
    /// The file that it is about.
    Files,
    /// Pods, their messages and task lists, their own background commands, or the record of having read them.
    Pods,
    Anything,
}

/// What a call is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Subject {
    Command,
    Path,
    /// What is searched for.
    Pattern,
    Url,
    /// With its port.
    Host,
    /// An existing one, by name.
    Pod,
    /// Nothing but a name, if there is one.
    Name,
    /// A background command, by the id of its call.
    Id,
    /// All arguments, as [`arguments_line`] writes them.
    Arguments,
    /// What an agent says that it is doing.
    Title,
}

impl Subject {
    /// The argument that patterns are matched against, and that identifies a call.
    pub fn argument(self) -> &'static str {
        match self {
            Self::Command => "command",
            Self::Path => "path",
            Self::Pattern => "pattern",
            Self::Url => "url",
            Self::Host => "host",
            Self::Pod | Self::Name => "name",
            Self::Id => "id",
            Self::Arguments => "",
            Self::Title => "title",
        }
    }

    /// Whether it means something else in another folder.
    pub fn is_in_folder(self) -> bool {
        matches!(self, Self::Command | Self::Path | Self::Pattern)
    }
}

/// What kind of work a call does, as far as a mode of its Pod ([`crate::Mode`]) decides on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Work {
    /// It changes the content of one file.
    Edits,
    /// It removes or moves files.
    Removes,
    /// It runs a command.
    Runs,
    /// An agent reads by itself.
    Reads,
    /// No mode decides on it.
    Other,
}

impl Work {
    /// Whether it can change files.
    pub fn writes(self) -> bool {
        matches!(self, Self::Edits | Self::Removes | Self::Runs)
    }
}

/// What kind of work a call of this tool does.
pub fn work(name: &str) -> Work {
    match name {
        "Write" | "Edit" | "edit" => Work::Edits,
        "delete" | "move" => Work::Removes,
        "Bash" | "execute" => Work::Runs,
        "read" | "search" => Work::Reads,
        _ => Work::Other,
    }
}

/// Whether it is what an agent does by itself, and not a tool that yoi runs.
pub fn is_agents(name: &str) -> bool {
    AGENT_TOOLS.iter().any(|known| known.name == name)
}

/// How a successful call is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Card {
    /// With its output.
    Full,
    /// As one line, because its output is rarely read.
    Line,
    /// The same, and grouped with others of its run into one line: this many files were read …
    Read,
    /// … and this many searches made.
    Search,
}

/// The name used in rules and approvals for network access, as if it were a tool.
pub const NETWORK: &str = "Network";

/// Every tool that a Pod can be offered, sorted by name, and network access.
pub const TOOLS: [Facts; 19] = [
    row("Bash", Changes::Anything, Subject::Command, Ask, Card::Full),
    row("BashOutput", Changes::Pods, Subject::Id, Allow, Card::Full),
    row("BashStop", Changes::Pods, Subject::Id, Allow, Card::Full),
    row("Edit", Changes::Files, Subject::Path, Ask, Card::Full),
    row("Glob", Changes::Nothing, Subject::Pattern, Allow, Card::Search),
    row("Grep", Changes::Nothing, Subject::Pattern, Allow, Card::Search),
    row("ListPods", Changes::Nothing, Subject::Name, Allow, Card::Line),
    row(NETWORK, Changes::Anything, Subject::Host, Ask, Card::Full),
    row("Read", Changes::Nothing, Subject::Path, Allow, Card::Read),
    row("ReadPodOutput", Changes::Pods, Subject::Pod, Allow, Card::Full),
    row("RestorePod", Changes::Pods, Subject::Pod, Allow, Card::Full),
    row("SendToPeerPod", Changes::Pods, Subject::Pod, Allow, Card::Full),
    row("SendToPod", Changes::Pods, Subject::Pod, Allow, Card::Full),
    row("Skill", Changes::Nothing, Subject::Name, Allow, Card::Read),
    row("SpawnPod", Changes::Pods, Subject::Name, Allow, Card::Full),
    row("StopPod", Changes::Pods, Subject::Pod, Allow, Card::Full),
    row("Tasks", Changes::Pods, Subject::Name, Allow, Card::Line),
    row("WebFetch", Changes::Nothing, Subject::Url, Ask, Card::Full),
    row("Write", Changes::Files, Subject::Path, Ask, Card::Full),
];

/// What agents do by themselves, by the kinds in their protocol. Rules use these names; what no rule covers is asked
/// for when the agent asks.
pub const AGENT_TOOLS: [Facts; 10] = [
    row("delete", Changes::Anything, Subject::Path, Ask, Card::Full),
    row("edit", Changes::Anything, Subject::Path, Ask, Card::Full),
    row("execute", Changes::Anything, Subject::Command, Ask, Card::Full),
    row("fetch", Changes::Anything, Subject::Url, Ask, Card::Full),
    row("move", Changes::Anything, Subject::Path, Ask, Card::Full),
    row("other", Changes::Anything, Subject::Title, Ask, Card::Full),
    row("read", Changes::Anything, Subject::Path, Ask, Card::Read),
    row("search", Changes::Anything, Subject::Title, Ask, Card::Search),
    row("switch_mode", Changes::Anything, Subject::Title, Ask, Card::Line),
    row("think", Changes::Anything, Subject::Title, Ask, Card::Line),
];

/// An unknown tool needs approval.
const UNKNOWN: Facts = row("", Changes::Anything, Subject::Name, Ask, Card::Full);

/// A tool of an MCP server, whatever the server says about it.
const OF_A_SERVER: Facts = row("", Changes::Anything, Subject::Arguments, Ask, Card::Full);

/// Separates the name of an MCP server from that of its tool.
pub const SERVER_TOOL: &str = "__";

const fn row(name: &'static str, changes: Changes, subject: Subject, default: PermissionDecision, card: Card) -> Facts {
    Facts { name, changes, subject, default, card }
}

/// The facts about this tool; if it is not in the table, those assumed for an unknown one.
pub fn facts(name: &str) -> &'static Facts {
    let unknown = if name.contains(SERVER_TOOL) { &OF_A_SERVER } else { &UNKNOWN };
    TOOLS.iter().chain(&AGENT_TOOLS).find(|tool| tool.name == name).unwrap_or(unknown)
}

/// Whether a list of names offers a tool: by its own name, or by that of the tool that it belongs to. A command that
/// runs in the background can always be read and ended by whoever may start it.
pub fn is_listed(names: &[String], tool: &str) -> bool {
    let belongs_to = matches!(tool, "BashOutput" | "BashStop").then_some("Bash");
    names.iter().any(|name| name == tool || belongs_to == Some(name.as_str()))
}

/// Returns arguments as one line of JSON with sorted field names: the same arguments always give the same line.
pub fn arguments_line(arguments: &Value) -> String {
    fn sorted(value: &Value) -> Value {
        match value {
            Value::Object(fields) => {
                let mut fields: Vec<_> = fields.iter().map(|(name, value)| (name.clone(), sorted(value))).collect();
                fields.sort_by(|(one, _), (other, _)| one.cmp(other));
                Value::Object(fields.into_iter().collect())
            }
            Value::Array(items) => Value::Array(items.iter().map(sorted).collect()),
            other => other.clone(),
        }
    }
    sorted(arguments).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tool_that_is_not_in_the_table_is_asked_for_and_may_change_anything() {
        let unknown = facts("DropDatabase");
        assert_eq!((unknown.default, unknown.changes), (Ask, Changes::Anything));
        assert_eq!(facts("READ"), unknown, "names are exact");
        assert_eq!(facts("Read").default, Allow);
    }

    #[test]
    fn a_tool_of_a_server_is_asked_for_and_is_about_all_of_its_arguments() {
        let facts = facts("files__read");
        assert_eq!((facts.default, facts.changes, facts.subject), (Ask, Changes::Anything, Subject::Arguments));
        let line = |text: &str| arguments_line(&serde_json::from_str(text).unwrap());
        assert_eq!(line(r#"{ "b": [{ "d": 1, "c": "x" }], "a": null }"#), r#"{"a":null,"b":[{"c":"x","d":1}]}"#);
    }

    #[test]
    fn what_an_agent_does_by_itself_is_asked_for_and_is_never_one_of_our_own_tools() {
        for tool in AGENT_TOOLS {
            assert_eq!(tool.default, Ask, "{}", tool.name);
            assert!(TOOLS.iter().all(|own| own.name != tool.name), "{}", tool.name);
        }
    }

    #[test]
    fn everything_that_changes_files_is_known_to_a_mode() {
        for tool in TOOLS.iter().filter(|tool| tool.changes == Changes::Files || tool.subject == Subject::Command) {
            assert!(work(tool.name).writes(), "{}", tool.name);
        }
        assert_eq!((work("files__write"), work("other"), work("Network")), (Work::Other, Work::Other, Work::Other));
        assert!(is_agents("edit") && !is_agents("Edit"));
    }

    #[test]
    fn no_tool_is_in_it_twice_and_what_changes_files_or_runs_commands_is_asked_for() {
        assert!(TOOLS.windows(2).all(|pair| pair[0].name < pair[1].name), "in the order of names");
        for tool in TOOLS {
            let is_harmless = matches!(tool.changes, Changes::Nothing | Changes::Pods);
            assert!(is_harmless || tool.default == Ask, "{}", tool.name);
        }
    }
}
