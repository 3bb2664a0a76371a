//! A Pod with the journal that made it, and short names for what can happen to it.

use pod::{
    Context, Decision, Effect, Input, ModelPiece, NoSummary, Pod, PodSpec, Reach, Refusal, Summary, ToolOutcome,
    decide, recover,
};
use protocol::{Blobs, CommandId, Event, Message, PodState, Record, Role, Segment, Seq, ToolBy, TurnEvent, Usage};
use serde_json::{Value, json};

/// The size of the context of the tests' model, in tokens.
pub(crate) const CONTEXT_LIMIT: u64 = 100;

pub(crate) fn spec() -> PodSpec {
    serde_json::from_value(json!({
        "provider": "rehearsal", "model": "rehearsal", "cwd": "/", "scope": [], "wake_on_peer": true,
        "permissions": [{ "tool": "Rm", "decision": "deny" }]
    }))
    .unwrap()
}

#[derive(Debug, Clone, Default)]
pub(crate) struct Journal {
    pub(crate) pod: Pod,
    pub(crate) records: Vec<Record>,
}

impl Journal {
    pub(crate) fn take(&mut self, input: Input) -> Result<Vec<Effect>, Refusal> {
        let decision = decide(&self.pod, &spec(), input)?;
        Ok(self.write(decision))
    }

    /// Several inputs that are all accepted.
    pub(crate) fn all(mut self, inputs: impl IntoIterator<Item = Input>) -> Self {
        for input in inputs {
            self.take(input).unwrap();
        }
        self
    }

    /// What a crash and a restart do.
    pub(crate) fn crash(&mut self) {
        self.pod = serde_json::from_str(&serde_json::to_string(&self.pod).unwrap()).unwrap();
        let decision = recover(&self.pod, |_| None, |_| None);
        assert_eq!(self.write(decision), [], "a restart does nothing to the world");
    }

    pub(crate) fn write(&mut self, decision: Decision) -> Vec<Effect> {
        for step in decision.steps {
            let seq = self.pod.head.next();
            // Any two records are a second apart.
            let at = protocol::Timestamp::from_second(1_767_225_600 + seq.0).unwrap();
            self.pod.evolve_at(seq, at, &step.event);
            self.records.push(Record { seq, at, run_id: step.run_id, event: step.event, cut: None });
        }
        decision.effects
    }

    pub(crate) fn kinds(&self) -> Vec<&str> {
        self.kinds_after(Seq(0))
    }

    pub(crate) fn kinds_after(&self, seq: Seq) -> Vec<&str> {
        self.records.iter().filter(|record| record.seq > seq).map(|record| record.event.kind()).collect()
    }

    pub(crate) fn last_record(&self, kind: &str) -> &Record {
        self.records.iter().rev().find(|record| record.event.kind() == kind).unwrap()
    }

    pub(crate) fn last(&self, kind: &str) -> Value {
        serde_json::to_value(&self.last_record(kind).event).unwrap()
    }

    pub(crate) fn seq_of(&self, kind: &str) -> Seq {
        self.last_record(kind).seq
    }

    pub(crate) fn states(&self) -> Vec<PodState> {
        let state = |record: &Record| match &record.event {
            Event::Control(protocol::ControlEvent::Status { state, .. }) => Some(*state),
            _ => None,
        };
        self.records.iter().filter_map(state).collect()
    }

    /// The context according to the journal, read back from its JSON.
    pub(crate) fn context(&self) -> Context {
        let mut context = Context::new(&spec(), &self.pod.bare_runs);
        for record in &self.records {
            let record: Record = serde_json::from_str(&serde_json::to_string(record).unwrap()).unwrap();
            if let Event::Turn(event) = &record.event {
                context.push(record.seq, record.run_id.as_deref(), event);
            }
        }
        context
    }

    /// The context when only a part of the journal is read, and how many events of the conversation that takes.
    pub(crate) fn context_within(&self, mut reach: Reach) -> (Context, usize) {
        let turns = || {
            self.records.iter().filter_map(|record| match &record.event {
                Event::Turn(event) => Some((record.seq, record.run_id.as_deref(), event)),
                _ => None,
            })
        };
        let newest_first = turns().collect::<Vec<_>>().into_iter().rev();
        let mut read = Vec::new();
        for (seq, run_id, event) in newest_first {
            read.push((seq, run_id, event));
            if reach.is_covered_by(seq, run_id, event) {
                break;
            }
        }
        let mut context = Context::new(&spec(), &self.pod.bare_runs);
        read.iter().rev().for_each(|(seq, run_id, event)| context.push(*seq, *run_id, event));
        (context, read.len())
    }

    /// What the model would be sent, except for the system message: `role: text [calls]` each.
    pub(crate) fn said(&self) -> Vec<String> {
        self.context().messages()[1..].iter().map(in_short).collect()
    }

    /// The most recent call, as the journal names it.
    pub(crate) fn last_call(&self) -> String {
        self.last("tool_called")["call_id"].as_str().unwrap().to_owned()
    }
}

fn in_short(message: &Message) -> String {
    let role = match message.role {
        Role::System => "system",
        Role::User => "user",
        Role::Assistant => "model",
        Role::Tool => "result",
    };
    let calls: Vec<_> = message.tool_calls.iter().map(|call| call.name.as_str()).collect();
    let calls = if calls.is_empty() { String::new() } else { format!(" [{}]", calls.join(" ")) };
    format!("{role}: {}{calls}", message.content.replace('\n', " / "))
}

pub(crate) fn submit() -> Input {
    ask("hello")
}

