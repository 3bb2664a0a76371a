//! Usage: sums per Pod, day and model, and per pair of Pods.
//!
//! In the table, key 0 stands for deleted Pods, and the negated key of a Pod for its deleted descendants: what those
//! used counts towards that Pod's tree, but not as its own.

use protocol::{Cost, Currency, PodName, WorkerId};

use super::Shared;
use crate::{
    DayTokens, LinkTokens, ModelTokens, PodKey, PodTokens, StoreError, Tokens, UsageRows, columns::damaged,
    statement::Columns,
};

/// The usage of a store.
#[derive(Debug, Clone, Copy)]
pub struct Usage<'s>(pub(super) &'s Shared);

/// The sums of some rows: input, cached, written, output, cost; the first and the last currency; whether any was
/// estimated.
macro_rules! sums {
    () => {
        "cast(coalesce(sum(input), 0) as bigint), cast(coalesce(sum(cached), 0) as bigint),
         cast(coalesce(sum(written), 0) as bigint), cast(coalesce(sum(output), 0) as bigint), cast(sum(cost) as bigint),
         min(case when cost is not null then currency end), max(case when cost is not null then currency end),
         cast(coalesce(max(estimated), 0) as bigint)"
    };
}

impl Usage<'_> {
    /// All usage, by Pod, model and day.
    pub async fn rows(self) -> Result<UsageRows, StoreError> {
        // A Pod has at most one parent.
        let pods = concat!(
            "select pods.key, pods.worker_id, pods.name, max(children.parent), ",
            sums!(),
            " from pods
             left join children on children.child = pods.key
             left join usage on usage.pod = pods.key
             group by pods.key order by pods.key"
        );
        let gone = concat!("select -pod, ", sums!(), " from usage where pod < 0 group by pod order by pod desc");
        let days = concat!("select day, ", sums!(), " from usage group by day order by day");
        let models = concat!(
            "select provider, model, ",
            sums!(),
            " from usage group by provider, model order by provider, model"
        );
        let links = concat!(
            "select low, high, cast(sum(runs) as bigint), ",
            sums!(),
            " from usage_links group by low, high order by sum(runs) desc, low, high"
        );
        Ok(UsageRows {
            pods: self.all(pods, pod).await?,
            gone: self.all(gone, below).await?,
            days: self.all(days, day).await?,
            models: self.all(models, model).await?,
            links: self.all(links, link).await?,
        })
    }

    async fn all<T: Columns, R>(
        self,
        text: &'static str,
        read: impl FnMut(T) -> Result<R, StoreError>,
    ) -> Result<Vec<R>, StoreError> {
        self.0.reader.select(text).all("read what was used", read).await
    }

    /// What a Pod and its descendants, deleted ones included, have used in total or on a day (`YYYY-MM-DD`, UTC), per
    /// currency.
    pub async fn of_tree(self, root: PodKey, day: Option<&str>) -> Result<Vec<Tokens>, StoreError> {
        let text = concat!(
            "with recursive tree (pod) as (
                 select cast($1 as bigint) union select children.child from children join tree on children.parent = tree.pod)
             select ",
            sums!(),
            " from usage where pod in (select pod from tree union all select -pod from tree) and ($2 is null or day = $2)
             group by currency order by currency"
        );
        self.0.reader.select(text).bind(root.0).bind(day).all("sum what a tree used", |sums| tokens(&sums)).await
    }
}

/// Input, cached, written, output, cost; the first and the last currency; estimated.
type Sums = (i64, i64, i64, i64, Option<i64>, Option<String>, Option<String>, i64);

/// Key, worker id, name, parent; sums.
#[rustfmt::skip]
type PodColumns = (i64, String, String, Option<i64>, i64, i64, i64, i64, Option<i64>, Option<String>, Option<String>, i64);

fn pod(
    (key, worker_id, name, parent, a, b, c, d, cost, first, last, est): PodColumns,
) -> Result<PodTokens, StoreError> {
    Ok(PodTokens {
        key: PodKey(key),
        worker_id: WorkerId::parse(&worker_id).map_err(damaged("worker id"))?,
        name: PodName::parse(&name).map_err(damaged("Pod name"))?,
        parent: parent.map(PodKey),
        tokens: tokens(&(a, b, c, d, cost, first, last, est))?,
    })
}

/// The parent, then the sums.
type BelowColumns = (i64, i64, i64, i64, i64, Option<i64>, Option<String>, Option<String>, i64);

fn below((parent, a, b, c, d, cost, first, last, est): BelowColumns) -> Result<(PodKey, Tokens), StoreError> {
    Ok((PodKey(parent), tokens(&(a, b, c, d, cost, first, last, est))?))
}

/// The day, then the sums.
type DayColumns = (String, i64, i64, i64, i64, Option<i64>, Option<String>, Option<String>, i64);

fn day((day, a, b, c, d, cost, first, last, est): DayColumns) -> Result<DayTokens, StoreError> {
    Ok(DayTokens { day, tokens: tokens(&(a, b, c, d, cost, first, last, est))? })
}

/// Provider, model; sums.
type ModelColumns = (String, String, i64, i64, i64, i64, Option<i64>, Option<String>, Option<String>, i64);

fn model((provider, model, a, b, c, d, cost, first, last, est): ModelColumns) -> Result<ModelTokens, StoreError> {
    Ok(ModelTokens { provider, model, tokens: tokens(&(a, b, c, d, cost, first, last, est))? })
}

/// Both keys, runs; sums.
type LinkColumns = (i64, i64, i64, i64, i64, i64, i64, Option<i64>, Option<String>, Option<String>, i64);

fn link((low, high, runs, a, b, c, d, cost, first, last, est): LinkColumns) -> Result<LinkTokens, StoreError> {
    let tokens = tokens(&(a, b, c, d, cost, first, last, est))?;
    Ok(LinkTokens { low: PodKey(low), high: PodKey(high), runs: count(runs), tokens })
}

/// If there are several currencies, there is no sum of the cost.
fn tokens((input, cached, written, output, cost, first, last, estimated): &Sums) -> Result<Tokens, StoreError> {
    let [input, cached, written, output] = [*input, *cached, *written, *output].map(count);
    let currency = match first {
        Some(currency) if first == last => currency.parse().map_err(damaged("currency"))?,
        Some(_) => Currency::SEVERAL,
        None => Currency::USD,
    };
    let cost = cost.filter(|_| currency != Currency::SEVERAL).map(|units| Cost::from_units(count(units)));
    Ok(Tokens { input, cached, written, output, cost, currency: currency.told(), estimated: *estimated > 0 })
}

fn count(column: i64) -> u64 {
    u64::try_from(column).unwrap_or_default()
}
