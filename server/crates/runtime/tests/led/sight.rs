//! Which Pods a Pod sees, how they are described, and by which names its tools find them (C13, D1 to D4, D8, D10).

use protocol::{ControlVerb, PodState, Visibility, WorkerId};
use serde_json::json;

use crate::{
    ground::{Ground, count, is_at_rest, read, write},
    stage::{named, origin},
};

/// The output of ListPods, line by line.
async fn lines(ground: &Ground, pod: &WorkerId) -> Vec<String> {
    let text = ground.done(pod, "ListPods", json!({})).await.content.unwrap();
    text.lines().map(str::to_owned).collect()
}

#[tokio::test]
async fn a_lone_pod_sees_itself_and_its_empty_scope_is_written_out() {
    let ground = Ground::new().await;
    let ada = ground.create("ada", Vec::new()).await;
    ground.lead("stranger").await;
    let answer = ground.done(&ada, "ListPods", json!({})).await;
    assert_eq!(answer.summary, "you see no other Pod");
    assert_eq!(answer.content.unwrap(), "ada [self] idle; scope (none); no children");
}

#[tokio::test]
async fn a_listing_says_what_is_needed_and_agrees_with_what_people_are_shown() {
    let ground = Ground::new().await;
    let (a, b) = (ground.path("a"), ground.path("b"));
    let ada = ground.create("ada", vec![write(&a), read(&b)]).await;
    let flat = protocol::ScopeRule { recursive: false, ..read(&b) };
    let bob = ground.busy_child(&ada, "bob", &[write(&a), flat.clone()]).await;
    ground.done_child(&bob, "grandchild", &[read(&ground.path("a/deep"))]).await;
    ground.done_child(&ada, "cid", &[]).await;
    ground.done(&ada, "StopPod", json!({ "name": "cid" })).await;
    ground.lead("stranger").await;
    let expected = [
        format!("ada [self] idle; scope write {a}, read {b}; 2 children"),
        format!("bob [spawned_child] running; scope write {a}, read {b} [non-recursive]; 1 child"),
        "cid [spawned_child] stopped, restorable; scope (none); no children".to_owned(),
    ];
    assert_eq!(lines(&ground, &ada).await, expected);
    let seen = ground.host().pods().visible(&ada).await.unwrap();
    let told: Vec<_> =
        seen.iter().map(|pod| (pod.name.as_str(), pod.state, pod.visibility.clone(), pod.children)).collect();
    assert_eq!(
        told,
        [
            ("ada", PodState::Idle, vec![Visibility::Itself], 2),
            ("bob", PodState::Running, vec![Visibility::SpawnedChild], 1),
            ("cid", PodState::Stopped, vec![Visibility::SpawnedChild], 0),
        ]
    );
    assert_eq!(
        seen.iter().map(|pod| pod.scope.clone()).collect::<Vec<_>>(),
        [vec![write(&a), read(&b)], vec![write(&a), flat], vec![]]
    );

    // Stopped children stay listed, also after a restart and a restore of their parent.
    ground.control(&bob, ControlVerb::Cancel).await.unwrap();
    ground.stage.until(&ada, |records| count(records, "child_event") == 2 && is_at_rest(records)).await;
    ground.control(&ada, ControlVerb::Stop).await.unwrap();
    ground.control(&ada, ControlVerb::Restore).await.unwrap();
    let ground = ground.restarted().await;
    assert_eq!(lines(&ground, &ada).await[2], expected[2]);
}

