//! Changing the settings of a live Pod: its name, policies, model or scope.

use pod::{Input, Pod, PodSpec, Scope, rules_refusal};
use pod_store::{PodKey, PodUpdate, Store};
use protocol::{
    ApiError, Budget, BudgetPer, ControlEvent, ErrorCode, ModelName, PatchPod, PodDetail, PodName, ReasoningPolicy,
    ScopeRule, Seq, Timestamp, Usage,
};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{
    Actor, Actors,
    budgets::used,
    commands::{Carrying, encoded},
    commit::Extras,
    place,
    sight::{self, Looking},
    state::State,
};
use crate::{agents, clock, command::answer_of, error, view};

/// What a person changes in a Pod, and what a profile adds.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct Patch {
    /// With provider and model resolved, and the scope's paths canonical.
    pub(crate) asked: PatchPod,
    pub(crate) reasoning: Option<ReasoningPolicy>,
    pub(crate) tools: Option<Vec<String>>,
    #[serde(default)]
    pub(crate) mcp: Option<Vec<String>>,
    #[serde(default)]
    pub(crate) fallback: Option<Vec<ModelName>>,
}

impl Carrying<'_> {
    /// Changes that have a record go into the journal, the others only into the Pod's row.
    pub(super) async fn patch(&mut self, patch: Patch) -> Result<String, ApiError> {
        let Actor { actors, state, .. } = &*self.actor;
        let now = clock::now();
        let spec = changed(actors, state, &patch).await?;
        let name = patch.asked.name.clone().unwrap_or_else(|| state.name.clone());
        let mut told = told(actors, state, &spec, &self.origin.by);
        if patch.asked.agent_mode.is_some() || patch.asked.model.is_some() {
            told.extend(chosen(&state.pod, &state.spec, &spec));
        }
        let mut inputs: Vec<Input> = (!told.is_empty()).then_some(Input::Note(told)).into_iter().collect();
        if spec.mode != state.spec.mode {
            inputs.push(Input::Rejudge { by: self.origin.by.clone() });
        }
        let action = if inputs.is_empty() { "rename" } else { "settings" };
        // What is decided by the new mode is decided with the new settings.
        let old = std::mem::replace(&mut self.actor.state.spec, spec.clone());
        let patched = Box::pin(self.commit_patch(patch, (name, spec), inputs, (action, now))).await;
        if !matches!(patched, Ok(Done::Now(_))) {
            self.actor.state.spec = old;
        }
        match patched? {
            Done::Now(answer) | Done::Before(answer) => Ok(answer),
        }
    }

    async fn commit_patch(
        &mut self,
        patch: Patch,
        (name, spec): (PodName, PodSpec),
        inputs: Vec<Input>,
        (action, now): (&str, Timestamp),
    ) -> Result<Done, ApiError> {
        let Actor { actors, state, servers, .. } = &mut *self.actor;
        sight::look(actors, state, &servers.clients, &inputs).await?;
        let head = state.head_after(&inputs)?;
        let update = PodUpdate {
            name: (name != state.name).then(|| name.clone()),
            spec: Some(encoded(&spec)),
            updated_at: Some(now),
            ..PodUpdate::default()
        };
        let mut detail = self.detail_with(&name, &spec, head, now).await?;
        if let Some(session) = &mut detail.session {
            session.mode = patch.asked.agent_mode.or(session.mode.take());
            session.offers.model = patch.asked.model.clone().or(session.offers.model.take());
            detail.summary.model = patch.asked.model.unwrap_or(detail.summary.model);
        }
        let extras = Extras { update, ..self.extras(action, now, &detail) };
        if let Some(first) = self.commit(inputs, extras).await? {
            return Ok(Done::Before(first));
        }
        self.actor.state.name = name;
        // The conversation begins with the instructions, which may have changed.
        self.actor.exchange.forget();
        self.actor.tell_of_limit();
        Ok(Done::Now(answer_of(&detail)))
    }

    async fn detail_with(
        &mut self,
        name: &PodName,
        spec: &PodSpec,
        head: Seq,
        now: Timestamp,
    ) -> Result<PodDetail, ApiError> {
        let Actor { actors, state, .. } = &*self.actor;
        let row = actors.store.pods().find(&state.worker_id).await?;
        let mut row = row.ok_or_else(|| error::no_such_pod(&state.worker_id))?;
        row.name = name.clone();
        row.updated_at = now;
        row.head = head;
        row.spec = encoded(spec);
        let children = actors.store.family().children(state.key).await?;
        let detail = view::detail(&row, state.queue.rows(), &children);
        let detail = agents::with_limits(&actors.equipment.agents, detail);
        with_use(&actors.store, state.key, detail).await
    }
}

