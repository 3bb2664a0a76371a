//! A model that cannot be used now: another one replaces it, or the Pod waits until a usage limit is over.

use std::collections::BTreeMap;

use protocol::{ErrorCode, ModelName, PatchPod, PodState, WorkerId};
use provider::RetryPolicy;
use runtime::Profile;
use serde_json::{Value, json};
use testkit::scripted_model::{Answer, ScriptedModel, Step, Tokens};

use crate::{
    bench::{Bench, Models, last_of, last_state, of_kind, runs},
    stage::origin,
};

/// Two servers, each tried only once, and Pods of the profile `usual`.
async fn two(own: &ScriptedModel, spare: &ScriptedModel, profile: Profile) -> (Bench, WorkerId) {
    let servers = vec![("own", own.base_url()), ("spare", spare.base_url())];
    let policy = RetryPolicy { attempts_max: 1, ..RetryPolicy::default() };
    let profiles = BTreeMap::from([("usual".to_owned(), profile)]);
    let bench = Bench::with(profiles, Models { servers, policy, ..Models::default() }).await;
    let pod = bench.create_with("ada", |create| create.profile = Some("usual".to_owned())).await;
    (bench, pod)
}

fn fallback(names: &[&str]) -> Profile {
    let name = |name: &&str| ModelName::try_from((*name).to_owned()).unwrap();
    Profile { fallback: names.iter().map(name).collect(), ..Profile::default() }
}

