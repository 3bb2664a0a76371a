//! What the rules need to know about a call beyond its text: where a path leads, which commands a command line
//! contains, which Pod a name means, and what the Pod's ancestors allow. Collected before the call is decided on, so
//! that deciding stays pure.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use mcp::Clients;
use pod::{
    AgentPiece, Input, Leader, ModelPiece, Pod, PodSpec, Scope, Sight, Sights, call_folder, has_rules, main_argument,
    names_a_pod,
};
use protocol::{
    ApiError, ErrorCode, Mode, NetworkPolicy, PermissionDecision, PermissionRule, PodName, RuntimeId, Target,
    VisiblePod,
    tool::{self, NETWORK, Subject, Work},
};
use serde_json::{Value, json};
use tools::bash::plain;

use super::{Actors, place, shown, state::State};
use crate::{error, ground::Ground, rules};

/// How many ancestors of a Pod are looked at. No real tree is that deep.
const LEADERS_MAX: usize = 256;
/// What the name of a command's kept output begins with, which Read takes in place of a path.
const OUTPUT: &str = "output:";
/// How many symbolic links are followed, as in the kernel.
const LINKS_MAX: usize = 40;

/// Collects this for the calls that these inputs cause to be decided on.
pub(super) async fn look(
    actors: &Actors,
    state: &mut State,
    servers: &Clients,
    inputs: &[Input],
) -> Result<(), ApiError> {
    let calls = to_be_judged(&state.pod, inputs);
    if calls.is_empty() {
        return Ok(());
    }
    look_up(actors, state).await?;
    let mut sights = Sights::default();
    for (tool, arguments) in calls {
        let looking = Looking { actors, state };
        let found = match has_rules(&state.spec, &tool) {
            true => looking.sight(&tool, &arguments).await?,
            false => Sight::default(),
        };
        let mut default = Some(looking.default_of(&tool, servers));
        let is_changed = servers.is_changed(&tool);
        let Touch { cannot, is_in_scope } = looking.touch(&tool, &arguments, found.leads.as_deref()).await?;
        let cannot = looking.misfit(&tool, &arguments).or(cannot);
        if is_in_scope && shown::is_granted(&state.pod, &tool, &arguments).await {
            default = Some(PermissionDecision::Allow);
        }
        sights.note(&tool, &arguments, Sight { default, is_changed, cannot, is_in_scope, ..found });
    }
    state.spec.sights = sights;
    Ok(())
}

/// Refreshes the rules that others than this Pod have: its ancestors, folders, and the whole server.
pub(super) async fn look_up(actors: &Actors, state: &mut State) -> Result<(), ApiError> {
    let parent = state.parent.as_ref().map(|parent| parent.key);
    state.spec.leaders = leaders(actors, parent, &state.spec).await?;
    let shared = actors.patiently(|| rules::shared(actors)).await?;
    state.spec.shared_rules = shared.into_iter().map(|(_, rule)| rule).collect();
    Ok(())
}

/// The calls of an answer that these inputs complete, and those that a person makes.
fn to_be_judged(pod: &Pod, inputs: &[Input]) -> Vec<(String, Value)> {
    let ends = |input: &Input| matches!(input, Input::Model(ModelPiece::Finished | ModelPiece::Nothing { .. }));
    let mut calls = Vec::new();
    if inputs.iter().any(ends) {
        calls.extend(pod.calls.iter().map(|call| (call.name.clone(), call.arguments.clone())));
    }
    if inputs.iter().any(|input| matches!(input, Input::Rejudge { .. })) {
        calls.extend(pod.approvals.iter().map(|open| (open.tool.clone(), open.arguments.clone())));
    }
    for input in inputs {
        match input {
            Input::OperatorCall { name, arguments }
            | Input::AgentCall { name, arguments }
            | Input::Model(ModelPiece::ToolCall { name, arguments, .. }) => {
                calls.push((name.clone(), arguments.clone()));
            }
            Input::Agent(
                AgentPiece::Wants { name, arguments, .. } | AgentPiece::Asked { tool: name, arguments, .. },
            ) => calls.push((name.clone(), arguments.clone())),
            Input::WayOut { host, port, .. } => {
                calls.push((NETWORK.to_owned(), json!({ "host": host, "port": port })));
            }
            _ => (),
        }
    }
    calls
}

/// How a call touches the scope.
#[derive(Debug, Default)]
struct Touch {
    /// Why it would fail even if a person allowed it.
    cannot: Option<String>,
    is_in_scope: bool,
}

/// The context in which a call is looked at: the Pod that makes it.
#[derive(Clone, Copy)]
pub(super) struct Looking<'a> {
    pub(super) actors: &'a Actors,
    pub(super) state: &'a State,
}

