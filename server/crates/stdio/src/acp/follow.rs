//! Follows a session's Pod: shows its journal in the editor, in order and exactly once.

use std::sync::{Arc, Weak};

use client::{EventStream, StreamItem};
use protocol::{ControlEvent, Event, Record, Seq, ServerFrame, operation::Page, operations::Approvals};
use serde_json::json;
use tokio::sync::oneshot;

use super::{
    questions::{self, Question},
    session::Session,
};

/// How many earlier records are replayed; yoi has the older ones.
const REPLAYED: u32 = 2_000;
/// How many earlier records are read without being shown, to know the current state.
const LOOKED_AT: u32 = 200;

/// What a session starts with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Begin {
    /// With earlier records, shown before anything else happens.
    Replayed,
    /// With earlier records, shown once the session is open.
    ReplayedAfter,
    /// Only with what happens from now on.
    FromNow,
}

/// Starts following a session's Pod.
pub(super) async fn begin(session: &Arc<Session>, begin: Begin) {
    let tail = if begin == Begin::FromNow { LOOKED_AT } else { REPLAYED };
    let events = session.client.events();
    events.subscribe_pod(session.pod.clone(), None, tail);
    let (ready, is_ready) = oneshot::channel();
    let mut following =
        Following { session: Arc::downgrade(session), events, seen: Seq(0), begin: Some(begin), ready: Some(ready) };
    let task = tokio::spawn(async move { following.follow().await });
    session.is_followed_by(task.abort_handle());
    if begin == Begin::Replayed {
        // The task either signals or ends.
        let _ = is_ready.await;
    }
}

/// Follows one Pod. Ends with its session.
struct Following {
    session: Weak<Session>,
    events: EventStream,
    /// The newest record that was shown.
    seen: Seq,
    /// What the first snapshot is for; `None` after it.
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

    /// The first snapshot has the earlier records. A later one has what was missed, after a long absence or a flood.
    async fn snapshot(&mut self, session: &Arc<Session>, records: Vec<Record>, has_more: bool) {
        let begin = self.begin.take();
        let is_shown = begin != Some(Begin::FromNow);
        if has_more && is_shown && begin.is_some() {
            let older = json!({ "sessionUpdate": "agent_thought_chunk", "content": {
                "type": "text", "text": "Older messages are in yoi.\n" } });
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

    /// Applies a record to the prompts that the editor waits for and to the approvals that it is asked.
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
            ControlEvent::SettingsChanged { mode, .. } if is_live => {
                if mode.is_some() {
                    session.show_mode().await;
                }
                session.show_choices(false).await;
            }
            ControlEvent::Usage { .. } if is_live => session.show_usage().await,
            ControlEvent::AgentOffers { .. } if is_live => session.show_choices(true).await,
            ControlEvent::ModeChanged { .. } if is_live => {
                session.show_mode().await;
                session.show_choices(false).await;
            }
            _ => (),
        }
    }

    /// Asks for approvals that were opened before this session.
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
