//! State shared by the parts of the dialog.

use commands::peering::telling_name;
use leptos::prelude::*;
use protocol::{CommandId, ErrorCode, PeerAnswer, PeerCommand, PeerView, PodRef};

use crate::{
    UiError,
    components::deed::Deed,
    console::{Console, Introduction, fresh_command},
    live,
    peers::peering::{self, Choice},
    reading::{First, Reading},
    server_fns::{introduce_pods, pod_peers},
};

/// Minimum time between two reads of the source's peers, in milliseconds.
const READING_MS_MIN: u32 = 300;

#[derive(Clone, Copy)]
pub(super) struct Meeting {
    pub(super) console: Console,
    pub(super) source: RwSignal<PodRef>,
    /// The source's peers and peer requests; kept up to date while the dialog is open.
    pub(super) known: RwSignal<Vec<PeerView>>,
    pub(super) typed: RwSignal<String>,
    /// The line that the arrow keys are on.
    pub(super) at: RwSignal<Option<usize>>,
    /// The Pod that was picked from the list.
    pub(super) picked: RwSignal<Option<PodRef>>,
    pub(super) note: RwSignal<String>,
    /// The Pods that match what has been typed.
    pub(super) offered: Memo<Vec<Choice>>,
    /// The Pod that the dialog is about now; it may be one that cannot be chosen.
    pub(super) chosen: Memo<Option<Choice>>,
    /// The server's answer.
    pub(super) answer: RwSignal<Option<PeerAnswer>>,
    pub(super) deed: Deed,
    /// One id per request: pressing twice, or retrying after a lost answer, repeats the same command.
    command: StoredValue<Option<(PodRef, PeerCommand, CommandId)>>,
}

impl Meeting {
    pub(super) fn new(console: Console, introduction: &Introduction) -> Self {
        let source = RwSignal::new(introduction.source.clone());
        let known = RwSignal::new(Vec::new());
        let all = Memo::new(move |_| {
            console.with_pods(|pods| known.with(|known| source.with(|source| peering::choices(pods, source, known))))
        });
        let start = all.with_untracked(|all| peering::meant(all, &introduction.target));
        let typed =
            RwSignal::new(start.as_ref().map_or_else(|| introduction.target.clone(), |start| start.name.clone()));
        let at = RwSignal::new(None::<usize>);
        let picked = RwSignal::new(start.map(|start| start.pod));
        let offered = Memo::new(move |_| all.with(|all| typed.with(|typed| peering::fitting(all, typed))));
        let chosen = Memo::new(move |_| {
            if let Some(picked) = picked.get() {
                return all.with(|all| all.iter().find(|choice| choice.pod == picked).cloned());
            }
            offered.with(|offered| match (at.get(), typed.with(String::is_empty)) {
                (None, true) => None,
                (at, _) => offered.get(at.unwrap_or_default()).cloned(),
            })
        });
        let meeting = Self {
            console,
            source,
            known,
            typed,
            at,
            picked,
            note: RwSignal::new(String::new()),
            offered,
            chosen,
            answer: RwSignal::new(None),
            deed: Deed::default(),
            command: StoredValue::new(None),
        };
        meeting.keep_known();
        meeting
    }

    pub(super) fn source_name(self) -> String {
        self.told(&self.source.get())
    }

    /// The name of the Pod that was asked, as in the list.
    pub(super) fn peer_name(self, peer: &PodRef) -> String {
        self.told(peer)
    }

    fn told(self, pod: &PodRef) -> String {
        let pods = self.console.pods();
        let found = pods.iter().find(|other| other.pod == *pod);
        found.map_or_else(|| pod.worker_id.to_string(), |found| telling_name(&pods, found))
    }

    pub(super) fn pick(self, choice: &Choice) {
        if choice.refusal.is_none() {
            self.typed.set(choice.name.clone());
            self.picked.set(Some(choice.pod.clone()));
        }
    }

    /// Reads the source's peers again whenever its journal grows, since any record may be about them.
    fn keep_known(self) {
        let seen = move || {
            let source = self.source.get();
            let head = self.console.pod(&source).map(|pod| pod.head_seq);
            (source, head)
        };
        Reading::follow(READING_MS_MIN, First::IsRead, seen, move || self.read_known());
    }

    async fn read_known(self) {
        let Some(source) = self.source.try_get_untracked() else { return };
        if let Ok(known) = pod_peers(source.clone()).await
            && self.source.try_get_untracked() == Some(source)
        {
            self.known.try_set(known);
        }
    }

    /// A name that matches no Pod is left to the server, which can suggest similar names.
    fn target(self) -> Result<String, String> {
        let typed = self.typed.get_untracked().trim().to_owned();
        match self.chosen.get_untracked() {
            Some(Choice { name, refusal: Some(reason), .. }) => Err(format!("{name} {reason}")),
            Some(choice) => Ok(choice.pod.to_string()),
            None if typed.is_empty() => Err("Choose a Pod first".to_owned()),
            None => Ok(typed),
        }
    }

    pub(super) fn introduce(self) {
        let target = match self.target() {
            Ok(target) => target,
            Err(sentence) => return self.deed.refuse(UiError::new(ErrorCode::InvalidInput, sentence)),
        };
        let note = Some(self.note.get_untracked().trim().to_owned()).filter(|note| !note.is_empty());
        let (source, command) = (self.source.get_untracked(), PeerCommand { target, note });
        let id = match self.command.get_value() {
            Some((pod, same, id)) if pod == source && same == command => id,
            _ => fresh_command(),
        };
        self.command.set_value(Some((source.clone(), command.clone(), id.clone())));
        self.deed.begin(Box::pin(async move {
            let done = introduce_pods(source, id, command).await;
            if done.as_ref().err().is_none_or(|refusal| refusal.code().status() < 500) {
                self.command.try_set_value(None);
            }
            let answer = done?;
            self.answer.try_set(Some(answer));
            live::focus_soon("peer-cancel");
            Ok(())
        }));
    }
}
