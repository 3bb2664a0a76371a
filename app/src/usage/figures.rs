use leptos::prelude::*;
use protocol::{UsageDay, UsageReport};
use transcript::words::{about_cost, about_tokens};

use crate::{console::use_console, format::percent, redrawn::redrawn, usage::charts};

/// The usage of all Pods, in total and today.
#[component]
pub(crate) fn Figures(report: RwSignal<UsageReport>) -> impl IntoView {
    let clock = use_console().clock;
    let today = Memo::new(move |_| report.with(|report| charts::today(&report.days, clock.now())));
    view! {
        <dl class="usage-figures">
            <dt>"Total"</dt>
            <dd>{redrawn(move || report.with(|report| figures(&report.total)))}</dd>
            <dt>"Today"</dt>
            <dd>{redrawn(move || today.with(figures))}</dd>
        </dl>
    }
}

fn figures(usage: &UsageDay) -> AnyView {
    if charts::tokens(usage) == 0 {
        return view! { <b>"nothing"</b> }.into_any();
    }
    view! {
        <b>{about_tokens(charts::tokens(usage), usage.estimated)} " tokens"</b>
        <small>{in_words(usage)}</small>
    }
    .into_any()
}

/// `1.2M in (41 % cached) · 30k out · $1.25`.
fn in_words(usage: &UsageDay) -> String {
    let cached = percent(usage.cached, usage.input).filter(|share| *share > 0);
    let cached = cached.map(|share| format!(" ({share} % cached)")).unwrap_or_default();
    format!(
        "{} in{cached} · {} out · {}",
        about_tokens(usage.input, usage.estimated),
        about_tokens(usage.output, usage.estimated),
        about_cost(usage.cost, usage.currency, usage.estimated)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cached_part_is_told_where_there_is_one() {
        let usage = |cached| UsageDay { input: 1_200, cached, output: 30, ..UsageDay::default() };
        assert_eq!(in_words(&usage(600)), "1.2k in (50 % cached) · 30 out · no price set");
        assert_eq!(in_words(&usage(0)), "1.2k in · 30 out · no price set");
        let estimated = UsageDay { estimated: true, ..usage(0) };
        assert_eq!(in_words(&estimated), "~1.2k in · ~30 out · no price set");
    }
}
