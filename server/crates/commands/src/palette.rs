//! The content of the palette: Pods, pages and commands in one list, with fuzzy search.

use protocol::{AgentChoice, PodRef, PodSummary, RuntimeId};

use crate::{Entry, Here, Page, Sign, SortBy, TABLE, entry, fit, lower, refusal, sorted};

/// How many recent choices are remembered.
pub const RECENT_MAX: usize = 6;

/// What choosing a line does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Does {
    Open(PodRef),
    Go(Page),
    /// Runs a command, on the current Pod if it needs one. Its argument is asked for next.
    Command(&'static Entry),
    /// Begins a message to the current Pod with this text.
    Write(String),
}

/// One line of the palette.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Choice {
    /// A stable id, for remembering it: `pod local/ada`, `map`, `stop`.
    pub id: String,
    /// The title; for a Pod its name, with the runtime if that is not this server: `ada@box`.
    pub title: String,
    /// What it is or does, beside the title.
    pub what: String,
    /// The key that does the same; empty if there is none.
    pub key: &'static str,
    /// Why it is unavailable now.
    pub refusal: Option<&'static str>,
    pub does: Does,
}

impl Choice {
    /// Whether it may be preselected: something has been typed and it is available. A command only if the letters are in
    /// its word, not in what is said about it, and a grave one only if its whole word has been typed.
    pub fn leads(&self, typed: &str) -> bool {
        let word = typed.trim();
        let is_typed = |entry: &Entry| word.strip_prefix(':').unwrap_or(word) == entry.word;
        let is_named = || fit(word, std::iter::once(self.title.as_str())).into_iter().next().is_some();
        let is_meant = match &self.does {
            Does::Command(entry) if entry.is_grave => is_typed(entry),
            Does::Command(_) | Does::Write(_) => is_named(),
            Does::Open(_) | Does::Go(_) => true,
        };
        !word.is_empty() && self.refusal.is_none() && is_meant
    }

    /// Its command, if that is one which is never preselected.
    pub fn grave(&self) -> Option<&'static Entry> {
        match self.does {
            Does::Command(entry) if entry.is_grave => Some(entry),
            _ => None,
        }
    }
}

/// All choices: Pods by what they need from you, a new Pod, pages, and the commands for the Pod in `here`. `:open` is
/// left out because the Pods themselves are listed.
pub fn choices(pods: &[PodSummary], here: Here) -> Vec<Choice> {
    let pods = sorted(pods, "", SortBy::Attention).into_iter().map(of_pod);
    let is_page = |entry: &Entry| Page::of(entry.word).is_some();
    let pages = Page::ALL.into_iter().filter_map(|page| of_page(page, here));
    let offered = |entry: &&'static Entry| {
        let has_pod = here.pod.is_some() || !entry.place.is_of_pod();
        here.has(entry.place) && has_pod && !is_page(entry) && !["new", "open"].contains(&entry.word)
    };
    let commands = TABLE.iter().filter(offered).map(|entry| of_command(entry, here));
    let new = entry("new").map(|entry| Choice { title: "New Pod".to_owned(), ..of_command(entry, here) });
    pods.chain(new).chain(pages).chain(commands).collect()
}

/// The commands of the current Pod's agent: a message begins with one.
pub fn of_agent(commands: &[AgentChoice]) -> impl Iterator<Item = Choice> + '_ {
    commands.iter().map(|command| Choice {
        id: format!("agent {}", command.id),
        title: format!("/{}", command.name),
        what: command.description.clone().unwrap_or_else(|| "A command of its agent".to_owned()),
        key: "",
        refusal: None,
        does: Does::Write(format!("/{} ", command.id)),
    })
}

