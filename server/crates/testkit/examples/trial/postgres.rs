//! Three servers on a PostgreSQL that Patroni keeps, whose primary is killed again and again, and whose connections are
//! cut. Whatever a viewer was shown is in the journals, once; each receipt stands for one thing that happened once; each
//! viewer goes on from its cursor without a repeat, at whichever server.

mod cluster;
mod crowd;
mod cutter;
mod faults;
mod servers;

use std::{
    collections::BTreeMap,
    hash::{BuildHasher, RandomState},
    time::Duration,
};

use anyhow::{Context, Result, ensure};
use reqwest::Method;
use serde_json::{Value, json};
use testkit::yoi::{Launch, pod_path};
use tokio::{
    sync::watch,
    time::{Instant, sleep},
};

use self::{
    cluster::{Cluster, url},
    crowd::{Cast, Doors, Told, Viewer},
    cutter::Cutter,
    faults::Fault,
    servers::Servers,
};
use crate::witness::{self, Verdict, count};

/// Each fault this many times.
pub(crate) const ROUNDS: u32 = 24;
/// The time from the first input to the fault, in milliseconds: the minimum, and the maximum added to it.
const BEFORE: (u64, u64) = (300, 1_500);
/// How long the work continues after everything has healed.
const AFTER: Duration = Duration::from_millis(800);
const STILL_MAX: Duration = Duration::from_secs(60);
/// At most this many violations are printed.
const TOLD_MAX: usize = 20;

/// The totals of all rounds.
#[derive(Debug, Default)]
struct Sum {
    verdict: Verdict,
    /// Work that did not end.
    stuck: Vec<String>,
    rounds: BTreeMap<&'static str, usize>,
    promotions: usize,
    inputs: usize,
    messages: usize,
    handshakes: usize,
    resumed: usize,
    /// From the fault until the database was written again by all servers, in seconds.
    healed: Vec<f64>,
}

/// Returns false if anything was lost or duplicated, or did not recover.
pub(crate) async fn run(binary: &str, rounds: u32) -> bool {
    match play_all(binary, rounds).await {
        Ok(holds) => holds,
        Err(error) => {
            eprintln!("the trial could not go on: {error:#}");
            false
        }
    }
}

async fn play_all(binary: &str, rounds: u32) -> Result<bool> {
    let began = Instant::now();
    let cluster = Cluster::start().await?;
    eprintln!("    three members of PostgreSQL after {:.0} s", began.elapsed().as_secs_f64());
    let mut sum = Sum::default();
    if let Err(error) = refused(binary, &cluster).await {
        sum.stuck.push(format!("{error:#}"));
    }
    let cutter = Cutter::start(cluster.front()).await?;
    let urls = [cluster.front(), cutter.port, cluster.by_session()].map(|port| url(port, "yoi"));
    let mut servers = Servers::start(binary, &urls).await;
    for round in 0..rounds {
        let fault = Fault::ALL[round as usize % Fault::ALL.len()];
        if let Err(error) = play(round, fault, &cluster, &cutter, &mut servers, &mut sum).await {
            sum.stuck.push(format!("round {}, {}: {error:#}", round + 1, fault.name()));
            break;
        }
        let Verdict { shown, lost, doubled } = &sum.verdict;
        eprintln!(
            "    round {}, {}: {:.1} s; {shown} records shown so far, {} lost, {} doubled",
            round + 1,
            fault.name(),
            sum.healed.last().copied().unwrap_or_default(),
            lost.len(),
            doubled.len()
        );
    }
    let anew = servers.count_in_logs("has rejoined");
    tell(&mut sum, cutter.cuts(), anew);
    Ok(sum.verdict.lost.is_empty() && sum.verdict.doubled.is_empty() && sum.stuck.is_empty())
}

