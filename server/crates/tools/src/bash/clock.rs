//! The time limit of a command. It pauses while an approval for the command waits for a person.

use std::time::Duration;

use tokio::time::{Instant, sleep_until};

use crate::questions::Questions;

#[derive(Debug)]
pub(super) struct Clock {
    /// The time left, as of `since`.
    left: Duration,
    /// `None` while it is paused.
    since: Option<Instant>,
    questions: Questions,
    /// No more approvals can come.
    is_alone: bool,
}

impl Clock {
    pub(super) fn start(limit: Duration, questions: Questions) -> Self {
        Self { left: limit, since: Some(Instant::now()), questions, is_alone: false }
    }

    /// Returns when the time is up. Cancel safe.
    pub(super) async fn run_out(&mut self) {
        loop {
            self.look();
            let due = self.since.map(|since| since + self.left);
            tokio::select! {
                () = sleep_until(due.unwrap_or_else(Instant::now)), if due.is_some() => return,
                is_there = self.questions.change(), if !self.is_alone => self.is_alone = !is_there,
            }
        }
    }

    fn look(&mut self) {
        match (self.questions.is_any(), self.since) {
            (true, Some(since)) => {
                self.left = self.left.saturating_sub(since.elapsed());
                self.since = None;
            }
            (false, None) => self.since = Some(Instant::now()),
            _ => (),
        }
    }
}

#[cfg(test)]
mod tests {
    use tokio::time::{Duration, sleep, timeout};

    use super::*;
    use crate::questions::Asking;

    const LIMIT: Duration = Duration::from_secs(10);
    const LONG: Duration = Duration::from_secs(100_000);

    /// Tests use simulated time with a resolution of milliseconds.
    const LATE: Duration = Duration::from_millis(10);

    /// How long the clock ran before the time was up.
    async fn ran(clock: &mut Clock) -> Duration {
        let began = Instant::now();
        clock.run_out().await;
        began.elapsed()
    }

    #[tokio::test(start_paused = true)]
    async fn the_clock_stands_while_a_question_waits_and_goes_on_where_it_stood() {
        let asking = Asking::new();
        let mut clock = Clock::start(LIMIT, asking.questions());
        assert!(timeout(Duration::from_secs(4), clock.run_out()).await.is_err());
        let (one, other) = (asking.open(), asking.open());
        assert!(timeout(LONG, clock.run_out()).await.is_err());
        drop(one);
        assert!(timeout(LONG, clock.run_out()).await.is_err(), "another one waits");
        drop(other);
        let left = ran(&mut clock).await;
        let expected = Duration::from_secs(6);
        assert!((expected - LATE..expected + LATE).contains(&left), "{left:?}");
    }

    #[tokio::test(start_paused = true)]
    async fn a_question_that_nobody_can_answer_any_more_stops_no_clock() {
        let took = ran(&mut Clock::start(LIMIT, Questions::none())).await;
        assert!((LIMIT..LIMIT + LATE).contains(&took), "{took:?}");
        let asking = Asking::new();
        let mut clock = Clock::start(LIMIT, asking.questions());
        let ended = async move {
            let question = asking.open();
            sleep(LONG).await;
            drop(question);
        };
        let (took, ()) = tokio::join!(ran(&mut clock), ended);
        assert!((LONG + LIMIT..LONG + LIMIT + LATE).contains(&took), "{took:?}");
    }
}
