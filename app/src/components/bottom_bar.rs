use leptos::prelude::*;
use leptos_router::hooks::{use_location, use_query_map};

use crate::{
    components::top_bar::LiveCount,
    console::{Console, Dialog, use_console},
};

/// The way around on a phone. Links, so that it works before and without a script.
#[component]
pub(crate) fn BottomBar() -> impl IntoView {
    let console = use_console();
    let path = use_location().pathname;
    let query = use_query_map();
    let pane = move || query.with(|query| query.get("pane").unwrap_or_default());
    let on_pod = move || path.with(|path| path.starts_with("/pods/") && !path.contains("/with/"));
    let on_list = move || path.get() == "/";
    let on_map = move || path.get() == "/map";
    let on_approvals = move || path.get() == "/approvals";
    let current = move |is_here: bool| is_here.then_some("page");
    view! {
        <nav class="bottom" aria-label="Panes">
            <a href="/" aria-current=move || current(on_list())>
                "Pods"
            </a>
            {move || {
                on_pod()
                    .then(|| {
                        view! {
                            <a href=path.get() aria-current=move || current(pane() != "details")>
                                "Transcript"
                            </a>
                            <a
                                href=format!("{}?pane=details", path.get())
                                aria-current=move || current(pane() == "details")
                            >
                                "Details"
                            </a>
                        }
                    })
            }}
            {move || {
                (!on_pod())
                    .then(|| {
                        view! {
                            <a href="/map" aria-current=move || current(on_map())>
                                "Map"
                            </a>
                        }
                    })
            }}
            <a href="/approvals" aria-current=move || current(on_approvals())>
                "Approvals"
                <LiveCount count=Console::asking title="open questions and requests" />
            </a>
            <button type="button" on:click=move |_| console.dialog.set(Some(Dialog::NewPod { name: String::new() }))>
                "New"
                <span class="visually-hidden">" Pod"</span>
            </button>
        </nav>
    }
    .into_any()
}
