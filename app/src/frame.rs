//! What is around every page: the bar on top, the list of Pods, dialogs, notices, keys.

mod asking;
mod bottom_bar;
mod connection_line;
mod dialogs;
pub(crate) mod help_dialog;
pub(crate) mod not_found;
mod notices;
pub(crate) mod outside;
mod revocations;
mod shortcuts;
mod top_bar;

use commands::Page;
use leptos::{prelude::*, task::spawn_local};
use leptos_meta::Title;
use leptos_router::hooks::{use_location, use_query_map};

use self::shortcuts::listen;
use crate::{
    codec::fetched,
    components::with_pods::PodsResource,
    console::{Console, use_console},
    frame::{
        asking::Asking, bottom_bar::BottomBar, dialogs::Dialogs, notices::Notices, outside::Outside, top_bar::TopBar,
    },
    live,
    pods::{pods_pane::PodsPane, selection_bar::SelectionStatus},
    server_fns::list_pods,
};

#[component]
pub(crate) fn Frame(children: Children) -> impl IntoView {
    let console = use_console();
    let pods: PodsResource = fetched(|| (), |()| list_pods());
    provide_context(pods);
    listen(console);
    keep_focus(console);
    let title = move || match console.needing() {
        0 => "yoi".to_owned(),
        count => format!("({count}) yoi"),
    };
    view! {
        <Title formatter=move |page: String| if page.is_empty() { title() } else { format!("{page} · {}", title()) } text="" />
        <a class="skip" href="#main">
            "Skip to the content"
        </a>
        <div class="frame" class:is-stale=move || console.stale_since.with(Option::is_some)>
            <TopBar />
            <PodsPane />
            {children()}
            <Notices />
            <BottomBar />
        </div>
        <Asking />
        <Outside />
        <SelectionStatus />
        <Dialogs />
    }
}

/// For this many frames after navigation the focus may be lost, because the element that had it left with the
/// previous page.
const FRAMES_MAX: usize = 30;

/// Restores the focus, so that Tab continues from the start of the page and not from nowhere. If the page begins in a
/// field, keys typed early are held for it, since its code may have to be fetched first.
fn keep_focus(console: Console) {
    let path = use_location().pathname;
    let query = use_query_map();
    Effect::new(move |before: Option<String>| {
        let now = path.get();
        if before.is_some_and(|before| before != now) {
            if console.dialog.with_untracked(Option::is_none) {
                let has_words = || query.with_untracked(|query| query.get("q").is_some_and(|words| !words.is_empty()));
                live::keys_wait(now == Page::Search.href() && !has_words());
            }
            spawn_local(async {
                for _ in 0..FRAMES_MAX {
                    live::painted().await;
                    live::focus_content();
                }
            });
        }
        now
    });
}
