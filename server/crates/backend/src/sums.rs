//! What was used over several runtimes. Pure.

use std::collections::BTreeMap;

use protocol::{RuntimeId, UsageDay, UsageReport};
use runtime::{USAGE_DAYS_MAX, USAGE_LISTED_MAX};

/// Adds up reports. Pods, trees and pairs stand beside each other, days and the total are summed.
#[derive(Debug, Default)]
pub(crate) struct Sum {
    total: UsageDay,
    days: BTreeMap<Option<String>, UsageDay>,
    parts: Vec<UsageReport>,
    absent: Vec<RuntimeId>,
}

impl Sum {
    /// None is a runtime that did not answer.
    pub(crate) fn add(&mut self, id: RuntimeId, report: Option<UsageReport>) {
        let Some(mut report) = report else { return self.absent.push(id) };
        add(&mut self.total, &report.total);
        for day in std::mem::take(&mut report.days) {
            add(self.days.entry(day.day.clone()).or_default(), &day);
        }
        self.parts.push(report);
    }

    pub(crate) fn report(self) -> UsageReport {
        let Self { total, days, parts, absent } = self;
        let (mut pods, mut trees, mut links) = (Vec::new(), Vec::new(), Vec::new());
        for part in parts {
            pods.extend(part.pods);
            trees.extend(part.trees);
            links.extend(part.links);
        }
        let first_day = days.len().saturating_sub(USAGE_DAYS_MAX);
        let days = days.into_iter().skip(first_day).map(|(day, usage)| UsageDay { day, ..usage });
        UsageReport {
            total,
            days: days.collect(),
            pods: most_first(pods, |pod| &pod.usage),
            trees: most_first(trees, |tree| &tree.usage),
            links: most_first(links, |link| &link.usage),
            absent,
        }
    }
}

/// What nobody has priced has no cost, and what somebody has is not lost by it.
fn add(sum: &mut UsageDay, more: &UsageDay) {
    sum.input += more.input;
    sum.cached += more.cached;
    sum.output += more.output;
    sum.cost = match (sum.cost, more.cost) {
        (Some(one), Some(other)) => Some(one + other),
        (one, other) => one.or(other),
    };
}

fn most_first<T>(mut listed: Vec<T>, usage: impl Fn(&T) -> &UsageDay) -> Vec<T> {
    listed.sort_by_key(|one| std::cmp::Reverse(usage(one).input + usage(one).output));
    listed.truncate(USAGE_LISTED_MAX);
    listed
}

#[cfg(test)]
mod tests {
    use protocol::UsageOfPod;

    use super::*;

    fn usage(day: Option<&str>, input: u64, cost: Option<f64>) -> UsageDay {
        UsageDay { day: day.map(str::to_owned), input, cached: 1, output: 2, cost }
    }

    fn report(runtime: &str, input: u64, cost: Option<f64>, days: &[&str]) -> UsageReport {
        let pod = UsageOfPod {
            pod: format!("{runtime}/w").parse().unwrap(),
            name: "ada".parse().unwrap(),
            usage: usage(None, input, cost),
        };
        UsageReport {
            total: usage(None, input, cost),
            pods: vec![pod],
            days: days.iter().map(|day| usage(Some(day), input, cost)).collect(),
            trees: Vec::new(),
            links: Vec::new(),
            absent: Vec::new(),
        }
    }

    #[test]
    fn days_and_totals_are_summed_pods_stand_beside_each_other_and_who_is_away_is_named() {
        let mut sum = Sum::default();
        sum.add(RuntimeId::local(), Some(report("local", 10, None, &["2026-01-02", "2026-01-03"])));
        sum.add("box".parse().unwrap(), Some(report("box", 30, Some(0.5), &["2026-01-01", "2026-01-03"])));
        sum.add("away".parse().unwrap(), None);
        let report = sum.report();
        assert_eq!((report.total.input, report.total.output, report.total.cost), (40, 4, Some(0.5)));
        let days: Vec<_> = report.days.iter().map(|day| (day.day.as_deref().unwrap(), day.input)).collect();
        assert_eq!(days, [("2026-01-01", 30), ("2026-01-02", 10), ("2026-01-03", 40)]);
        let pods: Vec<_> = report.pods.iter().map(|pod| pod.pod.to_string()).collect();
        assert_eq!(pods, ["box/w", "local/w"]);
        assert_eq!(report.absent, ["away".parse().unwrap()]);
    }
}
