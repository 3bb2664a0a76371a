//! The cgroup controllers, and what they limit.

use serde::{Deserialize, Serialize};

use super::super::limits::Limits;

/// Our own processes in a command's group: the sandbox builder, the first process, and its threads.
const OWN_PROCESSES: u64 = 8;
/// The CPU weight while there is contention; the server has 100.
const CPU_WEIGHT: u64 = 20;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Controller {
    Pids,
    Memory,
    Cpu,
}

impl Controller {
    pub(super) const ALL: [Self; 3] = [Self::Pids, Self::Memory, Self::Cpu];

    /// The kernel's name.
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Pids => "pids",
            Self::Memory => "memory",
            Self::Cpu => "cpu",
        }
    }

    /// What it limits, for people.
    pub(super) fn limited(self) -> &'static str {
        match self {
            Self::Pids => "processes",
            Self::Memory => "memory",
            Self::Cpu => "CPU",
        }
    }

    /// The files of a group and what is written to each.
    pub(super) fn settings(self, limits: &Limits) -> Vec<(&'static str, u64)> {
        match self {
            Self::Pids => vec![("pids.max", limits.processes.saturating_add(OWN_PROCESSES))],
            Self::Memory => limits.memory_bytes.into_iter().map(|bytes| ("memory.max", bytes)).collect(),
            Self::Cpu => vec![("cpu.weight", CPU_WEIGHT)],
        }
    }
}
