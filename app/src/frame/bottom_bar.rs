use commands::Page;
use leptos::prelude::*;
use leptos_router::hooks::{use_location, use_query_map};

use crate::{
    components::menu::Menu,
    console::{Console, Dialog, use_console},
    frame::top_bar::{LiveCount, PageLink},
    redrawn::redrawn,
};

/// Navigation on a phone: five entries, the rest under More. Plain links, so that it works before hydration and
/// without a script.
#[component]
pub(crate) fn BottomBar() -> impl IntoView {
    let console = use_console();
    let path = use_location().pathname;
    let query = use_query_map();
    let shows_details = move || query.with(|query| query.get("pane").as_deref() == Some("details"));
    let on_pod = Memo::new(move |_| path.with(|path| path.starts_with("/pods/") && !path.contains("/with/")));
    let current = move |is_here: bool| is_here.then_some("page");
    let new_pod = move |_| console.dialog.set(Some(Dialog::NewPod));
    let of_pod = move || {
        view! {
            <a class="of-pod" href=path.get() aria-current=move || current(!shows_details())>
                "Transcript"
            </a>
            <a
                class="of-pod"
                href=format!("{}?pane=details", path.get()) aria-current=move || current(shows_details())>
                "Details"
            </a>
        }
        .into_any()
    };
    let of_pages = move || {
        view! {
            <PageLink page=Page::Search />
            <button type="button" on:click=new_pod>
                "New"
                <span class="visually-hidden">" Pod"</span>
            </button>
        }
        .into_any()
    };
    view! {
        <nav class="bottom" aria-label="Panes">
            <PageLink page=Page::Pods />
            {redrawn(move || if on_pod.get() { of_pod() } else { of_pages() })}
            <a href=Page::Approvals.href() aria-current=move || current(path.get() == Page::Approvals.href())>
                "Approvals"
                <LiveCount count=Console::asking title="pending approvals" />
            </a>
            <Menu id="more-panes" label="More">
                <PageLink page=Page::Map />
                {redrawn(move || on_pod.get().then(|| view! { <PageLink page=Page::Search /> }.into_any()))}
                <PageLink page=Page::Usage />
                <PageLink page=Page::Audit />
                <PageLink page=Page::Settings />
                {redrawn(move || {
                    on_pod
                        .get()
                        .then(|| {
                            view! {
                                <button type="button" on:click=new_pod>
                                    "New Pod…"
                                </button>
                            }.into_any()
                        })
                })}
            </Menu>
        </nav>
    }
}
