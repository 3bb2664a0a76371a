//! Carries out what other hosts ask of this one.

use std::{sync::Arc, time::Duration};

use protocol::{ApiError, WorkerId};
use serde::Serialize;

use super::{Call, Cluster, Route, call::Answer};
use crate::actor::Request;

/// How often calls are looked for when no notice comes.
const POLL: Duration = Duration::from_millis(200);

pub(super) fn start(inner: &Arc<Cluster>) {
    inner.tracker.spawn(take_calls(inner.clone()));
}

async fn take_calls(inner: Arc<Cluster>) {
    let Some(mut wake_ups) = inner.store.wake_ups() else { return };
    loop {
        tokio::select! {
            () = inner.stopping.cancelled() => return,
            changed = wake_ups.called.changed() => if changed.is_err() { return },
            () = tokio::time::sleep(POLL) => if !inner.store.has_others() { continue },
        }
        let calls = match inner.store.calls_take().await {
            Ok(calls) => calls,
            Err(error) => {
                tracing::debug!(%error, "what other hosts ask could not be read");
                continue;
            }
        };
        for call in calls {
            let inner = inner.clone();
            inner
                .clone()
                .tracker
                .spawn(inner.clone().under_lease(async move { answer(inner, call.id, &call.body).await }));
        }
    }
}

async fn answer(inner: Arc<Cluster>, id: i64, body: &str) {
    let call: Call = match serde_json::from_str(body) {
        Ok(call) => call,
        Err(error) => {
            return tracing::error!(%error, "what another host asks cannot be read; is it of another version?");
        }
    };
    let is_told = call.is_told();
    let answer = carry_out(&inner, call).await.unwrap_or_else(Answer::Refused);
    let sent = match is_told {
        true => inner.store.call_forget(id).await,
        false => {
            let answer = serde_json::to_string(&answer).expect("an answer always encodes");
            inner.store.call_answer(id, &answer).await
        }
    };
    if let Err(error) = sent {
        tracing::warn!(%error, "another host could not be answered");
    }
}

async fn carry_out(inner: &Arc<Cluster>, call: Call) -> Result<Answer, ApiError> {
    if let Some(worker_id) = pod_of(&call)
        && inner.route(worker_id).await? != Route::Here
    {
        return Ok(Answer::Moved);
    }
    match call {
        Call::Command { worker_id, key, origin, command } => {
            Ok(Answer::Done(inner.actors.command_here(key, &origin, &worker_id, command).await?))
        }
        Call::Tool { worker_id, key, origin, name, command } => {
            done(&inner.run_tool(key, &origin, &worker_id, &name, command).await?)
        }
        Call::Files { worker_id, begun } => done(&inner.files(&worker_id, &begun).await?),
        Call::Read { worker_id } => done(&inner.read_elsewhere(&worker_id).await?),
        Call::Wake { worker_id } => done(&inner.actors.send(&worker_id, Request::Wake).await?),
        Call::Hold { hold, worker_id } => done(&inner.hold_for(hold, &worker_id).await?),
        Call::Order { hold, wish } => done(&inner.order_for(&hold, wish).await?),
        Call::Outcome { hold, is_done } => {
            inner.outcome_for(&hold, is_done);
            done(&())
        }
    }
}

fn pod_of(call: &Call) -> Option<&WorkerId> {
    match call {
        Call::Command { worker_id, .. }
        | Call::Tool { worker_id, .. }
        | Call::Files { worker_id, .. }
        | Call::Read { worker_id }
        | Call::Wake { worker_id }
        | Call::Hold { worker_id, .. } => Some(worker_id),
        Call::Order { .. } | Call::Outcome { .. } => None,
    }
}

fn done(answer: &impl Serialize) -> Result<Answer, ApiError> {
    Ok(Answer::Done(serde_json::to_string(answer).expect("an answer always encodes")))
}