impl Looking<'_> {
    /// The decision for a call that no rule covers. A call of a tool that does not exist, or that this Pod is not
    /// offered, will fail anyway, so nobody is asked about it.
    fn default_of(self, tool: &str, servers: &Clients) -> PermissionDecision {
        match self.actors.equipment.toolbox.get(tool).filter(|_| self.state.spec.offers(tool)) {
            Some(known) => known.default_permission(),
            None if tool == NETWORK || tool::AGENT_TOOLS.iter().any(|known| known.name == tool) => {
                pod::default_permission(tool)
            }
            None if servers.has_tool(tool) && self.state.spec.offers(tool) => pod::default_permission(tool),
            None => PermissionDecision::Allow,
        }
    }

    /// Why a tool that this Pod is offered will refuse these arguments, whatever they touch.
    fn misfit(self, tool: &str, arguments: &Value) -> Option<String> {
        let known = self.actors.equipment.toolbox.get(tool).filter(|_| self.state.spec.offers(tool))?;
        known.misfit(arguments)
    }

    /// Collects what is known about one call.
    pub(super) async fn sight(self, tool: &str, arguments: &Value) -> Result<Sight, ApiError> {
        if names_a_pod(tool) {
            let pod = self.meant(main_argument(tool, arguments)).await?;
            return Ok(Sight { pod, ..Sight::default() });
        }
        if tool == NETWORK {
            return Ok(Sight::default());
        }
        self.on_disk(tool, arguments).await
    }

    /// Finds out whether the scope allows what a call touches. `leads` is where its path leads, if that is known.
    async fn touch(self, tool: &str, arguments: &Value, leads: Option<&str>) -> Result<Touch, ApiError> {
        let Looking { actors, state } = self;
        let (spec, given) = (&state.spec, main_argument(tool, arguments));
        let is_agents = tool::is_agents(tool);
        let is_path = tool::facts(tool).subject == Subject::Path && !given.is_empty() && !given.starts_with(OUTPUT);
        let is_elsewhere = tool::work(tool) == Work::Runs && !is_agents && arguments.get("cwd").is_some();
        if !is_path && !is_elsewhere {
            return Ok(Touch::default());
        }
        let scope = place::scope(actors, state.key, spec).await?;
        if is_elsewhere {
            let folder = call_folder(&spec.cwd, tool, arguments);
            let refusal = scope.may_read(&folder).err();
            return Ok(Touch { cannot: refusal.map(|why| format!("{folder} {why}")), is_in_scope: false });
        }
        let mut touch = self.touch_path(&scope, tool, given, leads).await?;
        // An agent may say that one call is about several files.
        let named = arguments.get("locations").and_then(Value::as_array).filter(|_| is_agents);
        for location in named.into_iter().flatten() {
            let path = location.get("path").and_then(Value::as_str).unwrap_or_default();
            touch.is_in_scope &= self.touch_path(&scope, tool, path, None).await?.is_in_scope;
        }
        touch.cannot = touch.cannot.filter(|_| !is_agents);
        Ok(touch)
    }

    /// The same for one path.
    async fn touch_path(self, scope: &Scope, tool: &str, given: &str, leads: Option<&str>) -> Result<Touch, ApiError> {
        let Ok(path) = tools::files::absolute(&self.state.spec.cwd, given) else { return Ok(Touch::default()) };
        let leads = match leads {
            Some(leads) => Some(leads.to_owned()),
            None => self.on_disk(tool, &json!({ "path": given })).await?.leads,
        };
        let may = |path: &str| match tool::work(tool).writes() {
            true => scope.may_write(path),
            false => scope.may_read(path),
        };
        // The tools check both: what the path says, and what it leads to.
        let refusal = std::iter::once(path.as_str()).chain(leads.as_deref()).find_map(|path| may(path).err());
        let is_in_scope = refusal.is_none() && leads.is_some();
        Ok(Touch { cannot: refusal.map(|why| format!("{given} {why}")), is_in_scope })
    }

    /// What the disk and the command line say about a call.
    async fn on_disk(self, tool: &str, arguments: &Value) -> Result<Sight, ApiError> {
        let (cwd, tool, arguments) = (self.state.spec.cwd.clone(), tool.to_owned(), arguments.clone());
        // The disk may be slow and a command line long.
        let looked = crate::heavy::blocking(move || on_disk(&cwd, &tool, &arguments));
        looked.await.map_err(|_| error::stopping())
    }

    /// The Pod that a name means to this Pod.
    async fn meant(self, name: &str) -> Result<Option<(protocol::WorkerId, String)>, ApiError> {
        let Ok(target) = name.parse::<Target>() else { return Ok(None) };
        let visible = self.actors.above()?.visible(&self.state.worker_id).await?;
        let mut meant = visible.into_iter().filter(|pod| is_target(&target, pod));
        Ok(match (meant.next(), meant.next()) {
            (Some(pod), None) => Some((pod.pod.worker_id, pod.name.to_string())),
            _ => None,
        })
    }

    /// Rules in the form in which they are stored: a rule about a Pod is resolved to the Pod that has the name now.
    pub(super) async fn given(
        self,
        rules: Vec<PermissionRule>,
        standing: &[PermissionRule],
    ) -> Result<Vec<PermissionRule>, ApiError> {
        let mut kept = Vec::new();
        for rule in rules {
            let is_new = !standing.contains(&rule) && rule.pod.is_none() && names_a_pod(&rule.tool);
            let name = rule.pattern.clone().filter(|pattern| is_new && !pattern.contains('*'));
            let Some(name) = name else {
                kept.push(rule);
                continue;
            };
            let pod = match self.meant(&name).await? {
                Some((pod, _)) => Some(pod),
                None => self.named(&name).await?,
            };
            if pod.is_none() && rule.decision == PermissionDecision::Allow {
                let sentence =
                    format!("a rule allows {} for \"{name}\", and no Pod has that name; create it first", rule.tool);
                return Err(ApiError::new(ErrorCode::InvalidInput, sentence));
            }
            kept.push(PermissionRule { pod, ..rule });
        }
        Ok(kept)
    }

    /// A Pod of this server, whether this Pod sees it or not, because a person gives the rule.
    async fn named(self, name: &str) -> Result<Option<protocol::WorkerId>, ApiError> {
        let Ok(name) = PodName::parse(name) else { return Ok(None) };
        let row = self.actors.store.pods().find_by_name(&name).await?;
        Ok(row.map(|row| row.worker_id))
    }
}

