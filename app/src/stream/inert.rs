//! The server's version of the stream: there is no connection, so nothing arrives.

use protocol::{PodRef, Seq};

use super::PodFeed;
use crate::console::Console;

pub(crate) fn prepare(_console: Console) {}

pub(crate) fn connect(_console: Console) {}

pub(crate) fn watch(_pod: PodRef, _cursor: String, _applied: Seq, _listener: impl FnMut(PodFeed) + 'static) -> u64 {
    0
}

pub(crate) fn unwatch(_number: u64) -> Option<(String, Seq)> {
    None
}
