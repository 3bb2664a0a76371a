//! How much of the machine one command may take. What the kernel counts for each process is set for each; how many
//! processes there are is counted for the whole room.

use std::{fs, io};

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use serde::{Deserialize, Serialize};

/// Processes and threads at once, in one room.
const PROCESSES_DEFAULT: u64 = 2048;
/// Of one file.
const FILE_BYTES_DEFAULT: u64 = 16 << 30;
/// Files that one process may have open, however far it raises that itself.
const OPEN_FILES_MAX: u64 = 64 * 1024;
/// Of the machine's memory, in hundredths, what one process may write to.
const MEMORY_SHARE_DEFAULT: u64 = 75;
/// More are none.
const NUMBERS_MAX: u64 = 4 << 20;
/// Numbers that the kernel gives out once and not again.
const NUMBERS_ONCE: u64 = 300;
/// The kernel that first counted the numbers of processes for each room.
const NUMBERS_SINCE: (u32, u32) = (6, 14);
/// The kernel ends a command before it ends the server.
const OOM_SCORE: &str = "500";

/// All that is none is as it was when yoi was started.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limits {
    /// The soft limit of open files, where it is not to be that of yoi.
    pub open_files: Option<u64>,
    pub processes: u64,
    /// Of one process.
    pub memory_bytes: Option<u64>,
    pub file_bytes: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            open_files: None,
            processes: PROCESSES_DEFAULT,
            memory_bytes: Some(machine_memory() / 100 * MEMORY_SHARE_DEFAULT),
            file_bytes: FILE_BYTES_DEFAULT,
        }
    }
}

impl Limits {
    /// The highest number that a process of a room may have. Of root the kernel counts no processes; numbers run out for it,
    /// too. None where they are the whole machine's (before Linux 6.14).
    pub(super) fn numbers(&self) -> Option<u64> {
        let is_of_room = kernel_version().is_some_and(|version| version >= NUMBERS_SINCE);
        is_of_room.then(|| self.processes.saturating_add(NUMBERS_ONCE).min(NUMBERS_MAX))
    }

    /// Of this process and those that it starts. `in_room`: its processes are counted apart from all others of the account.
    pub(super) fn apply(&self, in_room: bool) -> io::Result<()> {
        if in_room {
            lower(Resource::Nproc, self.processes)?;
        }
        lower(Resource::Core, 0)?;
        lower(Resource::Fsize, self.file_bytes)?;
        if let Some(bytes) = self.memory_bytes {
            lower(Resource::Data, bytes)?;
        }
        let had = getrlimit(Resource::Nofile);
        let most = had.maximum.unwrap_or(OPEN_FILES_MAX).min(OPEN_FILES_MAX);
        let wanted = self.open_files.or(had.current).unwrap_or(most).min(most);
        Ok(setrlimit(Resource::Nofile, Rlimit { current: Some(wanted), maximum: Some(most) })?)
    }
}

/// Both limits: it cannot be raised again.
fn lower(resource: Resource, most: u64) -> io::Result<()> {
    let most = getrlimit(resource).maximum.unwrap_or(most).min(most);
    Ok(setrlimit(resource, Rlimit { current: Some(most), maximum: Some(most) })?)
}

/// When memory is short, this process and those that it starts go first.
pub(super) fn go_first_when_memory_is_short() {
    // Where the kernel does not take it, the server and its commands are alike, as they were.
    let _ = fs::write("/proc/self/oom_score_adj", OOM_SCORE);
}

fn machine_memory() -> u64 {
    let info = rustix::system::sysinfo();
    info.totalram.saturating_mul(info.mem_unit.into())
}

fn kernel_version() -> Option<(u32, u32)> {
    let name = rustix::system::uname();
    let mut numbers = name.release().to_str().ok()?.split(|letter: char| !letter.is_ascii_digit());
    Some((numbers.next()?.parse().ok()?, numbers.next()?.parse().ok()?))
}
