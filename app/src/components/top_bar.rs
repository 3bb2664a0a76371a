use commands::Topic;
use leptos::prelude::*;
use leptos_router::hooks::use_location;

use crate::{
    components::{connection_line::ConnectionLine, with_pods::WithPods},
    console::{Console, Dialog, use_console},
    live,
};

#[component]
pub(crate) fn TopBar() -> impl IntoView {
    let console = use_console();
    let path = use_location().pathname;
    let on = move |page: &'static str| move || (path.get() == page).then_some("page");
    view! {
        <header class="top">
            <a class="brand" href="/">
                "yoi"
            </a>
            <nav aria-label="Console">
                <a href="/" aria-current=on("/")>
                    "Pods"
                    <LiveCount count=Console::needing title="Pods that need you" />
                </a>
                <a href="/map" aria-current=on("/map")>
                    "Map"
                </a>
                <a href="/approvals" aria-current=on("/approvals")>
                    "Approvals"
                    <LiveCount count=Console::asking title="open questions and requests" />
                </a>
            </nav>
            <ConnectionLine />
            <button class="icon" type="button" title="Light or dark" aria-label="Light or dark" on:click=|_| flip_theme()>
                <svg viewBox="0 0 16 16" width="16" height="16" aria-hidden="true">
                    <circle cx="8" cy="8" r="5.5" class="stroke" />
                    <path d="M8 2.5a5.5 5.5 0 0 1 0 11z" class="fill" />
                </svg>
            </button>
            <button
                class="icon"
                type="button"
                title="Keys (?)"
                aria-label="Keys"
                on:click=move |_| console.dialog.set(Some(Dialog::Help(Topic::Keys)))
            >
                <kbd>"?"</kbd>
            </button>
        </header>
    }
    .into_any()
}

/// A figure beside a name; nothing when it is none.
#[component]
pub(crate) fn LiveCount(count: fn(Console) -> usize, title: &'static str) -> impl IntoView {
    let console = use_console();
    let figure = move || {
        let count = count(console);
        (count > 0).then(|| {
            view! {
                <span class="count" title=title>
                    {count}
                    <span class="visually-hidden">" " {title}</span>
                </span>
            }
        })
    };
    view! { <WithPods>{figure}</WithPods> }.into_any()
}

fn flip_theme() {
    live::set_theme(if live::is_dark() { "light" } else { "dark" });
}
