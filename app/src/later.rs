//! What the browser fetches when a person first goes there: dialogs, and the pages that are not a Pod's.
//!
//! The server draws all of it as it is; in the browser a function under `#[lazy]` begins a part of its own.

use commands::Topic;
use leptos::prelude::*;
use leptos_router::LazyRoute;

use crate::{
    components::{
        compact_dialog::CompactDialog,
        help_dialog::HelpDialog,
        new_pod_dialog::NewPodDialog,
        palette::PaletteDialog,
        peer_dialog::PeerDialog,
        peer_help::PeerHelp,
        pod_dialogs::{DeleteDialog, RenameDialog},
        restore_dialog::RestoreDialog,
        rewind_dialog::RewindDialog,
        spawn_dialog::SpawnDialog,
    },
    console::Dialog,
    pages::{
        approvals::ApprovalsPage, audit::AuditPage, exchange::ExchangePage, login::LoginPage, map::MapPage,
        pod::PodPage, print::PrintPage, search::SearchPage, settings::SettingsPage, usage::UsagePage,
    },
};

/// The dialog, once its code is there.
#[lazy]
pub(crate) fn dialog_view(dialog: Dialog) -> AnyView {
    match dialog {
        Dialog::NewPod { name } => view! { <NewPodDialog name=name /> }.into_any(),
        Dialog::Rename(pod) => view! { <RenameDialog pod=*pod /> }.into_any(),
        Dialog::Delete(pod) => view! { <DeleteDialog pod=*pod /> }.into_any(),
        Dialog::Spawn { pod, name } => view! { <SpawnDialog pod=*pod name=name /> }.into_any(),
        Dialog::Compact(pod) => view! { <CompactDialog pod=*pod /> }.into_any(),
        Dialog::Rewind(pod, to) => view! { <RewindDialog pod=*pod to=to /> }.into_any(),
        Dialog::Restore(pod) => view! { <RestoreDialog pod=*pod /> }.into_any(),
        Dialog::Peer(introduction) => view! { <PeerDialog introduction=introduction /> }.into_any(),
        Dialog::Palette(pod) => view! { <PaletteDialog pod=pod /> }.into_any(),
        Dialog::Help(Topic::Keys) => view! { <HelpDialog /> }.into_any(),
        Dialog::Help(Topic::Peers) => view! { <PeerHelp /> }.into_any(),
    }
}

/// A page, once its code is there. The pages about a Pod's conversation are one part, all others another.
#[lazy]
fn conversation_view(page: Conversation) -> AnyView {
    match page {
        Conversation::Pod => view! { <PodPage /> }.into_any(),
        Conversation::Exchange => view! { <ExchangePage /> }.into_any(),
    }
}

#[lazy]
fn page_view(page: Page) -> AnyView {
    match page {
        Page::Approvals => view! { <ApprovalsPage /> }.into_any(),
        Page::Audit => view! { <AuditPage /> }.into_any(),
        Page::Login => view! { <LoginPage /> }.into_any(),
        Page::Map => view! { <MapPage /> }.into_any(),
        Page::Print => view! { <PrintPage /> }.into_any(),
        Page::Search => view! { <SearchPage /> }.into_any(),
        Page::Settings => view! { <SettingsPage /> }.into_any(),
        Page::Usage => view! { <UsagePage /> }.into_any(),
    }
}

enum Conversation {
    Pod,
    Exchange,
}

enum Page {
    Approvals,
    Audit,
    Login,
    Map,
    Print,
    Search,
    Settings,
    Usage,
}

/// Names routes whose pages are in a part.
macro_rules! later {
    ($($route:ident => $view:ident, $preload:ident, $page:expr;)*) => {$(
        #[derive(Debug)]
        pub(crate) struct $route;

        impl LazyRoute for $route {
            fn data() -> Self {
                Self
            }

            async fn view(_this: Self) -> AnyView {
                $view($page).await
            }

            async fn preload() {
                #[cfg(target_arch = "wasm32")]
                $preload().await;
            }
        }
    )*};
}

later! {
    PodRoute => conversation_view, __preload_conversation_view, Conversation::Pod;
    ExchangeRoute => conversation_view, __preload_conversation_view, Conversation::Exchange;
    ApprovalsRoute => page_view, __preload_page_view, Page::Approvals;
    AuditRoute => page_view, __preload_page_view, Page::Audit;
    LoginRoute => page_view, __preload_page_view, Page::Login;
    MapRoute => page_view, __preload_page_view, Page::Map;
    PrintRoute => page_view, __preload_page_view, Page::Print;
    SearchRoute => page_view, __preload_page_view, Page::Search;
    SettingsRoute => page_view, __preload_page_view, Page::Settings;
    UsageRoute => page_view, __preload_page_view, Page::Usage;
}

/// The part that the page at this path needs at once: its name as the bundle has it.
pub(crate) fn part(path: &str) -> Option<&'static str> {
    match path {
        "/" | "/login" => None,
        path if path.starts_with("/pods/") => Some("conversation_view"),
        _ => Some("page_view"),
    }
}
