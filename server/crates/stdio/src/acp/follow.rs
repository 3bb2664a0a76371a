//! Follows a session's Pod: what its journal says is shown in the editor, in order and once.

use std::sync::{Arc, Weak};

use agent_client_protocol::v1::schema::{ConfigOptionUpdate, SessionInfoUpdate, SessionUpdate};
use client::{EventStream, StreamItem};
use protocol::{ControlEvent, Event, PodSummary, Record, Seq, ServerFrame, operation::Page, operations::Approvals};
use serde_json::json;
use tokio::sync::oneshot;

use super::{
    choices,
    questions::{self, Question},
    session::Session,
};

/// Records that are shown of what was before; what is older is in yoi.
const REPLAYED: u32 = 2_000;
/// Records that are looked at, and not shown, to know what goes on.
const LOOKED_AT: u32 = 200;

/// What a session begins with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Begin {
    /// With what was before, and nothing else happens until that is shown.
    Replayed,
    /// With what was before, which is shown when the session is open.
    ReplayedAfter,
    /// With what happens from now on.
    FromNow,
}

/// Begins to follow the Pod of a session.
pub(super) async fn begin(session: &Arc<Session>, summary: &PodSummary, begin: Begin) {
    let tail = if begin == Begin::FromNow { LOOKED_AT } else { REPLAYED };
    let events = session.client.events();
    events.subscribe_pod(session.pod.clone(), None, tail);
    let (ready, is_ready) = oneshot::channel();
    let mut following =
        Following { session: Arc::downgrade(session), events, seen: Seq(0), begin: Some(begin), ready: Some(ready) };
    let task = tokio::spawn(async move { following.follow().await });
    session.is_followed_by(task.abort_handle());
    if begin == Begin::Replayed {
        // The task tells, or ends.
        let _ = is_ready.await;
    }
    let info = SessionInfoUpdate::new().title(summary.name.to_string());
    session.show(SessionUpdate::SessionInfoUpdate(info)).await;
}

/// What follows one Pod. It ends with its session.
struct Following {
    session: Weak<Session>,
    events: EventStream,
    /// The newest record that was shown.
    seen: Seq,
    /// What the first snapshot is for; none after it.
    begin: Option<Begin>,
    ready: Option<oneshot::Sender<()>>,
}

impl Following {
    async fn follow(&mut self) {
        loop {
            let frame = match self.events.next().await {
                StreamItem::Frame(frame) => frame,
                StreamItem::Connection(_) => continue,
            };
            let Some(session) = self.session.upgrade() else { return };
            match frame {
                ServerFrame::Snapshot { records, has_more, .. } => self.snapshot(&session, records, has_more).await,
                ServerFrame::Records { records, .. } => self.records(&session, records, true).await,
                ServerFrame::Closed { reason, .. } => return session.is_gone(&format!("the Pod is gone: {reason}")),
                _ => (),
            }
        }
    }

    /// The first one is what was before. A later one is what was missed, after a long absence or a flood.
    async fn snapshot(&mut self, session: &Arc<Session>, records: Vec<Record>, has_more: bool) {
        let begin = self.begin.take();
        let is_shown = begin != Some(Begin::FromNow);
        if has_more && is_shown && begin.is_some() {
            let older = json!({ "sessionUpdate": "agent_thought_chunk", "content": {
                "type": "text", "text": "What is older than this is in yoi.\n" } });
            if let Ok(update) = serde_json::from_value(older) {
                session.show(update).await;
            }
        }
        self.records(session, records, is_shown).await;
        if let Some(ready) = self.ready.take() {
            let _ = ready.send(());
        }
        if begin.is_some() {
            self.open_questions(session).await;
        }
    }

    async fn records(&mut self, session: &Arc<Session>, records: Vec<Record>, is_shown: bool) {
        for record in records {
            if record.seq <= self.seen {
                continue;
            }
            self.seen = record.seq;
            let updates = session.translator().updates(&record);
            if is_shown {
                for update in updates {
                    session.show(update).await;
                }
            }
            self.act(session, &record, self.begin.is_none() && self.ready.is_none()).await;
        }
    }

    /// What a record means for what the editor waits for, and for what it is asked.
    async fn act(&self, session: &Arc<Session>, record: &Record, is_live: bool) {
        let Event::Control(event) = &record.event else { return };
        match event {
            ControlEvent::RunStarted { command_id, .. } => session.run_began(command_id.as_ref()),
            ControlEvent::RunFinished { outcome, code, detail, .. } => {
                session.run_ended(*outcome, code.as_deref(), detail.as_deref());
            }
            ControlEvent::ApprovalAsked { .. } if is_live => {
                if let Some(question) = Question::read(&json!(event)) {
                    questions::ask(session, question).await;
                }
            }
            ControlEvent::ApprovalAnswered { id, .. } => questions::withdraw(session, id).await,
            ControlEvent::SettingsChanged { .. } if is_live => {
                if let Ok(options) = choices::of_pod(&session.client, &session.pod).await {
                    session.show(SessionUpdate::ConfigOptionUpdate(ConfigOptionUpdate::new(options))).await;
                }
            }
            _ => (),
        }
    }

    /// Asks what was asked before this session began.
    async fn open_questions(&self, session: &Arc<Session>) {
        let open = Approvals { pod: session.pod.clone(), all: false, page: Page::default() };
        let Ok(open) = session.client.read(&open).await else { return };
        for approval in open.items {
            if let Some(question) = Question::read(&json!(approval)) {
                questions::ask(session, question).await;
            }
        }
    }
}
