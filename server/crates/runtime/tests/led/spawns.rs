//! SpawnPod: a child with its first task, its loan and its working directory, or nothing at all (D11).

use protocol::{ControlEvent, Event, ScopeRule, Trigger};
use serde_json::json;

use crate::{
    ground::{Ground, count, fresh_key, heard, is_at_rest, news, pod_ref, read, said, triggers, write},
    stage::{named, origin, say},
};

#[tokio::test]
async fn a_child_gets_its_task_its_loan_and_its_place() {
    spawn_story(Ground::new().await).await;
}

pub async fn spawn_story(ground: Ground) {
    let ada = ground.lead("ada").await;
    let answer = ground
        .done(&ada, "SpawnPod", json!({ "name": "bob", "task": "say I did it", "scope": [write(&ground.path("a"))] }))
        .await;
    assert_eq!(answer.content.unwrap(), format!("lent to bob: write {}", ground.path("a")));
    let bob = ground.named("bob").await.unwrap();
    let records = ground.stage.until(&bob, is_at_rest_after_work).await;
    assert_eq!((heard(&records), said(&records)), (vec!["say I did it".to_owned()], vec!["I did it".to_owned()]));

    let child = ground.host().pods().get(&bob).await.unwrap();
    assert_eq!(child.scope, [write(&ground.path("a"))]);
    assert_eq!(child.summary.cwd, ground.path("a"));
    assert_eq!(child.summary.relations.parent, Some(pod_ref(&ada)));
    let parent = ground.host().pods().get(&ada).await.unwrap();
    assert_eq!((parent.summary.relations.children, parent.children.len()), (1, 1));
    assert_eq!((&parent.children[0].name, &parent.children[0].scope), (&child.summary.name, &child.scope));

    // The parent's journal records it, outside of every run, and the parent is told of the turn's end.
    let records = ground.stage.until(&ada, |records| !news(records).is_empty() && is_at_rest(records)).await;
    let spawned = records.iter().find(|record| record.event.kind() == "child_spawned").unwrap();
    assert_eq!(spawned.run_id, None);
    assert!(matches!(&spawned.event, Event::Control(ControlEvent::ChildSpawned { child, scope })
        if child.pod == pod_ref(&bob) && *scope == [write(&ground.path("a"))]));
    assert_eq!(news(&records), [("turn_ended".to_owned(), "bob".to_owned())]);
    assert_eq!(triggers(&records), [Trigger::Child]);
}

fn is_at_rest_after_work(records: &[protocol::Record]) -> bool {
    count(records, "run_finished") > 0 && is_at_rest(records)
}

#[tokio::test]
async fn a_model_spawns_two_children_in_one_turn_and_hears_of_both() {
    let ground = Ground::new().await;
    let ada = ground.lead("ada").await;
    let call = |name: &str, folder: &str| {
        let arguments =
            json!({ "name": name, "task": format!("say {name} here"), "scope": [write(&ground.path(folder))] });
        format!("call SpawnPod {arguments}")
    };
    ground.tell(&ada, &format!("{}\n{}\nsay both are there", call("bob", "a"), call("cid", "b"))).await;
    let records = ground.stage.until(&ada, |records| news(records).len() == 2 && is_at_rest(records)).await;
    assert_eq!(count(&records, "child_spawned"), 2);
    let mut told: Vec<String> = news(&records).into_iter().map(|(_, name)| name).collect();
    told.sort();
    assert_eq!(told, ["bob", "cid"]);
    let said = said(&records).join("\n");
    assert!(said.contains("spawned bob; it begins its task now") && said.contains("both are there"), "{said}");
    for name in ["bob", "cid"] {
        let child = ground.named(name).await.unwrap();
        let records = ground.stage.until(&child, is_at_rest_after_work).await;
        assert_eq!(heard(&records), [format!("say {name} here")]);
    }
}

#[tokio::test]
async fn the_first_task_comes_exactly_once_when_yoi_stops_right_after_the_answer() {
    for _ in 0..5 {
        let ground = Ground::new().await;
        let ada = ground.lead("ada").await;
        let bob = ground.spawn(&ada, "bob", "say done", &[write(&ground.path("a"))]).await;
        let ground = ground.restarted().await;
        // If its first run was interrupted, it is paused with its task in its journal; otherwise it is done.
        let records = ground.stage.until(&bob, |records| count(records, "run_finished") > 0).await;
        assert_eq!(heard(&records), ["say done"]);
        let ground = ground.restarted().await;
        assert_eq!(heard(&ground.stage.records(&bob).await), ["say done"]);
        assert!(ground.host().pods().get(&bob).await.unwrap().queued.is_empty());
        assert_eq!(ground.host().pods().get(&ada).await.unwrap().children.len(), 1);
    }
}

