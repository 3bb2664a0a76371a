use leptos::{prelude::*, task::spawn_local};
use protocol::{ExchangeMessage, PeerView, PodRef, ReceiptState};
use transcript::{Receipt, words::receipt_text};

use crate::{
    approvals::held_acts::{HeldActs, held_words},
    components::{link::taken, when::TimeOfDay},
    console::{exchange_href, use_console},
    format::counted,
    live,
    reading::{First, Reading},
    redrawn::redrawn,
    server_fns::{ExchangeData, pod_exchange},
    transcript::Markup,
};

/// Minimum time between two reads, in milliseconds.
const READING_MS_MIN: u32 = 500;

/// State shared by the parts of the list.
#[derive(Clone, Copy)]
struct Shown {
    pod: StoredValue<PodRef>,
    peer: StoredValue<PodRef>,
    /// The names of `pod` and `peer`.
    names: StoredValue<(String, String)>,
    /// Oldest first.
    messages: RwSignal<Vec<ExchangeMessage>>,
    earlier: RwSignal<Option<String>>,
    link: RwSignal<Option<PeerView>>,
}

impl Shown {
    async fn read(self, before: Option<String>) -> Option<ExchangeData> {
        let (pod, peer) = (self.pod.try_get_value()?.to_string(), self.peer.try_get_value()?.to_string());
        pod_exchange(pod, peer, before).await.ok()
    }
}

/// The messages, oldest first and kept up to date: every message and every receipt is in both journals.
#[component]
pub(super) fn Messages(exchange: ExchangeData, link: RwSignal<Option<PeerView>>, is_old: bool) -> impl IntoView {
    let shown = Shown {
        pod: StoredValue::new(exchange.pod.pod.clone()),
        peer: StoredValue::new(exchange.peer.pod.clone()),
        names: StoredValue::new((exchange.pod.name.to_string(), exchange.peer.name.to_string())),
        messages: RwSignal::new(exchange.messages),
        earlier: RwSignal::new(exchange.earlier),
        link,
    };
    if !is_old {
        keep_read(shown);
        Effect::new(|before: Option<()>| {
            if before.is_none() {
                live::reveal("exchange-end");
            }
        });
    }
    let newest = shown.pod.with_value(|pod| shown.peer.with_value(|peer| exchange_href(pod, peer)));
    view! {
        <Earlier shown=shown />
        <ol class="exchange-list">
            <For each=move || shown.messages.get() key=|message| message.message_id.clone() let:message>
                <MessageCard id=message.message_id.clone() first=message shown=shown />
            </For>
        </ol>
        {redrawn(move || {
            shown.messages.with(Vec::is_empty).then(|| {
                view! { <p class="hint">"No messages yet. A Pod writes to a peer with SendToPeerPod."</p> }.into_any()
            })
        })}
        {is_old.then(|| view! { <p class="hint">"These are older messages. " <a href=newest>"To the newest"</a></p> }.into_any())}
        <div id="exchange-end"></div>
    }
}

fn keep_read(shown: Shown) {
    let console = use_console();
    let heads = move || {
        let head = |pod: StoredValue<PodRef>| pod.with_value(|pod| console.pod(pod).map(|pod| pod.head_seq));
        (head(shown.pod), head(shown.peer))
    };
    Reading::follow(READING_MS_MIN, First::IsKnown, heads, move || async move {
        if let Some(fresh) = shown.read(None).await {
            shown.link.try_set(fresh.link);
            shown.messages.try_update(|messages| merge(messages, fresh.messages));
        }
    });
}

/// Updates known messages in place and inserts new ones.
fn merge(shown: &mut Vec<ExchangeMessage>, fresh: Vec<ExchangeMessage>) {
    for message in fresh {
        match shown.iter_mut().find(|known| known.message_id == message.message_id) {
            Some(known) => *known = message,
            None => shown.push(message),
        }
    }
    shown.sort_by(|a, b| (a.at, &a.message_id).cmp(&(b.at, &b.message_id)));
}

