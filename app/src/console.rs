//! What all parts of the console share: the list of Pods, the connection, notices, the open dialog.

mod clock;
pub(crate) mod pod_book;
mod pod_context;
mod presence;
pub(crate) mod selection;
pub(crate) mod undoing;

use std::{future::Future, pin::Pin};

use commands::{Page, Topic};
use leptos::prelude::*;
use protocol::{CommandId, OpenApproval, OpenRequest, PodRef, PodSummary, Seq, Timestamp};

use self::{clock::Clock, pod_book::PodBook, selection::Selection, undoing::EndedList};
pub(crate) use self::{
    pod_context::{PodContext, Returned, use_pod},
    presence::Presence,
};
use crate::{
    UiError, family, format,
    live::{self, Answering},
    reconnect::Link,
};

/// How long a notice stays, in milliseconds. Errors stay until they are dismissed.
const NOTICE_MS: u32 = 6_000;

/// So many notices at most; the oldest goes first.
const NOTICES_MAX: usize = 5;

/// How much a notice matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Level {
    Note,
    Error,
}

/// Said beside the transcript, never in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Notice {
    pub(crate) id: u64,
    pub(crate) level: Level,
    pub(crate) text: String,
}

/// What keys do in a transcript. The page with one says it, so that other pages load nothing of it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TranscriptKeys {
    pub(crate) to_end: fn(),
    pub(crate) to_turn: fn(i32),
    /// False where no question is open.
    pub(crate) to_question: fn() -> bool,
    /// Answers the question that is next, with this key of its card.
    pub(crate) answer: fn(&str) -> Answering,
}

/// The dialog that is open.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Dialog {
    NewPod,
    Rename(Box<PodSummary>),
    Model(Box<PodSummary>),
    /// Its name has been typed already, or is asked for.
    Delete {
        pod: Box<PodSummary>,
        is_named: bool,
    },
    Spawn {
        pod: Box<PodSummary>,
        name: String,
    },
    Compact(Box<PodSummary>),
    /// To before what comes after this seq.
    Rewind(Box<PodContext>, Seq),
    Restore(Box<PodSummary>),
    Peer(Introduction),
    Help(Topic),
    /// Pods, pages and commands; the commands are about this Pod.
    Palette(Option<PodRef>),
    /// A key for a provider: for this one another, or for one that is chosen there.
    Key(Option<String>),
}

/// The two that a dialog introduces, as far as they are known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Introduction {
    pub(crate) source: PodRef,
    /// The first one may be chosen too.
    pub(crate) chooses_source: bool,
    /// A name or an address; empty while nobody is chosen.
    pub(crate) target: String,
}

/// What comes over a page, or beside it, when a person asks for it.
#[derive(Debug)]
pub(crate) enum Over {
    Dialog(Dialog),
    Selection(Memo<Vec<PodSummary>>),
    /// On the first screen: how to come to a real model.
    FirstModel,
}

/// Draws what comes over a page, once its code is there. What knows all dialogs says it, for those that know none.
#[derive(Clone, Copy)]
pub(crate) struct Drawer(pub(crate) fn(Over) -> Pin<Box<dyn Future<Output = AnyView> + Send>>);

/// What comes over the page, once its code is there.
pub(crate) fn drawn_over(over: Over) -> Suspend<AnyView> {
    Suspend::new(expect_context::<Drawer>().0(over))
}

