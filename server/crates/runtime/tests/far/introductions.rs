//! Introductions: proposed, answered by policy, crossed, withdrawn, ended.

use protocol::{ControlVerb, ErrorCode, PatchPod, PeerLink, PeerPolicy, PodName, PodState, RequestDecision};
use runtime::FarNames;
use serde_json::json;

use crate::{
    ground::{Shuttle, Two, fresh_key, introduce, steps},
    stage::origin,
};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_pods_of_two_stores_know_each_other_at_once_and_nothing_else_happens() {
    let two = Two::new().await;
    let (ada, bob) = (two.a.create("ada").await, two.b.create("bob").await);
    let before = serde_json::to_string(&two.b.host.history(&bob).await.unwrap()).unwrap();
    let _shuttle = Shuttle::start(&two, 0);
    let done = two.introduce(&ada, &bob).await.unwrap();
    assert_eq!((done.answer.state, done.stood, done.answer.request_id), (PeerLink::Linked, false, None));
    assert_eq!(done.answer.peer, two.of_b(&bob));
    assert!(two.is_linked(&ada, &bob).await);
    assert_eq!(steps(&two.a.records(&ada).await), ["peer_requested", "peer_linked"]);
    assert_eq!(steps(&two.b.records(&bob).await), ["peer_linked"]);
    assert_eq!(serde_json::to_string(&two.b.host.history(&bob).await.unwrap()).unwrap(), before);
    for (side, pod, peer, name) in [(&two.a, &ada, two.of_b(&bob), "bob"), (&two.b, &bob, two.of_a(&ada), "ada")] {
        let view = side.peers(pod).await.remove(0);
        assert_eq!((view.pod.clone(), view.name.as_str(), view.state), (peer.clone(), name, PodState::Idle));
        let seen = side.host.visible(pod).await.unwrap();
        assert_eq!((seen.len(), seen[1].pod.clone(), seen[1].scope.len()), (2, peer, 0));
        assert_eq!(side.host.pod(pod).await.unwrap().summary.relations.peers, 1);
    }
    // Asked again, from either side: they know each other.
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
    two.b.host.delete(fresh_key(), &origin(), &gone, Some("gone")).await.unwrap();
    let _shuttle = Shuttle::start(&two, 0);
    let refused = two.introduce(&ada, &closed).await.unwrap_err();
    assert_eq!(refused.code, ErrorCode::PeerRefused);
    let target = runtime::FarPod { store: two.b.id(), card };
    let refused = two.a.host.introduce_far(fresh_key(), &origin(), &ada, target, None).await.unwrap_err();
    assert_eq!(refused.code, ErrorCode::PodNotFound);
    assert_eq!(two.a.peers(&ada).await, []);
    assert_eq!(two.b.peers(&closed).await, []);
    assert_eq!(steps(&two.b.records(&closed).await), Vec::<String>::new());
    assert_eq!(
        steps(&two.a.records(&ada).await),
        ["peer_requested", "peer_declined", "peer_requested", "peer_declined"]
    );
    // The closed one may introduce itself.
    assert_eq!(introduce(&two.b, &two.a, &closed, &ada, fresh_key()).await.unwrap().answer.state, PeerLink::Linked);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_pod_that_asks_is_pending_on_both_sides_until_somebody_answers() {
    let two = Two::new().await;
    let (ada, bob) = (two.a.create("ada").await, two.b.create_with("bob", PeerPolicy::Ask).await);
    let _shuttle = Shuttle::start(&two, 0);
    for decision in [RequestDecision::Decline, RequestDecision::Accept] {
        let pending = two.introduce(&ada, &bob).await.unwrap().answer;
        assert_eq!(pending.state, PeerLink::Pending);
        let id = pending.request_id.unwrap();
        let open = two.b.host.open_requests().await.unwrap();
        assert_eq!((open.len(), &open[0].request_id, open[0].from_name.as_str()), (1, &id, "ada"));
        let here = two.a.peers(&ada).await.remove(0);
        assert_eq!((here.link, here.is_asked, here.request_id.as_ref()), (PeerLink::Pending, false, Some(&id)));
        assert!(two.b.peers(&bob).await.remove(0).is_asked);
        let own = two.a.host.decide_request(fresh_key(), &origin(), &ada, &id, decision).await.unwrap_err();
        assert_eq!(own.code, ErrorCode::PermissionDenied);
        two.b.host.decide_request(fresh_key(), &origin(), &bob, &id, decision).await.unwrap();
        let again = two.b.host.decide_request(fresh_key(), &origin(), &bob, &id, decision).await.unwrap_err();
        assert_eq!(again.code, ErrorCode::AlreadyAnswered);
        let is_linked = decision == RequestDecision::Accept;
        two.a
            .until_peers(&ada, |peers| peers.first().map(|peer| peer.link) == is_linked.then_some(PeerLink::Linked))
            .await;
        assert_eq!(two.is_linked(&ada, &bob).await, is_linked);
    }
    let story = ["peer_requested", "peer_declined", "peer_requested", "peer_linked"];
    assert_eq!(steps(&two.a.records(&ada).await), story);
    assert_eq!(steps(&two.b.records(&bob).await), story);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_proposals_that_cross_come_to_one_link_whoever_proposed_first() {
    for is_turned in [false, true] {
        let two = Two::new().await;
        two.name_each_other(false);
        // Even of two that ask: that both want it is the answer.
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
    // How many exchanges happen between the proposals and the withdrawals, and who does what.
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
                    let items = two.a.host.outgoing(&id_b, 0, std::time::Duration::ZERO).await.unwrap();
                    two.b.host.take_in(&id_a, items).await.unwrap();
                }
                if trips > 1 {
                    let items = two.b.host.outgoing(&id_a, 0, std::time::Duration::ZERO).await.unwrap();
                    two.a.host.take_in(&id_b, items).await.unwrap();
                }
                if a_withdraws {
                    two.a.host.unlink(fresh_key(), &origin(), &ada, &two.of_b(&bob)).await.unwrap();
                }
                if b_withdraws {
                    two.b.host.unlink(fresh_key(), &origin(), &bob, &two.of_a(&ada)).await.unwrap();
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
    two.b.host.patch(fresh_key(), &origin(), &bob, patch).await.unwrap();
    two.a.until_peers(&ada, |peers| peers[0].name.as_str() == "robert").await;
    two.b.host.control(fresh_key(), &origin(), &bob, ControlVerb::Stop).await.unwrap();
    two.a.until_peers(&ada, |peers| peers[0].state == PodState::Stopped).await;
    two.b.host.unlink(fresh_key(), &origin(), &bob, &two.of_a(&ada)).await.unwrap();
    two.a.until_peers(&ada, <[_]>::is_empty).await;
    assert!(!two.is_linked(&ada, &bob).await);
    assert_eq!(two.introduce(&ada, &bob).await.unwrap().answer.state, PeerLink::Linked);
    two.a.host.delete(fresh_key(), &origin(), &ada, Some("ada")).await.unwrap();
    two.b.until_peers(&bob, <[_]>::is_empty).await;
    assert_eq!(steps(&two.b.records(&bob).await).last().unwrap(), "peer_unlinked");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_peer_whose_runtime_was_taken_away_is_one_sided_and_can_be_ended_here() {
    let two = Two::new().await;
    let (ada, bob, shuttle) = two.linked().await;
    shuttle.stop().await;
    two.a.host.far_names().send_replace(FarNames::new());
    let view = two.a.peers(&ada).await.remove(0);
    assert_eq!((view.link, view.state), (PeerLink::OneSided, PodState::Unreachable));
    assert!(view.pod.runtime_id.as_str().starts_with("store-"));
    assert_eq!(two.a.host.visible(&ada).await.unwrap().len(), 1);
    let sent = two.a.call(&ada, "SendToPeerPod", json!({ "name": "bob", "message": "say x" })).await;
    assert_eq!(sent.code.as_deref(), Some("not_visible"));
    let sent = two.a.host.send_message_far(fresh_key(), &origin(), &ada, &view.pod, "say x").await.unwrap_err();
    assert_eq!(sent.code, ErrorCode::RuntimeUnavailable);
    two.a.host.unlink(fresh_key(), &origin(), &ada, &view.pod).await.unwrap();
    assert_eq!(two.a.peers(&ada).await, []);
    // When it is added again, the other side hears of it.
    two.name_each_other(true);
    two.settle().await;
    assert!(!two.is_linked(&ada, &bob).await);
}
