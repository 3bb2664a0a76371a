//! Carries out the calls of other hosts.

use std::{sync::Arc, time::Duration};

use protocol::{ApiError, WorkerId};
use serde::Serialize;

use super::{Call, Cluster, Route, call::Answer};
use crate::{actor::Request, command::answer_of};

/// How often to look for calls when no notice comes.
const POLL: Duration = Duration::from_millis(200);

pub(super) fn start(cluster: &Arc<Cluster>) {
    cluster.tracker.spawn(take_calls(cluster.clone()));
}

async fn take_calls(cluster: Arc<Cluster>) {
    let Some(mut wake_ups) = cluster.store.hosts().wake_ups() else { return };
    loop {
        tokio::select! {
            () = cluster.stopping.cancelled() => return,
            changed = wake_ups.called.changed() => if changed.is_err() { return },
            () = tokio::time::sleep(POLL) => if !cluster.store.hosts().has_others() { continue },
        }
        let calls = match cluster.store.hosts().calls_take().await {
            Ok(calls) => calls,
            Err(error) => {
                tracing::debug!(%error, "what other hosts ask could not be read");
                continue;
            }
        };
        for call in calls {
            let cluster = cluster.clone();
            cluster
                .clone()
                .tracker
                .spawn(cluster.clone().under_lease(async move { answer(cluster, call.id, &call.body).await }));
        }
    }
}

async fn answer(cluster: Arc<Cluster>, id: i64, body: &str) {
    let call: Call = match serde_json::from_str(body) {
        Ok(call) => call,
        Err(error) => {
            return tracing::error!(%error, "what another host asks cannot be read; is it of another version?");
        }
    };
    let is_told = call.is_told();
    let answer = carry_out(&cluster, call).await.unwrap_or_else(Answer::Refused);
    let sent = match is_told {
        true => cluster.store.hosts().call_forget(id).await,
        false => {
            let answer = answer_of(&answer);
            cluster.store.hosts().call_answer(id, &answer).await
        }
    };
    if let Err(error) = sent {
        tracing::warn!(%error, "another host could not be answered");
    }
}

async fn carry_out(cluster: &Arc<Cluster>, call: Call) -> Result<Answer, ApiError> {
    if let Some(worker_id) = pod_of(&call)
        && cluster.route(worker_id).await? != Route::Here
    {
        return Ok(Answer::Moved);
    }
    match call {
        Call::Command { worker_id, key, origin, command } => {
            Ok(Answer::Done(cluster.actors.command_here(key, &origin, &worker_id, command).await?))
        }
        Call::Tool { worker_id, key, origin, asked } => done(&cluster.run_tool(key, &origin, &worker_id, asked).await?),
        Call::Files { worker_id, begun } => done(&cluster.files(&worker_id, &begun).await?),
        Call::Own { worker_id, asked: None } => done(&cluster.own_commands(&worker_id).await?),
        Call::Own { worker_id, asked: Some((name, arguments)) } => {
            done(&cluster.own_message(&worker_id, &name, &arguments).await?)
        }
        Call::Commands { worker_id } => done(&cluster.commands(&worker_id).await?),
        Call::Output { worker_id, id, after } => done(&cluster.command_output(&worker_id, &id, after).await?),
        Call::Shelf { worker_id, asked } => done(&cluster.shelf::<serde_json::Value>(&worker_id, asked).await?),
        Call::Changes { worker_id, since } => done(&cluster.changes(&worker_id, since).await?),
        Call::RewindPreview { worker_id, to_seq } => done(&cluster.preview_rewind(&worker_id, to_seq).await?),
        Call::Read { worker_id } => done(&cluster.read_elsewhere(&worker_id).await?),
        Call::Wake { worker_id } => done(&cluster.actors.send(&worker_id, Request::Wake).await?),
        Call::Hold { hold, worker_id } => done(&cluster.stand_still.hold(hold, &worker_id).await?),
        Call::Order { hold, wish } => done(&cluster.stand_still.order(&hold, wish).await?),
        Call::Outcome { hold, is_done } => {
            cluster.stand_still.outcome(&hold, is_done);
            done(&())
        }
    }
}

fn pod_of(call: &Call) -> Option<&WorkerId> {
    match call {
        Call::Command { worker_id, .. }
        | Call::Tool { worker_id, .. }
        | Call::Files { worker_id, .. }
        | Call::Own { worker_id, .. }
        | Call::Commands { worker_id }
        | Call::Output { worker_id, .. }
        | Call::Shelf { worker_id, .. }
        | Call::Changes { worker_id, .. }
        | Call::RewindPreview { worker_id, .. }
        | Call::Read { worker_id }
        | Call::Wake { worker_id }
        | Call::Hold { worker_id, .. } => Some(worker_id),
        Call::Order { .. } | Call::Outcome { .. } => None,
    }
}

fn done(answer: &impl Serialize) -> Result<Answer, ApiError> {
    Ok(Answer::Done(answer_of(answer)))
}
