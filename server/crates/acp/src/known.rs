//! Which agents there are: the configured ones, and the built-in ones, which are found on the PATH.

use std::{
    collections::BTreeMap,
    ffi::OsStr,
    fmt,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    time::Duration,
};

/// How long the process of an idle agent is kept by default.
pub const IDLE: Duration = Duration::from_secs(10 * 60);

/// An agent that Pods can be created with.
#[derive(Clone, PartialEq, Eq)]
pub struct AgentConfig {
    /// The program and its arguments. A program without a slash is looked up on the PATH.
    pub command: Vec<String>,
    /// Variables besides those that every command gets.
    pub env: BTreeMap<String, String>,
    /// Whether the whole agent runs in a sandbox with its Pod's scope.
    pub confine: bool,
    /// How long an idle process is kept.
    pub idle: Duration,
}

// Written by hand, so that the environment is never printed.
impl fmt::Debug for AgentConfig {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("AgentConfig").field("confine", &self.confine).finish_non_exhaustive()
    }
}

/// What is known about a built-in agent.
#[derive(Debug)]
pub(crate) struct Known {
    pub(crate) name: &'static str,
    pub(crate) command: &'static [&'static str],
    /// How to install it.
    pub(crate) install: &'static str,
    /// How to log in to it.
    pub(crate) login: &'static str,
}

pub(crate) const KNOWN: [Known; 4] = [
    Known {
        name: "claude",
        command: &["claude-agent-acp"],
        install: "npm install -g @agentclientprotocol/claude-agent-acp",
        login: "run `claude` once and log in, or give it ANTHROPIC_API_KEY in `env` of [agents.claude]",
    },
    Known {
        name: "codex",
        command: &["codex-acp"],
        install: "npm install -g @agentclientprotocol/codex-acp",
        login: "run `codex login`, or give it OPENAI_API_KEY in `env` of [agents.codex]",
    },
    Known {
        name: "gemini",
        command: &["gemini", "--acp"],
        install: "npm install -g @google/gemini-cli",
        login: "run `gemini` once and log in, or give it GEMINI_API_KEY in `env` of [agents.gemini]",
    },
    Known {
        name: "opencode",
        command: &["opencode", "acp"],
        install: "npm install -g opencode-ai",
        login: "run `opencode auth login`",
    },
];

pub(crate) fn known(name: &str) -> Option<&'static Known> {
    KNOWN.iter().find(|known| known.name == name)
}

impl AgentConfig {
    /// Returns the configuration of the built-in agent of this name.
    pub fn known(name: &str) -> Option<Self> {
        known(name).map(Known::config)
    }
}

impl Known {
    fn config(&self) -> AgentConfig {
        let command = self.command.iter().map(|&word| word.to_owned()).collect();
        AgentConfig { command, env: BTreeMap::new(), confine: false, idle: IDLE }
    }
}

/// Finds the program that a command's first word names; `None` if there is none.
pub(crate) fn program(word: &str, path: Option<&OsStr>) -> Option<PathBuf> {
    let is_program = |path: &Path| {
        path.metadata().is_ok_and(|metadata| metadata.is_file() && metadata.permissions().mode() & 0o111 != 0)
    };
    if word.contains('/') {
        return Some(PathBuf::from(word)).filter(|path| is_program(path));
    }
    std::env::split_paths(path?).map(|folder| folder.join(word)).find(|path| path.is_absolute() && is_program(path))
}

/// No agent has this name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NameRefusal {
    /// A sentence that says what to do about it.
    pub sentence: String,
    /// Names similar to the one that was asked for.
    pub near: Vec<String>,
}

impl NameRefusal {
    pub(crate) fn of(asked: &str, names: &[String]) -> Self {
        let is_near = |name: &&String| {
            strsim::damerau_levenshtein(asked, name) <= 2 || (asked.len() > 2 && name.starts_with(asked))
        };
        let near: Vec<String> = names.iter().filter(is_near).cloned().collect();
        let hint = match near.first() {
            Some(name) => format!("did you mean \"{name}\"?"),
            None => format!("there are {}", names.join(", ")),
        };
        let asked = crate::wire::cut(asked, 60);
        Self { sentence: format!("no agent is called \"{asked}\"; {hint}"), near }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_program_is_a_file_that_can_be_run_in_a_folder_of_the_path() {
        let folder = tempfile::tempdir().unwrap();
        let (plain, program_path) = (folder.path().join("plain"), folder.path().join("agent"));
        fs::write(&plain, "x").unwrap();
        fs::write(&program_path, "#!/bin/sh\n").unwrap();
        fs::set_permissions(&program_path, fs::Permissions::from_mode(0o755)).unwrap();
        let path = folder.path().as_os_str();
        assert_eq!(program("agent", Some(path)), Some(program_path.clone()));
        assert_eq!(program("plain", Some(path)), None);
        assert_eq!(program("agent", None), None);
        assert_eq!(program(program_path.to_str().unwrap(), None), Some(program_path));
        assert_eq!(program("agent", Some(OsStr::new("relative"))), None);
    }

    #[test]
    fn a_name_that_is_nearly_one_is_told() {
        let names = ["claude", "codex", "opencode"].map(str::to_owned);
        assert_eq!(NameRefusal::of("cladue", &names).near, ["claude"]);
        assert_eq!(NameRefusal::of("open", &names).near, ["opencode"]);
        let far = NameRefusal::of("something", &names);
        assert!(far.near.is_empty() && far.sentence.ends_with("there are claude, codex, opencode"), "{}", far.sentence);
    }

    #[test]
    fn what_is_in_an_agents_environment_is_not_told() {
        let config = AgentConfig {
            command: vec!["x".to_owned()],
            env: BTreeMap::from([("KEY".to_owned(), "hunter2".to_owned())]),
            confine: true,
            idle: IDLE,
        };
        assert!(!format!("{config:?}").contains("hunter2"));
    }
}
