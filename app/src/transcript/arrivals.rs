//! Buffers records until the next frame, so that a page is redrawn at most once per frame, however fast they arrive.

use leptos::prelude::*;
use protocol::Record;

use crate::live;

/// At most this many records are buffered; beyond that they are applied at once. A hidden page has no frames.
const WAITING_MAX: usize = 2_000;

/// Records that have arrived and are not in the transcript yet.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Arrivals {
    waiting: StoredValue<Vec<Record>>,
}

impl Arrivals {
    pub(crate) fn new() -> Self {
        Self { waiting: StoredValue::new(Vec::new()) }
    }

    /// Buffers records. `take` receives these and all that arrive before the next frame, in order and exactly once.
    pub(crate) fn add(self, records: Vec<Record>, take: impl FnOnce(Vec<Record>) + 'static) {
        let counts = self.waiting.try_update_value(|waiting| {
            let before = waiting.len();
            waiting.extend(records);
            (before, waiting.len())
        });
        match counts {
            Some((_, now)) if now > WAITING_MAX => take(self.now()),
            Some((0, now)) if now > 0 => live::next_frame(move || {
                let records = self.now();
                if !records.is_empty() {
                    take(records);
                }
            }),
            _ => (),
        }
    }

    /// Takes the buffered records; none once the page has been left.
    pub(crate) fn now(self) -> Vec<Record> {
        self.waiting.try_update_value(std::mem::take).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use std::{cell::RefCell, rc::Rc};

    use crate::{rows::tests::finished, transcript::arrivals::*};

    #[test]
    fn records_wait_in_order_and_are_taken_at_once_when_they_are_too_many() {
        let owner = Owner::new();
        owner.set();
        let arrivals = Arrivals::new();
        let taken = Rc::new(RefCell::new(Vec::new()));
        let add = |from: i64, to: i64| {
            let taken = taken.clone();
            let records = (from..=to).map(|seq| finished(seq, "a", "text")).collect();
            arrivals.add(records, move |records| taken.borrow_mut().extend(records));
        };
        add(1, 2);
        add(3, 3);
        assert!(taken.borrow().is_empty(), "no frame has come");
        add(4, WAITING_MAX as i64 + 1);
        let seqs: Vec<i64> = taken.borrow().iter().map(|record: &Record| record.seq.0).collect();
        assert_eq!(seqs, (1..=WAITING_MAX as i64 + 1).collect::<Vec<_>>());
        assert!(arrivals.now().is_empty());
    }
}
