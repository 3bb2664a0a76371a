//! What the browser fetches on first use: dialogs and pages.
//!
//! The server renders all of it directly; in the browser each function under `#[lazy]` starts a part of its own.

use commands::Topic;
use leptos::prelude::*;
use leptos_router::LazyRoute;
use protocol::{OpenApproval, OpenRequest};

use crate::{
    approvals::{needs::Needs, page::ApprovalsPage},
    audit::page::AuditPage,
    changes::page::ChangesPage,
    console::{Dialog, Over, PodContext},
    frame::help_dialog::HelpDialog,
    login::LoginPage,
    palette::PaletteDialog,
    peers::{dialog::PeerDialog, exchange::ExchangePage, help::PeerHelp, map::MapPage},
    pod::{
        compact_dialog::CompactDialog,
        fork_dialog::ForkDialog,
        inspector::AllFacts,
        model_dialog::ModelDialog,
        name_dialogs::{DeleteDialog, RenameDialog},
        page::PodPage,
        restore_dialog::RestoreDialog,
        rewind_dialog::RewindDialog,
        spawn_dialog::SpawnDialog,
        worktree_dialogs::{CommitDialog, WorktreeDialog},
    },
    pods::{
        first_model::FirstModel, key_dialog::KeyDialog, new_pod_dialog::NewPodDialog, page::PodsPage,
        selection_bar::SelectionActs,
    },
    print::PrintPage,
    search::page::SearchPage,
    settings::page::SettingsPage,
    terminal::pane::TerminalPane,
    usage::page::UsagePage,
};

/// What goes over a page or into it on request, once its code has been fetched.
pub(crate) async fn over_view(over: Over) -> AnyView {
    match over {
        Over::Needs(questions, requests) => needs_view((questions, requests)).await,
        Over::Terminal(pod) => terminal_view(*pod).await,
        Over::Facts => facts_view(()).await,
        over => dialog_view(over).await,
    }
}

/// The board's cards, once their code has been fetched.
#[lazy]
fn needs_view((questions, requests): (Vec<OpenApproval>, Vec<OpenRequest>)) -> AnyView {
    view! { <Needs questions=questions requests=requests /> }.into_any()
}

/// A terminal, once its code has been fetched.
#[lazy]
fn terminal_view(pod: PodContext) -> AnyView {
    view! { <TerminalPane pod=pod /> }.into_any()
}

/// What is looked up about a Pod now and then, once its code has been fetched.
#[lazy]
fn facts_view(_facts: ()) -> AnyView {
    view! { <AllFacts /> }.into_any()
}

/// The dialog or other overlay, once its code has been fetched.
#[lazy]
fn dialog_view(over: Over) -> AnyView {
    let dialog = match over {
        Over::Dialog(dialog) => dialog,
        Over::FirstModel => return view! { <FirstModel /> }.into_any(),
        Over::Selection(selected) => return view! { <SelectionActs selected=selected /> }.into_any(),
        Over::Needs(..) | Over::Terminal(_) | Over::Facts => return ().into_any(),
    };
    match dialog {
        Dialog::NewPod => view! { <NewPodDialog /> }.into_any(),
        Dialog::Rename(pod) => view! { <RenameDialog pod=*pod /> }.into_any(),
        Dialog::Model(pod) => view! { <ModelDialog pod=*pod /> }.into_any(),
        Dialog::Delete { pod, is_named } => view! { <DeleteDialog pod=*pod is_named=is_named /> }.into_any(),
        Dialog::Spawn { pod, name } => view! { <SpawnDialog pod=*pod name=name /> }.into_any(),
        Dialog::Compact(pod) => view! { <CompactDialog pod=*pod /> }.into_any(),
        Dialog::Rewind(pod, to) => view! { <RewindDialog pod=*pod to=to /> }.into_any(),
        Dialog::Fork(pod, at) => view! { <ForkDialog pod=*pod at=at /> }.into_any(),
        Dialog::Commit(pod) => view! { <CommitDialog pod=*pod /> }.into_any(),
        Dialog::Worktree(pod, verb) => view! { <WorktreeDialog pod=*pod verb=verb /> }.into_any(),
        Dialog::Restore(pod) => view! { <RestoreDialog pod=*pod /> }.into_any(),
        Dialog::Peer(introduction) => view! { <PeerDialog introduction=introduction /> }.into_any(),
        Dialog::Palette(pod) => view! { <PaletteDialog pod=pod /> }.into_any(),
        Dialog::Key(provider) => view! { <KeyDialog provider=provider /> }.into_any(),
        Dialog::Help(Topic::Keys) => view! { <HelpDialog /> }.into_any(),
        Dialog::Help(Topic::Peers) => view! { <PeerHelp /> }.into_any(),
    }
}

