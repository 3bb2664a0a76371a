//! What a parent is told about its children: once, in any state, and never about grandchildren (C15).

use protocol::{ControlVerb, PodState, Trigger};
use serde_json::json;

use crate::{
    ground::{Ground, count, is_at_rest, news, said, triggers, write},
    stage::CALL_ASKED,
};

fn ended(name: &str) -> (String, String) {
    ("turn_ended".to_owned(), name.to_owned())
}

#[tokio::test]
async fn an_idle_parent_is_woken_once_for_each_end_and_each_failure() {
    events_story(Ground::new().await).await;
}

pub async fn events_story(ground: Ground) {
    let ada = ground.lead("ada").await;
    let bob = ground.done_child(&ada, "bob", &[]).await;
    ground.tell(&bob, "say half\nfail 401").await;
    let failed = ("errored".to_owned(), "bob".to_owned());
    let told = [ended("bob"), failed];
    let records = ground.stage.until(&ada, |records| news(records) == told && is_at_rest(records)).await;
    assert_eq!(triggers(&records), [Trigger::Child, Trigger::Child]);
    let errored = records.iter().rev().find(|record| record.event.kind() == "child_event").unwrap();
    assert!(serde_json::to_string(errored).unwrap().contains("401"));
    let history = ground.host().journals().history(&ada).await.unwrap();
    let text = serde_json::to_string(&history).unwrap();
    assert_eq!(text.matches("[child event]\\nbob turn ended").count(), 1, "{text}");
    let ground = ground.restarted().await;
    assert_eq!(ground.stage.records(&ada).await, records);
    assert_eq!(ground.host().journals().history(&ada).await.unwrap(), history);
}

#[tokio::test]
async fn news_that_comes_in_mid_answer_is_read_in_a_run_of_its_own() {
    let ground = Ground::new().await;
    let ada = ground.lead("ada").await;
    let bob = ground.busy_child(&ada, "bob", &[]).await;
    ground.tell(&ada, "say begin\nwait 10\nsay end").await;
    ground.stage.until(&ada, |records| count(records, "text_chunk") > 0).await;
    ground.control(&bob, ControlVerb::Cancel).await.unwrap();
    let records = ground.stage.until(&ada, |records| count(records, "run_finished") == 2 && is_at_rest(records)).await;
    assert_eq!(news(&records), [ended("bob")]);
    assert_eq!(triggers(&records), [Trigger::Input, Trigger::Child]);
    let at = |kind: &str| records.iter().position(|record| record.event.kind() == kind).unwrap();
    assert!(at("child_event") < at("message_finished"), "it is shown at once");
    let event = &records[at("child_event")];
    assert_eq!(event.run_id, None);
    // The model reads it after its answer, the same before and after a restart.
    let history = ground.host().journals().history(&ada).await.unwrap();
    let contents: Vec<&str> = history.messages.iter().skip(1).map(|message| message.content.as_str()).collect();
    assert_eq!(&contents[1..], ["begin\nend", "[child event]\nbob turn ended: a person cancelled it"]);
    let ground = ground.restarted().await;
    let again = ground.host().journals().history(&ada).await.unwrap();
    assert_eq!(serde_json::to_vec(&again).unwrap(), serde_json::to_vec(&history).unwrap());
}

#[tokio::test]
async fn news_that_comes_while_a_tool_runs_is_read_with_its_result() {
    let ground = Ground::new().await;
    let ada = ground.lead("ada").await;
    let bob = ground.busy_child(&ada, "bob", &[]).await;
    ground.tell(&ada, &format!("{CALL_ASKED}\nsay after it")).await;
    ground.until_state(&ada, PodState::Waiting).await;
    ground.control(&bob, ControlVerb::Cancel).await.unwrap();
    let records = ground.stage.until(&ada, |records| news(records).len() == 1).await;
    assert_eq!(crate::ground::last_state(&records), Some(PodState::Waiting));
    let open = ground.host().approvals().of_pod(&ada, false).await.unwrap();
    let answer = serde_json::from_value(json!({ "decision": "deny" })).unwrap();
    let from = crate::stage::origin();
    ground.host().approvals().answer(crate::ground::fresh_key(), &from, &ada, &open[0].id, answer).await.unwrap();
    let records = ground.stage.until(&ada, is_at_rest).await;
    assert_eq!(triggers(&records), [Trigger::Input], "the next question to the model held it");
    assert!(said(&records).concat().contains("after it"));
    let history = ground.host().journals().history(&ada).await.unwrap();
    let roles: Vec<String> = history.messages.iter().map(|message| format!("{:?}", message.role)).collect();
    assert_eq!(roles, ["System", "User", "Assistant", "Tool", "User", "Assistant"]);
    let ground = ground.restarted().await;
    assert_eq!(ground.host().journals().history(&ada).await.unwrap(), history);
}

