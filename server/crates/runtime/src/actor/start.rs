//! Starting calls: the place of each call, its way out to the network, and the way in.

use std::{io, sync::Arc};

use pod::{ToolOutcome, permission};
use protocol::{NetworkPolicy, Outcome, Seq, ToolBy};
use serde_json::json;
use tools::{Network, Place, Questions, Redirects, proxy::Proxy};

use super::{
    Actors, alone,
    calls::{Call, Calls, hooks_of},
    files::{changed_file, may_change},
    place,
    sight::look_up,
    state::State,
};
use crate::{
    changes::{Folders, Shelf, Step},
    looking_in::Entered,
    spans::{CallSpan, Called},
};

/// The network proxy out of a command and the way into it.
#[derive(Debug)]
#[expect(dead_code, reason = "their end is what counts")]
struct Doors {
    proxy: Option<Proxy>,
    way_in: Option<Entered>,
}

/// What a call needs to start.
pub(super) struct Starting<'a> {
    pub(super) actors: &'a Arc<Actors>,
    pub(super) state: &'a mut State,
    pub(super) calls: &'a mut Calls,
    pub(super) servers: &'a mcp::Clients,
    pub(super) shelf: &'a Arc<Shelf>,
}

impl Starting<'_> {
    /// Starts every call that may begin now.
    pub(super) async fn all(&mut self) {
        let actors = self.actors;
        let toolbox = &actors.equipment.toolbox;
        let servers = self.servers;
        let only_reads = |name: &str| match toolbox.get(name) {
            Some(tool) => tool.only_reads(),
            None => !servers.has_tool(name),
        };
        while let Some(call) = self.calls.next_call(only_reads) {
            let (tool, place) = match self.place(&call).await {
                Ok(place) => {
                    let of_agent = call.wanted.as_ref().and_then(|_| tools::files::for_agent(&call.name));
                    let known = of_agent.or_else(|| toolbox.get(&call.name)).or_else(|| self.servers.tool(&call.name));
                    let offered = known.filter(|_| self.state.spec.offers(&call.name));
                    let offered = offered.map(|tool| actors.equipment.hooks.around(tool));
                    let unknown = || toolbox.unknown(&call.name, self.state.spec.tools.as_deref());
                    (offered.ok_or_else(unknown), place)
                }
                Err(refused) => {
                    let nowhere = Place::nowhere(self.state.worker_id.clone(), &call.call_id, self.calls.lifeline());
                    (Err(refused), nowhere)
                }
            };
            let step = (tool.is_ok() && may_change(&call)).then(|| self.step(&place, &call));
            let span = self.span(&call, tool.as_ref().ok().map(|tool| tool.name()));
            self.calls.run_tool(call, tool, place, step, &actors.store, span);
        }
    }

    /// Starts the hooks at the end of the newest run. During the run they are work of the model's, and a cancel ends
    /// them; after it they run beside everything else.
    pub(super) async fn hooks(&mut self, outcome: Outcome) {
        let run_id = format!("run-{}", self.state.pod.runs);
        let by = if self.state.pod.run.is_some() { ToolBy::Model } else { ToolBy::Operator };
        let Some(tool) = self.actors.equipment.hooks.at_run_end(&run_id, outcome) else { return };
        let (call_id, name, arguments) = (hooks_of(&run_id), tool.name().to_owned(), json!({}));
        let call = Call { call_id, name, arguments, by, wanted: None, leads: None };
        let (tool, place) = match self.place(&call).await {
            Ok(place) => (Ok(tool), place),
            Err(refused) => {
                let nowhere = Place::nowhere(self.state.worker_id.clone(), &call.call_id, self.calls.lifeline());
                (Err(refused), nowhere)
            }
        };
        let step = tool.is_ok().then(|| self.step(&place, &call));
        let span = self.span(&call, tool.as_ref().ok().map(|tool| tool.name()));
        self.calls.run_tool(call, tool, place, step, &self.actors.store, span);
    }

    /// The span of a call of this tool; `None` if nobody offers it.
    fn span(&self, call: &Call, tool: Option<&str>) -> CallSpan {
        let Call { call_id, by, arguments, .. } = call;
        self.state.span.call(&self.state.worker_id, Called { call_id, tool, by: *by, arguments })
    }

    /// The snapshots around a call, with the Pod's head.
    fn step(&self, place: &Place, call: &Call) -> (Step, Seq) {
        let State { spec, pod, worker_id, .. } = &*self.state;
        let snapshots = self.actors.snapshots_of(worker_id);
        let also = changed_file(call).into_iter().collect();
        let folders = Folders { cwd: spec.cwd.clone(), scope: place.scope.clone(), snapshots, also };
        (Step::new(self.shelf.clone(), folders), pod.head)
    }

    /// The place of a call, with its network proxy and way in.
    async fn place(&mut self, call: &Call) -> Result<Place, ToolOutcome> {
        let Call { by, call_id, leads, .. } = call;
        let lifeline = self.calls.lifeline();
        let seen = place::seen(&self.state.pod, *by);
        let scope = place::scope(self.actors, self.state.key, &self.state.spec).await;
        let scope = scope.map_err(|error| ToolOutcome::failed("internal", error.detail))?;
        let (network, proxy) = self.network(call).await?;
        let questions = proxy.as_ref().map_or_else(Questions::none, Proxy::questions);
        let redirects = self.redirects(call).await?;
        let way_in = self.way_in(call, &network).map_err(|error| {
            ToolOutcome::failed("io_failed", format!("there is no folder for the command's sockets: {error}"))
        })?;
        let socket = way_in.as_ref().map(Entered::socket);
        Ok(Place {
            worker_id: self.state.worker_id.clone(),
            call_id: call_id.clone(),
            by: *by,
            leads: leads.clone(),
            cwd: self.state.spec.cwd.clone().into(),
            scope,
            seen: Arc::new(seen),
            outputs: self.actors.outputs_of(&self.state.worker_id),
            network,
            way_in: socket,
            questions,
            drain: self.calls.asks_for_output(),
            redirects,
            doors: Some(Arc::new(Doors { proxy, way_in })),
            lifeline,
        })
    }

    /// A way in to what a command serves, if it has a network of its own.
    fn way_in(&self, call: &Call, network: &Network) -> io::Result<Option<Entered>> {
        match call.name == "Bash" && *network != Network::Open {
            true => self.actors.ways_in.open(&self.state.worker_id).map(Some),
            false => Ok(None),
        }
    }

    /// What decides on the redirects that a page leads to, by the current rules.
    async fn redirects(&mut self, call: &Call) -> Result<Option<Redirects>, ToolOutcome> {
        if call.name != "WebFetch" || call.by == ToolBy::Operator {
            return Ok(None);
        }
        self.look_up().await?;
        let spec = self.state.spec.clone();
        Ok(Some(Redirects::new(move |url| permission(&spec, "WebFetch", &json!({ "url": url })))))
    }

    /// Which part of the network a command can reach.
    async fn network(&mut self, call: &Call) -> Result<(Network, Option<Proxy>), ToolOutcome> {
        if call.name != "Bash" {
            return Ok((Network::None, None));
        }
        self.look_up().await?;
        match self.state.spec.network_now() {
            NetworkPolicy::None => Ok((Network::None, None)),
            NetworkPolicy::Open => Ok((Network::Open, None)),
            NetworkPolicy::Ask => {
                // Nobody can be asked for a command whose call has ended.
                let wishes = match call.arguments["background"] == true {
                    true => alone::by_rules(self.actors, &self.state.worker_id),
                    false => self.calls.wishes(),
                };
                let proxy = Proxy::open(&call.call_id, wishes).map_err(|error| {
                    let sentence = format!("the command's network access could not be set up: {error}");
                    ToolOutcome::failed("io_failed", sentence)
                })?;
                Ok((Network::Through { socket: proxy.socket() }, Some(proxy)))
            }
        }
    }

    /// Refreshes the rules of the Pod's ancestors, of folders, and of the whole server.
    async fn look_up(&mut self) -> Result<(), ToolOutcome> {
        look_up(self.actors, self.state).await.map_err(|error| ToolOutcome::failed("internal", error.detail))
    }
}
