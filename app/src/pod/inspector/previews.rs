//! Previews of what the Pod's commands serve.

use leptos::{prelude::*, task::spawn_local};
use protocol::{NetworkPolicy, PodRef, Preview, RuntimeId};

use crate::{
    UiError,
    components::{deed::Deed, problem::Problem},
    console::{preview_href, use_pod},
    reading::{First, Reading},
    redrawn::redrawn,
    server_fns::{close_preview, list_previews, open_preview},
};

/// Minimum time between two reads, in milliseconds.
const READING_MS_MIN: u32 = 5_000;

/// The ports that can be previewed.
#[derive(Debug, Clone, Copy)]
struct Ports {
    pod: StoredValue<PodRef>,
    /// `None` until they have been read.
    all: RwSignal<Option<Vec<Preview>>>,
    deed: Deed,
    /// Announced to screen readers.
    said: RwSignal<String>,
}

impl Ports {
    async fn read(self) -> Result<(), UiError> {
        let found = list_previews(self.pod.get_value()).await?;
        self.all.try_set(Some(found));
        Ok(())
    }

    fn look(self) {
        spawn_local(async move {
            if let Err(error) = self.read().await {
                self.deed.error.try_set(Some(error));
            }
        });
    }

    fn set(self, port: u16, opens: bool) {
        self.deed.begin(Box::pin(open_or_close(self, port, opens)));
    }

    fn find(self, port: u16) -> Option<Preview> {
        self.all.with(|all| all.as_ref()?.iter().find(|preview| preview.port == port).cloned())
    }
}

act! {
    async fn open_or_close(ports: Ports, port: u16, opens: bool) -> Result<(), UiError> = set;
}

async fn set(ports: Ports, port: u16, opens: bool) -> Result<(), UiError> {
    let pod = ports.pod.get_value();
    let now = match opens {
        true => open_preview(pod, port).await?,
        false => close_preview(pod, port).await?,
    };
    ports.all.try_set(Some(now));
    ports.said.try_set(format!("Port {port} is {}", if opens { "open" } else { "closed" }));
    Ok(())
}

#[component]
pub(super) fn Previews() -> impl IntoView {
    let pod = use_pod();
    let is_here = pod.pod.with_value(|pod| pod.runtime_id == RuntimeId::local());
    let is_own = Memo::new(move |_| pod.detail.with(|detail| detail.network != NetworkPolicy::Open));
    let body = move || match (is_here, is_own.get()) {
        (true, true) => view! { <OwnPorts /> }.into_any(),
        (true, false) => view! {
            <p><small>"Its commands have this machine's network: what they serve is at 127.0.0.1 already."</small></p>
        }
        .into_any(),
        (false, _) => view! { <p><small>"Open previews in the console of its own server."</small></p> }.into_any(),
    };
    view! {
        <section>
            <h2>"Previews"</h2>
            {redrawn(body)}
        </section>
    }
}

#[component]
fn OwnPorts() -> impl IntoView {
    let pod = use_pod();
    let ports =
        Ports { pod: pod.pod, all: RwSignal::new(None), deed: Deed::default(), said: RwSignal::new(String::new()) };
    let head = move || pod.summary.with(|summary| (summary.head_seq, summary.activity.clone()));
    Reading::follow(READING_MS_MIN, First::IsRead, head, move || async move { drop(ports.read().await) });
    let numbers = move || ports.all.with(|all| all.iter().flatten().map(|preview| preview.port).collect::<Vec<_>>());
    let hint = move || {
        ports.all.with(|all| match all {
            None => Some("Looking for ports…"),
            Some(all) if all.is_empty() => Some("No command listens on a port."),
            Some(_) => None,
        })
    };
    view! {
        <ul class="preview-lines">
            <For each=numbers key=|port| *port let:port>
                <PortLine port=port ports=ports />
            </For>
        </ul>
        {redrawn(move || hint().map(|hint| view! { <p><small>{hint}</small></p> }.into_any()))}
        <OtherPort ports=ports />
        <p class="visually-hidden" role="status">{redrawn(move || ports.said.get())}</p>
        <Problem error=ports.deed.error />
    }
}

#[component]
fn PortLine(port: u16, ports: Ports) -> impl IntoView {
    let is_open = Memo::new(move |_| ports.find(port).is_some_and(|preview| preview.is_open));
    let is_listening = Memo::new(move |_| ports.find(port).is_some_and(|preview| preview.is_listening));
    let href = ports.pod.with_value(|pod| preview_href(pod, port));
    let shown = move || match is_open.get() {
        true => view! {
            <a href=href.clone() target="_blank" rel="noopener noreferrer">
                {port}
                <span class="visually-hidden">", in a new tab"</span>
                <span aria-hidden="true">" ↗"</span>
            </a>
        }
        .into_any(),
        false => view! { <span>{port}</span> }.into_any(),
    };
    let words = move || if is_listening.get() { "listening" } else { "nothing listens" };
    let label = move || format!("{} port {port}", if is_open.get() { "Close" } else { "Open" });
    view! {
        <li>
            <b>{redrawn(shown)}</b>
            <small>{redrawn(words)}</small>
            <button
                class="button"
                type="button"
                aria-label=label
                aria-disabled=move || ports.deed.is_busy.get().to_string()
                on:click=move |_| ports.set(port, !is_open.get_untracked())
            >
                {redrawn(move || if is_open.get() { "Close" } else { "Open" })}
            </button>
        </li>
    }
}

/// A field for a port that nothing listens on yet.
#[component]
fn OtherPort(ports: Ports) -> impl IntoView {
    let field = RwSignal::new(String::new());
    let open = move |event: leptos::ev::SubmitEvent| {
        event.prevent_default();
        match field.with_untracked(|text| text.trim().parse::<u16>()) {
            Ok(port) if port > 0 => {
                ports.set(port, true);
                field.set(String::new());
            }
            _ => {
                ports.deed.refuse(UiError::new(protocol::ErrorCode::InvalidInput, "a port is a number from 1 to 65535"))
            }
        }
    };
    view! {
        <form class="preview-other" on:submit=open>
            <input
                type="text"
                inputmode="numeric"
                autocomplete="off"
                aria-label="Another port"
                placeholder="Another port"
                prop:value=move || field.get()
                on:input=move |event| field.set(event_target_value(&event))
            />
            <button class="button" type="submit">
                "Open"
            </button>
            <button class="button" type="button" on:click=move |_| ports.look()>
                "Look again"
            </button>
        </form>
    }
}
