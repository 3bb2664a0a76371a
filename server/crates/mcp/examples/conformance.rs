//! The client for the conformance suite of the Model Context Protocol. It connects to the server whose address is its
//! last argument with the same code as a Pod, calls each tool once, and answers each question with the defaults of its
//! form.

use std::{collections::BTreeMap, process::ExitCode};

use mcp::{Address, Answer, Clients, ServerConfig, ServerName, Servers, ServersOptions, Stand};
use pod::Scope;
use protocol::{NetworkPolicy, WorkerId};
use serde_json::{Map, Value, json};
use tokio::sync::mpsc;
use tools::{Lifeline, Network, Place, Questions, Tool, bash::BashOptions};

#[tokio::main]
async fn main() -> ExitCode {
    let Some(url) = std::env::args().next_back() else { return ExitCode::FAILURE };
    match run(&url).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("{why}");
            ExitCode::FAILURE
        }
    }
}

async fn run(url: &str) -> Result<(), String> {
    let told = |error: &dyn std::fmt::Display| error.to_string();
    let name = ServerName::parse("suite").map_err(|error| told(&error))?;
    let address = Address::url(url, BTreeMap::new()).map_err(|error| told(&error))?;
    let config = ServerConfig::new(name, address, None, Vec::new()).map_err(|error| told(&error))?;
    let bash = BashOptions::of_this_process();
    let servers = Servers::new(ServersOptions { configs: vec![config], bash, accepted: None, logins: None });
    let pod = WorkerId::parse("018f0000-0000-7000-8000-000000000001").map_err(|error| told(&error))?;
    let (asks, mut asked) = mpsc::channel(16);
    tokio::spawn(async move {
        while let Some(ask) = asked.recv().await {
            let ask: mcp::Ask = ask;
            // The server may have gone away.
            let _ = ask.answer.send(Answer::Given(json!({})));
        }
    });
    let mut clients = Clients::of_pod(&servers, &pod, None, asks);
    let (wishes, _) = mpsc::channel(1);
    clients.meet(&Stand { cwd: "/".into(), scope: Scope::default(), network: NetworkPolicy::None, wishes }).await;
    let away = clients.settled().wait().await;
    if !away.is_empty() {
        return Err(away.join("\n"));
    }
    for tool in clients.offered() {
        let outcome = call(&pod, &*tool).await;
        eprintln!("{}: {}", tool.name(), outcome.summary);
    }
    clients.end().await;
    Ok(())
}

async fn call(pod: &WorkerId, tool: &dyn Tool) -> pod::ToolOutcome {
    let (output, mut written) = mpsc::channel(8);
    let place = Place {
        worker_id: pod.clone(),
        call_id: "call-b1".to_owned(),
        by: protocol::ToolBy::Model,
        cwd: "/".into(),
        scope: Scope::default(),
        leads: None,
        seen: std::sync::Arc::default(),
        outputs: "/nowhere".into(),
        network: Network::None,
        way_in: None,
        questions: Questions::none(),
        redirects: None,
        doors: None,
        lifeline: Lifeline::pair().0,
    };
    let calling = tool.call(&place, some(&tool.schema()), output);
    let (outcome, ()) = tokio::join!(calling, async { while written.recv().await.is_some() {} });
    outcome
}

/// Returns arguments that fit a schema, more or less.
fn some(schema: &Value) -> Value {
    let fields = schema.get("properties").and_then(Value::as_object);
    let value = |field: &Value| match field.get("type").and_then(Value::as_str) {
        Some("integer" | "number") => json!(5),
        Some("boolean") => json!(true),
        Some("array") => json!([]),
        Some("object") => json!({}),
        _ => json!("text"),
    };
    let fields = fields.into_iter().flatten().map(|(name, field)| (name.clone(), value(field)));
    Value::Object(fields.collect::<Map<_, _>>())
}
