//! The one table of commands: completion, the palette, help and the terminal all use it.

/// Where a command is available.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Where {
    /// On an open Pod.
    Pod,
    Anywhere,
    /// Only in the browser.
    Browser,
    /// Only in the terminal.
    Terminal,
    /// On an open Pod in the terminal; the browser has buttons for it.
    TerminalPod,
}

impl Where {
    /// Whether it needs a Pod.
    pub fn is_of_pod(self) -> bool {
        matches!(self, Self::Pod | Self::TerminalPod)
    }

    /// Whether the browser does not have it.
    pub fn is_terminal(self) -> bool {
        matches!(self, Self::Terminal | Self::TerminalPod)
    }
}

/// One command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Entry {
    /// The word after the colon.
    pub word: &'static str,
    /// A placeholder for its argument; empty if it takes none.
    pub argument: &'static str,
    pub what: &'static str,
    pub place: Where,
    /// The shortcut that does the same outside a field; empty if there is none.
    pub key: &'static str,
    /// Whether it ends something or gives a final answer. Such a command is never preselected: an arrow key chooses
    /// it, or its whole word is typed.
    pub is_grave: bool,
}

/// A page that is about no Pod.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Page {
    Pods,
    Map,
    Approvals,
    Search,
    Usage,
    Audit,
    Settings,
}

impl Page {
    pub const ALL: [Self; 7] =
        [Self::Pods, Self::Map, Self::Approvals, Self::Search, Self::Usage, Self::Audit, Self::Settings];

    /// The command that goes to it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Pods => "pods",
            Self::Map => "map",
            Self::Approvals => "approvals",
            Self::Search => "search",
            Self::Usage => "usage",
            Self::Audit => "audit",
            Self::Settings => "settings",
        }
    }

    pub fn of(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|page| page.word() == word)
    }

    pub fn title(self) -> &'static str {
        match self {
            Self::Pods => "Board",
            Self::Map => "Map",
            Self::Approvals => "Approvals",
            Self::Search => "Search",
            Self::Usage => "Usage",
            Self::Audit => "Audit",
            Self::Settings => "Settings",
        }
    }

    /// Its address in the browser.
    pub fn href(self) -> &'static str {
        match self {
            Self::Pods => "/",
            Self::Map => "/map",
            Self::Approvals => "/approvals",
            Self::Search => "/search",
            Self::Usage => "/usage",
            Self::Audit => "/audit",
            Self::Settings => "/settings",
        }
    }
}

/// The command with this word; `approve` is an alias of `allow`, and `q` of `quit`.
pub fn entry(word: &str) -> Option<&'static Entry> {
    let word = match word {
        "approve" => "allow",
        "q" => "quit",
        word => word,
    };
    TABLE.iter().find(|entry| entry.word == word)
}

/// The command with this shortcut in the browser: `n`, or `g p` for two keys in a row.
pub fn by_key(key: &str) -> Option<&'static Entry> {
    TABLE.iter().find(|entry| entry.key == key && !key.is_empty() && !entry.place.is_terminal())
}

const fn of(place: Where, word: &'static str, argument: &'static str, key: &'static str, what: &'static str) -> Entry {
    Entry { word, argument, what, place, key, is_grave: false }
}

const fn grave(place: Where, word: &'static str, argument: &'static str, what: &'static str) -> Entry {
    Entry { is_grave: true, ..of(place, word, argument, "", what) }
}

use Where::{Anywhere, Browser, Pod, Terminal, TerminalPod};

