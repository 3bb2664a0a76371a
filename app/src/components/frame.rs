//! What is around every page: the bar on top, the list of Pods, dialogs, notices, keys.

mod shortcuts;

use leptos::prelude::*;
use leptos_meta::Title;

use self::shortcuts::listen;
use crate::{
    codec::{Fetched, fetched},
    components::{
        asking::Asking, bottom_bar::BottomBar, dialogs::Dialogs, notices::Notices, outside::Outside,
        pods_pane::PodsPane, selection_bar::SelectionStatus, top_bar::TopBar,
    },
    console::use_console,
    server_fns::list_pods,
};

/// The list that came with the page. Read by all who draw Pods before the stream has said anything.
pub(crate) type PodsResource = Fetched<Result<Vec<protocol::PodSummary>, crate::UiError>>;

#[component]
pub(crate) fn Frame(children: Children) -> impl IntoView {
    let console = use_console();
    let pods: PodsResource = fetched(|| (), |()| list_pods());
    provide_context(pods);
    listen(console);
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
            <BottomBar />
        </div>
        <Asking />
        <Outside />
        <SelectionStatus />
        <Notices />
        <Dialogs />
    }
    .into_any()
}
