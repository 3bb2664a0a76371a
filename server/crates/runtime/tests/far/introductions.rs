//! Peer requests between servers: proposed, answered by policy, crossed, withdrawn, ended.

use std::time::Duration;

use protocol::{ControlVerb, ErrorCode, PatchPod, PeerLink, PeerPolicy, PodName, PodState, RequestDecision};
use runtime::FarNames;
use serde_json::json;

use crate::{
    ground::{Shuttle, Two, fresh_key, introduce, invite, steps},
    stage::origin,
};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_pods_of_two_stores_become_peers_at_once_and_nothing_else_happens() {
    let two = Two::new().await;
    let (ada, bob) = (two.a.create("ada").await, two.b.create("bob").await);
    let before = serde_json::to_string(&two.b.host.journals().history(&bob).await.unwrap()).unwrap();
    let _shuttle = Shuttle::start(&two, 0);
    let done = two.introduce(&ada, &bob).await.unwrap();
    assert_eq!((done.answer.state, done.stood, done.answer.request_id), (PeerLink::Linked, false, None));
    assert_eq!(done.answer.peer, two.of_b(&bob));
    assert!(two.is_linked(&ada, &bob).await);
    assert_eq!(steps(&two.a.records(&ada).await), ["peer_requested", "peer_linked"]);
    assert_eq!(steps(&two.b.records(&bob).await), ["peer_linked"]);
    assert_eq!(serde_json::to_string(&two.b.host.journals().history(&bob).await.unwrap()).unwrap(), before);
    for (side, pod, peer, name) in [(&two.a, &ada, two.of_b(&bob), "bob"), (&two.b, &bob, two.of_a(&ada), "ada")] {
        let view = side.peers(pod).await.remove(0);
        assert_eq!((view.pod.clone(), view.name.as_str(), view.state), (peer.clone(), name, PodState::Idle));
        let seen = side.host.pods().visible(pod).await.unwrap();
        assert_eq!((seen.len(), seen[1].pod.clone(), seen[1].scope.len()), (2, peer, 0));
        assert_eq!(side.host.pods().get(pod).await.unwrap().summary.relations.peers, 1);
    }
    // Asked again, from either side: they are peers already.
    assert!(two.introduce(&ada, &bob).await.unwrap().stood);
    assert!(introduce(&two.b, &two.a, &bob, &ada, fresh_key()).await.unwrap().stood);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_repeated_key_proposes_once_and_says_what_has_become_of_it() {
    let two = Two::new().await;
    two.name_each_other(false);
    let (ada, bob) = (two.a.create("ada").await, two.b.create("bob").await);
    let key = fresh_key();
    let first = introduce(&two.a, &two.b, &ada, &bob, key.clone()).await.unwrap();
    assert_eq!(first.answer.state, PeerLink::Pending);
    let again = introduce(&two.a, &two.b, &ada, &bob, key.clone()).await.unwrap();
    assert_eq!(again, first);
    let other_key = two.introduce(&ada, &bob).await.unwrap();
    assert_eq!(other_key.answer.request_id, first.answer.request_id);
    two.settle().await;
    let then = introduce(&two.a, &two.b, &ada, &bob, key).await.unwrap();
    assert_eq!(then.answer.state, PeerLink::Linked);
    assert_eq!(steps(&two.b.records(&bob).await), ["peer_linked"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_closed_pod_a_stranger_and_a_pod_that_is_gone_are_refused_on_both_sides() {
    let two = Two::new().await;
    let ada = two.a.create("ada").await;
    let (closed, gone) = (two.b.create_with("closed", PeerPolicy::Closed).await, two.b.create("gone").await);
    let card = two.b.card(&gone).await;
    two.b.host.pods().delete(fresh_key(), &origin(), &gone, Some("gone")).await.unwrap();
    let _shuttle = Shuttle::start(&two, 0);
    let refused = two.introduce(&ada, &closed).await.unwrap_err();
    assert_eq!(refused.code, ErrorCode::PeerRefused);
    let target = runtime::FarPod { store: two.b.id(), card };
    let refused = two.a.host.peers().introduce_far(fresh_key(), &origin(), &ada, target, None).await.unwrap_err();
    assert_eq!(refused.code, ErrorCode::PodNotFound);
    assert_eq!(two.a.peers(&ada).await, []);
    assert_eq!(two.b.peers(&closed).await, []);
    assert_eq!(steps(&two.b.records(&closed).await), Vec::<String>::new());
    assert_eq!(
        steps(&two.a.records(&ada).await),
        ["peer_requested", "peer_declined", "peer_requested", "peer_declined"]
    );
    // The closed one may itself send requests.
    assert_eq!(introduce(&two.b, &two.a, &closed, &ada, fresh_key()).await.unwrap().answer.state, PeerLink::Linked);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_pod_that_asks_is_pending_on_both_sides_until_somebody_answers() {
    let two = Two::new().await;
    let (ada, bob) = (two.a.create("ada").await, two.b.create_with("bob", PeerPolicy::Ask).await);
    let _shuttle = Shuttle::start(&two, 0);
    for decision in [RequestDecision::Decline, RequestDecision::Accept] {
        let key = fresh_key();
        let pending = introduce(&two.a, &two.b, &ada, &bob, key.clone()).await.unwrap().answer;
        assert_eq!(pending.state, PeerLink::Pending);
        let id = pending.request_id.unwrap();
        let open = two.b.host.peers().open_requests().await.unwrap();
        assert_eq!((open.len(), &open[0].request_id, open[0].from_name.as_str()), (1, &id, "ada"));
        let here = two.a.peers(&ada).await.remove(0);
        assert_eq!((here.link, here.is_asked, here.request_id.as_ref()), (PeerLink::Pending, false, Some(&id)));
        assert!(two.b.peers(&bob).await.remove(0).is_asked);
        let own = two.a.host.peers().decide_request(fresh_key(), &origin(), &ada, &id, decision).await.unwrap_err();
        assert_eq!(own.code, ErrorCode::PermissionDenied);
        let came_to = if decision == RequestDecision::Accept { PeerLink::Linked } else { PeerLink::Declined };
        let answer = two.b.host.peers().decide_request(fresh_key(), &origin(), &bob, &id, decision).await.unwrap();
        assert_eq!(answer.state, came_to);
        let again = two.b.host.peers().decide_request(fresh_key(), &origin(), &bob, &id, decision).await.unwrap_err();
        assert_eq!(again.code, ErrorCode::AlreadyAnswered);
        let is_linked = decision == RequestDecision::Accept;
        two.a
            .until_peers(&ada, |peers| peers.first().map(|peer| peer.link) == is_linked.then_some(PeerLink::Linked))
            .await;
        assert_eq!(two.is_linked(&ada, &bob).await, is_linked);
        // The caller that repeats the request under the same key is told what became of it.
        assert_eq!(introduce(&two.a, &two.b, &ada, &bob, key).await.unwrap().answer.state, came_to);
    }
    let story = ["peer_requested", "peer_declined", "peer_requested", "peer_linked"];
    assert_eq!(steps(&two.a.records(&ada).await), story);
    assert_eq!(steps(&two.b.records(&bob).await), story);
}

#[tokio::test]
async fn one_that_nobody_answers_in_time_has_expired_on_both_sides_and_says_so() {
    let two = Two::new().await;
    two.name_each_other(false);
    let (ada, bob) = (two.a.create("ada").await, two.b.create_with("bob", PeerPolicy::Ask).await);
    let key = fresh_key();
    assert_eq!(introduce(&two.a, &two.b, &ada, &bob, key.clone()).await.unwrap().answer.state, PeerLink::Pending);
    two.settle().await;
    two.a.end_the_time_of_introductions(&ada).await;
    // The host checks for expired ones once a minute.
    tokio::time::pause();
    tokio::time::advance(Duration::from_secs(61)).await;
    tokio::time::resume();
    let is_over = |records: &[protocol::Record]| steps(records).last().is_some_and(|step| step == "peer_declined");
    two.a.until(&ada, is_over).await;
    two.settle().await;
    for (side, pod) in [(&two.a, &ada), (&two.b, &bob)] {
        let records = side.until(pod, is_over).await;
        assert!(serde_json::to_string(&records).unwrap().contains("expired"), "{records:?}");
        assert_eq!(side.peers(pod).await, []);
    }
    assert_eq!(introduce(&two.a, &two.b, &ada, &bob, key).await.unwrap().answer.state, PeerLink::Expired);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_crossing_requests_end_in_one_link_whichever_came_first() {
    for is_turned in [false, true] {
        let two = Two::new().await;
        two.name_each_other(false);
        // Also if both policies are `ask`: crossing requests accept each other.
        let (ada, bob) =
            (two.a.create_with("ada", PeerPolicy::Ask).await, two.b.create_with("bob", PeerPolicy::Ask).await);
        let there = introduce(&two.b, &two.a, &bob, &ada, fresh_key());
        let here = two.introduce(&ada, &bob);
        let _ = if is_turned {
            (there.await.unwrap(), here.await.unwrap())
        } else {
            let here = here.await.unwrap();
            (there.await.unwrap(), here)
        };
        two.settle().await;
        assert!(two.is_linked(&ada, &bob).await);
        for (side, pod) in [(&two.a, &ada), (&two.b, &bob)] {
            assert_eq!(steps(&side.records(pod).await), ["peer_requested", "peer_linked"]);
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_withdrawn_at_any_moment_leaves_both_sides_alike() {
    // The number of exchanges between the proposals and the withdrawals, and who does what.
    for trips in 0..3 {
        for (b_proposes, a_withdraws, b_withdraws) in
            [(false, true, false), (true, true, false), (true, false, true), (true, true, true)]
        {
            for policy in [PeerPolicy::Open, PeerPolicy::Ask, PeerPolicy::Closed] {
                let two = Two::new().await;
                two.name_each_other(false);
                let (ada, bob) = (two.a.create_with("ada", policy).await, two.b.create_with("bob", policy).await);
                two.introduce(&ada, &bob).await.unwrap();
                if b_proposes {
                    introduce(&two.b, &two.a, &bob, &ada, fresh_key()).await.unwrap();
                }
                let (id_a, id_b) = (two.a.id(), two.b.id());
                if trips > 0 {
                    let items = two.a.host.stores().outgoing(&id_b, 0, std::time::Duration::ZERO).await.unwrap();
                    two.b.host.stores().take_in(&id_a, items).await.unwrap();
                }
                if trips > 1 {
                    let items = two.b.host.stores().outgoing(&id_a, 0, std::time::Duration::ZERO).await.unwrap();
                    two.a.host.stores().take_in(&id_b, items).await.unwrap();
                }
                if a_withdraws {
                    two.a.host.peers().unlink(fresh_key(), &origin(), &ada, &two.of_b(&bob)).await.unwrap();
                }
                if b_withdraws {
                    two.b.host.peers().unlink(fresh_key(), &origin(), &bob, &two.of_a(&ada)).await.unwrap();
                }
                two.settle().await;
                let is_linked = two.is_linked(&ada, &bob).await;
                let what = format!("{trips} {b_proposes} {a_withdraws} {b_withdraws} {policy:?}");
                let count = |peers: Vec<protocol::PeerView>| peers.len();
                let counts = (count(two.a.peers(&ada).await), count(two.b.peers(&bob).await));
                assert_eq!(counts.0, counts.1, "{what}");
                assert!(!(is_linked && a_withdraws && b_withdraws), "{what}");
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_link_ends_from_either_side_and_with_either_pod_and_follows_a_new_name() {
    let two = Two::new().await;
    let (ada, bob, _shuttle) = two.linked().await;
    let patch = PatchPod { name: Some(PodName::parse("robert").unwrap()), ..PatchPod::default() };
    two.b.host.pods().patch(fresh_key(), &origin(), &bob, patch).await.unwrap();
    two.a.until_peers(&ada, |peers| peers[0].name.as_str() == "robert").await;
    two.b.host.pods().control(fresh_key(), &origin(), &bob, ControlVerb::Stop).await.unwrap();
    two.a.until_peers(&ada, |peers| peers[0].state == PodState::Stopped).await;
    two.b.host.peers().unlink(fresh_key(), &origin(), &bob, &two.of_a(&ada)).await.unwrap();
    two.a.until_peers(&ada, <[_]>::is_empty).await;
    assert!(!two.is_linked(&ada, &bob).await);
    assert_eq!(two.introduce(&ada, &bob).await.unwrap().answer.state, PeerLink::Linked);
    two.a.host.pods().delete(fresh_key(), &origin(), &ada, Some("ada")).await.unwrap();
    two.b.until_peers(&bob, <[_]>::is_empty).await;
    assert_eq!(steps(&two.b.records(&bob).await).last().unwrap(), "peer_unlinked");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_peer_whose_runtime_was_taken_away_is_one_sided_and_can_be_ended_here() {
    let two = Two::new().await;
    let (ada, bob, shuttle) = two.linked().await;
    shuttle.stop().await;
    two.a.host.stores().names().send_replace(FarNames::new());
    let view = two.a.peers(&ada).await.remove(0);
    assert_eq!((view.link, view.state), (PeerLink::OneSided, PodState::Unreachable));
    assert!(view.pod.runtime_id.as_str().starts_with("store-"));
    assert_eq!(two.a.host.pods().visible(&ada).await.unwrap().len(), 1);
    let sent = two.a.call(&ada, "SendToPeerPod", json!({ "name": "bob", "message": "say x" })).await;
    assert_eq!(sent.code.as_deref(), Some("not_visible"));
    let sent = two.a.host.peers().send_far(fresh_key(), &origin(), &ada, &view.pod, "say x").await.unwrap_err();
    assert_eq!(sent.code, ErrorCode::RuntimeUnavailable);
    two.a.host.peers().unlink(fresh_key(), &origin(), &ada, &view.pod).await.unwrap();
    assert_eq!(two.a.peers(&ada).await, []);
    // When it is added again, the other side is told.
    two.name_each_other(true);
    two.settle().await;
    assert!(!two.is_linked(&ada, &bob).await);
}

/// The final state of the two after everything was carried: both linked, both pending, or no relation.
async fn alike(two: &Two, ada: &protocol::WorkerId, bob: &protocol::WorkerId, what: &str) -> Option<PeerLink> {
    two.settle().await;
    let (here, there) = (two.a.peers(ada).await, two.b.peers(bob).await);
    let of = |peers: &[protocol::PeerView]| {
        peers.iter().map(|peer| (peer.link, peer.request_id.clone())).collect::<Vec<_>>()
    };
    assert_eq!(of(&here), of(&there), "{what}");
    two.is_linked(ada, bob).await;
    here.first().map(|peer| peer.link)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_pod_that_asks_is_asked_here_even_if_the_far_one_is_named_first() {
    for (decision, come_to) in [(RequestDecision::Accept, Some(PeerLink::Linked)), (RequestDecision::Decline, None)] {
        let two = Two::new().await;
        let (ada, bob) = (two.a.create_with("ada", PeerPolicy::Ask).await, two.b.create("bob").await);
        let key = fresh_key();
        let answer = invite(&two.a, &two.b, &ada, &bob, key.clone()).await.unwrap().answer;
        let id = answer.request_id.clone().unwrap();
        assert_eq!(answer.state, PeerLink::Pending);
        assert_eq!(invite(&two.a, &two.b, &ada, &bob, key).await.unwrap().answer, answer, "a repeat");
        assert_eq!(
            invite(&two.a, &two.b, &ada, &bob, fresh_key()).await.unwrap().answer.request_id.as_ref(),
            Some(&id)
        );
        // It is asked at once, whether the other server answers or not, and both sides show it once that server
        // answers.
        let open = two.a.host.peers().open_requests().await.unwrap();
        assert_eq!((open.len(), open[0].from_name.as_str(), open[0].to_name.as_str()), (1, "bob", "ada"));
        two.settle().await;
        let there = two.b.peers(&bob).await.remove(0);
        assert_eq!((there.link, there.is_asked, there.request_id.as_ref()), (PeerLink::Pending, false, Some(&id)));
        two.a.host.peers().decide_request(fresh_key(), &origin(), &ada, &id, decision).await.unwrap();
        assert_eq!(alike(&two, &ada, &bob, "decided").await, come_to);
        let last = if come_to.is_some() { "peer_linked" } else { "peer_declined" };
        for (side, pod) in [(&two.a, &ada), (&two.b, &bob)] {
            assert_eq!(steps(&side.records(pod).await), ["peer_requested", last]);
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_makes_no_link_with_a_pod_that_is_not_open_by_asking_its_own_people() {
    for policy in [PeerPolicy::Ask, PeerPolicy::Closed] {
        let two = Two::new().await;
        let (ada, bob) = (two.a.create_with("ada", PeerPolicy::Ask).await, two.b.create_with("bob", policy).await);
        let id = invite(&two.a, &two.b, &ada, &bob, fresh_key()).await.unwrap().answer.request_id.unwrap();
        two.a.host.peers().decide_request(fresh_key(), &origin(), &ada, &id, RequestDecision::Accept).await.unwrap();
        assert_eq!(alike(&two, &ada, &bob, "refused").await, None);
        assert_eq!(steps(&two.a.records(&ada).await), ["peer_requested", "peer_linked", "peer_unlinked"]);
        assert_eq!(steps(&two.b.records(&bob).await), Vec::<String>::new());
        // It is withdrawn with the reason before anybody has answered.
        invite(&two.a, &two.b, &ada, &bob, fresh_key()).await.unwrap();
        assert_eq!(alike(&two, &ada, &bob, "refused at once").await, None);
        assert!(two.a.host.peers().open_requests().await.unwrap().is_empty());
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn where_both_sides_ask_their_own_at_once_neither_waits_for_the_other() {
    for ends_before in [false, true] {
        let two = Two::new().await;
        two.name_each_other(false);
        let (ada, bob) = (two.a.create("ada").await, two.b.create("bob").await);
        invite(&two.a, &two.b, &ada, &bob, fresh_key()).await.unwrap();
        invite(&two.b, &two.a, &bob, &ada, fresh_key()).await.unwrap();
        if ends_before {
            two.a.host.peers().unlink(fresh_key(), &origin(), &ada, &two.of_b(&bob)).await.unwrap();
        }
        let come_to = alike(&two, &ada, &bob, "crossed").await;
        assert_eq!(come_to, ends_before.then_some(PeerLink::Pending));
        two.a.host.peers().unlink(fresh_key(), &origin(), &ada, &two.of_b(&bob)).await.unwrap();
        assert_eq!(alike(&two, &ada, &bob, "ended").await, None);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn where_one_side_links_by_itself_while_the_other_asks_its_own_both_wait_for_the_answer() {
    for decision in [None, Some(RequestDecision::Accept), Some(RequestDecision::Decline)] {
        let two = Two::new().await;
        two.name_each_other(false);
        let (ada, bob) = (two.a.create("ada").await, two.b.create("bob").await);
        invite(&two.a, &two.b, &ada, &bob, fresh_key()).await.unwrap();
        // Her own acceptance links this half; the other side has not heard of it, and asks.
        let answer = introduce(&two.a, &two.b, &ada, &bob, fresh_key()).await.unwrap().answer;
        assert_eq!(answer.state, PeerLink::Linked);
        let id = invite(&two.b, &two.a, &bob, &ada, fresh_key()).await.unwrap().answer.request_id.unwrap();
        assert_eq!(alike(&two, &ada, &bob, "crossed").await, Some(PeerLink::Pending));
        let steps = steps(&two.a.records(&ada).await);
        assert_eq!(steps, ["peer_requested", "peer_linked", "peer_unlinked", "peer_requested"]);
        let Some(decision) = decision else { continue };
        two.b.host.peers().decide_request(fresh_key(), &origin(), &bob, &id, decision).await.unwrap();
        let come_to = (decision == RequestDecision::Accept).then_some(PeerLink::Linked);
        assert_eq!(alike(&two, &ada, &bob, "decided").await, come_to);
    }
}

/// What is done to a request that the Pod here has to answer.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Hand {
    Nothing,
    Accepts,
    Ends,
    Closes,
    Opens,
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whatever_crosses_a_request_that_is_asked_here_both_sides_end_alike() {
    // Whether the remote one sends a request itself meanwhile and withdraws it, how far things were carried, and who
    // does what.
    for (b_proposes, b_ends) in [(false, false), (false, true), (true, false), (true, true)] {
        for trips in 0..3 {
            for hand in [Hand::Nothing, Hand::Accepts, Hand::Ends, Hand::Closes, Hand::Opens] {
                let two = Two::new().await;
                two.name_each_other(false);
                let (ada, bob) = (two.a.create_with("ada", PeerPolicy::Ask).await, two.b.create("bob").await);
                if b_proposes {
                    introduce(&two.b, &two.a, &bob, &ada, fresh_key()).await.unwrap();
                }
                let id = invite(&two.a, &two.b, &ada, &bob, fresh_key()).await.unwrap().answer.request_id.unwrap();
                let (id_a, id_b) = (two.a.id(), two.b.id());
                if b_ends && trips == 0 {
                    two.b.host.peers().unlink(fresh_key(), &origin(), &bob, &two.of_a(&ada)).await.unwrap();
                }
                if trips > 0 {
                    let items = two.a.host.stores().outgoing(&id_b, 0, std::time::Duration::ZERO).await.unwrap();
                    two.b.host.stores().take_in(&id_a, items).await.unwrap();
                }
                let policy = |peer_policy| PatchPod { peer_policy: Some(peer_policy), ..PatchPod::default() };
                match hand {
                    Hand::Nothing => (),
                    Hand::Accepts => {
                        let accept = RequestDecision::Accept;
                        two.a.host.peers().decide_request(fresh_key(), &origin(), &ada, &id, accept).await.unwrap();
                    }
                    Hand::Ends => {
                        two.a.host.peers().unlink(fresh_key(), &origin(), &ada, &two.of_b(&bob)).await.unwrap()
                    }
                    Hand::Closes | Hand::Opens => {
                        let open = if hand == Hand::Opens { PeerPolicy::Open } else { PeerPolicy::Closed };
                        two.a.host.pods().patch(fresh_key(), &origin(), &ada, policy(open)).await.unwrap();
                    }
                }
                if trips > 1 {
                    let items = two.b.host.stores().outgoing(&id_a, 0, std::time::Duration::ZERO).await.unwrap();
                    two.a.host.stores().take_in(&id_b, items).await.unwrap();
                }
                if b_ends && trips > 0 {
                    two.b.host.peers().unlink(fresh_key(), &origin(), &bob, &two.of_a(&ada)).await.unwrap();
                }
                let what = format!("proposes {b_proposes} ends {b_ends} trips {trips} {hand:?}");
                let come_to = alike(&two, &ada, &bob, &what).await;
                if hand == Hand::Accepts && !b_ends {
                    assert_eq!(come_to, Some(PeerLink::Linked), "{what}");
                }
            }
        }
    }
}
