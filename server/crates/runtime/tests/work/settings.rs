//! Changing the settings of a live Pod: at once between runs, and from the next model call on within one.

use std::collections::BTreeMap;

use protocol::{Access, ApiError, ErrorCode, PatchPod, PodDetail, ScopeRule, Thinking, WorkerId};
use runtime::Profile;
use serde_json::json;
use testkit::scripted_model::{Answer, ScriptedModel, Tokens};

use crate::{
    bench::{Bench, Models, code, fresh, last_of, of_kind},
    stage::origin,
};

impl Bench {
    async fn patch(&self, pod: &WorkerId, patch: PatchPod) -> Result<PodDetail, ApiError> {
        self.stage.host.pods().patch(fresh(), &origin(), pod, patch).await
    }
}

fn model(name: &str) -> PatchPod {
    PatchPod { model: Some(name.to_owned()), ..PatchPod::default() }
}

#[tokio::test]
async fn another_model_answers_from_the_next_call_on_and_each_has_its_own_tokens() {
    let server = ScriptedModel::start().await;
    let bench = Bench::on(&server).await;
    let pod = bench.stage.create("ada").await;
    server.push(Answer::new().text("one").usage(Tokens { input: 10, cached: 0, output: 1 }).finish());
    bench.turn(&pod, "first").await;
    let detail = bench.patch(&pod, model("other")).await.unwrap();
    assert_eq!((detail.summary.model.as_str(), detail.summary.provider.as_str()), ("other", "scripted"));
    let records = bench.stage.records(&pod).await;
    assert_eq!(detail.summary.head_seq, records.last().unwrap().seq);
    let told = last_of(&records, "settings_changed");
    assert_eq!(told, json!({ "kind": "settings_changed", "by": "operator", "model": "other" }));
    server.push(Answer::new().text("two").usage(Tokens { input: 30, cached: 0, output: 2 }).finish());
    bench.turn(&pod, "second").await;
    let asked: Vec<_> = server.requests().iter().map(|asked| asked.body["model"].clone()).collect();
    assert_eq!(asked, ["scripted", "other"]);
    // The record is for people: the model is not told.
    assert!(!server.requests()[1].body["messages"].to_string().contains("settings"));
    let usage = bench.stage.host.journals().usage().await.unwrap();
    let models: Vec<_> = usage.models.iter().map(|one| (one.model.as_str(), one.usage.input)).collect();
    assert_eq!(models, [("other", 30), ("scripted", 10)]);
}

#[tokio::test]
async fn only_what_changes_is_told_and_nothing_when_nothing_does() {
    let bench = Bench::new().await;
    let pod = bench.stage.create("ada").await;
    bench.patch(&pod, model("rehearsal")).await.unwrap();
    assert!(of_kind(&bench.stage.records(&pod).await, "settings_changed").is_empty());
    let patch = PatchPod {
        instructions: Some("Answer in German.".to_owned()),
        thinking: Some(Thinking::High),
        ..model("rehearsal")
    };
    let detail = bench.patch(&pod, patch).await.unwrap();
    assert_eq!((detail.thinking, detail.instructions.as_deref()), (Some(Thinking::High), Some("Answer in German.")));
    let told = last_of(&bench.stage.records(&pod).await, "settings_changed");
    let expected = json!({ "kind": "settings_changed", "by": "operator", "thinking": "high",
        "instructions": "Answer in German." });
    assert_eq!(told, expected);
    assert!(bench.system(&pod).await.ends_with("Answer in German."));
    // Empty means none.
    let none = PatchPod { instructions: Some(String::new()), ..PatchPod::default() };
    assert_eq!(bench.patch(&pod, none).await.unwrap().instructions, None);
    assert_eq!(last_of(&bench.stage.records(&pod).await, "settings_changed")["instructions"], "");
}

