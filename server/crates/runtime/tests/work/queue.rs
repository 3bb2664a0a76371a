//! Queued messages: taken back, sent into the current run, and kept across a restart.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use pod_store::{Faults, Step, Store, StoreError, StoreOptions};
use protocol::{CommandId, ErrorCode, InputCommand, PodState, QueuedInput, Segment, WorkerId};

use crate::{
    bench::{Bench, code, fresh, last_of, of_kind, runs},
    stage::{self, Stage, key, kinds, origin, say},
};

const SLOW: &str = "call Slow {}";

impl Bench {
    /// A Pod whose model waits for its tool.
    async fn busy(&self) -> WorkerId {
        let pod = self.stage.create("ada").await;
        self.send(&pod, SLOW).await;
        self.stage.until(&pod, |records| kinds(records).contains(&"tool_output_chunk".to_owned())).await;
        pod
    }

    async fn queue(&self, pod: &WorkerId, id: &str, text: &str, steer: bool) {
        let input = InputCommand { queue: true, steer, ..say(text) };
        self.stage.host.work().input(key(id), &origin(), pod, input).await.unwrap();
    }

    async fn waits(&self, pod: &WorkerId) -> Vec<String> {
        let queued = self.stage.host.pods().get(pod).await.unwrap().queued;
        queued.into_iter().map(|input| input.command_id).collect()
    }

    async fn take_back(&self, pod: &WorkerId, id: &str) -> Result<QueuedInput, protocol::ApiError> {
        self.stage.host.work().take_back(fresh(), &origin(), pod, &CommandId::parse(id).unwrap()).await
    }

    async fn said(&self, pod: &WorkerId) -> Vec<String> {
        let messages = of_kind(&self.stage.records(pod).await, "user_message");
        messages.iter().map(|event| event["segments"][0]["text"].as_str().unwrap().to_owned()).collect()
    }
}

#[tokio::test]
async fn a_queued_input_is_taken_back_whole_and_never_begins() {
    let bench = Bench::new().await;
    let pod = bench.busy().await;
    for id in ["q1", "q2", "q3"] {
        bench.queue(&pod, id, &format!("say {id}"), false).await;
    }
    let before = bench.stage.host.pods().get(&pod).await.unwrap();
    assert_eq!(before.summary.queued_count, 3, "the list says how many wait");
    let queued = before.queued[1].clone();
    let command = key("back");
    let id = CommandId::parse("q2").unwrap();
    let first = bench.stage.host.work().take_back(command.clone(), &origin(), &pod, &id).await.unwrap();
    assert_eq!(first, queued);
    assert_eq!(first.segments, [Segment::text("say q2")]);
    let again = bench.stage.host.work().take_back(command, &origin(), &pod, &id).await.unwrap();
    assert_eq!(again, queued, "the same command gives the first answer");
    assert_eq!(code(bench.take_back(&pod, "q2").await), ErrorCode::NotFound);
    assert_eq!(code(bench.take_back(&pod, "nobody").await), ErrorCode::NotFound);
    assert_eq!(bench.waits(&pod).await, ["q1", "q3"]);
    assert_eq!(
        bench.stage.host.pods().get(&pod).await.unwrap().summary.head_seq,
        before.summary.head_seq,
        "no record of it"
    );
    // Sent again with its own id, it is the same command, and does not happen twice.
    bench.queue(&pod, "q2", "say q2", false).await;
    assert_eq!(bench.waits(&pod).await, ["q1", "q3"]);

    bench.ledger.open_gate();
    bench.until_runs(&pod, 3).await;
    assert_eq!(bench.said(&pod).await, [SLOW, "say q1", "say q3"]);
    assert_eq!(code(bench.take_back(&pod, "q3").await), ErrorCode::AlreadyAnswered);
}

