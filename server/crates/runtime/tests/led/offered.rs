//! What a model really gets: the tools that it is offered, and its context (D1, D8).

use std::sync::Arc;

use protocol::ControlVerb;
use serde_json::{Value, json};
use testkit::scripted_model::{Answer, Question, ScriptedModel, Step};
use tokio::sync::Notify;

use crate::ground::{Ground, count, is_at_rest, news, triggers};

const POD_TOOLS: [&str; 7] =
    ["ListPods", "ReadPodOutput", "RestorePod", "SendToPeerPod", "SendToPod", "SpawnPod", "StopPod"];

#[tokio::test]
async fn the_tools_have_exactly_these_names_and_no_word_of_them_says_attach() {
    let model = ScriptedModel::start().await;
    let ground = Ground::with_model(&model).await;
    let ada = ground.lead("ada").await;
    model.otherwise(Answer::say("fine"));
    ground.tell(&ada, "hello").await;
    ground.stage.until_idle(&ada).await;
    let question = &model.requests()[0];
    let of_host =
        |tool: &&Value| !["Asked", "Linger", "Meet", "Probe"].contains(&tool["function"]["name"].as_str().unwrap());
    let offered: Vec<&Value> = question.body["tools"].as_array().unwrap().iter().filter(of_host).collect();
    let names: Vec<&str> = offered.iter().map(|tool| tool["function"]["name"].as_str().unwrap()).collect();
    assert_eq!(names, POD_TOOLS);
    for tool in offered {
        assert!(tool["function"]["description"].as_str().unwrap().len() > 40, "{tool}");
        let schema = &tool["function"]["parameters"];
        assert_eq!((&schema["type"], &schema["additionalProperties"]), (&json!("object"), &json!(false)), "{tool}");
    }
    let all = question.body.to_string();
    assert!(all.contains("You can lead other agents"), "{all}");
    assert!(!all.to_lowercase().contains("attach"), "{all}");
    assert!(!all.contains(&ground.own_folder()), "{all}");
}

#[tokio::test]
async fn a_model_is_sent_the_news_behind_the_answer_that_it_was_giving() {
    let model = ScriptedModel::start().await;
    let ground = Ground::with_model(&model).await;
    let ada = ground.lead("ada").await;
    let task = "say at work\nwait 500";
    ground.done(&ada, "SpawnPod", json!({ "name": "bob", "task": task, "scope": [], "profile": "child" })).await;
    let bob = ground.named("bob").await.unwrap();
    ground.stage.until(&bob, |records| count(records, "text_chunk") > 0).await;
    let go_on = Arc::new(Notify::new());
    model.push(Answer::new().text("one ").step(Step::WaitFor(go_on.clone())).text("two").finish());
    model.push(Answer::say("noted"));
    ground.tell(&ada, "hello").await;
    ground.stage.until(&ada, |records| count(records, "text_chunk") > 0).await;
    ground.control(&bob, ControlVerb::Cancel).await.unwrap();
    ground.stage.until(&ada, |records| news(records).len() == 1).await;
    go_on.notify_one();
    let records = ground.stage.until(&ada, |records| triggers(records).len() == 2 && is_at_rest(records)).await;
    assert_eq!(news(&records).len(), 1);
    let history = ground.host().journals().history(&ada).await.unwrap();
    let known: Vec<String> = history.messages.iter().map(|message| message.content.clone()).collect();
    let sent = contents(&model.requests()[1]);
    assert_eq!(sent[1..], ["hello", "one two", "[child event]\nbob turn ended: a person cancelled it"]);
    assert_eq!(known, [sent, vec!["noted".to_owned()]].concat());
    let ground = ground.restarted().await;
    let again = ground.host().journals().history(&ada).await.unwrap();
    assert_eq!(serde_json::to_vec(&again).unwrap(), serde_json::to_vec(&history).unwrap());
}

fn contents(question: &Question) -> Vec<String> {
    let messages = question.body["messages"].as_array().unwrap();
    messages.iter().map(|message| message["content"].as_str().unwrap_or_default().to_owned()).collect()
}
