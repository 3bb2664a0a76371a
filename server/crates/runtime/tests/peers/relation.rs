//! What being peers means for two Pods, and what it does not.

use protocol::{ControlVerb, ErrorCode, PeerPolicy, PodState, Visibility};
use serde_json::json;

use crate::{
    ground::{Ground, count, fresh_key, is_at_rest, steps, triggers},
    stage::origin,
};

/// The main story; it runs on both databases.
pub async fn relation_story(ground: Ground) {
    let (ada, bob) = (ground.create("ada").await, ground.create("bob").await);
    let before = (ground.history(&ada).await, ground.history(&bob).await);
    ground.link(&ada, &bob).await;
    assert!(ground.introduce(&bob, &ada).await.unwrap().stood);
    assert_eq!(ground.relation(&ada, &bob).await, ["peer_linked"]);
    assert_eq!((ground.history(&ada).await, ground.history(&bob).await), before);
    let ground = ground.restarted().await;
    assert_eq!(ground.relation(&ada, &bob).await, ["peer_linked"]);
    assert_eq!(ground.visibility(&ada, "bob").await, [Visibility::Peer]);
    assert_eq!(ground.visibility(&bob, "ada").await, [Visibility::Peer]);
    ground.unlink(&bob, &ada).await.unwrap();
    ground.unlink(&bob, &ada).await.unwrap();
    assert_eq!(ground.relation(&ada, &bob).await, ["peer_linked", "peer_unlinked"]);
    assert!(ground.visibility(&ada, "bob").await.is_empty());
    ground.link(&bob, &ada).await;
    assert_eq!(ground.relation(&ada, &bob).await, ["peer_linked", "peer_unlinked", "peer_linked"]);
    for pod in [&ada, &bob] {
        assert!(triggers(&ground.records(pod).await).is_empty(), "no run starts");
    }
    assert_eq!((ground.history(&ada).await, ground.history(&bob).await), before);
}

#[tokio::test]
async fn a_link_is_the_same_from_both_sides_and_comes_and_goes_without_a_trace() {
    relation_story(Ground::new().await).await;
}

#[tokio::test]
async fn a_pod_that_goes_tells_its_peers_and_is_gone_for_them() {
    let ground = Ground::new().await;
    let (ada, bob) = ground.pair().await;
    let eve = ground.create_with("eve", PeerPolicy::Ask, true).await;
    ground.introduce(&bob, &eve).await.unwrap();
    ground.host().pods().delete(fresh_key(), &origin(), &bob, Some("bob")).await.unwrap();
    assert_eq!(steps(&ground.records(&ada).await, &bob), ["peer_linked", "peer_unlinked"]);
    assert_eq!(steps(&ground.records(&eve).await, &bob), ["peer_requested", "peer_declined"]);
    for pod in [&ada, &eve] {
        assert!(ground.peers(pod).await.is_empty());
    }
    assert!(ground.host().peers().open_requests().await.unwrap().is_empty());
    assert_eq!(ground.send(&ada, &bob, "hi").await.unwrap_err().code, ErrorCode::PodNotFound);
    assert_eq!(ground.refused(&ada, "SendToPeerPod", json!({ "name": "bob", "message": "hi" })).await, "not_visible");
    let ground = ground.restarted().await;
    assert!(ground.peers(&ada).await.is_empty());
}

#[tokio::test]
async fn a_child_that_is_a_peer_is_both_and_each_right_is_lost_alone() {
    let ground = Ground::new().await;
    let ada = ground.create("ada").await;
    let spawned = ground.call(&ada, "SpawnPod", json!({ "name": "kid", "task": "say up", "scope": [] })).await;
    assert!(!spawned.is_error, "{spawned:?}");
    let kid = ground.host().pods().named(&"kid".parse().unwrap()).await.unwrap().unwrap().worker_id;
    ground.until(&ada, |records| count(records, "child_event") == 1 && is_at_rest(records)).await;
    assert_eq!(
        ground.refused(&ada, "SendToPeerPod", json!({ "name": "kid", "message": "x" })).await,
        "permission_denied"
    );
    ground.link(&kid, &ada).await;
    assert_eq!(ground.visibility(&ada, "kid").await, [Visibility::SpawnedChild, Visibility::Peer]);
    assert_eq!(ground.visibility(&kid, "ada").await, [Visibility::Peer]);
    assert!(!ground.write(&ada, "kid", "say as a peer").await.is_error);
    ground.until(&kid, |records| count(records, "run_finished") == 2 && is_at_rest(records)).await;
    let output = ground.call(&ada, "ReadPodOutput", json!({ "name": "kid" })).await;
    assert!(!output.is_error && output.content.unwrap_or(output.summary).contains("as a peer"));
    ground.unlink(&ada, &kid).await.unwrap();
    assert_eq!(ground.visibility(&ada, "kid").await, [Visibility::SpawnedChild]);
    ground.link(&ada, &kid).await;
    let stopped = ground.call(&ada, "StopPod", json!({ "name": "kid" })).await;
    assert!(!stopped.is_error, "{stopped:?}");
    assert_eq!(ground.visibility(&ada, "kid").await, [Visibility::SpawnedChild, Visibility::Peer]);
}

#[tokio::test]
async fn a_peer_is_given_no_output_no_lifecycle_and_no_news() {
    let ground = Ground::new().await;
    let (ada, bob) = ground.pair().await;
    for (tool, arguments) in [
        ("SendToPod", json!({ "name": "bob", "message": "say x" })),
        ("ReadPodOutput", json!({ "name": "bob" })),
        ("StopPod", json!({ "name": "bob" })),
    ] {
        assert_eq!(ground.refused(&ada, tool, arguments).await, "permission_denied", "{tool}");
    }
    ground.tell(&bob, "say on my own").await;
    ground.stage.until_idle(&bob).await;
    ground.control(&bob, ControlVerb::Stop).await;
    // A message of its own comes last, so that any news would be before it.
    ground.tell(&ada, "say mine").await;
    let records = ground.stage.until_idle(&ada).await;
    assert_eq!(count(&records, "child_event"), 0);
    assert!(!ground.history(&ada).await.contains("bob"));
    let restored = ground.call(&ada, "RestorePod", json!({ "name": "bob" })).await;
    assert!(!restored.is_error, "{restored:?}");
    assert_eq!(ground.stage.state(&bob).await, PodState::Idle);
}
