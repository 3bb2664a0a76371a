//! Ending something (a Pod's work, a relation between peers) takes effect at once, because something harmful must not
//! continue while you reconsider. For a moment it can be undone by the opposite command, which says what cannot be
//! brought back.

use commands::family::descendants;
use leptos::{prelude::*, task::spawn_local};
use protocol::{CommandId, ControlVerb, PeerCommand, PeerLink, PodRef, PodState, PodSummary};
use serde_json::{Value, json};

use crate::{
    UiError,
    console::{Console, fresh_command},
    format::counted,
    live,
    server_fns::{control_pod, introduce_pods, unlink_pods},
};

/// How long an ending can be undone, in milliseconds.
const UNDO_MS: u32 = 5_000;

/// What is ended.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Ending {
    Pod(PodRef),
    Link(PodRef, PodRef),
}

impl Ending {
    /// Compares endings; the order of two peers does not matter.
    fn is_same(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Link(a, b), Self::Link(c, d)) => (a, b) == (c, d) || (a, b) == (d, c),
            (one, other) => one == other,
        }
    }
}

/// One ending, the ids of the commands that do and undo it, and whether it is done.
#[derive(Debug, Clone, PartialEq)]
struct Step {
    ending: Ending,
    command_id: CommandId,
    undo_id: CommandId,
    is_done: bool,
}

impl Step {
    fn of(ending: Ending) -> Self {
        Self { ending, command_id: fresh_command(), undo_id: fresh_command(), is_done: false }
    }
}

/// How far an ending has got.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Stage {
    UnderWay,
    /// Done; it can be undone.
    Done,
    Undoing,
}

/// One press of a button: an ending, or the same ending for several Pods.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Ended {
    pub(crate) number: u64,
    pub(crate) stage: Stage,
    steps: Vec<Step>,
    /// Children that are stopped with the first ones, each after its parent: undoing restores them too.
    followers: Vec<Step>,
    words: Words,
}

/// The words shown at each stage.
#[derive(Debug, Clone, PartialEq)]
struct Words {
    /// `Archiving ada…`
    under_way: String,
    /// `Archived ada. Undo brings it back, paused.`
    done: String,
    /// `ada is back. What ran was ended; Resume goes on with it.`
    undone: String,
}

impl Ended {
    pub(crate) fn words(&self) -> String {
        match self.stage {
            Stage::UnderWay => self.words.under_way.clone(),
            Stage::Done => self.words.done.clone(),
            Stage::Undoing => "Undoing…".to_owned(),
        }
    }

    fn has(&self, ending: &Ending) -> bool {
        self.steps.iter().any(|step| step.ending.is_same(ending))
    }
}

/// Every ending in progress or just done, oldest first.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct EndedList {
    list: Vec<Ended>,
    last_number: u64,
}

impl EndedList {
    pub(crate) fn list(&self) -> &[Ended] {
        &self.list
    }

    fn at(&mut self, number: u64) -> Option<&mut Ended> {
        self.list.iter_mut().find(|ended| ended.number == number)
    }

    fn find(&self, ending: &Ending, stage: Stage) -> Option<u64> {
        let is_it = |ended: &&Ended| ended.stage == stage && ended.has(ending);
        self.list.iter().rev().find(is_it).map(|ended| ended.number)
    }

    /// Adds those endings that are not already under way; `None` if all are.
    fn push(&mut self, endings: Vec<Ending>, followers: Vec<Ending>, words: Words) -> Option<Ended> {
        let is_fresh = |ending: &Ending| self.find(ending, Stage::UnderWay).is_none();
        let steps: Vec<_> = endings.into_iter().filter(is_fresh).map(Step::of).collect();
        if steps.is_empty() {
            return None;
        }
        let followers = followers.into_iter().map(Step::of).collect();
        self.last_number += 1;
        let ended = Ended { number: self.last_number, stage: Stage::UnderWay, steps, followers, words };
        self.list.push(ended.clone());
        Some(ended)
    }

