//! What all parts of the console share: the list of Pods, the connection, notices, the open dialog.

mod clock;
pub(crate) mod pod_book;
mod pod_context;
mod presence;
pub(crate) mod selection;
pub(crate) mod undoing;

use std::{future::Future, pin::Pin};

use commands::{Page, Topic, family};
use leptos::prelude::*;
use protocol::{CommandId, OpenApproval, OpenRequest, PodRef, PodSummary, Seq, Timestamp, WorktreeVerb};

use self::{clock::Clock, pod_book::PodBook, selection::Selection, undoing::EndedList};
pub(crate) use self::{
    pod_context::{PodContext, Returned, use_pod},
    presence::Presence,
};
use crate::{
    UiError, format,
    live::{self, Answering},
    reconnect::Link,
};

/// How long a notice stays, in milliseconds. Errors stay until they are dismissed.
const NOTICE_MS: u32 = 6_000;

/// At most this many notices are shown; the oldest goes first.
const NOTICES_MAX: usize = 5;

/// A notice's severity.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Level {
    Note,
    Error,
}

/// A message to the user beside the transcript, never in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Notice {
    pub(crate) id: u64,
    pub(crate) level: Level,
    pub(crate) text: String,
    /// What it is about, if a newer notice about the same takes its place.
    pub(crate) about: Option<&'static str>,
}

/// What the keys do in a transcript. The page that shows one provides these, so that other pages load none of its
/// code.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TranscriptKeys {
    pub(crate) to_end: fn(),
    pub(crate) to_turn: fn(i32),
    /// Returns false if no approval is open.
    pub(crate) to_question: fn() -> bool,
    /// Answers the next approval as if this key had been pressed on its card.
    pub(crate) answer: fn(&str) -> Answering,
    /// Asks the model of this Pod again, if it can be asked now.
    pub(crate) retry: fn(Console, PodContext),
    /// Ends the run of this Pod. Returns false if it has none.
    pub(crate) end_run: fn(Console, PodContext) -> bool,
}

/// The dialog that is open.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Dialog {
    NewPod,
    Rename(Box<PodSummary>),
    Model(Box<PodSummary>),
    /// `is_named`: the name has already been typed, so the dialog does not ask for it.
    Delete {
        pod: Box<PodSummary>,
        is_named: bool,
    },
    Spawn {
        pod: Box<PodSummary>,
        name: String,
    },
    Compact(Box<PodSummary>),
    /// To the point before what follows this seq.
    Rewind(Box<PodContext>, Seq),
    Restore(Box<PodSummary>),
    /// The fork begins with the history up to this record, or up to the newest one.
    Fork(Box<PodSummary>, Option<Seq>),
    /// Commits what is changed in its folder.
    Commit(Box<PodSummary>),
    /// Merges its own work tree or removes it.
    Worktree(Box<PodSummary>, WorktreeVerb),
    Peer(Introduction),
    Help(Topic),
    /// Pods, pages and commands; the commands are about this Pod.
    Palette(Option<PodRef>),
    /// A key for a provider: a new one for this provider, or for one chosen in the dialog.
    Key(Option<String>),
}

/// The two Pods that a dialog is to make peers, as far as they are known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Introduction {
    pub(crate) source: PodRef,
    /// Whether the source can be chosen in the dialog too.
    pub(crate) chooses_source: bool,
    /// A name or an address; empty while none is chosen.
    pub(crate) target: String,
}

/// The field that takes what is typed into the terminal.
pub(crate) const TERMINAL_FIELD: &str = "terminal-field";
/// The part of a Pod's page that is its terminal.
pub(crate) const TERMINAL: &str = "terminal";

/// What is drawn over a page, or beside it, on request.
#[derive(Debug)]
pub(crate) enum Over {
    Dialog(Dialog),
    Selection(Memo<Vec<PodSummary>>),
    /// What needs you, on the board: the approvals and peer requests that came with the page.
    Needs(Vec<OpenApproval>, Vec<OpenRequest>),
    /// On the first screen: how to connect a real model.
    FirstModel,
    /// A terminal in this Pod's folder.
    Terminal(Box<PodContext>),
    /// What the inspector of a Pod's page folds.
    Facts,
}

/// Draws an [`Over`] once its code has been fetched. Provided by the module that knows all dialogs, for those that
/// know none.
#[derive(Clone, Copy)]
pub(crate) struct Drawer(pub(crate) fn(Over) -> Pin<Box<dyn Future<Output = AnyView> + Send>>);

/// Draws what goes over the page, once its code has been fetched.
pub(crate) fn drawn_over(over: Over) -> Suspend<AnyView> {
    Suspend::new(expect_context::<Drawer>().0(over))
}