/// Where yoi cannot work, it says so and does not start.
async fn refused(binary: &str, cluster: &Cluster) -> Result<()> {
    let primary = cluster.healed().await?;
    // A standby that is not synchronous may not have the new database yet.
    for (way, database, words) in [
        ("PgBouncer in transaction mode", url(cluster.by_transaction(), "yoi"), "pool_mode = session"),
        ("a standby", url(cluster.standby(primary), "postgres"), "is a standby"),
    ] {
        let launch = Launch::new(binary).arg("--database").arg(&database);
        let Err(failed) = launch.try_start().await else { anyhow::bail!("yoi starts on {way}") };
        let said = failed.stderr.join("\n");
        ensure!(
            failed.status.code() == Some(1) && said.contains(words),
            "yoi does not say what is wrong with {way}: {said}"
        );
        eprintln!("    {way} is refused: {}", failed.stderr.last().context("it says why")?);
    }
    Ok(())
}

async fn play(
    round: u32,
    fault: Fault,
    cluster: &Cluster,
    cutter: &Cutter,
    servers: &mut Servers,
    sum: &mut Sum,
) -> Result<()> {
    let doors = servers.doors();
    let cast = Cast::make(&doors, round).await;
    let pods = cast.all();
    let (heads, known) = watch::channel(None);
    let viewers: Vec<_> = (0..servers.len())
        .map(|at| tokio::spawn(Viewer::watch(doors.clone(), at, pods.clone(), known.clone())))
        .collect();
    let (stop, stopped) = watch::channel(false);
    let before = cluster.primary().await;
    let happening = async {
        sleep(Duration::from_millis(BEFORE.0 + random(u64::from(round)) % BEFORE.1)).await;
        let began = Instant::now();
        let healed = heal(round, fault, cluster, cutter, servers).await;
        sum.healed.push(began.elapsed().as_secs_f64());
        sleep(AFTER).await;
        stop.send_replace(true);
        healed
    };
    let (told, healed) = tokio::join!(cast.act(&doors, &stopped), happening);
    healed?;
    *sum.rounds.entry(fault.name()).or_default() += 1;
    sum.promotions += usize::from(cluster.primary().await != before);

    check_told(servers, &cast, &told, &mut sum.verdict).await;
    stop_all(servers, &doors, &pods).await?;
    let mut journals = Vec::new();
    for pod in &pods {
        let mut all = servers.journals(pod).await;
        let name = name(pod);
        let journal = all.remove(0);
        if all.iter().any(|other| *other != journal) {
            sum.verdict.lost.push(format!("{name}: two servers have different journals"));
        }
        sum.verdict.add(witness::doubles(&name, &journal));
        journals.push(journal);
    }
    heads.send_replace(Some(
        journals.iter().map(|journal| journal.last().map(witness::seq).unwrap_or_default()).collect(),
    ));
    for viewer in viewers {
        check_viewer(viewer.await.context("a viewer only reads")?, &pods, &journals, sum);
    }
    sum.inputs += told.inputs.len();
    sum.messages += told.messages.len();
    sum.handshakes += told.introductions + told.partings;
    Ok(())
}

async fn heal(round: u32, fault: Fault, cluster: &Cluster, cutter: &Cutter, servers: &mut Servers) -> Result<()> {
    fault.happen(round, cluster, cutter, servers).await?;
    cluster.healed().await?;
    servers.ready().await
}

fn check_viewer(viewer: Viewer, pods: &[Value], journals: &[Vec<Value>], sum: &mut Sum) {
    sum.resumed += viewer.resumed;
    for (index, (pod, journal)) in pods.iter().zip(journals).enumerate() {
        let name = name(pod);
        for shown in viewer.shown.get(&index).into_iter().flatten() {
            sum.verdict.add(witness::held_against(&name, shown, journal));
            let first = shown.first().map(witness::seq).unwrap_or_default();
            sum.verdict.doubled.extend(witness::goes_on(&name, first - 1, shown).doubled);
        }
        let (last, head) = (viewer.last(index), journal.last().map(witness::seq).unwrap_or_default());
        if last < head {
            sum.stuck.push(format!("{name}: a viewer has stopped at {last}, the journal ends at {head}"));
        }
    }
}

