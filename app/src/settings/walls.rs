//! The sandbox: what stands between commands and the machine.

use leptos::prelude::*;
use protocol::WallItem;

use super::Section;

#[component]
pub(crate) fn WallsSection(walls: Vec<WallItem>) -> impl IntoView {
    let none = walls.is_empty().then(|| view! { <p>"This server runs no commands."</p> }.into_any());
    let line = |WallItem { wall, state, detail }: WallItem| {
        let detail = detail.map(|detail| format!(": {detail}")).unwrap_or_default();
        view! { <dt>{wall.as_str()}</dt><dd>{format!("{}{detail}", state.as_str())}</dd> }.into_any()
    };
    view! {
        <Section id="walls" title="Command sandbox">
            <p class="hint">
                "A Pod's commands run in a sandbox. Where there is none, each command asks for permission."
            </p>
            {none}
            <dl>{walls.into_iter().map(line).collect_view()}</dl>
        </Section>
    }
}
