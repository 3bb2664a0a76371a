use leptos::prelude::*;
use leptos_router::hooks::use_query_map;
use protocol::{AuditRow, Gathered};

use crate::{
    UiError,
    audit::rows::AuditRows,
    codec::fetched,
    components::{absent::absent, page::Page, problem::Problem, read_first::TryAgain, with_pods::WithPods},
    console::encoded,
    redrawn::redrawn,
    server_fns::{AuditAsked, list_audit},
};

/// Rows on one page.
const PAGE_ROWS: u32 = 100;

/// The actions that rows can name, for the filter.
const ACTIONS: [&str; 38] = [
    "approve",
    "blob_keep",
    "cancel",
    "commit",
    "compact",
    "delete",
    "fork",
    "import",
    "input",
    "key_forget",
    "key_set",
    "login",
    "logout",
    "message",
    "message_decide",
    "pause",
    "peer",
    "peer_decide",
    "pod_create",
    "preview_close",
    "preview_open",
    "rename",
    "restore",
    "resume",
    "retry",
    "revert",
    "rewind",
    "rule_remove",
    "runtime_add",
    "runtime_remove",
    "settings",
    "stop",
    "stop_command",
    "terminal_end",
    "terminal_open",
    "tool",
    "unpeer",
    "worktree",
];

const RESULTS: [&str; 3] = ["done", "refused", "failed"];

/// `/audit`: who did what, when, from where, with what result. The query string selects the rows.
#[component]
pub(crate) fn AuditPage() -> impl IntoView {
    let query = use_query_map();
    let asked = Memo::new(move |_| {
        let part = |name: &str| query.with(|query| query.get(name)).filter(|text| !text.is_empty());
        AuditAsked { action: part("action"), result: part("result"), target: part("target"), after: part("after") }
    });
    let page = fetched(move || asked.get(), |asked| list_audit(asked, PAGE_ROWS));
    view! {
        <Page title="Audit" class="audit">
            <Filters asked=asked />
            <Suspense fallback=|| view! { <p class="hint">"Loading the audit…"</p> }.into_any()>
                {redrawn(move || {
                    page.get()
                        .map(|listed| match listed {
                            Ok(listed) => view! { <Rows listed=listed asked=asked.get_untracked() /> }.into_any(),
                            Err(error) => view! { <Unreadable error=error again=move || page.refetch() /> }.into_any(),
                        })
                })}
            </Suspense>
        </Page>
    }
}

#[component]
fn Unreadable(error: UiError, again: impl Fn() + 'static) -> impl IntoView {
    view! {
        <Problem error=Signal::stored(Some(error)) />
        <p>
            <TryAgain again=again />
            " "
            <a class="button" href="/audit">
                "Newest rows"
            </a>
        </p>
    }
}

/// A plain HTML form, so that it works without a script.
#[component]
fn Filters(asked: Memo<AuditAsked>) -> impl IntoView {
    let target = move || {
        asked.with(|asked| asked.target.clone()).map(|target| {
            view! {
                <input type="hidden" name="target" value=target.clone() />
                <span class="about">"about " <code>{target}</code></span>
            }
            .into_any()
        })
    };
    view! {
        <form class="filters" method="get" action="/audit">
            <Choice name="action" title="Action" options=&ACTIONS chosen=Signal::derive(move || asked.with(|asked| asked.action.clone())) />
            <Choice name="result" title="Result" options=&RESULTS chosen=Signal::derive(move || asked.with(|asked| asked.result.clone())) />
            {target}
            <button class="button" type="submit">
                "Show"
            </button>
            {redrawn(move || {
                asked
                    .with(|asked| *asked != AuditAsked::default())
                    .then(|| view! { <a href="/audit">"All, newest first"</a> }.into_any())
            })}
        </form>
    }
}

#[component]
fn Choice(
    name: &'static str,
    title: &'static str,
    options: &'static [&'static str],
    chosen: Signal<Option<String>>,
) -> impl IntoView {
    let option = move |word: &'static str| {
        view! {
            <option value=word selected=move || chosen.with(|chosen| chosen.as_deref() == Some(word))>
                {word.replace('_', " ")}
            </option>
        }
        .into_any()
    };
    view! {
        <label>
            {title}
            <select name=name>
                <option value="">"any"</option>
                {options.iter().copied().map(option).collect_view()}
            </select>
        </label>
    }
}

#[component]
fn Rows(listed: Gathered<AuditRow>, asked: AuditAsked) -> impl IntoView {
    let missing = absent(&listed.absent);
    if listed.items.is_empty() {
        let words = match (&asked.after, asked == AuditAsked::default()) {
            (_, true) => "No entries yet.",
            (Some(_), _) => "No earlier entries.",
            (None, false) => "No matching entries.",
        };
        return view! {
            {missing}
            <p>{words}</p>
        }
        .into_any();
    }
    let earlier = listed.next.map(|next| {
        let href = audit_href(&AuditAsked { after: Some(next), ..asked.clone() });
        view! {
            <a class="button" href=href>
                "Earlier"
            </a>
        }
        .into_any()
    });
    let newest = asked.after.is_some().then(|| {
        let href = audit_href(&AuditAsked { after: None, ..asked });
        view! {
            <a class="button" href=href>
                "Newest"
            </a>
        }
        .into_any()
    });
    let rows = listed.items;
    view! {
        {missing}
        <WithPods>
            <AuditRows rows=rows.clone() />
        </WithPods>
        <nav class="pager" aria-label="Audit pages">
            {newest}
            {earlier}
        </nav>
    }
    .into_any()
}

/// The address of the page with these filters.
pub(crate) fn audit_href(asked: &AuditAsked) -> String {
    let parts =
        [("action", &asked.action), ("result", &asked.result), ("target", &asked.target), ("after", &asked.after)];
    let given = parts.into_iter().filter_map(|(name, text)| Some(format!("{name}={}", encoded(text.as_deref()?))));
    match given.collect::<Vec<_>>() {
        given if given.is_empty() => "/audit".to_owned(),
        given => format!("/audit?{}", given.join("&")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_address_says_which_rows_and_nothing_breaks_out_of_it() {
        assert_eq!(audit_href(&AuditAsked::default()), "/audit");
        let asked = AuditAsked {
            action: Some("input".to_owned()),
            target: Some("local/a&result=done".to_owned()),
            after: Some("7".to_owned()),
            ..AuditAsked::default()
        };
        assert_eq!(audit_href(&asked), "/audit?action=input&target=local%2Fa%26result%3Ddone&after=7");
    }
}
