//! Ends every process beneath this one.
//!
//! The helper is the reaper of all its descendants (a child subreaper): a process that loses its parent becomes a child
//! of the helper, whatever session or group it moved to. So nothing is left exactly when the helper has no children
//! left.

use std::{collections::HashMap, fs, thread, time::Duration};

use rustix::{
    io::Errno,
    process::{Pid, PidfdFlags, Signal, WaitOptions, getpid, pidfd_open, pidfd_send_signal, wait},
};

/// The pause between two looks at what is left.
const LOOK_AGAIN: Duration = Duration::from_millis(2);

/// Kills and reaps until nothing is left. Only for the one thread that waits for children.
pub(super) fn end_all() {
    while !reap() {
        kill_all();
        thread::sleep(LOOK_AGAIN);
    }
}

/// Reaps children until none is left. For a sandbox whose first process has ended: the kernel ends all the others, so
/// nobody needs to be searched for.
pub(super) fn await_all() {
    // `ECHILD` ends the loop; no other error is possible.
    while matches!(wait(WaitOptions::empty()), Ok(_) | Err(Errno::INTR)) {}
}

/// Kills until this process ends, while another thread waits for the children. `others` ends what can be found in
/// another way.
pub(super) fn kill_forever(others: impl FnOnce()) -> ! {
    // When the first process of a sandbox ends, the kernel ends all the others, parents before children, so no shell
    // lives to report the death of a child.
    let own = getpid().as_raw_nonzero().get();
    for (pid, _) in processes().filter(|(_, parent)| *parent == own) {
        send(pid, own, Signal::KILL);
    }
    others();
    loop {
        thread::sleep(LOOK_AGAIN);
        kill_all();
    }
}

/// Sends SIGTERM to each current descendant except the first process of a command without a sandbox, which reports how
/// the command ended.
pub(super) fn tell_to_end(first: Option<Pid>) {
    let first = first.map(|first| first.as_raw_nonzero().get());
    signal_all(|pid| (Some(pid) != first).then_some(Signal::TERM));
}

/// Reaps each child that has ended. Returns true if there are no children at all.
fn reap() -> bool {
    loop {
        match wait(WaitOptions::NOHANG) {
            Ok(Some(_)) | Err(Errno::INTR) => (),
            Ok(None) => return false,
            // `ECHILD`; no other error is possible.
            Err(_) => return true,
        }
    }
}

/// Sends SIGKILL to each current descendant.
fn kill_all() {
    signal_all(|_| Some(Signal::KILL));
}

/// Sends each current descendant the signal that is chosen for its number, if any.
fn signal_all(choose: impl Fn(i32) -> Option<Signal>) {
    let mut children: HashMap<i32, Vec<i32>> = HashMap::new();
    for (pid, parent) in processes() {
        children.entry(parent).or_default().push(pid);
    }
    let mut parents = vec![getpid().as_raw_nonzero().get()];
    while let Some(parent) = parents.pop() {
        for pid in children.remove(&parent).unwrap_or_default() {
            if let Some(signal) = choose(pid) {
                send(pid, parent, signal);
            }
            parents.push(pid);
        }
    }
}

/// Signals `pid` if it is still a child of `parent`: the number may have been reused since it was read.
fn send(pid: i32, parent: i32, signal: Signal) {
    let Some(handle) = Pid::from_raw(pid).and_then(|pid| pidfd_open(pid, PidfdFlags::empty()).ok()) else {
        return;
    };
    let own = getpid().as_raw_nonzero().get();
    // A process that lost its parent meanwhile has become our child.
    if parent_of(pid).is_some_and(|now| now == parent || now == own) {
        let _ = pidfd_send_signal(&handle, signal);
    }
}

/// Every process with its parent.
fn processes() -> impl Iterator<Item = (i32, i32)> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    pids.filter_map(|pid| Some((pid, parent_of(pid)?)))
}

/// The fourth field of `stat`; the second is a name in parentheses, which may contain anything.
fn parent_of(pid: i32) -> Option<i32> {
    let stat = fs::read(format!("/proc/{pid}/stat")).ok()?;
    let rest = stat.rsplit(|byte| *byte == b')').next()?;
    std::str::from_utf8(rest).ok()?.split_whitespace().nth(1)?.parse().ok()
}
