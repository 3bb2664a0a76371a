//! A host that dies at each durable step, on either side: the other one continues, and when it is back everything
//! recovers.

use std::{
    sync::{
        Arc, Mutex,
        atomic::{AtomicU32, Ordering},
    },
    time::{Duration, Instant},
};

use pod_store::{Faults, Step, StoreError};
use protocol::{
    ControlEvent, ControlVerb, Event, Outcome, PeerLink, PeerPolicy, PodState, ReceiptState, Record, RequestDecision,
    WorkerId,
};
use testkit::WAIT_MAX;

use crate::{
    ground::{Two, carry, fresh_key, introduce, receipts, received, steps},
    stage::{key, origin},
};

/// From its n-th occurrence on, a step fails, and so does everything after it: as if the process had died there.
#[derive(Debug, Default)]
struct DieAt {
    at: Mutex<Option<(Step, u32)>>,
    is_dead: AtomicU32,
}

impl DieAt {
    fn arm(&self, step: Step, count: u32) {
        *self.at.lock().unwrap() = Some((step, count));
    }

    fn has_died(&self) -> bool {
        self.is_dead.load(Ordering::Acquire) == 1
    }
}

impl Faults for DieAt {
    fn before(&self, step: Step) -> Result<(), StoreError> {
        if self.has_died() {
            return Err(StoreError::Injected(step));
        }
        let mut at = self.at.lock().unwrap();
        if let Some((known, count)) = at.as_mut()
            && *known == step
        {
            *count -= 1;
            if *count == 0 {
                self.is_dead.store(1, Ordering::Release);
                return Err(StoreError::Injected(step));
            }
        }
        Ok(())
    }
}

const STEPS: [Step; 9] = [
    Step::Begin,
    Step::Fence,
    Step::Command,
    Step::Pods,
    Step::Records,
    Step::Mail,
    Step::Far,
    Step::Commit,
    Step::Answer,
];

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whichever_side_dies_at_whichever_step_nothing_is_lost_and_nothing_comes_twice() {
    let mut deaths = 0;
    for is_a in [true, false] {
        for step in STEPS {
            for count in [1, 2, 4, 7] {
                deaths += u32::from(case(is_a, step, count).await);
            }
        }
    }
    assert!(deaths >= 60, "only {deaths} of 72 died");
}

