//! Whether a Pod's page is the one on screen. A page that was left is kept for a while in case you come back;
//! meanwhile it receives nothing and requests nothing.

use leptos::prelude::*;

/// Called when the page is left (`false`) and when it is shown again (`true`).
type Turning = Box<dyn Fn(bool) + Send + Sync>;

#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Presence {
    is_here: RwSignal<bool>,
    turnings: StoredValue<Vec<Turning>>,
}

impl Presence {
    pub(super) fn new() -> Self {
        Self { is_here: RwSignal::new(true), turnings: StoredValue::new(Vec::new()) }
    }

    /// Not read reactively; also false once the page has been disposed of.
    pub(crate) fn is_here(self) -> bool {
        self.is_here.try_get_untracked() == Some(true)
    }

    /// Registers `turn`, which is called with false just before the page is removed from view, while everything is
    /// still in place, and with true as soon as it is back.
    pub(crate) fn on_turn(self, turn: impl Fn(bool) + Send + Sync + 'static) {
        self.turnings.update_value(|turnings| turnings.push(Box::new(turn)));
    }

    pub(crate) fn turn(self, is_here: bool) {
        self.is_here.set(is_here);
        self.turnings.with_value(|turnings| turnings.iter().for_each(|turn| turn(is_here)));
    }

    /// A memo that is not recomputed while the page is off screen.
    pub(crate) fn memo<T>(self, compute: impl Fn(Option<&T>) -> T + Send + Sync + 'static) -> Memo<T>
    where
        T: Clone + PartialEq + Send + Sync + 'static,
    {
        Memo::new(move |before: Option<&T>| match before {
            Some(before) if !self.is_here.get() => before.clone(),
            before => {
                self.is_here.track();
                compute(before)
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_memo_of_a_page_that_was_left_rests_and_is_right_again_at_once() {
        let owner = Owner::new();
        owner.with(|| {
            let (presence, count) = (Presence::new(), RwSignal::new(1));
            let memo = presence.memo(move |_: Option<&i32>| count.get());
            assert_eq!(memo.get_untracked(), 1);
            presence.turn(false);
            count.set(2);
            assert_eq!(memo.get_untracked(), 1);
            presence.turn(true);
            assert_eq!(memo.get_untracked(), 2);
            count.set(3);
            assert_eq!(memo.get_untracked(), 3);
        });
    }

    #[test]
    fn all_who_asked_hear_each_turn_in_their_order() {
        let owner = Owner::new();
        owner.with(|| {
            let (presence, heard) = (Presence::new(), StoredValue::new(Vec::new()));
            presence.on_turn(move |is_here| heard.update_value(|heard| heard.push(("first", is_here))));
            presence.on_turn(move |is_here| heard.update_value(|heard| heard.push(("second", is_here))));
            presence.turn(false);
            presence.turn(true);
            assert_eq!(heard.get_value(), [("first", false), ("second", false), ("first", true), ("second", true)]);
        });
    }
}
