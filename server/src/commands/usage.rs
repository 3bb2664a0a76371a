use anyhow::Result;
use protocol::{UsageDay, UsageReport};
use protocol::{operation::Filled, operations};
use transcript::words::{ESTIMATED, about_cost};

use super::{Caller, name_of, note_absent};
use crate::output;

/// The most days that are printed, the newest ones.
const DAYS_SHOWN: usize = 14;

/// Prints token usage: in total, per Pod, per day, per tree, per pair.
pub(super) async fn usage(caller: &Caller) -> Result<()> {
    let report = caller.client.read(&operations::Usage { runtime: Filled(None) }).await?;
    match caller.config.json {
        true => output::json(&report),
        false => {
            note_absent(&report.absent);
            output::table(&rows(&report))?;
            if report.total.estimated {
                output::note(ESTIMATED);
            }
            Ok(())
        }
    }
}

fn rows(report: &UsageReport) -> Vec<Vec<String>> {
    let mut rows = vec![["", "INPUT", "CACHED", "WRITTEN", "OUTPUT", "COST"].map(str::to_owned).to_vec()];
    rows.push(row("total".to_owned(), &report.total));
    let pods = report.pods.iter().map(|pod| row(name_of(&pod.name, &pod.pod), &pod.usage));
    add(&mut rows, "PODS", pods);
    let models = report.models.iter().map(|model| {
        let name = match model.model.as_str() {
            "" => "models of deleted Pods".to_owned(),
            name => format!("{}/{name}", model.provider),
        };
        row(name, &model.usage)
    });
    add(&mut rows, "MODELS", models);
    let trees = report.trees.iter().map(|tree| {
        row(format!("{} and {} below", name_of(&tree.name, &tree.root), tree.count.saturating_sub(1)), &tree.usage)
    });
    add(&mut rows, "TREES", trees);
    let pairs = report.links.iter().map(|link| {
        let (a, b) = (name_of(&link.a_name, &link.a), name_of(&link.b_name, &link.b));
        let runs = if link.runs == 1 { "run" } else { "runs" };
        row(format!("{a} and {b} ({} {runs})", link.runs), &link.usage)
    });
    add(&mut rows, "BEGUN BY MESSAGES", pairs);
    let days = report.days.iter().rev().take(DAYS_SHOWN);
    add(&mut rows, "DAYS (UTC)", days.map(|day| row(day.day.clone().unwrap_or_default(), day)));
    rows
}

/// Adds a section with its heading, unless it is empty.
fn add(rows: &mut Vec<Vec<String>>, heading: &str, part: impl Iterator<Item = Vec<String>>) {
    let mut part = part.peekable();
    if part.peek().is_some() {
        rows.push(Vec::new());
        rows.push(vec![heading.to_owned()]);
        rows.extend(part);
    }
}

fn row(name: String, usage: &UsageDay) -> Vec<String> {
    let mark = |count: u64| if usage.estimated && count > 0 { "~" } else { "" };
    let counts =
        [usage.input, usage.cached, usage.written, usage.output].map(|count| format!("{}{count}", mark(count)));
    let cost = about_cost(usage.cost, usage.currency, usage.estimated);
    [name].into_iter().chain(counts).chain([cost]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_without_anything_are_left_out_and_the_newest_day_comes_first() {
        let day = |day: &str, input| UsageDay {
            day: Some(day.to_owned()),
            input,
            cached: 1,
            output: 2,
            ..UsageDay::default()
        };
        let days = (1..=20).map(|number| day(&format!("2026-01-{number:02}"), number)).collect();
        let total = UsageDay { day: None, written: 3, cost: Some("0.25".parse().unwrap()), ..day("", 210) };
        let report = UsageReport {
            total,
            days,
            pods: Vec::new(),
            models: Vec::new(),
            trees: Vec::new(),
            links: Vec::new(),
            absent: Vec::new(),
        };
        let rows = rows(&report);
        assert_eq!(rows[1], ["total", "210", "1", "3", "2", "$0.25"]);
        assert_eq!((rows[2].len(), rows[3].as_slice()), (0, ["DAYS (UTC)".to_owned()].as_slice()));
        assert_eq!(rows[4], ["2026-01-20", "20", "1", "0", "2", "no price set"]);
        assert_eq!(rows.len(), 4 + DAYS_SHOWN);

        let mut estimated = report;
        estimated.total.estimated = true;
        let rows = super::rows(&estimated);
        assert_eq!(rows[1], ["total", "~210", "~1", "~3", "~2", "~$0.25"]);
        assert_eq!(rows[4][1], "20", "a day on which all was counted");
    }
}
