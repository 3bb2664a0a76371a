//! Tokens and cost, stored per Pod and day and per pair of Pods, in the transaction of the records that report them.

use jiff::Timestamp;
use protocol::{Cost, Currency, PodName, Usage, WorkerId, both_priced};
use serde::{Deserialize, Serialize};

use crate::PodKey;

/// The most that a single figure counts, so that no sum overflows its column, whatever a provider reports.
const TOKENS_MAX: u64 = 1 << 40;
/// The most that a single cost counts: a thousand of whatever currency.
const COST_UNITS_MAX: u64 = 1_000_000_000_000_000;

/// Tokens, with their cost if any of them had a price. `input` includes `cached` and `written`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Tokens {
    pub input: u64,
    pub cached: u64,
    pub written: u64,
    pub output: u64,
    pub cost: Option<Cost>,
    /// The currency of the cost; `None` means US dollars.
    pub currency: Option<Currency>,
    /// Whether part of it was estimated because no provider counted it.
    #[serde(default)]
    pub estimated: bool,
}

/// The usage that the records of one change report, or the end of a run that a message began.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Spent {
    /// Determines the day (UTC) under which it is counted.
    pub at: Timestamp,
    pub tokens: Tokens,
    /// The provider that was asked.
    pub provider: String,
    pub model: String,
    /// The Pod whose message began the run, if any. Ignored if that Pod is not in this store.
    pub begun_by: Option<WorkerId>,
    /// The end of a run that a message began, which counts as one run.
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

/// What all Pods used on a day, deleted ones included.
#[derive(Debug, Clone, PartialEq)]
pub struct DayTokens {
    /// `YYYY-MM-DD`
    pub day: String,
    pub tokens: Tokens,
}

/// What all Pods used of a model, deleted ones included.
#[derive(Debug, Clone, PartialEq)]
pub struct ModelTokens {
    pub provider: String,
    pub model: String,
    pub tokens: Tokens,
}

/// What was used by runs that messages between two Pods began.
#[derive(Debug, Clone, PartialEq)]
pub struct LinkTokens {
    pub low: PodKey,
    pub high: PodKey,
    pub runs: u64,
    pub tokens: Tokens,
}

/// All stored usage.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct UsageRows {
    /// All Pods, in order of creation.
    pub pods: Vec<PodTokens>,
    /// The usage of deleted Pods, by their parent.
    pub gone: Vec<(PodKey, Tokens)>,
    /// Oldest first; days without usage are left out.
    pub days: Vec<DayTokens>,
    /// Sorted by name.
    pub models: Vec<ModelTokens>,
    /// Most runs first.
    pub links: Vec<LinkTokens>,
}

impl Tokens {
    pub fn add(&mut self, more: &Self) {
        self.input += more.input;
        self.cached += more.cached;
        self.written += more.written;
        self.output += more.output;
        (self.cost, self.currency) = both_priced((self.cost, self.currency), (more.cost, more.currency));
        self.estimated |= more.estimated;
    }

    fn is_some(&self) -> bool {
        [self.input, self.cached, self.written, self.output] != [0; 4] || self.cost.is_some()
    }
}

impl From<&Usage> for Tokens {
    fn from(usage: &Usage) -> Self {
        let Usage { input, cached, written, output, cost, currency, estimated, .. } = *usage;
        Self { input, cached, written, output, cost, currency, estimated }
    }
}

/// What is written to the tables for one [`Spent`].
#[derive(Debug)]
pub(crate) struct SpentLine<'a> {
    pub(crate) pod: PodKey,
    pub(crate) day: String,
    pub(crate) provider: &'a str,
    pub(crate) model: &'a str,
    /// Input, cached, written, output; bounded.
    pub(crate) counts: [i64; 4],
    /// In [`Cost::units`]; bounded.
    pub(crate) cost: Option<i64>,
    pub(crate) currency: Currency,
    /// 1 if part of it was estimated, otherwise 0.
    pub(crate) estimated: i64,
    /// The Pod whose message began the run, and how many such runs have ended.
    pub(crate) link: Option<(&'a WorkerId, i64)>,
}

impl<'a> SpentLine<'a> {
    /// `None` if it changes no figure.
    pub(crate) fn of(pod: PodKey, spent: &'a Spent) -> Option<Self> {
        let Spent { at, tokens, provider, model, begun_by, ends_run } = spent;
        let link = begun_by.as_ref().map(|worker_id| (worker_id, i64::from(*ends_run)));
        let bounded = |count: u64, max: u64| i64::try_from(count.min(max)).expect("the bound fits its column");
        let Tokens { input, cached, written, output, cost, currency, estimated } = *tokens;
        let line = Self {
            pod,
            day: at.strftime("%Y-%m-%d").to_string(),
            provider,
            model,
            counts: [input, cached, written, output].map(|count| bounded(count, TOKENS_MAX)),
            cost: cost.map(|cost| bounded(cost.units(), COST_UNITS_MAX)),
            currency: currency.filter(|_| cost.is_some()).unwrap_or_default(),
            estimated: i64::from(estimated),
            link,
        };
        (tokens.is_some() || link.is_some_and(|(_, runs)| runs > 0)).then_some(line)
    }

    /// False if it only marks the end of a run.
    pub(crate) fn has_tokens(&self) -> bool {
        self.counts != [0; 4] || self.cost.is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cost(text: &str) -> Option<Cost> {
        Some(text.parse().unwrap())
    }

    #[test]
    fn a_sum_has_a_cost_as_soon_as_a_part_of_it_has_one() {
        let part = Tokens { input: 3, cached: 1, output: 2, ..Tokens::default() };
        let mut sum = Tokens::default();
        sum.add(&part);
        assert_eq!(sum, part);
        sum.add(&Tokens { cost: cost("0.5"), ..Tokens::default() });
        assert!(!sum.estimated);
        sum.add(&Tokens { input: 1, written: 4, cost: cost("0.000001"), estimated: true, ..Tokens::default() });
        let cost = cost("0.500001");
        let all = Tokens { input: 4, cached: 1, written: 4, output: 2, cost, currency: None, estimated: true };
        assert_eq!(sum, all);
    }

    #[test]
    fn what_a_provider_says_beyond_reason_is_bounded() {
        let tokens = Tokens { input: u64::MAX, cost: Some(Cost::from_units(u64::MAX)), ..Tokens::default() };
        let (provider, model) = ("p".to_owned(), "m".to_owned());
        let spent = Spent { at: Timestamp::UNIX_EPOCH, tokens, provider, model, begun_by: None, ends_run: false };
        let line = SpentLine::of(PodKey(1), &spent).unwrap();
        assert_eq!(
            (line.counts, line.cost, line.day.as_str()),
            ([1 << 40, 0, 0, 0], Some(1_000_000_000_000_000), "1970-01-01")
        );
        let nothing = Spent { tokens: Tokens::default(), ..spent };
        assert!(SpentLine::of(PodKey(1), &nothing).is_none());
    }
}
