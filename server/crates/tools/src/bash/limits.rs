//! How much of the machine one command may take. Limits that the kernel counts per process are set for each process;
//! the number of processes is counted for the whole sandbox.

use std::{fs, io};

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use serde::{Deserialize, Serialize};

/// The most processes and threads in one sandbox at once.
const PROCESSES_DEFAULT: u64 = 2048;
/// The most bytes of one file.
const FILE_BYTES_DEFAULT: u64 = 16 << 30;
/// The hard limit of open files per process.
const OPEN_FILES_MAX: u64 = 64 * 1024;
/// The percentage of the machine's memory that one process may write to.
const MEMORY_SHARE_DEFAULT: u64 = 75;
/// The kernel has no higher PIDs.
const NUMBERS_MAX: u64 = 4 << 20;
/// PIDs that the kernel assigns once and does not reuse.
const NUMBERS_ONCE: u64 = 300;
/// The first kernel that limits PIDs per sandbox.
const NUMBERS_SINCE: (u32, u32) = (6, 14);
/// Makes the kernel end a command before the server when memory is short.
const OOM_SCORE: &str = "500";

/// Each `None` leaves the limit as it was when yoi was started.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limits {
    /// The soft limit of open files, if it is to differ from yoi's.
    pub open_files: Option<u64>,
    pub processes: u64,
    /// Per process.
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
    /// The highest PID in a sandbox. The kernel does not limit root's number of processes, but PIDs run out for root
    /// too. `None` before Linux 6.14, where the limit is machine-wide.
    pub(super) fn numbers(&self) -> Option<u64> {
        let is_of_room = kernel_version().is_some_and(|version| version >= NUMBERS_SINCE);
        is_of_room.then(|| self.processes.saturating_add(NUMBERS_ONCE).min(NUMBERS_MAX))
    }

    /// Applies the limits to this process and those that it starts. `in_room`: its processes are counted separately
    /// from the account's others.
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

/// Lowers the soft and the hard limit, so that it cannot be raised again.
fn lower(resource: Resource, most: u64) -> io::Result<()> {
    let most = getrlimit(resource).maximum.unwrap_or(most).min(most);
    Ok(setrlimit(resource, Rlimit { current: Some(most), maximum: Some(most) })?)
}

/// When memory is short, this process and those that it starts are ended first.
pub(super) fn go_first_when_memory_is_short() {
    // If the kernel refuses, the server and its commands stay equal.
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
