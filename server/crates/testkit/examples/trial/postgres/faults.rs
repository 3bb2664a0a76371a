//! What happens to PostgreSQL, and to the servers, in a round.

use std::{process::Stdio, time::Duration};

use anyhow::Result;
use tokio::{process::Command, time::sleep};

use super::{
    cluster::{Cluster, signal},
    cutter::Cutter,
    servers::Servers,
};

/// How long commits pile up while nothing reaches the standbys.
const CUT_OFF: Duration = Duration::from_millis(300);
const SLOW: Duration = Duration::from_secs(4);
/// How often connections are cut in one round.
const CUTS: u32 = 12;
/// The pause between two cuts: the minimum, and the maximum added to it, in milliseconds.
const CUT_PAUSE: (u64, u64) = (60, 240);

/// One fault, in the order in which rounds take them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fault {
    /// kill -9 of all of its processes; Patroni is left.
    PrimaryKilled,
    /// It reaches no standby any more, so that commits wait; then it is killed.
    PrimaryCutOff,
    /// Each connection is terminated by the server, again and again.
    Terminated,
    /// Patroni dies with it.
    MachineKilled,
    /// The connection of one server is cut at one statement, then at the next …, before or after it has arrived.
    StatementsCut,
    /// A server is killed in the same instant as the primary.
    ServerAndPrimary,
    /// Each sync of the primary's disk takes 200 ms.
    SlowDisk,
    /// A planned change of the primary.
    SwitchedOver,
}

impl Fault {
    pub(crate) const ALL: [Self; 8] = [
        Self::PrimaryKilled,
        Self::PrimaryCutOff,
        Self::Terminated,
        Self::MachineKilled,
        Self::StatementsCut,
        Self::ServerAndPrimary,
        Self::SlowDisk,
        Self::SwitchedOver,
    ];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::PrimaryKilled => "the primary is killed",
            Self::PrimaryCutOff => "the primary is cut off, then killed",
            Self::Terminated => "all connections are terminated",
            Self::MachineKilled => "the primary's machine dies",
            Self::StatementsCut => "connections are cut at statements",
            Self::ServerAndPrimary => "a server and the primary are killed",
            Self::SlowDisk => "the primary's disk is slow",
            Self::SwitchedOver => "a planned switch of the primary",
        }
    }

    /// Returns when the fault is over; what it did may still have to heal.
    pub(crate) async fn happen(
        self,
        round: u32,
        cluster: &Cluster,
        cutter: &Cutter,
        servers: &mut Servers,
    ) -> Result<()> {
        let primary = cluster.primary().await.unwrap_or_default();
        match self {
            Self::PrimaryKilled => signal("-KILL", &cluster.processes(primary)),
            Self::PrimaryCutOff => {
                signal("-STOP", &cluster.senders(primary));
                sleep(CUT_OFF).await;
                signal("-KILL", &cluster.processes(primary));
            }
            Self::MachineKilled => {
                cluster.kill_patroni(primary);
                signal("-KILL", &cluster.processes(primary));
                sleep(Duration::from_secs(8)).await;
                cluster.restart_patroni(primary)?;
            }
            Self::Terminated => terminate(cluster).await,
            Self::StatementsCut => {
                for cut in 0..CUTS {
                    // Over the rounds, each statement of a commit gets its turn, in both ways.
                    cutter.cut((round + cut) % 9, (round + cut).is_multiple_of(2));
                    sleep(pause(u64::from(round * CUTS + cut))).await;
                }
            }
            Self::ServerAndPrimary => {
                let victim = round as usize % servers.len();
                let pids = cluster.processes(primary);
                tokio::join!(servers.kill(victim), async { signal("-KILL", &pids) });
                servers.restart(victim).await?;
            }
            Self::SlowDisk => slow_down(&cluster.processes(primary)).await,
            Self::SwitchedOver => cluster.switch_over(primary).await,
        }
        Ok(())
    }
}

async fn terminate(cluster: &Cluster) {
    let sql = "select count(pg_terminate_backend(pid)) from pg_stat_activity
               where datname = 'yoi' and pid <> pg_backend_pid()";
    for cut in 0..CUTS {
        // If this very connection is refused, the next one may not be.
        cluster.execute("postgres", sql).await.ok();
        sleep(pause(u64::from(cut))).await;
    }
}

/// Without strace, nothing happens.
async fn slow_down(pids: &[u32]) {
    let mut strace = Command::new("timeout");
    strace.args(["-s", "INT", &SLOW.as_secs().to_string(), "strace", "-f", "-qq", "-o", "/dev/null"]);
    strace.args(["-e", "trace=fdatasync,fsync", "-e", "inject=fdatasync,fsync:delay_enter=200000"]);
    for pid in pids {
        strace.args(["-p", &pid.to_string()]);
    }
    strace.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).kill_on_drop(true);
    strace.status().await.ok();
}

fn pause(seed: u64) -> Duration {
    Duration::from_millis(CUT_PAUSE.0 + super::random(seed) % CUT_PAUSE.1)
}