    /// Records the server's answer to one ending. Returns true if it was the last one outstanding and at least one
    /// succeeded.
    fn answered(&mut self, number: u64, ending: &Ending, is_done: bool) -> bool {
        let Some(ended) = self.at(number) else { return false };
        match is_done {
            true => ended.steps.iter_mut().filter(|step| step.ending == *ending).for_each(|step| step.is_done = true),
            false => ended.steps.retain(|step| step.ending != *ending),
        }
        let (is_over, is_empty) = (ended.steps.iter().all(|step| step.is_done), ended.steps.is_empty());
        if is_over {
            ended.stage = Stage::Done;
        }
        self.list.retain(|ended| !ended.steps.is_empty());
        is_over && !is_empty
    }

    /// Starts the undo. `None` if it is not available: not yet, no longer, or already begun.
    fn begin_undo(&mut self, number: u64) -> Option<Ended> {
        let ended = self.at(number).filter(|ended| ended.stage == Stage::Done)?;
        ended.stage = Stage::Undoing;
        Some(ended.clone())
    }

    /// The time for undoing is over; an undo in progress continues.
    fn expire(&mut self, number: u64) {
        self.list.retain(|ended| ended.number != number || ended.stage != Stage::Done);
    }

    fn remove(&mut self, number: u64) {
        self.list.retain(|ended| ended.number != number);
    }

    fn newest(&self) -> Option<u64> {
        self.list.iter().rev().find(|ended| ended.stage == Stage::Done).map(|ended| ended.number)
    }
}

/// Archives these Pods.
pub(crate) fn stop(console: Console, pods: &[PodSummary]) {
    let is_led = |pod: &&PodSummary| pod.relations.parent.is_some();
    let all = untrack(|| console.pods());
    // Stopping a child also stops the Pods below it; stopping a Pod without a parent leaves its children running.
    let mut followers: Vec<Ending> = Vec::new();
    for (below, _) in pods.iter().filter(is_led).flat_map(|pod| descendants(&all, &pod.pod)) {
        let ending = Ending::Pod(below.pod.clone());
        if below.state.is_live() && !followers.contains(&ending) && pods.iter().all(|pod| pod.pod != below.pod) {
            followers.push(ending);
        }
    }
    let endings = pods.iter().map(|pod| Ending::Pod(pod.pod.clone())).collect();
    end(console, endings, followers, stop_words(pods));
}

fn stop_words(pods: &[PodSummary]) -> Words {
    let works = |pod: &PodSummary| matches!(pod.state, PodState::Running | PodState::Waiting | PodState::Paused);
    let who = match pods {
        [one] => one.name.to_string(),
        pods => counted(pods.len() as u64, "Pod"),
    };
    let (it, is) = if pods.len() == 1 { ("it", "is") } else { ("them", "are") };
    let asked = match pods {
        [one] if one.state == PodState::Waiting => "; its approval was withdrawn",
        _ => "",
    };
    let paused = match (pods.iter().any(works), pods.len()) {
        (false, _) => "",
        (true, 1) => ", paused",
        (true, _) => ", the running ones paused",
    };
    let back = match pods.iter().any(works) {
        true => format!("{who} {is} back. The run was ended; Resume continues it."),
        false => format!("{who} {is} back."),
    };
    Words {
        under_way: format!("Archiving {who}…"),
        done: format!("Archived {who}{asked}. Undo brings {it} back{paused}."),
        undone: back,
    }
}

/// Ends the relation between two peers. `names` as in `ada and bob`.
pub(crate) fn revoke(console: Console, pod: PodRef, peer: PodRef, names: String) {
    let words = Words {
        under_way: format!("Unpeering {names}…"),
        done: format!("{names} are no longer peers. Undo makes them peers again."),
        undone: format!("{names} are peers again."),
    };
    end(console, vec![Ending::Link(pod, peer)], Vec::new(), words);
}

/// Ends the relations of all these pairs.
pub(crate) fn revoke_all(console: Console, pairs: Vec<(PodRef, PodRef)>) {
    let links = counted(pairs.len() as u64, "pair");
    let words = Words {
        under_way: format!("Unpeering {links}…"),
        done: format!("{links} are no longer peers. Undo makes them peers again."),
        undone: format!("{links} are peers again."),
    };
    end(console, pairs.into_iter().map(|(a, b)| Ending::Link(a, b)).collect(), Vec::new(), words);
}

