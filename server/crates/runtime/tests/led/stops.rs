//! StopPod and a person's stop: the child ends, and what it was lent is returned at once (C12).

use protocol::{ControlEvent, ControlVerb, Event, PodState, Record, ScopeRule, WorkerId};
use serde_json::json;

use crate::{
    ground::{Ground, count, fresh_key, is_at_rest, news, write},
    stage::{CALL_ASKED, origin},
};

/// Children that were stopped, according to a journal, with what was returned.
fn stopped(records: &[Record]) -> Vec<(String, Vec<ScopeRule>)> {
    let stopped = records.iter().filter_map(|record| match &record.event {
        Event::Control(ControlEvent::ChildStopped { child, scope }) => Some((child.name.to_string(), scope.clone())),
        _ => None,
    });
    stopped.collect()
}

#[tokio::test]
async fn a_child_is_stopped_and_its_loan_is_back_at_once() {
    stop_story(Ground::new().await).await;
}

pub async fn stop_story(ground: Ground) {
    let ada = ground.lead("ada").await;
    let a = ground.path("a");
    let bob = ground.busy_child(&ada, "bob", &[write(&a)]).await;
    let answer = ground.done(&ada, "StopPod", json!({ "name": "bob" })).await;
    assert_eq!(answer.summary, "bob is stopped");
    assert_eq!(answer.content.unwrap(), format!("taken back from bob: write {a}"));
    assert_eq!(ground.state(&bob).await, PodState::Stopped);
    assert_eq!(ground.may(&ada, &a).await.1, "yes");
    let seen = ground.seen(&ada, "bob").await;
    assert_eq!((seen.scope, seen.restorable, seen.state), (Vec::new(), true, PodState::Stopped));
    // Once more: nothing happens, and nothing is reported as returned.
    let before = (ground.stage.records(&bob).await, stopped(&ground.stage.records(&ada).await));
    let again = ground.done(&ada, "StopPod", json!({ "name": "bob" })).await;
    assert_eq!(again.content.unwrap(), "taken back from bob: (none)");
    assert_eq!((ground.stage.records(&bob).await, stopped(&ground.stage.records(&ada).await)), before);
    assert_eq!(before.1, [("bob".to_owned(), vec![write(&a)])]);
    // Lent to another one at once, and the parent was not told what it had done itself.
    ground.done_child(&ada, "cid", &[write(&a)]).await;
    let told = news(&ground.stage.records(&ada).await);
    assert_eq!(told, [("turn_ended".to_owned(), "cid".to_owned())]);
    // It survives a restart.
    let ground = ground.restarted().await;
    assert_eq!(ground.state(&bob).await, PodState::Stopped);
    assert_eq!(ground.seen(&ada, "bob").await.scope, Vec::new());
}

#[tokio::test]
async fn grandchildren_are_stopped_first_and_each_loan_goes_back_to_its_lender() {
    let ground = Ground::new().await;
    let ada = ground.lead("ada").await;
    let (a, deep) = (ground.path("a"), ground.path("a/deep"));
    let bob = ground.done_child(&ada, "bob", &[write(&a)]).await;
    let cid = ground.busy_child(&bob, "cid", &[write(&deep)]).await;
    ground.done(&ada, "StopPod", json!({ "name": "bob" })).await;
    assert_eq!((ground.state(&bob).await, ground.state(&cid).await), (PodState::Stopped, PodState::Stopped));
    assert_eq!(stopped(&ground.stage.records(&bob).await), [("cid".to_owned(), vec![write(&deep)])]);
    assert_eq!(stopped(&ground.stage.records(&ada).await), [("bob".to_owned(), vec![write(&a)])]);
    let at =
        |records: &[Record], kind: &str| records.iter().rev().find(|record| record.event.kind() == kind).unwrap().at;
    let (of_bob, of_ada) = (ground.stage.records(&bob).await, ground.stage.records(&ada).await);
    assert!(at(&of_bob, "child_stopped") <= at(&of_ada, "child_stopped"));
    assert_eq!(ground.may(&ada, &deep).await.1, "yes");
    assert!(news(&of_bob).is_empty());
}

