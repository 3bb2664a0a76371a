//! `[agents.NAME]`: agents that speak the Agent Client Protocol.

use std::{collections::BTreeMap, fmt, time::Duration};

use acp::{AgentConfig, IDLE};
use serde::Deserialize;

const NAME_CHARS_MAX: usize = 40;
/// One day.
const IDLE_S_MAX: u64 = 24 * 60 * 60;
/// The prefix of yoi's own variables, which no program gets.
const OWN: &str = "YOI_";

/// The section as it is written in the file.
#[derive(Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Agent {
    /// The program and its arguments. The built-in agents have one already.
    command: Vec<String>,
    env: BTreeMap<String, String>,
    confine: bool,
    /// How long the process of an idle agent is kept, in seconds.
    idle_s: Option<u64>,
}

// Written by hand, so that the environment is never printed.
impl fmt::Debug for Agent {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Agent").finish_non_exhaustive()
    }
}

impl Agent {
    /// # Errors
    /// A sentence that says what is wrong with the section.
    pub(super) fn config(&self, name: &str) -> Result<AgentConfig, String> {
        let place = format!("[agents.{name}]");
        let is_fit = |letter: char| letter.is_ascii_alphanumeric() || "-_.".contains(letter);
        if name.is_empty() || name.len() > NAME_CHARS_MAX || !name.chars().all(is_fit) {
            return Err(format!("{place}: an agent's name is 1 to {NAME_CHARS_MAX} of A-Z a-z 0-9 . _ -"));
        }
        let command = match (self.command.as_slice(), AgentConfig::known(name)) {
            ([], Some(known)) => known.command,
            ([], None) => {
                let known = "claude, codex, gemini and opencode";
                return Err(format!(
                    "{place} needs `command`, a program and its arguments; only {known} have one already"
                ));
            }
            ([program, ..], _) if program.trim().is_empty() => {
                return Err(format!("{place}: `command` names no program"));
            }
            (command, _) => command.to_vec(),
        };
        if let Some(variable) = self.env.keys().find(|variable| !is_variable(variable)) {
            return Err(format!(
                "{place}: `env` has \"{variable}\", which is not the name of a variable that an agent may get"
            ));
        }
        let has_nul = |text: &String| text.contains('\0');
        if command.iter().any(has_nul) || self.env.values().any(has_nul) {
            return Err(format!("{place} has a NUL character in it"));
        }
        let idle = match self.idle_s {
            None => IDLE,
            Some(seconds @ 1..=IDLE_S_MAX) => Duration::from_secs(seconds),
            Some(other) => return Err(format!("{place}: idle_s is 1 to {IDLE_S_MAX}, not {other}")),
        };
        Ok(AgentConfig { command, env: self.env.clone(), confine: self.confine, idle })
    }
}

fn is_variable(name: &str) -> bool {
    let is_letter = |letter: char| letter.is_ascii_alphabetic() || letter == '_';
    name.starts_with(is_letter)
        && name.chars().all(|letter| is_letter(letter) || letter.is_ascii_digit())
        && !name.starts_with(OWN)
}
