//! `[commands]`: what the commands of Pods get of this machine.

use serde::Deserialize;
use tools::bash::{Builder, Limits};

const MB: u64 = 1024 * 1024;
/// The kernel allows no lower limit for a sandbox.
const PROCESSES_MIN: u64 = 301;
/// Provider keys that yoi itself looks for in the environment, and its own variables; no command gets them.
const KEYS: [&str; 3] = ["OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GEMINI_API_KEY"];
const OWN: &str = "YOI_";

/// As written in the file.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Commands {
    /// Names of variables that commands get besides the common ones.
    pub(crate) environment: Vec<String>,
    /// Whether bubblewrap builds sandboxes: `true` preferably, `false` never. If absent: where yoi may not build them
    /// itself.
    bubblewrap: Option<bool>,
    processes: Option<u64>,
    memory_mb: Option<u64>,
    file_mb: Option<u64>,
}

impl Commands {
    pub(crate) fn builder(&self) -> Builder {
        match self.bubblewrap {
            None => Builder::Quickest,
            Some(true) => Builder::Bubblewrap,
            Some(false) => Builder::Own,
        }
    }

    pub(crate) fn limits(&self, open_files: Option<u64>) -> Limits {
        let usual = Limits::default();
        Limits {
            open_files,
            processes: self.processes.unwrap_or(usual.processes),
            memory_bytes: self.memory_mb.map(|mb| mb.saturating_mul(MB)).or(usual.memory_bytes),
            file_bytes: self.file_mb.map_or(usual.file_bytes, |mb| mb.saturating_mul(MB)),
        }
    }

    /// What is wrong with it, as a sentence. `keys` are the variables that contain provider keys.
    pub(super) fn refusal(&self, keys: &[String]) -> Option<String> {
        let is_kept = |name: &&String| name.starts_with(OWN) || KEYS.contains(&name.as_str()) || keys.contains(*name);
        if let Some(name) = self.environment.iter().find(is_kept) {
            return Some(format!("[commands]: environment names {name}, which no command gets; leave it out"));
        }
        match (self.processes, self.memory_mb, self.file_mb) {
            (Some(..PROCESSES_MIN), ..) => Some(format!("[commands]: processes is at least {PROCESSES_MIN}")),
            (_, Some(0), _) => Some("[commands]: memory_mb is at least 1".to_owned()),
            (_, _, Some(0)) => Some("[commands]: file_mb is at least 1".to_owned()),
            _ => None,
        }
    }
}
