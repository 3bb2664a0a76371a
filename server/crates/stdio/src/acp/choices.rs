//! What can be chosen for a Pod in the editor: its mode, its model, its thinking level, its commands' network access,
//! and the commands of its agent.

use agent_client_protocol::v1::schema::{
    AvailableCommand, AvailableCommandInput, SessionConfigOption, SessionConfigOptionCategory,
    SessionConfigOptionValue, SessionConfigSelectOption, SessionMode, SessionModeState, UnstructuredCommandInput,
};
use client::Client;
use protocol::{
    AgentChoice, CommandId, Mode, ModelItem, NetworkPolicy, PatchPod, PodDetail, PodRef, Thinking,
    operation::Page,
    operations::{Models, Patch, Pod},
};

use super::Refused;

const MODE: &str = "mode";
const MODEL: &str = "model";
const THINKING: &str = "thinking";
const NETWORK: &str = "network";
/// How many models are offered; any other can be set in yoi.
const MODELS_MAX: usize = 200;

/// The modes of a Pod, and the one that it is in; `None` if it has none.
struct Modes {
    now: String,
    all: Vec<AgentChoice>,
}

/// Its agent's modes, which nobody knows before the agent's first turn; without an agent, the Pod's own.
fn modes_of(pod: &PodDetail) -> Option<Modes> {
    if pod.summary.agent.is_none() {
        let choice = |mode: Mode| AgentChoice {
            id: mode.as_str().to_owned(),
            name: mode.words().to_owned(),
            description: Some(mode.about().to_owned()),
        };
        return Some(Modes { now: pod.mode.as_str().to_owned(), all: Mode::ALL.map(choice).into() });
    }
    let session = pod.session.as_ref()?;
    let all = session.offers.modes.clone();
    let now = session.mode.clone().or_else(|| Some(all.first()?.id.clone()))?;
    (!all.is_empty()).then_some(Modes { now, all })
}

/// The modes of a Pod as a session has them.
pub(super) fn modes(pod: &PodDetail) -> Option<SessionModeState> {
    let Modes { now, all } = modes_of(pod)?;
    let mode = |choice: AgentChoice| SessionMode::new(choice.id, choice.name).description(choice.description);
    Some(SessionModeState::new(now, all.into_iter().map(mode).collect()))
}

/// The commands that a message to the Pod may begin with: those of its agent.
pub(super) fn commands(pod: &PodDetail) -> Vec<AvailableCommand> {
    let command = |choice: &AgentChoice| {
        // The name has the hint behind it.
        let hint = choice.name.strip_prefix(choice.id.as_str()).unwrap_or_default().trim();
        let input =
            (!hint.is_empty()).then(|| AvailableCommandInput::Unstructured(UnstructuredCommandInput::new(hint)));
        AvailableCommand::new(choice.id.clone(), choice.description.clone().unwrap_or_default()).input(input)
    };
    let session = pod.session.as_ref();
    session.map(|session| session.offers.commands.iter().map(command).collect()).unwrap_or_default()
}

/// The current choices for a Pod.
pub(super) async fn offered(client: &Client, pod: &PodDetail) -> Result<Vec<SessionConfigOption>, Refused> {
    let mode = modes_of(pod).map(|Modes { now, all }| select(MODE, "Mode", now, &all));
    let mode = mode.map(|option| option.category(SessionConfigOptionCategory::Mode));
    let answering = match pod.summary.agent {
        Some(_) => models_of_agent(pod).into_iter().collect(),
        None => models_of_providers(client, pod).await?,
    };
    Ok(mode.into_iter().chain(answering).chain([network(pod)]).collect())
}

/// The models among which its agent lets its client choose.
fn models_of_agent(pod: &PodDetail) -> Option<SessionConfigOption> {
    let offers = &pod.session.as_ref()?.offers;
    let now = offers.model.clone().unwrap_or_else(|| pod.summary.model.clone());
    let option = (!offers.models.is_empty()).then(|| select(MODEL, "Model", now, &offers.models));
    option.map(|option| option.category(SessionConfigOptionCategory::Model))
}

