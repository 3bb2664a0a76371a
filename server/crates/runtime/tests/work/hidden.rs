//! Reasoning that people may not see, but that a tool loop needs.

use protocol::{CreatePod, ReasoningPolicy};
use serde_json::json;
use testkit::scripted_model::{Answer, ScriptedModel};

use crate::{
    bench::{Bench, fresh, of_kind},
    stage::{named, origin},
};

#[tokio::test]
async fn what_is_hidden_goes_back_to_its_model_and_to_nobody_else() {
    let server = ScriptedModel::start().await;
    let bench = Bench::on(&server).await;
    for (policy, shown) in [(ReasoningPolicy::Hidden, ""), (ReasoningPolicy::Summary, "zebra")] {
        let create = CreatePod { reasoning: Some(policy), ..named(&format!("ada-{shown}")) };
        let pod = bench.stage.host.pods().create(fresh(), &origin(), create).await.unwrap().pod.worker_id;
        server.push(Answer::new().reasoning("zebra\nquagga").tool_call("a", "Look", &["{\"name\":\"x\"}"]).finish());
        server.push(Answer::say("done"));
        bench.turn(&pod, "work").await;
        let asked = server.requests();
        let sent = asked.last().unwrap().body["messages"].as_array().unwrap().clone();
        let answer = sent.iter().find(|message| message["role"] == "assistant").unwrap();
        assert_eq!(answer["reasoning_content"], "zebra\nquagga", "DeepSeek refuses the question without it");
        // People see that something is sent back, and not what.
        let history = bench.stage.host.journals().history(&pod).await.unwrap();
        let thoughts: Vec<_> = history.messages.iter().flat_map(|message| &message.thoughts).collect();
        assert_eq!(
            serde_json::to_value(&thoughts).unwrap(),
            json!([{ "text": shown, "data": { "type": "reasoning_content" }, "hidden": true }])
        );
        assert!(history.messages.iter().all(|message| message.reasoning.is_none()));
        let records = bench.stage.records(&pod).await;
        assert!(!serde_json::to_string(&records).unwrap().contains("quagga"));
        assert_eq!(of_kind(&records, "reasoning_finished")[0]["text"], shown);
    }
}