#[tokio::test]
async fn of_a_run_that_begins_and_a_hand_that_takes_back_exactly_one_wins() {
    let bench = Bench::new().await;
    let pod = bench.stage.create("ada").await;
    for round in 0..20 {
        let done = runs(&bench.stage.records(&pod).await);
        bench.queue(&pod, &format!("first-{round}"), "say one", false).await;
        let (id, text) = (format!("second-{round}"), format!("say second {round}"));
        bench.queue(&pod, &id, &text, false).await;
        let outcome = bench.take_back(&pod, &id).await;
        let began = match &outcome {
            Ok(_) => false,
            Err(error) if error.code == ErrorCode::AlreadyAnswered => true,
            Err(error) => panic!("{error}"),
        };
        bench.until_runs(&pod, done + 1 + usize::from(began)).await;
        assert_eq!(bench.said(&pod).await.contains(&text), began, "{outcome:?}");
        assert!(bench.waits(&pod).await.is_empty());
    }
}

#[tokio::test]
async fn what_was_taken_back_stays_so_over_a_restart_and_the_rest_waits() {
    let bench = Bench::new().await;
    let pod = bench.busy().await;
    bench.queue(&pod, "q1", "say q1", false).await;
    bench.queue(&pod, "s1", "say s1", true).await;
    bench.queue(&pod, "q2", "say q2", false).await;
    let taken = bench.take_back(&pod, "q1").await.unwrap();
    let bench = bench.restart().await;
    bench.until_state(&pod, PodState::Paused).await;
    let waiting = bench.stage.host.pods().get(&pod).await.unwrap().queued;
    let ids: Vec<_> = waiting.iter().map(|input| (input.command_id.as_str(), input.steer)).collect();
    assert_eq!(ids, [("s1", true), ("q2", false)]);
    assert_eq!(code(bench.take_back(&pod, "q1").await), ErrorCode::NotFound);
    assert_eq!(bench.take_back(&pod, "s1").await.unwrap().segments, [Segment::text("say s1")]);
    assert_eq!(taken.segments, [Segment::text("say q1")]);
    bench.control(&pod, protocol::ControlVerb::Cancel).await.unwrap();
    bench.until_runs(&pod, 2).await;
    assert_eq!(bench.said(&pod).await, [SLOW, "say q2"]);
}

#[tokio::test]
async fn a_message_that_steers_goes_with_the_next_question_of_the_same_run() {
    let bench = Bench::new().await;
    let pod = bench.busy().await;
    bench.queue(&pod, "q1", "say later", false).await;
    bench.queue(&pod, "s1", "say sooner", true).await;
    assert_eq!(bench.waits(&pod).await, ["q1", "s1"]);
    assert_eq!(bench.said(&pod).await, [SLOW], "it is told to nobody before its time");
    bench.ledger.open_gate();
    let records = bench.until_runs(&pod, 2).await;
    assert_eq!(bench.said(&pod).await, [SLOW, "say sooner", "say later"]);
    let run_of = |kind: &str, at: usize| {
        records.iter().filter(|record| record.event.kind() == kind).nth(at).unwrap().run_id.clone()
    };
    assert_eq!(run_of("user_message", 1), run_of("user_message", 0), "no run of its own");
    assert_ne!(run_of("user_message", 2), run_of("user_message", 0));
    let place =
        |kind: &str, at: usize| records.iter().filter(|record| record.event.kind() == kind).nth(at).unwrap().seq;
    assert!(place("tool_finished", 0) < place("user_message", 1));
    assert!(place("user_message", 1) < place("message_finished", 0));
    assert_eq!(of_kind(&records, "message_finished")[0]["text"], "sooner");
    assert_eq!(last_of(&records, "message_finished")["text"], "later");
    assert_eq!(code(bench.take_back(&pod, "s1").await), ErrorCode::AlreadyAnswered);
}

#[tokio::test]
async fn a_message_that_steers_an_answer_without_calls_begins_the_next_run_before_all_others() {
    let bench = Bench::new().await;
    let pod = bench.stage.create("ada").await;
    bench.send(&pod, "say zero\nwait 8\nsay end").await;
    bench.until_state(&pod, PodState::Running).await;
    bench.queue(&pod, "q1", "say one", false).await;
    bench.queue(&pod, "s1", "say two", true).await;
    let records = bench.until_runs(&pod, 3).await;
    assert_eq!(bench.said(&pod).await[1..], ["say two", "say one"]);
    let began: Vec<_> = of_kind(&records, "run_started").iter().map(|event| event["command_id"].clone()).collect();
    assert_eq!(began[1..], ["s1", "q1"]);
    // Without a current run there is nothing to join: it is a message like any other.
    bench.queue(&pod, "s2", "say three", true).await;
    bench.until_runs(&pod, 4).await;
}

