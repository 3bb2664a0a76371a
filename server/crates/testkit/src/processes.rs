//! The processes that a program has started.

use std::fs;

/// Returns how many processes this one has started, and they in turn. One that has ended and was not waited for yet
/// does not count.
pub fn processes_below(pid: u32) -> usize {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    let parents: Vec<(u32, u32)> = pids.filter_map(|pid| Some((pid, parent_of(pid)?))).collect();
    let mut below = vec![pid];
    let mut at = 0;
    while at < below.len() {
        let parent = below[at];
        below.extend(parents.iter().filter(|(_, its)| *its == parent).map(|(child, _)| *child));
        at += 1;
    }
    below.len() - 1
}

/// `None` for a process that has ended.
fn parent_of(pid: u32) -> Option<u32> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name, in brackets, may contain spaces.
    let mut fields = stat.rsplit_once(')')?.1.split_whitespace();
    fields.next().filter(|state| *state != "Z")?;
    fields.next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use std::process::{Command, Stdio};

    use super::*;

    #[test]
    fn a_process_counts_until_it_has_ended_and_so_do_those_that_it_starts() {
        let mut shell = Command::new("sh")
            .args(["-c", "sleep 600 & echo ready; read line; kill $!"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut ready = [0];
        std::io::Read::read_exact(shell.stdout.as_mut().unwrap(), &mut ready).unwrap();
        assert_eq!(processes_below(shell.id()), 1);
        drop(shell.stdin.take());
        shell.wait().unwrap();
        assert_eq!(processes_below(shell.id()), 0);
    }
}
