//! The lease of several hosts, explored whole (docs/decisions/0092): two hosts and a Pod, commits that are under way
//! while their host is declared dead, connections that break, hosts that start again or join again. A lease is a host's,
//! so a second Pod adds states and no decision.
//!
//! The decisions are SQL, so the model has a small database of its own, [`Tables`], which is compared with PostgreSQL.

use std::collections::BTreeSet;

use stateright::{Checker, Model, Property};

use crate::lease_tables::{PODS, PodRow, Tables};

const HOSTS: usize = 2;
/// The Pod that they write to.
const POD: usize = 0;
/// Bounds of what is explored: numbers of hosts that are ever given out, and records per Pod.
const NUMBERS_MAX: u8 = 5;
const RECORDS_MAX: usize = 3;

/// The process of a host.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Host {
    number: u8,
    /// Pods whose heads it knows, so it does not claim them again.
    knows: [bool; PODS],
    /// It has found that its lease is gone.
    is_fenced: bool,
    txn: Option<Txn>,
}

/// An open transaction of a host. It holds the lock on the host's own row from its first statement on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Txn {
    pod: usize,
    /// The Pod is claimed, if need be, and the record is written, and its row is locked.
    is_written: bool,
}

/// The transaction that declares a host dead.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Reap {
    dead: u8,
    /// The host's row is deleted; this waited for the transactions that hold it.
    is_deleted: bool,
    /// The Pods that lose their owner, once that statement has run.
    freed: Option<[bool; PODS]>,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Stage {
    tables: Tables,
    hosts: [Host; HOSTS],
    reap: Option<Reap>,
    /// A host without a lease has committed.
    has_dead_commit: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Action {
    /// The first statements of a commit: begin, and lock the lease.
    Begin(usize, usize),
    Write(usize),
    /// The answer reaches the host, or is lost.
    Commit(usize, bool),
    /// The connection breaks, or the database ends a transaction that hangs.
    Abort(usize),
    Rejoin(usize),
    /// The process dies and starts again under the same identity.
    Restart(usize),
    /// This host has been silent; any may be, for its own clock and its pauses are not known to anybody.
    Reap(usize),
    ReapDelete,
    ReapFree,
    ReapCommit,
    ReapAbort,
}

/// A fault put into the protocol on purpose.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fault {
    /// A commit does not look for its lease.
    LeaseUnchecked,
    /// A host is declared dead without waiting for its commit that is under way.
    NoWait,
    /// The Pods of a dead host are looked for before its row is gone.
    FreedFirst,
    /// A host that joins again takes its old number and goes on as before.
    NumberAgain,
}

struct Leases {
    fault: Option<Fault>,
}

impl Leases {
    fn begin(&self, world: &mut Stage, host: usize, pod: usize) -> Option<()> {
        let own = &mut world.hosts[host];
        // The row is locked by the transaction that deletes it: the statement waits.
        let waits = world.reap.is_some_and(|reap| reap.is_deleted && reap.dead == own.number);
        if own.txn.is_some() || own.is_fenced || (waits && self.fault != Some(Fault::LeaseUnchecked)) {
            return None;
        }
        if world.tables.has_lease(own.number) || self.fault == Some(Fault::LeaseUnchecked) {
            own.txn = Some(Txn { pod, is_written: false });
        } else {
            own.is_fenced = true;
        }
        Some(())
    }

    fn write(world: &mut Stage, host: usize) -> Option<()> {
        let txn = world.hosts[host].txn.filter(|txn| !txn.is_written)?;
        // The Pod's row is locked by another transaction.
        let is_locked = world.hosts.iter().any(|other| other.txn == Some(Txn { is_written: true, ..txn }));
        if is_locked {
            return None;
        }
        let own = &mut world.hosts[host];
        if own.knows[txn.pod] || world.tables.may_claim(own.number, txn.pod).is_ok() {
            own.txn = Some(Txn { is_written: true, ..txn });
        } else {
            own.txn = None;
        }
        Some(())
    }