#[tokio::test]
async fn siblings_end_at_the_same_time_and_each_loan_goes_back() {
    let ground = Ground::new().await;
    let ada = ground.lead("ada").await;
    let bob = ground.done_child(&ada, "bob", &[write(&ground.path("a"))]).await;
    let folders = [ground.path("a/one"), ground.path("a/two")];
    folders.iter().for_each(|folder| std::fs::create_dir_all(folder).unwrap());
    let mut children = Vec::new();
    for (name, own, other) in [("cid", 0, 1), ("dan", 1, 0)] {
        // Neither ends before both were told to.
        let arguments = json!({ "own": format!("{}/met", folders[own]), "other": format!("{}/met", folders[other]) });
        let child = ground.spawn(&bob, name, &format!("call Meet {arguments}"), &[write(&folders[own])]).await;
        ground.stage.until(&child, |records| count(records, "tool_output_chunk") > 0).await;
        children.push(child);
    }
    ground.done(&ada, "StopPod", json!({ "name": "bob" })).await;
    for child in &children {
        assert_eq!(ground.state(child).await, PodState::Stopped);
    }
    let mut told = stopped(&ground.stage.records(&bob).await);
    told.sort_by(|one, other| one.0.cmp(&other.0));
    let [one, two] = &folders;
    assert_eq!(told, [("cid".to_owned(), vec![write(one)]), ("dan".to_owned(), vec![write(two)])]);
    assert_eq!(ground.may(&ada, one).await.1, "yes");
}

#[tokio::test]
async fn a_persons_stop_is_told_to_the_parent_once() {
    let ground = Ground::new().await;
    let ada = ground.lead("ada").await;
    let bob = ground.busy_child(&ada, "bob", &[write(&ground.path("a"))]).await;
    let (key, from) = (fresh_key(), origin());
    let stop = || ground.host().pods().control(key.clone(), &from, &bob, ControlVerb::Stop);
    let (first, beside) = tokio::join!(stop(), stop());
    let first = first.unwrap();
    // The same command, at the same time and later: one receipt.
    assert_eq!(beside.unwrap(), first);
    assert_eq!(stop().await.unwrap(), first);
    assert_eq!(first.seq, ground.stage.records(&bob).await.last().unwrap().seq);
    ground.control(&bob, ControlVerb::Stop).await.unwrap();
    let told = [("shut_down".to_owned(), "bob".to_owned())];
    let records = ground.stage.until(&ada, |records| news(records) == told && is_at_rest(records)).await;
    assert_eq!(stopped(&records).len(), 1);
    let ground = ground.restarted().await;
    assert_eq!(news(&ground.stage.records(&ada).await), told);
    assert_eq!(ground.may(&ada, &ground.path("a")).await.1, "yes");
}

#[tokio::test]
async fn nothing_is_given_back_while_the_child_can_still_write() {
    let ground = Ground::new().await;
    let ada = ground.lead("ada").await;
    let file = ground.path("a/file");
    let call = format!("call Linger {}", json!({ "path": file }));
    let bob = ground.spawn(&ada, "bob", &call, &[write(&ground.path("a"))]).await;
    ground.stage.until(&bob, |records| count(records, "tool_output_chunk") > 0).await;
    ground.done(&ada, "StopPod", json!({ "name": "bob" })).await;
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "over");
    std::fs::write(&file, "mine").unwrap();
    ground.done_child(&ada, "cid", &[write(&ground.path("a"))]).await;
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "mine");
}

#[tokio::test]
async fn a_child_that_waits_or_is_paused_is_stopped_like_any_other() {
    let ground = Ground::new().await;
    let ada = ground.lead("ada").await;
    for (name, verb) in [("bob", Some(ControlVerb::Pause)), ("cid", None)] {
        let child = match verb {
            Some(verb) => {
                let child = ground.busy_child(&ada, name, &[write(&ground.path("a"))]).await;
                ground.control(&child, verb).await.unwrap();
                child
            }
            None => waiting_child(&ground, &ada, name).await,
        };
        ground.done(&ada, "StopPod", json!({ "name": name })).await;
        assert_eq!(ground.state(&child).await, PodState::Stopped);
        assert_eq!(ground.may(&ada, &ground.path("a")).await.1, "yes");
    }
    assert!(ground.host().approvals().open().await.unwrap().is_empty());
}

/// A child with an open approval.
async fn waiting_child(ground: &Ground, parent: &WorkerId, name: &str) -> WorkerId {
    let child = ground.spawn(parent, name, CALL_ASKED, &[write(&ground.path("a"))]).await;
    ground.until_state(&child, PodState::Waiting).await;
    child
}
