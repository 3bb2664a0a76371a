use leptos::prelude::*;
use protocol::{AuditEntry, PodRef, PodSummary};
use transcript::{unseen, words::actor_words};

use crate::{
    components::{
        abroad::{at_runtime, from_here},
        when::TimeOfDay,
    },
    console::{Console, pod_href, use_console},
};

/// The row of a creation may be at most this much later than its Pod's creation time.
const CREATION_MS_MAX: u64 = 2_000;

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
    let joint = if entry.action == "message" { " → " } else { " · " };
    let part = |(index, part): (usize, &str)| {
        let named = match pod_of(console, &entry, part) {
            Some((href, name)) => view! {
                <a class="pod-link" href=href>
                    {name}
                </a>
            }
            .into_any(),
            // The thing decided has an id but no page.
            None if index > 0 && entry.action.ends_with("_decide") => {
                let what = if entry.action == "peer_decide" { "a request" } else { "a message" };
                view! { <span title=part.to_owned()>{what}</span> }.into_any()
            }
            None => view! { <code>{part.to_owned()}</code> }.into_any(),
        };
        ((index > 0).then_some(joint), named)
    };
    parts(target).into_iter().enumerate().map(part).collect_view().into_any()
}

/// Whether the Pod was created when the row was written, or just before.
fn is_of_then(pod: &PodSummary, entry: &AuditEntry) -> bool {
    pod.created_at.as_millisecond().abs_diff(entry.at.as_millisecond()) < CREATION_MS_MAX
}

/// Splits a target into the Pod and, after it, the other party or thing. Text that a person typed may contain spaces
/// and is not split.
fn parts(target: &str) -> Vec<&str> {
    match target.split_once(' ') {
        Some((pod, other)) if pod.parse::<PodRef>().is_ok() => vec![pod, other],
        _ => vec![target],
    }
}

/// The Pod that a row is about, with its current name. A row of its creation names it as it was called then.
fn pod_of(console: Console, entry: &AuditEntry, target: &str) -> Option<(String, String)> {
    let address = target.parse::<PodRef>().ok();
    let is_it = |pod: &&PodSummary| match &address {
        Some(address) => pod.pod == *address,
        None => entry.action == "pod_create" && is_of_then(pod, entry) && pod.name.as_str() == target,
    };
    let found = |pod: &PodSummary| (pod_href(&pod.pod), from_here(pod));
    console.book.with_untracked(|book| book.as_ref()?.pods().iter().find(is_it).map(found))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_pods_are_two_parts_and_a_name_with_a_space_is_one() {
        assert_eq!(parts("local/p-1 local/p-2"), ["local/p-1", "local/p-2"]);
        assert_eq!(parts("local/p-1 who is it"), ["local/p-1", "who is it"]);
        assert_eq!((parts("ada"), parts("no such Pod")), (vec!["ada"], vec!["no such Pod"]));
    }
}
