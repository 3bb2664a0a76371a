use leptos::prelude::*;
use protocol::{PodName, PodRef, PodSummary, RuntimeId};

/// Follows a Pod's name where several runtimes are listed: the runtime it lives in, unless that is this server.
pub(crate) fn abroad(pod: &PodRef) -> Option<AnyView> {
    at_runtime(&pod.runtime_id)
}

/// The runtime's name as a small suffix, unless it is this server.
pub(crate) fn at_runtime(runtime: &RuntimeId) -> Option<AnyView> {
    let name = format!("@{}", runtime.as_str());
    (*runtime != RuntimeId::local()).then(|| view! { <small class="abroad">{name}</small> }.into_any())
}

/// The name, with its runtime where that is not this server: `ada`, or `ada@box`.
pub(crate) fn named_from_here(name: &PodName, pod: &PodRef) -> String {
    match pod.runtime_id == RuntimeId::local() {
        true => name.to_string(),
        false => format!("{name}@{}", pod.runtime_id),
    }
}

/// [`named_from_here`] for a summary.
pub(crate) fn from_here(pod: &PodSummary) -> String {
    named_from_here(&pod.name, &pod.pod)
}
