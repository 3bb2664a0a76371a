//! The browser hydrates the page in parts, some of which may still be loading. Until all of it is hydrated, nothing
//! may change what is drawn: hydration expects exactly what the server rendered.

use std::cell::RefCell;

type Work = Box<dyn FnOnce()>;

thread_local! {
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

/// Hydration is complete: runs what was waiting.
pub(crate) fn is_taken_over() {
    WAITING.take().into_iter().flatten().for_each(|run| run());
}

/// Whether hydration is complete, so that pages are drawn by the browser alone.
pub(crate) fn has_taken_over() -> bool {
    WAITING.with_borrow(Option::is_none)
}