    fn commit(world: &mut Stage, host: usize, is_heard: bool) -> Option<()> {
        let own = &mut world.hosts[host];
        let txn = own.txn.filter(|txn| txn.is_written)?;
        world.has_dead_commit |= !world.tables.has_lease(own.number);
        world.tables.write(own.number, txn.pod);
        own.txn = None;
        match is_heard {
            true => own.knows[txn.pod] = true,
            false => own.knows = [false; PODS],
        }
        Some(())
    }

    fn rejoin(&self, world: &mut Stage, host: usize) -> Option<()> {
        if !world.hosts[host].is_fenced {
            return None;
        }
        if self.fault == Some(Fault::NumberAgain) {
            world.tables.hosts.insert(world.hosts[host].number);
            world.hosts[host].is_fenced = false;
            return Some(());
        }
        let number = world.tables.register(None);
        world.hosts[host] = Host { number, knows: [false; PODS], is_fenced: false, txn: None };
        Some(())
    }

    fn delete(&self, world: &mut Stage) -> Option<()> {
        let reap = world.reap.filter(|reap| !reap.is_deleted)?;
        let is_held = world.hosts.iter().any(|host| host.number == reap.dead && host.txn.is_some());
        if is_held && self.fault != Some(Fault::NoWait) {
            return None;
        }
        world.reap = Some(Reap { is_deleted: true, ..reap });
        Some(())
    }

    fn free(&self, world: &mut Stage) -> Option<()> {
        let may = |reap: &Reap| reap.freed.is_none() && (reap.is_deleted || self.fault == Some(Fault::FreedFirst));
        let reap = world.reap.filter(may)?;
        let freed = [0, 1].map(|pod: usize| world.tables.pods[pod].owner == Some(reap.dead));
        world.reap = Some(Reap { freed: Some(freed), ..reap });
        Some(())
    }

    fn end(world: &mut Stage) -> Option<()> {
        let Reap { dead, freed: Some(freed), is_deleted: true } = world.reap? else { return None };
        world.tables.hosts.remove(&dead);
        for (pod, _) in world.tables.pods.iter_mut().zip(freed).filter(|(_, is_freed)| *is_freed) {
            pod.owner = None;
        }
        world.reap = None;
        Some(())
    }
}

impl Model for Leases {
    type State = Stage;
    type Action = Action;

    fn init_states(&self) -> Vec<Stage> {
        let mut tables = Tables::new();
        let mut host = || Host { number: tables.register(None), knows: [false; PODS], is_fenced: false, txn: None };
        let hosts = [host(), host()];
        vec![Stage { tables, hosts, reap: None, has_dead_commit: false }]
    }

    fn actions(&self, world: &Stage, actions: &mut Vec<Action>) {
        for host in 0..HOSTS {
            if world.tables.pods[POD].journal.len() < RECORDS_MAX {
                actions.push(Action::Begin(host, POD));
            }
            actions.extend([Action::Write(host), Action::Commit(host, true), Action::Commit(host, false)]);
            actions.push(Action::Abort(host));
            if world.tables.last_number < NUMBERS_MAX {
                actions.extend([Action::Rejoin(host), Action::Restart(host)]);
            }
            actions.push(Action::Reap(host));
        }
        actions.extend([Action::ReapDelete, Action::ReapFree, Action::ReapCommit, Action::ReapAbort]);
    }

