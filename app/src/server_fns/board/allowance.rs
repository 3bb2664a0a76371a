//! What the budgets of Pods allow today, pure.

use jiff::{Timestamp, tz::TimeZone};
use protocol::{BudgetPer, Cost, Currency, PodRef, PodSummary, UsageDay};

use super::reader::{Done, sum};

/// The budgets by day of all Pods together. A child spends its parent's, so a budget below another one adds nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Allowance {
    pub(super) cost: Cost,
    pub(super) currency: Option<Currency>,
    /// What was spent of it.
    pub(super) spent: Cost,
    /// Whether everything that was spent today counts for it.
    pub(super) is_of_all: bool,
}

impl Allowance {
    /// `None` if no Pod has a budget by day in the currency that was spent, or what was used has no price.
    pub(super) fn of(done: &[Done], today: &UsageDay) -> Option<Self> {
        if today.cost.is_none() && today.input + today.output > 0 {
            return None;
        }
        let currency = today.currency.unwrap_or_default();
        let allowed = |pod: &PodSummary| {
            let budget = pod.budget.filter(|budget| budget.per == BudgetPer::Day)?;
            budget.cost.filter(|_| budget.currency.unwrap_or_default() == currency)
        };
        // The topmost budget above a Pod, or its own.
        let payer = |pod: &PodSummary| {
            let (mut at, mut found) = (Some(pod), None);
            for _ in 0..=done.len() {
                let Some(pod) = at else { break };
                found = allowed(pod).map(|_| pod.pod.clone()).or(found);
                at = pod.relations.parent.as_ref().and_then(|parent| summary(done, parent));
            }
            found
        };
        let cost = done.iter().filter(|one| payer(&one.pod).as_ref() == Some(&one.pod.pod));
        let cost: Cost = cost.filter_map(|one| allowed(&one.pod)).sum();
        let (paid, unpaid): (Vec<_>, Vec<_>) = done.iter().partition(|one| payer(&one.pod).is_some());
        let of = |pods: &[&Done]| sum(pods.iter().map(|one| &one.today)).cost.unwrap_or_default();
        let is_of_all = unpaid.iter().all(|one| one.today.input + one.today.output == 0);
        let spent = if is_of_all { today.cost.unwrap_or_default() } else { of(&paid) };
        (cost > Cost::default()).then_some(Self { cost, currency: currency.told(), spent, is_of_all })
    }
}

fn summary<'a>(done: &'a [Done], pod: &PodRef) -> Option<&'a PodSummary> {
    done.iter().map(|done| &done.pod).find(|known| known.pod == *pod)
}

/// When daily budgets start over, which is midnight UTC: `midnight`, `1:00`.
pub(super) fn reset_words(now: Timestamp, zone: &TimeZone) -> String {
    let day = now.to_zoned(TimeZone::UTC).tomorrow().and_then(|day| day.start_of_day());
    let at = day.map_or(now, |day| day.timestamp()).to_zoned(zone.clone());
    match at.time() == jiff::civil::Time::midnight() {
        true => "midnight".to_owned(),
        false => at.strftime("%-H:%M").to_string(),
    }
}

#[cfg(test)]
mod tests {
    use commands::samples;
    use jiff::tz::Offset;
    use protocol::{Budget, PodState};

    use super::*;

    fn done(name: &str, parent: Option<&str>, budget: Option<&str>, cost: &str) -> Done {
        let mut pod = samples::pod(name, PodState::Idle);
        pod.relations.parent = parent.map(|parent| samples::pod(parent, PodState::Idle).pod);
        pod.budget = budget.and_then(|text| Budget::read(text).unwrap());
        let today = UsageDay { input: 1, cost: cost.parse().ok(), ..UsageDay::default() };
        Done { today, ..Done::nothing(pod) }
    }

    fn told(pods: &[Done]) -> Option<(String, String, bool)> {
        let today = sum(pods.iter().map(|one| &one.today));
        Allowance::of(pods, &today).map(|it| (it.cost.to_string(), it.spent.to_string(), it.is_of_all))
    }

    #[test]
    fn budgets_of_a_day_add_up_and_those_of_children_are_their_parents() {
        let lead = done("lead", None, Some("$5 a day"), "1");
        let child = done("child", Some("lead"), Some("$2 a day"), "0.5");
        let other = done("other", None, Some("$10 a day"), "2");
        assert_eq!(told(&[child.clone(), lead.clone(), other]), Some(("15".into(), "3.5".into(), true)));
        let free = done("free", None, None, "4");
        assert_eq!(told(&[lead.clone(), child, free]), Some(("5".into(), "1.5".into(), false)));
        for budget in ["$5", "5 EUR a day", "500 tokens a day"] {
            assert_eq!(told(&[done("ada", None, Some(budget), "1")]), None, "{budget}");
        }
        let mut round = lead;
        round.pod.relations.parent = Some(round.pod.pod.clone());
        assert_eq!(told(&[round]), Some(("5".into(), "1".into(), true)), "what cannot be ends all the same");
    }

    #[test]
    fn budgets_begin_anew_at_midnight_in_utc() {
        let now = "2026-11-26T09:00:00Z".parse().unwrap();
        assert_eq!(reset_words(now, &TimeZone::UTC), "midnight");
        assert_eq!(reset_words(now, &TimeZone::fixed(Offset::constant(1))), "1:00");
    }
}
