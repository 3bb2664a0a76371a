//! Many peer changes and messages at once between two Pods, killed at a random time, over and over on one database.

use std::{
    io::{BufRead, BufReader},
    os::unix::process::ExitStatusExt,
    path::Path,
    process::{Command, Stdio},
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
    time::Duration,
};

use protocol::{Event, InputCommand, PeerLink, ToolBy, TurnEvent, WorkerId};
use runtime::Host;
use tempfile::TempDir;

use crate::{
    FOLDER, print_line,
    relation::{NOTE, Pair, journal, pod_ref},
    stage::{self, key, named, origin, say},
};

/// Which round a child process plays.
pub(crate) const ROUND: &str = "YOI_CRASH_ROUND";
/// How many rounds there are.
const ROUNDS: &str = "YOI_CRASH_ROUNDS";
const ROUNDS_BY_DEFAULT: u32 = 20;
const SHUTDOWN_WAIT: Duration = Duration::from_secs(5);
/// A child process lives at least this long and at most this much longer, from its first peer change on.
const MILLIS: (u64, u64) = (20, 380);

/// One round in the child process: two tasks link and unlink the peers, two people and a model write, until it is
/// killed.
pub(crate) async fn play(folder: &Path, round: &str) {
    let store = pod_store::Store::open(pod_store::StoreOptions::sqlite(folder.join("yoi.db"))).await.unwrap();
    let host = stage::host_on(store).await;
    let create = async |name: String| {
        host.pods().create(key(&format!("create-{name}")), &origin(), named(&name)).await.unwrap().pod.worker_id
    };
    let pods = (create(format!("one{round}")).await, create(format!("two{round}")).await);
    let turned = (pods.1.clone(), pods.0.clone());
    let number = Arc::new(AtomicU32::new(0));
    let player = |(one, other): &(WorkerId, WorkerId)| Player {
        host: host.clone(),
        one: one.clone(),
        other: other.clone(),
        round: round.to_owned(),
        number: number.clone(),
    };
    print_line(&format!("pair {} {}", pods.0, pods.1));
    tokio::join!(
        player(&pods).introduce(true),
        player(&turned).introduce(false),
        player(&pods).write(),
        player(&turned).write(),
        player(&pods).ask(),
    );
}

struct Player {
    host: Host,
    one: WorkerId,
    other: WorkerId,
    round: String,
    number: Arc<AtomicU32>,
}

impl Player {
    fn key(&self) -> runtime::CommandKey {
        key(&format!("{}-{}", self.round, self.number.fetch_add(1, Ordering::AcqRel)))
    }

    async fn introduce(self, parts: bool) {
        loop {
            let note = Some(NOTE.to_owned());
            let done = self.host.peers().introduce(self.key(), &origin(), &self.one, &self.other, note).await.unwrap();
            assert_eq!(done.answer.state, PeerLink::Linked);
            print_line(if done.stood { "stood" } else { "linked" });
            tokio::time::sleep(Duration::from_millis(2)).await;
            if parts {
                self.host.peers().unlink(self.key(), &origin(), &self.one, &pod_ref(&self.other)).await.unwrap();
                print_line("parted");
            }
        }
    }

