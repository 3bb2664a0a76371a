//! The terminals that an agent has asked yoi for. Each is a command that runs like the Pod's own commands; this module
//! keeps what the agent may see of it.

use std::collections::BTreeMap;

use pod::ToolOutcome;
use serde_json::{Value, json};

/// How many terminals one agent may hold, and how much output is kept of each.
pub(crate) const TERMINALS_MAX: usize = 16;
const OUTPUT_BYTES_MAX: usize = 1024 * 1024;
/// How many requests may wait for one terminal to end.
const WAITERS_MAX: usize = 8;

/// The terminals by id.
#[derive(Debug, Default)]
pub(crate) struct Terminals(BTreeMap<String, Terminal>);

#[derive(Debug)]
struct Terminal {
    output: String,
    is_cut: bool,
    bytes_max: usize,
    /// The exit status, once it has ended.
    exit: Option<Value>,
    /// The requests that are answered when it ends.
    waiters: Vec<Value>,
}

impl Terminals {
    pub(crate) fn is_full(&self) -> bool {
        self.0.len() >= TERMINALS_MAX
    }

    pub(crate) fn open(&mut self, id: String, bytes_max: Option<u64>) {
        let bytes_max = bytes_max.and_then(|bytes| usize::try_from(bytes).ok()).unwrap_or(OUTPUT_BYTES_MAX);
        let bytes_max = bytes_max.min(OUTPUT_BYTES_MAX);
        let terminal = Terminal { output: String::new(), is_cut: false, bytes_max, exit: None, waiters: Vec::new() };
        self.0.insert(id, terminal);
    }

    pub(crate) fn wrote(&mut self, id: &str, text: &str) {
        if let Some(terminal) = self.0.get_mut(id).filter(|terminal| terminal.exit.is_none()) {
            terminal.output.push_str(text);
            terminal.keep_end();
        }
    }

    /// Marks the terminal as ended. Returns the requests that waited for it, and their answer.
    pub(crate) fn ended(&mut self, id: &str, outcome: &ToolOutcome) -> Option<(Vec<Value>, Value)> {
        let terminal = self.0.get_mut(id)?;
        if let Some(content) = &outcome.content {
            terminal.output.clone_from(content);
            terminal.keep_end();
        }
        let exit = exit_status(outcome);
        terminal.exit = Some(exit.clone());
        Some((std::mem::take(&mut terminal.waiters), exit))
    }

    /// Returns the answer to `terminal/output`, or `None` if there is no such terminal.
    pub(crate) fn output(&self, id: &str) -> Option<Value> {
        let terminal = self.0.get(id)?;
        let mut answer = json!({ "output": terminal.output, "truncated": terminal.is_cut });
        if let Some(exit) = &terminal.exit {
            answer["exitStatus"] = exit.clone();
        }
        Some(answer)
    }

    /// Returns the exit status if the terminal has ended; otherwise keeps the request until it ends. Fails if there is
    /// no such terminal or too many requests wait for it.
    pub(crate) fn wait(&mut self, id: &str, request: Value) -> Result<Option<Value>, ()> {
        let terminal = self.0.get_mut(id).ok_or(())?;
        if let Some(exit) = &terminal.exit {
            return Ok(Some(exit.clone()));
        }
        if terminal.waiters.len() >= WAITERS_MAX {
            return Err(());
        }
        terminal.waiters.push(request);
        Ok(None)
    }

    /// Returns whether the terminal is running, or `None` if there is no such terminal.
    pub(crate) fn runs(&self, id: &str) -> Option<bool> {
        self.0.get(id).map(|terminal| terminal.exit.is_none())
    }

    /// Forgets the terminal and returns the requests that waited for it.
    pub(crate) fn close(&mut self, id: &str) -> Vec<Value> {
        self.0.remove(id).map(|terminal| terminal.waiters).unwrap_or_default()
    }
}

impl Terminal {
    /// Drops the beginning of an output that is too long: its end matters more.
    fn keep_end(&mut self) {
        if self.output.len() > self.bytes_max {
            let from = self.output.ceil_char_boundary(self.output.len() - self.bytes_max);
            self.output.drain(..from);
            self.is_cut = true;
        }
    }
}

/// Derives the exit status of a command from the text that people read about it.
fn exit_status(outcome: &ToolOutcome) -> Value {
    let number = |after: &str| {
        let (_, rest) = outcome.summary.split_once(after)?;
        rest.split(|letter: char| !letter.is_ascii_digit()).next()?.parse::<u32>().ok()
    };
    match outcome.code.as_deref() {
        None => json!({ "exitCode": 0, "signal": null }),
        Some("exit") => json!({ "exitCode": number("exit ").unwrap_or(1), "signal": null }),
        Some("signal") => match number("signal ") {
            Some(signal) => json!({ "exitCode": null, "signal": format!("{signal}") }),
            None => json!({ "exitCode": null, "signal": "SIGKILL" }),
        },
        Some(_) => json!({ "exitCode": null, "signal": "SIGKILL" }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outcome(code: Option<&str>, summary: &str) -> ToolOutcome {
        ToolOutcome { code: code.map(str::to_owned), ..ToolOutcome::done(summary) }
    }

    #[test]
    fn how_a_command_ended_is_a_number_or_a_signal() {
        let table = [
            (None, "exit 0 in 0.1 s · 1 line", json!({ "exitCode": 0, "signal": null })),
            (Some("exit"), "exit 17 in 0.1 s · 1 line", json!({ "exitCode": 17, "signal": null })),
            (Some("signal"), "killed by signal 9 · 0 lines", json!({ "exitCode": null, "signal": "9" })),
            (Some("timeout"), "killed after 600 s (time limit)", json!({ "exitCode": null, "signal": "SIGKILL" })),
            (Some("cancelled"), "ended by the agent", json!({ "exitCode": null, "signal": "SIGKILL" })),
        ];
        for (code, summary, status) in table {
            assert_eq!(exit_status(&outcome(code, summary)), status, "{summary}");
        }
    }

    #[test]
    fn output_keeps_its_end_within_the_limit_and_waiters_are_told_once() {
        let mut terminals = Terminals::default();
        terminals.open("yoi-1".to_owned(), Some(4));
        terminals.wrote("yoi-1", "aé");
        terminals.wrote("yoi-1", "bcd");
        assert_eq!(terminals.output("yoi-1"), Some(json!({ "output": "bcd", "truncated": true })));
        assert_eq!(terminals.wait("yoi-1", json!(7)), Ok(None));
        assert_eq!(terminals.wait("yoi-2", json!(7)), Err(()));
        let (waiters, exit) = terminals.ended("yoi-1", &outcome(None, "exit 0")).unwrap();
        assert_eq!((waiters, &exit["exitCode"]), (vec![json!(7)], &json!(0)));
        assert_eq!(terminals.wait("yoi-1", json!(8)).map(|exit| exit.is_some()), Ok(true));
        assert_eq!(terminals.runs("yoi-1"), Some(false));
        assert!(terminals.close("yoi-1").is_empty());
        assert_eq!(terminals.output("yoi-1"), None);
    }
}
