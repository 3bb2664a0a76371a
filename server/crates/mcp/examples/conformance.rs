//! The client for the conformance suite of the Model Context Protocol. It connects to the server whose address is its
//! last argument with the same code as a Pod, and does what a model and a person would: calls what the scenario names, or
//! else each tool once; answers each question with the defaults of its form; and logs in whenever a login is wanted.

use std::{collections::BTreeMap, process::ExitCode, sync::Arc};

use mcp::{
    Address, Answer, Ask, Clients, LoginAnswer, LoginWish, OAuthClient, ServerConfig, ServerName, Servers,
    ServersOptions, Stand,
};
use pod::Scope;
use protocol::{McpServerState, NetworkPolicy, WorkerId};
use secrecy::SecretString;
use serde_json::{Map, Value, json};
use tokio::sync::mpsc;
use tools::{Lifeline, Place, Tool, bash::BashOptions};
use url::Url;

/// How often a person would log in before giving up.
const LOGINS_MAX: usize = 3;
/// The tool that wants another tool's schema back.
const ECHO: &str = "json_schema_echo";

fn told(error: impl std::fmt::Display) -> String {
    error.to_string()
}

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

/// What the scenario tells the client beside the address.
fn context() -> Value {
    let text = std::env::var("MCP_CONFORMANCE_CONTEXT").unwrap_or_default();
    serde_json::from_str(&text).unwrap_or_default()
}

struct Suite {
    servers: Servers,
    pod: WorkerId,
    asks: mpsc::Sender<Ask>,
    logins: usize,
}

async fn run(url: &str) -> Result<(), String> {
    let context = context();
    let name = ServerName::parse("suite").map_err(told)?;
    let address = Address::url(url, BTreeMap::new()).map_err(told)?;
    let mut config = ServerConfig::new(name, address, None, Vec::new()).map_err(told)?;
    if let Some(id) = context["client_id"].as_str() {
        let secret = context["client_secret"].as_str().map(SecretString::from);
        config = OAuthClient::new(id.to_owned(), secret, Vec::new())
            .and_then(|client| config.with_oauth(client))
            .map_err(told)?;
    }
    let bash = BashOptions::of_this_process();
    let servers = Servers::new(ServersOptions { configs: vec![config], bash, accepted: None, logins: None });
    let pod = WorkerId::parse("018f0000-0000-7000-8000-000000000001").map_err(told)?;
    let (asks, mut asked) = mpsc::channel::<Ask>(16);
    tokio::spawn(async move {
        while let Some(ask) = asked.recv().await {
            // The server may have gone away.
            let _ = ask.answer.send(Answer::Given(json!({})));
        }
    });
    let mut suite = Suite { servers, pod, asks, logins: 0 };
    let mut clients = suite.connected().await?;
    let offered = clients.offered();
    for (tool, arguments) in calls(&offered, &context) {
        let mut outcome = suite.call(&clients, &tool, arguments.clone()).await;
        while suite.wants_login() && suite.logins < LOGINS_MAX {
            clients.end().await;
            suite.log_in().await?;
            clients = suite.connected().await?;
            outcome = suite.call(&clients, &tool, arguments.clone()).await;
        }
        eprintln!("{tool}: {outcome}");
    }
    clients.end().await;
    Ok(())
}

/// Returns what to call: what the scenario names, or each tool once.
fn calls(offered: &[Arc<dyn Tool>], context: &Value) -> Vec<(String, Value)> {
    if let Some(calls) = context["toolCalls"].as_array() {
        let named = |call: &Value| Some((format!("suite__{}", call["name"].as_str()?), call["arguments"].clone()));
        return calls.iter().filter_map(named).collect();
    }
    let other = offered.iter().find(|tool| !tool.name().ends_with(ECHO));
    let arguments = |tool: &Arc<dyn Tool>| match other.filter(|_| tool.name().ends_with(ECHO)) {
        Some(other) => json!({ "schema": other.schema() }),
        None => some(&tool.schema()),
    };
    offered.iter().map(|tool| (tool.name().to_owned(), arguments(tool))).collect()
}

impl Suite {
    fn wants_login(&self) -> bool {
        self.servers.items().first().is_some_and(|item| item.state == McpServerState::Login)
    }

    /// Connects as a Pod does, and logs in first if that is wanted.
    async fn connected(&mut self) -> Result<Clients, String> {
        loop {
            let mut clients = Clients::of_pod(&self.servers, &self.pod, None, self.asks.clone());
            let (wishes, _) = mpsc::channel(1);
            let network = NetworkPolicy::None;
            clients.meet(&Stand { cwd: "/".into(), scope: Scope::default(), network, wishes }).await;
            let away = clients.settled().wait().await;
            if self.wants_login() && self.logins < LOGINS_MAX {
                clients.end().await;
                self.log_in().await?;
                continue;
            }
            return match away.is_empty() {
                true => Ok(clients),
                false => Err(away.join("\n")),
            };
        }
    }

    /// Does what a person does in a browser, whose authorization server consents to everything.
    async fn log_in(&mut self) -> Result<(), String> {
        self.logins += 1;
        let wish = LoginWish {
            redirect_uri: "http://localhost:7474/mcp/oauth/callback/suite".to_owned(),
            client_metadata_url: Some("https://conformance-test.local/client-metadata.json".to_owned()),
            caller: None,
        };
        let begun = self.servers.begin_login("suite", wish).await.map_err(told)?;
        let browser = reqwest::Client::builder().redirect(reqwest::redirect::Policy::none()).no_proxy().build();
        let page = browser.map_err(told)?.get(&begun.url).send().await.map_err(told)?;
        let back = page.headers().get("location").and_then(|to| to.to_str().ok()).ok_or("the page leads nowhere")?;
        let back = Url::parse(back).map_err(told)?;
        let of = |name: &str| back.query_pairs().find(|(key, _)| key == name).map(|(_, value)| value.into_owned());
        let answer = LoginAnswer {
            state: of("state").unwrap_or_default(),
            code: of("code"),
            issuer: of("iss"),
            error: of("error"),
        };
        self.servers.finish_login("suite", answer, None).await.map_err(told)
    }

    /// Calls a tool, and returns the sentence about it.
    async fn call(&self, clients: &Clients, tool: &str, arguments: Value) -> String {
        let Some(tool) = clients.tool(tool) else { return "there is no such tool".to_owned() };
        let (output, mut written) = mpsc::channel(8);
        let place = Place::nowhere(self.pod.clone(), "call-b1", Lifeline::pair().0);
        let calling = tool.call(&place, arguments, output);
        let (outcome, ()) = tokio::join!(calling, async { while written.recv().await.is_some() {} });
        outcome.summary
    }
}

/// Returns arguments that fit a schema, more or less: a value for each field that is required.
fn some(schema: &Value) -> Value {
    let required = schema.get("required").and_then(Value::as_array).cloned().unwrap_or_default();
    let fields = schema.get("properties").and_then(Value::as_object);
    let value = |field: &Value| match field.get("type").and_then(Value::as_str) {
        _ if field.get("default").is_some() => field["default"].clone(),
        Some("integer" | "number") => json!(5),
        Some("boolean") => json!(true),
        Some("array") => json!([]),
        Some("object") => json!({}),
        _ => json!("text"),
    };
    let is_required = |name: &str| required.iter().any(|one| one == name);
    let fields = fields.into_iter().flatten().filter(|(name, _)| is_required(name));
    Value::Object(fields.map(|(name, field)| (name.clone(), value(field))).collect::<Map<_, _>>())
}
