//! Usage summed over several runtimes. Pure.

use std::collections::BTreeMap;

use protocol::{RuntimeId, UsageDay, UsageOfModel, UsageReport};
use runtime::{USAGE_DAYS_MAX, USAGE_LISTED_MAX};

/// Adds up reports. Pods, trees and pairs are concatenated; days, models and the total are summed.
#[derive(Debug, Default)]
pub(crate) struct Sum {
    total: UsageDay,
    days: BTreeMap<Option<String>, UsageDay>,
    /// By provider and model.
    models: BTreeMap<(String, String), UsageDay>,
    parts: Vec<UsageReport>,
    absent: Vec<RuntimeId>,
}

impl Sum {
    /// Adds a report; `None` stands for a runtime that did not answer.
    pub(crate) fn add(&mut self, id: RuntimeId, report: Option<UsageReport>) {
        let Some(mut report) = report else { return self.absent.push(id) };
        self.total.add(&report.total);
        for day in std::mem::take(&mut report.days) {
            self.days.entry(day.day.clone()).or_default().add(&day);
        }
        for model in std::mem::take(&mut report.models) {
            self.models.entry((model.provider, model.model)).or_default().add(&model.usage);
        }
        self.parts.push(report);
    }

    pub(crate) fn report(self) -> UsageReport {
        let Self { total, days, models, parts, absent } = self;
        let (mut pods, mut trees, mut links) = (Vec::new(), Vec::new(), Vec::new());
        for part in parts {
            pods.extend(part.pods);
            trees.extend(part.trees);
            links.extend(part.links);
        }
        let first_day = days.len().saturating_sub(USAGE_DAYS_MAX);
        let days = days.into_iter().skip(first_day).map(|(day, usage)| UsageDay { day, ..usage });
        let models = models.into_iter().map(|((provider, model), usage)| UsageOfModel { provider, model, usage });
        UsageReport {
            total,
            days: days.collect(),
            models: most_first(models.collect(), |model| &model.usage),
            pods: most_first(pods, |pod| &pod.usage),
            trees: most_first(trees, |tree| &tree.usage),
            links: most_first(links, |link| &link.usage),
            absent,
        }
    }
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

    fn usage(day: Option<&str>, input: u64, cost: Option<&str>) -> UsageDay {
        let cost = cost.map(|cost| cost.parse().unwrap());
        UsageDay { day: day.map(str::to_owned), input, cached: 1, output: 2, cost, ..UsageDay::default() }
    }

    fn report(runtime: &str, input: u64, cost: Option<&str>, days: &[&str]) -> UsageReport {
        let pod = UsageOfPod {
            pod: format!("{runtime}/w").parse().unwrap(),
            name: "ada".parse().unwrap(),
            usage: usage(None, input, cost),
        };
        UsageReport {
            total: usage(None, input, cost),
            pods: vec![pod],
            days: days.iter().map(|day| usage(Some(day), input, cost)).collect(),
            models: vec![UsageOfModel {
                provider: "p".to_owned(),
                model: "m".to_owned(),
                usage: usage(None, input, cost),
            }],
            trees: Vec::new(),
            links: Vec::new(),
            absent: Vec::new(),
        }
    }

    #[test]
    fn days_and_totals_are_summed_pods_are_listed_side_by_side_and_absent_runtimes_are_named() {
        let mut sum = Sum::default();
        sum.add(RuntimeId::local(), Some(report("local", 10, None, &["2026-01-02", "2026-01-03"])));
        sum.add("box".parse().unwrap(), Some(report("box", 30, Some("0.5"), &["2026-01-01", "2026-01-03"])));
        sum.add("away".parse().unwrap(), None);
        let report = sum.report();
        assert_eq!((report.total.input, report.total.output, report.total.cost), (40, 4, Some("0.5".parse().unwrap())));
        let models: Vec<_> = report.models.iter().map(|model| (model.model.as_str(), model.usage.input)).collect();
        assert_eq!(models, [("m", 40)]);
        let days: Vec<_> = report.days.iter().map(|day| (day.day.as_deref().unwrap(), day.input)).collect();
        assert_eq!(days, [("2026-01-01", 30), ("2026-01-02", 10), ("2026-01-03", 40)]);
        let pods: Vec<_> = report.pods.iter().map(|pod| pod.pod.to_string()).collect();
        assert_eq!(pods, ["box/w", "local/w"]);
        assert_eq!(report.absent, ["away".parse().unwrap()]);
    }
}