fn of_pod(pod: PodSummary) -> Choice {
    // A failed run leaves its Pod idle, and it must not look well.
    let sign = Sign::of(&pod);
    let doing = pod.activity.as_deref().map(|activity| format!(" · {activity}")).unwrap_or_default();
    let doing = if sign == Sign::Failed { doing.replacen("failed: ", "", 1) } else { doing };
    Choice {
        id: format!("pod {}", pod.pod),
        title: match pod.pod.runtime_id == RuntimeId::local() {
            true => pod.name.to_string(),
            false => format!("{}@{}", pod.name, pod.pod.runtime_id),
        },
        what: format!("{}{doing} · {}", sign.word(), pod.cwd),
        key: "",
        refusal: None,
        does: Does::Open(pod.pod),
    }
}

fn of_page(page: Page, here: Here) -> Option<Choice> {
    let entry = entry(page.word()).filter(|entry| here.has(entry.place))?;
    Some(Choice {
        id: entry.word.to_owned(),
        title: page.title().to_owned(),
        what: entry.what.to_owned(),
        key: entry.key,
        refusal: None,
        does: Does::Go(page),
    })
}

fn of_command(entry: &'static Entry, here: Here) -> Choice {
    Choice {
        id: entry.word.to_owned(),
        title: format!(":{}", entry.word),
        what: entry.what.to_owned(),
        key: entry.key,
        refusal: refusal(entry.word, here),
        does: Does::Command(entry),
    }
}

/// The indices of the matches. First those with the letters, in order, in the title; then those that contain every
/// word anywhere. If nothing is typed, all of them, recent choices first, except that grave ones keep their place.
pub fn found(choices: &[Choice], typed: &str, recent: &[String]) -> Vec<usize> {
    if typed.trim().is_empty() {
        let place = |id: &String| choices.iter().position(|choice| choice.id == *id && choice.grave().is_none());
        let recent: Vec<usize> = recent.iter().filter_map(place).collect();
        let others = (0..choices.len()).filter(|index| !recent.contains(index));
        return recent.iter().copied().chain(others).collect();
    }
    let mut found: Vec<usize> =
        fit(typed, choices.iter().map(|choice| choice.title.as_str())).into_iter().map(|fit| fit.index).collect();
    let words: Vec<String> = typed.split_whitespace().map(lower).collect();
    let has_all = |choice: &Choice| {
        let text = lower(&format!("{} {}", choice.title, choice.what));
        words.iter().all(|word| text.contains(word))
    };
    let wider: Vec<usize> =
        (0..choices.len()).filter(|index| has_all(&choices[*index]) && !found.contains(index)).collect();
    found.extend(wider);
    found
}

/// The recent choices, with this one first.
pub fn remembered(recent: &[String], id: &str) -> Vec<String> {
    let others = recent.iter().filter(|other| *other != id).cloned();
    std::iter::once(id.to_owned()).chain(others).take(RECENT_MAX).collect()
}

#[cfg(test)]
mod tests {
    use protocol::PodState;

    use super::*;
    use crate::{Client, Standing, samples::pod};

    const NOWHERE: Here = Here { client: Client::Browser, pod: None };

    fn on(state: PodState) -> Here {
        Here { client: Client::Browser, pod: Some(Standing { state, asks: false, knows: false, no_retry: None }) }
    }

