//! Generates plausible journals from random numbers: each pair of bytes is one possible next event.

use jiff::{SignedDuration, Timestamp};
use proptest::prelude::*;
use protocol::*;
use serde_json::json;

/// A journal, and which records folding drops for each finished block.
#[derive(Debug, Clone)]
pub(crate) struct Journal {
    pub(crate) records: Vec<Record>,
    /// For each finished stream, the seqs of its chunks.
    pub(crate) folds: Vec<Vec<Seq>>,
}

impl Journal {
    /// The records without the chunks of the finished streams that `mask` selects.
    pub(crate) fn folded(&self, mask: u64) -> Vec<Record> {
        let dropped: std::collections::HashSet<Seq> = self
            .folds
            .iter()
            .enumerate()
            .filter(|(index, _)| mask >> (index % 64) & 1 == 1)
            .flat_map(|(_, seqs)| seqs.iter().copied())
            .collect();
        self.records.iter().filter(|record| !dropped.contains(&record.seq)).cloned().collect()
    }
}

pub(crate) fn journals() -> impl Strategy<Value = Journal> {
    prop::collection::vec(any::<(u8, u8)>(), 0..160).prop_map(|steps| {
        let mut writer = Writer::default();
        steps.into_iter().for_each(|(step, detail)| writer.step(step, usize::from(detail)));
        Journal { records: writer.records, folds: writer.folds }
    })
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Kind {
    Text,
    Reasoning,
    Arguments,
    Output,
}

/// An open stream.
#[derive(Debug)]
struct Stream {
    kind: Kind,
    block: String,
    text: String,
    chunks: Vec<Seq>,
    run_id: Option<String>,
}

#[derive(Debug, Default)]
struct Writer {
    records: Vec<Record>,
    folds: Vec<Vec<Seq>>,
    run: Option<String>,
    streams: Vec<Stream>,
    names: usize,
    peers_sent: std::collections::HashSet<usize>,
    commands: Vec<CommandId>,
}

impl Writer {
    fn step(&mut self, step: u8, detail: usize) {
        match step % 24 {
            0 => self.person(detail),
            1 | 2 if self.run.is_none() => self.start(detail),
            1..=7 => self.chunk(detail),
            8..=10 => self.finish(detail),
            11 | 12 => self.call(detail),
            13 => self.end(detail),
            14 | 15 => self.retry(detail),
            16 => self.usage(detail),
            17 => self.status(detail),
            18 => self.peer(detail % 6),
            19 | 20 => self.receipt(detail),
            21 => self.question(detail),
            22 => self.operator_call(detail),
            _ => self.other(detail),
        }
    }

    fn push(&mut self, event: impl Into<Event>) -> Seq {
        let run_id = self.run.clone();
        self.push_as(event, run_id)
    }

    fn push_as(&mut self, event: impl Into<Event>, run_id: Option<String>) -> Seq {
        let seq = Seq(self.records.len() as i64 + 1);
        let at = Timestamp::UNIX_EPOCH + SignedDuration::from_millis(seq.0 * 700);
        self.records.push(Record { seq, at, run_id, event: event.into(), cut: None });
        seq
    }

    fn put(&mut self, event: TurnEvent, run_id: Option<String>) {
        self.push_as(event, run_id);
    }

    fn name(&mut self, stem: &str) -> String {
        self.names += 1;
        format!("{stem}{}", self.names)
    }

    fn person(&mut self, detail: usize) {
        let command_id = CommandId::parse(&self.name("c")).unwrap();
        self.commands.push(command_id.clone());
        let event = TurnEvent::UserMessage {
            segments: vec![Segment::text("hello")],
            command_id,
            by: "me".to_owned(),
            blobs: protocol::Blobs::default(),
        };
        match detail % 3 {
            0 => self.push(event),
            _ => self.push_as(event, None),
        };
    }

    fn start(&mut self, detail: usize) {
        self.run = Some(self.name("run"));
        let command_id = match detail % 3 {
            0 => None,
            _ => self.commands.last().cloned(),
        };
        self.push(ControlEvent::RunStarted { trigger: Trigger::Input, command_id });
    }

    fn chunk(&mut self, detail: usize) {
        if self.run.is_none() {
            return;
        }
        if self.streams.is_empty() || detail.is_multiple_of(5) {
            let kind = [Kind::Text, Kind::Reasoning, Kind::Arguments][detail / 5 % 3];
            let block = self.name("b");
            let run_id = self.run.clone();
            self.streams.push(Stream { kind, block, text: String::new(), chunks: Vec::new(), run_id });
        }
        let index = detail % self.streams.len();
        let text = if detail.is_multiple_of(7) { String::new() } else { format!("{detail} ") };
        self.stream_chunk(index, text);
    }

    fn stream_chunk(&mut self, index: usize, text: String) {
        let stream = &mut self.streams[index];
        stream.text.push_str(&text);
        let (block, run_id) = (stream.block.clone(), stream.run_id.clone());
        let seq = self.push_as(
            match self.streams[index].kind {
                Kind::Text => TurnEvent::TextChunk { block, text },
                Kind::Reasoning => TurnEvent::ReasoningChunk { block, text },
                Kind::Arguments => TurnEvent::ToolArgsChunk { block, text, name: None },
                Kind::Output => TurnEvent::ToolOutputChunk { block, text },
            },
            run_id,
        );
        self.streams[index].chunks.push(seq);
    }

    fn finish(&mut self, detail: usize) {
        if self.streams.is_empty() {
            return;
        }
        let stream = self.streams.remove(detail % self.streams.len());
        self.folds.push(stream.chunks);
        let (block, text, interrupted) = (stream.block, stream.text, detail.is_multiple_of(4));
        let text_finished = TurnEvent::MessageFinished { block: block.clone(), text: text.clone(), interrupted };
        match stream.kind {
            Kind::Text => self.put(text_finished, stream.run_id),
            Kind::Reasoning => {
                self.put(TurnEvent::ReasoningFinished { block, text, interrupted, proof: None }, stream.run_id)
            }
            Kind::Arguments => self.called(block, ToolBy::Model, stream.run_id),
            Kind::Output => self.result(block, detail, stream.run_id),
        }
    }

    fn call(&mut self, detail: usize) {
        let run_id = self.run.clone();
        if run_id.is_some() && detail.is_multiple_of(3) {
            let block = self.name("b");
            self.called(block, ToolBy::Model, run_id);
        } else if run_id.is_some() {
            self.finish(detail);
        }
    }

    fn operator_call(&mut self, _detail: usize) {
        let block = self.name("b");
        self.called(block, ToolBy::Operator, None);
    }

    fn called(&mut self, block: String, by: ToolBy, run_id: Option<String>) {
        let (call_id, name) = (format!("call-{block}"), "Bash".to_owned());
        let arguments = json!({ "command": block });
        self.push_as(
            TurnEvent::ToolCalled { call_id, block: block.clone(), name, arguments, by, agent_call_id: None },
            run_id.clone(),
        );
        self.streams.push(Stream { kind: Kind::Output, block, text: String::new(), chunks: Vec::new(), run_id });
    }

    fn result(&mut self, block: String, detail: usize, run_id: Option<String>) {
        let event = TurnEvent::ToolFinished {
            call_id: format!("call-{block}"),
            block,
            summary: "done".to_owned(),
            content: Some(format!("{detail} lines")),
            is_error: detail.is_multiple_of(2),
            code: None,
            diff: None,
            duration_ms: detail as u64,
            by: ToolBy::Model,
            seen: None,
            blobs: protocol::Blobs::default(),
        };
        self.push_as(event, run_id);
    }

    /// Most ends finish what is streaming, as a Pod does; some do not, as a broken one might.
    fn end(&mut self, detail: usize) {
        let Some(run) = self.run.clone() else { return };
        while !detail.is_multiple_of(3)
            && let Some(index) = self.streams.iter().position(|stream| stream.run_id.as_ref() == Some(&run))
        {
            self.streams.rotate_left(index);
            self.finish(0);
            self.streams.retain(|stream| stream.kind != Kind::Output || detail.is_multiple_of(2));
        }
        self.streams.retain(|stream| stream.run_id != Some(run.clone()));
        use Outcome::*;
        let outcome = [Completed, Cancelled, Paused, Limit, Interrupted, RolledBack, Error][detail % 7];
        self.push(ControlEvent::RunFinished { outcome, code: None, detail: None, usage: Usage::default() });
        self.run = None;
    }

    fn retry(&mut self, detail: usize) {
        if self.run.is_some() {
            let (attempt, wait_ms) = (detail as u32, 100);
            let (code, detail) = ("overloaded".to_owned(), "try later".to_owned());
            self.push(ControlEvent::ProviderRetry { attempt, wait_ms, code, detail });
        }
    }

    fn usage(&mut self, detail: usize) {
        let usage = Usage { input: detail as u64, ..Usage::default() };
        self.push(ControlEvent::Usage { usage });
    }

    fn status(&mut self, detail: usize) {
        let state = PodState::ALL[detail % PodState::ALL.len()];
        self.push_as(ControlEvent::Status { state, state_reason: None }, None);
    }

    fn peer(&mut self, message: usize) {
        if self.peers_sent.insert(message) {
            let (message_id, text) = (format!("m{message}"), "hi".to_owned());
            self.push_as(TurnEvent::PeerMessage { message_id, text, from: bob(), hops: 0 }, None);
        }
    }

    fn receipt(&mut self, detail: usize) {
        use ReceiptState::*;
        let state = [Stored, Read, Answered, Held, Refused, Expired][detail / 6 % 6];
        let turn = (detail.is_multiple_of(2)).then_some(detail as u64);
        let message_id = format!("m{}", detail % 6);
        self.push_as(ControlEvent::MessageReceipt { message_id, peer: bob(), state, turn, reason: None }, None);
    }

    /// Some approvals belong to runs, others to a command that a person runs, which belongs to none.
    fn question(&mut self, detail: usize) {
        let number = detail / 2 % 4;
        let run_id = self.run.clone().filter(|_| number.is_multiple_of(2));
        if run_id.is_none() && number.is_multiple_of(2) {
            return;
        }
        let (id, tool, arguments) = (format!("q{number}"), "Write".to_owned(), json!({}));
        let event = match detail % 2 {
            0 => ControlEvent::ApprovalAsked { id, tool, arguments, options: protocol::AgentOptions::default() },
            _ => {
                let decision = Some(Decision::Allow);
                ControlEvent::ApprovalAnswered { id, tool, arguments, decision, option: None, by: None, reason: None }
            }
        };
        self.push_as(event, run_id);
    }

    fn other(&mut self, detail: usize) {
        let (by, request_id, note) = ("me".to_owned(), None, None);
        match detail % 5 {
            0 => self.push(ControlEvent::PeerLinked { peer: bob(), by, request_id, note }),
            1 => self.push(ControlEvent::Alert {
                level: AlertLevel::Warn,
                source: "disk".to_owned(),
                text: by,
                model: None,
            }),
            2 => self.push(Event::Unknown(json!({ "kind": "sung" }).as_object().unwrap().clone())),
            3 => self.push(TurnEvent::Compacted { summary: "before".to_owned(), kept_from_seq: Seq(1) }),
            _ => self.push(TurnEvent::Rewound { to_seq: Seq(1) }),
        };
    }
}

fn bob() -> PeerLabel {
    let worker_id = WorkerId::parse("0190-bb").unwrap();
    PeerLabel { runtime_id: RuntimeId::local(), worker_id, name: PodName::parse("bob").unwrap() }
}