#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Console {
    /// None until a list has been read.
    pub(crate) book: RwSignal<Option<PodBook>>,
    pub(crate) link: RwSignal<Link>,
    /// Since when the data shown may be stale; `None` while the page is connected.
    pub(crate) stale_since: RwSignal<Option<Timestamp>>,
    /// "caught up: …" or "reloaded from …", shown for a while after a gap.
    pub(crate) gap_words: RwSignal<Option<String>>,
    pub(crate) notices: RwSignal<Vec<Notice>>,
    /// The open approvals of all Pods, oldest first; `None` until they have been read.
    pub(crate) questions: RwSignal<Option<Vec<OpenApproval>>>,
    /// Open peer requests, oldest first; `None` until they have been read.
    pub(crate) requests: RwSignal<Option<Vec<OpenRequest>>>,
    /// What has just been ended and can still be undone.
    pub(crate) ended: RwSignal<EndedList>,
    /// The Pods selected in the list and in the table.
    pub(crate) selection: RwSignal<Selection>,
    /// The Pod whose page is open, with all that its page knows.
    pub(crate) viewed: RwSignal<Option<PodContext>>,
    /// Counts the keys given or removed on this page: whoever shows the providers reads them again when it changes.
    pub(crate) keys_changed: RwSignal<u32>,
    /// The server is now another build than the one that this page came from.
    pub(crate) is_outdated: RwSignal<bool>,
    /// The Pod whose row is being dragged.
    pub(crate) dragged: RwSignal<Option<PodRef>>,
    pub(crate) dialog: RwSignal<Option<Dialog>>,
    /// A jump from the find bar is loading a new page; the find bar there takes the focus.
    pub(crate) is_finding: StoredValue<bool>,
    /// A Pod was made and its page is loading; the message field there takes the focus.
    pub(crate) is_writing: StoredValue<bool>,
    /// Filled in by the first page that shows a transcript; `None` before that.
    pub(crate) transcript_keys: StoredValue<Option<TranscriptKeys>>,
    /// What a key means on the page that is open; `None` where it means nothing of its own.
    pub(crate) page_keys: StoredValue<Option<Callback<String, bool>>>,
    /// The text in the list's filter field.
    pub(crate) filter: RwSignal<String>,
    pub(crate) clock: Clock,
    /// The Pods whose run is being ended at this page's request.
    pub(crate) stopping: StoredValue<Vec<PodRef>>,
    next_notice: RwSignal<u64>,
}

impl Console {
    pub(crate) fn provide() -> Self {
        let console = Self { clock: Clock::new(), ..Self::default() };
        provide_context(console);
        console
    }

    pub(crate) fn pods(self) -> Vec<PodSummary> {
        self.with_pods(<[PodSummary]>::to_vec)
    }

    /// Reads all Pods without copying them; an empty slice until the list has been read.
    pub(crate) fn with_pods<T>(self, read: impl FnOnce(&[PodSummary]) -> T) -> T {
        self.book.with(|book| read(book.as_ref().map_or(&[][..], PodBook::pods)))
    }

    pub(crate) fn pod(self, pod: &PodRef) -> Option<PodSummary> {
        self.book.with(|book| book.as_ref().and_then(|book| book.get(pod).cloned()))
    }

    /// This Pod's summary, kept current by the stream; the last known one once the Pod is gone.
    pub(crate) fn follow(self, start: PodSummary) -> Memo<PodSummary> {
        Memo::new(move |before: Option<&PodSummary>| {
            self.pod(&start.pod).or_else(|| before.cloned()).unwrap_or_else(|| start.clone())
        })
    }

    /// How many approvals and peer requests are open; until approvals have been read, the Pods waiting with one count
    /// instead.
    pub(crate) fn asking(self) -> usize {
        let waiting = || self.with_pods(|pods| family::waiting(pods).count());
        self.requesting() + self.questioning().unwrap_or_else(waiting)
    }

    /// How many things need you.
    pub(crate) fn needing(self) -> usize {
        self.with_pods(|pods| commands::needing(pods, self.questioning(), self.requesting()))
    }

    /// The Pods with a peer request that you answer.
    pub(crate) fn requested(self) -> Vec<PodRef> {
        self.requests.with(|requests| requests.iter().flatten().map(|request| request.to.clone()).collect())
    }

    fn requesting(self) -> usize {
        self.requests.with(|requests| requests.as_ref().map_or(0, Vec::len))
    }

    fn questioning(self) -> Option<usize> {
        self.questions.with(|questions| questions.as_ref().map(Vec::len))
    }

    /// Opens the dialog that makes these two Pods peers; `target` is empty while none is chosen.
    pub(crate) fn introduce(self, source: PodRef, target: String) {
        self.dialog.set(Some(Dialog::Peer(Introduction { source, chooses_source: false, target })));
    }

    /// Marks this Pod's page as open until it is left.
    pub(crate) fn view(self, pod: PodContext, keys: TranscriptKeys) {
        self.transcript_keys.set_value(Some(keys));
        self.viewed.set(Some(pod));
        on_cleanup(move || {
            self.viewed.try_update(|viewed| *viewed = viewed.take().filter(|viewed| *viewed != pod));
        });
    }

