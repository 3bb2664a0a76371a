use leptos::prelude::*;
use protocol::{AuditEntry, PodRef, PodSummary};

use crate::{
    components::when::TimeOfDay,
    console::{Console, pod_href, use_console},
};

/// Who did what, as a table; on a phone one card for each. To be drawn once the list of Pods is there.
#[component]
pub(crate) fn AuditRows(entries: Vec<AuditEntry>) -> impl IntoView {
    view! {
        <table class="audit-table">
            <thead>
                <tr>
                    <th scope="col">"When"</th>
                    <th scope="col">"Result"</th>
                    <th scope="col">"What"</th>
                    <th scope="col">"About"</th>
                    <th scope="col">"Who"</th>
                    <th scope="col">"From"</th>
                </tr>
            </thead>
            <tbody>{entries.into_iter().map(|entry| view! { <AuditRow entry=entry /> }).collect_view()}</tbody>
        </table>
    }
    .into_any()
}

#[component]
fn AuditRow(entry: AuditEntry) -> impl IntoView {
    view! {
        <tr>
            <td class="audit-when">
                <TimeOfDay at=entry.at />
            </td>
            <td class="audit-result">
                <Verdict entry=entry.clone() />
            </td>
            <td class="audit-what">{entry.action.replace('_', " ")}</td>
            <td class="audit-about">
                <About entry=entry.clone() />
            </td>
            <td class="audit-who">{entry.by.clone()}</td>
            <td class="audit-from">{entry.client.clone()}</td>
        </tr>
    }
    .into_any()
}

/// A shape and a word: what went wrong is not told by colour alone.
#[component]
pub(crate) fn Verdict(entry: AuditEntry) -> impl IntoView {
    let (mark, class) = match entry.result.as_str() {
        "done" => ("✓", "verdict is-good"),
        "refused" => ("⊘", "verdict is-wait"),
        _ => ("✕", "verdict is-bad"),
    };
    let code = entry.code.map(|code| view! { " " <small>{code.replace('_', " ")}</small> });
    view! {
        <span class=class>
            <span aria-hidden="true">{mark}</span>
            " "
            {entry.result}
        </span>
        {code}
    }
    .into_any()
}

/// What it was done to: a Pod that is there leads to its page.
#[component]
fn About(entry: AuditEntry) -> impl IntoView {
    let Some(target) = entry.target.as_deref() else { return view! { <span class="hint">"–"</span> }.into_any() };
    match pod_of(use_console(), &entry, target) {
        Some((href, name)) => view! {
            <a class="pod-link" href=href>
                {name}
            </a>
        }
        .into_any(),
        None => view! { <code>{target.to_owned()}</code> }.into_any(),
    }
}

/// The Pod that a row is about, with the name it has now. A row of its creation has its name of then.
fn pod_of(console: Console, entry: &AuditEntry, target: &str) -> Option<(String, String)> {
    let address = target.parse::<PodRef>().ok();
    let is_it = |pod: &&PodSummary| match &address {
        Some(address) => pod.pod == *address,
        None => entry.action == "pod_create" && pod.created_at == entry.at && pod.name.as_str() == target,
    };
    let found = |pod: &PodSummary| (pod_href(&pod.pod), pod.name.to_string());
    console.book.with_untracked(|book| book.as_ref()?.pods().iter().find(is_it).map(found))
}
