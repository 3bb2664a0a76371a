//! ReadPodOutput: what is new since it was last read (C10, C11).

use protocol::{ControlVerb, PodState, RewindCommand, Seq, WorkerId};
use serde_json::json;

use crate::{
    ground::{Ground, count, fresh_key, is_at_rest, news, said},
    stage::origin,
};

/// The texts of one call, and what is said about them.
async fn read(ground: &Ground, reader: &WorkerId, name: &str) -> (String, String) {
    let answer = ground.done(reader, "ReadPodOutput", json!({ "name": name })).await;
    (answer.content.unwrap_or_default(), answer.summary)
}

async fn next_turn(ground: &Ground, pod: &WorkerId, text: &str) {
    let before = count(&ground.stage.records(pod).await, "run_finished");
    ground.tell(pod, text).await;
    ground.stage.until(pod, |records| count(records, "run_finished") > before && is_at_rest(records)).await;
}

#[tokio::test]
async fn the_text_since_the_last_reading_and_nothing_twice() {
    let ground = Ground::new().await;
    let ada = ground.lead("ada").await;
    let bob = ground.done_child(&ada, "bob", &[]).await;
    assert_eq!(read(&ground, &ada, "bob").await, ("done".to_owned(), "1 message from bob (idle)".to_owned()));
    assert_eq!(read(&ground, &ada, "bob").await, (String::new(), "nothing new from bob (idle)".to_owned()));
    next_turn(&ground, &bob, "think of it\nsay one\ncall Probe {\"path\":\"/x\"}\nsay two").await;
    let (text, summary) = read(&ground, &ada, "bob").await;
    assert!(text.starts_with("one\n\n") && text.ends_with("two"), "{text}");
    assert!(!text.contains("think of it"), "{text}");
    assert_eq!(summary, "2 messages from bob (idle)");
}

#[tokio::test]
async fn where_it_was_read_to_survives_restart_compaction_and_rewind_of_the_reader() {
    let ground = Ground::new().await;
    let ada = ground.lead("ada").await;
    next_turn(&ground, &ada, "stream 600 at 0").await;
    let bob = ground.done_child(&ada, "bob", &[]).await;
    // Read by the model itself, so that it is in the context that is shortened below.
    ground.tell(&ada, "call ReadPodOutput {\"name\":\"bob\"}\nsay read").await;
    ground.stage.until(&ada, |records| said(records).concat().contains("read") && is_at_rest(records)).await;
    let nothing = (String::new(), "nothing new from bob (idle)".to_owned());

    let ground = ground.restarted().await;
    assert_eq!(read(&ground, &ada, "bob").await, nothing);
    ground.control(&ada, ControlVerb::Compact).await.unwrap();
    ground.stage.until(&ada, |records| count(records, "compacted") == 1 && is_at_rest(records)).await;
    assert_eq!(read(&ground, &ada, "bob").await, nothing);
    let head = ground.stage.records(&ada).await.last().unwrap().seq;
    let rewind = RewindCommand::context(Seq(1), head);
    ground.host().work().rewind(fresh_key(), &origin(), &ada, rewind).await.unwrap();
    assert_eq!(read(&ground, &ada, "bob").await, nothing);
    let ground = ground.restarted().await;
    assert_eq!(read(&ground, &ada, "bob").await, nothing);
    next_turn(&ground, &bob, "say fresh").await;
    assert_eq!(read(&ground, &ada, "bob").await.0, "fresh");
}

#[tokio::test]
async fn what_the_child_compacts_or_rewinds_was_said_all_the_same() {
    let ground = Ground::new().await;
    let ada = ground.lead("ada").await;
    let bob = ground.done_child(&ada, "bob", &[]).await;
    next_turn(&ground, &bob, "stream 600 at 0").await;
    ground.control(&bob, ControlVerb::Compact).await.unwrap();
    ground.stage.until(&bob, |records| count(records, "compacted") == 1 && is_at_rest(records)).await;
    let (text, _) = read(&ground, &ada, "bob").await;
    assert!(text.starts_with("done\n\nw1 w2 ") && text.ends_with("w600"), "{text}");
    next_turn(&ground, &bob, "say after it").await;
    assert_eq!(read(&ground, &ada, "bob").await.0, "after it");
}

#[tokio::test]
async fn a_stopped_child_is_a_report_and_what_was_cut_says_so() {
    let ground = Ground::new().await;
    let ada = ground.lead("ada").await;
    ground.busy_child(&ada, "bob", &[]).await;
    assert_eq!(read(&ground, &ada, "bob").await.1, "nothing new from bob (running)");
    ground.done(&ada, "StopPod", json!({ "name": "bob" })).await;
    let (text, summary) = read(&ground, &ada, "bob").await;
    assert_eq!(text, "at work\n[interrupted here]");
    assert_eq!(summary, "1 message from bob (stopped; RestorePod restores it)");
    assert_eq!(read(&ground, &ada, "bob").await.1, "nothing new from bob (stopped; RestorePod restores it)");
}

#[tokio::test]
async fn a_long_output_comes_in_parts_and_none_is_lost() {
    let ground = Ground::new().await;
    let ada = ground.lead("ada").await;
    let bob = ground.done_child(&ada, "bob", &[]).await;
    // Each about 49,000 characters, so that one fits and two do not; the last is longer than a whole result.
    for words in [8_500, 8_501, 12_000] {
        next_turn(&ground, &bob, &format!("stream {words} at 0")).await;
    }
    let (text, summary) = read(&ground, &ada, "bob").await;
    assert!(text.starts_with("done\n\nw1 ") && text.ends_with(" w8500"));
    assert_eq!(summary, "2 messages from bob (idle); there is more, read again");
    assert!(read(&ground, &ada, "bob").await.0.ends_with(" w8501"));
    let (text, _) = read(&ground, &ada, "bob").await;
    assert!(text.starts_with("w1 ") && text.ends_with("characters of this message are left out]"));
    assert_eq!(read(&ground, &ada, "bob").await.1, "nothing new from bob (idle)");
}

#[tokio::test]
async fn a_model_reads_twice_in_one_turn_and_gets_each_text_once() {
    let ground = Ground::new().await;
    let ada = ground.lead("ada").await;
    ground.done_child(&ada, "bob", &[]).await;
    let call = "call ReadPodOutput {\"name\":\"bob\"}";
    ground.tell(&ada, &format!("{call}\n{call}\nsay end")).await;
    let records =
        ground.stage.until(&ada, |records| said(records).concat().contains("end") && is_at_rest(records)).await;
    let text = said(&records).concat();
    assert!(text.contains("1 message from bob (idle)") && text.contains("nothing new from bob (idle)"), "{text}");
    assert_eq!(news(&records).len(), 1);
    assert_eq!(ground.state(&ada).await, PodState::Idle);
}
