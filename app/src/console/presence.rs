//! Whether a Pod's page is the one that is seen. One that was left is kept a while for who comes back: it hears
//! nothing then, and asks for nothing.

use leptos::prelude::*;

/// What has to be done when the page is left, and when it is seen again.
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

    /// Not read reactively; false also once the page is gone for good.
    pub(crate) fn is_here(self) -> bool {
        self.is_here.try_get_untracked() == Some(true)
    }

    /// `turn` hears false just before the page is taken away, while all of it is still in its place, and true as soon
    /// as it is back.
    pub(crate) fn on_turn(self, turn: impl Fn(bool) + Send + Sync + 'static) {
        self.turnings.update_value(|turnings| turnings.push(Box::new(turn)));
    }

    pub(crate) fn turn(self, is_here: bool) {
        self.is_here.set(is_here);
        self.turnings.with_value(|turnings| turnings.iter().for_each(|turn| turn(is_here)));
    }

    /// A memo that rests while nobody sees the page.
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
