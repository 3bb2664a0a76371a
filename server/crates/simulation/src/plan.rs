//! The plan of a day: how many servers, Pods and people there are, and what breaks when.

use std::time::Duration;

use crate::{
    Chance,
    disk::{Failure, Fault, Op, Times},
    line,
};

/// From here on nothing breaks any more: everything has to come to rest.
pub(crate) const CALM: Duration = Duration::from_secs(12);
/// How long that may take.
pub(crate) const REST_MAX: Duration = Duration::from_secs(120);

/// The plan of a day.
#[derive(Debug)]
pub(crate) struct Plan {
    pub(crate) servers: Vec<ServerPlan>,
    pub(crate) viewers: usize,
    pub(crate) cuts: Vec<Cut>,
    /// All servers are hosts of one database.
    pub(crate) shared: Option<SharedPlan>,
    /// Each server has added those behind it, and their Pods become peers.
    pub(crate) is_far: bool,
}

/// What becomes of the ways to the database that all servers share.
#[derive(Debug)]
pub(crate) struct SharedPlan {
    pub(crate) splits: Vec<Split>,
    /// One message in so many is lost; none, if 0.
    pub(crate) loss: u64,
}

/// A host does not reach its database for a while.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Split {
    pub(crate) from: Duration,
    pub(crate) to: Duration,
    pub(crate) host: usize,
    pub(crate) cut: line::Cut,
}

/// A server, its Pods, and when it dies.
#[derive(Debug)]
pub(crate) struct ServerPlan {
    pub(crate) pods: usize,
    pub(crate) messages: usize,
    pub(crate) deaths: Vec<Death>,
    pub(crate) troubles: Vec<Trouble>,
}

/// A server dies at the `step`-th step of a commit after `at`, or at once if that is 0, and comes back.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Death {
    pub(crate) at: Duration,
    pub(crate) step: u64,
    /// The power fails: what was not synced may be lost.
    pub(crate) is_power: bool,
    pub(crate) down: Duration,
}

/// Something below a server fails for a while, and the server survives.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Trouble {
    pub(crate) at: Duration,
    pub(crate) what: Failing,
}

/// What fails.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Failing {
    /// A call of the disk.
    Disk(Fault),
    /// Steps of commits: this many, after so many that succeed.
    Steps { after: u64, count: u64 },
}

/// A piece of the network that fails for a while.
#[derive(Debug, Clone)]
pub(crate) struct Cut {
    pub(crate) from: Duration,
    pub(crate) to: Duration,
    pub(crate) server: usize,
    /// Whoever does not reach it: people, a viewer, another server.
    pub(crate) client: String,
    /// Messages are held and arrive later, instead of being lost.
    pub(crate) is_held: bool,
}

impl Plan {
    /// On each fourth day the servers are hosts of one database.
    pub(crate) fn of(seed: u64, chance: &mut Chance) -> Self {
        if seed % 4 == 3 {
            return Self::shared(chance);
        }
        // Most days are small: they are quick, and what goes wrong in them can be read.
        let count = usize::try_from(*chance.pick(&[1, 1, 1, 2, 2, 3, 4])).unwrap_or(1);
        let viewers = usize::try_from(chance.within(1, 3)).unwrap_or(1);
        let servers: Vec<ServerPlan> = (0..count).map(|_| ServerPlan::of(chance)).collect();
        let is_far = count > 1 && chance.once_in(2);
        let most = if is_far { 8 } else { 4 };
        let cuts = (0..chance.below(most)).map(|_| Cut::of(chance, count, viewers, is_far)).collect();
        Self { servers, viewers, cuts, shared: None, is_far }
    }

    fn shared(chance: &mut Chance) -> Self {
        let count = usize::try_from(chance.within(2, 3)).unwrap_or(2);
        let viewers = usize::try_from(chance.within(1, 3)).unwrap_or(1);
        let servers = (0..count).map(|_| ServerPlan::shared(chance)).collect();
        let cuts = (0..chance.below(3)).map(|_| Cut::of(chance, count, viewers, false)).collect();
        let splits = (0..chance.below(4)).map(|_| Split::of(chance, count)).collect();
        let loss = *chance.pick(&[0, 0, 40, 200]);
        Self { servers, viewers, cuts, shared: Some(SharedPlan { splits, loss }), is_far: false }
    }
}

impl ServerPlan {
    fn of(chance: &mut Chance) -> Self {
        let deaths = (0..chance.below(4)).map(|_| Death::of(chance)).collect();
        let troubles = (0..chance.below(4)).map(|_| Trouble::of(chance)).collect();
        let number = |chance: &mut Chance, first, last| usize::try_from(chance.within(first, last)).unwrap_or(1);
        Self { pods: number(chance, 1, 3), messages: number(chance, 2, 8), deaths, troubles }
    }
}

impl ServerPlan {
    /// A host: the disk below its database is not its own.
    fn shared(chance: &mut Chance) -> Self {
        let mut plan = Self::of(chance);
        plan.troubles.retain(|trouble| matches!(trouble.what, Failing::Steps { .. }));
        for death in &mut plan.deaths {
            death.is_power = false;
            // Some come back before the others have noticed.
            if chance.once_in(2) {
                death.down = Duration::from_millis(chance.within(1_500, 8_000));
            }
        }
        plan
    }
}

impl Split {
    fn of(chance: &mut Chance, hosts: usize) -> Self {
        let host = usize::try_from(chance.below(hosts as u64)).unwrap_or_default();
        let from = Duration::from_millis(chance.within(100, 8_000));
        let to = (from + Duration::from_millis(chance.within(50, 9_000))).min(CALM);
        Self { from, to, host, cut: *chance.pick(&[line::Cut::Broken, line::Cut::Held]) }
    }
}

impl Death {
    fn of(chance: &mut Chance) -> Self {
        Self {
            at: moment(chance),
            step: chance.within(0, 40),
            is_power: chance.once_in(2),
            down: Duration::from_millis(chance.within(10, 1_500)),
        }
    }
}

impl Trouble {
    fn of(chance: &mut Chance) -> Self {
        let what = match chance.once_in(2) {
            true => Failing::Steps { after: chance.below(40), count: chance.within(1, 12) },
            false => Failing::Disk(Fault {
                op: *chance.pick(&[Op::Write, Op::Sync, Op::Change]),
                nth: chance.within(1, 60),
                times: Times::Calls(chance.within(1, 8)),
                failure: *chance.pick(&[Failure::Io, Failure::Full, Failure::ShortWrite]),
            }),
        };
        Self { at: moment(chance), what }
    }
}

impl Cut {
    fn of(chance: &mut Chance, servers: usize, viewers: usize, is_far: bool) -> Self {
        let server = usize::try_from(chance.below(servers as u64)).unwrap_or_default();
        let client = match chance.once_in(2) {
            true if is_far => format!("server-{}", (server + 1) % servers),
            true => format!("people-{server}"),
            false => format!("viewer-{}", chance.below(viewers as u64)),
        };
        let from = moment(chance);
        let to = (from + Duration::from_millis(chance.within(50, 4_000))).min(CALM);
        Self { from, to, server, client, is_held: chance.once_in(2) }
    }
}

fn moment(chance: &mut Chance) -> Duration {
    Duration::from_millis(chance.within(100, 11_000))
}
