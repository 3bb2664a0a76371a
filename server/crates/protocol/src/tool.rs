//! What is known of tools by their names: one table, for whoever decides on a call, carries it out, or shows it.

use crate::PermissionDecision::{self, Allow, Ask};

/// What there is to know of one tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Facts {
    pub name: &'static str,
    pub changes: Changes,
    pub subject: Subject,
    /// What becomes of a call that no rule is about.
    pub default: PermissionDecision,
    pub card: Card,
}

/// What its calls may change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Changes {
    /// So that calls of this kind may run beside each other.
    Nothing,
    /// The file that it is about.
    Files,
    /// Pods, their messages, or what is known of having read them.
    Pods,
    Anything,
}

/// What a call is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Subject {
    Command,
    Path,
    /// Of what is looked for.
    Pattern,
    Url,
    /// With its port.
    Host,
    /// One that is there, by its name.
    Pod,
    /// Nothing but a name, if there is one.
    Name,
    /// What an agent says that it does.
    Title,
}

impl Subject {
    /// The argument that patterns are held against, and that a call is known by.
    pub fn argument(self) -> &'static str {
        match self {
            Self::Command => "command",
            Self::Path => "path",
            Self::Pattern => "pattern",
            Self::Url => "url",
            Self::Host => "host",
            Self::Pod | Self::Name => "name",
            Self::Title => "title",
        }
    }

    /// It means something else in another folder.
    pub fn is_in_folder(self) -> bool {
        matches!(self, Self::Command | Self::Path | Self::Pattern)
    }
}

/// How a call that went well stands on a screen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Card {
    /// With what it gave.
    Full,
    /// As one line: what it gave is rarely read by a person.
    Line,
    /// The same, and with others of its run beside it all are one line: so many files are read …
    Read,
    /// … and so many searches made.
    Search,
}

/// What rules and questions about ways out to the network are called by, as if it were a tool.
pub const NETWORK: &str = "Network";

/// Every tool that a Pod can be offered, in the order of names, and ways out to the network.
pub const TOOLS: [Facts; 15] = [
    row("Bash", Changes::Anything, Subject::Command, Ask, Card::Full),
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
    row("SpawnPod", Changes::Pods, Subject::Name, Allow, Card::Full),
    row("StopPod", Changes::Pods, Subject::Pod, Allow, Card::Full),
    row("WebFetch", Changes::Nothing, Subject::Url, Ask, Card::Full),
    row("Write", Changes::Files, Subject::Path, Ask, Card::Full),
];

/// What agents do by themselves, by the kinds that their protocol knows. Rules name them so; what no rule is about is asked for
/// when the agent asks.
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

/// A tool that nobody has thought of yet is asked for.
const UNKNOWN: Facts = row("", Changes::Anything, Subject::Name, Ask, Card::Full);

const fn row(name: &'static str, changes: Changes, subject: Subject, default: PermissionDecision, card: Card) -> Facts {
    Facts { name, changes, subject, default, card }
}

/// What is known of this tool; of one that is not in the table, what is taken of it.
pub fn facts(name: &str) -> &'static Facts {
    TOOLS.iter().chain(&AGENT_TOOLS).find(|tool| tool.name == name).unwrap_or(&UNKNOWN)
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
    fn what_an_agent_does_by_itself_is_asked_for_and_is_never_one_of_our_own_tools() {
        for tool in AGENT_TOOLS {
            assert_eq!(tool.default, Ask, "{}", tool.name);
            assert!(TOOLS.iter().all(|own| own.name != tool.name), "{}", tool.name);
        }
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
