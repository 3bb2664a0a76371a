//! Hosts that leave, die, or are paused.

use std::time::Duration;

use protocol::{ControlEvent, Event, Outcome, PodState, Record};

use crate::{
    ground::*,
    stage::{kinds, origin, say},
};

const SHUTDOWN_WAIT: Duration = Duration::from_secs(5);

/// Makes a host look silent for a minute, again and again until it is declared dead: it is alive, and does not know.
/// Under its later number it is left alone.
struct Silenced<'a> {
    ground: &'a Ground,
    id: String,
}

impl<'a> Silenced<'a> {
    async fn of(ground: &'a Ground, name: &str) -> Self {
        let id = ground.run(&format!("select id from hosts where name = '{name}'")).await;
        Self { ground, id }
    }

    async fn again(&self) {
        let Self { ground, id } = self;
        ground.run(&format!("update hosts set heartbeat_at = now() - interval '1 minute' where id = {id}")).await;
    }
}

fn outcomes(records: &[Record]) -> Vec<Outcome> {
    let outcomes = records.iter().filter_map(|record| match &record.event {
        Event::Control(ControlEvent::RunFinished { outcome, .. }) => Some(*outcome),
        _ => None,
    });
    outcomes.collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn pods_of_a_host_that_stops_are_put_in_order_by_another_one_at_once() {
    let ground = Ground::new().await;
    let (one, two) = (ground.host("one").await, ground.host("two").await);
    let (ada, bob) = (create(&one, "ada").await, create(&one, "bob").await);
    tell(&one, &ada, "stream 1000 at 50").await;
    watch(&two, &ada, |record| record.event.kind() == "text_chunk").await;
    let mut viewer = two.journals().observe(&ada, None, 10).await;
    futures_util::StreamExt::next(&mut viewer).await.unwrap();
    one.shutdown(SHUTDOWN_WAIT).await;
    until("interrupted", async || state(&two, &ada).await == PodState::Paused).await;
    assert_eq!(outcomes(&ordered(&two, &ada).await), [Outcome::Interrupted]);
    tell(&two, &bob, "say hello").await;
    watch(&two, &bob, is_finished).await;
    tell(&two, &ada, "say hello").await;
    watch(&two, &ada, |record| kinds(std::slice::from_ref(record)) == ["run_finished"]).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_host_that_was_declared_dead_drops_its_work_writes_nothing_and_serves_on() {
    let ground = Ground::new().await;
    let (one, two) = (ground.host("one").await, ground.host("two").await);
    let (ada, eve) = (create(&one, "ada").await, create(&one, "eve").await);
    let watching = tokio::spawn({
        let (one, ada) = (one.clone(), ada.clone());
        async move { watch(&one, &ada, is_finished).await }
    });
    until("a viewer", async || one.health().viewers() == 1).await;
    tell(&one, &ada, "stream 30000 at 100\nsay never").await;
    watch(&two, &ada, |record| record.event.kind() == "text_chunk").await;
    let silenced = Silenced::of(&ground, "one").await;
    until("taken over", async || {
        silenced.again().await;
        state(&two, &ada).await == PodState::Paused
    })
    .await;
    until("dropped", async || one.health().active_pods() == 0).await;
    // Its viewer sees how the new owner closed the run.
    let seen = watching.await.unwrap();
    assert_eq!(outcomes(&seen), [Outcome::Interrupted]);
    let journal = ordered(&two, &ada).await;
    assert_eq!(outcomes(&journal), [Outcome::Interrupted]);
    assert!(seen.windows(2).all(|pair| pair[0].seq < pair[1].seq), "out of order, or twice");
    // The old host takes part again: it forwards what belongs to others, and runs what nobody runs.
    until("serves on", async || one.work().input(fresh_key(), &origin(), &ada, say("say back again")).await.is_ok())
        .await;
    watch(&two, &ada, |record| {
        matches!(&record.event, Event::Control(ControlEvent::RunFinished { outcome: Outcome::Completed, .. }))
    })
    .await;
    tell(&one, &eve, "say hello").await;
    watch(&one, &eve, is_finished).await;
    let fresh = create(&one, "fay").await;
    tell(&two, &fresh, "say hello").await;
    watch(&one, &fresh, is_finished).await;
    for pod in [&ada, &eve, &fresh] {
        until("alike", async || ordered(&one, pod).await == ordered(&two, pod).await).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_question_to_a_person_outlives_the_host_that_asked_it() {
    let ground = Ground::new().await;
    let (one, two) = (ground.host("one").await, ground.host("two").await);
    let asks = protocol::PermissionRule {
        tool: "ListPods".to_owned(),
        pattern: None,
        folder: None,
        pod: None,
        decision: protocol::PermissionDecision::Ask,
    };
    let ada = create(&one, "ada").await;
    let patch = protocol::PatchPod { permissions: Some(vec![asks]), ..protocol::PatchPod::default() };
    one.pods().patch(fresh_key(), &origin(), &ada, patch).await.unwrap();
    tell(&one, &ada, "call ListPods {}\nsay done").await;
    until("waiting", async || state(&two, &ada).await == PodState::Waiting).await;
    let silenced = Silenced::of(&ground, "one").await;
    until("taken over", async || {
        silenced.again().await;
        // Whichever was first, even the same one under another number.
        let owner = ground.run("select owner from pods").await;
        !owner.is_empty() && owner != silenced.id
    })
    .await;
    assert_eq!(state(&two, &ada).await, PodState::Waiting);
    let open = one.approvals().open().await.unwrap();
    let allow = protocol::ApprovalCommand::once(protocol::Decision::Allow);
    until("answered", async || {
        one.approvals().answer(fresh_key(), &origin(), &ada, &open[0].approval.id, allow.clone()).await.is_ok()
    })
    .await;
    watch(&two, &ada, is_finished).await;
    assert_eq!(outcomes(&ordered(&one, &ada).await), [Outcome::Completed]);
}
