//! How much room there is for a context, and for the parts of one that is compacted.

/// The percentage of the model's context that the kept part may take.
const KEPT_PERCENT_MAX: u64 = 20;
/// The tokens that may be kept if the model's limit is unknown.
const KEPT_TOKENS_DEFAULT: u64 = 8_000;
/// The percentage of a context that a summary may take, and its most tokens.
const SUMMARY_PERCENT_MAX: u64 = 20;
const SUMMARY_TOKENS_MAX: u64 = 4_000;
/// The percentage of a context that the request for a summary may take after a whole one did not fit.
const REQUEST_PERCENT_MAX: u64 = 60;
/// At least this fraction counts as free besides instructions and tools, whose size is only an estimate.
const FREE_DIVISOR: u64 = 4;
/// A shorter summary would be meaningless.
const SUMMARY_TOKENS_MIN: u64 = 200;
/// If the newest message leaves less room than that, a few lines are still better than no answer.
const SUMMARY_TOKENS_LEAST: u64 = 32;
/// The most that the text above a summary takes.
pub(super) const SUMMARY_HEADER_TOKENS: u64 = 64;
/// The percentage of what fits that is filled again: the rest is left for the answer and for inexact estimates.
const FILLED_PERCENT_MAX: u64 = 95;

/// Sizes in tokens; those of the conversation are estimates.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Room {
    /// The model's context; 0 if unknown.
    pub limit: u64,
    /// If the current context was too long: the most that would have fit.
    pub fits: Option<u64>,
    /// The tools that each request offers.
    pub tools: u64,
    /// How often the request for a summary was itself too long; each time it is halved.
    pub halvings: u32,
}

impl Room {
    pub(super) fn is_too_long(&self) -> bool {
        self.fits.is_some()
    }

    /// The room for the conversation, besides instructions of `system` tokens.
    fn free(&self, size: u64, system: u64) -> u64 {
        size.saturating_sub(system + self.tools).max(size / FREE_DIVISOR)
    }

    /// The room for the kept part.
    pub(super) fn kept(&self, system: u64) -> u64 {
        match (self.fits, self.limit) {
            (Some(size), _) => self.free(size, system) * KEPT_PERCENT_MAX / 100,
            (None, 0) => KEPT_TOKENS_DEFAULT,
            (None, limit) => limit * KEPT_PERCENT_MAX / 100,
        }
    }

    /// Returns the room for the summary beside a retained end of this size. If it is known what fits, both have to fit.
    pub(super) fn summary(&self, system: u64, kept: u64) -> u64 {
        let part = match (self.fits, self.limit) {
            (Some(size), _) => (self.free(size, system) * SUMMARY_PERCENT_MAX / 100).max(SUMMARY_TOKENS_MIN),
            (None, 0) => SUMMARY_TOKENS_MAX,
            (None, limit) => limit * SUMMARY_PERCENT_MAX / 100,
        };
        let left = self.fits.map_or(u64::MAX, |size| {
            let taken = system + self.tools + kept + SUMMARY_HEADER_TOKENS;
            (size * FILLED_PERCENT_MAX / 100).saturating_sub(taken).max(SUMMARY_TOKENS_LEAST)
        });
        part.min(left).min(SUMMARY_TOKENS_MAX)
    }

    /// The room for the text to be summarised, out of a context of `now` tokens; `None` if nothing has to be left out.
    pub(super) fn request(&self, system: u64, now: u64) -> Option<u64> {
        let size = match (self.fits, self.limit) {
            (Some(size), _) => size,
            (None, _) if self.halvings == 0 => return None,
            (None, 0) => now,
            (None, limit) => limit.min(now),
        };
        // This request offers no tools.
        let part = size.saturating_sub(system).max(size / FREE_DIVISOR) * REQUEST_PERCENT_MAX / 100;
        Some(part.checked_shr(self.halvings).unwrap_or(0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_summary_leaves_room_for_the_newest_message_that_has_to_stay() {
        let room = Room { limit: 2_048, fits: Some(1_500), ..Room::default() };
        assert_eq!(room.summary(47, 100), 290, "a fifth of what is free");
        // 1,425 of 1,500 may be filled; 47, 1,173 and the header are taken.
        assert_eq!(room.summary(47, 1_173), 141);
        assert_eq!(room.summary(47, 1_400), SUMMARY_TOKENS_LEAST);
        assert_eq!(Room { limit: 2_048, ..Room::default() }.summary(47, 1_173), 409, "nothing was too long");
    }
}
