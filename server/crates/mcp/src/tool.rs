//! A server's tool, called like every other tool.

use std::sync::Arc;

use async_trait::async_trait;
use pod::ToolOutcome;
use serde_json::{Value, json};
use tokio::{sync::watch, time::timeout};
use tools::{Output, Place, Tool};

use crate::{bounds::READY_MAX, connection::Status, live::Live, names::server_of, offer::Definition, servers::Known};

/// A tool by its name. Its server may still be starting, or may not have the tool.
#[derive(Debug)]
pub(crate) struct ServerTool {
    pub(crate) known: Arc<Known>,
    pub(crate) name: String,
    pub(crate) definition: Option<Definition>,
    pub(crate) status: Option<watch::Receiver<Status>>,
}

#[async_trait]
impl Tool for ServerTool {
    fn name(&self) -> &str {
        &self.name
    }

    fn description(&self) -> &str {
        self.definition.as_ref().map_or("", |definition| &definition.description)
    }

    fn schema(&self) -> Value {
        let empty = || json!({ "type": "object", "properties": {} });
        self.definition.as_ref().map_or_else(empty, |definition| definition.schema.clone())
    }

    async fn call(&self, place: &Place, arguments: Value, output: Output) -> ToolOutcome {
        let arguments = match arguments {
            Value::Object(arguments) => arguments,
            Value::Null => serde_json::Map::new(),
            _ => return ToolOutcome::failed("invalid_input", "the arguments of this tool are an object"),
        };
        let live = match self.ready().await {
            Ok(live) => live,
            Err(outcome) => return outcome,
        };
        let Some(tool) = live.offer.tools.get(&self.name) else { return self.missing(&live) };
        // The tool may have changed since the call was permitted. A person who calls it sees it as it is.
        let is_by_person = place.redirects.is_none();
        if !is_by_person && self.known.pins.is_changed(&self.name, &tool.digest) {
            let sentence = "the server has redefined this tool since this call was allowed, so nothing was called; call it again, \
                            and a person is asked";
            return ToolOutcome::failed("permission_denied", sentence);
        }
        live.call(tool, arguments, &place.call_id, output).await
    }
}

impl ServerTool {
    /// Returns the connection once it is established.
    async fn ready(&self) -> Result<Arc<Live>, ToolOutcome> {
        let server = server_of(&self.name).unwrap_or_default();
        let away = |why: &str| {
            ToolOutcome::failed(
                "unavailable",
                format!("the MCP server \"{server}\" is away, so nothing was called: {why}"),
            )
        };
        let Some(mut status) = self.status.clone() else { return Err(away("it was not begun")) };
        let settled = timeout(READY_MAX, status.wait_for(|status| !matches!(status, Status::Beginning))).await;
        match settled.ok().and_then(Result::ok).map(|status| status.clone()) {
            Some(Status::Live(live)) => Ok(live),
            Some(Status::Away(why)) => Err(away(&why)),
            Some(Status::Beginning) | None => Err(away("it takes too long to begin")),
        }
    }

    fn missing(&self, live: &Live) -> ToolOutcome {
        let known = live.offer.tools.keys().map(String::as_str).collect::<Vec<_>>().join(", ");
        let known = if known.is_empty() { "it has none".to_owned() } else { format!("there are {known}") };
        ToolOutcome::failed(
            "not_found",
            format!("its server has no tool that is called \"{}\" now; {known}", self.name),
        )
    }
}
