//! How many files this process may have open, and how they are divided up.
//!
//! The soft limit is often 1,024, for programs that still use `select`; the hard limit is what the system allows. The
//! server uses the hard limit, and gives the commands of Pods the soft limit with which it was started.

use rustix::process::{Pid, Resource, Rlimit, getrlimit, setrlimit};

/// The most connections, however many files there may be.
const CONNECTIONS_MAX: u64 = 8_192;
/// A quarter of the files is reserved for the store, commands, models' servers and assets, within bounds.
const KEPT_BACK_PART: u64 = 4;
const KEPT_BACK_MIN: u64 = 96;
const KEPT_BACK_MAX: u64 = 1_024;
/// However few files there are, somebody must be able to connect.
const CONNECTIONS_MIN: u64 = 16;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct OpenFiles {
    /// The soft limit with which the process started; `None` if it was not changed.
    pub(crate) before: Option<u64>,
    /// The current limit; `None` if there is none.
    pub(crate) now: Option<u64>,
}

impl OpenFiles {
    /// Raises the soft limit as far as the system allows.
    pub(crate) fn raise() -> Self {
        let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
        if current == maximum {
            return Self { before: None, now: current };
        }
        match setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum }) {
            Ok(()) => Self { before: current, now: maximum },
            Err(error) => {
                tracing::warn!(%error, "the limit of open files could not be raised");
                Self { before: None, now: current }
            }
        }
    }

    /// Restores the previous soft limit for a program that this one has started.
    pub(crate) fn give_back_to(self, process: Option<u32>) {
        let pid = process.and_then(|id| Pid::from_raw(i32::try_from(id).ok()?));
        #[cfg(target_os = "linux")]
        if let (Some(before), Some(pid)) = (self.before, pid) {
            let limit = Rlimit { current: Some(before), maximum: getrlimit(Resource::Nofile).maximum };
            // It may have ended by now.
            let _ = rustix::process::prlimit(Some(pid), Resource::Nofile, limit);
        }
        #[cfg(not(target_os = "linux"))]
        let _ = pid;
    }

    /// How many connections leave enough files for everything else.
    pub(crate) fn connections_max(self) -> usize {
        let connections = match self.now {
            None => CONNECTIONS_MAX,
            Some(files) => {
                let kept_back = (files / KEPT_BACK_PART).clamp(KEPT_BACK_MIN, KEPT_BACK_MAX);
                files.saturating_sub(kept_back).clamp(CONNECTIONS_MIN, CONNECTIONS_MAX)
            }
        };
        usize::try_from(connections).unwrap_or(usize::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn connections_leave_files_for_all_else() {
        let table = [
            (Some(64), 16),
            (Some(256), 160),
            (Some(1_024), 768),
            (Some(4_096), 3_072),
            (Some(1_048_576), 8_192),
            (None, 8_192),
        ];
        for (now, connections) in table {
            assert_eq!(OpenFiles { before: None, now }.connections_max(), connections, "{now:?}");
        }
    }
}