#[tokio::test]
async fn a_message_that_steers_waits_over_a_restart_for_the_run_that_goes_on() {
    let bench = Bench::new().await;
    let pod = bench.busy().await;
    bench.queue(&pod, "s1", "say sooner", true).await;
    let bench = bench.restart().await;
    bench.until_state(&pod, PodState::Paused).await;
    assert_eq!(bench.waits(&pod).await, ["s1"]);
    bench.control(&pod, protocol::ControlVerb::Resume).await.unwrap();
    let records = bench.until_runs(&pod, 2).await;
    assert_eq!(last_of(&records, "message_finished")["text"], "sooner");
    assert_eq!(of_kind(&records, "run_started").last().unwrap()["trigger"], "resume");
    assert!(bench.waits(&pod).await.is_empty());
}

#[tokio::test]
async fn a_file_outside_of_the_scope_is_no_part_of_a_message() {
    let bench = Bench::new().await;
    let folder = bench.stage.folder.path().canonicalize().unwrap();
    let mut create = crate::stage::named("ada");
    create.cwd = Some(folder.to_str().unwrap().to_owned());
    let pod = bench.stage.host.pods().create(fresh(), &origin(), create).await.unwrap().pod.worker_id;
    let send = async |path: &str| {
        let segments = vec![Segment::text("say one"), Segment::FileRef { path: path.to_owned() }];
        bench
            .stage
            .host
            .work()
            .input(fresh(), &origin(), &pod, InputCommand { segments, queue: true, steer: false })
            .await
    };
    assert_eq!(code(send("/etc/passwd").await), ErrorCode::ScopeNotHeld);
    assert_eq!(code(send("../elsewhere").await), ErrorCode::ScopeNotHeld);
    assert_eq!(code(send("a\0b").await), ErrorCode::InvalidInput);
    send("src/main.rs").await.unwrap();
    std::fs::write(folder.join("notes.txt"), "").unwrap();
    // A lookup that is delayed finds less.
    let found = tokio::time::timeout(std::time::Duration::from_secs(60), async {
        while bench.stage.host.work().files(&pod, "nts").await.unwrap() != ["notes.txt"] {}
    });
    found.await.expect("it is found");
    assert_eq!(code(bench.stage.host.work().files(&pod, &"x".repeat(1_025)).await), ErrorCode::InvalidInput);
}

/// Fails once, at each place in turn, after it was told to.
#[derive(Debug, Default)]
struct Fail {
    is_armed: AtomicBool,
    at: std::sync::Mutex<Option<Step>>,
}

impl Fail {
    fn arm(&self, step: Step) {
        *self.at.lock().unwrap() = Some(step);
        self.is_armed.store(true, Ordering::Release);
    }
}

impl Faults for Fail {
    fn before(&self, step: Step) -> Result<(), StoreError> {
        let is_here = *self.at.lock().unwrap() == Some(step);
        match is_here && self.is_armed.swap(false, Ordering::AcqRel) {
            true => Err(StoreError::Injected(step)),
            false => Ok(()),
        }
    }
}

#[tokio::test]
async fn a_taking_back_that_the_disk_refuses_leaves_the_input_where_it_waits() {
    for step in [Step::Begin, Step::Command, Step::Inbox, Step::Audit, Step::Commit] {
        let (folder, disk) = (tempfile::tempdir().unwrap(), Arc::new(Fail::default()));
        let options = StoreOptions { faults: Some(disk.clone()), ..StoreOptions::sqlite(folder.path().join("yoi.db")) };
        let host = stage::host_on(Store::open(options).await.unwrap()).await;
        let stage = Stage { host, folder };
        let pod = stage.create("ada").await;
        stage.host.work().input(key("k1"), &origin(), &pod, say("wait 60")).await.unwrap();
        for (id, steer) in [("q1", false), ("s1", true)] {
            let input = InputCommand { queue: true, steer, ..say(&format!("say {id}")) };
            stage.host.work().input(key(id), &origin(), &pod, input).await.unwrap();
        }
        let waiting = stage.host.pods().get(&pod).await.unwrap().queued;
        for (id, at) in [("q1", 0), ("s1", 1)] {
            let id = CommandId::parse(id).unwrap();
            disk.arm(step);
            let refused = stage.host.work().take_back(key(&format!("back-{id}")), &origin(), &pod, &id).await;
            assert_eq!(code(refused), ErrorCode::Internal, "{step:?}");
            assert_eq!(stage.host.pods().get(&pod).await.unwrap().queued[0], waiting[at], "{step:?}");
            let taken = stage.host.work().take_back(key(&format!("back-{id}")), &origin(), &pod, &id).await.unwrap();
            assert_eq!(taken, waiting[at], "the same command, sent again, happens: {step:?}");
        }
        assert!(stage.host.pods().get(&pod).await.unwrap().queued.is_empty());
    }
}

