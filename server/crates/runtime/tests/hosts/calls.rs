//! Commands sent to one host for Pods of another one.

use protocol::{ControlVerb, ErrorCode, PatchPod, PodName, PodState, ToolCommand};
use serde_json::json;

use crate::{
    ground::*,
    stage::{key, key_for, kinds, origin, say},
};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn commands_reach_the_host_that_runs_the_pod_and_happen_once() {
    let ground = Ground::new().await;
    let (one, two) = (ground.host("one").await, ground.host("two").await);
    let ada = create(&one, "ada").await;
    let first = two.work().input(key("hello"), &origin(), &ada, say("say hello")).await.unwrap();
    watch(&two, &ada, is_finished).await;
    // Again, at either host: the same receipt, and nothing more happens.
    for host in [&one, &two] {
        assert_eq!(host.work().input(key("hello"), &origin(), &ada, say("say hello")).await.unwrap(), first);
        let reused = host.work().input(key_for("hello", 2), &origin(), &ada, say("say other")).await.unwrap_err();
        assert_eq!(reused.code, ErrorCode::KeyReused);
    }
    let journal = ordered(&one, &ada).await;
    assert_eq!(kinds(&journal).iter().filter(|kind| *kind == "user_message").count(), 1);
    assert_eq!(two.health().active_pods(), 0, "it never worked there");
    until("at rest", async || one.health().active_pods() == 0).await;

    let patch = PatchPod { name: Some(PodName::parse("bob").unwrap()), ..PatchPod::default() };
    assert_eq!(two.pods().patch(fresh_key(), &origin(), &ada, patch).await.unwrap().summary.name.as_str(), "bob");
    two.pods().control(fresh_key(), &origin(), &ada, ControlVerb::Stop).await.unwrap();
    assert_eq!(state(&one, &ada).await, PodState::Stopped);
    let refused = two.work().input(fresh_key(), &origin(), &ada, say("say hello")).await.unwrap_err();
    assert_eq!(refused.code, ErrorCode::NotLive);
    assert!(refused.detail.contains("bob"), "{refused:?}");
    two.pods().control(fresh_key(), &origin(), &ada, ControlVerb::Restore).await.unwrap();
    assert_eq!(state(&two, &ada).await, PodState::Idle);
    let tool = ToolCommand { arguments: json!({}) };
    let answer = two.work().run_tool(fresh_key(), &origin(), &ada, "ListPods", tool).await.unwrap();
    assert!(!answer.is_error, "{answer:?}");
    assert_eq!(two.work().files(&ada, "x").await.unwrap(), Vec::<String>::new());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_run_is_paused_and_resumed_from_another_host() {
    let ground = Ground::new().await;
    let (one, two) = (ground.host("one").await, ground.host("two").await);
    let ada = create(&one, "ada").await;
    tell(&two, &ada, "stream 40000 at 100\nsay the end").await;
    watch(&two, &ada, |record| record.event.kind() == "text_chunk").await;
    two.pods().control(fresh_key(), &origin(), &ada, ControlVerb::Pause).await.unwrap();
    assert_eq!(state(&two, &ada).await, PodState::Paused);
    two.pods().control(fresh_key(), &origin(), &ada, ControlVerb::Cancel).await.unwrap();
    assert_eq!(state(&one, &ada).await, PodState::Idle);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_commands_from_three_hosts_at_once_all_happen() {
    let ground = Ground::new().await;
    let hosts = [ground.host("one").await, ground.host("two").await, ground.host("three").await];
    let pods = [create(&hosts[0], "ada").await, create(&hosts[1], "bob").await, create(&hosts[2], "cyd").await];
    let sends = (0..63).map(|round| {
        let (host, pod) = (&hosts[round % 3], &pods[(round / 3) % 3]);
        let input = protocol::InputCommand { queue: true, ..say(&format!("say {round}")) };
        async move { host.work().input(fresh_key(), &origin(), pod, input).await.unwrap() }
    });
    futures_util::future::join_all(sends).await;
    for pod in &pods {
        until("all runs", async || {
            let records = ordered(&hosts[0], pod).await;
            records.iter().filter(|record| is_finished(record)).count() == 21
        })
        .await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_host_that_does_not_answer_is_told_of_within_bounds_and_another_try_happens_once() {
    let ground = Ground::new().await;
    let (one, two) = (ground.host("one").await, ground.host("two").await);
    let ada = create(&one, "ada").await;
    // A host that is registered, reports being alive, and answers nothing.
    ground.run("insert into hosts (uid, name, heartbeat_at) values ('mute', 'mute', now() + interval '1 hour')").await;
    ground.run("update pods set owner = (select id from hosts where name = 'mute'), home = 'mute'").await;
    let asked = async { two.work().input(key("hello"), &origin(), &ada, say("say hello")).await };
    let refused = within("an answer", asked).await.unwrap_err();
    assert_eq!(refused.code, ErrorCode::RuntimeUnavailable);
    assert!(refused.detail.contains("\"mute\""), "{refused:?}");
    // It dies: the next host that is asked gets the Pod.
    ground.run("update hosts set heartbeat_at = now() - interval '1 hour' where name = 'mute'").await;
    until("taken over", async || two.work().input(key("hello"), &origin(), &ada, say("say hello")).await.is_ok()).await;
    one.work().input(key("hello"), &origin(), &ada, say("say hello")).await.unwrap();
    watch(&one, &ada, is_finished).await;
    let journal = ordered(&one, &ada).await;
    assert_eq!(kinds(&journal).iter().filter(|kind| *kind == "user_message").count(), 1);
}
