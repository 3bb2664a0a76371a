//! Rereads what no stream carries: one read at a time, then a pause, and one more if something changed meanwhile.

use std::{future::Future, pin::Pin, rc::Rc};

use leptos::{prelude::*, task::spawn_local};

use crate::live;

/// Boxed, so that the code around it is compiled once.
type Work = Pin<Box<dyn Future<Output = ()>>>;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Standing {
    Free,
    Resting,
    Due,
}

/// Lives as long as the component that made it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Reading {
    standing: StoredValue<Standing>,
    rest_ms: u32,
}

/// Whether the first value has to be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum First {
    /// No: it came with the page.
    IsKnown,
    IsRead,
}

impl Reading {
    /// Calls `work`, which reads once, whenever `seen` returns something new.
    pub(crate) fn follow<S, F>(
        rest_ms: u32,
        first: First,
        seen: impl Fn() -> S + Send + Sync + 'static,
        work: impl Fn() -> F + Copy + 'static,
    ) where
        S: PartialEq + Send + Sync + 'static,
        F: Future<Output = ()> + 'static,
    {
        let reading = Self::new(rest_ms);
        let seen = Memo::new(move |_| seen());
        Effect::new(move |before: Option<()>| {
            // Read, not just tracked: a memo that is never read notifies nobody.
            seen.with(|_| ());
            if before.is_some() || first == First::IsRead {
                reading.again(move || Box::pin(work()));
            }
        });
    }

    /// `rest_ms` is the minimum time between two reads, in milliseconds.
    pub(crate) fn new(rest_ms: u32) -> Self {
        Self { standing: StoredValue::new(Standing::Free), rest_ms }
    }

    pub(crate) fn again(self, work: impl Fn() -> Work + 'static) {
        self.run(Rc::new(work));
    }

    fn run(self, work: Rc<dyn Fn() -> Work>) {
        match self.standing.try_get_value() {
            None => return,
            Some(Standing::Free) => self.standing.set_value(Standing::Resting),
            Some(_) => return self.standing.set_value(Standing::Due),
        }
        spawn_local(async move {
            work().await;
            live::after(self.rest_ms, move || {
                let was = self.standing.try_update_value(|standing| std::mem::replace(standing, Standing::Free));
                if was == Some(Standing::Due) {
                    self.run(work);
                }
            });
        });
    }
}
