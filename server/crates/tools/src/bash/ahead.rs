//! The first process of the next command, started before its order arrives: new namespaces take the kernel about as
//! long as all the rest of a sandbox. It has been told nothing, and waits in namespaces of its own.

use std::{
    fs::File,
    io::{self, BufReader, PipeReader, PipeWriter, Write},
    process,
};

use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    io::retry_on_intr,
    process::Pid,
};

use super::{
    channel::Channel,
    first::Inside,
    helper, keeper,
    kernel::{self, Namespaces},
    order::Hold,
    room::{Private, own},
};

/// Dropping it ends the process.
#[derive(Debug)]
pub(super) struct Ahead {
    first: Pid,
    channel: Channel,
    order: PipeWriter,
    /// The machine's mounts, of which the process has a copy.
    mounts: File,
}

impl Ahead {
    /// Forks this process, which must have no other threads. `None` if the kernel refuses; then the order finds out
    /// why.
    pub(super) fn start(private: &Private) -> Option<Self> {
        // The kernel counts changes from when this is opened.
        let mounts = File::open("/proc/self/mountinfo").ok()?;
        let (channel, inner) = Channel::pair().ok()?;
        let (told, order) = io::pipe().ok()?;
        let account = own::Account::of_this_process();
        match kernel::split(Namespaces::BUT_NETWORK.with_network(), None) {
            Ok(Some(first)) => Some(Self { first, channel, order, mounts }),
            Ok(None) => {
                drop((channel, order, mounts));
                wait_for(told, private, own::part(account), &inner)
            }
            Err(_) => None,
        }
    }

    /// Whether this process can become the first one of such a command.
    pub(super) fn fits(&self, inside: &Inside) -> bool {
        let order = &inside.order;
        let is_ours = matches!(order.hold, Hold::Room { bubblewrap: None }) && inside.plan.is_some();
        is_ours && order.network.is_own() && order.group.is_none() && !self.is_stale()
    }

    /// Whether something was mounted or unmounted since it was started (proc_pid_mountinfo(5)).
    fn is_stale(&self) -> bool {
        let mut mounts = [PollFd::new(&self.mounts, PollFlags::PRI)];
        let at_once = Timespec { tv_sec: 0, tv_nsec: 0 };
        !matches!(retry_on_intr(|| poll(&mut mounts, Some(&at_once))), Ok(0))
    }

    /// Returns the channel to it and its number; `None` if it is gone.
    pub(super) fn told(mut self, inside: &Inside) -> Option<(Channel, Pid)> {
        let mut line = serde_json::to_vec(inside).ok()?;
        line.push(b'\n');
        self.order.write_all(&line).ok()?;
        Some((self.channel, self.first))
    }
}

/// Becomes the first process, unless the keeper goes away or does not need it.
fn wait_for(told: PipeReader, private: &Private, parted: Result<(), String>, inner: &Channel) -> ! {
    match helper::read_line::<Inside>(&mut BufReader::new(told)) {
        Ok(inside) => keeper::become_first(&inside, private, parted, inner),
        Err(_) => process::exit(0),
    }
}
