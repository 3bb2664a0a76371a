//! Handles what the server sends by itself.

use client::{Connection, StreamItem};
use commands::grouped;
use protocol::{ControlEvent, DiagnosticCode, Event, PodRef, PodSummary, Record, ServerFrame, TurnEvent};

use super::{choices, close, look, look_for_wanted, scroll, sheets};
use crate::model::{Link, Model, Older, OpenPod};

pub(super) fn take(model: &mut Model, item: StreamItem) {
    match item {
        StreamItem::Connection(connection) => take_connection(model, connection),
        StreamItem::Frame(frame) => take_frame(model, frame),
    }
}

fn take_connection(model: &mut Model, connection: Connection) {
    match connection {
        Connection::Connected => {
            model.link = Link::Connected;
            look_for_wanted(model);
            look(model);
        }
        Connection::Reconnecting { attempt, cause } => model.link = Link::Reconnecting { attempt, cause },
        Connection::Unauthorized => model.link = Link::Unauthorized,
        Connection::CaughtUp { records } => tell_softly(model, format!("caught up: {records} records")),
        Connection::Reloaded => tell_softly(model, "reloaded from a snapshot".to_owned()),
    }
}

/// Shows a notice, unless an error is showing.
fn tell_softly(model: &mut Model, text: String) {
    if !model.notice.as_ref().is_some_and(|notice| notice.is_error) {
        model.tell(text);
    }
}

fn take_frame(model: &mut Model, frame: ServerFrame) {
    match frame {
        ServerFrame::Pods { snapshot, upserts, removed, .. } => take_pods(model, snapshot, upserts, &removed),
        ServerFrame::Snapshot { id, summary, records, has_more, .. } => {
            let Some(open) = open_with(model, &id) else { return };
            open.begin(&records);
            open.older = if has_more { Older::OnTheServer } else { Older::None };
            look(model);
            upsert(&mut model.pods, *summary);
            arrange(model);
            scroll::seek(model);
        }
        ServerFrame::Records { id, records, .. } => {
            let Some(open) = open_with(model, &id) else { return };
            open.apply(&records);
            if records.iter().any(is_telling) {
                look(model);
            }
        }
        ServerFrame::Diagnostic { id: Some(id), code, detail } => diagnosed(model, &id, code, detail),
        ServerFrame::Diagnostic { detail, .. } => model.complain(detail),
        _ => {}
    }
}

/// Whether the record may change the queue, the peers, the agent's offers, or the effect of an approval.
fn is_telling(record: &Record) -> bool {
    matches!(
        &record.event,
        Event::Control(
            ControlEvent::RunStarted { .. }
                | ControlEvent::RunFinished { .. }
                | ControlEvent::PeerLinked { .. }
                | ControlEvent::PeerUnlinked { .. }
                | ControlEvent::PeerRequested { .. }
                | ControlEvent::PeerDeclined { .. }
                | ControlEvent::ApprovalAsked { .. }
                | ControlEvent::AgentStarted { .. }
                | ControlEvent::AgentOffers { .. }
                | ControlEvent::ModeChanged { .. }
        ) | Event::Turn(TurnEvent::ToolFinished { diff: Some(_), .. })
    )
}

fn open_with<'a>(model: &'a mut Model, id: &str) -> Option<&'a mut OpenPod> {
    model.open.as_mut().filter(|open| open.subscription.as_deref() == Some(id))
}

fn diagnosed(model: &mut Model, id: &str, code: DiagnosticCode, detail: String) {
    let Some(pod) = open_with(model, id).map(|open| open.pod.clone()) else {
        // About the list itself: keep what is there and report the problem.
        return model.complain(format!("list of Pods: {detail}"));
    };
    let name = model.called(&pod);
    match code {
        DiagnosticCode::PodGone | DiagnosticCode::PodNotFound => {
            model.complain(format!("{name} is gone: {detail}"));
            close(model);
        }
        DiagnosticCode::RuntimeUnavailable => model.complain(format!("{name} is unreachable, retrying: {detail}")),
        // A snapshot follows, which is reported by itself.
        DiagnosticCode::Lagged | DiagnosticCode::CursorExpired | DiagnosticCode::CursorInvalid => {}
        _ => model.complain(detail),
    }
}

fn take_pods(model: &mut Model, snapshot: bool, upserts: Vec<PodSummary>, removed: &[PodRef]) {
    model.pods_known = true;
    if snapshot {
        model.pods.clear();
    }
    model.pods.retain(|summary| !removed.contains(&summary.pod));
    for summary in upserts {
        upsert(&mut model.pods, summary);
    }
    arrange(model);
    sheets::reload(model);
    look_for_queue(model);
    // The first screen names the default model.
    if model.is_fresh() && model.choices.is_none() {
        choices::load(model);
    }
}

/// No stream carries the queue, but the list carries its length: request the queue again when the two differ, because
/// another viewer may have added or removed a message.
fn look_for_queue(model: &mut Model) {
    let Some(open) = &model.open else { return };
    if model.summary_of(&open.pod).is_some_and(|summary| summary.queued_count as usize != open.queued.len()) {
        look(model);
    }
}

fn upsert(pods: &mut Vec<PodSummary>, summary: PodSummary) {
    match pods.iter_mut().find(|known| known.pod == summary.pod) {
        Some(known) => *known = summary,
        None => pods.push(summary),
    }
}

/// Sorts the Pods in the order of the list, and makes sure that one of them is selected.
fn arrange(model: &mut Model) {
    model.pods = grouped(&model.pods, "", &[]).into_iter().flat_map(|(_, pods)| pods).collect();
    let is_there = |pod: &PodRef| model.pods.iter().any(|summary| summary.pod == *pod);
    if !model.selected.as_ref().is_some_and(is_there) {
        model.selected = model.pods.first().map(|summary| summary.pod.clone());
    }
}