pub(crate) fn ask(text: &str) -> Input {
    Input::Submit {
        command_id: CommandId::parse("k1").unwrap(),
        segments: vec![Segment::text(text)],
        by: "operator".to_owned(),
        blobs: Blobs::default(),
    }
}

/// A message into the current run.
pub(crate) fn steer(text: &str) -> Input {
    Input::Steer {
        command_id: CommandId::parse("k2").unwrap(),
        segments: vec![Segment::text(text)],
        by: "operator".to_owned(),
        blobs: Blobs::default(),
    }
}

pub(crate) fn resume() -> Input {
    Input::Resume { command_id: None }
}

pub(crate) fn retry(is_unanswered: bool) -> Input {
    Input::Retry { command_id: CommandId::parse("k3").unwrap(), is_unanswered }
}

pub(crate) fn text(text: &str) -> Input {
    Input::Model(ModelPiece::Text(text.to_owned()))
}

pub(crate) fn thought(text: &str) -> Input {
    Input::Model(ModelPiece::Reasoning(text.to_owned()))
}

pub(crate) fn call(name: &str) -> Input {
    Input::Model(ModelPiece::ToolCall { index: 0, name: name.to_owned(), arguments: json!({}) })
}

pub(crate) fn finished() -> Input {
    Input::Model(ModelPiece::Finished)
}

pub(crate) fn used(context_used: u64) -> Input {
    Input::Model(ModelPiece::Usage(Usage { context_used, context_limit: CONTEXT_LIMIT, ..Usage::default() }))
}

pub(crate) fn ended(call_id: &str, summary: &str) -> Input {
    Input::ToolFinished { call_id: call_id.to_owned(), outcome: ToolOutcome::done(summary) }
}

pub(crate) fn output(call_id: &str, text: &str) -> Input {
    Input::ToolOutput { call_id: call_id.to_owned(), text: text.to_owned() }
}

pub(crate) fn answered(id: &str, decision: protocol::Decision) -> Input {
    Input::Answer { id: id.to_owned(), decision, by: "operator".to_owned(), reason: None, content: None, option: None }
}

/// The server of a running tool asks something.
pub(crate) fn server_asks(call_id: &str, number: u64) -> Input {
    let schema = json!({ "type": "object", "properties": { "name": { "type": "string" } } });
    let (server, message) = ("files".to_owned(), "Who are you?".to_owned());
    Input::Ask { call_id: call_id.to_owned(), number, server, message, schema }
}

pub(crate) fn allow(id: &str) -> Input {
    answered(id, protocol::Decision::Allow)
}

pub(crate) fn deny(id: &str) -> Input {
    answered(id, protocol::Decision::Deny)
}

pub(crate) fn operator_call(name: &str) -> Input {
    Input::OperatorCall { name: name.to_owned(), arguments: json!({}) }
}

pub(crate) fn peer(text: &str) -> TurnEvent {
    serde_json::from_value(json!({
        "kind": "peer_message", "message_id": "m", "text": text, "hops": 0,
        "from": { "runtime_id": "local", "worker_id": "w2", "name": "bob" }
    }))
    .unwrap()
}

pub(crate) fn child() -> TurnEvent {
    serde_json::from_value(json!({
        "kind": "child_event", "what": "turn_ended",
        "child": { "pod": { "runtime_id": "local", "worker_id": "w3" }, "name": "kid" }
    }))
    .unwrap()
}

pub(crate) fn mail(events: impl IntoIterator<Item = TurnEvent>) -> Input {
    Input::Mail { events: events.into_iter().collect(), wakes: true }
}

pub(crate) fn summary(text: &str, kept_from_seq: Seq) -> Input {
    let usage = Usage { context_used: 1, context_limit: CONTEXT_LIMIT, ..Usage::default() };
    Input::Summarised(Ok(Summary { text: text.to_owned(), kept_from_seq, usage }))
}

pub(crate) fn no_summary() -> Input {
    Input::Summarised(Err(NoSummary::Failed("no".to_owned())))
}

/// A rewind by somebody who knows the head.
pub(crate) fn rewind(journal: &Journal, to_seq: Seq) -> Input {
    Input::Rewind { to_seq, expected_head: journal.pod.head, context_used: 7 }
}

pub(crate) fn run_tool(call_id: &str, name: &str) -> Effect {
    Effect::RunTool { call_id: call_id.to_owned(), name: name.to_owned(), arguments: json!({}), by: ToolBy::Model }
}

/// A Pod that was asked something.
pub(crate) fn running() -> Journal {
    Journal::default().all([submit()])
}

/// A Pod with one completed turn.
pub(crate) fn idle() -> Journal {
    running().all([text("hi"), finished()])
}

/// The same, with a context that is full according to the model.
pub(crate) fn full() -> Journal {
    running().all([text("hi"), used(90), finished()])
}

pub(crate) fn paused() -> Journal {
    running().all([Input::Pause])
}

pub(crate) fn stopped() -> Journal {
    Journal::default().all([Input::Stop])
}

/// A Pod with an approval for its call of Bash, `call-b1`.
pub(crate) fn waiting() -> Journal {
    let journal = running().all([call("Bash"), finished()]);
    assert_eq!(journal.pod.state, PodState::Waiting);
    journal
}

/// A Pod with approvals for `call-b1` and `call-b3`, while `call-b2` (Read) runs.
pub(crate) fn waiting_beside_a_call() -> Journal {
    let journal = running().all([call("Bash"), call("Read"), call("Write"), finished()]);
    assert_eq!(journal.pod.approvals.len(), 2);
    journal
}