#[tokio::test]
async fn a_paused_parent_has_it_in_its_journal_and_reads_it_when_it_goes_on() {
    let ground = Ground::new().await;
    let ada = ground.lead("ada").await;
    let bob = ground.busy_child(&ada, "bob", &[]).await;
    ground.tell(&ada, "say begin\nwait 500").await;
    ground.stage.until(&ada, |records| count(records, "text_chunk") > 0).await;
    ground.control(&ada, ControlVerb::Pause).await.unwrap();
    ground.control(&bob, ControlVerb::Cancel).await.unwrap();
    let records = ground.stage.until(&ada, |records| news(records) == [ended("bob")]).await;
    assert_eq!(triggers(&records).len(), 1);
    assert_eq!(ground.state(&ada).await, PodState::Paused);
    let history = ground.host().journals().history(&ada).await.unwrap();
    assert!(history.messages.last().unwrap().content.starts_with("[child event]"));
    let ground = ground.restarted().await;
    assert_eq!(ground.host().journals().history(&ada).await.unwrap(), history);
    ground.tell(&ada, "say on").await;
    let records = ground.stage.until(&ada, is_at_rest).await;
    assert_eq!((news(&records).len(), triggers(&records)), (1, vec![Trigger::Input, Trigger::Input]));
}

#[tokio::test]
async fn a_stopped_parent_finds_it_when_it_is_restored() {
    let ground = Ground::new().await;
    let ada = ground.lead("ada").await;
    let bob = ground.busy_child(&ada, "bob", &[]).await;
    ground.control(&ada, ControlVerb::Stop).await.unwrap();
    assert_eq!(ground.state(&bob).await, PodState::Running);
    ground.control(&bob, ControlVerb::Cancel).await.unwrap();
    ground.until_state(&bob, PodState::Idle).await;
    let ground = ground.restarted().await;
    assert_eq!(ground.state(&ada).await, PodState::Stopped);
    assert!(news(&ground.stage.records(&ada).await).is_empty());
    ground.control(&ada, ControlVerb::Restore).await.unwrap();
    let records = ground.stage.until(&ada, |records| news(records).len() == 1 && is_at_rest(records)).await;
    assert_eq!(triggers(&records), [Trigger::Child]);
    let ground = ground.restarted().await;
    assert_eq!(news(&ground.stage.records(&ada).await), [ended("bob")]);
}

#[tokio::test]
async fn a_child_that_a_restart_cut_is_told_once() {
    let ground = Ground::new().await;
    let ada = ground.lead("ada").await;
    let bob = ground.busy_child(&ada, "bob", &[write(&ground.path("a"))]).await;
    let ground = ground.restarted().await;
    let told = [("errored".to_owned(), "bob".to_owned())];
    let records = ground.stage.until(&ada, |records| news(records) == told && is_at_rest(records)).await;
    let text = serde_json::to_string(&records).unwrap();
    assert!(text.contains("interrupted when yoi stopped; it is paused"), "{text}");
    assert_eq!(ground.state(&bob).await, PodState::Paused);
    let ground = ground.restarted().await;
    assert_eq!(news(&ground.stage.records(&ada).await), told);
    // What a person pauses will continue, so it is not news.
    ground.control(&bob, ControlVerb::Resume).await.unwrap();
    ground.control(&bob, ControlVerb::Pause).await.unwrap();
    ground.done(&ada, "SendToPod", json!({ "name": "bob", "message": "say end" })).await;
    let records = ground.stage.until(&ada, |records| news(records).len() == 2 && is_at_rest(records)).await;
    assert_eq!(news(&records)[1], ended("bob"));
}

#[tokio::test]
async fn each_end_is_told_also_when_the_next_run_begins_at_once() {
    let ground = Ground::new().await;
    let ada = ground.lead("ada").await;
    let bob = ground.done_child(&ada, "bob", &[]).await;
    let cid = ground.busy_child(&bob, "cid", &[]).await;
    ground.tell(&bob, "say begin\nwait 10\nsay end").await;
    let begun = count(&ground.stage.records(&bob).await, "run_started");
    ground.stage.until(&bob, |records| count(records, "text_chunk") > 0).await;
    // The news of cid arrives while bob answers, so bob's next run begins the moment this one ends.
    ground.control(&cid, ControlVerb::Cancel).await.unwrap();
    let records =
        ground.stage.until(&bob, |records| count(records, "run_started") > begun && is_at_rest(records)).await;
    let ends = count(&records, "run_finished");
    assert_eq!(ends, 3);
    let records = ground.stage.until(&ada, |records| news(records).len() == ends && is_at_rest(records)).await;
    assert_eq!(news(&records), vec![ended("bob"); 3]);
}

#[tokio::test]
async fn what_a_child_lends_on_wakes_nobody_above() {
    let ground = Ground::new().await;
    let ada = ground.lead("ada").await;
    let bob = ground.done_child(&ada, "bob", &[write(&ground.path("a"))]).await;
    let (records, history) = (ground.stage.records(&ada).await, ground.host().journals().history(&ada).await.unwrap());
    let cid = ground.busy_child(&bob, "cid", &[write(&ground.path("a/deep"))]).await;
    ground.done(&bob, "StopPod", json!({ "name": "cid" })).await;
    ground.done(&bob, "RestorePod", json!({ "name": "cid" })).await;
    assert_eq!(ground.state(&cid).await, PodState::Paused);
    let kinds = ["child_spawned", "child_stopped", "scope_changed"];
    let of_bob = ground.stage.records(&bob).await;
    assert_eq!(kinds.map(|kind| count(&of_bob, kind)), [1, 1, 1]);
    assert_eq!(ground.stage.records(&ada).await, records);
    assert_eq!(ground.host().journals().history(&ada).await.unwrap(), history);
    // None of it is in the context of the one who did it either: it is for people.
    let told = serde_json::to_string(&ground.host().journals().history(&bob).await.unwrap()).unwrap();
    assert!(!told.contains("cid"), "{told}");
}
