use leptos::prelude::*;
use protocol::{PodRef, RuntimeId};

/// Behind a Pod's name where several runtimes are listed: which one it lives in, unless it is the server's own.
pub(crate) fn abroad(pod: &PodRef) -> Option<AnyView> {
    let runtime = pod.runtime_id.clone();
    (runtime != RuntimeId::local())
        .then(|| view! { <small class="abroad">{format!("@{}", runtime.as_str())}</small> }.into_any())
}
