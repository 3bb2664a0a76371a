//! What is in a journal: for people in pages, for a model as its context.

use pod::{Context, Pod, PodSpec};
use pod_store::{PodKey, StoreError};
use protocol::{ApiError, CompactionPreview, ErrorCode, Event, History, Record, Seq, WorkerId};

use crate::{RecordPage, encode, error, host::Inner, view};

/// A page of records with seq below `before`, newest page first, in seq order within.
pub(crate) async fn page(
    inner: &Inner,
    worker_id: &WorkerId,
    before: Option<&str>,
    limit: u32,
) -> Result<RecordPage, ApiError> {
    let before = before.map(read_before).transpose()?;
    let row = inner.existing_row(worker_id).await?;
    let policy = view::open(&row).map(|opened| opened.spec.reasoning).unwrap_or_default();
    let rows = inner.store.records_before(row.key, before, limit).await.map_err(error::store_failed)?;
    let next = rows.first().filter(|first| first.seq > Seq(1)).map(|first| first.seq.to_string());
    Ok(RecordPage { items: rows.into_iter().map(|row| encode::visible(policy, row.body)).collect(), next })
}

fn read_before(text: &str) -> Result<Seq, ApiError> {
    text.parse()
        .ok()
        .filter(|seq| *seq >= 1)
        .map(Seq)
        .ok_or_else(|| ApiError::invalid("`before` is a seq: a whole number from 1"))
}

/// What the Pod's model would be sent now.
pub(crate) async fn history(inner: &Inner, worker_id: &WorkerId) -> Result<History, ApiError> {
    let row = inner.existing_row(worker_id).await?;
    let opened = view::open(&row).map_err(|reason| ApiError::new(ErrorCode::NotRestorable, reason))?;
    let context = context(inner, row.key, &opened.spec, &opened.pod).await.map_err(error::store_failed)?;
    Ok(History { messages: context.messages() })
}

/// What compacting the Pod now would do; none when there is nothing to drop.
pub(crate) async fn compaction_preview(
    inner: &Inner,
    worker_id: &WorkerId,
) -> Result<Option<CompactionPreview>, ApiError> {
    let row = inner.existing_row(worker_id).await?;
    let opened = view::open(&row).map_err(|reason| ApiError::new(ErrorCode::NotRestorable, reason))?;
    let context = context(inner, row.key, &opened.spec, &opened.pod).await.map_err(error::store_failed)?;
    let count = |messages: usize| messages.try_into().unwrap_or(u32::MAX);
    Ok(context.cut(opened.pod.head, opened.pod.usage.context_limit).map(|cut| CompactionPreview {
        dropped: count(cut.dropped),
        kept: count(cut.kept),
        kept_from_seq: cut.kept_from_seq,
        tokens_now: cut.tokens_now,
        tokens_kept: cut.tokens_kept,
    }))
}

/// The context as the journal has it.
pub(crate) async fn context(inner: &Inner, key: PodKey, spec: &PodSpec, pod: &Pod) -> Result<Context, StoreError> {
    let mut context = Context::new(spec, &pod.bare_runs);
    for row in inner.store.turn_records(key, Seq(1)).await? {
        // A damaged row was given back as an alert: it is no part of a conversation.
        if let Ok(Record { seq, run_id, event: Event::Turn(event), .. }) = serde_json::from_slice(&row.body) {
            context.push(seq, run_id.as_deref(), &event);
        }
    }
    Ok(context)
}
