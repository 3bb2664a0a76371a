use leptos::prelude::*;
use transcript::words::actor_words;

use crate::{
    audit::{page::audit_href, rows::Verdict},
    codec::fetched,
    components::when::TimeOfDay,
    console::use_pod,
    reading::{First, Reading},
    redrawn::redrawn,
    server_fns::{AuditAsked, list_audit},
};

/// How many rows are shown here; the audit page has all of them.
const ROWS: u32 = 10;
/// Minimum time between two reads, in milliseconds.
const READING_MS_MIN: u32 = 5_000;

/// The newest audit rows about this Pod.
#[component]
pub(crate) fn Audit() -> impl IntoView {
    let pod = use_pod();
    let asked = AuditAsked { target: Some(pod.pod.with_value(ToString::to_string)), ..AuditAsked::default() };
    let all = audit_href(&asked);
    let first = fetched(move || asked.clone(), |asked| list_audit(asked, ROWS));
    let head = move || pod.summary.with(|summary| summary.head_seq);
    Reading::follow(READING_MS_MIN, First::IsKnown, head, move || {
        first.refetch();
        async {}
    });
    let lines = move || {
        first.get().map(|listed| match listed {
            Ok(listed) if listed.items.is_empty() => view! { <p><small>"nothing yet"</small></p> }.into_any(),
            Ok(listed) => {
                let line = |protocol::AuditRow { entry, .. }: protocol::AuditRow| {
                    let who = match entry.by.as_str() {
                        "operator" => entry.client.clone(),
                        by => format!("{}, {}", actor_words(by), entry.client),
                    };
                    view! {
                        <li>
                            <b>{entry.action.replace('_', " ")}</b>
                            " "
                            <Verdict entry=entry.clone() />
                            {entry
                                .about
                                .as_ref()
                                .map(|about| view! { <span class="audit-call">{about.to_string()}</span> }.into_any())}
                            <small>
                                // The time is last because it changes when it is converted to the viewer's time zone,
                                // and nothing may move.
                                {who} " · " <TimeOfDay at=entry.at />
                            </small>
                        </li>
                    }
                    .into_any()
                };
                view! { <ul class="audit-lines">{listed.items.into_iter().map(line).collect_view()}</ul> }.into_any()
            }
            Err(error) => view! { <small>{error.sentence().to_owned()}</small> }.into_any(),
        })
    };
    view! {
        <section>
            <h2>"Audit"</h2>
            <Transition fallback=|| ()>{redrawn(lines)}</Transition>
            <a class="exchange-link" href=all>
                "All of this Pod"
            </a>
        </section>
    }
}
