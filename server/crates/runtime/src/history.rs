//! Reading journals: in pages for people, as a context for a model.

use pod::{Context, Pod, PodSpec, Reach};
use pod_store::{PodKey, Store, StoreError, StoredRecord};
use protocol::{
    ApiError, Approval, CompactionPreview, ControlEvent, ErrorCode, Event, History, ReasoningPolicy, Record, Seq,
    THOUGHT_OF_WORDS, Thought, TurnEvent, WorkerId,
};
use serde_json::json;

use crate::{RecordForm, RecordPage, encode, ground::Ground, heavy, records::Rows, view};

/// How many events of a conversation are read at once, and how many bytes.
const TURNS_AT_ONCE_MAX: u32 = 512;
const BYTES_AT_ONCE_MAX: usize = 1024 * 1024;

/// A page of records with `seq` below `before`: pages go from newest to oldest, records within a page are in order. At
/// most `limit` records, fewer if they are large.
pub(crate) async fn page(
    ground: &Ground,
    worker_id: &WorkerId,
    before: Option<&str>,
    limit: u32,
    form: RecordForm,
) -> Result<RecordPage, ApiError> {
    let before = before.map(read_before).transpose()?;
    let row = ground.existing_row(worker_id).await?;
    let policy = view::open(&row).map(|opened| opened.spec.reasoning).unwrap_or_default();
    let rows = Rows { store: &ground.store, key: row.key, policy };
    let rows = rows.before(before, (limit, form)).await?;
    let next = rows.first().filter(|first| first.seq > Seq(1)).map(|first| first.seq.to_string());
    Ok(RecordPage { items: rows.into_iter().map(|row| row.body).collect(), next })
}

fn read_before(text: &str) -> Result<Seq, ApiError> {
    text.parse()
        .ok()
        .filter(|seq| *seq >= 1)
        .map(Seq)
        .ok_or_else(|| ApiError::invalid("`before` is a seq: a whole number from 1"))
}

/// What the Pod's model would be sent now.
pub(crate) async fn history(ground: &Ground, worker_id: &WorkerId) -> Result<History, ApiError> {
    let (context, _) = context(ground, worker_id).await?;
    let row = ground.existing_row(worker_id).await?;
    let policy = view::open(&row).map(|opened| opened.spec.reasoning).unwrap_or_default();
    let messages = heavy::work(context.weight(), move || {
        let mut messages = context.messages();
        messages.iter_mut().flat_map(|message| &mut message.thoughts).for_each(|thought| hide(policy, thought));
        messages
    });
    Ok(History { messages: messages.await })
}

/// Hides the text of reasoning that people may not see. It still goes to the model; people see that it does, and of
/// what kind it is.
fn hide(policy: ReasoningPolicy, thought: &mut Thought) {
    let kind = thought.data.get("type").cloned().unwrap_or_default();
    if policy != ReasoningPolicy::Full && kind != THOUGHT_OF_WORDS {
        let text = encode::shown_reasoning(policy, &thought.text);
        *thought = Thought { text, data: json!({ "type": kind }), hidden: true };
    }
}

/// What compacting the Pod now would do; `None` if there is nothing to drop.
pub(crate) async fn compaction_preview(
    ground: &Ground,
    worker_id: &WorkerId,
) -> Result<Option<CompactionPreview>, ApiError> {
    let (context, pod) = context(ground, worker_id).await?;
    let cut = heavy::work(context.weight(), move || context.cut(pod.head, pod.usage.context_limit)).await;
    let count = |messages: usize| messages.try_into().unwrap_or(u32::MAX);
    Ok(cut.map(|cut| CompactionPreview {
        dropped: count(cut.dropped),
        kept: count(cut.kept),
        kept_from_seq: cut.kept_from_seq,
        tokens_now: cut.tokens_now,
        tokens_kept: cut.tokens_kept,
    }))
}

