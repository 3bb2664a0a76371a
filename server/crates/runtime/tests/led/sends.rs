//! SendToPod: accepted, busy, stopped (C8, C9). SendToPeerPod: what it is not for.

use protocol::{ControlVerb, Event, PodState, TurnEvent};
use serde_json::json;

use crate::ground::{Ground, count, heard, is_at_rest, news, said};

#[tokio::test]
async fn a_child_accepts_a_message_and_the_call_does_not_wait_for_its_end() {
    let ground = Ground::new().await;
    let ada = ground.lead("ada").await;
    let bob = ground.done_child(&ada, "bob", &[]).await;
    let text = "say second\nwait 500";
    let answer = ground.done(&ada, "SendToPod", json!({ "name": "bob", "message": text })).await;
    assert_eq!(answer.summary, "bob has accepted it and works on it");
    assert_eq!(ground.state(&bob).await, PodState::Running);
    let records = ground.stage.records(&bob).await;
    assert_eq!(heard(&records), ["say done", text]);
    let message = records.iter().rev().find_map(|record| match &record.event {
        Event::Turn(TurnEvent::UserMessage { by, .. }) => Some(by.clone()),
        _ => None,
    });
    assert_eq!(message.unwrap(), "pod:ada");
}

#[tokio::test]
async fn a_working_child_is_busy_no_matter_who_gave_it_the_work() {
    let ground = Ground::new().await;
    let ada = ground.lead("ada").await;
    let bob = ground.busy_child(&ada, "bob", &[]).await;
    let message = json!({ "name": "bob", "message": "say more" });
    let (code, sentence) = ground.refused(&ada, "SendToPod", message.clone()).await;
    assert_eq!(code, "busy");
    assert_eq!(sentence, "bob is still running; try again when its turn has ended");
    ground.control(&bob, ControlVerb::Cancel).await.unwrap();

    // Another client's run is no evidence that this message was accepted.
    ground.tell(&bob, "say for a person\nwait 500").await;
    let (code, _) = ground.refused(&ada, "SendToPod", message.clone()).await;
    assert_eq!(code, "busy");
    let records = ground.stage.records(&bob).await;
    assert_eq!(heard(&records), ["say at work\nwait 500", "say for a person\nwait 500"]);
    ground.control(&bob, ControlVerb::Cancel).await.unwrap();
    ground.done(&ada, "SendToPod", message).await;
    ground.stage.until(&bob, |records| said(records).contains(&"more".to_owned())).await;
}

#[tokio::test]
async fn a_paused_child_goes_on_with_what_it_is_sent() {
    let ground = Ground::new().await;
    let ada = ground.lead("ada").await;
    let bob = ground.busy_child(&ada, "bob", &[]).await;
    ground.control(&bob, ControlVerb::Pause).await.unwrap();
    ground.done(&ada, "SendToPod", json!({ "name": "bob", "message": "say gone on" })).await;
    let records = ground.stage.until(&bob, is_at_rest).await;
    assert_eq!(said(&records), ["at work", "gone on"]);
}

#[tokio::test]
async fn a_stopped_child_takes_nothing_and_the_sentence_names_the_way_back() {
    let ground = Ground::new().await;
    let ada = ground.lead("ada").await;
    let bob = ground.done_child(&ada, "bob", &[]).await;
    ground.done(&ada, "StopPod", json!({ "name": "bob" })).await;
    let before = ground.stage.records(&bob).await;
    let (code, sentence) = ground.refused(&ada, "SendToPod", json!({ "name": "bob", "message": "say x" })).await;
    assert_eq!(code, "not_live");
    assert!(sentence.contains("RestorePod"), "{sentence}");
    assert_eq!(ground.stage.records(&bob).await, before);
}

#[tokio::test]
async fn a_message_that_is_empty_or_too_large_is_refused() {
    let ground = Ground::new().await;
    let ada = ground.lead("ada").await;
    ground.done_child(&ada, "bob", &[]).await;
    for (message, code) in [(" ".to_owned(), "invalid_input"), ("x".repeat(65_537), "payload_too_large")] {
        assert_eq!(ground.refused(&ada, "SendToPod", json!({ "name": "bob", "message": message })).await.0, code);
    }
}

#[tokio::test]
async fn a_model_that_sends_too_early_is_told_and_tries_again_when_the_turn_has_ended() {
    let ground = Ground::new().await;
    let ada = ground.lead("ada").await;
    let bob = ground.busy_child(&ada, "bob", &[]).await;
    let send = json!({ "name": "bob", "message": "say round two" });
    ground.tell(&ada, &format!("call SendToPod {send}\nsay waiting")).await;
    let records = ground.stage.until(&ada, is_at_rest).await;
    assert_eq!(said(&records).concat(), "SendToPod: bob is still running; try again when its turn has ended\nwaiting");
    ground.control(&bob, ControlVerb::Cancel).await.unwrap();
    ground.stage.until(&ada, |records| news(records).len() == 1 && is_at_rest(records)).await;
    ground.tell(&ada, &format!("call SendToPod {send}\nsay sent")).await;
    ground.stage.until(&ada, |records| news(records).len() == 2 && is_at_rest(records)).await;
    assert_eq!(heard(&ground.stage.records(&bob).await).last().unwrap(), "say round two");
    assert_eq!(count(&ground.stage.records(&bob).await, "user_message"), 2);
}

#[tokio::test]
async fn the_peer_tool_is_not_for_children_nor_for_itself() {
    let ground = Ground::new().await;
    let ada = ground.lead("ada").await;
    ground.done_child(&ada, "bob", &[]).await;
    ground.lead("eve").await;
    for (name, code) in
        [("bob", "permission_denied"), ("ada", "peer_self"), ("eve", "not_visible"), ("x", "not_visible")]
    {
        let (told, sentence) = ground.refused(&ada, "SendToPeerPod", json!({ "name": name, "message": "x" })).await;
        assert_eq!(told, code, "{sentence}");
    }
}
