//! Rows of the tables of tokens, in both databases.

use protocol::{PodName, WorkerId};

use crate::{DayTokens, LinkTokens, PodKey, PodTokens, StoreError, Tokens, UsageRows, columns::damaged};

/// Key, worker id, name, parent; input, cached, output, cost.
pub(crate) type PodColumns = (i64, String, String, Option<i64>, i64, i64, i64, Option<f64>);
/// Day; input, cached, output, cost.
pub(crate) type DayColumns = (String, i64, i64, i64, Option<f64>);
/// Both keys, runs; input, cached, output, cost.
pub(crate) type LinkColumns = (i64, i64, i64, i64, i64, i64, Option<f64>);

impl UsageRows {
    pub(crate) fn of(
        pods: Vec<PodColumns>,
        days: Vec<DayColumns>,
        links: Vec<LinkColumns>,
    ) -> Result<Self, StoreError> {
        let pod = |(key, worker_id, name, parent, input, cached, output, cost): PodColumns| {
            Ok(PodTokens {
                key: PodKey(key),
                worker_id: WorkerId::parse(&worker_id).map_err(damaged("worker id"))?,
                name: PodName::parse(&name).map_err(damaged("Pod name"))?,
                parent: parent.map(PodKey),
                tokens: tokens(input, cached, output, cost),
            })
        };
        let day = |(day, input, cached, output, cost)| DayTokens { day, tokens: tokens(input, cached, output, cost) };
        let link = |(low, high, runs, input, cached, output, cost): LinkColumns| LinkTokens {
            low: PodKey(low),
            high: PodKey(high),
            runs: count(runs),
            tokens: tokens(input, cached, output, cost),
        };
        Ok(Self {
            pods: pods.into_iter().map(pod).collect::<Result<_, StoreError>>()?,
            days: days.into_iter().map(day).collect(),
            links: links.into_iter().map(link).collect(),
        })
    }
}

fn tokens(input: i64, cached: i64, output: i64, cost: Option<f64>) -> Tokens {
    Tokens { input: count(input), cached: count(cached), output: count(output), cost }
}

fn count(column: i64) -> u64 {
    u64::try_from(column).unwrap_or_default()
}
