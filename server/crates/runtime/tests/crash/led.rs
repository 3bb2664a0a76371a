//! The story of a parent and its child, and what has to be true of it after a kill.

use std::path::PathBuf;

use futures_util::StreamExt;
use protocol::{
    Access, ControlEvent, ControlVerb, CreatePod, Event, InputCommand, Outcome, PodState, Record, ScopeRule, TurnEvent,
    WorkerId,
};
use runtime::{FeedItem, Host};

use crate::{
    print_line,
    stage::{key, named, origin, records_of, say, until_of},
};

const TASK: &str = "stream 60 at 0\nsay kid one";
const OF_LEAD: &str = "lead_saw";

/// `lead` spawns `kid`, stops it and restores it; then a person stops it. Each part waits for what the previous one
/// brings about.
pub(crate) async fn play(host: Host, folder: PathBuf) {
    let folder = folder.canonicalize().unwrap().join("lent");
    std::fs::create_dir_all(&folder).unwrap();
    let rule = ScopeRule { path: folder.to_str().unwrap().to_owned(), access: Access::Write, recursive: true };
    let create = CreatePod { scope: Some(vec![rule.clone()]), ..named("lead") };
    let lead = host.pods().create(key("create-lead"), &origin(), create).await.unwrap().pod.worker_id;
    print_line(&format!("leads {lead}"));
    let watching = tokio::spawn(watch(host.clone(), lead.clone()));
    let spawn = serde_json::json!({ "name": "kid", "task": TASK, "scope": [rule] });
    tell(&host, &lead, "l1", format!("call SpawnPod {spawn}\nsay spawned")).await;
    until_of(&host, &lead, |records| news(records) == [News::TurnEnded] && is_idle(records)).await;
    let kid = serde_json::json!({ "name": "kid" });
    tell(&host, &lead, "l2", format!("call StopPod {kid}\ncall RestorePod {kid}\nsay all of it")).await;
    until_of(&host, &lead, |records| said(records, "all of it") && is_idle(records)).await;
    let kid = host.pods().named(&"kid".parse().unwrap()).await.unwrap().unwrap().worker_id;
    host.pods().control(key("l3"), &origin(), &kid, ControlVerb::Stop).await.unwrap();
    print_line("lead_accepted l3");
    until_of(&host, &lead, |records| news(records).len() == 2 && is_idle(records)).await;
    watching.abort();
}

async fn tell(host: &Host, lead: &WorkerId, id: &str, text: String) {
    host.work().input(key(id), &origin(), lead, say(&text)).await.unwrap();
    print_line(&format!("lead_accepted {id}"));
}

async fn watch(host: Host, lead: WorkerId) {
    let mut viewer = host.journals().observe(&lead, None, 200).await;
    while let Some(item) = viewer.next().await {
        let (FeedItem::Snapshot { records, .. } | FeedItem::Records { records, .. }) = item else { continue };
        for body in records {
            print_line(&format!("{OF_LEAD} {}", String::from_utf8_lossy(&body)));
        }
    }
}

/// What the child process reported and showed of this story before it died.
#[derive(Default)]
pub(crate) struct Witness {
    lead: Option<WorkerId>,
    accepted: Vec<String>,
    saw: Vec<Record>,
}

impl Witness {
    pub(crate) fn hear(&mut self, word: &str, rest: &str) {
        match word {
            "leads" => self.lead = Some(WorkerId::parse(rest).unwrap()),
            "lead_accepted" => self.accepted.push(rest.to_owned()),
            // The last line may be cut by the kill; then nobody has seen it.
            OF_LEAD => self.saw.extend(serde_json::from_str::<Record>(rest).ok()),
            _ => (),
        }
    }
}

/// What a parent was told.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum News {
    TurnEnded,
    Errored,
    ShutDown,
}

/// Compares what is there with what was seen, and each of the two Pods with the other.
pub(crate) async fn check(name: &str, host: &Host, witness: &Witness) {
    let Some(lead) = &witness.lead else { return };
    let kid = settled_kid(host).await;
    let records = records_of(host, lead).await;
    for record in witness.saw.iter().filter(|record| !is_chunk(record)) {
        assert!(records.contains(record), "{name}: lost {record:?}");
    }
    let spawned = records.iter().filter(|record| record.event.kind() == "child_spawned").count();
    assert_eq!(spawned, usize::from(kid.is_some()), "{name}: the child and the record of it");
    if let Some(kid) = &kid {
        check_kid(name, host, lead, kid).await;
    }
    check_commands(name, host, witness, lead, kid.as_ref()).await;
}

/// Waits until the child's first task is over, one way or another.
async fn settled_kid(host: &Host) -> Option<WorkerId> {
    let kid = host.pods().named(&"kid".parse().unwrap()).await.unwrap()?.worker_id;
    let is_settled = |records: &[Record]| ends(records) > 0 && last_state(records) != Some(PodState::Running);
    until_of(host, &kid, is_settled).await;
    Some(kid)
}