    /// Takes the list that came with the page, unless the stream delivered one first.
    pub(crate) fn seed(self, pods: Vec<PodSummary>) {
        if self.book.with_untracked(Option::is_none) {
            self.book.set(Some(PodBook::new(pods)));
        }
    }

    pub(crate) fn note(self, text: impl Into<String>) {
        let id = self.push(Level::Note, text.into(), None);
        live::after(NOTICE_MS, move || self.dismiss(id));
    }

    /// The same, in place of the notice before it about the same thing.
    pub(crate) fn note_about(self, about: &'static str, text: impl Into<String>) {
        let id = self.push(Level::Note, text.into(), Some(about));
        live::after(NOTICE_MS, move || self.dismiss(id));
    }

    /// Shows an error; an expired login leads to the login page instead.
    pub(crate) fn fail(self, error: &UiError) {
        if error.is_unauthorized() {
            live::go_to_login();
        }
        self.push(Level::Error, format::sentence_case(error.sentence()), None);
    }

    fn push(self, level: Level, text: String, about: Option<&'static str>) -> u64 {
        let id = self.next_notice.get_untracked();
        self.next_notice.set(id + 1);
        self.notices.update(|notices| {
            notices.retain(|notice| notice.text != text && (about.is_none() || notice.about != about));
            notices.push(Notice { id, level, text, about });
            let surplus = notices.len().saturating_sub(NOTICES_MAX);
            notices.drain(..surplus);
        });
        id
    }

    pub(crate) fn dismiss(self, id: u64) {
        self.notices.update(|notices| notices.retain(|notice| notice.id != id));
    }
}

pub(crate) fn use_console() -> Console {
    expect_context::<Console>()
}

/// A fresh id for a command that begins here. `crypto.randomUUID` needs a secure context; this does not.
pub(crate) fn fresh_command() -> CommandId {
    CommandId::random()
}

/// The page with the messages between two Pods.
pub(crate) fn exchange_href(pod: &PodRef, peer: &PodRef) -> String {
    format!("{}/with/{}/{}", pod_href(pod), peer.runtime_id, peer.worker_id)
}

/// The Pod that a page is about: its own page, or one below it.
pub(crate) fn pod_of_path(path: &str) -> Option<PodRef> {
    let mut parts = path.strip_prefix("/pods/")?.split('/');
    format!("{}/{}", parts.next()?, parts.next()?).parse().ok()
}

/// The page of a Pod.
pub(crate) fn pod_href(pod: &PodRef) -> String {
    format!("/pods/{}/{}", pod.runtime_id, pod.worker_id)
}

/// The whole transcript of a Pod on one page.
pub(crate) fn print_href(pod: &PodRef) -> String {
    format!("{}/print", pod_href(pod))
}

/// The transcript of a Pod as a file.
pub(crate) fn export_href(pod: &PodRef) -> String {
    format!("/api/v1/runtimes/{}/workers/{}/export?format=markdown", pod.runtime_id, pod.worker_id)
}

/// Leads this browser into a preview that is open.
pub(crate) fn preview_href(pod: &PodRef, port: u16) -> String {
    format!("/api/v1/runtimes/{}/workers/{}/previews/{port}", pod.runtime_id, pod.worker_id)
}

/// Where a picture or a file is served: by this page's own server, which fetches what another one keeps.
pub(crate) fn blob_href(blob: &protocol::BlobId) -> String {
    format!("/api/v1/blobs/{blob}")
}

/// The full text of one record of a Pod.
pub(crate) fn record_href(pod: &PodRef, seq: Seq) -> String {
    format!("/api/v1/runtimes/{}/workers/{}/records/{seq}?format=text", pod.runtime_id, pod.worker_id)
}

/// The search page for these words, or the empty search page for none.
pub(crate) fn search_href(words: &str) -> String {
    match words.trim() {
        "" => Page::Search.href().to_owned(),
        words => format!("{}?q={}", Page::Search.href(), encoded(words)),
    }
}

/// Percent-encodes all but letters, digits and `-._~`.
pub(crate) fn encoded(text: &str) -> String {
    text.bytes().fold(String::with_capacity(text.len()), |mut out, byte| {
        match byte {
            byte if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) => out.push(char::from(byte)),
            byte => out.push_str(&format!("%{byte:02X}")),
        }
        out
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_looked_for_cannot_leave_its_place_in_the_address() {
        assert_eq!(search_href("a&b=ü c"), "/search?q=a%26b%3D%C3%BC%20c");
        assert_eq!(search_href("  "), "/search");
    }

    #[test]
    fn an_address_of_a_page_names_its_pod() {
        let pod: PodRef = "local/p-1".parse().unwrap();
        assert_eq!(pod_of_path(&pod_href(&pod)), Some(pod.clone()));
        assert_eq!(pod_of_path(&exchange_href(&pod, &"local/p-2".parse().unwrap())), Some(pod));
        assert_eq!(pod_of_path("/approvals"), None);
        assert_eq!(pod_of_path("/pods/local"), None);
    }
}