/// The answer to a patch, and whether it was carried out now.
enum Done {
    Now(String),
    Before(String),
}

/// Adds how much of the budget is used.
pub(crate) async fn with_use(store: &Store, key: PodKey, detail: PodDetail) -> Result<PodDetail, ApiError> {
    let budget_used = match &detail.summary.budget {
        Some(budget) => Some(used(store, key, budget).await?),
        None => None,
    };
    Ok(PodDetail { budget_used, ..detail })
}

/// The spec as it is to be.
async fn changed(actors: &Actors, state: &State, patch: &Patch) -> Result<PodSpec, ApiError> {
    let mut spec = state.spec.clone();
    let asked = patch.asked.clone();
    spec.peer_policy = asked.peer_policy.unwrap_or(spec.peer_policy);
    spec.wake_on_peer = asked.wake_on_peer.unwrap_or(spec.wake_on_peer);
    spec.network = asked.network.unwrap_or(spec.network);
    spec.mode = asked.mode.unwrap_or(spec.mode);
    spec.auto_resume = asked.auto_resume.unwrap_or(spec.auto_resume);
    spec.fallback = patch.fallback.clone().unwrap_or(spec.fallback);
    spec.reasoning = patch.reasoning.unwrap_or(spec.reasoning);
    spec.tools = patch.tools.clone().or(spec.tools);
    spec.mcp = patch.mcp.clone().or(spec.mcp);
    spec.profile = asked.profile.or(spec.profile);
    if let Some(permissions) = asked.permissions {
        if let Some(sentence) = rules_refusal(&permissions, &spec.permissions) {
            return Err(ApiError::invalid(sentence));
        }
        spec.permissions = Looking { actors, state }.given(permissions, &spec.permissions).await?;
    }
    if let Some(instructions) = asked.instructions {
        spec.instructions = Some(instructions).filter(|text| !text.trim().is_empty());
    }
    spec.budget = asked.budget.unwrap_or(spec.budget);
    if let Some(scope) = asked.scope {
        check_scope(actors, state, &scope).await?;
        spec.scope = scope;
    }
    spec.provider = asked.provider.unwrap_or(spec.provider);
    if let Some(agent) = &spec.agent {
        check_choice(agent, &state.pod, "modes", asked.agent_mode.as_deref())?;
        check_choice(agent, &state.pod, "models", asked.model.as_deref())?;
        spec.agent_mode = asked.agent_mode.or(spec.agent_mode);
    }
    spec.model = asked.model.unwrap_or(spec.model);
    let refusal = |level| actors.equipment.providers.thinking_refusal(&spec.provider, &spec.model, level);
    if let Some(sentence) = asked.thinking.and_then(refusal) {
        return Err(ApiError::invalid(sentence));
    }
    // The new model may not support the previous thinking level.
    let kept = spec.thinking.filter(|level| refusal(*level).is_none());
    spec.thinking = asked.thinking.or(kept);
    Ok(spec)
}

/// Checks that the agent offers what is asked of it. Before its first turn nobody knows what it offers.
fn check_choice(agent: &str, pod: &Pod, list: &str, asked: Option<&str>) -> Result<(), ApiError> {
    let Some(asked) = asked else { return Ok(()) };
    let Some(session) = pod.session.as_ref().filter(|session| !session.id.is_empty()) else { return Ok(()) };
    let offers = session.offers.get(list).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let ids: Vec<&str> = offers.iter().filter_map(|choice| choice.get("id")?.as_str()).collect();
    let what = list.trim_end_matches('s');
    match ids.contains(&asked) {
        true => Ok(()),
        false if ids.is_empty() => {
            Err(ApiError::invalid(format!("the agent {agent} does not let you choose its {what}")))
        }
        false => {
            Err(ApiError::invalid(format!("the agent {agent} has no {what} \"{asked}\"; there are {}", ids.join(", "))))
        }
    }
}

