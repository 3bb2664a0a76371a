//! The plan of a day: how many servers, Pods and people there are, and what breaks when.

use std::time::Duration;

use crate::{
    Chance,
    disk::{Failure, Fault, Op, Times},
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
    /// Its number among the people, if not a viewer's.
    pub(crate) client: String,
    /// Messages are held and arrive later, instead of being lost.
    pub(crate) is_held: bool,
}

impl Plan {
    pub(crate) fn of(chance: &mut Chance) -> Self {
        // Most days are small: they are quick, and what goes wrong in them can be read.
        let count = usize::try_from(*chance.pick(&[1, 1, 1, 2, 2, 3, 4])).unwrap_or(1);
        let viewers = usize::try_from(chance.within(1, 3)).unwrap_or(1);
        let servers: Vec<ServerPlan> = (0..count).map(|_| ServerPlan::of(chance)).collect();
        let cuts = (0..chance.below(4)).map(|_| Cut::of(chance, count, viewers)).collect();
        Self { servers, viewers, cuts }
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
    fn of(chance: &mut Chance, servers: usize, viewers: usize) -> Self {
        let server = usize::try_from(chance.below(servers as u64)).unwrap_or_default();
        let client = match chance.once_in(2) {
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
