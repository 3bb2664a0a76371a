//! The limits on the number of Pods.

use leptos::prelude::*;
use protocol::PodLimits;

use super::Section;

#[component]
pub(crate) fn LimitsSection(limits: PodLimits) -> impl IntoView {
    let line = |(of, max, key): (&'static str, u64, &'static str)| {
        view! { <dt>{of}</dt><dd>{format!("at most {max} ({key})")}</dd> }.into_any()
    };
    view! {
        <Section id="limits" title="Limits">
            <p class="hint">
                "How many Pods may be live at once. Any further Pod is refused; " <code>"[pods]"</code> " in config.toml sets the numbers."
            </p>
            <dl>{limits.lines().map(line).collect_view()}</dl>
        </Section>
    }
}
