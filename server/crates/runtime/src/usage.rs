//! Usage: in total, per Pod, per day, per tree, per pair.

use std::collections::{BTreeMap, BTreeSet};

use pod_store::{LinkTokens, ModelTokens, PodKey, PodTokens, Tokens, UsageRows};
use protocol::{PodRef, RuntimeId, UsageDay, UsageOfLink, UsageOfModel, UsageOfPod, UsageOfTree, UsageReport};

/// The most Pods, trees and pairs that are listed, those with most tokens; the total counts all.
pub const USAGE_LISTED_MAX: usize = 1_000;
/// The most days that are listed, the newest ones.
pub const USAGE_DAYS_MAX: usize = 400;

/// The report for these rows.
pub(crate) fn report(rows: &UsageRows) -> UsageReport {
    let mut total = Tokens::default();
    rows.days.iter().for_each(|day| total.add(&day.tokens));
    let pods: BTreeMap<PodKey, &PodTokens> = rows.pods.iter().map(|pod| (pod.key, pod)).collect();
    let first_day = rows.days.len().saturating_sub(USAGE_DAYS_MAX);
    UsageReport {
        total: day(&total),
        pods: of_pods(&rows.pods),
        days: rows.days[first_day..]
            .iter()
            .map(|one| UsageDay { day: Some(one.day.clone()), ..day(&one.tokens) })
            .collect(),
        models: of_models(&rows.models),
        trees: of_trees(rows),
        links: of_links(&rows.links, &pods),
        absent: Vec::new(),
    }
}

/// The Pods that have used something.
fn of_pods(pods: &[PodTokens]) -> Vec<UsageOfPod> {
    let used = pods.iter().filter(|pod| pod.tokens != Tokens::default());
    let listed = used.map(|pod| UsageOfPod { pod: pod_ref(pod), name: pod.name.clone(), usage: day(&pod.tokens) });
    most_first(listed.collect(), |listed| &listed.usage)
}

/// Each Pod that has or had children, together with all its descendants.
fn of_trees(UsageRows { pods, gone, .. }: &UsageRows) -> Vec<UsageOfTree> {
    let gone: BTreeMap<PodKey, &Tokens> = gone.iter().map(|(key, tokens)| (*key, tokens)).collect();
    let mut below: BTreeMap<PodKey, Vec<&PodTokens>> = BTreeMap::new();
    for pod in pods {
        if let Some(parent) = pod.parent {
            below.entry(parent).or_default().push(pod);
        }
    }
    let tree = |root: &PodTokens| {
        let (mut seen, mut open, mut tokens) = (BTreeSet::from([root.key]), vec![root], Tokens::default());
        while let Some(pod) = open.pop() {
            tokens.add(&pod.tokens);
            gone.get(&pod.key).into_iter().for_each(|gone| tokens.add(gone));
            let children = below.get(&pod.key).into_iter().flatten().copied();
            open.extend(children.filter(|child| seen.insert(child.key)));
        }
        let count = seen.len().try_into().unwrap_or(u32::MAX);
        UsageOfTree { root: pod_ref(root), name: root.name.clone(), count, usage: day(&tokens) }
    };
    let trees = pods.iter().filter(|pod| below.contains_key(&pod.key) || gone.contains_key(&pod.key)).map(tree);
    most_first(trees.collect(), |tree| &tree.usage)
}

fn of_models(models: &[ModelTokens]) -> Vec<UsageOfModel> {
    let listed = models.iter().map(|one| UsageOfModel {
        provider: one.provider.clone(),
        model: one.model.clone(),
        usage: day(&one.tokens),
    });
    most_first(listed.collect(), |listed| &listed.usage)
}

fn of_links(links: &[LinkTokens], pods: &BTreeMap<PodKey, &PodTokens>) -> Vec<UsageOfLink> {
    let link = |link: &LinkTokens| {
        // A pair is deleted with either of its Pods; one whose Pod was deleted while this was read is left out.
        let (a, b) = (pods.get(&link.low)?, pods.get(&link.high)?);
        Some(UsageOfLink {
            a: pod_ref(a),
            a_name: a.name.clone(),
            b: pod_ref(b),
            b_name: b.name.clone(),
            runs: link.runs,
            usage: day(&link.tokens),
        })
    };
    most_first(links.iter().filter_map(link).collect(), |link| &link.usage)
}

