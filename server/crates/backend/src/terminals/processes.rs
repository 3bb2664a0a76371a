//! The processes of a terminal: those whose session is that of its shell.

use rustix::process::{Pid, Signal};

/// Sends a signal to every process of a session.
#[cfg(target_os = "linux")]
pub(super) fn signal_session(session: Pid, signal: Signal) {
    for process in of_session(session) {
        // It may have ended by now.
        let _ = rustix::process::kill_process(process, signal);
    }
}

/// Sends a signal to the shell's own group: this system has no list of a session's processes. The others get SIGHUP
/// from the system when the terminal is closed.
#[cfg(not(target_os = "linux"))]
pub(super) fn signal_session(session: Pid, signal: Signal) {
    let _ = rustix::process::kill_process_group(session, signal);
}

/// The processes of a session that have not ended.
#[cfg(target_os = "linux")]
pub(super) fn of_session(session: Pid) -> Vec<Pid> {
    let Ok(entries) = std::fs::read_dir("/proc") else { return Vec::new() };
    let numbers = entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse::<i32>().ok());
    let is_of_it = |number: &i32| {
        let stat = std::fs::read_to_string(format!("/proc/{number}/stat"));
        stat.is_ok_and(|stat| is_in(&stat, session))
    };
    numbers.filter(is_of_it).filter_map(Pid::from_raw).collect()
}

#[cfg(not(target_os = "linux"))]
pub(super) fn of_session(_session: Pid) -> Vec<Pid> {
    Vec::new()
}

/// Whether a process with this line in `/proc` belongs to the session and has not ended. Its name stands in brackets
/// and may contain anything.
#[cfg(target_os = "linux")]
fn is_in(stat: &str, session: Pid) -> bool {
    let Some((_, rest)) = stat.rsplit_once(')') else { return false };
    let mut fields = rest.split_whitespace();
    let has_ended = matches!(fields.next(), Some("Z" | "X") | None);
    // Its parent and its group stand before its session.
    !has_ended && fields.nth(2) == Some(session.as_raw_nonzero().to_string().as_str())
}

/// Gives a program that was just started the limit of open files with which the server was started.
pub(super) fn limit_files(process: Option<Pid>, open_files: Option<u64>) {
    #[cfg(target_os = "linux")]
    if let (Some(process), Some(current)) = (process, open_files) {
        use rustix::process::{Resource, Rlimit, getrlimit, prlimit};

        let limit = Rlimit { current: Some(current), maximum: getrlimit(Resource::Nofile).maximum };
        let _ = prlimit(Some(process), Resource::Nofile, limit);
    }
    #[cfg(not(target_os = "linux"))]
    let _ = (process, open_files);
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn a_process_is_of_a_session_whatever_its_name() {
        let session = Pid::from_raw(42).unwrap();
        assert!(is_in("7 (vim) S 1 7 42 34816 7", session));
        assert!(is_in("7 (a) S 1 7 9 (b) R 1 7 42 0", session), "its name ends at the last bracket");
        assert!(!is_in("7 (vim) S 1 42 9 34816 7", session));
        assert!(!is_in("7 (vim) Z 1 7 42 0", session), "it has ended");
        assert!(!is_in("", session));
    }
}