/// Ada sends a peer request and a message, bob writes back and ends the relation; each command is repeated with its key
/// until it is answered, as a client does.
async fn case(is_a: bool, step: Step, count: u32) -> bool {
    let what = format!("{} dies at {step:?} {count}", if is_a { "a" } else { "b" });
    let faults = Arc::new(DieAt::default());
    let of = |yes: bool| yes.then(|| faults.clone() as Arc<dyn Faults>);
    let mut two = Two::with_faults(of(is_a), of(!is_a)).await;
    two.name_each_other(false);
    let (ada, bob) = (two.a.create("ada").await, two.b.create("bob").await);
    faults.arm(step, count);
    let mut written: Vec<(bool, String)> = Vec::new();
    let mut act = 0;
    let begun = Instant::now();
    while begun.elapsed() < WAIT_MAX && !faults.has_died() {
        let done = play(&two, &ada, &bob, act, &mut written).await;
        // An exchange after each act, wherever it breaks off.
        let carried = carry(&two.a.host, &two.b.host).await;
        act += usize::from(done);
        if act == ACTS && carried.is_ok_and(|carried| carried == 0) {
            break;
        }
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    let has_died = faults.has_died();
    match is_a {
        true => two.a.reopen(None).await,
        false => two.b.reopen(None).await,
    }
    two.name_each_other(false);
    let begun = Instant::now();
    while begun.elapsed() < WAIT_MAX && act < ACTS {
        act += usize::from(play(&two, &ada, &bob, act, &mut written).await);
        carry(&two.a.host, &two.b.host).await.unwrap_or_else(|error| panic!("{what}: {error}"));
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    assert_eq!(act, ACTS, "{what}");
    check(&two, &ada, &bob, &written, &what).await;
    has_died
}

const ACTS: usize = 5;

/// One act; returns whether it is complete.
async fn play(two: &Two, ada: &WorkerId, bob: &WorkerId, act: usize, written: &mut Vec<(bool, String)>) -> bool {
    let key = key(&format!("act-{act}"));
    let is_linked = async |side: &crate::ground::Side, pod| {
        side.host.peers().of_pod(pod).await.is_ok_and(|peers| peers.iter().any(|peer| peer.link == PeerLink::Linked))
    };
    match act {
        0 => introduce(&two.a, &two.b, ada, bob, key).await.is_ok_and(|done| done.answer.state == PeerLink::Linked),
        1 => match two.a.host.peers().send_far(key, &origin(), ada, &two.of_b(bob), "say one").await {
            Ok(sent) => {
                written.push((true, sent.message_id));
                true
            }
            Err(_) => false,
        },
        2 => match two.b.host.peers().send_far(key, &origin(), bob, &two.of_a(ada), "say two").await {
            Ok(sent) => {
                written.push((false, sent.message_id));
                true
            }
            Err(_) => false,
        },
        // Everything is said before they stop being peers.
        3 => {
            let mut answered = true;
            for (side, pod) in [(&two.a, ada), (&two.b, bob)] {
                // A run that the crash interrupted waits for a person, as it does after any restart.
                if side.host.pods().get(pod).await.is_ok_and(|detail| detail.summary.state == PodState::Paused) {
                    let _ = side.host.pods().control(fresh_key(), &origin(), pod, ControlVerb::Resume).await;
                }
            }
            for (is_ada, id) in written.iter() {
                let (here, there) =
                    if *is_ada { ((&two.a, ada), (&two.b, bob)) } else { ((&two.b, bob), (&two.a, ada)) };
                let (Some(sent), Some(read)) = (journal(here).await, journal(there).await) else { return false };
                answered &= match receipts(&sent, id).last() {
                    Some((ReceiptState::Answered, _)) => true,
                    // The crash interrupted the run that had read it: nothing answers it.
                    Some((ReceiptState::Read, _)) => was_cut(&read),
                    _ => false,
                };
            }
            answered
        }
        _ => {
            let parted = two.b.host.peers().unlink(key, &origin(), bob, &two.of_a(ada)).await.is_ok();
            parted && !is_linked(&two.a, ada).await
        }
    }
}

async fn journal((side, pod): (&crate::ground::Side, &WorkerId)) -> Option<Vec<Record>> {
    let page = side.host.journals().page(pod, None, 1_000, runtime::RecordForm::Whole).await.ok()?;
    Some(crate::stage::read_all(&page.items))
}

/// A run was interrupted, and what came after it has ended.
fn was_cut(records: &[Record]) -> bool {
    let is_cut = |record: &Record| {
        matches!(&record.event, Event::Control(ControlEvent::RunFinished { outcome: Outcome::Interrupted, .. }))
    };
    let last = records.iter().rev().find_map(|record| match &record.event {
        Event::Control(ControlEvent::Status { state, .. }) => Some(*state),
        _ => None,
    });
    records.iter().any(is_cut) && last == Some(PodState::Idle)
}

async fn check(two: &Two, ada: &WorkerId, bob: &WorkerId, written: &[(bool, String)], what: &str) {
    two.settle().await;
    assert!(!two.is_linked(ada, bob).await, "{what}");
    for (side, pod, is_ada) in [(&two.a, ada, true), (&two.b, bob, false)] {
        let records = side.records(pod).await;
        let of =
            |is: bool| -> Vec<_> { written.iter().filter(|(sent, _)| *sent == is).map(|(_, id)| id.clone()).collect() };
        let ids: Vec<String> = received(&records).into_iter().map(|(id, _)| id).collect();
        assert_eq!(ids, of(!is_ada), "{what}");
        for id in of(is_ada) {
            let states: Vec<_> = receipts(&records, &id).into_iter().map(|(state, _)| state).collect();
            use ReceiptState::{Answered, Read, Sent, Stored};
            let other = if is_ada { two.b.records(bob).await } else { two.a.records(ada).await };
            match was_cut(&other) && states.len() == 3 {
                true => assert_eq!(states, [Sent, Stored, Read], "{what}"),
                false => assert_eq!(states, [Sent, Stored, Read, Answered], "{what}"),
            }
        }
    }
    // Starting over works as it did the first time.
    introduce(&two.a, &two.b, ada, bob, fresh_key()).await.unwrap();
    two.settle().await;
    assert!(two.is_linked(ada, bob).await, "{what}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whichever_side_dies_while_a_pod_is_asked_by_its_own_server_both_hold_the_link_in_the_end() {
    let mut deaths = 0;
    for is_a in [true, false] {
        for step in STEPS {
            for count in [1, 2, 3] {
                deaths += u32::from(asked_case(is_a, step, count).await);
            }
        }
    }
    assert!(deaths >= 30, "only {deaths} of 54 died");
}

/// Bob is to become a peer of ada, whose policy is `ask`, and she accepts; each command is repeated with its key until
/// it is answered.
async fn asked_case(is_a: bool, step: Step, count: u32) -> bool {
    let what = format!("{} dies at {step:?} {count}", if is_a { "a" } else { "b" });
    let faults = Arc::new(DieAt::default());
    let of = |yes: bool| yes.then(|| faults.clone() as Arc<dyn Faults>);
    let mut two = Two::with_faults(of(is_a), of(!is_a)).await;
    two.name_each_other(false);
    let (ada, bob) = (two.a.create_with("ada", PeerPolicy::Ask).await, two.b.create("bob").await);
    let card = runtime::FarPod { store: two.b.id(), card: two.b.card(&bob).await };
    faults.arm(step, count);
    let (mut request, mut is_over, mut is_back) = (None, false, false);
    for trip in 0..400 {
        if !is_back && (trip == 40 || faults.has_died()) {
            is_back = true;
            match is_a {
                true => two.a.reopen(None).await,
                false => two.b.reopen(None).await,
            }
            two.name_each_other(false);
        }
        match &request {
            None => {
                let asked = two.a.host.peers().invite_far(key("act-0"), &origin(), &ada, card.clone(), None).await;
                request = asked.ok().and_then(|done| done.answer.request_id);
            }
            Some(id) if !is_over => {
                let accept = RequestDecision::Accept;
                is_over = two.a.host.peers().decide_request(key("act-1"), &origin(), &ada, id, accept).await.is_ok();
            }
            Some(_) if is_back => break,
            Some(_) => (),
        }
        let _ = carry(&two.a.host, &two.b.host).await;
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    assert!(is_over, "{what}");
    two.settle().await;
    assert!(two.is_linked(&ada, &bob).await, "{what}");
    for (side, pod) in [(&two.a, &ada), (&two.b, &bob)] {
        assert_eq!(steps(&side.records(pod).await), ["peer_requested", "peer_linked"], "{what}");
    }
    faults.has_died()
}