    fn next_state(&self, last: &Stage, action: Action) -> Option<Stage> {
        let mut world = last.clone();
        match action {
            Action::Begin(host, pod) => self.begin(&mut world, host, pod),
            Action::Write(host) => Self::write(&mut world, host),
            Action::Commit(host, is_heard) => Self::commit(&mut world, host, is_heard),
            // What it knew of heads may be wrong now.
            Action::Abort(host) => world.hosts[host].txn.take().map(|_| world.hosts[host].knows = [false; PODS]),
            Action::Rejoin(host) => self.rejoin(&mut world, host),
            Action::Restart(host) => {
                let before = world.hosts[host].number;
                // Registering waits for a transaction that deletes the same row.
                let waits = world.reap.is_some_and(|reap| reap.dead == before);
                (!waits).then(|| {
                    let number = world.tables.register(Some(before));
                    world.hosts[host] = Host { number, knows: [false; PODS], is_fenced: false, txn: None };
                })
            }
            Action::Reap(host) => {
                let dead = world.hosts[host].number;
                (world.reap.is_none() && world.tables.has_lease(dead)).then(|| {
                    world.reap = Some(Reap { dead, is_deleted: false, freed: None });
                })
            }
            Action::ReapDelete => self.delete(&mut world),
            Action::ReapFree => self.free(&mut world),
            Action::ReapCommit => Self::end(&mut world),
            Action::ReapAbort => world.reap.take().map(drop),
        }?;
        Some(world)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        vec![
            Property::always("a host that was declared dead commits nothing more", |_, world: &Stage| {
                !world.has_dead_commit
            }),
            Property::always("no two owners write in one epoch", |_, world: &Stage| {
                // A number that another one has followed never comes back.
                let comes_back = |pod: &PodRow| {
                    let mut numbers = pod.journal.clone();
                    numbers.dedup();
                    numbers.iter().collect::<BTreeSet<_>>().len() != numbers.len()
                };
                !world.tables.pods.iter().any(comes_back)
            }),
            Property::always("a Pod's owner is alive, or nobody", |_, world: &Stage| {
                world.tables.pods.iter().all(|pod| pod.owner.is_none_or(|owner| world.tables.has_lease(owner)))
            }),
            Property::always("who wrote last owns the Pod while it lives", |_, world: &Stage| {
                let fits = |pod: &PodRow| match pod.journal.last() {
                    Some(last) if world.tables.has_lease(*last) => pod.owner == Some(*last),
                    _ => true,
                };
                world.tables.pods.iter().all(fits)
            }),
            Property::sometimes("the Pods of a dead host are taken over", |_, world: &Stage| {
                world.tables.pods.iter().any(|pod| pod.journal.first() != pod.journal.last())
            }),
            Property::sometimes("a host finds that it was declared dead", |_, world: &Stage| {
                world.hosts.iter().any(|host| host.is_fenced)
            }),
            Property::sometimes(
                "a host that was declared dead writes again, under a new number",
                |_, world: &Stage| {
                    world.tables.pods.iter().any(|pod| pod.journal.iter().any(|number| *number > HOSTS as u8))
                },
            ),
            Property::sometimes("a host is declared dead while its commit is under way", |_, world: &Stage| {
                let is_under_way = |host: &Host| world.reap.is_some_and(|reap| reap.dead == host.number);
                world.hosts.iter().any(|host| host.txn.is_some() && is_under_way(host))
            }),
        ]
    }
}

#[test]
fn whenever_a_host_is_declared_dead_each_pod_has_one_owner_at_a_time() {
    let checker = Leases { fault: None }.checker().spawn_bfs().join();
    println!("leases: {} states, {} transitions", checker.unique_state_count(), checker.state_count());
    assert!(checker.is_done(), "it is not explored whole");
    checker.assert_properties();
    assert!(checker.unique_state_count() > 1_000);
}

/// The names of the properties that a fault breaks.
fn broken(fault: Fault) -> Vec<&'static str> {
    let checker = Leases { fault: Some(fault) }.checker().spawn_bfs().join();
    let mut broken: Vec<_> = checker.discoveries().into_keys().collect();
    let always = ["a host that was declared dead commits", "no two", "a Pod's owner", "who wrote"];
    broken.retain(|name| always.iter().any(|begins| name.starts_with(begins)));
    broken.sort_unstable();
    println!("{fault:?}: {broken:?}");
    broken
}

#[test]
fn the_model_finds_a_lease_that_is_not_checked() {
    let broken = broken(Fault::LeaseUnchecked);
    assert!(broken.contains(&"a host that was declared dead commits nothing more"));
    assert!(broken.contains(&"no two owners write in one epoch"));
}

#[test]
fn the_model_finds_a_death_that_does_not_wait_for_a_commit() {
    assert!(broken(Fault::NoWait).contains(&"a host that was declared dead commits nothing more"));
}

#[test]
fn the_model_finds_pods_that_stay_with_a_dead_host() {
    assert!(broken(Fault::FreedFirst).contains(&"a Pod's owner is alive, or nobody"));
}

#[test]
fn the_model_finds_a_host_that_joins_again_under_its_old_number() {
    assert!(broken(Fault::NumberAgain).contains(&"no two owners write in one epoch"));
}
