//! The first process of a command: in a sandbox it has PID 1, and when it ends, everything there ends.
//!
//! It starts the shell, reaps orphans, and tells the keeper how the shell ended. The command cannot read, write, trace
//! or end it.

use std::{fs::File, io, process::ExitCode};

use rustix::{
    fd::OwnedFd,
    io::Errno,
    process::{
        DumpableBehavior, Pid, Signal, WaitOptions, WaitStatus, getpid, set_dumpable_behavior,
        set_parent_process_death_signal, setsid, wait,
    },
    stdio::{dup2_stderr, dup2_stdin, dup2_stdout},
};
use serde::{Deserialize, Serialize};

use super::{
    channel::Channel,
    descendants,
    kernel::{self, Namespaces},
    order::{Hold, Order, Report},
    rights,
    room::{Plan, bubblewrap, own},
    shell,
    system::System,
    way_in, way_out,
};
use crate::Network;

/// Everything that it is told.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Inside {
    pub(super) order: Order,
    pub(super) system: System,
    /// `Some` if there is a sandbox.
    pub(super) plan: Option<Plan>,
    pub(super) temp: std::path::PathBuf,
}

/// Where the command's output goes and its input comes from.
#[derive(Debug)]
pub(super) struct Streams {
    pub(super) output: OwnedFd,
    /// Both the standard input and the standard output of a served program.
    pub(super) talk: Option<OwnedFd>,
}

/// Runs the first process from start to end. The streams are the command's.
pub(super) fn be_first(inside: &Inside, channel: &Channel, streams: Streams) -> ExitCode {
    match live(inside, channel, streams) {
        Ok(report) => {
            channel.report(&report);
            if end_all_others(&inside.order) {
                channel.say_alone();
            }
        }
        Err(report) => channel.report(&report),
    }
    ExitCode::SUCCESS
}

/// How the shell ended, or why it was not started.
fn live(inside: &Inside, channel: &Channel, streams: Streams) -> Result<Report, Report> {
    let failed = |what: &'static str| move |error: io::Error| Report::NotStarted(format!("{what}: {error}"));
    guard(channel).map_err(failed("the command could not be tied to its keeper"))?;
    let is_ours = matches!(&inside.order.hold, Hold::Room { bubblewrap: Some(_) }) && bubblewrap::is_left_to_us();
    if is_ours {
        own::finish(&inside.order.limits).map_err(failed("the room could not be finished"))?;
    }
    if let Some(plan) = &inside.plan {
        plan.check().map_err(Report::Unconfined)?;
    }
    open_network(&inside.order, channel).map_err(failed("its network could not be set up"))?;
    channel.say_here();
    let shell = kernel::split(Namespaces::NONE, None).map_err(failed("the shell could not be started"))?;
    let Some(shell) = shell else {
        let report = shell::become_shell(&inside.order, &inside.system, &inside.temp, streams);
        channel.report(&report);
        // Whoever waits has been told why.
        std::process::exit(0)
    };
    let_go(streams, channel, &inside.order).map_err(failed("its keeper could not let go of it"))?;
    if matches!(inside.order.hold, Hold::Room { .. }) {
        let asked = channel.again().map_err(failed("nobody could look into it"))?;
        way_in::lead_in(asked, inside.order.network.own_port());
    }
    Ok(wait_for(shell))
}

/// Ends everything else in the sandbox, which the kernel would do when this process ends. `false`: this process may not,
/// because it is not the first one there.
fn end_all_others(order: &Order) -> bool {
    let is_first = matches!(order.hold, Hold::Room { .. }) && getpid() == Pid::INIT;
    if is_first {
        kernel::kill_all_others();
        descendants::await_all();
    }
    is_first
}

/// Keeps processes of the same account from looking into it, and ties its life to the keeper's.
fn guard(channel: &Channel) -> io::Result<()> {
    set_dumpable_behavior(DumpableBehavior::NotDumpable)?;
    set_parent_process_death_signal(Some(Signal::KILL))?;
    // The keeper may have gone before that took effect.
    if channel.is_over() {
        return Err(io::Error::other("the keeper is gone"));
    }
    // Under bubblewrap it already leads a session.
    let _ = setsid();
    Ok(())
}

fn open_network(order: &Order, channel: &Channel) -> io::Result<()> {
    let Hold::Room { bubblewrap } = &order.hold else { return Ok(()) };
    if order.network.is_own() && bubblewrap.is_none() {
        kernel::raise_loopback()?;
    }
    if matches!(order.network, Network::Through { .. }) {
        channel.give_door(&way_out::listen()?);
    }
    Ok(())
}

/// Drops what it does not need while it waits: the keeper's pipes, the command's output, and all privileges.
fn let_go(streams: Streams, channel: &Channel, order: &Order) -> io::Result<()> {
    drop(streams);
    kernel::close_all_but(channel.descriptor())?;
    let nothing = File::options().read(true).write(true).open("/dev/null")?;
    dup2_stdin(&nothing)?;
    dup2_stdout(&nothing)?;
    dup2_stderr(&nothing)?;
    match order.hold {
        Hold::Room { .. } => rights::drop_all(),
        Hold::Nothing | Hold::Landlock => Ok(()),
    }
}

/// Waits for `shell`; any other child that ends meanwhile is an orphan.
fn wait_for(shell: Pid) -> Report {
    loop {
        match wait(WaitOptions::empty()) {
            Ok(Some((ended, status))) if ended == shell => return report_of(status),
            Ok(_) | Err(Errno::INTR) => (),
            Err(error) => return Report::NotStarted(format!("its end was lost: {error}")),
        }
    }
}

fn report_of(status: WaitStatus) -> Report {
    match (status.exit_status(), status.terminating_signal()) {
        (Some(code), _) => Report::Exited(code),
        (None, Some(signal)) => Report::Signalled(signal),
        (None, None) => Report::NotStarted("it ended in a way the system did not tell".to_owned()),
    }
}
