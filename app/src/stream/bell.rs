//! A wake-up without data: the listener checks for itself what there is to do.

use std::{
    cell::{Cell, RefCell},
    pin::Pin,
    rc::Rc,
    task::{Context, Poll, Waker},
};

use futures_util::Stream;

/// Rings are coalesced: however often it is rung, it is heard once.
#[derive(Debug, Clone, Default)]
pub(super) struct Bell {
    inner: Rc<(Cell<bool>, RefCell<Option<Waker>>)>,
}

impl Bell {
    pub(super) fn ring(&self) {
        self.inner.0.set(true);
        if let Some(waker) = self.inner.1.borrow_mut().take() {
            waker.wake();
        }
    }
}

impl Stream for Bell {
    type Item = ();

    fn poll_next(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<()>> {
        if self.inner.0.replace(false) {
            return Poll::Ready(Some(()));
        }
        *self.inner.1.borrow_mut() = Some(context.waker().clone());
        Poll::Pending
    }
}