/// In the order in which they are offered.
pub const TABLE: &[Entry] = &[
    of(Pod, "pause", "", "", "Pause the run"),
    of(Pod, "resume", "", "", "Resume the paused run"),
    grave(Pod, "cancel", "", "Cancel the run"),
    grave(Pod, "stop", "", "Archive the Pod (it can be restored)"),
    of(Pod, "restore", "", "", "Restore the stopped Pod"),
    grave(Pod, "allow", "", "Allow the pending approval once"),
    grave(
        Pod,
        "always",
        "PATTERN",
        "Always allow exactly this, or what the pattern means (folder or everywhere before it)",
    ),
    grave(Pod, "deny", "REASON", "Deny the pending approval (reason optional)"),
    of(Pod, "compact", "", "", "Summarise older context"),
    of(Pod, "retry", "", "r", "Ask the model again after a failure, a cancel or a rewind"),
    of(Pod, "changes", "start|turn|branch", "", "Show what has changed in its folders since then"),
    of(Pod, "rewind", "", "", "Remove the last turn from the context"),
    of(Pod, "spawn", "NAME", "", "Spawn a child with a task and part of the scope"),
    of(Pod, "fork", "NAME", "", "Create a Pod that continues from here with the same settings"),
    of(Pod, "commit", "MESSAGE", "", "Commit what is changed in its folder"),
    grave(Pod, "worktree", "merge|discard", "Merge the branch of its work tree, or remove both"),
    of(Pod, "peer", "NAME", "p", "Add a peer"),
    grave(Pod, "unpeer", "NAME", "Remove a peer"),
    of(Pod, "send", "TEXT", "", "Send a message to this Pod"),
    of(Pod, "rename", "NAME", "", "Rename this Pod"),
    of(Pod, "model", "NAME", "", "Change the model (add a provider to change that too)"),
    of(Pod, "mode", "ask|accept_edits|plan|free", "", "Change what it does without asking, or the mode of its agent"),
    of(Pod, "think", "LEVEL", "", "Set the thinking level: off, low, medium, high or max"),
    of(Pod, "budget", "AMOUNT", "", "Set a budget: $5, 50000 tokens, $5 a day, none"),
    of(Pod, "autoresume", "on|off", "", "Continue by itself, once, when a provider's usage limit ends"),
    of(Pod, "network", "POLICY", "", "Network access of its commands: none, ask or open"),
    of(Pod, "preview", "PORT", "", "Show a port that its commands listen on"),
    grave(Pod, "delete", "NAME", "Delete this Pod and its records (type its name)"),
    of(Pod, "export", "", "", "Save the transcript to a file"),
    grave(TerminalPod, "option", "ID", "Answer the pending approval with one of its agent's own options"),
    grave(TerminalPod, "fill", "FIELD=VALUE …", "Answer the pending form of an MCP server"),
    of(TerminalPod, "agent", "", "", "Show its agent: plan, modes, commands, and what yoi cannot control"),
    of(TerminalPod, "attach", "PATH", "", "Attach a picture or a file of this machine to the message"),
    of(TerminalPod, "steer", "TEXT", "", "Send a message into the current run"),
    of(TerminalPod, "queue", "", "w", "Show queued and held messages"),
    of(TerminalPod, "jobs", "", "", "Show its background commands, and stop one"),
    of(TerminalPod, "unqueue", "", "", "Take back the last queued message"),
    grave(TerminalPod, "release", "", "Deliver the oldest held message"),
    grave(TerminalPod, "drop", "", "Refuse the oldest held message"),
    of(Anywhere, "new", "NAME", "n", "Create a Pod"),
    of(Anywhere, "open", "NAME", "", "Open a Pod"),
    of(Anywhere, "pods", "", "g p", "All Pods, and what needs you"),
    of(Anywhere, "approvals", "", "g a", "Pending approvals"),
    of(Browser, "map", "", "g m", "Map of children and peers"),
    of(Anywhere, "search", "WORDS", "g s", "Search all transcripts"),
    of(Browser, "usage", "", "g u", "Tokens and cost"),
    of(Browser, "audit", "", "g l", "Audit log"),
    of(Browser, "settings", "", "g ,", "Models, profiles, runtimes, this browser"),
    of(Anywhere, "help", "", "?", "List all keys (:help peer explains peers)"),
    of(
        Terminal,
        "import",
        "NAME FILE",
        "",
        "Create a Pod with the history in a file: a session of another agent, or an export",
    ),
    of(Terminal, "providers", "", "", "List model providers and the source of their keys"),
    of(Terminal, "key", "PROVIDER", "", "Give a provider its key: tested at once, stored on the server, never shown"),
    of(Terminal, "walls", "", "", "Show the command sandbox of this server"),
    of(Terminal, "mcp", "", "", "MCP servers of this server"),
    of(Terminal, "quit", "", "q", "Quit"),
];

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use protocol::ControlVerb;

    use super::*;

    #[test]
    fn each_word_is_there_once_and_says_what_it_does() {
        let words: BTreeSet<_> = TABLE.iter().map(|entry| entry.word).collect();
        assert_eq!(words.len(), TABLE.len());
        assert!(TABLE.iter().all(|entry| !entry.what.is_empty()));
    }

    #[test]
    fn every_page_has_a_key_and_no_key_means_two_things() {
        for page in Page::ALL {
            let key = entry(page.word()).unwrap().key;
            assert_eq!(by_key(key).and_then(|entry| Page::of(entry.word)), Some(page), "{key}");
        }
        let keys: Vec<_> = TABLE.iter().map(|entry| entry.key).filter(|key| !key.is_empty()).collect();
        assert_eq!(keys.iter().collect::<BTreeSet<_>>().len(), keys.len());
        assert_eq!((by_key(""), by_key("q")), (None, None), "the last one is the terminal's own");
    }

    #[test]
    fn every_control_verb_and_every_page_has_its_command() {
        for word in ControlVerb::ALL.into_iter().map(ControlVerb::as_str).chain(Page::ALL.map(Page::word)) {
            assert!(entry(word).is_some(), "{word}");
        }
    }
}
