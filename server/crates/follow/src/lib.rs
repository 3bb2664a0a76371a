//! How a viewer follows Pods over a connection that can be lost: its subscriptions, where each one resumes, and when
//! to reconnect. Used by the browser, the terminal, the command line and other servers.
//!
//! Pure: no socket and no clock. Times are milliseconds of a monotonic clock that the caller provides.

#![cfg_attr(test, allow(clippy::unwrap_used))]

mod backoff;
mod subscriptions;

pub use self::{
    backoff::{DELAY_MS_MAX, SILENCE_MS_MAX, delay_ms},
    subscriptions::{Step, Subscriptions},
};