#[tokio::test]
async fn a_stranger_and_nobody_read_the_same_to_the_letter() {
    let ground = Ground::new().await;
    let ada = ground.lead("ada").await;
    let bob = ground.done_child(&ada, "bob", &[write(&ground.path("a"))]).await;
    let cid = ground.done_child(&bob, "cid", &[]).await;
    let stranger = ground.lead("stranger").await;
    let names = [
        "stranger".to_owned(),
        format!("local/{stranger}"),
        // A grandchild is visible only to its parent, and a child does not see its parent.
        "cid".to_owned(),
        format!("local/{cid}"),
        "nobody".to_owned(),
        format!("local/{}", uuid::Uuid::now_v7()),
        "elsewhere/bob".to_owned(),
        String::new(),
        "\u{7}".to_owned(),
        "x".repeat(10_000),
    ];
    for tool in ["SendToPod", "ReadPodOutput", "StopPod", "RestorePod", "SendToPeerPod"] {
        let mut told = Vec::new();
        for name in &names {
            let arguments = match tool {
                "SendToPod" | "SendToPeerPod" => json!({ "name": name, "message": "say x" }),
                _ => json!({ "name": name }),
            };
            told.push(ground.call(&ada, tool, arguments).await);
        }
        assert!(told.iter().all(|answer| *answer == told[0]), "{tool}: {told:?}");
        assert_eq!((told[0].code.as_deref(), told[0].is_error), (Some("not_visible"), true));
        assert_eq!(told[0].summary, "you see no Pod of this name; ListPods shows those that you see");
    }
    assert_eq!(ground.refused(&bob, "StopPod", json!({ "name": "ada" })).await.0, "not_visible");
    assert_eq!(ground.state(&stranger).await, PodState::Idle);
    // Its own children are found by name and by address.
    ground.done(&ada, "ReadPodOutput", json!({ "name": format!("local/{bob}") })).await;
    ground.done(&ada, "ReadPodOutput", json!({ "name": "bob" })).await;
}

#[tokio::test]
async fn what_is_for_children_is_not_for_oneself() {
    let ground = Ground::new().await;
    let ada = ground.lead("ada").await;
    for (tool, arguments) in [
        ("SendToPod", json!({ "name": "ada", "message": "say x" })),
        ("ReadPodOutput", json!({ "name": "ada" })),
        ("StopPod", json!({ "name": "ada" })),
    ] {
        let (code, sentence) = ground.refused(&ada, tool, arguments).await;
        assert_eq!(code, "permission_denied", "{sentence}");
        assert!(sentence.contains("children"), "{sentence}");
    }
    assert_eq!(ground.state(&ada).await, PodState::Idle);
}

#[tokio::test]
async fn tools_of_other_names_are_not_there() {
    let ground = Ground::new().await;
    let ada = ground.lead("ada").await;
    for absent in ["ListVisiblePods", "InspectPod", "AttachOrRestorePod", "AttachPod", "listpods"] {
        let command = protocol::ToolCommand { arguments: json!({}) };
        let error = ground.host().work().run_tool(crate::ground::fresh_key(), &origin(), &ada, absent, command).await;
        assert_eq!(error.unwrap_err().code, protocol::ErrorCode::NotFound);
    }
}

#[tokio::test]
async fn no_call_tells_a_path_of_ours() {
    let ground = Ground::new().await;
    let ada = ground.lead("ada").await;
    let ours = ground.own_folder();
    ground.done_child(&ada, "bob", &[write(&ground.path("a"))]).await;
    let calls = [
        ("ListPods", json!({})),
        ("SpawnPod", json!({ "name": "cid", "task": "say x", "scope": [write(&ground.path("b"))] })),
        ("SpawnPod", json!({ "name": "bob", "task": "say x", "scope": [] })),
        ("SendToPod", json!({ "name": "bob", "message": "say more" })),
        ("ReadPodOutput", json!({ "name": "bob" })),
        ("StopPod", json!({ "name": "bob" })),
        ("SendToPod", json!({ "name": "bob", "message": "say more" })),
        ("RestorePod", json!({ "name": "bob" })),
        ("ListPods", json!({})),
    ];
    for (tool, arguments) in calls {
        let answer = format!("{:?}", ground.call(&ada, tool, arguments).await);
        for secret in [ours.as_str(), "yoi.db", "outputs", "sock", "http"] {
            assert!(!answer.contains(secret), "{tool} tells {secret}: {answer}");
        }
    }
    let seen = serde_json::to_string(&ground.host().pods().visible(&ada).await.unwrap()).unwrap();
    assert!(!seen.contains(&ours) && !seen.contains("yoi.db"), "{seen}");
}

#[tokio::test]
async fn a_pod_of_another_runtime_is_not_made_up() {
    let ground = Ground::new().await;
    let ada = ground.lead("ada").await;
    let elsewhere = protocol::CreatePod { runtime_id: Some("other".parse().unwrap()), ..named("x") };
    assert!(ground.host().pods().create(crate::ground::fresh_key(), &origin(), elsewhere).await.is_err());
    assert_eq!(lines(&ground, &ada).await.len(), 1);
}