/// Undoes everything from one press, as far as possible.
pub(crate) fn undo(console: Console, number: u64) {
    let Some(ended) = console.ended.try_update(|list| list.begin_undo(number)).flatten() else { return };
    spawn_local(async move {
        let mut is_whole = true;
        for step in ended.steps.iter().chain(&ended.followers) {
            match send(step.clone(), true).await {
                Ok(None) => (),
                Ok(Some(instead)) => {
                    is_whole = false;
                    console.note(instead);
                }
                Err(refusal) => {
                    is_whole = false;
                    console.fail(&refusal);
                }
            }
        }
        console.ended.update(|list| list.remove(number));
        if is_whole {
            console.note(ended.words.undone);
        }
    });
}

/// Undoes this ending, along with everything from the same press.
pub(crate) fn undo_ending(console: Console, ending: &Ending) {
    if let Some(number) = console.ended.with_untracked(|list| list.find(ending, Stage::Done)) {
        undo(console, number);
    }
}

/// Undoes the newest ending.
pub(crate) fn undo_newest(console: Console) {
    match console.ended.with_untracked(EndedList::newest) {
        Some(number) => undo(console, number),
        None => console.note("Nothing to undo."),
    }
}

/// Whether this ending is at this stage.
pub(crate) fn is_at(console: Console, ending: &Ending, stage: Stage) -> bool {
    console.ended.with(|list| list.find(ending, stage).is_some())
}

fn end(console: Console, endings: Vec<Ending>, followers: Vec<Ending>, words: Words) {
    let Some(ended) = console.ended.try_update(|list| list.push(endings, followers, words)).flatten() else { return };
    if ended.number == 1 {
        finish_on_leave(console);
    }
    // Concurrently: none has to wait for another to end.
    for step in ended.steps {
        spawn_local(async move {
            let done = send(step.clone(), false).await;
            if let Err(refusal) = &done {
                console.fail(refusal);
            }
            let is_over = console
                .ended
                .try_update(|list| list.answered(ended.number, &step.ending, done.is_ok()))
                .unwrap_or_default();
            if is_over {
                live::after(UNDO_MS, move || console.ended.update(|list| list.expire(ended.number)));
            }
        });
    }
}

act! {
    /// Sends the command of a step, or the opposite one. Returns words for the outcome if it is not the plain one.
    async fn send(step: Step, is_undone: bool) -> Result<Option<String>, UiError> = carry_out;
}

async fn carry_out(step: Step, is_undone: bool) -> Result<Option<String>, UiError> {
    let id = if is_undone { step.undo_id } else { step.command_id };
    match step.ending {
        Ending::Pod(pod) => {
            let verb = if is_undone { ControlVerb::Restore } else { ControlVerb::Stop };
            control_pod(pod, id, verb).await.map(|_| None)
        }
        Ending::Link(pod, peer) if is_undone => {
            let answer = introduce_pods(pod, id, introduction(&peer)).await?;
            let asked = "A new request was sent: they are peers again once it is accepted there.";
            Ok((answer.state == PeerLink::Pending).then(|| asked.to_owned()))
        }
        Ending::Link(pod, peer) => unlink_pods(pod, id, peer).await.map(|()| None),
    }
}

fn introduction(peer: &PodRef) -> PeerCommand {
    PeerCommand { target: peer.to_string(), note: None }
}

/// A request may be aborted when its page goes away: resend what is in flight under its own id, so that the server
/// still does it exactly once.
fn finish_on_leave(console: Console) {
    live::on_leave(move || {
        for ended in console.ended.get_untracked().list {
            let is_undoing = ended.stage == Stage::Undoing;
            let steps = ended.steps.iter().filter(|step| is_undoing || !step.is_done);
            for step in steps.chain(ended.followers.iter().filter(|_| is_undoing)) {
                let (path, arguments) = last_words(step, is_undoing);
                live::send_last(path, &arguments.to_string());
            }
        }
        console.ended.update(|ended| ended.list.clear());
    });
}

