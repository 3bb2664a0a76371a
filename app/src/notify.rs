//! Browser notifications: which ones a change of the list of Pods calls for. Pure.

use protocol::{OpenRequest, PodRef, PodState, PodSummary};
use transcript::unseen;

/// What a notification is about. Each kind has a setting of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Approval,
    Asked,
    Finished,
    Failed,
}

impl Kind {
    pub(crate) const ALL: [Self; 4] = [Self::Approval, Self::Asked, Self::Finished, Self::Failed];

    /// The word under which the setting is stored.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Approval => "approval",
            Self::Asked => "asked",
            Self::Finished => "finished",
            Self::Failed => "failed",
        }
    }

    /// The label of its checkbox.
    pub(crate) fn title(self) -> &'static str {
        match self {
            Self::Approval => "A Pod asks for permission",
            Self::Asked => "A Pod asks to be a peer of another one",
            Self::Finished => "A Pod has finished its work",
            Self::Failed => "A run has failed, or a Pod is broken",
        }
    }
}

/// The length limit of a notification, in characters: an error may quote what a model or its server wrote, however
/// long.
const WORDS_CHARS_MAX: usize = 200;

/// A notification to show.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct News {
    pub(crate) kind: Kind,
    /// The Pod that caused it; clicking the notification leads there.
    pub(crate) pod: PodRef,
    pub(crate) words: String,
}

impl News {
    /// A newer notification for the same Pod and kind replaces the older one.
    pub(crate) fn tag(&self) -> String {
        format!("yoi {} {}", self.kind.word(), self.pod)
    }
}

/// What has happened between two lists. It compares the Pods' states, not the messages on the wire: a list sent again
/// after a lost connection reports nothing twice, and what happened meanwhile is reported once. `before` is `None`
/// for the first list of a page, all of which was there when the page was opened.
pub(crate) fn news(before: Option<&[PodSummary]>, now: &[PodSummary]) -> Vec<News> {
    let Some(before) = before else { return Vec::new() };
    let of = |pod: &PodSummary| {
        let known = before.iter().find(|known| known.pod == pod.pod);
        let (kind, said) = change(known, pod)?;
        Some(News { kind, pod: pod.pod.clone(), words: bounded(&format!("{} {said}", pod.name)) })
    };
    now.iter().filter_map(of).collect()
}

/// Sanitizes the text for a system notification: one line, no control characters, invisible characters made visible,
/// limited in length.
fn bounded(words: &str) -> String {
    let plain = |letter: char| if letter.is_control() { ' ' } else { letter };
    let shown = unseen::shown(words);
    let mut letters = shown.chars().map(plain);
    let mut bounded: String = letters.by_ref().take(WORDS_CHARS_MAX).collect();
    if letters.next().is_some() {
        bounded.push('…');
    }
    bounded
}

/// At most one change per Pod and step: the one that needs you most.
fn change(before: Option<&PodSummary>, now: &PodSummary) -> Option<(Kind, String)> {
    let was = |is: fn(&PodSummary) -> bool| before.is_some_and(is);
    if now.state == PodState::Waiting {
        return (!was(|pod| pod.state == PodState::Waiting))
            .then(|| (Kind::Approval, "asks for permission".to_owned()));
    }
    if has_failed(now) {
        let why = now.activity.as_deref().or(now.state_reason.as_deref());
        let words = why.map_or_else(|| "has failed".to_owned(), |why| format!("has failed: {why}"));
        return (!was(has_failed)).then_some((Kind::Failed, words));
    }
    let before = before?;
    // A run that began and ended while the page was disconnected left only its unread answer.
    let has_worked = is_working(before) || now.unread > before.unread;
    (now.state == PodState::Idle && has_worked).then(|| (Kind::Finished, "has finished".to_owned()))
}

fn is_working(pod: &PodSummary) -> bool {
    matches!(pod.state, PodState::Running | PodState::Waiting)
}

fn has_failed(pod: &PodSummary) -> bool {
    pod.state == PodState::Broken || (pod.needs_you && pod.state == PodState::Idle)
}

/// Peer requests that were not there before.
pub(crate) fn asked(before: Option<&[OpenRequest]>, now: &[OpenRequest]) -> Vec<News> {
    let Some(before) = before else { return Vec::new() };
    let is_new = |request: &&OpenRequest| before.iter().all(|known| known.request_id != request.request_id);
    let of = |request: &OpenRequest| News {
        kind: Kind::Asked,
        pod: request.to.clone(),
        words: format!("{} asks to be a peer of {}", request.from_name, request.to_name),
    };
    now.iter().filter(is_new).map(of).collect()
}

/// Which kinds are wanted, stored as words separated by spaces.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Wanted(Vec<Kind>);

impl Wanted {
    pub(crate) fn parse(text: &str) -> Self {
        Self(Kind::ALL.into_iter().filter(|kind| text.split_whitespace().any(|word| word == kind.word())).collect())
    }

    pub(crate) fn text(&self) -> String {
        self.0.iter().map(|kind| kind.word()).collect::<Vec<_>>().join(" ")
    }

