//! The list of Pods, grouped by what they need from you.

use protocol::{PodRef, PodState, PodSummary, RuntimeId, Timestamp};

use crate::{Sign, family::may_ask, lower};

/// The four groups, in the order of the list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Attention {
    /// An open approval, or a run that cannot continue without you.
    NeedsYou,
    Working,
    Idle,
    Stopped,
}

impl Attention {
    pub const ALL: [Self; 4] = [Self::NeedsYou, Self::Working, Self::Idle, Self::Stopped];

    pub fn of(pod: &PodSummary) -> Self {
        match pod.state {
            PodState::Waiting | PodState::Broken => Self::NeedsYou,
            _ if pod.needs_you => Self::NeedsYou,
            PodState::Running => Self::Working,
            PodState::Idle | PodState::Paused => Self::Idle,
            PodState::Stopped | PodState::Unreachable => Self::Stopped,
        }
    }

    pub fn title(self) -> &'static str {
        match self {
            Self::NeedsYou => "Needs you",
            Self::Working => "Working",
            Self::Idle => "Idle",
            Self::Stopped => "Stopped",
        }
    }
}

/// What a table is sorted by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum SortBy {
    #[default]
    Attention,
    Name,
    Tokens,
    Updated,
}

/// Whether every word of the filter occurs in the Pod's name, runtime (`@box`), state, activity, model or folder.
pub fn matches(pod: &PodSummary, filter: &str) -> bool {
    let activity = pod.activity.as_deref().unwrap_or_default();
    let name = format!("{}@{}", pod.name, pod.pod.runtime_id);
    let text =
        [&name, Sign::of(pod).word(), pod.state.as_str(), activity, &pod.provider, &pod.model, &pod.cwd].join("\n");
    let text = lower(&text);
    lower(filter).split_whitespace().all(|word| text.contains(word))
}

/// The Pods that match the filter, in this order. Deterministic: ties are broken by name.
pub fn sorted(pods: &[PodSummary], filter: &str, by: SortBy) -> Vec<PodSummary> {
    let mut fitting: Vec<PodSummary> = pods.iter().filter(|pod| matches(pod, filter)).cloned().collect();
    fitting.sort_by(|a, b| {
        let first = match by {
            SortBy::Name => std::cmp::Ordering::Equal,
            SortBy::Attention => Attention::of(a).cmp(&Attention::of(b)),
            SortBy::Tokens => total_tokens(b).cmp(&total_tokens(a)),
            SortBy::Updated => b.updated_at.cmp(&a.updated_at),
        };
        let by_name = || lower(a.name.as_str()).cmp(&lower(b.name.as_str()));
        // Of two with the same name, the one on this server comes first.
        let is_abroad = |pod: &PodSummary| pod.pod.runtime_id != RuntimeId::local();
        first.then_with(by_name).then_with(|| (is_abroad(a), &a.pod).cmp(&(is_abroad(b), &b.pod)))
    });
    fitting
}

/// The Pods by their group. Of those that need you, the one that has waited longest is first; `since` tells from when
/// on. The others, and those that have waited equally long, are in the order of their names.
pub fn by_need(pods: &[PodSummary], since: impl Fn(&PodSummary) -> Timestamp) -> Vec<PodSummary> {
    let mut sorted = sorted(pods, "", SortBy::Attention);
    // Stable, so that names still break ties.
    sorted.sort_by_cached_key(|pod| {
        let attention = Attention::of(pod);
        (attention, (attention == Attention::NeedsYou).then(|| since(pod)))
    });
    sorted
}

/// Input and output tokens since the Pod was made.
pub fn total_tokens(pod: &PodSummary) -> u64 {
    pod.usage.input + pod.usage.output
}

/// The Pods that match the filter, by group; empty groups are left out. `requested` are those with a peer request that
/// you answer: they need you, whatever they do.
pub fn grouped(pods: &[PodSummary], filter: &str, requested: &[PodRef]) -> Vec<(Attention, Vec<PodSummary>)> {
    let sorted = sorted(pods, filter, SortBy::Attention);
    let group_of = |pod: &PodSummary| match requested.contains(&pod.pod) {
        true => Attention::NeedsYou,
        false => Attention::of(pod),
    };
    Attention::ALL
        .into_iter()
        .map(|attention| {
            (attention, sorted.iter().filter(|pod| group_of(pod) == attention).cloned().collect::<Vec<_>>())
        })
        .filter(|(_, pods)| !pods.is_empty())
        .collect()
}

/// Whether it cannot continue without you, though it asks nothing: its run failed, a crash interrupted it, or it is
/// broken.
pub fn is_stuck(pod: &PodSummary) -> bool {
    let is_interrupted = pod.state == PodState::Paused && pod.needs_you && pod.state_reason.is_some();
    is_interrupted || matches!(Sign::of(pod), Sign::Failed | Sign::Of(PodState::Broken))
}