fn is_target(target: &Target, pod: &VisiblePod) -> bool {
    match target {
        Target::Name { name, runtime_id: None } => pod.name == *name,
        Target::Name { name, runtime_id: Some(id) } => pod.name == *name && pod.pod.runtime_id == *id,
        Target::Ref(address) if address.runtime_id == RuntimeId::local() => pod.pod.worker_id == address.worker_id,
        Target::Ref(address) => pod.pod == *address,
    }
}

/// The current rules of a Pod's ancestors, nearest first. For a deleted ancestor, the rules that held when the Pod was
/// created remain. Empty if the Pod never had a parent.
pub(crate) async fn leaders(
    ground: &Ground,
    parent: Option<pod_store::PodKey>,
    spec: &PodSpec,
) -> Result<Option<Vec<Leader>>, ApiError> {
    let mut leaders = Vec::new();
    let mut next = parent;
    while let Some(key) = next.filter(|_| leaders.len() < LEADERS_MAX) {
        let Some(row) = ground.store.pods().find_by_key(key).await? else { break };
        let Ok(leader) = serde_json::from_str::<PodSpec>(&row.spec) else { break };
        let PodSpec { cwd, permissions, network, mode, .. } = leader;
        leaders.push(Leader { cwd, permissions, network, mode });
        next = row.parent.map(|parent| parent.key);
    }
    let gone = spec.ceilings.iter().skip(leaders.len());
    let gone: Vec<_> = gone
        .map(|rules| Leader {
            cwd: spec.cwd.clone(),
            permissions: rules.clone(),
            network: NetworkPolicy::Open,
            mode: Mode::Free,
        })
        .collect();
    leaders.extend(gone);
    Ok((!leaders.is_empty()).then_some(leaders))
}

/// Reads the file system, so it blocks.
pub(crate) fn on_disk(cwd: &str, tool: &str, arguments: &Value) -> Sight {
    let text = |path: PathBuf| path.into_os_string().into_string().ok();
    let folder = leads(Path::new(&call_folder(cwd, tool, arguments))).and_then(text);
    let given = main_argument(tool, arguments);
    match tool::facts(tool).subject {
        Subject::Command => Sight { folder, commands: tools::bash::commands_in(given), ..Sight::default() },
        Subject::Path if !given.is_empty() && !given.contains('\0') => {
            let path = plain(&Path::new(cwd).join(given));
            Sight { folder, leads: leads(&path).and_then(text), ..Sight::default() }
        }
        _ => Sight { folder, ..Sight::default() },
    }
}

/// The canonical path with every link followed; for a path that does not exist, where it would be created. `None` if
/// that cannot be known.
fn leads(path: &Path) -> Option<PathBuf> {
    let mut path = path.to_owned();
    for _ in 0..LINKS_MAX {
        match fs::canonicalize(&path) {
            Ok(real) => return Some(real),
            Err(error) if error.kind() != io::ErrorKind::NotFound => return None,
            Err(_) => (),
        }
        let (folder, name) = (path.parent()?, path.file_name()?);
        let folder = leads_to_folder(folder)?;
        match fs::read_link(folder.join(name)) {
            // The link leads to something that does not exist yet.
            Ok(link) => path = plain(&folder.join(link)),
            Err(_) => return Some(folder.join(name)),
        }
    }
    None
}

/// The canonical form of a folder that may not exist, by way of its nearest existing ancestor.
fn leads_to_folder(folder: &Path) -> Option<PathBuf> {
    let mut missing = Vec::new();
    let mut at = folder;
    loop {
        match fs::canonicalize(at) {
            Ok(real) => return Some(missing.into_iter().rev().fold(real, |path, name| path.join(name))),
            // A dangling link in the middle of the path: nobody knows yet where it leads.
            Err(_) if fs::symlink_metadata(at).is_ok() => return None,
            Err(_) => {
                missing.push(at.file_name()?);
                at = at.parent()?;
            }
        }
    }
}