    fn titles<'a>(choices: &'a [Choice], typed: &str, recent: &[&str]) -> Vec<&'a str> {
        let recent: Vec<String> = recent.iter().map(|id| (*id).to_owned()).collect();
        found(choices, typed, &recent).into_iter().map(|index| choices[index].title.as_str()).collect()
    }

    #[test]
    fn pods_come_first_then_a_new_one_pages_and_what_can_be_done() {
        let pods = [pod("bob", PodState::Idle), pod("ada", PodState::Waiting)];
        let all = choices(&pods, NOWHERE);
        let titles = titles(&all, "", &[]);
        assert_eq!(titles[..5], ["ada", "bob", "New Pod", "Board", "Map"]);
        assert!(titles.contains(&":help") && !titles.contains(&":stop") && !titles.contains(&":quit"), "{titles:?}");
        let ids: std::collections::BTreeSet<_> = all.iter().map(|choice| &choice.id).collect();
        assert_eq!(ids.len(), all.len(), "each is there once");
    }

    #[test]
    fn a_command_of_the_agent_begins_a_message() {
        let review = AgentChoice { id: "review".into(), name: "review what".into(), description: Some("Looks".into()) };
        let all: Vec<_> = of_agent(&[review]).collect();
        assert_eq!(titles(&all, "rev", &[]), ["/review what"]);
        assert_eq!((all[0].what.as_str(), &all[0].does), ("Looks", &Does::Write("/review ".into())));
    }

    #[test]
    fn what_the_pod_at_hand_refuses_is_there_with_its_reason() {
        let all = choices(&[], on(PodState::Idle));
        let refusal = |title: &str| all.iter().find(|choice| choice.title == title).unwrap().refusal;
        assert_eq!(refusal(":pause"), Some("nothing is running"));
        assert_eq!(refusal(":stop"), None);
        assert!(all.iter().all(|choice| choice.title != ":open"));
    }

    #[test]
    fn a_pod_is_found_by_its_name_its_state_and_its_folder() {
        let pods = [
            PodSummary { cwd: "/srv/store".into(), ..pod("ada", PodState::Running) },
            PodSummary { cwd: "/srv/web".into(), ..pod("badger", PodState::Idle) },
        ];
        let all = choices(&pods, NOWHERE);
        assert_eq!(titles(&all, "bdg", &[]), ["badger"]);
        assert_eq!(titles(&all, "web", &[])[0], "badger");
        assert_eq!(titles(&all, "running", &[]), ["ada"]);
        assert_eq!(titles(&all, "ada store", &[]), ["ada"]);
    }

    #[test]
    fn a_pod_whose_run_failed_is_found_as_failed() {
        let failed = PodSummary {
            needs_you: true,
            activity: Some("failed: no key".into()),
            cwd: "/srv".into(),
            ..pod("ada", PodState::Idle)
        };
        assert_eq!(choices(&[failed], NOWHERE)[0].what, "failed · no key · /srv");
    }

    #[test]
    fn recent_ones_lead_while_nothing_is_typed_and_those_that_are_gone_are_left_out() {
        let all = choices(&[pod("ada", PodState::Idle), pod("bob", PodState::Idle)], NOWHERE);
        let recent = ["map", "pod local/gone", "pod local/bob"];
        assert_eq!(titles(&all, "", &recent)[..3], ["Map", "bob", "ada"]);
        assert_eq!(titles(&all, "ada", &recent)[0], "ada");
    }

    #[test]
    fn what_is_grave_leads_only_once_its_whole_word_is_typed() {
        let all = choices(&[pod("ada", PodState::Idle)], on(PodState::Idle));
        let stop = all.iter().find(|choice| choice.title == ":stop").unwrap();
        assert!(stop.leads("stop") && stop.leads(":stop ") && !stop.leads("sto") && !stop.leads(""));
        assert!(all.iter().find(|choice| choice.title == "ada").unwrap().leads("ad"));
        assert_eq!(titles(&all, "", &["stop", "map"])[..2], ["Map", "ada"], "not even when it was chosen lately");
    }

    #[test]
    fn what_is_chosen_again_moves_to_the_front() {
        let recent: Vec<String> = (0..RECENT_MAX).map(|number| number.to_string()).collect();
        let now = remembered(&recent, "2");
        assert_eq!((now.len(), now[0].as_str(), now[1].as_str()), (RECENT_MAX, "2", "0"));
        assert_eq!(remembered(&recent, "x").len(), RECENT_MAX);
    }

    #[test]
    fn a_pod_of_another_server_says_so_and_is_found_by_it() {
        let mut far = pod("ada", PodState::Idle);
        far.pod.runtime_id = RuntimeId::parse("box").unwrap();
        let all = choices(&[far, pod("ada", PodState::Idle)], NOWHERE);
        assert_eq!(titles(&all, "ada", &[])[..2], ["ada", "ada@box"]);
        assert_eq!(titles(&all, "ada@b", &[]), ["ada@box"]);
    }
}
