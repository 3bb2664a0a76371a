//! The settings of a Pod that can be chosen in the editor: its model, its thinking level, its commands' network
//! access.

use agent_client_protocol::v1::schema::{
    SessionConfigOption, SessionConfigOptionCategory, SessionConfigOptionValue, SessionConfigSelectOption,
};
use client::Client;
use protocol::{
    CommandId, ModelItem, NetworkPolicy, PatchPod, PodDetail, PodRef, Thinking,
    operation::Page,
    operations::{Models, Patch, Pod},
};

use super::Refused;

const MODEL: &str = "model";
const THINKING: &str = "thinking";
const NETWORK: &str = "network";
/// How many models are offered; any other can be set in yoi.
const MODELS_MAX: usize = 200;

/// The current choices for a Pod.
pub(super) async fn offered(client: &Client, pod: &PodDetail) -> Result<Vec<SessionConfigOption>, Refused> {
    // If the Pod's agent is another program, the choices are that program's.
    if pod.summary.provider == "acp" {
        return Ok(Vec::new());
    }
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
        let unset = pod.thinking.is_none().then(|| value("default", "as the model does by itself", None));
        let levels = levels.into_iter().map(|level| value(level.as_str(), level.as_str(), None));
        let values: Vec<_> = unset.into_iter().chain(levels).collect();
        options.push(
            SessionConfigOption::select(THINKING, "Thinking", now, values)
                .category(SessionConfigOptionCategory::ThoughtLevel),
        );
    }
    let about = |policy: NetworkPolicy| match policy {
        NetworkPolicy::None => "Commands reach nothing",
        NetworkPolicy::Ask => "A person is asked for each host",
        NetworkPolicy::Open => "Commands reach all that this machine does",
    };
    let values: Vec<_> = NetworkPolicy::ALL
        .into_iter()
        .map(|policy| value(policy.as_str(), policy.as_str(), Some(about(policy))))
        .collect();
    options.push(SessionConfigOption::select(NETWORK, "Network", pod.network.as_str(), values));
    Ok(options)
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
    let body = patch(what, &value.0)?;
    let detail = client.carry_out(&CommandId::random(), &Patch { pod: pod.clone(), body }).await?;
    offered(client, &detail).await
}

/// The choices for a Pod that has changed.
pub(super) async fn of_pod(client: &Client, pod: &PodRef) -> Result<Vec<SessionConfigOption>, Refused> {
    let detail = client.read(&Pod { pod: pod.clone() }).await?;
    offered(client, &detail).await
}

fn patch(what: &str, value: &str) -> Result<PatchPod, Refused> {
    let none = || Refused::params(format!("`{what}` has no such value"));
    let body = PatchPod::default();
    match what {
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
    use super::*;

    #[test]
    fn a_choice_changes_one_thing_of_a_pod_and_nonsense_nothing() {
        let model = patch(MODEL, "openrouter/meta/llama").unwrap();
        assert_eq!((model.provider.as_deref(), model.model.as_deref()), (Some("openrouter"), Some("meta/llama")));
        assert_eq!(patch(THINKING, "high").unwrap().thinking, Some(Thinking::High));
        assert_eq!(patch(NETWORK, "none").unwrap().network, Some(NetworkPolicy::None));
        for (what, value) in [(MODEL, "x"), (THINKING, "default"), (THINKING, "HIGH"), (NETWORK, ""), ("mode", "x")] {
            assert!(patch(what, value).is_err(), "{what} {value}");
        }
    }
}
