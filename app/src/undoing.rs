//! What ends something, a Pod's work or a link, waits a moment so that it can be taken back. Who leaves the page does
//! not wait.

use leptos::{prelude::*, task::spawn_local};
use protocol::{CommandId, ControlVerb, PodRef, PodState, PodSummary};
use serde_json::json;

use crate::{
    UiError,
    console::{Console, fresh_command},
    format::counted,
    live,
    server_fns::{control_pod, unlink_pods},
};

/// How long it can be taken back, in milliseconds.
const UNDO_MS: u32 = 5_000;

/// What is about to end.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Ending {
    Pod(PodRef),
    Link(PodRef, PodRef),
}

impl Ending {
    /// A link has no direction.
    fn is_same(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Link(a, b), Self::Link(c, d)) => (a, b) == (c, d) || (a, b) == (d, c),
            (one, other) => one == other,
        }
    }
}

/// One press of a button: one ending, or the same for several.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Pending {
    pub(crate) number: u64,
    endings: Vec<(CommandId, Ending)>,
    /// `ada stops`, `The links of 3 pairs end`: what follows is when.
    pub(crate) words: String,
    /// Said when it is done.
    done: String,
    /// The moment is over: it is being done.
    pub(crate) is_due: bool,
}

/// All that is pending, oldest first.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct PendingList {
    list: Vec<Pending>,
    last_number: u64,
}

impl PendingList {
    pub(crate) fn list(&self) -> &[Pending] {
        &self.list
    }

    pub(crate) fn has(&self, ending: &Ending) -> bool {
        self.list.iter().any(|pending| pending.endings.iter().any(|(_, other)| other.is_same(ending)))
    }

    /// Takes those that are not there yet; none when all are.
    fn push(&mut self, endings: Vec<Ending>, words: String, done: String) -> Option<u64> {
        let fresh = endings.into_iter().filter(|ending| !self.has(ending));
        let endings: Vec<_> = fresh.map(|ending| (fresh_command(), ending)).collect();
        if endings.is_empty() {
            return None;
        }
        self.last_number += 1;
        self.list.push(Pending { number: self.last_number, endings, words, done, is_due: false });
        Some(self.last_number)
    }

    /// Takes one ending out, whatever else was pressed with it. What is being done cannot be taken back any more.
    fn keep(&mut self, ending: &Ending) {
        for pending in self.list.iter_mut().filter(|pending| !pending.is_due) {
            pending.endings.retain(|(_, other)| !other.is_same(ending));
        }
        self.list.retain(|pending| !pending.endings.is_empty());
    }

    fn undo(&mut self, number: u64) {
        self.list.retain(|pending| pending.number != number || pending.is_due);
    }

    /// The moment is over: gives what is left to do.
    fn begin(&mut self, number: u64) -> Option<Pending> {
        let pending = self.list.iter_mut().find(|pending| pending.number == number && !pending.is_due)?;
        pending.is_due = true;
        Some(pending.clone())
    }

    fn end(&mut self, number: u64) {
        self.list.retain(|pending| pending.number != number);
    }

    fn newest(&self) -> Option<u64> {
        self.list.iter().rev().find(|pending| !pending.is_due).map(|pending| pending.number)
    }
}

/// Stops these Pods in a moment.
pub(crate) fn stop(console: Console, pods: &[PodSummary]) {
    let who = match pods {
        [one] => one.name.to_string(),
        pods => counted(pods.len() as u64, "Pod"),
    };
    let verb = if pods.len() == 1 { "stops" } else { "stop" };
    let endings = pods.iter().map(|pod| Ending::Pod(pod.pod.clone())).collect();
    delay(console, endings, format!("{who} {verb}"), format!("Told {who} to stop."));
}

/// Ends a link in a moment. `names` as in `ada and bob`.
pub(crate) fn revoke(console: Console, pod: PodRef, peer: PodRef, names: String) {
    let done = format!("{names} do not know each other any more.");
    delay(console, vec![Ending::Link(pod, peer)], format!("The link of {names} ends"), done);
}

/// Ends all these links in a moment.
pub(crate) fn revoke_all(console: Console, pairs: Vec<(PodRef, PodRef)>) {
    let links = counted(pairs.len() as u64, "link");
    let words = format!("{links} {}", if pairs.len() == 1 { "ends" } else { "end" });
    delay(console, pairs.into_iter().map(|(a, b)| Ending::Link(a, b)).collect(), words, format!("{links} ended."));
}

/// Takes one ending back.
pub(crate) fn keep(console: Console, ending: &Ending) {
    console.pending.update(|pending| pending.keep(ending));
}

/// Takes back all that was pressed at once.
pub(crate) fn undo(console: Console, number: u64) {
    console.pending.update(|pending| pending.undo(number));
    console.note("Taken back; nothing was changed.");
}

/// Takes back what was pressed last.
pub(crate) fn undo_newest(console: Console) {
    match console.pending.with_untracked(PendingList::newest) {
        Some(number) => undo(console, number),
        None => console.note("There is nothing that could be taken back."),
    }
}

