use leptos::prelude::*;
use leptos_meta::Title;

use crate::{
    codec::fetched,
    components::read_first::ReadFirst,
    server_fns::{SettingsFound, read_settings},
    settings::{
        BrowserSection, LimitsSection, ModelsSection, NoticesSettings, PermissionsSection, ProfilesSection,
        RuntimesSection, ServersSection, SessionsSection, WallsSection,
    },
};

/// The links to the sections, in their order on the page.
const SECTIONS: [(&str, &str); 9] = [
    ("#models", "Models"),
    ("#profiles", "Profiles"),
    ("#runtimes", "Runtimes"),
    ("#permissions", "Permissions"),
    ("#mcp", "MCP servers"),
    ("#walls", "Command sandbox"),
    ("#limits", "Limits"),
    ("#sessions", "Sessions and tokens"),
    ("#browser", "This browser"),
];

/// `/settings`: the server's configuration, the logins, and this browser's settings.
#[component]
pub(crate) fn SettingsPage() -> impl IntoView {
    let first = fetched(|| (), |()| read_settings());
    let link = |(href, title)| view! { <li><a href=href>{title}</a></li> }.into_any();
    view! {
        <Title text="Settings" />
        <main id="main" class="page" tabindex="-1">
            <div class="settings">
                <h1>"Settings"</h1>
                <nav aria-label="On this page">
                    <ul>{SECTIONS.map(link).collect_view()}</ul>
                </nav>
                <ReadFirst
                    first=first
                    wait="Loading settings…"
                    draw=|found| view! { <OfServer found=found /> }.into_any()
                />
                <BrowserSection />
                <NoticesSettings />
            </div>
        </main>
    }
}

#[component]
fn OfServer(found: SettingsFound) -> impl IntoView {
    let SettingsFound { providers, profiles, runtimes, tools, rules, sessions, servers, walls, limits } = found;
    view! {
        <ModelsSection providers=providers />
        <ProfilesSection profiles=profiles />
        <RuntimesSection runtimes=runtimes />
        <PermissionsSection tools=tools rules=rules />
        <ServersSection servers=servers />
        <WallsSection walls=walls />
        <LimitsSection limits=limits />
        <SessionsSection sessions=sessions />
    }
}