#[tokio::test]
async fn what_cannot_be_is_refused_and_nothing_changes() {
    let bench = Bench::new().await;
    let pod = bench.stage.create("ada").await;
    let nowhere = PatchPod { provider: Some("nobody".to_owned()), ..PatchPod::default() };
    assert_eq!(code(bench.patch(&pod, nowhere).await), ErrorCode::InvalidInput);
    assert_eq!(code(bench.patch(&pod, model(" ")).await), ErrorCode::InvalidInput);
    let profile = PatchPod { profile: Some("nobody".to_owned()), ..PatchPod::default() };
    assert_eq!(code(bench.patch(&pod, profile).await), ErrorCode::InvalidInput);
    let relative = ScopeRule { path: "src".to_owned(), access: Access::Write, recursive: true };
    let scope = PatchPod { scope: Some(vec![relative]), ..PatchPod::default() };
    assert_eq!(code(bench.patch(&pod, scope).await), ErrorCode::InvalidInput);
    assert!(of_kind(&bench.stage.records(&pod).await, "settings_changed").is_empty());
    assert_eq!(bench.stage.host.pods().get(&pod).await.unwrap().summary.model, "rehearsal");
}

#[tokio::test]
async fn a_profile_brings_its_settings_and_what_stands_beside_it_counts_more() {
    let profile = Profile {
        instructions: Some("Review.".to_owned()),
        thinking: Some(Thinking::Low),
        tools: Some(vec!["Read".to_owned()]),
        ..Profile::default()
    };
    let bench = Bench::with(BTreeMap::from([("review".to_owned(), profile)]), Models::default()).await;
    let pod = bench.stage.create("ada").await;
    let patch = PatchPod { profile: Some("review".to_owned()), thinking: Some(Thinking::Max), ..PatchPod::default() };
    let detail = bench.patch(&pod, patch).await.unwrap();
    assert_eq!(detail.profile.as_deref(), Some("review"));
    assert_eq!((detail.instructions.as_deref(), detail.thinking), (Some("Review."), Some(Thinking::Max)));
    let told = last_of(&bench.stage.records(&pod).await, "settings_changed");
    assert_eq!(told["profile"], "review");
}

#[tokio::test]
async fn a_profiles_scope_begins_at_the_pods_folder_and_its_model_is_one_of_its_provider() {
    let rule = |path: &str, access| ScopeRule { path: path.to_owned(), access, recursive: true };
    let profile = Profile {
        provider: Some("rehearsal".to_owned()),
        model: Some("large".to_owned()),
        scope: Some(vec![rule(".", Access::Read), rule("./src", Access::Write), rule("/tmp", Access::Read)]),
        ..Profile::default()
    };
    let server = ScriptedModel::start().await;
    let models = Models { servers: vec![("scripted", server.base_url())], ..Models::default() };
    let bench = Bench::with(BTreeMap::from([("review".to_owned(), profile)]), models).await;
    let folder = bench.stage.folder.path().canonicalize().unwrap();
    let at = |name: &str| folder.join(name).to_str().unwrap().trim_end_matches('/').to_owned();
    let wanted = [rule(&at(""), Access::Read), rule(&at("src"), Access::Write), rule("/tmp", Access::Read)];
    let made = bench
        .create_with("ada", |create| {
            create.profile = Some("review".to_owned());
            create.cwd = Some(at(""));
        })
        .await;
    let detail = bench.stage.host.pods().get(&made).await.unwrap();
    assert_eq!((detail.scope.as_slice(), detail.summary.model.as_str()), (&wanted[..], "large"));
    let other = bench.create_with("bob", |create| create.cwd = Some(at(""))).await;
    let patch = PatchPod { profile: Some("review".to_owned()), ..PatchPod::default() };
    let detail =
        bench.patch(&other, PatchPod { provider: Some("scripted".to_owned()), ..patch.clone() }).await.unwrap();
    assert_eq!((detail.scope.as_slice(), detail.summary.model.as_str()), (&wanted[..], "scripted"));
    assert_eq!(bench.patch(&other, patch).await.unwrap().summary.model, "large");
}

#[tokio::test]
async fn a_repeated_change_happens_once() {
    let bench = Bench::new().await;
    let pod = bench.stage.create("ada").await;
    let key = fresh();
    for _ in 0..2 {
        let pods = bench.stage.host.pods();
        let patch = PatchPod { thinking: Some(Thinking::Low), ..PatchPod::default() };
        assert_eq!(pods.patch(key.clone(), &origin(), &pod, patch).await.unwrap().thinking, Some(Thinking::Low));
    }
    assert_eq!(of_kind(&bench.stage.records(&pod).await, "settings_changed").len(), 1);
    // Also if what it names no longer exists by then.
    let gone = PatchPod { profile: Some("gone".to_owned()), ..PatchPod::default() };
    assert_eq!(bench.stage.host.pods().patch(key, &origin(), &pod, gone).await.unwrap().thinking, Some(Thinking::Low));
}
