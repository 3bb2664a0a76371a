//! A response body that is produced while it is read.

use std::{
    io,
    pin::Pin,
    task::{Context, Poll},
};

use futures_util::{
    Stream, StreamExt,
    stream::{self, BoxStream},
};
use hyper::body::{Body, Bytes, Frame};

/// Ends normally, or with an error that breaks the connection.
pub(super) struct Portions(BoxStream<'static, io::Result<Bytes>>);

impl Portions {
    pub(super) fn new(portions: impl Stream<Item = io::Result<Bytes>> + Send + 'static) -> Self {
        Self(portions.boxed())
    }

    pub(super) fn of(bytes: impl Into<Bytes>) -> Self {
        let bytes = bytes.into();
        Self::new(stream::iter((!bytes.is_empty()).then_some(Ok(bytes))))
    }
}

impl Body for Portions {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<io::Result<Frame<Bytes>>>> {
        self.0.poll_next_unpin(context).map(|portion| portion.map(|bytes| bytes.map(Frame::data)))
    }
}
