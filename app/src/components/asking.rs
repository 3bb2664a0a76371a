//! Keeps the open questions of all Pods read, and says so when a Pod begins to wait.

use leptos::{prelude::*, task::spawn_local};
use protocol::{PodName, PodRef, Seq};

use crate::{
    console::{Console, use_console},
    family::{may_ask, waiting},
    live,
    server_fns::open_approvals,
};

/// Least time between two readings, in milliseconds: a Pod that waits may have calls that still write.
const READING_MS_MIN: u32 = 1_000;

/// Nothing to see: it is heard, by those who do not see the list.
#[component]
pub(crate) fn Asking() -> impl IntoView {
    let console = use_console();
    let said = RwSignal::new(String::new());
    keep_read(console);
    let names = Memo::new(move |_| {
        console
            .book
            .with(|book| book.as_ref().map(|book| waiting(book.pods()).map(|pod| pod.name.clone()).collect::<Vec<_>>()))
    });
    // Filled by an effect, so that the page of the server and the hydrated one agree.
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
    .into_any()
}

/// `bob asks for permission`, `ada and bob ask for permission`; nothing when nobody does.
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
            let asks = |book: &crate::pod_book::PodBook| {
                book.pods().iter().filter(|pod| may_ask(pod)).map(|pod| (pod.pod.clone(), pod.head_seq)).collect()
            };
            book.as_ref().map(asks) as Option<Vec<(PodRef, Seq)>>
        })
    });
    let reading = StoredValue::new(Reading::Free);
    Effect::new(move |_| match askers.with(|askers| askers.as_ref().map(Vec::is_empty)) {
        None => (),
        Some(true) => console.questions.set(Some(Vec::new())),
        Some(false) => read(console, reading),
    });
}

/// One reading at a time, and one more when something changed meanwhile.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reading {
    Free,
    Resting,
    Due,
}

fn read(console: Console, reading: StoredValue<Reading>) {
    if reading.get_value() != Reading::Free {
        return reading.set_value(Reading::Due);
    }
    reading.set_value(Reading::Resting);
    spawn_local(async move {
        // What cannot be read now is read again with the next change; the page says itself that it is cut off.
        if let Ok(questions) = open_approvals().await {
            console.questions.set(Some(questions));
        }
        live::after(READING_MS_MIN, move || {
            let was = reading.try_update_value(|reading| std::mem::replace(reading, Reading::Free));
            if was == Some(Reading::Due) {
                read(console, reading);
            }
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
