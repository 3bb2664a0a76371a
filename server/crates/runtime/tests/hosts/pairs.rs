//! Peers and children across hosts.

use protocol::{
    ControlEvent, ControlVerb, Event, PeerLink, PodRef, PodState, ReceiptState, Record, RuntimeId, ToolCommand,
    TurnEvent, WorkerId,
};
use runtime::Host;
use serde_json::json;

use crate::{
    ground::*,
    stage::{kinds, origin},
};

fn pod_ref(pod: &WorkerId) -> PodRef {
    PodRef::new(RuntimeId::local(), pod.clone())
}

async fn link(host: &Host, one: &WorkerId, other: &WorkerId) {
    let introduced = host.peers().introduce(fresh_key(), &origin(), one, other, None).await.unwrap();
    assert_eq!(introduced.answer.state, PeerLink::Linked);
}

fn count(records: &[Record], kind: &str) -> usize {
    kinds(records).iter().filter(|known| *known == kind).count()
}

fn receipts(records: &[Record]) -> Vec<ReceiptState> {
    let states = records.iter().filter_map(|record| match &record.event {
        Event::Control(ControlEvent::MessageReceipt { state, .. }) => Some(*state),
        _ => None,
    });
    states.collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn pods_of_two_hosts_become_peers_through_a_third_one_and_write_to_each_other() {
    let ground = Ground::new().await;
    let (one, two) = (ground.host("one").await, ground.host("two").await);
    let three = ground.host("three").await;
    let (ada, bob) = (create(&one, "ada").await, create(&two, "bob").await);
    link(&three, &ada, &bob).await;
    for (host, pod) in [(&one, &ada), (&two, &bob)] {
        assert_eq!(count(&ordered(host, pod).await, "peer_linked"), 1);
        assert_eq!(three.peers().of_pod(pod).await.unwrap().len(), 1);
    }
    // Bob's model is called on its own host; Ada is told the receipts of the answer.
    one.peers().send(fresh_key(), &origin(), &ada, &bob, "say it works").await.unwrap();
    until("answered", async || receipts(&ordered(&one, &ada).await).contains(&ReceiptState::Answered)).await;
    until("at rest", async || state(&two, &bob).await == PodState::Idle).await;
    let of_bob = ordered(&two, &bob).await;
    let said = |record: &Record| match &record.event {
        Event::Turn(TurnEvent::MessageFinished { text, .. }) => text.contains("it works"),
        _ => false,
    };
    assert!(of_bob.iter().any(said), "{of_bob:?}");
    assert_eq!((count(&of_bob, "peer_message"), count(&of_bob, "run_finished")), (1, 1));
    // Through a third host, and in the other direction.
    three.peers().send(fresh_key(), &origin(), &bob, &ada, "say so it does").await.unwrap();
    until("answered", async || receipts(&ordered(&two, &bob).await).contains(&ReceiptState::Answered)).await;
    three.peers().unlink(fresh_key(), &origin(), &bob, &pod_ref(&ada)).await.unwrap();
    for (host, pod) in [(&two, &ada), (&one, &bob)] {
        let records = ordered(host, pod).await;
        assert_eq!((count(&records, "peer_linked"), count(&records, "peer_unlinked")), (1, 1));
    }
    // Both continue where they were.
    tell(&two, &ada, "say one more").await;
    tell(&one, &bob, "say one more").await;
    for pod in [&ada, &bob] {
        until("one more run", async || count(&ordered(&three, pod).await, "run_finished") >= 2).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_messages_in_both_directions_while_both_work_are_each_there_once() {
    let ground = Ground::new().await;
    let (one, two) = (ground.host("one").await, ground.host("two").await);
    let (ada, bob) = (create(&one, "ada").await, create(&two, "bob").await);
    link(&one, &ada, &bob).await;
    tell(&one, &ada, "stream 300 at 200").await;
    tell(&one, &bob, "stream 300 at 200").await;
    let sends = (0..12).map(|round| {
        let (host, from, to) = match round % 4 {
            0 => (&one, &ada, &bob),
            1 => (&two, &ada, &bob),
            2 => (&one, &bob, &ada),
            _ => (&two, &bob, &ada),
        };
        async move { host.peers().send(fresh_key(), &origin(), from, to, &format!("say {round}")).await.unwrap() }
    });
    futures_util::future::join_all(sends).await;
    for (host, pod) in [(&two, &ada), (&one, &bob)] {
        until("all came", async || count(&ordered(host, pod).await, "peer_message") == 6).await;
        until("at rest", async || state(host, pod).await == PodState::Idle).await;
        assert_eq!(count(&ordered(host, pod).await, "peer_message"), 6);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_child_on_another_host_is_led_from_there() {
    let ground = Ground::new().await;
    let (one, two) = (ground.host("one").await, ground.host("two").await);
    let ada = create(&one, "ada").await;
    let folder = ground.folder.path().canonicalize().unwrap();
    let rule = json!({ "path": folder, "access": "read", "recursive": true });
    let spawn = json!({ "name": "kid", "task": "say born", "scope": [rule] });
    let call = async |name: &str, arguments: serde_json::Value| {
        two.work().run_tool(fresh_key(), &origin(), &ada, name, ToolCommand { arguments }).await.unwrap()
    };
    let spawned = call("SpawnPod", spawn).await;
    assert!(!spawned.is_error, "{spawned:?}");
    let kid = two.pods().named(&protocol::PodName::parse("kid").unwrap()).await.unwrap().unwrap().worker_id;
    watch(&two, &kid, is_finished).await;
    until("told", async || count(&ordered(&one, &ada).await, "child_event") > 0).await;
    until("at rest", async || state(&one, &ada).await == PodState::Idle && state(&one, &kid).await == PodState::Idle)
        .await;
    // The child moves to the other host, as after a death.
    let sql = "update pods set owner = (select id from hosts where name = 'two') where name = 'kid'";
    one.pods().control(fresh_key(), &origin(), &kid, ControlVerb::Stop).await.unwrap();
    until("no task", async || one.health().active_pods() == 0).await;
    ground.run(sql).await;
    two.pods().control(fresh_key(), &origin(), &kid, ControlVerb::Restore).await.unwrap();
    tell(&two, &kid, "say again").await;
    until("told again", async || count(&ordered(&one, &ada).await, "child_event") > 1).await;
    one.pods().control(fresh_key(), &origin(), &kid, ControlVerb::Stop).await.unwrap();
    assert_eq!(state(&two, &kid).await, PodState::Stopped);
    assert_eq!(count(&ordered(&two, &ada).await, "child_stopped"), 2);
}

/// A host that holds another one's Pod and dies, before it has sent an order, or after.
struct Mute<'a> {
    ground: &'a Ground,
    pod: &'a WorkerId,
}

impl Mute<'_> {
    /// Calls the host "one"; returns its answer.
    async fn ask(&self, call: serde_json::Value) -> serde_json::Value {
        let ask = format!(
            "insert into host_calls (host, caller, body) select id, 0, '{call}' from hosts where name = 'one' returning id"
        );
        let id = self.ground.run(&ask).await;
        let answer = format!("select answer from host_calls where id = {id} and answer is not null");
        until("an answer", async || !self.ground.run(&answer).await.is_empty()).await;
        let answer: serde_json::Value = serde_json::from_str(&self.ground.run(&answer).await).unwrap();
        serde_json::from_str(answer["Done"].as_str().unwrap_or_else(|| panic!("{answer}"))).unwrap()
    }

    async fn hold(&self) {
        self.ask(json!({ "Hold": { "hold": "by-hand", "worker_id": self.pod } })).await;
    }

    /// What is to be written for the Pod: one record.
    async fn order(&self) -> serde_json::Value {
        let note = json!({ "kind": "alert", "level": "note", "source": "test", "text": "ordered" });
        let wish = json!({ "inputs": [], "events": [note], "lends": null, "mail_put": [], "ends_work": false });
        self.ask(json!({ "Order": { "hold": "by-hand", "wish": wish } })).await["change"].clone()
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_pod_goes_on_when_the_host_that_holds_it_dies_and_knows_what_came_of_it() {
    let ground = Ground::new().await;
    let (one, _two) = (ground.host("one").await, ground.host("two").await);
    let ada = create(&one, "ada").await;
    let mute = Mute { ground: &ground, pod: &ada };
    // Before it has sent an order, and after that but before it has written: nothing has happened.
    for is_ordered in [false, true] {
        mute.hold().await;
        if is_ordered {
            mute.order().await;
        }
        within("an answer", tell(&one, &ada, "say hello")).await;
        until("at rest", async || state(&one, &ada).await == PodState::Idle).await;
    }
    let records = ordered(&one, &ada).await;
    assert_eq!((count(&records, "alert"), count(&records, "run_finished")), (0, 2));
    // After it has written: the Pod finds it in its journal, shows it once, and continues after it.
    mute.hold().await;
    let change = mute.order().await;
    let record = &change["records"][0];
    let body = record["body"].as_str().unwrap();
    let write =
        format!("insert into journal (pod, seq, class, body) select key, {}, 2, '{body}' from pods", record["seq"]);
    ground.run(&write).await;
    let watching = tokio::spawn({
        let (one, ada) = (one.clone(), ada.clone());
        async move { watch(&one, &ada, |record| record.event.kind() == "alert").await }
    });
    tell(&one, &ada, "say hello").await;
    watching.await.unwrap();
    until("at rest", async || state(&one, &ada).await == PodState::Idle).await;
    let records = ordered(&one, &ada).await;
    assert_eq!((count(&records, "alert"), count(&records, "run_finished")), (1, 3));
    assert!(kinds(&records).iter().all(|kind| kind != "unknown"), "{records:?}");
}
