//! Keeps the open approvals and peer requests of all Pods up to date, and announces new ones.

use commands::family::{may_ask, waiting};
use leptos::prelude::*;
use protocol::{OpenRequest, PodName, PodRef, Seq};

use crate::{
    console::{Console, pod_book::PodBook, use_console},
    reading::Reading,
    server_fns::{open_approvals, open_requests},
};

/// Minimum time between two reads, in milliseconds: a waiting Pod may have calls that are still writing records.
const READING_MS_MIN: u32 = 1_000;

/// The same for peer requests: while Pods write, every change of the list is a reason to look.
const REQUESTS_MS_MIN: u32 = 2_000;

/// An invisible live region that announces new requests to screen readers.
#[component]
pub(crate) fn Asking() -> impl IntoView {
    let console = use_console();
    let said = RwSignal::new(String::new());
    keep_read(console);
    keep_requests_read(console, said);
    let names = Memo::new(move |_| {
        console
            .book
            .with(|book| book.as_ref().map(|book| waiting(book.pods()).map(|pod| pod.name.clone()).collect::<Vec<_>>()))
    });
    // Filled in by an effect, so that the server's page and the hydrated one agree.
    Effect::new(move |before: Option<Option<Vec<PodName>>>| {
        let now = names.get();
        let before = before.flatten().unwrap_or_default();
        said.set(asking_words(now.iter().flatten().filter(|name| !before.contains(name))));
        now
    });
    view! {
        <p role="status" class="visually-hidden">
            {said}
        </p>
    }
}

/// `bob asks for permission`, `ada and bob ask for permission`; empty when there is none.
fn asking_words<'a>(names: impl Iterator<Item = &'a PodName>) -> String {
    let names: Vec<&str> = names.map(PodName::as_str).collect();
    match names.as_slice() {
        [] => String::new(),
        [one] => format!("{one} asks for permission"),
        [others @ .., last] => format!("{} and {last} ask for permission", others.join(", ")),
    }
}

fn keep_read(console: Console) {
    let askers = Memo::new(move |_| {
        console.book.with(|book| {
            let asks = |book: &PodBook| {
                book.pods().iter().filter(|pod| may_ask(pod)).map(|pod| (pod.pod.clone(), pod.head_seq)).collect()
            };
            book.as_ref().map(asks) as Option<Vec<(PodRef, Seq)>>
        })
    });
    let reading = Reading::new(READING_MS_MIN);
    Effect::new(move |_| match askers.with(|askers| askers.as_ref().map(Vec::is_empty)) {
        None => (),
        Some(true) => console.questions.set(Some(Vec::new())),
        Some(false) => reading.again(move || {
            Box::pin(async move {
                // A failed read is retried with the next change; the page already shows when the connection is lost.
                if let Ok(questions) = open_approvals().await {
                    console.questions.set(Some(questions));
                }
            })
        }),
    });
}

/// A peer request is in both journals but in no summary, so any journal that grew may hold a new one.
fn keep_requests_read(console: Console, said: RwSignal<String>) {
    let heads = Memo::new(move |_| {
        let heads = |book: &PodBook| book.pods().iter().map(|pod| pod.head_seq).collect::<Vec<Seq>>();
        console.book.with(|book| book.as_ref().map(heads))
    });
    let reading = Reading::new(REQUESTS_MS_MIN);
    Effect::new(move |_| {
        if heads.with(Option::is_none) {
            return;
        }
        reading.again(move || {
            Box::pin(async move {
                let Ok(requests) = open_requests().await else { return };
                let known = console.requests.get_untracked().unwrap_or_default();
                let is_new = |request: &&OpenRequest| known.iter().all(|known| known.request_id != request.request_id);
                if let Some(request) = requests.iter().find(is_new) {
                    said.set(format!("{} asks to be a peer of {}", request.from_name, request.to_name));
                }
                if known != requests || console.requests.with_untracked(Option::is_none) {
                    console.requests.set(Some(requests));
                }
            })
        });
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn those_who_ask_are_named() {
        let names: Vec<PodName> = ["ada", "bob", "eve"].map(|name| PodName::parse(name).unwrap()).into();
        assert_eq!(asking_words(names[..0].iter()), "");
        assert_eq!(asking_words(names[..1].iter()), "ada asks for permission");
        assert_eq!(asking_words(names.iter()), "ada, bob and eve ask for permission");
    }
}
