//! The document, and which page belongs to which address.

use leptos::{config::LeptosOptions, prelude::*};
use leptos_meta::{MetaTags, provide_meta_context};
use leptos_router::{
    Lazy, SsrMode,
    components::{Outlet, ParentRoute, Route, Router, Routes},
    path,
};

use crate::{
    boot::{self, Boot, PlaceTranscript},
    console::{Console, Drawer},
    frame::{Frame, not_found::NotFoundPage},
    later::{
        self, ApprovalsRoute, AuditRoute, BoardRoute, ChangesRoute, ExchangeRoute, LoginRoute, MapRoute, PodRoute,
        PrintRoute, SearchRoute, SettingsRoute, UsageRoute,
    },
    login::LoginStyle,
    print::{self, PrintStyle},
};

/// The whole document, as `leptos_axum` renders it. `site_pkg_dir` of the options is `pkg/<hash>`.
///
/// The login page gets no script and no file, because nothing else may be fetched before login. The print page gets
/// no script.
pub fn shell(options: LeptosOptions) -> impl IntoView {
    boot::send_policy();
    let path = boot::path_of_request();
    let (is_login, is_print) = (path.trim_end_matches('/') == "/login", print::is_print(&path));
    let head = match (is_login, is_print) {
        (true, _) => view! { <LoginStyle /> }.into_any(),
        (false, true) => view! { <PrintStyle options=options.clone() /> }.into_any(),
        (false, false) => view! { <Boot options=options.clone() part=later::part(&path) /> }.into_any(),
    };
    let body = match (is_login || is_print, boot::is_bare(&options)) {
        (true, _) => view! { <App /> }.into_any(),
        // The part that the browser hydrates has to come first in the body.
        (false, false) => view! {
            <App />
            <PlaceTranscript />
        }
        .into_any(),
        (false, true) => view! {
            <p role="status">
                "This yoi was built with YOI_WEB=skip: pages have no styles and no live updates. Rebuild it without YOI_WEB."
            </p>
            <App />
        }
        .into_any(),
    };
    view! {
        <!DOCTYPE html>
        <html lang="en">
            <head>
                <meta charset="utf-8" />
                <meta name="viewport" content="width=device-width, initial-scale=1" />
                <meta name="color-scheme" content="light dark" />
                <meta name="referrer" content="no-referrer" />
                <meta name="description" content="A console for durable LLM agents, live." />
                {head}
                <MetaTags />
            </head>
            <body>{body}</body>
        </html>
    }
    .into_any()
}

/// The console: everything in the body.
#[component]
pub fn App() -> impl IntoView {
    provide_meta_context();
    Console::provide();
    provide_context(Drawer(|over| Box::pin(later::over_view(over))));
    view! {
        <Router>
            <Routes fallback=|| {
                view! {
                    <Frame>
                        <NotFoundPage />
                    </Frame>
                }.into_any()
            }>
                <ParentRoute path=path!("") view=FramedPages ssr=SsrMode::Async>
                    <Route path=path!("") view={Lazy::<BoardRoute>::new()} ssr=SsrMode::Async />
                    <Route path=path!("approvals") view={Lazy::<ApprovalsRoute>::new()} ssr=SsrMode::Async />
                    <Route path=path!("map") view={Lazy::<MapRoute>::new()} ssr=SsrMode::Async />
                    <Route path=path!("audit") view={Lazy::<AuditRoute>::new()} ssr=SsrMode::Async />
                    <Route path=path!("settings") view={Lazy::<SettingsRoute>::new()} ssr=SsrMode::Async />
                    <Route path=path!("search") view={Lazy::<SearchRoute>::new()} ssr=SsrMode::Async />
                    <Route path=path!("usage") view={Lazy::<UsageRoute>::new()} ssr=SsrMode::Async />
                    <Route path=path!("pods/:runtime_id/:worker_id") view={Lazy::<PodRoute>::new()} ssr=SsrMode::Async />
                    <Route
                        path=path!("pods/:runtime_id/:worker_id/changes")
                        view={Lazy::<ChangesRoute>::new()}
                        ssr=SsrMode::Async
                    />
                    <Route
                        path=path!("pods/:runtime_id/:worker_id/with/:peer_runtime_id/:peer_worker_id")
                        view={Lazy::<ExchangeRoute>::new()}
                        ssr=SsrMode::Async
                    />
                </ParentRoute>
                <Route path=path!("pods/:runtime_id/:worker_id/print") view={Lazy::<PrintRoute>::new()} ssr=SsrMode::Async />
                <Route path=path!("login") view={Lazy::<LoginRoute>::new()} ssr=SsrMode::Async />
            </Routes>
        </Router>
    }
}

#[component]
fn FramedPages() -> impl IntoView {
    view! {
        <Frame>
            <Outlet />
        </Frame>
    }
}