/// The same request that the server function makes: its path and body.
fn last_words(step: &Step, is_undoing: bool) -> (&'static str, Value) {
    let id = if is_undoing { &step.undo_id } else { &step.command_id };
    match &step.ending {
        Ending::Pod(pod) => {
            let verb = if is_undoing { ControlVerb::Restore } else { ControlVerb::Stop };
            ("/fn/control_pod", json!({ "pod": pod, "command_id": id, "verb": verb }))
        }
        Ending::Link(pod, peer) if is_undoing => {
            ("/fn/introduce_pods", json!({ "pod": pod, "command_id": id, "command": introduction(peer) }))
        }
        Ending::Link(pod, peer) => ("/fn/unlink_pods", json!({ "pod": pod, "command_id": id, "peer": peer })),
    }
}

#[cfg(test)]
mod tests {
    use commands::samples;

    use super::*;

    fn pod(name: &str) -> PodRef {
        format!("local/{name}").parse().unwrap()
    }

    fn link(a: &str, b: &str) -> Ending {
        Ending::Link(pod(a), pod(b))
    }

    fn push(list: &mut EndedList, endings: Vec<Ending>) -> Option<u64> {
        list.push(endings, Vec::new(), stop_words(&[])).map(|ended| ended.number)
    }

    #[test]
    fn the_same_link_from_either_side_ends_once() {
        let mut list = EndedList::default();
        assert_eq!(push(&mut list, vec![link("ada", "bob")]), Some(1));
        assert_eq!(push(&mut list, vec![link("bob", "ada")]), None);
        assert_eq!(list.find(&link("bob", "ada"), Stage::UnderWay), Some(1));
        assert_eq!(push(&mut list, vec![link("bob", "ada"), Ending::Pod(pod("ada"))]), Some(2));
        assert_eq!(list.list()[1].steps.len(), 1);
    }

    #[test]
    fn what_is_done_can_be_undone_once_and_what_was_refused_cannot() {
        let mut list = EndedList::default();
        let (ada, bob) = (Ending::Pod(pod("ada")), Ending::Pod(pod("bob")));
        push(&mut list, vec![ada.clone(), bob.clone()]);
        assert_eq!((list.newest(), list.begin_undo(1)), (None, None), "not before the server has answered");
        assert!(!list.answered(1, &ada, true));
        assert!(list.answered(1, &bob, false));
        assert_eq!(list.newest(), Some(1));
        assert_eq!(list.begin_undo(1).unwrap().steps.len(), 1);
        assert_eq!((list.begin_undo(1), list.newest()), (None, None));
        list.expire(1);
        assert_eq!(list.list().len(), 1, "it is being undone");
        list.remove(1);
        push(&mut list, vec![ada.clone()]);
        assert!(!list.answered(2, &ada, false) && list.list().is_empty(), "nothing is done");
    }

    #[test]
    fn what_is_said_is_what_comes_back() {
        let done = |pods: &[PodSummary]| stop_words(pods).done;
        let pod = samples::pod;
        assert_eq!(done(&[pod("ada", PodState::Idle)]), "Archived ada. Undo brings it back.");
        assert_eq!(done(&[pod("ada", PodState::Running)]), "Archived ada. Undo brings it back, paused.");
        let asked = "Archived ada; its approval was withdrawn. Undo brings it back, paused.";
        assert_eq!(done(&[pod("ada", PodState::Waiting)]), asked);
        let two = [pod("ada", PodState::Idle), pod("bob", PodState::Running)];
        assert_eq!(done(&two), "Archived 2 Pods. Undo brings them back, the running ones paused.");
        assert_eq!(stop_words(&two).undone, "2 Pods are back. The run was ended; Resume continues it.");
    }

    #[test]
    fn the_last_words_of_a_page_name_the_pod_the_command_and_what_to_do() {
        let step = Step::of(Ending::Pod(pod("ada")));
        let (path, arguments) = last_words(&step, false);
        assert_eq!((path, arguments["verb"].as_str()), ("/fn/control_pod", Some("stop")));
        assert_eq!(arguments["pod"], json!({ "runtime_id": "local", "worker_id": "ada" }));
        assert_eq!(last_words(&step, true).1["verb"], "restore");
        assert_eq!(last_words(&Step::of(link("ada", "bob")), true).1["command"]["target"], "local/bob");
    }
}
