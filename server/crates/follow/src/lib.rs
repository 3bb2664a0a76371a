//! How a viewer follows Pods over a connection that can be lost: what it is subscribed to, where each subscription goes on, and when to
//! connect again. The browser, the terminal, the command line and another server all follow by it.
//!
//! Pure: it has no socket and no clock. Moments are milliseconds of a clock that only goes forward; whoever calls has one.

#![cfg_attr(test, allow(clippy::unwrap_used))]

mod backoff;
mod subscriptions;

pub use self::{
    backoff::{DELAY_MS_MAX, SILENCE_MS_MAX, delay_ms},
    subscriptions::{Step, Subscriptions},
};
