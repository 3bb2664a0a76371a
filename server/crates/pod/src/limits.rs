//! What a Pod learns about its model's context from requests that were too long, and from those that failed.

use protocol::{Outcome, Usage};

use crate::{
    Pod,
    decide::{OVERFLOW, SUSPECTED},
};

impl Pod {
    /// The model's context limit, from what this call reports and what was learned; 0 if neither is known.
    pub(crate) fn limit_of(&self, reported: &Usage) -> u64 {
        match (reported.context_limit, self.learnt_limit) {
            (limit, 0) => limit,
            // A larger request than the learned limit was answered.
            (limit, learnt) if reported.context_used > learnt && !reported.estimated => limit,
            (0, learnt) => learnt,
            (limit, learnt) => limit.min(learnt),
        }
    }

    /// Notes that attempt number `attempt` of a request failed; if the code says so, because of its length.
    pub(crate) fn note_retry(&mut self, attempt: u32, code: &str, detail: &str) {
        if code != OVERFLOW && code != SUSPECTED {
            return;
        }
        self.fits = Some(self.fits.unwrap_or(0));
        self.suspicion = (code == SUSPECTED).then(|| detail.to_owned());
        if let Some(run) = &mut self.run {
            run.overflows = attempt;
        }
    }

    /// After a request that was too long, this says what would have fit; after one that was answered, it may show that
    /// more fits than was thought.
    pub(crate) fn learn(&mut self, usage: &Usage) {
        let was_answered = usage.input + usage.output > 0;
        match &mut self.fits {
            Some(fits) if !was_answered => {
                *fits = usage.context_used;
                if self.suspicion.is_none() {
                    self.learnt_limit = usage.context_limit;
                }
            }
            _ if was_answered && !usage.estimated && usage.context_used > self.learnt_limit => self.learnt_limit = 0,
            _ => (),
        }
    }

    pub(crate) fn count_failures(&mut self, outcome: Outcome, gave_nothing: bool) {
        // If the overflow was only suspected and shortening did not help, the next request is sent unshortened.
        if outcome == Outcome::Error && self.suspicion.take().is_some() {
            self.fits = None;
        }
        match outcome {
            Outcome::Completed => self.failures = 0,
            Outcome::Error | Outcome::RolledBack => self.failures += 1,
            Outcome::Limit if gave_nothing => self.failures += 1,
            _ => (),
        }
    }
}