#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Console {
    /// None until a list has been read.
    pub(crate) book: RwSignal<Option<PodBook>>,
    pub(crate) link: RwSignal<Link>,
    /// Since when what is shown may have changed; none while the page hears the server.
    pub(crate) stale_since: RwSignal<Option<Timestamp>>,
    /// "caught up: …" or "reloaded from …", for a while after a gap.
    pub(crate) gap_words: RwSignal<Option<String>>,
    pub(crate) notices: RwSignal<Vec<Notice>>,
    /// The open questions of all Pods, oldest first; none until they have been read.
    pub(crate) questions: RwSignal<Option<Vec<OpenApproval>>>,
    /// Requests to be introduced that wait for an answer, oldest first; none until they have been read.
    pub(crate) requests: RwSignal<Option<Vec<OpenRequest>>>,
    /// What has just ended and can still be undone.
    pub(crate) ended: RwSignal<EndedList>,
    /// The Pods that are selected in the list and in the table.
    pub(crate) selection: RwSignal<Selection>,
    /// The Pod whose page is open, with all that this page knows of it.
    pub(crate) viewed: RwSignal<Option<PodContext>>,
    /// How often this page has given or forgotten a key: whoever shows the providers reads them again.
    pub(crate) keys_changed: RwSignal<u32>,
    /// The server is another build than the one that this page came from.
    pub(crate) is_outdated: RwSignal<bool>,
    /// The Pod whose row is being dragged.
    pub(crate) dragged: RwSignal<Option<PodRef>>,
    pub(crate) dialog: RwSignal<Option<Dialog>>,
    /// A place is being loaded that was asked for in the find bar: the bar that comes with it takes the focus.
    pub(crate) is_finding: StoredValue<bool>,
    /// A Pod was made, and its page is on its way: there the message field takes the focus.
    pub(crate) is_writing: StoredValue<bool>,
    /// Set by the first page with a transcript.
    pub(crate) transcript_keys: StoredValue<Option<TranscriptKeys>>,
    /// Words in the filter field of the list.
    pub(crate) filter: RwSignal<String>,
    pub(crate) clock: Clock,
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

    /// All Pods, without copying them; none until a list has been read.
    pub(crate) fn with_pods<T>(self, read: impl FnOnce(&[PodSummary]) -> T) -> T {
        self.book.with(|book| read(book.as_ref().map_or(&[][..], PodBook::pods)))
    }

    pub(crate) fn pod(self, pod: &PodRef) -> Option<PodSummary> {
        self.book.with(|book| book.as_ref().and_then(|book| book.get(pod).cloned()))
    }

    /// This Pod's summary, kept up by the stream; the last one known once the Pod has gone.
    pub(crate) fn follow(self, start: PodSummary) -> Memo<PodSummary> {
        Memo::new(move |before: Option<&PodSummary>| {
            self.pod(&start.pod).or_else(|| before.cloned()).unwrap_or_else(|| start.clone())
        })
    }

    /// Pods that wait for a person.
    pub(crate) fn needing(self) -> usize {
        self.with_pods(commands::needing)
    }

    /// Open questions and requests; until questions have been read, the Pods that wait with one.
    pub(crate) fn asking(self) -> usize {
        let requests = self.requests.with(|requests| requests.as_ref().map_or(0, Vec::len));
        requests + self.questioning()
    }

    fn questioning(self) -> usize {
        let waiting = || self.with_pods(|pods| family::waiting(pods).count());
        self.questions.with(|questions| questions.as_ref().map(Vec::len)).unwrap_or_else(waiting)
    }

    /// Opens the dialog that makes these two peers; `target` is empty while nobody is chosen.
    pub(crate) fn introduce(self, source: PodRef, target: String) {
        self.dialog.set(Some(Dialog::Peer(Introduction { source, chooses_source: false, target })));
    }

    /// This Pod's page is open, until it is left.
    pub(crate) fn view(self, pod: PodContext, keys: TranscriptKeys) {
        self.transcript_keys.set_value(Some(keys));
        self.viewed.set(Some(pod));
        on_cleanup(move || {
            self.viewed.try_update(|viewed| *viewed = viewed.take().filter(|viewed| *viewed != pod));
        });
    }

    /// Takes the list that came with the page, unless the stream was faster.
    pub(crate) fn seed(self, pods: Vec<PodSummary>) {
        if self.book.with_untracked(Option::is_none) {
            self.book.set(Some(PodBook::new(pods)));
        }
    }

    pub(crate) fn note(self, text: impl Into<String>) {
        let id = self.push(Level::Note, text.into());
        live::after(NOTICE_MS, move || self.dismiss(id));
    }

    /// Says what went wrong; a login that has expired leads to the login page.
    pub(crate) fn fail(self, error: &UiError) {
        if error.is_unauthorized() {
            live::go_to_login();
        }
        self.push(Level::Error, format::sentence_case(error.sentence()));
    }

    fn push(self, level: Level, text: String) -> u64 {
        let id = self.next_notice.get_untracked();
        self.next_notice.set(id + 1);
        self.notices.update(|notices| {
            notices.retain(|notice| notice.text != text);
            notices.push(Notice { id, level, text });
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

/// A fresh id for a command that begins here. The browser's own maker of ids needs a secure context; this does not.
pub(crate) fn fresh_command() -> CommandId {
    CommandId::random()
}

/// What two Pods wrote to each other.
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

/// Where a picture or a file is: on this page's own server, which fetches what another one keeps.
pub(crate) fn blob_href(blob: &protocol::BlobId) -> String {
    format!("/api/v1/blobs/{blob}")
}

/// All that one record of a Pod says, as plain text.
pub(crate) fn record_href(pod: &PodRef, seq: Seq) -> String {
    format!("/api/v1/runtimes/{}/workers/{}/records/{seq}?format=text", pod.runtime_id, pod.worker_id)
}

/// The search for these words; for none, the empty search.
pub(crate) fn search_href(words: &str) -> String {
    match words.trim() {
        "" => Page::Search.href().to_owned(),
        words => format!("{}?q={}", Page::Search.href(), encoded(words)),
    }
}

/// Text as part of an address: all but letters, digits and `-._~` becomes `%XX`.
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