/// Each receipt stands for one thing that happened exactly once.
async fn check_told(servers: &Servers, cast: &Cast, told: &Told, verdict: &mut Verdict) {
    let mut once = |what: &str, id: &str, found: usize| match found {
        0 => verdict.lost.push(format!("{what} {id} was accepted and is nowhere")),
        1 => (),
        more => verdict.doubled.push(format!("{what} {id} is there {more} times")),
    };
    let detail = servers.detail(&cast.busy).await;
    let journal = &servers.journals(&cast.busy).await[0];
    for id in &told.inputs {
        let queued = detail["queued"].as_array().into_iter().flatten().filter(|input| input["command_id"] == **id);
        // One that was queued a moment ago may have begun since.
        once("input", id, count(journal, "user_message", "command_id", id).max(queued.count()));
    }
    let [writer, reader] = &cast.pen_friends;
    let (sent, got) = (&servers.journals(writer).await[0], &servers.journals(reader).await[0]);
    for id in &told.messages {
        let of_it = |record: &&Value| record["event"]["message_id"] == **id;
        let is_held = sent.iter().filter(of_it).any(|record| record["event"]["state"] == "held");
        once("message", id, if is_held { 1 } else { count(got, "peer_message", "message_id", id) });
    }
    for pod in &cast.couple {
        let journal = &servers.journals(pod).await[0];
        // One more than was confirmed is allowed: the last one may have had no answer when it was time to stop.
        for (kind, told) in [("peer_linked", told.introductions), ("peer_unlinked", told.partings)] {
            match journal.iter().filter(|record| record["event"]["kind"] == kind).count() {
                found if found < told => verdict.lost.push(format!("{told} times {kind} was told, {found} are there")),
                found if found > told + 1 => verdict.doubled.push(format!("{found} times {kind}, {told} were told")),
                _ => (),
            }
        }
    }
}

/// Stops the Pods and waits until they are.
async fn stop_all(servers: &Servers, doors: &Doors, pods: &[Value]) -> Result<()> {
    let (_keep, never) = watch::channel(false);
    let deadline = Instant::now() + STILL_MAX;
    for pod in pods {
        loop {
            doors.command(0, &never, (Method::POST, &format!("{}/stop", pod_path(pod)), &json!({}))).await;
            if servers.detail(pod).await["state"] == "stopped" {
                break;
            }
            ensure!(Instant::now() < deadline, "{} does not stop: {}", name(pod), servers.detail(pod).await);
            sleep(Duration::from_millis(100)).await;
        }
    }
    Ok(())
}

fn name(pod: &Value) -> String {
    pod["name"].as_str().unwrap_or_default().to_owned()
}

/// Another number in each run.
fn random(seed: u64) -> u64 {
    RandomState::new().hash_one(seed)
}

fn tell(sum: &mut Sum, cuts: usize, anew: usize) {
    let Verdict { shown, lost, doubled } = &sum.verdict;
    let lost_lines = lost.iter().map(|it| format!("lost: {it}"));
    let lines = lost_lines.chain(doubled.iter().map(|it| format!("doubled: {it}")));
    lines.chain(sum.stuck.iter().map(|it| format!("stuck: {it}"))).take(TOLD_MAX).for_each(|line| eprintln!("{line}"));
    println!();
    for (fault, rounds) in &sum.rounds {
        println!("    {fault:<38} {rounds:>10}");
    }
    sum.healed.sort_by(f64::total_cmp);
    let at = |part: usize| sum.healed.get(sum.healed.len() * part / 100).copied().unwrap_or_default();
    for (what, figure) in [
        ("promotions", sum.promotions.to_string()),
        ("connections cut at a statement", cuts.to_string()),
        ("servers that rejoined", anew.to_string()),
        ("records shown to viewers", shown.to_string()),
        ("viewers that went on elsewhere", sum.resumed.to_string()),
        ("inputs accepted", sum.inputs.to_string()),
        ("messages taken", sum.messages.to_string()),
        ("introductions and partings", sum.handshakes.to_string()),
        ("lost", lost.len().to_string()),
        ("doubled", doubled.len().to_string()),
        ("stuck", sum.stuck.len().to_string()),
        ("whole again, median; longest", format!("{:.1} s; {:.1} s", at(50), at(99))),
    ] {
        println!("    {what:<38} {figure:>10}");
    }
}
