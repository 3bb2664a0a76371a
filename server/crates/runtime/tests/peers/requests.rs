//! Peer requests: made, answered, withdrawn, expired.

use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use pod_store::{Batch, NewRequest, PeerChange};
use protocol::{ControlEvent, ErrorCode, Event, PeerLink, PeerPolicy, RequestDecision, WorkerId};

use crate::{
    ground::{Ground, fresh_key, steps},
    stage::origin,
};

/// The main story; it runs on both databases.
pub async fn requests_story(ground: Ground) {
    let ada = ground.create("ada").await;
    let eve = ground.create_with("eve", PeerPolicy::Ask, true).await;
    let before = (ground.history(&ada).await, ground.history(&eve).await);
    let asked = ground.introduce(&ada, &eve).await.unwrap().answer;
    assert_eq!(asked.state, PeerLink::Pending);
    let id = asked.request_id.unwrap();
    assert_eq!(ground.introduce(&ada, &eve).await.unwrap().answer.request_id.as_ref(), Some(&id));
    let ground = ground.restarted().await;
    for (pod, is_asked) in [(&ada, false), (&eve, true)] {
        let view = ground.peers(pod).await.remove(0);
        assert_eq!((view.link, view.is_asked, view.request_id.as_ref()), (PeerLink::Pending, is_asked, Some(&id)));
    }
    let decide = async |pod: &WorkerId, decision| {
        ground.host().peers().decide_request(fresh_key(), &origin(), pod, &id, decision).await
    };
    assert_eq!(decide(&ada, RequestDecision::Accept).await.unwrap_err().code, ErrorCode::PermissionDenied);
    assert_eq!(decide(&eve, RequestDecision::Decline).await.unwrap().state, PeerLink::Declined);
    assert_eq!(decide(&eve, RequestDecision::Accept).await.unwrap_err().code, ErrorCode::AlreadyAnswered);
    ground.introduce(&ada, &eve).await.unwrap();
    ground.unlink(&ada, &eve).await.unwrap();
    let id = ground.introduce(&ada, &eve).await.unwrap().answer.request_id.unwrap();
    ground.host().peers().decide_request(fresh_key(), &origin(), &eve, &id, RequestDecision::Accept).await.unwrap();
    assert_eq!(
        ground.relation(&ada, &eve).await,
        ["peer_requested", "peer_declined", "peer_requested", "peer_declined", "peer_requested", "peer_linked"]
    );
    assert_eq!((ground.history(&ada).await, ground.history(&eve).await), before);
}

#[tokio::test]
async fn a_request_is_asked_declined_withdrawn_and_accepted() {
    requests_story(Ground::new().await).await;
}

#[tokio::test]
async fn a_request_is_withdrawn_by_the_side_that_asked_and_declined_by_the_other_one() {
    let ground = Ground::new().await;
    let ada = ground.create("ada").await;
    for (name, is_asker, note) in [("eve", true, Some("withdrawn")), ("bob", false, None)] {
        let other = ground.create_with(name, PeerPolicy::Ask, true).await;
        ground.introduce(&ada, &other).await.unwrap();
        let (from, to) = if is_asker { (&ada, &other) } else { (&other, &ada) };
        ground.unlink(from, to).await.unwrap();
        let records = ground.records(&other).await;
        let notes = records.iter().filter_map(|record| match &record.event {
            Event::Control(ControlEvent::PeerDeclined { note, .. }) => Some(note.as_deref()),
            _ => None,
        });
        assert_eq!(notes.collect::<Vec<_>>(), [note], "{name}");
    }
}

/// Makes a request expire, as after a day.
async fn one_that_is_over(ground: &Ground, from: &WorkerId, to: &WorkerId) {
    let at = Timestamp::now() - SignedDuration::from_hours(25);
    let request = NewRequest {
        id: "request-old".to_owned(),
        from: ground.row_key(from).await,
        to: ground.row_key(to).await,
        note: None,
        by: "operator".to_owned(),
        at,
        expires_at: at + SignedDuration::from_hours(24),
    };
    ground.put(Batch { peers: vec![PeerChange::Request(request)], ..Batch::default() }).await;
}

#[tokio::test]
async fn a_request_that_is_over_is_ended_and_both_sides_are_told() {
    let ground = Ground::new().await;
    let (ada, bob) = (ground.create("ada").await, ground.create("bob").await);
    one_that_is_over(&ground, &ada, &bob).await;
    assert!(ground.peers(&bob).await.is_empty() && ground.host().peers().open_requests().await.unwrap().is_empty());
    let id = "request-old";
    let late = ground.host().peers().decide_request(fresh_key(), &origin(), &bob, id, RequestDecision::Accept).await;
    assert!(late.is_err());
    // The host checks for expired ones once a minute.
    tokio::time::pause();
    tokio::time::advance(Duration::from_secs(61)).await;
    tokio::time::resume();
    for (pod, peer) in [(&ada, &bob), (&bob, &ada)] {
        let records = ground.until(pod, |records| !steps(records, peer).is_empty()).await;
        assert_eq!(steps(&records, peer), ["peer_declined"]);
        assert!(serde_json::to_string(&records).unwrap().contains("expired"));
    }
    assert_eq!(ground.store.peers().request(id).await.unwrap(), None);
}

#[tokio::test]
async fn a_request_that_is_over_stands_in_nobodys_way() {
    let ground = Ground::new().await;
    for (policy, wanted) in [(PeerPolicy::Ask, PeerLink::Pending), (PeerPolicy::Open, PeerLink::Linked)] {
        let one = ground.create(&format!("one-{policy:?}").to_lowercase()).await;
        let other = ground.create_with(&format!("other-{policy:?}").to_lowercase(), policy, true).await;
        one_that_is_over(&ground, &one, &other).await;
        let answer = ground.introduce(&one, &other).await.unwrap().answer;
        assert_eq!(answer.state, wanted);
        assert_ne!(answer.request_id.as_deref(), Some("request-old"));
        assert_eq!(ground.store.peers().request("request-old").await.unwrap(), None);
    }
}