fn most_first<T>(mut listed: Vec<T>, usage: impl Fn(&T) -> &UsageDay) -> Vec<T> {
    listed.sort_by_key(|one| std::cmp::Reverse(usage(one).input + usage(one).output));
    listed.truncate(USAGE_LISTED_MAX);
    listed
}

fn pod_ref(pod: &PodTokens) -> PodRef {
    PodRef::new(RuntimeId::local(), pod.worker_id.clone())
}

fn day(tokens: &Tokens) -> UsageDay {
    let Tokens { input, cached, written, output, cost, currency, estimated } = *tokens;
    UsageDay { day: None, input, cached, written, output, cost, currency, estimated }
}

#[cfg(test)]
mod tests {
    use pod_store::DayTokens;
    use protocol::{PodName, WorkerId};

    use super::*;

    fn pod(key: i64, parent: Option<i64>, input: u64) -> PodTokens {
        PodTokens {
            key: PodKey(key),
            worker_id: WorkerId::parse(&format!("id-{key}")).unwrap(),
            name: PodName::parse(&format!("pod-{key}")).unwrap(),
            parent: parent.map(PodKey),
            tokens: Tokens { input, ..Tokens::default() },
        }
    }

    #[test]
    fn a_tree_is_a_pod_with_children_and_everything_below_it() {
        let pods =
            vec![pod(1, None, 1), pod(2, Some(1), 10), pod(3, Some(2), 100), pod(4, Some(1), 1_000), pod(5, None, 7)];
        let report = report(&UsageRows { pods, ..UsageRows::default() });
        let trees: Vec<_> =
            report.trees.iter().map(|tree| (tree.name.as_str(), tree.count, tree.usage.input)).collect();
        assert_eq!(trees, [("pod-1", 4, 1_111), ("pod-2", 2, 110)]);
        let pods: Vec<_> = report.pods.iter().map(|pod| pod.name.as_str()).collect();
        assert_eq!(pods, ["pod-4", "pod-3", "pod-2", "pod-5", "pod-1"]);
    }

    #[test]
    fn what_deleted_children_used_counts_in_their_parents_tree() {
        let gone = Tokens { input: 50, ..Tokens::default() };
        let pods = vec![pod(1, None, 1), pod(2, Some(1), 10), pod(3, None, 7)];
        let report = report(&UsageRows { pods, gone: vec![(PodKey(2), gone)], ..UsageRows::default() });
        let trees: Vec<_> =
            report.trees.iter().map(|tree| (tree.name.as_str(), tree.count, tree.usage.input)).collect();
        assert_eq!(trees, [("pod-1", 2, 61), ("pod-2", 1, 60)]);
    }

    #[test]
    fn a_cycle_of_parents_ends() {
        let report = report(&UsageRows { pods: vec![pod(1, Some(2), 1), pod(2, Some(1), 2)], ..UsageRows::default() });
        assert_eq!(
            report.trees.iter().map(|tree| (tree.count, tree.usage.input)).collect::<Vec<_>>(),
            [(2, 3), (2, 3)]
        );
    }

    #[test]
    fn lists_are_bounded_and_the_total_counts_all() {
        let days = (0..500).map(|number| DayTokens {
            day: format!("2026-{number:03}"),
            tokens: Tokens { output: 2, ..Tokens::default() },
        });
        let pods = (1..=1_500).map(|key| pod(key, None, 1)).collect();
        let report = report(&UsageRows { pods, days: days.collect(), ..UsageRows::default() });
        assert_eq!((report.total.output, report.days.len(), report.pods.len()), (1_000, 400, 1_000));
        assert_eq!(report.days[399].day.as_deref(), Some("2026-499"));
    }

    #[test]
    fn a_pair_of_which_one_is_gone_is_left_out() {
        let link = |low, high| LinkTokens { low: PodKey(low), high: PodKey(high), runs: 2, tokens: Tokens::default() };
        let rows = UsageRows {
            pods: vec![pod(1, None, 0), pod(2, None, 0)],
            links: vec![link(1, 2), link(1, 9)],
            ..UsageRows::default()
        };
        let report = report(&rows);
        assert_eq!((report.links.len(), report.links[0].b_name.as_str(), report.links[0].runs), (1, "pod-2", 2));
        assert!(report.pods.is_empty(), "they have used nothing");
    }
}
