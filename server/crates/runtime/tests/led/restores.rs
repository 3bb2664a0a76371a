//! RestorePod, a person's restore, and a whole tree (D5 to D9, G10).

use protocol::{ControlEvent, ControlVerb, ErrorCode, Event, PodState, Record, ScopeRule};
use serde_json::json;

use crate::{
    ground::{Ground, fresh_key, is_at_rest, news, read, write},
    stage::origin,
};

/// Loans that were lent again, according to a journal.
fn lent_again(records: &[Record]) -> Vec<(String, Vec<ScopeRule>)> {
    let changed = records.iter().filter_map(|record| match &record.event {
        Event::Control(ControlEvent::ScopeChanged { child, scope }) => Some((child.name.to_string(), scope.clone())),
        _ => None,
    });
    changed.collect()
}

#[tokio::test]
async fn a_stopped_child_comes_back_with_its_loan() {
    restore_story(Ground::new().await).await;
}

pub async fn restore_story(ground: Ground) {
    let ada = ground.lead("ada").await;
    let a = ground.path("a");
    let bob = ground.done_child(&ada, "bob", &[write(&a)]).await;
    let cid = ground.busy_child(&ada, "cid", &[read(&ground.path("b"))]).await;
    for name in ["bob", "cid"] {
        ground.done(&ada, "StopPod", json!({ "name": name })).await;
    }
    let answer = ground.done(&ada, "RestorePod", json!({ "name": "bob" })).await;
    assert_eq!(answer.summary, "bob is back, and idle");
    assert_eq!(lent_again(&ground.stage.records(&ada).await), [("bob".to_owned(), vec![write(&a)])]);
    assert!(ground.may(&ada, &a).await.1.contains("is lent"));
    assert_eq!(ground.may(&bob, &a).await.1, "yes");
    // One that was working can continue where it was.
    let answer = ground.done(&ada, "RestorePod", json!({ "name": "cid" })).await;
    assert_eq!(answer.summary, "cid is back, and paused");
    assert_eq!(ground.state(&cid).await, PodState::Paused);

    let before = (ground.stage.records(&ada).await, ground.stage.records(&bob).await);
    let answer = ground.done(&ada, "RestorePod", json!({ "name": "bob" })).await;
    assert_eq!(answer.summary, "bob is live already (idle); nothing was started");
    let answer = ground.done(&ada, "RestorePod", json!({ "name": "ada" })).await;
    assert_eq!(answer.summary, "ada is you, and live; nothing was started");
    assert_eq!(lent_again(&ground.stage.records(&ada).await), lent_again(&before.0));
    assert_eq!(ground.stage.records(&bob).await, before.1);
    let ground = ground.restarted().await;
    assert!(ground.may(&ada, &a).await.1.contains("is lent"));
}

#[tokio::test]
async fn what_was_lent_to_another_one_meanwhile_keeps_the_child_stopped() {
    let ground = Ground::new().await;
    let ada = ground.lead("ada").await;
    let bob = ground.done_child(&ada, "bob", &[write(&ground.path("a"))]).await;
    ground.done(&ada, "StopPod", json!({ "name": "bob" })).await;
    ground.done_child(&ada, "cid", &[read(&ground.path("a/deep"))]).await;
    let (code, sentence) = ground.refused(&ada, "RestorePod", json!({ "name": "bob" })).await;
    assert_eq!(code, "scope_conflict", "{sentence}");
    let refused = ground.control(&bob, ControlVerb::Restore).await.unwrap_err();
    assert_eq!(refused.code, ErrorCode::ScopeConflict);
    assert_eq!(ground.state(&bob).await, PodState::Stopped);
    assert!(lent_again(&ground.stage.records(&ada).await).is_empty());
    assert_eq!(ground.may(&ada, &ground.path("a")).await.1, "yes");
    ground.done(&ada, "StopPod", json!({ "name": "cid" })).await;
    ground.control(&bob, ControlVerb::Restore).await.unwrap();
    assert_eq!(ground.state(&bob).await, PodState::Idle);
}

#[tokio::test]
async fn a_restore_never_gives_more_than_there_was() {
    let ground = Ground::new().await;
    let ada = ground.lead("ada").await;
    let narrow = ScopeRule { recursive: false, ..read(&ground.path("a")) };
    let bob = ground.done_child(&ada, "bob", std::slice::from_ref(&narrow)).await;
    for _ in 0..2 {
        ground.control(&bob, ControlVerb::Stop).await.unwrap();
        ground.control(&bob, ControlVerb::Restore).await.unwrap();
        assert_eq!(ground.host().pods().get(&bob).await.unwrap().scope, std::slice::from_ref(&narrow));
        assert_eq!(ground.seen(&ada, "bob").await.scope, std::slice::from_ref(&narrow));
        assert!(ground.may(&bob, &ground.path("a/deep/file")).await.0.contains("outside"));
    }
}