/// A choice among these. What is chosen now is among them, even if it is no longer offered.
fn select(id: &'static str, name: &'static str, now: String, choices: &[AgentChoice]) -> SessionConfigOption {
    let gone = choices.iter().all(|choice| choice.id != now).then(|| value(&now, &now, None));
    let values = choices.iter().map(|choice| value(&choice.id, &choice.name, choice.description.as_deref()));
    let values: Vec<_> = gone.into_iter().chain(values).collect();
    SessionConfigOption::select(id, name, now, values)
}

/// The models of all providers, and the thinking levels of the present one.
async fn models_of_providers(client: &Client, pod: &PodDetail) -> Result<Vec<SessionConfigOption>, Refused> {
    let models = client.read(&Models { page: Page::default() }).await?.items;
    let present = format!("{}/{}", pod.summary.provider, pod.summary.model);
    let is_present = |item: &&ModelItem| item.provider == pod.summary.provider && item.model == pod.summary.model;
    let facts = models.iter().find(is_present).map(|item| item.facts.clone()).unwrap_or_default();
    let mut values: Vec<_> = models
        .iter()
        .filter(|item| !is_present(item))
        .take(MODELS_MAX)
        .map(|item| value(&format!("{}/{}", item.provider, item.model), &item.model, Some(&item.provider)))
        .collect();
    values.insert(0, value(&present, &pod.summary.model, Some(&pod.summary.provider)));
    let mut options =
        vec![SessionConfigOption::select(MODEL, "Model", present, values).category(SessionConfigOptionCategory::Model)];
    if let Some(levels) = facts.thinking.filter(|levels| !levels.is_empty()) {
        let now = pod.thinking.map_or("default", Thinking::as_str);
        let unset = pod.thinking.is_none().then(|| value("default", "the model's own default", None));
        let levels = levels.into_iter().map(|level| value(level.as_str(), level.as_str(), None));
        let values: Vec<_> = unset.into_iter().chain(levels).collect();
        options.push(
            SessionConfigOption::select(THINKING, "Thinking", now, values)
                .category(SessionConfigOptionCategory::ThoughtLevel),
        );
    }
    Ok(options)
}

fn network(pod: &PodDetail) -> SessionConfigOption {
    let about = |policy: NetworkPolicy| match policy {
        NetworkPolicy::None => "Commands reach nothing",
        NetworkPolicy::Ask => "A person is asked for each host",
        NetworkPolicy::Open => "Commands reach all that this machine does",
    };
    let values: Vec<_> = NetworkPolicy::ALL
        .into_iter()
        .map(|policy| value(policy.as_str(), policy.as_str(), Some(about(policy))))
        .collect();
    SessionConfigOption::select(NETWORK, "Network", pod.network.as_str(), values)
}

fn value(id: &str, name: &str, about: Option<&str>) -> SessionConfigSelectOption {
    let mut value = SessionConfigSelectOption::new(id.to_owned(), name);
    value.description = about.map(str::to_owned);
    value
}

/// Sets a choice; returns all choices as they are then.
pub(super) async fn choose(
    client: &Client,
    pod: &PodRef,
    what: &str,
    chosen: &SessionConfigOptionValue,
) -> Result<Vec<SessionConfigOption>, Refused> {
    let SessionConfigOptionValue::ValueId { value } = chosen else {
        return Err(Refused::params("this option has one of its values"));
    };
    let detail = client.read(&Pod { pod: pod.clone() }).await?;
    let body = patch(what, &value.0, detail.summary.agent.is_some())?;
    let detail = client.carry_out(&CommandId::random(), &Patch { pod: pod.clone(), body }).await?;
    offered(client, &detail).await
}

/// Sets the Pod's mode.
pub(super) async fn set_mode(client: &Client, pod: &PodRef, mode: &str) -> Result<(), Refused> {
    let detail = client.read(&Pod { pod: pod.clone() }).await?;
    let body = patch(MODE, mode, detail.summary.agent.is_some())?;
    client.carry_out(&CommandId::random(), &Patch { pod: pod.clone(), body }).await?;
    Ok(())
}

