//! The sections of the settings, one per file.

mod browser;
mod client;
mod limits;
mod models;
mod notices;
pub(crate) mod page;
pub(crate) mod permissions;
mod profiles;
mod runtimes;
mod servers;
mod sessions;
mod walls;

use leptos::prelude::*;

pub(crate) use self::{
    browser::BrowserSection, limits::LimitsSection, models::ModelsSection, notices::NoticesSettings,
    permissions::PermissionsSection, profiles::ProfilesSection, runtimes::RuntimesSection, servers::ServersSection,
    sessions::SessionsSection, walls::WallsSection,
};

/// One section of the page, with an id that links can target.
#[component]
pub(crate) fn Section(id: &'static str, title: &'static str, children: Children) -> impl IntoView {
    let (title_id, labelled_by) = (format!("{id}-title"), format!("{id}-title"));
    view! {
        <section id=id class="setting" tabindex="-1" aria-labelledby=labelled_by>
            <h2 id=title_id>{title}</h2>
            {children()}
        </section>
    }
}
