//! The runtimes, and whether they are reachable; other servers are added and removed here.

use leptos::{ev::SubmitEvent, prelude::*};
use protocol::{AddRuntime, ErrorCode, PodState, RuntimeId, RuntimeKind, RuntimeState, RuntimeView};

use super::Section;
use crate::{
    UiError,
    components::{
        deed::{Deed, DeedButton},
        problem::Problem,
        text_field::TextField,
        when::TimeOfDay,
    },
    console::use_console,
    live,
    reading::{First, Reading},
    redrawn::redrawn,
    server_fns::{add_runtime, list_runtimes, remove_runtime},
};

/// Minimum time between two reads of the runtimes, in milliseconds.
const READING_MS_MIN: u32 = 1_000;

#[component]
pub(crate) fn RuntimesSection(runtimes: Vec<RuntimeView>) -> impl IntoView {
    let runtimes = RwSignal::new(runtimes);
    let deed = Deed::default();
    keep_up(runtimes, deed);
    view! {
        <Section id="runtimes" title="Runtimes">
            // An unchanged line keeps its element, and its button keeps the focus.
            <ul class="lines">
                <For each=move || runtimes.get() key=seen let:runtime>
                    <Runtime runtime=runtime runtimes=runtimes deed=deed />
                </For>
            </ul>
            <Problem error=deed.error />
            <h3>"Add another server"</h3>
            <AddServer runtimes=runtimes />
        </Section>
    }
}

/// The key of a line: everything that it shows.
fn seen(runtime: &RuntimeView) -> String {
    format!("{runtime:?}")
}

/// Rereads the list. When a runtime goes away its Pods do too, which the page learns at once; one without Pods is
/// checked periodically, with the ages. Does not interfere with an action in progress.
fn keep_up(runtimes: RwSignal<Vec<RuntimeView>>, deed: Deed) {
    let console = use_console();
    let heard = move || {
        let far = |pod: &protocol::PodSummary| {
            let is_away = pod.state == PodState::Unreachable;
            (pod.pod.runtime_id != RuntimeId::local()).then(|| (pod.pod.runtime_id.clone(), is_away))
        };
        let mut far: Vec<_> = console.with_pods(|pods| pods.iter().filter_map(far).collect());
        far.sort_unstable_by(|a, b| (a.0.as_str(), a.1).cmp(&(b.0.as_str(), b.1)));
        far.dedup();
        (far, console.clock.now())
    };
    Reading::follow(READING_MS_MIN, First::IsKnown, heard, move || read(runtimes, deed));
}

async fn read(runtimes: RwSignal<Vec<RuntimeView>>, deed: Deed) {
    let Ok(found) = list_runtimes().await else { return };
    if deed.is_busy.try_get_untracked() == Some(false)
        && runtimes.try_with_untracked(|runtimes| *runtimes != found) == Some(true)
    {
        runtimes.try_set(found);
    }
}

#[component]
fn Runtime(runtime: RuntimeView, runtimes: RwSignal<Vec<RuntimeView>>, deed: Deed) -> impl IntoView {
    let RuntimeView { runtime_id, kind, state, since, detail } = runtime;
    let is_remote = kind == RuntimeKind::Remote;
    let kind = match kind {
        RuntimeKind::Embedded => "in this server",
        RuntimeKind::Remote => "another server",
        RuntimeKind::Compat => "over the older sockets",
    };
    let (mark, class, state) = match state {
        RuntimeState::Live => ("✓", "is-good", "live"),
        RuntimeState::Connecting => ("…", "is-wait", "connecting"),
        RuntimeState::Unreachable => ("✕", "is-bad", "unreachable"),
        RuntimeState::Unauthorized => ("✕", "is-bad", "refuses the token"),
        RuntimeState::Incompatible => ("✕", "is-bad", "speaks another protocol"),
    };
    let name = runtime_id.to_string();
    let remove = is_remote.then(|| {
        let label = format!("Remove {name}");
        view! {
            <DeedButton
                deed=deed
                label=label
                words="Remove"
                press=move || remove_one(deed, runtimes, runtime_id.clone())
            />
        }
        .into_any()
    });
    view! {
        <li class="line">
            <span class=format!("verdict {class}") aria-hidden="true">
                {mark}
            </span>
            <p>
                <b>{name}</b>
                " "
                <span class="tag">{kind}</span>
                <small>{state} ", since " <TimeOfDay at=since /> {detail.map(|detail| format!(": {detail}"))}</small>
            </p>
            {remove}
        </li>
    }
}

/// No confirmation: the Pods stay where they are, so nothing is lost.
fn remove_one(deed: Deed, runtimes: RwSignal<Vec<RuntimeView>>, runtime_id: RuntimeId) {
    deed.begin(Box::pin(async move {
        runtimes.try_set(remove_runtime(runtime_id).await?);
        Ok(())
    }));
}

#[component]
fn AddServer(runtimes: RwSignal<Vec<RuntimeView>>) -> impl IntoView {
    let (name, url, token) = (RwSignal::new(String::new()), RwSignal::new(String::new()), RwSignal::new(String::new()));
    let deed = Deed::default();
    let submit = move |event: SubmitEvent| {
        event.prevent_default();
        let runtime_id = match RuntimeId::parse(name.get_untracked().trim()) {
            Ok(runtime_id) => runtime_id,
            Err(error) => return deed.refuse(UiError::new(ErrorCode::InvalidInput, error.to_string())),
        };
        let add = AddRuntime { runtime_id, url: url.get_untracked(), token: token.get_untracked() };
        deed.begin(Box::pin(async move {
            runtimes.try_set(add_runtime(add).await?);
            for field in [name, url, token] {
                field.try_set(String::new());
            }
            live::focus("add-runtime-name");
            Ok(())
        }));
    };
    view! {
        <form class="fields" on:submit=submit autocomplete="off">
            <p class="hint">
                "Its Pods then appear here like your own. Its address and token stay on this server and are never shown again."
            </p>
            <TextField id="add-runtime-name" label="Name" value=name hint="Its name here: a-z, 0-9 and -." autocomplete="off" />
            <TextField id="add-runtime-url" label="Address" kind="url" value=url hint="http://… or https://…" autocomplete="off" />
            <TextField
                id="add-runtime-token"
                label="Token"
                kind="password"
                value=token
                hint="Output of yoi token on its machine."
                autocomplete="off"
            />
            <Problem error=deed.error />
            <p class="setting-acts">
                <button class="button" type="submit" aria-disabled=move || deed.is_busy.get().to_string()>
                    {redrawn(move || if deed.is_busy.get() { "Connecting…" } else { "Add" })}
                </button>
            </p>
        </form>
    }
}
