//! What a Pod is created with: its profile, and the instructions in the folder that it works in.

use std::{collections::BTreeMap, fs};

use protocol::{CreatePod, ErrorCode, PermissionDecision, PermissionRule, WorkerId};
use runtime::Profile;

use crate::{
    bench::{Bench, Models, code, fresh, of_kind},
    stage::{named, origin},
};

impl Bench {
    pub(crate) async fn create_with(&self, name: &str, change: impl FnOnce(&mut CreatePod)) -> WorkerId {
        let mut create = named(name);
        change(&mut create);
        self.stage.host.pods().create(fresh(), &origin(), create).await.unwrap().pod.worker_id
    }
}

#[tokio::test]
async fn agents_md_of_the_working_directory_is_told_as_it_was_when_the_pod_was_made() {
    let bench = Bench::new().await;
    let folder = tempfile::tempdir().unwrap();
    let (path, cwd) = (folder.path().join("AGENTS.md"), folder.path().to_str().unwrap().to_owned());
    fs::write(&path, "Tabs, never spaces.\n").unwrap();
    let pod = bench.create_with("ada", |create| create.cwd = Some(cwd.clone())).await;
    let system = bench.system(&pod).await;
    assert!(system.contains("AGENTS.md") && system.contains("Tabs, never spaces."), "{system}");
    fs::write(&path, "Spaces, never tabs.\n").unwrap();
    bench.turn(&pod, "say hi").await;
    assert_eq!(bench.system(&pod).await, system);
    let bench = bench.restart().await;
    fs::remove_file(&path).unwrap();
    assert_eq!(bench.system(&pod).await, system);
    let later = bench.create_with("bob", |create| create.cwd = Some(cwd)).await;
    assert!(!bench.system(&later).await.contains("AGENTS.md"));
}

#[tokio::test]
async fn what_is_known_of_its_models_room_is_told_before_it_was_asked_anything() {
    let bench = Bench::new().await;
    let pod = bench.create_with("ada", |create| create.provider = Some("rehearsal".to_owned())).await;
    let usage = async |bench: &Bench| bench.stage.host.pods().get(&pod).await.unwrap().summary.usage;
    let born = usage(&bench).await;
    assert_eq!((born.context_limit, born.context_used, born.input), (200_000, 0, 0));
    let bench = bench.restart().await;
    assert_eq!(usage(&bench).await, born);
}

#[tokio::test]
async fn an_agents_md_that_is_a_link_or_a_folder_is_not_read() {
    let bench = Bench::new().await;
    let secret = tempfile::NamedTempFile::new().unwrap();
    fs::write(secret.path(), "zebra").unwrap();
    for (name, is_link) in [("ada", true), ("bob", false)] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("AGENTS.md");
        match is_link {
            true => std::os::unix::fs::symlink(secret.path(), &path).unwrap(),
            false => fs::create_dir(&path).unwrap(),
        }
        let cwd = folder.path().to_str().unwrap().to_owned();
        let pod = bench.create_with(name, |create| create.cwd = Some(cwd)).await;
        let system = bench.system(&pod).await;
        assert!(!system.contains("zebra") && !system.contains("AGENTS.md"), "{system}");
    }
}

#[tokio::test]
async fn a_profile_is_resolved_once_and_kept() {
    let rule = |decision| PermissionRule { tool: "Bash".to_owned(), pattern: None, folder: None, pod: None, decision };
    let careful = Profile {
        instructions: Some("Be careful.".to_owned()),
        tools: Some(vec!["Bash".to_owned()]),
        permissions: Some(vec![rule(PermissionDecision::Allow)]),
        reasoning: Some(protocol::ReasoningPolicy::Hidden),
        wake_on_peer: Some(false),
        ..Profile::default()
    };
    let bench = Bench::with(BTreeMap::from([("careful".to_owned(), careful)]), Models::default()).await;
    let mut unknown = named("nobody");
    unknown.profile = Some("reckless".to_owned());
    assert_eq!(code(bench.stage.host.pods().create(fresh(), &origin(), unknown).await), ErrorCode::InvalidInput);

    let pod = bench.create_with("ada", |create| create.profile = Some("careful".to_owned())).await;
    let own = |create: &mut CreatePod| {
        create.profile = Some("careful".to_owned());
        create.instructions = Some("Be quick.".to_owned());
        create.wake_on_peer = Some(true);
    };
    let quick = bench.create_with("bob", own).await;
    let detail = bench.stage.host.pods().get(&pod).await.unwrap();
    assert_eq!((detail.profile.as_deref(), detail.wake_on_peer), (Some("careful"), false));
    assert_eq!(detail.permissions, [rule(PermissionDecision::Allow)]);
    assert_eq!(detail.reasoning, protocol::ReasoningPolicy::Hidden);
    assert!(bench.system(&pod).await.ends_with("Be careful."));
    assert!(bench.system(&quick).await.ends_with("Be quick."), "the command's own fields come first");
    assert!(bench.stage.host.pods().get(&quick).await.unwrap().wake_on_peer);
    let records = bench.turn(&pod, "call Bash {\"command\":\"ls\"}\ncall Note {\"name\":\"a\"}").await;
    assert!(of_kind(&records, "approval_asked").is_empty());
    assert_eq!(bench.ledger.all(), ["Bash ls"], "Note is not offered");

    // The configuration changes; the Pod does not.
    let system = bench.system(&pod).await;
    let bench = bench.restart_with(BTreeMap::new()).await;
    assert_eq!(bench.stage.host.pods().get(&pod).await.unwrap().permissions, detail.permissions);
    assert_eq!(bench.system(&pod).await, system);
    bench.turn(&pod, r#"call Bash {"command":"id"}"#).await;
    assert_eq!(bench.ledger.all(), ["Bash ls", "Bash id"]);
}
