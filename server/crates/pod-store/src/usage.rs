//! Tokens and cost: kept per Pod and day, and per pair of Pods, in the transaction of the records that tell of them.

use jiff::Timestamp;
use protocol::{PodName, Usage, WorkerId};
use serde::{Deserialize, Serialize};

use crate::PodKey;

/// No single figure is counted as more than this, so that no sum leaves its column, whatever a provider says.
const TOKENS_MAX: u64 = 1 << 40;

/// Tokens, with what they cost in US dollars when anything of it was priced. `input` includes `cached`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Tokens {
    pub input: u64,
    pub cached: u64,
    pub output: u64,
    pub cost: Option<f64>,
}

/// What records of one change say was used, or that a run is over which a message began.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Spent {
    /// It is counted under this day, in UTC.
    pub at: Timestamp,
    pub tokens: Tokens,
    /// The Pod whose message began the run. Nobody, when it began otherwise; nothing is kept of a Pod that is not here.
    pub begun_by: Option<WorkerId>,
    /// The run that a message began is over: it counts as one.
    pub ends_run: bool,
}

/// What a Pod has used.
#[derive(Debug, Clone, PartialEq)]
pub struct PodTokens {
    pub key: PodKey,
    pub worker_id: WorkerId,
    pub name: PodName,
    pub parent: Option<PodKey>,
    pub tokens: Tokens,
}

/// What all Pods used on a day, those that are gone included.
#[derive(Debug, Clone, PartialEq)]
pub struct DayTokens {
    /// `YYYY-MM-DD`
    pub day: String,
    pub tokens: Tokens,
}

/// What runs used that messages between two Pods began.
#[derive(Debug, Clone, PartialEq)]
pub struct LinkTokens {
    pub low: PodKey,
    pub high: PodKey,
    pub runs: u64,
    pub tokens: Tokens,
}

/// Everything that is known of tokens.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct UsageRows {
    /// Every Pod, in the order in which they were made.
    pub pods: Vec<PodTokens>,
    /// Oldest first; days without any use are left out.
    pub days: Vec<DayTokens>,
    /// Most runs first.
    pub links: Vec<LinkTokens>,
}

impl Tokens {
    pub fn add(&mut self, more: &Self) {
        self.input += more.input;
        self.cached += more.cached;
        self.output += more.output;
        self.cost = match (self.cost, more.cost) {
            (None, None) => None,
            (sum, more) => Some(sum.unwrap_or_default() + more.unwrap_or_default()),
        };
    }

    fn is_some(&self) -> bool {
        self.input > 0 || self.cached > 0 || self.output > 0 || self.cost.is_some()
    }
}

impl From<&Usage> for Tokens {
    fn from(usage: &Usage) -> Self {
        Self { input: usage.input, cached: usage.cached, output: usage.output, cost: usage.cost }
    }
}

/// What goes into the tables for one [`Spent`].
#[derive(Debug)]
pub(crate) struct SpentLine<'a> {
    pub(crate) pod: PodKey,
    pub(crate) day: String,
    /// Bounded.
    pub(crate) counts: [i64; 3],
    pub(crate) cost: Option<f64>,
    /// The Pod whose message began the run, and how many such runs are over.
    pub(crate) link: Option<(&'a WorkerId, i64)>,
}

impl<'a> SpentLine<'a> {
    /// Nothing for what changes no figure.
    pub(crate) fn of(pod: PodKey, spent: &'a Spent) -> Option<Self> {
        let Spent { at, tokens, begun_by, ends_run } = spent;
        let link = begun_by.as_ref().map(|worker_id| (worker_id, i64::from(*ends_run)));
        let bounded = |count: u64| i64::try_from(count.min(TOKENS_MAX)).expect("the bound fits its column");
        let line = Self {
            pod,
            day: at.strftime("%Y-%m-%d").to_string(),
            counts: [tokens.input, tokens.cached, tokens.output].map(bounded),
            cost: tokens.cost.filter(|cost| cost.is_finite()),
            link,
        };
        (tokens.is_some() || link.is_some_and(|(_, runs)| runs > 0)).then_some(line)
    }

    /// Only a run that is over, and no figure of its own.
    pub(crate) fn has_tokens(&self) -> bool {
        self.counts != [0; 3] || self.cost.is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sum_has_a_cost_as_soon_as_a_part_of_it_has_one() {
        let mut sum = Tokens::default();
        sum.add(&Tokens { input: 3, cached: 1, output: 2, cost: None });
        assert_eq!(sum, Tokens { input: 3, cached: 1, output: 2, cost: None });
        sum.add(&Tokens { cost: Some(0.5), ..Tokens::default() });
        sum.add(&Tokens { input: 1, ..Tokens::default() });
        assert_eq!(sum, Tokens { input: 4, cached: 1, output: 2, cost: Some(0.5) });
    }

    #[test]
    fn what_a_provider_says_beyond_reason_is_bounded() {
        let tokens = Tokens { input: u64::MAX, cost: Some(f64::INFINITY), ..Tokens::default() };
        let spent = Spent { at: Timestamp::UNIX_EPOCH, tokens, begun_by: None, ends_run: false };
        let line = SpentLine::of(PodKey(1), &spent).unwrap();
        assert_eq!((line.counts, line.cost, line.day.as_str()), ([1 << 40, 0, 0], None, "1970-01-01"));
        let nothing = Spent { tokens: Tokens::default(), ..spent };
        assert!(SpentLine::of(PodKey(1), &nothing).is_none());
    }
}