    async fn write(self) {
        loop {
            // They are not peers at the moment: refused, and nothing is stored.
            if let Ok(sent) = self.host.peers().send(self.key(), &origin(), &self.one, &self.other, "say yes").await {
                print_line(&format!("sent {}", sent.message_id));
            }
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    }

    /// Has the model of one write to the other.
    async fn ask(self) {
        let name = format!("two{}", self.round);
        let text = format!("call SendToPeerPod {{\"name\": \"{name}\", \"message\": \"say from a model\"}}\nsay sent");
        loop {
            let input = InputCommand { queue: true, ..say(&text) };
            if self.host.work().input(self.key(), &origin(), &self.one, input).await.is_ok() {
                print_line("asked");
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }
}

/// What a child process reported before it died.
#[derive(Default)]
struct Witness {
    pods: Vec<WorkerId>,
    linked: usize,
    parted: usize,
    sent: Vec<String>,
}

/// How many rounds were played.
pub(crate) async fn all() -> u32 {
    let rounds = std::env::var(ROUNDS).map_or(ROUNDS_BY_DEFAULT, |count| count.parse().unwrap());
    let folder = tempfile::tempdir().unwrap();
    let (mut pairs, mut handshakes, mut messages) = (Vec::new(), 0, 0);
    for round in 0..rounds {
        let millis = MILLIS.0 + u64::try_from(uuid::Uuid::new_v4().as_u128() % u128::from(MILLIS.1)).unwrap();
        let name = format!("round {round}, after {millis} ms");
        let witness = play_and_kill(&folder, round, Duration::from_millis(millis));
        handshakes += witness.linked + witness.parted;
        messages += witness.sent.len();
        let host = stage::host_in(&folder).await;
        check(&name, &host, &witness).await;
        pairs.push((name, witness));
        host.shutdown(SHUTDOWN_WAIT).await;
    }
    let host = stage::host_in(&folder).await;
    for (name, witness) in &pairs {
        check(&format!("{name}, in the end"), &host, witness).await;
    }
    println!("{handshakes} introductions and partings and {messages} messages in {rounds} rounds of kills");
    rounds
}

fn play_and_kill(folder: &TempDir, round: u32, after: Duration) -> Witness {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.env(FOLDER, folder.path()).env(ROUND, round.to_string()).stdout(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map_while(Result::ok);
    let mut witness = Witness::default();
    let pair = lines.next().expect("the Pods come into being");
    witness.pods = pair.split(' ').skip(1).map(|id| WorkerId::parse(id).unwrap()).collect();
    let reading = std::thread::spawn(move || {
        for line in lines {
            match line.split_once(' ') {
                Some((_, id)) => witness.sent.push(id.to_owned()),
                None if line == "linked" => witness.linked += 1,
                None if line == "parted" => witness.parted += 1,
                None => (),
            }
        }
        witness
    });
    std::thread::sleep(after);
    child.kill().unwrap();
    let ended = child.wait().unwrap();
    assert_eq!(ended.signal(), Some(9), "round {round}: it ended by itself: {ended}");
    reading.join().unwrap()
}

async fn check(name: &str, host: &Host, witness: &Witness) {
    let [one, other] = witness.pods.as_slice() else { panic!("{name}: no Pods") };
    let pair = Pair::new(host, one, other);
    let steps = pair.check(name).await;
    let count = |kind: &str| steps.iter().filter(|step| *step == kind).count();
    let alternate = steps.iter().enumerate().all(|(at, step)| (step == "peer_linked") == (at % 2 == 0));
    assert!(alternate, "{name}: {steps:?}");
    // Each of the two tasks may have done one thing more than it was told.
    let linked = count("peer_linked");
    assert!((witness.linked..=witness.linked + 2).contains(&linked), "{name}: {} told, {linked}", witness.linked);
    // Unlinking without a relation does not count.
    assert!(count("peer_unlinked") <= witness.parted + 1, "{name}: {} told, {steps:?}", witness.parted);
    let messages = pair.messages().await;
    let is_there = |id: &str| messages.iter().any(|message| message.message_id == id);
    for id in &witness.sent {
        assert!(is_there(id), "{name}: {id} is lost");
    }
    for summary in delivered(host, one).await {
        let id = summary.split(['(', ')']).nth(1).unwrap_or_else(|| panic!("{name}: {summary}"));
        assert!(is_there(id), "{name}: {id} is lost");
    }
}

/// The tool's words to the model for success.
async fn delivered(host: &Host, pod: &WorkerId) -> Vec<String> {
    let ends = journal(host, pod).await.into_iter().filter_map(|record| match record.event {
        Event::Turn(TurnEvent::ToolFinished { summary, is_error: false, by: ToolBy::Model, .. }) => Some(summary),
        _ => None,
    });
    ends.collect()
}