#[tokio::test]
async fn nobody_gets_back_what_its_own_lender_holds_no_longer() {
    let ground = Ground::new().await;
    let ada = ground.lead("ada").await;
    let (a, deep) = (ground.path("a"), ground.path("a/deep"));
    let bob = ground.done_child(&ada, "bob", &[write(&a)]).await;
    let cid = ground.done_child(&bob, "cid", &[write(&deep)]).await;
    ground.done(&ada, "StopPod", json!({ "name": "bob" })).await;
    let dan = ground.done_child(&ada, "dan", &[write(&a)]).await;
    let refused = ground.control(&cid, ControlVerb::Restore).await.unwrap_err();
    assert_eq!(refused.code, ErrorCode::ScopeNotHeld);
    assert!(refused.detail.contains("restore bob first"), "{}", refused.detail);
    assert_eq!(ground.state(&cid).await, PodState::Stopped);
    ground.control(&dan, ControlVerb::Stop).await.unwrap();
    ground.control(&bob, ControlVerb::Restore).await.unwrap();
    ground.control(&cid, ControlVerb::Restore).await.unwrap();
    assert_eq!(ground.may(&cid, &deep).await.1, "yes");
    assert!(ground.may(&bob, &deep).await.1.contains("is lent"));
}

#[tokio::test]
async fn a_tree_comes_back_with_a_report_of_what_could_not() {
    let ground = Ground::new().await;
    let ada = ground.lead("ada").await;
    let bob = ground.done_child(&ada, "bob", &[write(&ground.path("a"))]).await;
    let cid = ground.done_child(&bob, "cid", &[write(&ground.path("a/deep"))]).await;
    let dan = ground.done_child(&ada, "dan", &[write(&ground.path("b"))]).await;
    for name in ["bob", "dan"] {
        ground.done(&ada, "StopPod", json!({ "name": name })).await;
    }
    let eve = ground.done_child(&ada, "eve", &[write(&ground.path("a"))]).await;
    ground.control(&ada, ControlVerb::Stop).await.unwrap();
    let ground = ground.restarted().await;

    let key = fresh_key();
    let receipt = ground.restore_tree(&ada, key.clone()).await.unwrap();
    let report: Vec<_> =
        receipt.report.iter().map(|line| (line.name.as_str(), line.restored, line.reason.is_none())).collect();
    assert_eq!(report, [("bob", false, false), ("cid", false, false), ("dan", true, true), ("eve", true, true)]);
    let reasons: Vec<_> = receipt.report.iter().filter_map(|line| line.reason.as_deref()).collect();
    assert!(reasons[0].contains("overlaps"), "{reasons:?}");
    assert!(reasons[1].contains("restore bob first"), "{reasons:?}");
    let mut states = Vec::new();
    for pod in [&ada, &bob, &cid, &dan, &eve] {
        states.push(ground.state(pod).await);
    }
    let (idle, stopped) = (PodState::Idle, PodState::Stopped);
    assert_eq!(states, [idle, stopped, stopped, idle, idle]);
    assert_eq!(ground.may(&dan, &ground.path("b")).await.1, "yes");

    // The same command again, here and after a restart: the same receipt, and nothing happens.
    assert_eq!(ground.restore_tree(&ada, key.clone()).await.unwrap(), receipt);
    let before = ground.stage.records(&ada).await;
    let ground = ground.restarted().await;
    assert_eq!(ground.restore_tree(&ada, key).await.unwrap(), receipt);
    assert_eq!(ground.stage.records(&ada).await, before);
    let text = before.iter().find_map(|record| match &record.event {
        Event::Control(ControlEvent::Alert { text, .. }) => Some(text.clone()),
        _ => None,
    });
    assert!(text.unwrap().starts_with("restored with 2 of the 4 Pods that it leads; not restored: bob: "));
}

#[tokio::test]
async fn a_tree_of_live_pods_is_left_as_it_is() {
    let ground = Ground::new().await;
    let ada = ground.lead("ada").await;
    let bob = ground.done_child(&ada, "bob", &[write(&ground.path("a"))]).await;
    let before = ground.stage.records(&bob).await;
    let receipt = ground.restore_tree(&ada, fresh_key()).await.unwrap();
    assert_eq!(receipt.report.iter().map(|line| line.restored).collect::<Vec<_>>(), [true]);
    assert_eq!(ground.stage.records(&bob).await, before);
    assert_eq!(news(&ground.stage.records(&ada).await).len(), 1);
}

#[tokio::test]
async fn two_restores_with_one_key_give_one_receipt() {
    let ground = Ground::new().await;
    let ada = ground.lead("ada").await;
    let bob = ground.done_child(&ada, "bob", &[write(&ground.path("a"))]).await;
    ground.control(&bob, ControlVerb::Stop).await.unwrap();
    let (key, from) = (fresh_key(), origin());
    let restore = || ground.host().pods().control(key.clone(), &from, &bob, ControlVerb::Restore);
    let (one, other) = tokio::join!(restore(), restore());
    assert_eq!(one.unwrap(), other.unwrap());
    assert_eq!(lent_again(&ground.stage.records(&ada).await).len(), 1);
    ground.stage.until(&ada, |records| news(records).len() == 2 && is_at_rest(records)).await;
}