/// This is about to end.
pub(crate) fn is_ending(console: Console, ending: &Ending) -> bool {
    console.pending.with(|pending| pending.has(ending))
}

fn delay(console: Console, endings: Vec<Ending>, words: String, done: String) {
    let number = console.pending.try_update(|pending| pending.push(endings, words, done)).flatten();
    if let Some(number) = number {
        if number == 1 {
            finish_on_leave(console);
        }
        live::after(UNDO_MS, move || finish(console, number));
    }
}

fn finish(console: Console, number: u64) {
    let Some(due) = console.pending.try_update(|pending| pending.begin(number)).flatten() else { return };
    spawn_local(async move {
        let mut has_failed = false;
        for (command_id, ending) in due.endings.into_iter().filter(|(_, ending)| !is_moot(console, ending)) {
            if let Err(refusal) = end(command_id, ending).await {
                has_failed = true;
                console.fail(&refusal);
            }
        }
        if !has_failed {
            console.note(due.done);
        }
        console.pending.update(|pending| pending.end(number));
    });
}

/// It has stopped by itself, or somebody else was faster.
fn is_moot(console: Console, ending: &Ending) -> bool {
    let state = |pod: &PodRef| untrack(|| console.pod(pod)).map(|pod| pod.state);
    match ending {
        Ending::Pod(pod) => state(pod) == Some(PodState::Stopped),
        Ending::Link(..) => false,
    }
}

async fn end(command_id: CommandId, ending: Ending) -> Result<(), UiError> {
    match ending {
        Ending::Pod(pod) => control_pod(pod, command_id, ControlVerb::Stop).await.map(|_| ()),
        Ending::Link(pod, peer) => unlink_pods(pod, command_id, peer).await,
    }
}

/// Whoever leaves the page has made up their mind. What is being done already goes out once more under its own id,
/// because a request can end with its page; the server does it once.
fn finish_on_leave(console: Console) {
    live::on_leave(move || {
        for (command_id, ending) in console.pending.get_untracked().list.into_iter().flat_map(|pending| pending.endings)
        {
            let (path, arguments) = last_words(&command_id, &ending);
            live::send_last(path, &arguments.to_string());
        }
        console.pending.update(|pending| pending.list.clear());
    });
}

/// The same call as the server function's own.
fn last_words(command_id: &CommandId, ending: &Ending) -> (&'static str, serde_json::Value) {
    match ending {
        Ending::Pod(pod) => {
            ("/fn/control_pod", json!({ "pod": pod, "command_id": command_id, "verb": ControlVerb::Stop }))
        }
        Ending::Link(pod, peer) => ("/fn/unlink_pods", json!({ "pod": pod, "command_id": command_id, "peer": peer })),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pod(name: &str) -> PodRef {
        format!("local/{name}").parse().unwrap()
    }

    fn link(a: &str, b: &str) -> Ending {
        Ending::Link(pod(a), pod(b))
    }

    fn push(list: &mut PendingList, endings: Vec<Ending>) -> Option<u64> {
        list.push(endings, "it ends".into(), "it has ended".into())
    }

    #[test]
    fn the_same_link_from_either_side_ends_once() {
        let mut list = PendingList::default();
        assert_eq!(push(&mut list, vec![link("ada", "bob")]), Some(1));
        assert_eq!(push(&mut list, vec![link("bob", "ada")]), None);
        assert!(list.has(&link("bob", "ada")) && !list.has(&Ending::Pod(pod("ada"))));
        assert_eq!(push(&mut list, vec![link("bob", "ada"), Ending::Pod(pod("ada"))]), Some(2));
        assert_eq!(list.list()[1].endings.len(), 1);
    }

    #[test]
    fn what_is_taken_back_is_not_done_and_the_rest_of_it_is() {
        let mut list = PendingList::default();
        push(&mut list, vec![Ending::Pod(pod("ada")), Ending::Pod(pod("bob"))]);
        list.keep(&Ending::Pod(pod("ada")));
        assert_eq!(list.begin(1).unwrap().endings.len(), 1);
        push(&mut list, vec![link("ada", "bob")]);
        list.undo(2);
        assert_eq!(list.begin(2), None);
    }

    #[test]
    fn what_is_being_done_cannot_be_taken_back() {
        let mut list = PendingList::default();
        push(&mut list, vec![Ending::Pod(pod("ada"))]);
        assert_eq!(list.newest(), Some(1));
        list.begin(1).unwrap();
        list.undo(1);
        list.keep(&Ending::Pod(pod("ada")));
        assert!(list.has(&Ending::Pod(pod("ada"))));
        assert_eq!((list.newest(), list.begin(1)), (None, None));
        list.end(1);
        assert_eq!(list.list(), []);
    }

    #[test]
    fn the_last_words_of_a_page_name_the_pod_the_command_and_what_to_do() {
        let (path, arguments) = last_words(&fresh_command(), &Ending::Pod(pod("ada")));
        assert_eq!((path, arguments["verb"].as_str()), ("/fn/control_pod", Some("stop")));
        assert_eq!(arguments["pod"], json!({ "runtime_id": "local", "worker_id": "ada" }));
    }
}