#[tokio::test]
async fn a_spawn_that_is_refused_says_why_and_leaves_nothing() {
    let ground = Ground::new().await;
    let scope = vec![write(&ground.path("a")), read(&ground.path("b"))];
    let ada = ground.create("ada", scope).await;
    std::os::unix::fs::symlink(ground.own_folder(), ground.path("a/link")).unwrap();
    let before = ground.host().pods().list(&Default::default()).await.unwrap().items.len();
    let spawn = |name: &str, task: &str, scope: Vec<ScopeRule>| json!({ "name": name, "task": task, "scope": scope });
    let (a, b, outside) = (ground.path("a"), ground.path("b"), ground.path("outside"));
    let with = |name: &str, value: &str| {
        let mut arguments = spawn("bob", "say x", vec![write(&a)]);
        arguments[name] = json!(value);
        arguments
    };
    for (arguments, code, words) in [
        (spawn("bob", "say x", vec![write(&outside)]), "scope_not_held", "outside"),
        (spawn("bob", "say x", vec![write(&b)]), "scope_not_held", "may lend"),
        (spawn("bob", "say x", vec![read(&b), write(&ground.path(""))]), "scope_not_held", "may lend"),
        (spawn("bob", "say x", vec![write("work/a")]), "invalid_input", "absolute"),
        (spawn("bob", "say x", vec![write(&format!("{a}/missing"))]), "invalid_input", "does not exist"),
        (spawn("bob", "say x", vec![write(&format!("{a}/../outside"))]), "scope_not_held", "outside"),
        (spawn("bob", "say x", vec![write(&format!("{a}/link"))]), "scope_not_held", "link"),
        // A caller without access to it is not told whether it exists.
        (spawn("bob", "say x", vec![write(&format!("{outside}/missing"))]), "scope_not_held", "outside"),
        (spawn("ada", "say x", vec![write(&a)]), "name_taken", "ada"),
        (spawn("two words", "say x", vec![write(&a)]), "invalid_input", "name"),
        (spawn("bob", " \n", vec![write(&a)]), "invalid_input", "task is empty"),
        (spawn("bob", &"x".repeat(65_537), vec![write(&a)]), "payload_too_large", "too large"),
        (with("profile", "coder"), "invalid_input", "no profile is called \"coder\""),
        (with("surprise", "x"), "invalid_input", "surprise"),
        (json!({ "name": "bob", "task": "say x" }), "invalid_input", "scope"),
    ] {
        let told = ground.refused(&ada, "SpawnPod", arguments.clone()).await;
        assert_eq!(told.0, code, "{arguments}: {}", told.1);
        assert!(told.1.contains(words), "{arguments}: {}", told.1);
        assert!(!told.1.contains(&ground.own_folder()), "{}", told.1);
    }
    let records = ground.stage.records(&ada).await;
    assert_eq!(count(&records, "child_spawned"), 0);
    assert!(ground.host().pods().get(&ada).await.unwrap().children.is_empty());
    assert_eq!(ground.host().pods().list(&Default::default()).await.unwrap().items.len(), before);
    assert_eq!(ground.may(&ada, &a).await.1, "yes");
    // All of it is still free.
    ground.spawn(&ada, "bob", "say x", &[write(&a), read(&b)]).await;
}

#[tokio::test]
async fn the_name_of_a_pod_that_is_not_seen_is_no_refusal_and_the_child_gets_one_of_its_own() {
    let ground = Ground::new().await;
    let ada = ground.lead("ada").await;
    let longest = "x".repeat(protocol::POD_NAME_BYTES_MAX);
    for hidden in ["hidden", &longest] {
        let stranger = ground.create(hidden, Vec::new()).await;
        let arguments = json!({ "name": hidden, "task": "say x", "scope": [] });
        let answer = ground.done(&ada, "SpawnPod", arguments.clone()).await;
        let children = ground.host().pods().get(&ada).await.unwrap().children;
        let child = children.iter().map(|child| child.name.to_string()).find(|name| name.starts_with(&hidden[..6]));
        let child = child.expect("the child is there under a derived name");
        assert_ne!(child, hidden);
        assert!(answer.summary.starts_with(&format!("spawned {child} ")), "{answer:?}");
        assert_eq!(ground.named(hidden).await.unwrap(), stranger);
        // The child itself is visible, so its name is taken, whoever else has another one.
        let again = json!({ "name": child, "task": "say x", "scope": [] });
        assert_eq!(ground.refused(&ada, "SpawnPod", again).await.0, "name_taken");
    }
}

#[tokio::test]
async fn a_child_without_a_scope_works_where_its_parent_does_and_holds_nothing() {
    let ground = Ground::new().await;
    let ada = ground.lead("ada").await;
    let answer = ground.done(&ada, "SpawnPod", json!({ "name": "bob", "task": "say x", "scope": [] })).await;
    assert_eq!(answer.content.unwrap(), "lent to bob: (none)");
    let bob = ground.named("bob").await.unwrap();
    let child = ground.host().pods().get(&bob).await.unwrap();
    assert_eq!((child.scope, child.summary.cwd), (Vec::new(), ground.path("").trim_end_matches('/').to_owned()));
    assert!(ground.may(&bob, &ground.path("a")).await.0.contains("outside"));
}

#[tokio::test]
async fn what_a_person_does_beside_a_spawn_keeps_the_name() {
    let ground = Ground::new().await;
    let ada = ground.lead("ada").await;
    ground.spawn(&ada, "bob", "say x", &[]).await;
    let taken = ground.host().pods().create(fresh_key(), &origin(), named("bob")).await.unwrap_err();
    assert_eq!(taken.code, protocol::ErrorCode::NameTaken);
    let bob = ground.named("bob").await.unwrap();
    ground.stage.until(&bob, is_at_rest_after_work).await;
    ground.host().work().input(fresh_key(), &origin(), &bob, say("say a person may talk to it")).await.unwrap();
    ground.stage.until(&bob, |records| count(records, "run_finished") == 2).await;
}