async fn check_kid(name: &str, host: &Host, lead: &WorkerId, kid: &WorkerId) {
    let of_kid = records_of(host, kid).await;
    let tasks = of_kid.iter().filter(|record| record.event.kind() == "user_message").count();
    assert_eq!(tasks, 1, "{name}: the first task");
    let detail = host.pods().get(kid).await.unwrap();
    assert!(detail.queued.is_empty(), "{name}: {:?}", detail.queued);

    // All the news that there is, each once.
    let wanted = wanted_news(host, &of_kid).await;
    let is_told =
        |records: &[Record]| news(records).len() >= wanted.len() && last_state(records) != Some(PodState::Running);
    let of_lead = until_of(host, lead, is_told).await;
    assert_eq!(news(&of_lead), wanted, "{name}");

    // The scope is lent if the journal says so, and the child is live if and only if it is.
    let (view, loan) = (host.pods().get(lead).await.unwrap().children, last_loan(&of_lead));
    assert_eq!(view.len(), 1, "{name}");
    assert_eq!(!view[0].scope.is_empty(), loan, "{name}: the loan, and what the journal says of it");
    assert_eq!(view[0].state != PodState::Stopped, loan, "{name}: {:?} with its loan out: {loan}", view[0].state);
}

/// Everything that was accepted is there once, and a repeat changes nothing.
async fn check_commands(name: &str, host: &Host, witness: &Witness, lead: &WorkerId, kid: Option<&WorkerId>) {
    let before = records_of(host, lead).await;
    for id in &witness.accepted {
        if id == "l3" {
            let kid = kid.expect("a child that was stopped is there");
            host.pods().control(key(id), &origin(), kid, ControlVerb::Stop).await.unwrap();
            assert_eq!(host.pods().get(kid).await.unwrap().summary.state, PodState::Stopped, "{name}");
        } else {
            let input = InputCommand { queue: true, ..say("something else, which the key must keep out") };
            host.work().input(key(id), &origin(), lead, input).await.unwrap();
            let is_it = |record: &&Record| matches!(&record.event, Event::Turn(TurnEvent::UserMessage { command_id, .. }) if command_id.as_str() == id);
            assert_eq!(before.iter().filter(is_it).count(), 1, "{name}: {id}");
        }
    }
    assert_eq!(records_of(host, lead).await, before, "{name}: a repeat changed something");
}

/// What the child's parent is to be told according to the child's journal: each end of a run except by a stop, and a
/// person's stop.
async fn wanted_news(host: &Host, of_kid: &[Record]) -> Vec<News> {
    let ends = of_kid.iter().filter_map(|record| match &record.event {
        Event::Control(ControlEvent::RunFinished { outcome: Outcome::Completed, .. }) => Some(News::TurnEnded),
        Event::Control(ControlEvent::RunFinished { outcome: Outcome::Interrupted, .. }) => Some(News::Errored),
        _ => None,
    });
    let audit = host.audit().page(None, 100).await.unwrap().items;
    let stops = audit.iter().filter(|entry| entry.action == "stop" && entry.by == "operator").map(|_| News::ShutDown);
    ends.chain(stops).collect()
}

fn news(records: &[Record]) -> Vec<News> {
    let told = records.iter().filter_map(|record| match &record.event {
        Event::Turn(TurnEvent::ChildEvent { what, .. }) => Some(match what {
            protocol::ChildChange::TurnEnded => News::TurnEnded,
            protocol::ChildChange::Errored => News::Errored,
            protocol::ChildChange::ShutDown => News::ShutDown,
        }),
        _ => None,
    });
    told.collect()
}

/// Whether the newest entry about the loan says that the scope is lent.
fn last_loan(records: &[Record]) -> bool {
    let newest = records.iter().rev().find_map(|record| match &record.event {
        Event::Control(ControlEvent::ChildSpawned { .. } | ControlEvent::ScopeChanged { .. }) => Some(true),
        Event::Control(ControlEvent::ChildStopped { .. }) => Some(false),
        _ => None,
    });
    newest.unwrap_or(false)
}

fn ends(records: &[Record]) -> usize {
    records.iter().filter(|record| record.event.kind() == "run_finished").count()
}

fn is_idle(records: &[Record]) -> bool {
    last_state(records) == Some(PodState::Idle)
}

fn last_state(records: &[Record]) -> Option<PodState> {
    records.iter().rev().find_map(|record| match &record.event {
        Event::Control(ControlEvent::Status { state, .. }) => Some(*state),
        _ => None,
    })
}

fn said(records: &[Record], wanted: &str) -> bool {
    let says = |record: &Record| matches!(&record.event, Event::Turn(TurnEvent::MessageFinished { text, .. }) if text.contains(wanted));
    records.iter().any(says)
}

/// Chunks are folded into their block, so they need not be there.
fn is_chunk(record: &Record) -> bool {
    matches!(&record.event, Event::Turn(event) if event.is_chunk())
}