/// Returns what a person chose among the agent's offers. The agent is told when its next turn begins.
fn chosen(pod: &Pod, old: &PodSpec, spec: &PodSpec) -> Vec<ControlEvent> {
    if spec.agent.is_none() {
        return Vec::new();
    }
    let session = pod.session.as_ref();
    let now = session.and_then(|session| session.mode.as_deref());
    let mode =
        spec.agent_mode.clone().filter(|mode| spec.agent_mode != old.agent_mode || now.is_some_and(|now| now != mode));
    let mode = mode.map(|mode| ControlEvent::ModeChanged { mode });
    let model = (spec.model != old.model).then(|| {
        let mut offers = session.map(|session| session.offers.clone()).unwrap_or_default();
        if !offers.is_object() {
            offers = json!({});
        }
        offers["model"] = json!(spec.model);
        ControlEvent::AgentOffers { offers }
    });
    mode.into_iter().chain(model).collect()
}

/// A child's scope is what it was lent, and what a Pod has lent must stay in its own scope.
async fn check_scope(actors: &Actors, state: &State, scope: &[ScopeRule]) -> Result<(), ApiError> {
    let refuse = |sentence: String| Err(ApiError::new(ErrorCode::InvalidInput, sentence));
    if actors.store.family().child(state.key).await?.is_some() {
        return refuse(format!("the scope of \"{}\" is lent by its parent; only the parent can change it", state.name));
    }
    let loans = place::loans(actors, state.key).await?;
    let lent = Scope::new(scope.iter().cloned(), Vec::new()).lend(&loans, &[]);
    match lent {
        _ if loans.is_empty() => Ok(()),
        Ok(_) => Ok(()),
        Err(_) => refuse("a part of what it has lent to its children is not in that scope; stop them first".to_owned()),
    }
}

/// How a record says that there is no budget any more.
const AS_MUCH_AS_IT_NEEDS: Budget = Budget { cost: None, currency: None, tokens: None, per: BudgetPer::Total };

/// The events that record a change, with the context limit of a new model; empty if nothing changed.
fn told(actors: &Actors, state: &State, spec: &PodSpec, by: &str) -> Vec<ControlEvent> {
    let old = &state.spec;
    fn if_new<T: Clone + PartialEq>(new: &T, old: &T) -> Option<T> {
        (new != old).then(|| new.clone())
    }
    let provider = if_new(&spec.provider, &old.provider);
    let model = if_new(&spec.model, &old.model);
    let is_other_model = provider.is_some() || model.is_some();
    let instructions = if_new(&spec.instructions, &old.instructions).map(Option::unwrap_or_default);
    let event = ControlEvent::SettingsChanged {
        by: by.to_owned(),
        profile: if_new(&spec.profile, &old.profile).flatten(),
        provider,
        model,
        thinking: if_new(&spec.thinking, &old.thinking).flatten(),
        instructions,
        scope: if_new(&spec.scope, &old.scope),
        budget: if_new(&spec.budget, &old.budget).map(|budget| budget.unwrap_or(AS_MUCH_AS_IT_NEEDS)),
        mode: if_new(&spec.mode, &old.mode),
    };
    let is_told = is_other_model
        || !matches!(
            &event,
            ControlEvent::SettingsChanged {
                profile: None,
                thinking: None,
                instructions: None,
                scope: None,
                budget: None,
                mode: None,
                ..
            }
        );
    let context_limit = actors.equipment.providers.facts(&spec.provider, &spec.model).context_limit.unwrap_or(0);
    let context_used = state.pod.usage.context_used;
    let room = ControlEvent::Usage { usage: Usage { context_used, context_limit, ..Usage::default() } };
    // An agent tells the size of its context itself.
    let has_other_room = is_other_model && spec.agent.is_none() && context_limit != state.pod.usage.context_limit;
    is_told.then_some(event).into_iter().chain(has_other_room.then_some(room)).collect()
}
