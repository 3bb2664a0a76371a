//! Two callers want the same thing: exactly one gets it (D11).

use std::sync::Arc;

use protocol::{ControlVerb, ScopeRule, ToolAnswer, ToolCommand, WorkerId};
use serde_json::json;

use crate::{
    ground::{Ground, count, fresh_key, write},
    stage::origin,
};

const ROUNDS: usize = 30;

/// Both calls at once, on threads of their own; returns which of them won.
async fn at_once(ground: &Arc<Ground>, calls: [(WorkerId, String, Vec<ScopeRule>); 2]) -> Vec<ToolAnswer> {
    let calls = calls.map(|(pod, name, scope)| {
        let ground = ground.clone();
        tokio::spawn(async move {
            let arguments = json!({ "name": name, "task": "say x", "scope": scope });
            ground
                .host()
                .work()
                .run_tool(fresh_key(), &origin(), &pod, "SpawnPod", ToolCommand { arguments })
                .await
                .unwrap()
        })
    });
    let mut answers = Vec::new();
    for call in calls {
        answers.push(call.await.unwrap());
    }
    answers
}

fn one_lost(answers: &[ToolAnswer], code: &str) {
    let lost: Vec<_> = answers.iter().filter(|answer| answer.is_error).collect();
    assert_eq!(lost.len(), 1, "{answers:?}");
    assert_eq!(lost[0].code.as_deref(), Some(code), "{answers:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn of_two_spawns_with_one_name_by_one_parent_exactly_one_wins_and_of_two_parents_one_has_the_name() {
    let ground = Arc::new(Ground::new().await);
    let (ada, eve) = (ground.lead("ada").await, ground.lead("eve").await);
    for round in 0..ROUNDS {
        let by_two = round % 2 == 0;
        let second = if by_two { &eve } else { &ada };
        let name = format!("bob{round}");
        let calls = [(ada.clone(), name.clone(), vec![]), (second.clone(), name.clone(), vec![])];
        let answers = at_once(&ground, calls).await;
        match by_two {
            // Neither sees the other's child, and the later one is not told of it.
            true => {
                let has_it = |answer: &&ToolAnswer| answer.summary.starts_with(&format!("spawned {name};"));
                assert!(answers.iter().all(|answer| !answer.is_error), "{answers:?}");
                assert_eq!(answers.iter().filter(has_it).count(), 1, "{answers:?}");
            }
            false => one_lost(&answers, "name_taken"),
        }
        assert!(ground.named(&name).await.is_some());
        for parent in [&ada, &eve] {
            for child in ground.host().pods().get(parent).await.unwrap().children {
                // To leave room for the Pods of the next rounds.
                ground.control(&child.pod.worker_id, ControlVerb::Stop).await.unwrap();
            }
        }
    }
    let spawned = async |pod: &WorkerId| count(&ground.stage.records(pod).await, "child_spawned");
    assert_eq!(spawned(&ada).await + spawned(&eve).await, ROUNDS + ROUNDS / 2);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn of_two_spawns_with_overlapping_scopes_exactly_one_wins() {
    let ground = Arc::new(Ground::new().await);
    let ada = ground.lead("ada").await;
    for round in 0..ROUNDS {
        let (one, other) = (format!("bob{round}"), format!("cid{round}"));
        let calls = [
            (ada.clone(), one.clone(), vec![write(&ground.path("a"))]),
            (ada.clone(), other.clone(), vec![write(&ground.path("a/deep"))]),
        ];
        one_lost(&at_once(&ground, calls).await, "scope_conflict");
        let (one, other) = (ground.named(&one).await, ground.named(&other).await);
        let won = one.as_ref().xor(other.as_ref()).expect("exactly one is there").clone();
        ground.control(&won, ControlVerb::Stop).await.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn of_a_restore_and_a_spawn_over_one_folder_exactly_one_wins() {
    let ground = Arc::new(Ground::new().await);
    let ada = ground.lead("ada").await;
    let folder = [write(&ground.path("a"))];
    let bob = ground.done_child(&ada, "bob", &folder).await;
    ground.control(&bob, ControlVerb::Stop).await.unwrap();
    for round in 0..ROUNDS {
        let restoring = tokio::spawn({
            let (ground, bob) = (ground.clone(), bob.clone());
            async move { ground.control(&bob, ControlVerb::Restore).await.is_ok() }
        });
        let arguments = json!({ "name": format!("cid{round}"), "task": "say x", "scope": folder });
        let answer = ground.call(&ada, "SpawnPod", arguments).await;
        assert_eq!(restoring.await.unwrap(), answer.is_error, "{answer:?}");
        let won = if answer.is_error { bob.clone() } else { ground.named(&format!("cid{round}")).await.unwrap() };
        ground.control(&won, ControlVerb::Stop).await.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn stopping_from_above_and_below_at_once_ends_all_and_blocks_nobody() {
    let ground = Arc::new(Ground::new().await);
    let ada = ground.lead("ada").await;
    for round in 0..10 {
        let (mid, low) = (format!("mid{round}"), format!("low{round}"));
        let bob = ground.spawn(&ada, &mid, "say x\nwait 500", &[write(&ground.path("a"))]).await;
        let cid = ground.spawn(&bob, &low, "say x\nwait 500", &[write(&ground.path("a/deep"))]).await;
        let all = [ada.clone(), bob.clone(), cid.clone()];
        let from_below = tokio::spawn({
            let (ground, bob, low) = (ground.clone(), bob.clone(), low.clone());
            let arguments = json!({ "name": low });
            let command = ToolCommand { arguments };
            // Its own Pod may be stopped meanwhile.
            async move { drop(ground.host().work().run_tool(fresh_key(), &origin(), &bob, "StopPod", command).await) }
        });
        let by_person = tokio::spawn({
            let (ground, cid) = (ground.clone(), cid.clone());
            async move { ground.control(&cid, ControlVerb::Stop).await.unwrap() }
        });
        ground.done(&ada, "StopPod", json!({ "name": mid })).await;
        from_below.await.unwrap();
        by_person.await.unwrap();
        for pod in &all[1..] {
            assert_eq!(ground.state(pod).await, protocol::PodState::Stopped);
        }
        assert_eq!(ground.may(&ada, &ground.path("a/deep")).await.1, "yes");
    }
}