/// The board, once its code has been fetched.
#[lazy]
fn board_view(_page: ()) -> AnyView {
    view! { <PodsPage /> }.into_any()
}

/// A Pod's page, once its code has been fetched.
#[lazy]
fn conversation_view(_page: ()) -> AnyView {
    view! { <PodPage /> }.into_any()
}

/// Any other page, once the shared part with them has been fetched.
#[lazy]
fn page_view(page: Page) -> AnyView {
    match page {
        Page::Approvals => view! { <ApprovalsPage /> }.into_any(),
        Page::Audit => view! { <AuditPage /> }.into_any(),
        Page::Changes => view! { <ChangesPage /> }.into_any(),
        Page::Exchange => view! { <ExchangePage /> }.into_any(),
        Page::Login => view! { <LoginPage /> }.into_any(),
        Page::Map => view! { <MapPage /> }.into_any(),
        Page::Print => view! { <PrintPage /> }.into_any(),
        Page::Search => view! { <SearchPage /> }.into_any(),
        Page::Settings => view! { <SettingsPage /> }.into_any(),
        Page::Usage => view! { <UsagePage /> }.into_any(),
    }
}

enum Page {
    Approvals,
    Audit,
    Changes,
    Exchange,
    Login,
    Map,
    Print,
    Search,
    Settings,
    Usage,
}

/// Defines routes whose pages are in a lazily fetched part.
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
    BoardRoute => board_view, __preload_board_view, ();
    PodRoute => conversation_view, __preload_conversation_view, ();
    ExchangeRoute => page_view, __preload_page_view, Page::Exchange;
    ApprovalsRoute => page_view, __preload_page_view, Page::Approvals;
    AuditRoute => page_view, __preload_page_view, Page::Audit;
    ChangesRoute => page_view, __preload_page_view, Page::Changes;
    LoginRoute => page_view, __preload_page_view, Page::Login;
    MapRoute => page_view, __preload_page_view, Page::Map;
    PrintRoute => page_view, __preload_page_view, Page::Print;
    SearchRoute => page_view, __preload_page_view, Page::Search;
    SettingsRoute => page_view, __preload_page_view, Page::Settings;
    UsageRoute => page_view, __preload_page_view, Page::Usage;
}

/// The part that the page at this path needs at once, by the bundle's name for it.
pub(crate) fn part(path: &str) -> Option<&'static str> {
    match path.trim_end_matches('/') {
        "" => Some("board_view"),
        "/login" => None,
        path if path.starts_with("/pods/") && path.matches('/').count() == 3 => Some("conversation_view"),
        _ => Some("page_view"),
    }
}

#[cfg(test)]
mod tests {
    use super::part;

    #[test]
    fn a_page_brings_the_part_that_it_needs_and_no_other() {
        assert_eq!([part("/"), part("/login")], [Some("board_view"), None]);
        assert_eq!([part("/pods/local/ada"), part("/pods/local/ada/")], [Some("conversation_view"); 2]);
        assert_eq!([part("/pods/local/ada/with/local/bob"), part("/search")], [Some("page_view"); 2]);
    }
}