#[tokio::test]
async fn a_message_that_could_not_be_stored_with_the_question_waits_on() {
    let (folder, disk) = (tempfile::tempdir().unwrap(), Arc::new(Fail::default()));
    let options = StoreOptions { faults: Some(disk.clone()), ..StoreOptions::sqlite(folder.path().join("yoi.db")) };
    let host = stage::host_on(Store::open(options).await.unwrap()).await;
    let stage = Stage { host, folder };
    let pod = stage.create("ada").await;
    stage.host.work().input(key("k1"), &origin(), &pod, say(stage::CALL_ASKED)).await.unwrap();
    let is_asked = |records: &[protocol::Record]| kinds(records).contains(&"approval_asked".to_owned());
    stage.until(&pod, is_asked).await;
    let input = InputCommand { queue: true, steer: true, ..say("say sooner") };
    stage.host.work().input(key("s1"), &origin(), &pod, input).await.unwrap();
    disk.arm(Step::Inbox);
    let open = stage.host.approvals().of_pod(&pod, false).await.unwrap()[0].id.clone();
    let deny = crate::bench::once(protocol::Decision::Deny);
    assert_eq!(
        code(stage.host.approvals().answer(key("a1"), &origin(), &pod, &open, deny.clone()).await),
        ErrorCode::Internal
    );
    assert_eq!(
        stage.host.pods().get(&pod).await.unwrap().queued.len(),
        1,
        "neither the answer nor the message happened"
    );
    stage.host.approvals().answer(key("a1"), &origin(), &pod, &open, deny).await.unwrap();
    let records = stage.until_idle(&pod).await;
    assert_eq!(of_kind(&records, "user_message").len(), 2);
    assert_eq!(last_of(&records, "message_finished")["text"], "sooner");
    assert!(stage.host.pods().get(&pod).await.unwrap().queued.is_empty());
}

#[tokio::test]
async fn an_interruption_ends_the_run_and_returns_the_whole_queue_and_nothing_of_it_begins() {
    let bench = Bench::new().await;
    let pod = bench.busy().await;
    for (id, steers) in [("q1", false), ("q2", true), ("q3", false)] {
        bench.queue(&pod, id, &format!("say {id}"), steers).await;
    }
    let command = key("interrupt");
    let interrupted = bench.stage.host.work().interrupt(command.clone(), &origin(), &pod).await.unwrap();
    let ids: Vec<_> = interrupted.queued.iter().map(|input| input.command_id.as_str()).collect();
    assert_eq!(ids, ["q1", "q2", "q3"]);
    assert_eq!(interrupted.queued[2].segments, [Segment::text("say q3")]);
    bench.until_state(&pod, PodState::Idle).await;
    assert_eq!(bench.waits(&pod).await, Vec::<String>::new());
    let again = bench.stage.host.work().interrupt(command, &origin(), &pod).await.unwrap();
    assert_eq!(again, interrupted, "the same command gives the first answer, with the messages");
    let idle = bench.stage.host.work().interrupt(fresh(), &origin(), &pod).await;
    assert_eq!(code(idle), ErrorCode::NotRunning);
    let bench = bench.restart().await;
    assert_eq!(bench.waits(&pod).await, Vec::<String>::new());
    bench.turn(&pod, "say after").await;
    assert_eq!(bench.said(&pod).await, [SLOW, "say after"], "no queued message began");
}
