//! How tests wait: for something that is named in words, and never for ever.

use std::{panic::Location, time::Duration};

/// The time limit of any wait in a test. Generous, because machines that run tests are busy.
pub const WAIT_MAX: Duration = Duration::from_secs(60);

/// How often a condition is checked: not in a tight loop, because what it waits for needs the processor too.
const POLL: Duration = Duration::from_millis(10);

/// Waits for a future.
///
/// # Panics
/// If it does not complete within [`WAIT_MAX`]; `what` says what was waited for.
#[track_caller]
pub fn within<T>(what: impl Into<String>, coming: impl Future<Output = T>) -> impl Future<Output = T> {
    let (place, what) = (Location::caller(), what.into());
    async move {
        let waited = tokio::time::timeout(WAIT_MAX, coming).await;
        waited.unwrap_or_else(|_| panic!("{place}: within {WAIT_MAX:?} it did not come to this: {what}"))
    }
}

/// Checks repeatedly until there is a value.
///
/// # Panics
/// As for [`within`].
#[track_caller]
pub fn until<T>(what: impl Into<String>, mut look: impl AsyncFnMut() -> Option<T>) -> impl Future<Output = T> {
    within(what, async move {
        loop {
            if let Some(found) = look().await {
                return found;
            }
            tokio::time::sleep(POLL).await;
        }
    })
}

/// Checks repeatedly until the condition holds.
///
/// # Panics
/// As for [`within`].
#[track_caller]
pub fn until_so(what: impl Into<String>, mut is_so: impl AsyncFnMut() -> bool) -> impl Future<Output = ()> {
    until(what, async move || is_so().await.then_some(()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_wait_ends_when_it_is_so() {
        let mut looks = 0;
        let found = until("the third look", async || {
            looks += 1;
            (looks == 3).then_some("there")
        });
        assert_eq!(found.await, "there");
    }

    #[tokio::test(start_paused = true)]
    #[should_panic(expected = "it did not come to this: the end of the world")]
    async fn a_wait_for_what_never_comes_fails_and_says_what_it_waited_for() {
        until_so("the end of the world", async || false).await;
    }
}
