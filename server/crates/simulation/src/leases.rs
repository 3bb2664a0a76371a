//! What must hold of a database that several hosts share: who writes has the lease, and no lease comes back.

use std::collections::{BTreeMap, BTreeSet};

use pod_store::{LeaseEvent, LeaseLine};

/// What the hosts of a database have written.
#[derive(Debug, Default)]
pub(crate) struct Written {
    /// By the worker id of the Pod and the seq of the record: the number of the host that had the Pod.
    pub(crate) pods: BTreeMap<String, BTreeMap<u64, i64>>,
    /// How many numbers were given to hosts.
    pub(crate) hosts: usize,
}

#[derive(Debug, Default)]
struct Checker {
    alive: BTreeSet<i64>,
    /// Of each Pod: whoever had it before, and has it no more.
    former: BTreeMap<String, BTreeSet<i64>>,
    owners: BTreeMap<String, i64>,
    written: Written,
}

/// Reads the whole log, in the order of the transactions.
///
/// - Whoever writes is alive: it has joined, and has neither left nor been declared dead.
/// - A Pod that is written to has an owner, who is alive.
/// - A number that had a Pod and lost it never has it again, so an older owner never writes after a newer one.
/// - Each record is written once, behind the one before.
///
/// # Errors
/// What does not hold.
pub(crate) fn checked(lines: &[LeaseLine]) -> Result<Written, String> {
    let mut checker = Checker::default();
    for line in lines {
        checker.take(line)?;
    }
    Ok(checker.written)
}

impl Checker {
    fn take(&mut self, LeaseLine { host, event }: &LeaseLine) -> Result<(), String> {
        match event {
            LeaseEvent::Joined => {
                self.written.hosts += 1;
                self.alive.insert(*host);
                Ok(())
            }
            LeaseEvent::Gone => {
                self.alive.remove(host);
                Ok(())
            }
            LeaseEvent::Took(pod) => self.owns(*host, pod.as_str()),
            LeaseEvent::Wrote { pod, seq, owner } => {
                let pod = pod.as_str();
                if !self.alive.contains(host) {
                    return Err(format!("host {host} wrote {seq} of {pod} after it was declared dead"));
                }
                let Some(owner) = owner else {
                    return Err(format!("host {host} wrote {seq} of {pod}, which nobody had"));
                };
                self.owns(*owner, pod)?;
                let seq = u64::try_from(seq.0).unwrap_or_default();
                let records = self.written.pods.entry(pod.to_owned()).or_default();
                match records.last_key_value() {
                    Some((last, _)) if *last >= seq => {
                        Err(format!("host {host} wrote {seq} of {pod}, where {last} was written already"))
                    }
                    _ => {
                        records.insert(seq, *owner);
                        Ok(())
                    }
                }
            }
        }
    }

    fn owns(&mut self, host: i64, pod: &str) -> Result<(), String> {
        if !self.alive.contains(&host) {
            return Err(format!("host {host} has {pod}, and was declared dead"));
        }
        match self.owners.insert(pod.to_owned(), host) {
            Some(before) if before != host => {
                let former = self.former.entry(pod.to_owned()).or_default();
                former.insert(before);
                if former.contains(&host) {
                    return Err(format!("host {host} has {pod} again, after host {before}"));
                }
                Ok(())
            }
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use protocol::{Seq, WorkerId};

    use super::*;

    fn pod() -> WorkerId {
        WorkerId::parse("ada").unwrap()
    }

    fn line(host: i64, event: LeaseEvent) -> LeaseLine {
        LeaseLine { host, event }
    }

    fn wrote(host: i64, seq: i64, owner: i64) -> LeaseLine {
        line(host, LeaseEvent::Wrote { pod: pod(), seq: Seq(seq), owner: Some(owner) })
    }

    fn two_hosts() -> Vec<LeaseLine> {
        vec![
            line(1, LeaseEvent::Joined),
            line(2, LeaseEvent::Joined),
            line(1, LeaseEvent::Took(pod())),
            wrote(1, 1, 1),
            // For a Pod that its host holds.
            wrote(2, 2, 1),
        ]
    }

    #[test]
    fn hosts_that_take_over_from_each_other_break_nothing() {
        let mut lines = two_hosts();
        lines.extend([line(1, LeaseEvent::Gone), line(2, LeaseEvent::Took(pod())), wrote(2, 4, 2)]);
        lines.extend([line(3, LeaseEvent::Joined), line(2, LeaseEvent::Gone), line(3, LeaseEvent::Took(pod()))]);
        let written = checked(&lines).unwrap();
        assert_eq!((written.hosts, written.pods["ada"].len()), (3, 3));
    }

    #[test]
    fn whoever_writes_without_the_lease_is_found() {
        let gone = || line(1, LeaseEvent::Gone);
        let cases: [(&str, Vec<LeaseLine>); 5] = [
            ("dead", vec![gone(), line(2, LeaseEvent::Took(pod())), wrote(1, 3, 2)]),
            ("of a dead one", vec![gone(), wrote(2, 3, 1)]),
            ("of nobody", vec![gone(), line(2, LeaseEvent::Wrote { pod: pod(), seq: Seq(3), owner: None })]),
            ("again", vec![line(2, LeaseEvent::Took(pod())), wrote(2, 3, 2), wrote(1, 4, 1)]),
            ("twice", vec![wrote(1, 2, 1)]),
        ];
        for (name, more) in cases {
            let mut lines = two_hosts();
            lines.extend(more);
            assert!(checked(&lines).is_err(), "{name}");
        }
    }
}