async fn context(ground: &Ground, worker_id: &WorkerId) -> Result<(Context, Pod), ApiError> {
    let row = ground.existing_row(worker_id).await?;
    let opened = view::open(&row).map_err(|reason| ApiError::new(ErrorCode::NotRestorable, reason))?;
    let mut journal = Journal::until(&ground.store, row.key, &opened.spec, &opened.pod);
    // The row may lag behind the journal while the Pod is running.
    journal.before = Seq(i64::MAX);
    let context = journal.context(Reach::default()).await?;
    Ok((context, opened.pod))
}

/// Every approval that a Pod ever asked for, with its answer, oldest first.
pub(crate) async fn questions(store: &Store, key: PodKey) -> Result<Vec<Approval>, ApiError> {
    let rows = store.journals().questions(key).await?;
    let mut approvals: Vec<Approval> = Vec::new();
    for record in rows.iter().filter_map(|row| serde_json::from_slice::<Record>(&row.body).ok()) {
        let at = record.at;
        match record.event {
            Event::Control(ControlEvent::ApprovalAsked { id, tool, arguments, options }) => {
                approvals.push(Approval { options: options.0, ..Approval::open(id, tool, arguments, at) });
            }
            Event::Control(ControlEvent::ApprovalAnswered { id, decision, option, by, reason, .. }) => {
                if let Some(approval) = approvals.iter_mut().find(|approval| approval.id == id) {
                    *approval = Approval { decision, option, by, reason, ..approval.clone() };
                }
            }
            _ => (),
        }
    }
    Ok(approvals)
}

/// What a context is read from.
pub(crate) struct Journal {
    store: Store,
    key: PodKey,
    spec: PodSpec,
    bare_runs: Vec<(Seq, u64)>,
    before: Seq,
}

/// An event of the conversation, with its position and run.
type Turn = (Seq, Option<String>, TurnEvent);

impl Journal {
    /// The journal up to where the Pod has been folded.
    pub(crate) fn until(store: &Store, key: PodKey, spec: &PodSpec, pod: &Pod) -> Self {
        let (store, spec, bare_runs) = (store.clone(), spec.clone(), pod.bare_runs.clone());
        Self { store, key, spec, bare_runs, before: pod.head.next() }
    }

    /// The context according to the journal, read backwards from the newest event to the point before which nothing
    /// matters.
    pub(crate) async fn context(self, mut reach: Reach) -> Result<Context, StoreError> {
        let Self { store, key, spec, bare_runs, mut before } = self;
        let (mut turns, mut bytes, mut is_covered, mut has_gaps) = (Vec::new(), 0, false, false);
        while !is_covered {
            let rows = store.journals().turns_back(key, before, TURNS_AT_ONCE_MAX, BYTES_AT_ONCE_MAX).await?;
            let Some(last) = rows.last() else { break };
            before = last.seq;
            let size = rows.iter().map(|row| row.body.len()).sum();
            bytes += size;
            let page;
            (page, reach) = heavy::work(size, move || read(rows, reach)).await;
            (is_covered, has_gaps) = (page.is_last, has_gaps || page.has_gaps);
            turns.push(page.turns);
        }
        let fold = move || {
            let mut context = Context::new(&spec, &bare_runs);
            for (seq, run_id, event) in turns.into_iter().flatten().rev() {
                context.push(seq, run_id.as_deref(), &event);
            }
            if has_gaps {
                context.mend();
            }
            context
        };
        Ok(heavy::work(bytes, fold).await)
    }
}

/// Some events of a conversation, newest first.
struct Page {
    turns: Vec<Turn>,
    /// Nothing before them matters.
    is_last: bool,
    /// Records between them are damaged.
    has_gaps: bool,
}

/// The part of a page that matters.
fn read(rows: Vec<StoredRecord>, mut reach: Reach) -> (Page, Reach) {
    let mut page = Page { turns: Vec::new(), is_last: false, has_gaps: false };
    for row in rows {
        let Ok(Record { seq, run_id, event: Event::Turn(event), .. }) = serde_json::from_slice(&row.body) else {
            // A damaged row was returned as an alert, which is no part of a conversation.
            page.has_gaps = true;
            continue;
        };
        page.is_last = reach.is_covered_by(seq, run_id.as_deref(), &event);
        page.turns.push((seq, run_id, event));
        if page.is_last {
            break;
        }
    }
    (page, reach)
}