fn limit(seconds: &str) -> Answer {
    Answer::refuse(429, r#"{"error":{"message":"you have used it up"}}"#).header("retry-after", seconds)
}

fn models(server: &ScriptedModel) -> Vec<Value> {
    server.requests().iter().map(|asked| asked.body["model"].clone()).collect()
}

#[tokio::test]
async fn where_a_model_is_overloaded_the_next_one_answers_for_the_rest_of_the_run() {
    let (own, spare) = (ScriptedModel::start().await, ScriptedModel::start().await);
    // Its own model is not a replacement for itself, and a provider that no longer exists is not called.
    let (bench, pod) = two(&own, &spare, fallback(&["own/own", "gone/one", "spare/vendor/large"])).await;
    own.push(Answer::refuse(503, "busy"));
    spare.push(
        Answer::new()
            .tool_call("a", "Look", &["{\"name\":\"x\"}"])
            .usage(Tokens { input: 20, cached: 0, output: 2 })
            .finish(),
    );
    spare.push(Answer::new().text("done").usage(Tokens { input: 30, cached: 0, output: 3 }).finish());
    let records = bench.turn(&pod, "work").await;
    assert_eq!(last_of(&records, "run_finished")["outcome"], "completed");
    let alerts = of_kind(&records, "alert");
    assert_eq!(alerts.len(), 1, "{alerts:?}");
    let sentence = "own: HTTP status 503: busy; spare/vendor/large is used for the rest of this run";
    assert_eq!((&alerts[0]["source"], &alerts[0]["text"]), (&json!("model"), &json!(sentence)));
    assert_eq!((models(&own), models(&spare)), (vec![json!("own")], vec![json!("vendor/large"); 2]));
    // The next run calls its own one again.
    own.push(Answer::new().text("well again").usage(Tokens { input: 1, cached: 0, output: 1 }).finish());
    bench.turn(&pod, "more").await;
    assert_eq!((models(&own).len(), models(&spare).len()), (2, 2));
    let usage = bench.stage.host.journals().usage().await.unwrap();
    let of_models: Vec<_> =
        usage.models.iter().map(|one| (one.provider.as_str(), one.model.as_str(), one.usage.input)).collect();
    assert_eq!(of_models, [("spare", "vendor/large", 50), ("own", "own", 1)]);
}

#[tokio::test]
async fn who_stands_in_is_asked_again_after_a_crash_until_the_run_is_over() {
    let (own, spare) = (ScriptedModel::start().await, ScriptedModel::start().await);
    let (bench, pod) = two(&own, &spare, fallback(&["spare/vendor/large"])).await;
    own.push(Answer::refuse(503, "busy"));
    spare.push(Answer::new().tool_call("a", "Look", &["{\"name\":\"x\"}"]).finish());
    spare.push(Answer::new().text("half of").step(Step::Stall));
    bench.send(&pod, "work").await;
    spare.wait_for_requests(2).await;
    bench.stage.until(&pod, |records| !of_kind(records, "text_chunk").is_empty()).await;
    let bench = bench.restart().await;
    bench.until_state(&pod, PodState::Paused).await;
    spare.push(Answer::say("done"));
    bench.control(&pod, protocol::ControlVerb::Resume).await.unwrap();
    bench.until_runs(&pod, 2).await;
    assert_eq!((models(&own).len(), models(&spare)), (1, vec![json!("vendor/large"); 3]));
    let alerts = of_kind(&bench.stage.records(&pod).await, "alert");
    assert_eq!(alerts[0]["model"], "spare/vendor/large");
    // A new run calls its own one.
    own.push(Answer::say("well again"));
    bench.turn(&pod, "more").await;
    assert_eq!((models(&own).len(), models(&spare).len()), (2, 3));
}

#[tokio::test]
async fn nobody_stands_in_for_an_answer_that_has_begun_or_a_question_that_is_wrong() {
    let (own, spare) = (ScriptedModel::start().await, ScriptedModel::start().await);
    let (bench, pod) = two(&own, &spare, fallback(&["spare/spare"])).await;
    own.push(Answer::new().text("half of a"));
    own.push(Answer::refuse(401, "no key"));
    for _ in 0..2 {
        let records = bench.turn(&pod, "work").await;
        assert_eq!(last_of(&records, "run_finished")["outcome"], "error");
        assert!(of_kind(&records, "alert").is_empty());
    }
    assert!(spare.requests().is_empty());
}

#[tokio::test]
async fn at_a_usage_limit_the_pod_says_until_when_and_waits_for_a_person() {
    let (own, spare) = (ScriptedModel::start().await, ScriptedModel::start().await);
    let (bench, pod) = two(&own, &spare, Profile::default()).await;
    own.push(limit("3600"));
    bench.send(&pod, "work").await;
    let records = bench.until_state(&pod, PodState::Paused).await;
    let told = last_of(&records, "limit_reached");
    assert_eq!(told["resumes"], false);
    let finished = last_of(&records, "run_finished");
    assert_eq!((&finished["outcome"], &finished["code"]), (&json!("error"), &json!("usage_limit")));
    let reason = bench.stage.host.pods().get(&pod).await.unwrap().summary.state_reason.unwrap();
    let minute = told["until"].as_str().unwrap()[..16].replace('T', " ");
    assert_eq!(reason, format!("the provider's usage limit is reached until {minute} UTC"));
    // A person can resume at any time, and nothing is asked twice.
    own.push(Answer::say("on again"));
    bench.control(&pod, protocol::ControlVerb::Resume).await.unwrap();
    let records = bench.until_runs(&pod, 2).await;
    assert_eq!(of_kind(&records, "run_started")[1]["trigger"], "resume");
    assert_eq!(bench.history(&pod).await, ["user: work", "assistant: on again"]);
}

#[tokio::test]
async fn a_pod_that_was_told_to_goes_on_by_itself_once_also_after_a_restart() {
    let (own, spare) = (ScriptedModel::start().await, ScriptedModel::start().await);
    let told = Profile { auto_resume: Some(true), ..Profile::default() };
    let (bench, pod) = two(&own, &spare, told).await;
    own.push(limit("6"));
    own.push(limit("1"));
    bench.send(&pod, "work").await;
    let records = bench.until_state(&pod, PodState::Paused).await;
    assert_eq!(last_of(&records, "limit_reached")["resumes"], true);
    let bench = bench.restart().await;
    let is_again = |records: &[protocol::Record]| runs(records) == 2 && last_state(records) == Some(PodState::Paused);
    let records = bench.stage.until(&pod, is_again).await;
    assert_eq!(of_kind(&records, "run_started")[1]["trigger"], "limit");
    // The limit that this run hit is left to a person, however often somebody looks.
    assert_eq!(last_of(&records, "limit_reached")["resumes"], false);
    let bench = bench.restart().await;
    tokio::time::sleep(std::time::Duration::from_secs(3)).await;
    assert_eq!((runs(&bench.stage.records(&pod).await), own.requests().len()), (2, 2));
    own.push(Answer::say("on again"));
    bench.turn(&pod, "go on").await;
    // A person has acted: at the next limit it resumes by itself once more.
    own.push(limit("1"));
    own.push(Answer::say("and on"));
    bench.send(&pod, "more").await;
    let records = bench.until_runs(&pod, 5).await;
    assert_eq!(of_kind(&records, "run_started")[4]["trigger"], "limit");
    assert_eq!(bench.history(&pod).await.last().unwrap(), "assistant: and on");
}

#[tokio::test]
async fn what_is_told_while_it_waits_counts_and_can_be_taken_back() {
    let (own, spare) = (ScriptedModel::start().await, ScriptedModel::start().await);
    let (bench, pod) = two(&own, &spare, Profile::default()).await;
    let patch = |is_on| {
        let patch = PatchPod { auto_resume: Some(is_on), ..PatchPod::default() };
        let bench = &bench;
        async move { bench.stage.host.pods().patch(crate::bench::fresh(), &origin(), &pod_of(bench).await, patch).await }
    };
    own.push(limit("6"));
    bench.send(&pod, "work").await;
    bench.until_state(&pod, PodState::Paused).await;
    assert!(patch(true).await.unwrap().auto_resume);
    assert!(!patch(false).await.unwrap().auto_resume);
    tokio::time::sleep(std::time::Duration::from_secs(8)).await;
    assert_eq!(own.requests().len(), 1, "it was taken back");
    own.push(Answer::say("on again"));
    patch(true).await.unwrap();
    bench.until_runs(&pod, 2).await;
    // Cancelled is cancelled.
    own.push(limit("6"));
    bench.send(&pod, "more").await;
    bench.until_state(&pod, PodState::Paused).await;
    bench.control(&pod, protocol::ControlVerb::Cancel).await.unwrap();
    tokio::time::sleep(std::time::Duration::from_secs(8)).await;
    assert_eq!(own.requests().len(), 3);
    let unknown = WorkerId::parse("nobody").unwrap();
    let gone = bench.stage.host.pods().patch(crate::bench::fresh(), &origin(), &unknown, PatchPod::default()).await;
    assert_eq!(crate::bench::code(gone), ErrorCode::PodNotFound);
}

async fn pod_of(bench: &Bench) -> WorkerId {
    let name = protocol::PodName::parse("ada").unwrap();
    bench.stage.host.pods().named(&name).await.unwrap().unwrap().worker_id
}
