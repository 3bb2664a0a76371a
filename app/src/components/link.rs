use leptos::{ev::Event, prelude::*};
use protocol::PodRef;

use crate::{components::abroad::abroad, console::pod_href};

/// A Pod's name, linked to its page.
pub(crate) fn pod_link(pod: &PodRef, name: impl ToString) -> AnyView {
    view! {
        <a class="pod-link" href=pod_href(pod)>
            {name.to_string()}
        </a>
    }
    .into_any()
}

/// [`pod_link`] with the runtime's name, where several runtimes are listed.
pub(crate) fn far_pod_link(pod: &PodRef, name: impl ToString) -> AnyView {
    view! {
        <a class="pod-link" href=pod_href(pod)>
            {name.to_string()}
            {abroad(pod)}
        </a>
    }
    .into_any()
}

/// Stops the event: neither the browser nor the router follows the link, because the page handles it.
pub(crate) fn taken(event: &Event) {
    event.prevent_default();
    event.stop_propagation();
}
