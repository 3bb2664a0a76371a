use leptos::prelude::*;
use protocol::{PodName, PodRef, PodSummary, RuntimeId};

/// Behind a Pod's name where several runtimes are listed: which one it lives in, unless it is the server's own.
pub(crate) fn abroad(pod: &PodRef) -> Option<AnyView> {
    at_runtime(&pod.runtime_id)
}

/// Which runtime something is of, unless it is the server's own.
pub(crate) fn at_runtime(runtime: &RuntimeId) -> Option<AnyView> {
    let name = format!("@{}", runtime.as_str());
    (*runtime != RuntimeId::local()).then(|| view! { <small class="abroad">{name}</small> }.into_any())
}

/// A name and where it is, as one word: `ada`, or `ada@box`.
pub(crate) fn named_from_here(name: &PodName, pod: &PodRef) -> String {
    match pod.runtime_id == RuntimeId::local() {
        true => name.to_string(),
        false => format!("{name}@{}", pod.runtime_id),
    }
}

/// The same as one word, where there is no room for two: `ada`, or `ada@box`.
pub(crate) fn from_here(pod: &PodSummary) -> String {
    named_from_here(&pod.name, &pod.pod)
}
