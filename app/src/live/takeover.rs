//! The browser takes the page over in parts, and one of them may still be on its way. Until all of it is taken over,
//! nothing may change what is drawn: what the server has drawn would be taken for what is to be drawn now.

use std::cell::RefCell;

type Work = Box<dyn FnOnce()>;

thread_local! {
    /// What waits; none once the page is taken over.
    static WAITING: RefCell<Option<Vec<Work>>> = const { RefCell::new(Some(Vec::new())) };
}

/// At once, or when the page is taken over.
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

/// All of the page is ours now.
pub(crate) fn is_taken_over() {
    WAITING.take().into_iter().flatten().for_each(|run| run());
}

/// Whether a page is drawn by the browser alone.
pub(crate) fn has_taken_over() -> bool {
    WAITING.with_borrow(Option::is_none)
}
