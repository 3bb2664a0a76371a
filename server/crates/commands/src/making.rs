//! The defaults for a new Pod and the folders that other Pods work in, for whoever offers a choice.

use std::path::Path;

use protocol::{ModelFacts, PodSummary, ProfileView, ProviderView, RuntimeId, ScopeRule, Thinking};

/// At most this many recent folders are offered.
const RECENT_FOLDERS_MAX: usize = 8;

/// The values that a server uses if none are given. Unknown ones are `None`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Defaults {
    pub provider: Option<String>,
    pub model: Option<String>,
    pub thinking: Option<Thinking>,
}

impl Defaults {
    /// Determined as on the server: from the profile first, then from its providers.
    pub fn of(providers: &[ProviderView], profile: Option<&ProfileView>, said: Option<&str>) -> Self {
        let by_profile = profile.and_then(|profile| profile.provider.clone());
        let usual = || providers.iter().find(|provider| provider.default).map(|provider| provider.name.clone());
        let provider = said.map(str::to_owned).or(by_profile).or_else(usual);
        let own = |profile: &ProfileView| {
            let is_of = profile.provider.is_none() || profile.provider == provider;
            profile.model.clone().filter(|_| is_of)
        };
        let first = || {
            let listed = providers.iter().find(|listed| Some(&listed.name) == provider.as_ref())?;
            listed.models.first().map(|model| model.name.clone())
        };
        let model = profile.and_then(own).or_else(first);
        Self { provider, model, thinking: profile.and_then(|profile| profile.thinking) }
    }

    /// `gpt-5.4 of openai`; empty if neither is known.
    pub fn words(&self) -> String {
        match (&self.model, &self.provider) {
            (Some(model), Some(provider)) => format!("{model} of {provider}"),
            (Some(one), None) | (None, Some(one)) => one.clone(),
            (None, None) => String::new(),
        }
    }
}

/// What is known of a model; `None` if its provider does not list it.
pub fn facts_of<'a>(providers: &'a [ProviderView], provider: &str, model: &str) -> Option<&'a ModelFacts> {
    let listed = providers.iter().find(|listed| listed.name == provider)?;
    listed.models.iter().find(|known| known.name == model).map(|known| &known.facts)
}

/// The scope of a profile's template, for a Pod that works in this folder.
pub fn template(profile: &ProfileView, folder: &str) -> Option<Vec<ScopeRule>> {
    let within = |rule: &ScopeRule| {
        let path = Path::new(folder).join(&rule.path).components().collect::<std::path::PathBuf>();
        ScopeRule { path: path.to_string_lossy().into_owned(), ..rule.clone() }
    };
    Some(profile.scope.as_ref()?.iter().map(within).collect())
}

/// The folders that this runtime's Pods work in, most recently changed Pod first.
pub fn recent_folders(pods: &[PodSummary], runtime: &RuntimeId) -> Vec<String> {
    let mut here: Vec<_> = pods.iter().filter(|pod| pod.pod.runtime_id == *runtime && !pod.cwd.is_empty()).collect();
    here.sort_by_key(|pod| std::cmp::Reverse(pod.updated_at));
    let mut folders: Vec<String> = Vec::new();
    for pod in here {
        if folders.len() == RECENT_FOLDERS_MAX {
            break;
        }
        if !folders.contains(&pod.cwd) {
            folders.push(pod.cwd.clone());
        }
    }
    folders
}

#[cfg(test)]
mod tests {
    use protocol::Access;
    use serde_json::json;

    use super::*;
    use crate::samples;

    fn providers() -> Vec<ProviderView> {
        let provider = |name: &str, default, models: &[&str]| {
            let models: Vec<_> = models.iter().map(|name| json!({ "name": name, "context_limit": 8_000 })).collect();
            json!({ "name": name, "kind": "openai", "default": default, "source": "found", "models": models })
        };
        serde_json::from_value(json!([provider("lab", true, &["small", "large"]), provider("other", false, &["own"])]))
            .unwrap()
    }

    fn profile(fields: serde_json::Value) -> ProfileView {
        let mut all = json!({ "name": "reviewer", "permissions": [] });
        all.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        serde_json::from_value(all).unwrap()
    }

    #[test]
    fn what_is_not_said_is_the_profiles_and_else_the_first_model_of_the_default_provider() {
        let providers = providers();
        let words = |profile: Option<&ProfileView>, said| Defaults::of(&providers, profile, said).words();
        assert_eq!(words(None, None), "small of lab");
        assert_eq!(words(None, Some("other")), "own of other");
        let own = profile(json!({ "model": "large", "thinking": "high" }));
        assert_eq!(words(Some(&own), None), "large of lab");
        assert_eq!(Defaults::of(&providers, Some(&own), None).thinking, Some(Thinking::High));
        let of_other = profile(json!({ "provider": "other", "model": "own" }));
        assert_eq!(words(Some(&of_other), None), "own of other");
        assert_eq!(
            words(Some(&of_other), Some("lab")),
            "small of lab",
            "its model is not put together with another provider"
        );
        assert_eq!(words(None, Some("unheard")), "unheard");
        assert_eq!(Defaults::of(&[], None, None).words(), "");
        assert!(facts_of(&providers, "lab", "small").is_some() && facts_of(&providers, "lab", "own").is_none());
    }

    #[test]
    fn a_template_begins_at_the_folder_and_a_profile_without_one_has_none() {
        let rules = json!([{ "path": "src", "access": "write", "recursive": true },
            { "path": ".", "access": "read", "recursive": true }, { "path": "/etc", "access": "deny", "recursive": false }]);
        let template = template(&profile(json!({ "scope": rules })), "/srv/app").unwrap();
        let paths: Vec<_> = template.iter().map(|rule| (rule.path.as_str(), rule.access)).collect();
        assert_eq!(paths, [("/srv/app/src", Access::Write), ("/srv/app", Access::Read), ("/etc", Access::Deny)]);
        assert_eq!(super::template(&profile(json!({})), "/srv/app"), None);
    }

    #[test]
    fn folders_of_pods_are_told_once_the_newest_first_and_only_of_the_runtime_that_is_meant() {
        let pod = |name: &str, cwd: &str, minute: u32| {
            let mut pod = samples::pod(name, protocol::PodState::Idle);
            pod.cwd = cwd.to_owned();
            pod.updated_at = serde_json::from_value(json!(format!("2026-01-01T00:{minute:02}:00Z"))).unwrap();
            pod
        };
        let mut pods: Vec<_> = (0..20).map(|number| pod("p", &format!("/many/{number}"), number)).collect();
        pods.extend([pod("a", "/srv", 30), pod("b", "/home", 40), pod("c", "/srv", 50)]);
        let mut abroad = pod("d", "/far", 59);
        abroad.pod = "box/d".parse().unwrap();
        pods.push(abroad);
        let folders = recent_folders(&pods, &RuntimeId::local());
        assert_eq!(folders[..3], ["/srv", "/home", "/many/19"]);
        assert_eq!(folders.len(), RECENT_FOLDERS_MAX);
        assert_eq!(recent_folders(&pods, &RuntimeId::parse("box").unwrap()), ["/far"]);
    }
}