/// How many things need you, the same number wherever it is shown: open approvals, open peer requests, and Pods that
/// are stuck. While the approvals are not known (`None`), each Pod that may have one counts as one.
pub fn needing(pods: &[PodSummary], approvals: Option<usize>, requests: usize) -> usize {
    let stuck = pods.iter().filter(|pod| is_stuck(pod)).count();
    let asking = || pods.iter().filter(|pod| may_ask(pod) && !is_stuck(pod)).count();
    stuck + requests + approvals.unwrap_or_else(asking)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples::pod;

    fn names(pods: &[PodSummary]) -> Vec<&str> {
        pods.iter().map(|pod| pod.name.as_str()).collect()
    }

    #[test]
    fn a_question_or_a_failure_needs_you_whatever_the_state() {
        let failed = PodSummary { needs_you: true, ..pod("failed", PodState::Idle) };
        let pods = [
            pod("idle", PodState::Idle),
            failed,
            pod("asks", PodState::Waiting),
            pod("gone", PodState::Unreachable),
            pod("works", PodState::Running),
            pod("held", PodState::Paused),
        ];
        let groups = grouped(&pods, "", &[]);
        let seen: Vec<_> = groups.iter().map(|(group, pods)| (group.title(), names(pods))).collect();
        assert_eq!(
            seen,
            [
                ("Needs you", vec!["asks", "failed"]),
                ("Working", vec!["works"]),
                ("Idle", vec!["held", "idle"]),
                ("Stopped", vec!["gone"])
            ]
        );
        assert_eq!(needing(&pods, None, 0), 2);
    }

    #[test]
    fn a_pod_with_a_peer_request_needs_you_whatever_it_does() {
        let pods = [pod("ada", PodState::Stopped), pod("bob", PodState::Running)];
        let requested = [pods[0].pod.clone()];
        let groups = grouped(&pods, "", &requested);
        let seen: Vec<_> = groups.iter().map(|(group, pods)| (*group, names(pods))).collect();
        assert_eq!(seen, [(Attention::NeedsYou, vec!["ada"]), (Attention::Working, vec!["bob"])]);
    }

    #[test]
    fn what_needs_you_is_counted_once_each() {
        let needs_you = |name: &str, state, reason: Option<&str>| PodSummary {
            needs_you: true,
            state_reason: reason.map(str::to_owned),
            ..pod(name, state)
        };
        let pods = [
            needs_you("asks", PodState::Waiting, None),
            needs_you("asks-and-is-held", PodState::Paused, None),
            needs_you("failed", PodState::Idle, None),
            needs_you("interrupted", PodState::Paused, Some("interrupted when yoi stopped")),
            needs_you("broken", PodState::Broken, Some("its state cannot be read")),
            pod("held", PodState::Paused),
            pod("works", PodState::Running),
        ];
        assert_eq!(needing(&pods, None, 0), 5, "until the approvals are known, a Pod that may ask counts as one");
        assert_eq!(needing(&pods, Some(3), 1), 7, "three approvals, a peer request, and three Pods that are stuck");
        let needing_pods = pods.iter().filter(|pod| Attention::of(pod) == Attention::NeedsYou).count();
        assert_eq!(needing_pods, 5, "the list has each of them");
    }

    #[test]
    fn a_run_is_stuck_when_it_failed_or_was_interrupted_and_not_when_you_paused_it_or_it_asks() {
        let needs_you = |state, reason: Option<&str>| {
            is_stuck(&PodSummary { needs_you: true, state_reason: reason.map(str::to_owned), ..pod("a", state) })
        };
        assert!(needs_you(PodState::Idle, None) && needs_you(PodState::Paused, Some("interrupted when yoi stopped")));
        assert!(!needs_you(PodState::Paused, None) && !needs_you(PodState::Waiting, None));
        assert!(!is_stuck(&pod("a", PodState::Paused)) && !is_stuck(&pod("a", PodState::Idle)));
    }

    #[test]
    fn by_need_the_longest_wait_is_first_and_the_rest_is_by_group_and_name() {
        let mut pods = [
            pod("off", PodState::Stopped),
            pod("idle", PodState::Idle),
            pod("b", PodState::Running),
            pod("a", PodState::Running),
            pod("late", PodState::Waiting),
            pod("early", PodState::Waiting),
        ];
        let failed = PodSummary { needs_you: true, ..pod("failed", PodState::Idle) };
        pods[1].updated_at = "1969-01-01T00:00:00Z".parse().unwrap();
        let pods = [&pods[..], &[failed]].concat();
        let since = |pod: &PodSummary| {
            let second = if pod.name.as_str() == "late" { 9 } else { 5 };
            Timestamp::from_second(second).unwrap()
        };
        assert_eq!(names(&by_need(&pods, since)), ["early", "failed", "late", "a", "b", "idle", "off"]);
    }

    #[test]
    fn every_word_of_a_filter_has_to_fit() {
        let pods = [pod("ada", PodState::Idle), pod("bob", PodState::Running)];
        assert_eq!(names(&sorted(&pods, "RUNNING rehearsal", SortBy::Name)), ["bob"]);
        assert_eq!(names(&sorted(&pods, "ada running", SortBy::Name)), Vec::<&str>::new());
        assert_eq!(names(&sorted(&pods, "  ", SortBy::Name)), ["ada", "bob"]);
    }

    #[test]
    fn of_two_of_one_name_the_one_that_lives_here_is_first() {
        let mut far = pod("ada", PodState::Idle);
        far.pod.runtime_id = RuntimeId::parse("box").unwrap();
        let sorted = sorted(&[far, pod("ada", PodState::Idle)], "", SortBy::Name);
        let homes: Vec<_> = sorted.iter().map(|pod| pod.pod.runtime_id.as_str()).collect();
        assert_eq!(homes, ["local", "box"]);
        let found = |filter: &str| sorted.iter().filter(|pod| matches(pod, filter)).count();
        assert_eq!((found("ada"), found("ada@box"), found("@local")), (2, 1, 1));
    }

    #[test]
    fn tokens_and_time_sort_the_largest_first_and_names_break_ties() {
        let mut pods = [pod("b", PodState::Idle), pod("a", PodState::Idle), pod("c", PodState::Idle)];
        pods[2].usage.output = 9;
        pods[0].updated_at = "2026-01-01T00:00:00Z".parse().unwrap();
        assert_eq!(names(&sorted(&pods, "", SortBy::Tokens)), ["c", "a", "b"]);
        assert_eq!(names(&sorted(&pods, "", SortBy::Updated)), ["b", "a", "c"]);
    }
}
