//! The browser hydrates the page in parts, some of which may still be loading. Until all of it is hydrated, nothing
//! may change what is drawn: hydration expects exactly what the server rendered.

use std::{cell::RefCell, future::Future, pin::Pin};

use wasm_bindgen_futures::spawn_local;

type Work = Box<dyn FnOnce()>;

type Fetch = Pin<Box<dyn Future<Output = ()> + Send>>;

thread_local! {
    /// What the page has to fetch before hydration is complete.
    static FETCHED_FIRST: RefCell<Vec<Fetch>> = const { RefCell::new(Vec::new()) };
    /// Work that waits for hydration; `None` once it is complete.
    static WAITING: RefCell<Option<Vec<Work>>> = const { RefCell::new(Some(Vec::new())) };
}

/// Runs at once, or when the page has been hydrated.
pub(crate) fn once_taken_over(run: impl FnOnce() + 'static) {
    let mut run: Option<Work> = Some(Box::new(run));
    WAITING.with_borrow_mut(|waiting| {
        if let Some(waiting) = waiting {
            waiting.extend(run.take());
        }
    });
    if let Some(run) = run {
        run();
    }
}

/// Fetches something; before hydration is complete if that goes on.
pub(crate) fn fetch_first(fetch: Fetch) {
    match has_taken_over() {
        true => spawn_local(fetch),
        false => FETCHED_FIRST.with_borrow_mut(|fetched| fetched.push(fetch)),
    }
}

/// The page is hydrated but for what it has to fetch: once that is there, hydration is complete, and what was waiting
/// runs.
pub(crate) async fn take_over() {
    // More may be wanted meanwhile.
    while let Some(fetch) = FETCHED_FIRST.with_borrow_mut(Vec::pop) {
        fetch.await;
    }
    WAITING.take().into_iter().flatten().for_each(|run| run());
}

/// Whether hydration is complete, so that pages are drawn by the browser alone.
pub(crate) fn has_taken_over() -> bool {
    WAITING.with_borrow(Option::is_none)
}