/// A link that works without a script; with one, it loads earlier messages in place.
#[component]
fn Earlier(shown: Shown) -> impl IntoView {
    let console = use_console();
    let is_loading = RwSignal::new(false);
    let fetch = move |event: leptos::ev::MouseEvent| {
        taken(&event);
        if is_loading.get_untracked() {
            return;
        }
        is_loading.set(true);
        spawn_local(async move {
            let Some(before) = shown.earlier.try_get_untracked() else { return };
            match shown.read(before).await {
                Some(page) => {
                    shown.earlier.try_set(page.earlier);
                    shown.messages.try_update(|messages| merge(messages, page.messages));
                }
                None => console.note("Could not load earlier messages; try again."),
            }
            is_loading.try_set(false);
        });
    };
    redrawn(move || {
        shown.earlier.get().map(|cursor| {
            let href = shown.pod.with_value(|pod| shown.peer.with_value(|peer| exchange_href(pod, peer)));
            view! {
                <p class="earlier">
                    <a href=format!("{href}?before={cursor}") rel="prev" on:click=fetch>
                        {redrawn(move || if is_loading.get() { "Fetching…" } else { "Earlier" })}
                    </a>
                </p>
            }
            .into_any()
        })
    })
}

#[component]
fn MessageCard(id: String, first: ExchangeMessage, shown: Shown) -> impl IntoView {
    let text = first.text.clone();
    let hops = first.hops;
    let is_own = shown.pod.with_value(|pod| *pod == first.from);
    let (from, to) = shown.names.with_value(|(own, other)| match is_own {
        true => (own.clone(), other.clone()),
        false => (other.clone(), own.clone()),
    });
    let at = first.at;
    let (sought, start) = (id.clone(), (first.state, first.turn));
    let stands = Memo::new(move |_| {
        shown.messages.with(|messages| {
            messages.iter().find(|known| known.message_id == sought).map_or(start, |known| (known.state, known.turn))
        })
    });
    let words = move || {
        let (state, turn) = stands.get();
        receipt_text(&Receipt { state, turn, reason: None, at })
    };
    let is_held = Memo::new(move |_| stands.get().0 == ReceiptState::Held);
    let held_id = StoredValue::new(id.clone());
    view! {
        <li>
            <article class="peer" class:peer-answer=!is_own class:is-held=move || is_held.get() title=id>
                <header>
                    <b>{from}</b>
                    <span>"to " {to}</span>
                    <TimeOfDay at=at />
                    {(hops > 0).then(|| {
                        view! { <span title="automatic steps since your last message">{counted(u64::from(hops), "hop")}</span> }.into_any()
                    })}
                    <span class="figure">{redrawn(words)}</span>
                </header>
                <Markup text=Signal::stored(text) />
                {redrawn(move || {
                    is_held.get().then(|| {
                        view! {
                            <p class="hint">"Held back: " {held_words(Some(hops))} "."</p>
                            <HeldActs pod=shown.pod.get_value() message_id=held_id.get_value() />
                        }.into_any()
                    })
                })}
            </article>
        </li>
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(id: &str, second: i64, state: ReceiptState) -> ExchangeMessage {
        let pod = |name: &str| -> PodRef { format!("local/{name}").parse().unwrap() };
        ExchangeMessage {
            message_id: id.to_owned(),
            from: pod("ada"),
            to: pod("bob"),
            text: "t".to_owned(),
            hops: 0,
            state,
            turn: None,
            at: protocol::Timestamp::from_second(second).unwrap(),
        }
    }

    #[test]
    fn pages_and_receipts_fall_into_the_order_of_time() {
        let mut shown = vec![message("b", 2, ReceiptState::Stored)];
        merge(&mut shown, vec![message("b", 2, ReceiptState::Read), message("c", 3, ReceiptState::Stored)]);
        merge(&mut shown, vec![message("a", 1, ReceiptState::Answered)]);
        let seen: Vec<_> = shown.iter().map(|message| (message.message_id.as_str(), message.state)).collect();
        assert_eq!(seen, [("a", ReceiptState::Answered), ("b", ReceiptState::Read), ("c", ReceiptState::Stored)]);
    }
}
