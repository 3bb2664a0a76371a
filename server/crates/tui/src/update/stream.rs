//! What comes from the server.

use client::{Connection, StreamItem};
use protocol::{DiagnosticCode, PodRef, PodSummary, Record, ServerFrame};
use transcript::Transcript;

use super::{close, look_for_wanted};
use crate::model::{Effect, Group, Link, Model, Older, OpenPod};

pub(super) fn take(model: &mut Model, item: StreamItem) -> Vec<Effect> {
    match item {
        StreamItem::Connection(connection) => take_connection(model, connection),
        StreamItem::Frame(frame) => take_frame(model, frame),
    }
}

fn take_connection(model: &mut Model, connection: Connection) -> Vec<Effect> {
    match connection {
        Connection::Connected => {
            model.link = Link::Connected;
            return look_for_wanted(model);
        }
        Connection::Reconnecting { attempt, cause } => model.link = Link::Reconnecting { attempt, cause },
        Connection::Unauthorized => model.link = Link::Unauthorized,
        Connection::CaughtUp { records } => model.tell(format!("caught up: {records} records")),
        Connection::Reloaded => model.tell("reloaded from a snapshot"),
    }
    Vec::new()
}

fn take_frame(model: &mut Model, frame: ServerFrame) -> Vec<Effect> {
    match frame {
        ServerFrame::Pods { snapshot, upserts, removed, .. } => take_pods(model, snapshot, upserts, &removed),
        ServerFrame::Snapshot { id, summary, records, has_more, .. } => {
            if let Some(open) = open_with(model, &id) {
                open.transcript = Transcript::from_records(&records);
                open.older = if has_more { Older::OnTheServer } else { Older::None };
                upsert(&mut model.pods, *summary);
            }
        }
        ServerFrame::Records { id, records, .. } => {
            if let Some(open) = open_with(model, &id) {
                apply(open, &records);
            }
        }
        ServerFrame::Diagnostic { id: Some(id), code, detail } => return diagnosed(model, &id, code, detail),
        ServerFrame::Diagnostic { detail, .. } => model.complain(detail),
        _ => {}
    }
    Vec::new()
}

fn open_with<'a>(model: &'a mut Model, id: &str) -> Option<&'a mut OpenPod> {
    model.open.as_mut().filter(|open| open.subscription.as_deref() == Some(id))
}

fn apply(open: &mut OpenPod, records: &[Record]) {
    for record in records {
        open.transcript.apply(record);
    }
}

fn diagnosed(model: &mut Model, id: &str, code: DiagnosticCode, detail: String) -> Vec<Effect> {
    let is_gone = matches!(code, DiagnosticCode::PodGone | DiagnosticCode::PodNotFound);
    if open_with(model, id).is_none() {
        return Vec::new();
    }
    model.complain(detail);
    if is_gone { close(model) } else { Vec::new() }
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
    model.pods.sort_by(|one, other| (Group::of(one), &one.name).cmp(&(Group::of(other), &other.name)));
    let is_there = |pod: &PodRef| model.pods.iter().any(|summary| summary.pod == *pod);
    if !model.selected.as_ref().is_some_and(is_there) {
        model.selected = model.pods.first().map(|summary| summary.pod.clone());
    }
}

fn upsert(pods: &mut Vec<PodSummary>, summary: PodSummary) {
    match pods.iter_mut().find(|known| known.pod == summary.pod) {
        Some(known) => *known = summary,
        None => pods.push(summary),
    }
}
