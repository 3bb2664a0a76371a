//! Effects: asking the model, running tools.

use std::{io, sync::Arc};

use pod::QuestionSize;
use protocol::{Message, NetworkPolicy, ToolBy};
use provider::{ModelRequest, ModelStream, ProviderError, ProviderErrorCode, Purpose, ToolSpec};
use serde_json::json;
use tools::{Network, Questions, Redirects, proxy::Proxy};

use super::{
    PodTask, place,
    portion::Answer,
    work::{Call, Doors},
};
use crate::looking_in::Entered;

impl PodTask {
    /// Asks the model; `asked` is the size of the messages.
    pub(super) fn call_model(&mut self, messages: Vec<Message>, asked: QuestionSize) {
        let Some(provider) = self.inner.equipment.providers.get(&self.spec.provider) else {
            let name = &self.spec.provider;
            return self.fail(format!("the provider \"{name}\" is not configured any more; add it and resume"));
        };
        let tools = self.tool_specs();
        let asked = QuestionSize { whole: asked.whole + tokens_of(&tools), ..asked };
        let request = ModelRequest { purpose: Purpose::Answer, model: self.spec.model.clone(), messages, tools };
        self.work.answer = Some(Answer::new(provider.stream(request), asked));
    }

    fn tool_specs(&self) -> Vec<ToolSpec> {
        let offered = self.inner.equipment.toolbox.offered(self.spec.tools.as_deref());
        let spec = |tool: &Arc<dyn tools::Tool>| ToolSpec {
            name: tool.name().to_owned(),
            description: tool.description().to_owned(),
            schema: tool.schema(),
        };
        offered.map(spec).collect()
    }

    /// Of the tools that each question offers, about.
    pub(super) fn tool_tokens(&self) -> u64 {
        tokens_of(&self.tool_specs())
    }

    /// Starts every call that may begin now.
    pub(super) async fn start_calls(&mut self) {
        let inner = self.inner.clone();
        let only_reads = |name: &str| inner.equipment.toolbox.get(name).is_none_or(|tool| tool.only_reads());
        while let Some(call) = self.work.next_call(only_reads) {
            let (place, doors) = match self.place(&call).await {
                Ok((place, doors)) => (Ok(place), doors),
                Err(refused) => (Err(refused), Doors::default()),
            };
            let known = inner.equipment.toolbox.get(&call.name).filter(|_| self.spec.offers(&call.name));
            let unknown = || inner.equipment.toolbox.unknown(&call.name, self.spec.tools.as_deref());
            let tool = match place {
                Ok(_) => known.ok_or_else(unknown),
                Err(ref refused) => Err(refused.clone()),
            };
            let place = place.unwrap_or_else(|_| place::nowhere(&self.worker_id, &call.call_id, self.work.lifeline()));
            self.work.run_tool(call, tool, place, doors);
        }
    }

    /// Where a call stands, and its ways out and in.
    async fn place(&mut self, call: &Call) -> Result<(tools::Place, Doors), pod::ToolOutcome> {
        let Call { by, call_id, leads, .. } = call;
        let lifeline = self.work.lifeline();
        let seen = place::seen(&self.pod, *by);
        let scope = place::scope(&self.inner, self.key, &self.spec).await;
        let scope = scope.map_err(|error| pod::ToolOutcome::failed("internal", error.detail))?;
        let (network, proxy) = self.network(call).await?;
        let questions = proxy.as_ref().map_or_else(Questions::none, Proxy::questions);
        let redirects = self.redirects(call).await?;
        let way_in = self.way_in(call, &network).map_err(|error| {
            pod::ToolOutcome::failed("io_failed", format!("there is no room for the command's sockets: {error}"))
        })?;
        let place = tools::Place {
            worker_id: self.worker_id.clone(),
            call_id: call_id.clone(),
            leads: leads.clone(),
            cwd: self.spec.cwd.clone().into(),
            scope,
            seen: Arc::new(seen),
            outputs: self.inner.outputs_of(&self.worker_id),
            network,
            way_in: way_in.as_ref().map(Entered::socket),
            questions,
            redirects,
            lifeline,
        };
        Ok((place, Doors { proxy, way_in }))
    }

    /// A way in to what a command serves, where it has a network of its own.
    fn way_in(&self, call: &Call, network: &Network) -> io::Result<Option<Entered>> {
        match call.name == "Bash" && *network != Network::Open {
            true => self.inner.ways_in.open(&self.worker_id).map(Some),
            false => Ok(None),
        }
    }

    /// What decides on the addresses that a page leads on to: the rules as they are now.
    async fn redirects(&mut self, call: &Call) -> Result<Option<Redirects>, pod::ToolOutcome> {
        if call.name != "WebFetch" || call.by == ToolBy::Operator {
            return Ok(None);
        }
        self.look_up().await.map_err(|error| pod::ToolOutcome::failed("internal", error.detail))?;
        let spec = self.spec.clone();
        Ok(Some(Redirects::new(move |url| pod::permission(&spec, "WebFetch", &json!({ "url": url })))))
    }

    /// What a command reaches of the network.
    async fn network(&mut self, call: &Call) -> Result<(Network, Option<Proxy>), pod::ToolOutcome> {
        if call.name != "Bash" {
            return Ok((Network::None, None));
        }
        self.look_up().await.map_err(|error| pod::ToolOutcome::failed("internal", error.detail))?;
        match self.spec.network_now() {
            NetworkPolicy::None => Ok((Network::None, None)),
            NetworkPolicy::Open => Ok((Network::Open, None)),
            NetworkPolicy::Ask => {
                let proxy = Proxy::open(&call.call_id, self.work.wishes()).map_err(|error| {
                    let sentence = format!("the command's way to the network could not be made: {error}");
                    pod::ToolOutcome::failed("io_failed", sentence)
                })?;
                Ok((Network::Through { socket: proxy.socket() }, Some(proxy)))
            }
        }
    }

    /// An answer that fails before it begins takes the same way as one that fails later.
    pub(super) fn fail(&mut self, detail: String) {
        let error = ProviderError::new(ProviderErrorCode::Failed, detail);
        let failed: ModelStream = Box::pin(futures_util::stream::iter([Err(error)]));
        self.work.answer = Some(Answer::new(failed, QuestionSize::default()));
    }
}

fn tokens_of(tools: &[ToolSpec]) -> u64 {
    let bytes = |tool: &ToolSpec| tool.name.len() + tool.description.len() + tool.schema.to_string().len();
    pod::tokens_of_bytes(tools.iter().map(bytes).sum())
}