    pub(crate) fn has(&self, kind: Kind) -> bool {
        self.0.contains(&kind)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn set(&mut self, kind: Kind, is_wanted: bool) {
        self.0.retain(|other| *other != kind);
        if is_wanted {
            self.0.push(kind);
        }
    }
}

/// Whether this browser can show notifications.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Means {
    /// Permission has been given.
    Granted,
    /// Permission can be asked for.
    Askable,
    /// The user or the browser has refused.
    Denied,
    /// The page came over plain HTTP from another machine.
    Insecure,
    /// The browser has no notifications.
    Missing,
}

impl Means {
    /// Why none are shown, and what to do about it; `None` where they work or can be asked for.
    pub(crate) fn obstacle(self) -> Option<&'static str> {
        match self {
            Self::Granted | Self::Askable => None,
            Self::Denied => Some("Notifications are blocked for this site. Allow them in the browser's site settings."),
            Self::Insecure => {
                Some("Browsers allow notifications only over HTTPS or from localhost; this page came over plain HTTP.")
            }
            Self::Missing => Some("This browser does not support notifications."),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use commands::samples::pod;

    fn told(before: &[PodSummary], now: &[PodSummary]) -> Vec<(Kind, String)> {
        news(Some(before), now).into_iter().map(|news| (news.kind, news.words)).collect()
    }

    fn only(kind: Kind, words: &str) -> Vec<(Kind, String)> {
        vec![(kind, words.to_owned())]
    }

    #[test]
    fn what_was_there_when_the_page_was_opened_is_no_news() {
        assert_eq!(news(None, &[pod("ada", PodState::Waiting)]), []);
        assert_eq!(asked(None, &[]), []);
    }

    #[test]
    fn each_turn_for_a_person_is_told_once() {
        let (runs, asks) = ([pod("ada", PodState::Running)], [pod("ada", PodState::Waiting)]);
        assert_eq!(told(&runs, &asks), only(Kind::Approval, "ada asks for permission"));
        assert_eq!(told(&asks, &asks), []);
        assert_eq!(told(&asks, &runs), []);
        let done = [pod("ada", PodState::Idle)];
        assert_eq!(told(&runs, &done), only(Kind::Finished, "ada has finished"));
        assert_eq!(told(&done, &done), []);
    }

    #[test]
    fn a_failure_is_told_as_such_and_not_as_an_end() {
        let failed = [PodSummary { needs_you: true, activity: Some("no key".into()), ..pod("ada", PodState::Idle) }];
        assert_eq!(told(&[pod("ada", PodState::Running)], &failed), only(Kind::Failed, "ada has failed: no key"));
        assert_eq!(told(&failed, &failed), []);
        assert_eq!(told(&failed, &[pod("ada", PodState::Broken)]), []);
    }

    #[test]
    fn what_others_wrote_is_one_short_line_of_a_notice() {
        let words = |why: &str| {
            let failed = PodSummary { needs_you: true, activity: Some(why.into()), ..pod("ada", PodState::Idle) };
            told(&[pod("ada", PodState::Running)], &[failed])[0].1.clone()
        };
        assert_eq!(words("a\nb\u{1b}[2J\u{202e}c"), "ada has failed: a b [2J[U+202E]c");
        assert_eq!(words(&"é".repeat(9_000)).chars().count(), WORDS_CHARS_MAX + 1);
    }

    #[test]
    fn a_snapshot_after_a_lost_connection_repeats_nothing_and_tells_what_was_missed_once() {
        let before = [pod("ada", PodState::Waiting), pod("bob", PodState::Idle), pod("eve", PodState::Idle)];
        let ran = PodSummary { head_seq: protocol::Seq(40), unread: 1, ..pod("bob", PodState::Idle) };
        let now = [pod("ada", PodState::Waiting), ran, pod("eve", PodState::Idle)];
        assert_eq!(told(&before, &now), only(Kind::Finished, "bob has finished"));
        assert_eq!(told(&now, &now), []);
    }

    #[test]
    fn a_stop_or_a_pause_by_hand_is_no_news_and_a_new_pod_that_asks_is() {
        let runs = [pod("ada", PodState::Running)];
        assert_eq!(told(&runs, &[pod("ada", PodState::Stopped)]), []);
        assert_eq!(told(&runs, &[pod("ada", PodState::Paused)]), []);
        assert_eq!(told(&runs, &[runs[0].clone(), pod("kid", PodState::Idle)]), []);
        assert_eq!(told(&[], &[pod("kid", PodState::Waiting)]), only(Kind::Approval, "kid asks for permission"));
    }

    #[test]
    fn one_pod_and_kind_has_one_place_and_two_pods_have_two() {
        let before = [pod("ada", PodState::Running), pod("bob", PodState::Running)];
        let now = [pod("ada", PodState::Waiting), pod("bob", PodState::Waiting)];
        let tags: Vec<String> = news(Some(&before), &now).iter().map(News::tag).collect();
        assert_eq!(tags, ["yoi approval local/ada", "yoi approval local/bob"]);
    }

    #[test]
    fn preferences_survive_being_stored() {
        let mut wanted = Wanted::parse("failed nonsense");
        wanted.set(Kind::Approval, true);
        assert_eq!(Wanted::parse(&wanted.text()).text(), "approval failed");
        wanted.set(Kind::Failed, false);
        assert!(wanted.has(Kind::Approval) && !wanted.has(Kind::Failed) && !wanted.is_empty());
    }
}
