//! Suppresses the library's own log lines: they quote whole error bodies, and keys with them.

use std::{
    future::Future,
    pin::Pin,
    task::{Context, Poll},
};

use futures_util::Stream;
use tracing::{Dispatch, dispatcher};

/// A future or stream that is polled with logging disabled.
pub(super) struct Quiet<Inner> {
    inner: Pin<Box<Inner>>,
}

impl<Inner> Quiet<Inner> {
    pub(super) fn new(inner: Inner) -> Self {
        Self { inner: Box::pin(inner) }
    }
}

impl<Inner: Future> Future for Quiet<Inner> {
    type Output = Inner::Output;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        dispatcher::with_default(&Dispatch::none(), || self.inner.as_mut().poll(context))
    }
}

impl<Inner: Stream> Stream for Quiet<Inner> {
    type Item = Inner::Item;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        dispatcher::with_default(&Dispatch::none(), || self.inner.as_mut().poll_next(context))
    }
}
