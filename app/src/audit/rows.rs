use commands::audited::{self, decided, joint, parts};
use leptos::prelude::*;
use protocol::{AuditEntry, PodSummary};
use transcript::{unseen, words::actor_words};

use crate::{
    components::{
        abroad::{at_runtime, from_here},
        when::TimeOfDay,
    },
    console::{Console, pod_href, use_console},
};

/// Audit rows as a table; on a phone, as one card each. Draw it only once the list of Pods has loaded.
#[component]
pub(crate) fn AuditRows(rows: Vec<protocol::AuditRow>) -> impl IntoView {
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
            <tbody>{rows.into_iter().map(|row| view! { <AuditRow row=row /> }.into_any()).collect_view()}</tbody>
        </table>
    }
}

#[component]
fn AuditRow(row: protocol::AuditRow) -> impl IntoView {
    let protocol::AuditRow { entry, runtime_id, .. } = row;
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
                {entry.about.as_ref().map(|about| view! { <span class="audit-call">{unseen::shown(&about.to_string()).into_owned()}</span> }.into_any())}
            </td>
            <td class="audit-who">{unseen::shown(actor_words(&entry.by)).into_owned()}</td>
            <td class="audit-from">{entry.client.clone()} {at_runtime(&runtime_id)}</td>
        </tr>
    }
}

/// The result as a shape and a word, so that failure is not told by colour alone.
#[component]
pub(crate) fn Verdict(entry: AuditEntry) -> impl IntoView {
    let (mark, class) = match entry.result.as_str() {
        "done" => ("✓", "verdict is-good"),
        "refused" => ("⊘", "verdict is-wait"),
        _ => ("✕", "verdict is-bad"),
    };
    let code = entry.code.map(|code| view! { " " <small>{code.replace('_', " ")}</small> }.into_any());
    view! {
        <span class=class>
            <span aria-hidden="true">{mark}</span>
            " "
            {entry.result}
        </span>
        {code}
    }
}

/// The target: each Pod that still exists by its name, linked to its page. A relation between peers has two Pods; a
/// message has its sender and receiver.
#[component]
fn About(entry: AuditEntry) -> impl IntoView {
    let Some(target) = entry.target.as_deref() else { return view! { <span class="hint">"–"</span> }.into_any() };
    let console = use_console();
    let joint = joint(&entry);
    let part = |(index, part): (usize, &str)| {
        let named = match pod_of(console, &entry, part) {
            Some((href, name)) => view! {
                <a class="pod-link" href=href>
                    {name}
                </a>
            }
            .into_any(),
            // The thing decided has an id but no page.
            None if index > 0 && decided(&entry).is_some() => {
                view! { <span title=part.to_owned()>{decided(&entry)}</span> }.into_any()
            }
            None => view! { <code>{part.to_owned()}</code> }.into_any(),
        };
        ((index > 0).then_some(joint), named)
    };
    parts(target).into_iter().enumerate().map(part).collect_view().into_any()
}

/// The address of the page of the Pod that a part means, and its name.
fn pod_of(console: Console, entry: &AuditEntry, part: &str) -> Option<(String, String)> {
    let found = |pod: &PodSummary| (pod_href(&pod.pod), from_here(pod));
    console.book.with_untracked(|book| audited::pod_of(book.as_ref()?.pods(), entry, part).map(found))
}
