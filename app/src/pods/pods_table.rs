use commands::{SortBy, sorted, total_tokens};
use leptos::prelude::*;
use protocol::PodSummary;
use transcript::{unseen, words::about_tokens};

use crate::{
    components::{
        abroad::{abroad, from_here},
        state_mark::{Sign, StateWord},
        when::Age,
    },
    console::{pod_href, use_console},
    format,
    pods::{
        pod_row::{Unread, doing},
        selection_bar::SelectionBar,
    },
    redrawn::redrawn,
};

/// All Pods with their figures. Uses the same filter as the list on the left.
#[component]
pub(crate) fn PodsTable() -> impl IntoView {
    let console = use_console();
    let by = RwSignal::new(SortBy::default());
    let pods = Memo::new(move |_| console.filter.with(|filter| sorted(&console.pods(), filter, by.get())));
    let none_fits = move || pods.with(Vec::is_empty);
    view! {
        <div class="table-tools">
            <input
                id="table-filter"
                type="search"
                placeholder="Filter"
                aria-label="Filter the table"
                autocomplete="off"
                prop:value=move || console.filter.get()
                on:input=move |event| console.filter.set(event_target_value(&event))
            />
            <p class="hint">{redrawn(move || count_words(pods.with(Vec::len), console.pods().len()))}</p>
        </div>
        <table class="pods-table" data-rows="">
            <caption class="visually-hidden">"All Pods"</caption>
            <thead>
                <tr>
                    <Heading by=by is=SortBy::Name title="Pod" />
                    <Heading by=by is=SortBy::Attention title="State" />
                    <th scope="col">"Doing"</th>
                    <th scope="col">"Model"</th>
                    <th scope="col">"Folder"</th>
                    <Heading by=by is=SortBy::Tokens title="Tokens" />
                    <Heading by=by is=SortBy::Updated title="Changed" />
                </tr>
            </thead>
            <tbody>
                <For each=move || pods.get() key=|pod| pod.pod.clone() let:pod>
                    <TableRow pod=console.follow(pod) shown=pods />
                </For>
            </tbody>
        </table>
        <SelectionBar />
        {redrawn(move || {
            none_fits()
                .then(|| {
                    view! {
                        <p class="hint">
                            "No Pods match this filter. "
                            <button class="quiet" type="button" on:click=move |_| console.filter.set(String::new())>
                                "Clear it"
                            </button>
                        </p>
                    }.into_any()
                })
        })}
    }
}

fn count_words(shown: usize, all: usize) -> String {
    match shown == all {
        true => format::counted(all as u64, "Pod"),
        false => format!("{shown} of {}", format::counted(all as u64, "Pod")),
    }
}

/// A heading that sorts its column. `aria-sort` marks the sorted one.
#[component]
fn Heading(by: RwSignal<SortBy>, is: SortBy, title: &'static str) -> impl IntoView {
    let direction = match is {
        SortBy::Tokens | SortBy::Updated => "descending",
        SortBy::Name | SortBy::Attention => "ascending",
    };
    view! {
        <th scope="col" aria-sort=move || if by.get() == is { direction } else { "none" }>
            <button class="quiet" type="button" on:click=move |_| by.set(is)>
                {title}
            </button>
        </th>
    }
}

#[component]
fn TableRow(pod: Memo<PodSummary>, shown: Memo<Vec<PodSummary>>) -> impl IntoView {
    let console = use_console();
    let this = pod.with_untracked(|pod| pod.pod.clone());
    let (picked, clicked) = (this.clone(), this.clone());
    let is_selected = Memo::new(move |_| console.selection.with(|selection| selection.has(&this)));
    let extend = move || {
        let shown: Vec<_> = shown.with_untracked(|pods| pods.iter().map(|pod| pod.pod.clone()).collect());
        console.selection.update(|selection| selection.extend(&shown, None, &clicked));
    };
    let href = pod.with_untracked(|pod| pod_href(&pod.pod));
    let sign = Signal::derive(move || pod.with(Sign::of));
    view! {
        <tr class:is-selected=move || is_selected.get()>
            <th scope="row">
                <input
                    type="checkbox"
                    class="pick"
                    tabindex="-1"
                    aria-label=move || pod.with(|pod| format!("Select {}", from_here(pod)))
                    prop:checked=move || is_selected.get()
                    on:change=move |_| console.selection.update(|selection| selection.toggle(&picked))
                />
                <a
                    href=href
                    data-row=""
                    on:click=move |event| {
                        if event.shift_key() {
                            event.prevent_default();
                            extend();
                        }
                    }
                >
                    {redrawn(move || pod.with(|pod| pod.name.to_string()))}
                </a>
                {pod.with_untracked(|pod| abroad(&pod.pod))}
                {redrawn(move || {
                    let unread = pod.with(|pod| pod.unread);
                    (unread > 0).then(|| view! { <Unread count=unread /> }.into_any())
                })}
            </th>
            <td class="cell-state">
                <StateWord sign=sign />
            </td>
            <td class="cell-doing" class:is-failed=move || sign.get() == Sign::Failed>{redrawn(move || Some(pod.with(activity)).filter(|words| !words.is_empty()))}</td>
            <td class="cell-model">{redrawn(move || pod.with(|pod| pod.model.clone()))}</td>
            <td class="cell-cwd" title=move || pod.with(|pod| pod.cwd.clone())>
                <code>{redrawn(move || pod.with(|pod| format::short_path(&pod.cwd)))}</code>
            </td>
            <td class="cell-figure">{redrawn(move || pod.with(|pod| about_tokens(total_tokens(pod), pod.usage.estimated)))}</td>
            <td class="cell-figure">{redrawn(move || view! { <Age at=pod.with(|pod| pod.updated_at) /> }.into_any())}</td>
        </tr>
    }
}

/// Its activity without the state, which has its own column.
fn activity(pod: &PodSummary) -> String {
    let said = pod.activity.as_deref().or(pod.state_reason.as_deref()).unwrap_or_default();
    let said = unseen::shown(said).into_owned();
    let words = match Sign::of(pod) {
        Sign::Failed => said.strip_prefix("failed: ").map(str::to_owned).unwrap_or(said),
        Sign::Of(_) => said,
    };
    let needs = if pod.needs_you && words.is_empty() { doing(pod).unwrap_or_default() } else { String::new() };
    words + &needs
}