fn patch(what: &str, value: &str, has_agent: bool) -> Result<PatchPod, Refused> {
    let none = || Refused::params(format!("`{what}` has no such value"));
    let body = PatchPod::default();
    match what {
        MODE if has_agent => Ok(PatchPod { agent_mode: Some(value.to_owned()), ..body }),
        MODE => Ok(PatchPod { mode: Some(value.parse().map_err(|_| none())?), ..body }),
        MODEL if has_agent => Ok(PatchPod { model: Some(value.to_owned()), ..body }),
        MODEL => {
            let (provider, model) = value.split_once('/').ok_or_else(none)?;
            Ok(PatchPod { provider: Some(provider.to_owned()), model: Some(model.to_owned()), ..body })
        }
        THINKING => {
            let level = Thinking::ALL.into_iter().find(|level| level.as_str() == value).ok_or_else(none)?;
            Ok(PatchPod { thinking: Some(level), ..body })
        }
        NETWORK => {
            let policy = NetworkPolicy::ALL.into_iter().find(|policy| policy.as_str() == value).ok_or_else(none)?;
            Ok(PatchPod { network: Some(policy), ..body })
        }
        _ => Err(Refused::params("there is no such option")),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_choice_changes_one_thing_of_a_pod_and_nonsense_nothing() {
        let patch = |what, value| patch(what, value, false);
        let model = patch(MODEL, "openrouter/meta/llama").unwrap();
        assert_eq!((model.provider.as_deref(), model.model.as_deref()), (Some("openrouter"), Some("meta/llama")));
        assert_eq!(patch(THINKING, "high").unwrap().thinking, Some(Thinking::High));
        assert_eq!(patch(NETWORK, "none").unwrap().network, Some(NetworkPolicy::None));
        for (what, value) in [(MODEL, "x"), (THINKING, "default"), (THINKING, "HIGH"), (NETWORK, ""), ("mood", "x")] {
            assert!(patch(what, value).is_err(), "{what} {value}");
        }
        let of_agent = super::patch(MODEL, "gpt-5.4/high", true).unwrap();
        assert_eq!((of_agent.provider, of_agent.model.as_deref()), (None, Some("gpt-5.4/high")));
    }

    #[test]
    fn an_agents_modes_models_and_commands_are_those_of_the_session() {
        let detail: PodDetail = serde_json::from_value(json!({
            "pod": { "runtime_id": "local", "worker_id": "0190" }, "name": "ada", "state": "idle", "provider": "acp",
            "model": "small", "agent": "codex", "cwd": "/w", "created_at": "2026-11-25T00:00:00Z",
            "updated_at": "2026-11-25T00:00:00Z", "head_seq": 1, "needs_you": false, "unread": 0,
            "queued_count": 0, "relations": { "children": 0, "peers": 0 },
            "usage": { "input": 0, "cached": 0, "output": 0 }, "scope": [], "peer_policy": "open",
            "auto_resume": false, "wake_on_peer": true, "permissions": [], "network": "ask", "reasoning": "full",
            "queued": [], "children": [],
            "session": { "confined": false, "mode": "code",
                "modes": [{ "id": "ask", "name": "Ask" }, { "id": "code", "name": "Code", "description": "writes" }],
                "models": [{ "id": "large", "name": "Large" }], "model": "small",
                "commands": [{ "id": "review", "name": "review what", "description": "Looks" }, { "id": "stop", "name": "stop" }] },
        }))
        .unwrap();
        let modes = json!(modes(&detail));
        assert_eq!(
            (&modes["currentModeId"], &modes["availableModes"][1]["description"]),
            (&json!("code"), &json!("writes"))
        );
        let commands = json!(commands(&detail));
        assert_eq!((&commands[0]["name"], &commands[0]["input"]), (&json!("review"), &json!({ "hint": "what" })));
        assert_eq!((&commands[1]["name"], commands[1].get("input")), (&json!("stop"), None));
        let models = json!(models_of_agent(&detail));
        assert_eq!((&models["category"], &models["currentValue"]), (&json!("model"), &json!("small")));
        let ids: Vec<_> = models["options"].as_array().unwrap().iter().map(|value| value["value"].clone()).collect();
        assert_eq!(ids, ["small", "large"], "what answers now is among them");
    }
}
