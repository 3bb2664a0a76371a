//! `/limits`: how many Pods this server takes.

use leptos::prelude::*;

use crate::{
    codec::fetched,
    components::{page::Page, read_first::ReadFirst},
    server_fns::{SettingsFound, read_settings},
};

#[component]
pub(crate) fn LimitsPage() -> impl IntoView {
    let first = fetched(|| (), |()| read_settings());
    let draw = |found: SettingsFound| view! { <p>{format!("At most {} Pods", found.limits.max)}</p> }.into_any();
    view! {
        <Page title="Limits" class="limits">
            <ReadFirst first=first wait="Loading limits…" draw=draw />
        </Page>
    }
}
