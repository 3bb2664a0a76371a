//! What a Pod learns of its model's context: from questions that were too long, and from those that failed.

use protocol::{Outcome, Usage};

use crate::{
    Pod,
    decide::{OVERFLOW, SUSPECTED},
};

impl Pod {
    /// The model's context by what this call reports and by what was learnt; 0 when neither is known.
    pub(crate) fn limit_of(&self, reported: &Usage) -> u64 {
        match (reported.context_limit, self.learnt_limit) {
            // More was answered than was learnt to fit.
            (limit, learnt) if reported.context_used > learnt && !reported.estimated => limit,
            (0, learnt) => learnt,
            (limit, learnt) => limit.min(learnt),
        }
    }

    /// Attempt number `attempt` of a question failed: of its length, when this is the code.
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

    /// A question that was too long is followed by what would have fit; one that was not may show that more does.
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
        // What was no more than suspected, and did not go through, is asked anew as it is.
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
