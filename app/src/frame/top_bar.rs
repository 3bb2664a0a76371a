use commands::{Page, Topic};
use leptos::prelude::*;
use leptos_router::hooks::use_location;

use crate::{
    components::{menu::Menu, with_pods::WithPods},
    console::{Console, Dialog, pod_of_path, use_console},
    frame::connection_line::ConnectionLine,
    live, palette,
    redrawn::redrawn,
};

#[component]
pub(crate) fn TopBar() -> impl IntoView {
    let console = use_console();
    let path = use_location().pathname;
    let on = move |page: Page| move || (path.get() == page.href()).then_some("page");
    // A Pod's page counts as part of Pods.
    let at_pods = move || match path.get() {
        path if path.starts_with("/pods/") => Some("true"),
        _ => on(Page::Pods)(),
    };
    view! {
        <header class="top">
            <a class="brand" href="/">
                "yoi"
            </a>
            <nav aria-label="Console">
                <a href=Page::Pods.href() aria-current=at_pods>
                    {Page::Pods.title()}
                    <LiveCount count=Console::needing title="things that need you" said=" waiting for you" />
                </a>
                <PageLink page=Page::Map />
                <PageLink page=Page::Search />
                <PageLink page=Page::Usage />
                <Menu id="more-pages" label="More">
                    <a href=Page::Approvals.href() aria-current=on(Page::Approvals)>
                        "Approvals"
                        <LiveCount count=Console::asking title="pending approvals" />
                    </a>
                    <PageLink page=Page::Audit />
                    <PageLink page=Page::Settings />
                    <button type="button" on:click=|_| flip_theme()>
                        "Light or dark"
                    </button>
                </Menu>
            </nav>
            <ConnectionLine />
            <button
                class="palette-key"
                type="button"
                title="Palette (Ctrl-K)"
                aria-label="Palette"
                on:click=move |_| palette::flip(console, pod_of_path(&path.get_untracked()))
            >
                <kbd class="wide">"Ctrl K"</kbd>
                <svg class="narrow" viewBox="0 0 16 16" width="16" height="16" aria-hidden="true">
                    <circle cx="7" cy="7" r="4.25" class="stroke" />
                    <path d="M10.2 10.2L14 14" class="stroke" />
                </svg>
            </button>
            <button
                class="icon"
                type="button"
                title="Keys (?)"
                aria-label="Keys"
                on:click=move |_| console.dialog.set(Some(Dialog::Help(Topic::Keys)))
            >
                "?"
            </button>
        </header>
    }
}

/// A link to a page, marked as current while that page is open.
#[component]
pub(crate) fn PageLink(page: Page) -> impl IntoView {
    let path = use_location().pathname;
    view! {
        <a href=page.href() aria-current=move || (path.get() == page.href()).then_some("page")>
            {page.title()}
        </a>
    }
}

/// A number beside a label, with words for screen readers: `Approvals, 2 waiting`. Empty at zero.
#[component]
pub(crate) fn LiveCount(
    count: fn(Console) -> usize,
    title: &'static str,
    #[prop(default = " waiting")] said: &'static str,
) -> impl IntoView {
    let console = use_console();
    let figure = move || {
        let count = count(console);
        (count > 0).then(|| {
            view! {
                <span class="count" title=title>
                    <span class="comma">", "</span>
                    {count}
                    <span class="visually-hidden">{said}</span>
                </span>
            }
            .into_any()
        })
    };
    view! { <WithPods>{redrawn(figure)}</WithPods> }
}

fn flip_theme() {
    live::set_theme(if live::is_dark() { "light" } else { "dark" });
}
