use leptos::prelude::*;
use leptos_meta::Title;

use crate::{
    UiError,
    components::{
        problem::Problem,
        providers::ProvidersList,
        settings::{
            BrowserSection, NoticesSettings, PermissionsSection, ProfilesSection, RuntimesSection, Section,
            SessionsSection,
        },
    },
    server_fns::{SettingsFound, read_settings},
};

/// Where the sections are, in the order in which they stand.
const SECTIONS: [(&str, &str); 6] = [
    ("#models", "Models"),
    ("#profiles", "Profiles"),
    ("#runtimes", "Runtimes"),
    ("#permissions", "Permissions"),
    ("#sessions", "Sessions and tokens"),
    ("#browser", "This browser"),
];

/// `/settings`: what this server is set up with, who is logged in, and what this browser does.
#[component]
pub(crate) fn SettingsPage() -> impl IntoView {
    let first = Resource::new(|| (), |()| read_settings());
    let link = |(href, title)| view! { <li><a href=href>{title}</a></li> };
    view! {
        <Title text="Settings" />
        <main id="main" class="page" tabindex="-1">
            <div class="settings">
                <h1>"Settings"</h1>
                <nav aria-label="On this page">
                    <ul>{SECTIONS.map(link).collect_view()}</ul>
                </nav>
                <Suspense fallback=|| view! { <p class="hint">"Reading the settings…"</p> }>
                    {move || {
                        first
                            .get()
                            .map(|found| match found {
                                Ok(found) => view! { <OfServer found=found /> }.into_any(),
                                Err(error) => view! { <Unreadable error=error again=move || first.refetch() /> }.into_any(),
                            })
                    }}
                </Suspense>
                <BrowserSection />
                <NoticesSettings />
            </div>
        </main>
    }
    .into_any()
}

#[component]
fn Unreadable(error: UiError, again: impl Fn() + 'static) -> impl IntoView {
    view! {
        <Problem error=Signal::stored(Some(error)) />
        <p>
            <button class="button" type="button" on:click=move |_| again()>
                "Read the settings again"
            </button>
        </p>
    }
    .into_any()
}

#[component]
fn OfServer(found: SettingsFound) -> impl IntoView {
    let SettingsFound { providers, profiles, runtimes, tools, rules, sessions } = found;
    view! {
        <Section id="models" title="Models">
            <p class="hint">
                "Whom a Pod's model is asked from. Keys come from the environment or from files, and are never shown. A test asks for the list of models."
            </p>
            <ProvidersList found=providers />
        </Section>
        <ProfilesSection profiles=profiles />
        <RuntimesSection runtimes=runtimes />
        <PermissionsSection tools=tools rules=rules />
        <SessionsSection sessions=sessions />
    }
    .into_any()
}
