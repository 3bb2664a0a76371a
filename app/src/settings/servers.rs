//! The MCP servers whose tools models may call: the state of each, its tools, its last error and its log.

use commands::said::SERVERS_ABOUT;
use leptos::prelude::*;
use protocol::{McpLog, McpLogin, McpServerItem, McpServerState};

use super::Section;
use crate::{
    components::{
        deed::{Deed, DeedButton},
        problem::Problem,
    },
    console::use_console,
    reading::{First, Reading},
    redrawn::redrawn,
    server_fns::{list_servers, log_in_to_server, log_out_of_server, restart_server, server_log},
};

/// The least time between two readings of the servers, in milliseconds.
const READING_MS_MIN: u32 = 1_000;

#[component]
pub(crate) fn ServersSection(servers: Vec<McpServerItem>) -> impl IntoView {
    let none = servers.is_empty().then(|| {
        view! { <p class="hint">"None is configured. A section [mcp.NAME] of the configuration adds one."</p> }
            .into_any()
    });
    let servers = RwSignal::new(servers);
    let deed = Deed::default();
    // Not kept with its server, whose line is redrawn whenever its state changes.
    let log = RwSignal::new(None::<McpLog>);
    let login = RwSignal::new(None::<McpLogin>);
    keep_up(servers, deed);
    view! {
        <Section id="mcp" title="MCP servers">
            <p class="hint">{SERVERS_ABOUT}</p>
            {none}
            <ul class="lines">
                <For each=move || servers.get() key=|server| format!("{server:?}") let:server>
                    <Server server=server servers=servers log=log login=login deed=deed />
                </For>
            </ul>
            <Problem error=deed.error />
        </Section>
    }
}

/// Reads the servers again from time to time, whenever ages are updated, but not while an action of this page is
/// running.
fn keep_up(servers: RwSignal<Vec<McpServerItem>>, deed: Deed) {
    if servers.with_untracked(Vec::is_empty) {
        return;
    }
    let console = use_console();
    Reading::follow(READING_MS_MIN, First::IsKnown, move || console.clock.now(), move || read(servers, deed));
}

async fn read(servers: RwSignal<Vec<McpServerItem>>, deed: Deed) {
    let Ok(found) = list_servers().await else { return };
    if deed.is_busy.try_get_untracked() == Some(false)
        && servers.try_with_untracked(|servers| *servers != found) == Some(true)
    {
        servers.try_set(found);
    }
}

#[component]
fn Server(
    server: McpServerItem,
    servers: RwSignal<Vec<McpServerItem>>,
    log: RwSignal<Option<McpLog>>,
    login: RwSignal<Option<McpLogin>>,
    deed: Deed,
) -> impl IntoView {
    let McpServerItem { name, state, detail, tools, logged_in } = server;
    let (mark, class) = match state {
        McpServerState::Idle => ("–", "is-wait"),
        McpServerState::Connecting => ("…", "is-wait"),
        McpServerState::Ready => ("✓", "is-good"),
        McpServerState::Away | McpServerState::Login => ("✕", "is-bad"),
    };
    let said = match state {
        McpServerState::Idle => "no Pod uses it now",
        McpServerState::Connecting => "connecting",
        McpServerState::Ready => "ready",
        McpServerState::Away => "away; yoi keeps trying",
        McpServerState::Login => "wants a login",
    };
    let tools = tools.map(|tools| {
        let summary = match tools.len() {
            1 => "1 tool".to_owned(),
            count => format!("{count} tools"),
        };
        let item = |tool: String| view! { <li><code>{tool}</code></li> }.into_any();
        view! { <details><summary>{summary}</summary><ul>{tools.into_iter().map(item).collect_view()}</ul></details> }
            .into_any()
    });
    let (restarts, reads, its, label) = (name.clone(), name.clone(), name.clone(), format!("Restart {name}"));
    let log_label = format!("Log of {name}");
    let way_in = way_in(deed, servers, login, &name, state == McpServerState::Login, logged_in);
    let written = move || log.get().filter(|log| log.name == its).map(|log| written(log.text));
    view! {
        <li class="line">
            <span class=format!("verdict {class}") aria-hidden="true">{mark}</span>
            <div class="server">
                <b>{name}</b>
                " "
                <small>{said}{detail.map(|detail| format!(": {detail}"))}</small>
                {tools}
                {redrawn(written)}
            </div>
            {way_in}
            <DeedButton deed=deed label=log_label words="Log" press=move || show_log(deed, log, reads.clone()) />
            <DeedButton deed=deed label=label words="Restart" press=move || restart(deed, servers, restarts.clone()) />
        </li>
    }
}

/// The button that begins a login, then the link to the page where it continues; and the button that forgets a login.
fn way_in(
    deed: Deed,
    servers: RwSignal<Vec<McpServerItem>>,
    login: RwSignal<Option<McpLogin>>,
    name: &str,
    is_wanted: bool,
    is_logged_in: bool,
) -> AnyView {
    let begins = is_wanted.then(|| {
        let (its, name) = (name.to_owned(), name.to_owned());
        let link = move || {
            login.get().filter(|login| login.name == its).map(|login| {
                view! { <a class="button" href=login.url rel="noreferrer">"Go on to "{login.host}</a> }.into_any()
            })
        };
        let label = format!("Log in to {name}");
        let press = move || log_in(deed, login, name.clone());
        view! { {redrawn(link)} <DeedButton deed=deed label=label words="Log in" press=press /> }.into_any()
    });
    let ends = is_logged_in.then(|| {
        let name = name.to_owned();
        let label = format!("Log out of {name}");
        let press = move || log_out(deed, servers, name.clone());
        view! { <DeedButton deed=deed label=label words="Log out" press=press /> }.into_any()
    });
    view! { {begins} {ends} }.into_any()
}

fn log_in(deed: Deed, login: RwSignal<Option<McpLogin>>, name: String) {
    deed.begin(Box::pin(async move {
        login.try_set(Some(log_in_to_server(name).await?));
        Ok(())
    }));
}

fn log_out(deed: Deed, servers: RwSignal<Vec<McpServerItem>>, name: String) {
    deed.begin(Box::pin(async move {
        servers.try_set(log_out_of_server(name).await?);
        Ok(())
    }));
}

fn restart(deed: Deed, servers: RwSignal<Vec<McpServerItem>>, name: String) {
    deed.begin(Box::pin(async move {
        servers.try_set(restart_server(name).await?);
        Ok(())
    }));
}

/// Shows the log; the same button hides it again.
fn show_log(deed: Deed, log: RwSignal<Option<McpLog>>, name: String) {
    if log.with_untracked(|log| log.as_ref().is_some_and(|log| log.name == name)) {
        log.set(None);
        return;
    }
    deed.begin(Box::pin(async move {
        log.try_set(Some(server_log(name).await?));
        Ok(())
    }));
}

fn written(text: String) -> AnyView {
    match text.is_empty() {
        true => view! { <p>"It has written nothing."</p> }.into_any(),
        false => view! { <pre tabindex="0">{text}</pre> }.into_any(),
    }
}
