//! The rows of the tables: whose tokens, how many, which share. Pure.

use protocol::{UsageDay, UsageReport};

use crate::{
    components::abroad::named_from_here,
    console::{exchange_href, pod_href},
    format::counted,
    usage::charts::{Share, share_of, tokens},
};

/// One row. Server and browser draw the same from it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Line {
    pub(crate) name: String,
    /// Where the name links to; `None` for a day or a model.
    pub(crate) href: Option<String>,
    /// A note beside the name; may be empty.
    pub(crate) note: String,
    pub(crate) usage: UsageDay,
    /// The share of all tokens in the report.
    pub(crate) share: Share,
}

/// Pods with any usage, most tokens first.
pub(crate) fn of_pods(report: &UsageReport) -> Vec<Line> {
    let line = |pod: &protocol::UsageOfPod| {
        line(report, named_from_here(&pod.name, &pod.pod), Some(pod_href(&pod.pod)), String::new(), &pod.usage)
    };
    sorted(report.pods.iter().map(line))
}

/// Models, most tokens first.
pub(crate) fn of_models(report: &UsageReport) -> Vec<Line> {
    let line = |model: &protocol::UsageOfModel| {
        let (name, note) = match model.model.as_str() {
            "" => ("not known".to_owned(), "of Pods deleted before models were counted".to_owned()),
            name => (name.to_owned(), model.provider.clone()),
        };
        line(report, name, None, note, &model.usage)
    };
    sorted(report.models.iter().map(line))
}

/// Trees of Pods, each in total, most tokens first.
pub(crate) fn of_trees(report: &UsageReport) -> Vec<Line> {
    let line = |tree: &protocol::UsageOfTree| {
        let note = format!("with {} below", tree.count.saturating_sub(1));
        line(report, named_from_here(&tree.name, &tree.root), Some(pod_href(&tree.root)), note, &tree.usage)
    };
    sorted(report.trees.iter().map(line))
}

/// Pairs of peers with the usage that their messages have caused, most tokens first. Each links to their messages.
pub(crate) fn of_links(report: &UsageReport) -> Vec<Line> {
    let line = |link: &protocol::UsageOfLink| {
        let (a, b) = (named_from_here(&link.a_name, &link.a), named_from_here(&link.b_name, &link.b));
        let name = format!("{a} and {b}");
        line(report, name, Some(exchange_href(&link.a, &link.b)), counted(link.runs, "run"), &link.usage)
    };
    sorted(report.links.iter().map(line))
}

/// Days, newest first.
pub(crate) fn of_days(report: &UsageReport) -> Vec<Line> {
    let name = |day: &UsageDay| day.day.clone().unwrap_or_default();
    report.days.iter().rev().map(|day| line(report, name(day), None, String::new(), day)).collect()
}

fn line(report: &UsageReport, name: String, href: Option<String>, note: String, usage: &UsageDay) -> Line {
    let share = share_of(tokens(usage), tokens(&report.total));
    Line { name, href, note, usage: usage.clone(), share }
}

fn sorted(lines: impl Iterator<Item = Line>) -> Vec<Line> {
    let mut lines: Vec<Line> = lines.filter(|line| tokens(&line.usage) > 0).collect();
    lines.sort_by(|a, b| tokens(&b.usage).cmp(&tokens(&a.usage)).then_with(|| a.name.cmp(&b.name)));
    lines
}

#[cfg(test)]
mod tests {
    use commands::samples::pod;
    use protocol::{PodState, UsageOfLink, UsageOfModel, UsageOfPod, UsageOfTree};

    use super::*;

    fn usage(input: u64) -> UsageDay {
        UsageDay { input, ..UsageDay::default() }
    }

    fn of_pod(name: &str, input: u64) -> UsageOfPod {
        let pod = pod(name, PodState::Idle);
        UsageOfPod { pod: pod.pod, name: pod.name, usage: usage(input) }
    }

    fn of_model(model: &str, input: u64) -> UsageOfModel {
        let provider = if model.is_empty() { "" } else { "openai" };
        UsageOfModel { provider: provider.to_owned(), model: model.to_owned(), usage: usage(input) }
    }

    #[test]
    fn models_are_named_with_their_provider_and_those_of_deleted_pods_are_told_as_such() {
        let lines = of_models(&report());
        let seen: Vec<_> = lines.iter().map(|line| (line.name.as_str(), line.note.as_str())).collect();
        assert_eq!(seen, [("gpt-5.1", "openai"), ("not known", "of Pods deleted before models were counted")]);
    }

    fn report() -> UsageReport {
        let (ada, bob) = (pod("ada", PodState::Idle), pod("bob", PodState::Idle));
        UsageReport {
            total: usage(100),
            pods: vec![of_pod("ada", 25), of_pod("idle", 0), of_pod("bob", 50), of_pod("cat", 25)],
            days: vec![
                UsageDay { day: Some("2026-11-20".to_owned()), ..usage(40) },
                UsageDay { day: Some("2026-11-21".to_owned()), ..usage(60) },
            ],
            models: vec![of_model("gpt-5.1", 60), of_model("", 40)],
            trees: vec![UsageOfTree { root: ada.pod.clone(), name: ada.name.clone(), count: 3, usage: usage(75) }],
            links: vec![UsageOfLink {
                a: ada.pod,
                a_name: ada.name,
                b: bob.pod,
                b_name: bob.name,
                runs: 1,
                usage: usage(10),
            }],
            absent: Vec::new(),
        }
    }

    #[test]
    fn pods_are_sorted_by_what_they_used_and_idle_ones_left_out() {
        let lines = of_pods(&report());
        let seen: Vec<_> = lines.iter().map(|line| (line.name.as_str(), line.share.to_string())).collect();
        assert_eq!(seen, [("bob", "50.00%".into()), ("ada", "25.00%".into()), ("cat", "25.00%".into())]);
        assert_eq!(lines[0].href.as_deref(), Some("/pods/local/bob"));
    }

    #[test]
    fn a_tree_says_how_many_are_below_and_a_pair_leads_to_its_messages() {
        let tree = &of_trees(&report())[0];
        assert_eq!((tree.name.as_str(), tree.note.as_str()), ("ada", "with 2 below"));
        let link = &of_links(&report())[0];
        assert_eq!((link.name.as_str(), link.note.as_str()), ("ada and bob", "1 run"));
        assert_eq!(link.href.as_deref(), Some("/pods/local/ada/with/local/bob"));
    }

    #[test]
    fn the_newest_day_is_first() {
        let names: Vec<_> = of_days(&report()).into_iter().map(|line| line.name).collect();
        assert_eq!(names, ["2026-11-21", "2026-11-20"]);
    }
}
