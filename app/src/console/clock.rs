//! The current time that ages are computed from, and the viewer's time zone.

use leptos::prelude::*;
use leptos::server::SharedValue;
use protocol::Timestamp;

use crate::{format, live};

/// How often ages are redrawn, in milliseconds.
const TICK_MS: u32 = 10_000;

/// Starts at the server's time, so that the first paint and the hydrated page agree; then follows the browser's
/// clock.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Clock {
    now_ms: RwSignal<i64>,
    /// Minutes east of UTC; the server does not know it.
    zone: RwSignal<Option<i32>>,
}

impl Clock {
    pub(crate) fn new() -> Self {
        let started = SharedValue::new_str(live::now_ms).into_inner();
        let clock = Self { now_ms: RwSignal::new(started), zone: RwSignal::new(None) };
        Effect::new(move |_| {
            live::once_taken_over(move || {
                clock.zone.set(live::zone_minutes());
                clock.now_ms.set(live::now_ms());
                live::every(TICK_MS, move || clock.now_ms.set(live::now_ms()));
            });
        });
        clock
    }

    pub(crate) fn now(self) -> Timestamp {
        format::moment(self.now_ms.get())
    }

    pub(crate) fn age(self, at: Timestamp) -> String {
        format::age(self.now(), at)
    }

    pub(crate) fn time(self, at: Timestamp) -> String {
        format::clock_time(at, self.now(), self.zone.get())
    }

    /// Whether times are shown in UTC because the viewer's time zone is unknown.
    pub(crate) fn is_utc(self) -> bool {
        self.zone.with(Option::is_none)
    }

    pub(crate) fn full_time(self, at: Timestamp) -> String {
        format::full_time(at, self.zone.get())
    }
}
