//! A Pod with the world around it: a model and tools that answer only when asked, people, mail, crashes.
//!
//! Each step is followed by checks that the Pod is still consistent: whenever its model is called, a provider has to
//! accept the conversation, and nothing that was said may be lost.

use std::collections::BTreeSet;

use pod::{Cause, Context, Cut, Effect, Failure, Input, ModelPiece, NoSummary, Reach, Room};
use proptest::prelude::*;
use protocol::{Decision, Event, Message, PodState, Role, Seq, ToolBy, TurnEvent};
use serde_json::json;

use crate::journal::*;

/// What can be attempted. Whatever makes no sense at the moment is skipped, as the world would.
#[derive(Debug, Clone)]
pub(crate) enum Act {
    Submit,
    /// Into the current run: it is read at the next model call.
    Steer,
    Pause,
    Resume,
    Retry,
    Cancel,
    Stop,
    Restore,
    Compact,
    /// To this position in the journal, in thousandths.
    Rewind(i64),
    Say,
    Think,
    Arguments(usize),
    Call(&'static str),
    Used(u64),
    Finish,
    Limit,
    Fail,
    /// The request was too long; there may then be nothing for a summary to replace.
    Overflow,
    Output(usize),
    EndTool(usize),
    /// A running command wants to reach a host.
    WayOut(usize),
    /// The server of a running tool asks something.
    Ask(usize),
    Answer(usize, bool),
    Mail {
        peers: usize,
        children: usize,
        wakes: bool,
    },
    ByHand(&'static str),
    Summary(bool),
    Crash,
}

pub(crate) fn any_act() -> impl Strategy<Value = Act> {
    let tool = prop_oneof![Just("Bash"), Just("Read"), Just("Rm"), Just("Write")];
    prop_oneof![
        4 => Just(Act::Submit),
        2 => Just(Act::Steer),
        1 => Just(Act::Pause),
        2 => Just(Act::Resume),
        2 => Just(Act::Retry),
        1 => Just(Act::Cancel),
        1 => Just(Act::Stop),
        2 => Just(Act::Restore),
        1 => Just(Act::Compact),
        1 => (0_i64..=1000).prop_map(Act::Rewind),
        4 => Just(Act::Say),
        2 => Just(Act::Think),
        1 => (0_usize..2).prop_map(Act::Arguments),
        4 => tool.clone().prop_map(Act::Call),
        2 => (0_u64..100).prop_map(Act::Used),
        6 => Just(Act::Finish),
        1 => Just(Act::Limit),
        1 => Just(Act::Fail),
        2 => Just(Act::Overflow),
        1 => (0_usize..4).prop_map(Act::Output),
        6 => (0_usize..4).prop_map(Act::EndTool),
        3 => (0_usize..4).prop_map(Act::WayOut),
        2 => (0_usize..4).prop_map(Act::Ask),
        4 => (0_usize..4, any::<bool>()).prop_map(|(which, allows)| Act::Answer(which, allows)),
        3 => (0_usize..3, 0_usize..2, any::<bool>()).prop_map(|(peers, children, wakes)| Act::Mail { peers, children, wakes }),
        1 => tool.prop_map(Act::ByHand),
        3 => (0_u32..4).prop_map(|luck| Act::Summary(luck > 0)),
        1 => Just(Act::Crash),
    ]
}

#[derive(Debug, Default)]
pub(crate) struct World {
    pub(crate) journal: Journal,
    /// The context that grew with the run, as the runtime keeps it.
    live: Option<Context>,
    is_answering: bool,
    /// Where the summary in progress begins to keep, and the texts that it replaces.
    summarising: Option<(Seq, BTreeSet<String>)>,
    /// What some summary replaces.
    summarised: BTreeSet<String>,
    tools: Vec<String>,
    by_hand: Vec<String>,
    /// Messages that wait for the next model call.
    steering: usize,
    /// Everything that was said gets a number.
    said: usize,
}

impl World {
    pub(crate) fn act(&mut self, act: &Act) {
        if matches!(act, Act::Crash) {
            return self.crash();
        }
        if matches!(act, Act::Steer) {
            self.steering += 1;
        }
        let Some(input) = self.input(act) else { return };
        let before = self.journal.records.len();
        let bare_runs = self.journal.pod.bare_runs.len();
        let Ok(effects) = self.journal.take(input) else { return };
        if effects.contains(&Effect::CallModel) {
            for _ in 0..std::mem::take(&mut self.steering) {
                let message = steer(&self.number());
                assert_eq!(self.journal.take(message).unwrap(), [], "whenever the model is asked, it can be steered");
            }
        }
        if let Some(live) = &mut self.live {
            self.journal.pod.bare_runs[bare_runs..].iter().for_each(|(_, ordinal)| live.begin_run(*ordinal));
            for record in &self.journal.records[before..] {
                if let Event::Turn(event) = &record.event {
                    live.push(record.seq, record.run_id.as_deref(), event);
                }
            }
        }
        self.perform(effects);
        self.check();
    }

    fn number(&mut self) -> String {
        self.said += 1;
        format!("({})", self.said)
    }

    /// Before a rewind: the remaining context is read from as far back as it goes.
    fn check_rewind(&self, to_seq: Seq) {
        let rewound = |mut context: Context| {
            context.push(self.journal.pod.head.next(), None, &TurnEvent::Rewound { to_seq });
            context.messages()
        };
        let (within_reach, _) = self.journal.context_within(Reach::after_rewind(to_seq));
        assert_eq!(rewound(within_reach), rewound(self.journal.context()));
    }

    #[expect(clippy::too_many_lines, reason = "one choice for each input")]
    fn input(&mut self, act: &Act) -> Option<Input> {
        let model = |piece: ModelPiece| Some(Input::Model(piece));
        let of_model = matches!(
            act,
            Act::Say
                | Act::Think
                | Act::Arguments(_)
                | Act::Call(_)
                | Act::Used(_)
                | Act::Finish
                | Act::Limit
                | Act::Fail
                | Act::Overflow
        );
        if of_model && !self.is_answering {
            return None;
        }
        if matches!(act, Act::Finish | Act::Limit | Act::Fail | Act::Overflow) {
            self.is_answering = false;
        }
        match act {
            Act::Submit => Some(ask(&self.number())),
            Act::Pause => Some(Input::Pause),
            Act::Resume => Some(resume()),
            Act::Retry => Some(retry(self.journal.context().is_unanswered())),
            Act::Cancel => Some(Input::Cancel),
            Act::Stop => Some(Input::Stop),
            Act::Restore => Some(Input::Restore),
            Act::Compact => Some(Input::Compact),
            Act::Rewind(part) => {
                let to_seq = Seq((self.journal.pod.head.0 * part / 1000).max(1));
                self.check_rewind(to_seq);
                Some(rewind(&self.journal, to_seq))
            }
            Act::Say => Some(text(&self.number())),
            Act::Think => Some(thought(&self.number())),
            Act::Arguments(index) => {
                model(ModelPiece::ToolArgs { index: *index, name: "Bash".to_owned(), text: "{".to_owned() })
            }
            Act::Call(name) => model(ModelPiece::ToolCall { index: 0, name: (*name).to_owned(), arguments: json!({}) }),
            Act::Used(tokens) => Some(used(*tokens)),
            Act::Finish => Some(finished()),
            Act::Limit => model(ModelPiece::Limit),
            Act::Fail => model(ModelPiece::Failed(Failure::new("provider_error", "no"))),
            Act::Overflow => {
                let cause = Cause::Overflow { limit: Some(CONTEXT_LIMIT), used: None };
                let failure = Failure::new("context_overflow", "no");
                model(ModelPiece::Failed(Failure { cause, asked: self.context().size(), ..failure }))
            }
            Act::Output(which) => {
                self.tools.iter().chain(&self.by_hand).nth(*which).map(|call_id| output(call_id, "out"))
            }
            Act::EndTool(which) => {
                let call_id = self.tools.iter().chain(&self.by_hand).nth(*which)?.clone();
                self.tools.retain(|other| *other != call_id);
                self.by_hand.retain(|other| *other != call_id);
                Some(ended(&call_id, &self.number()))
            }
            Act::WayOut(which) => {
                let call_id = self.tools.iter().chain(&self.by_hand).nth(*which)?.clone();
                Some(Input::WayOut { call_id, host: self.number(), port: 443 })
            }
            Act::Ask(which) => {
                let call_id = self.tools.iter().chain(&self.by_hand).nth(*which)?.clone();
                self.said += 1;
                Some(server_asks(&call_id, self.said as u64))
            }
            Act::Answer(which, allows) => {
                let decision = if *allows { Decision::Allow } else { Decision::Deny };
                self.journal.pod.approvals.get(*which).map(|open| answered(&open.id, decision))
            }
            Act::Mail { peers, children, wakes } => {
                let letters: Vec<_> = (0..*peers).map(|_| peer(&self.number())).collect();
                let events = letters.into_iter().chain((0..*children).map(|_| child())).collect();
                Some(Input::Mail { events, wakes: *wakes })
            }
            Act::ByHand(name) => Some(operator_call(name)),
            Act::Summary(is_good) => {
                let (kept_from, dropped) = self.summarising.take()?;
                if *is_good {
                    self.summarised.extend(dropped);
                }
                Some(if *is_good { summary(&self.number(), kept_from) } else { no_summary() })
            }
            Act::Steer | Act::Crash => None,
        }
    }

    fn perform(&mut self, effects: Vec<Effect>) {
        for effect in effects {
            match effect {
                Effect::CallModel => {
                    assert!(!self.is_answering && self.summarising.is_none() && self.tools.is_empty());
                    let messages = self.context().messages();
                    check_conversation(&messages);
                    self.check_nothing_is_lost(&messages);
                    self.is_answering = true;
                }
                Effect::Summarise => {
                    assert!(!self.is_answering && self.summarising.is_none() && self.tools.is_empty());
                    let room = Room { limit: CONTEXT_LIMIT, fits: self.journal.pod.fits, ..Room::default() };
                    let context = self.context();
                    match context.cut_within(self.journal.pod.head, room) {
                        Some(cut) => {
                            check_conversation(&cut.request);
                            assert!(cut.dropped > 0);
                            // A shortened request leaves some out, so they are not in the conversation either.
                            let is_dropped = |message: &&Message| !context_tail(&context, &cut).contains(message);
                            let dropped = context.messages();
                            let dropped =
                                dropped.iter().filter(is_dropped).flat_map(|one| numbers(&one.content)).collect();
                            self.summarising = Some((cut.kept_from_seq, dropped));
                        }
                        None => {
                            let none = NoSummary::NothingToDrop(context.newest(0));
                            let effects = self.journal.take(Input::Summarised(Err(none))).unwrap();
                            self.perform(effects);
                        }
                    }
                }
                Effect::Abort => {
                    (self.is_answering, self.summarising, self.live) = (false, None, None);
                    self.tools.clear();
                }
                Effect::Prompt | Effect::AnswerAgent { .. } | Effect::Reply { .. } | Effect::EndCall { .. } => {
                    panic!("no agent answers here")
                }
                Effect::LetOut { call_id, .. } | Effect::Tell { call_id, .. } => {
                    assert!(self.tools.contains(&call_id) || self.by_hand.contains(&call_id), "nobody waits for it");
                }
                Effect::AbortOperatorCalls => self.by_hand.clear(),
                // None runs here.
                Effect::EndCommands | Effect::RunEndHooks { .. } => (),
                Effect::RunTool { call_id, by: ToolBy::Model, .. } => self.tools.push(call_id),
                Effect::RunTool { call_id, by: ToolBy::Operator | ToolBy::Agent, .. } => self.by_hand.push(call_id),
            }
        }
        if self.journal.pod.run.is_none() {
            self.live = None;
        }
    }

    /// What grew with the run equals what the journal says.
    fn context(&mut self) -> Context {
        let rebuilt = self.journal.context();
        assert_eq!(self.live.get_or_insert_with(|| rebuilt.clone()), &rebuilt);
        let (within_reach, _) = self.journal.context_within(Reach::default());
        assert_eq!(within_reach.messages(), rebuilt.messages());
        let cut = |context: &Context| context.cut(self.journal.pod.head, CONTEXT_LIMIT);
        assert_eq!(cut(&within_reach), cut(&rebuilt));
        rebuilt
    }

    pub(crate) fn crash(&mut self) {
        (self.is_answering, self.summarising, self.live) = (false, None, None);
        self.tools.clear();
        self.by_hand.clear();
        self.journal.crash();
        let head = self.journal.pod.head;
        self.journal.crash();
        assert_eq!(self.journal.pod.head, head, "recovering twice is recovering once");
        self.check();
    }

    /// What has to be true between any two steps.
    fn check(&self) {
        let pod = &self.journal.pod;
        let is_asked = |call_id: &str| pod.approvals.iter().any(|open| open.call_id == call_id);
        let is_by_hand = |call_id: &str| pod.operator_calls.iter().any(|call| call.call_id == call_id);
        let is_asking = pod.approvals.iter().any(|open| !open.asker().is_some_and(is_by_hand));
        match pod.state {
            PodState::Idle | PodState::Stopped => {
                assert!(pod.run.is_none() && pod.calls.is_empty() && !is_asking, "{pod:?}");
            }
            PodState::Paused => {
                assert!(pod.run.is_none());
                assert!(pod.calls.iter().all(|call| call.is_allowed || is_asked(&call.call_id)), "{pod:?}");
            }
            PodState::Waiting => assert!(pod.run.is_some() && is_asking, "{pod:?}"),
            PodState::Running => {
                assert_eq!(pod.run.is_none(), pod.compacting_from.is_some(), "{pod:?}");
                let goes_on = self.is_answering || self.summarising.is_some() || !self.tools.is_empty();
                assert!(goes_on, "it runs, and nothing will ever happen: {pod:?}");
            }
            PodState::Unreachable | PodState::Broken => unreachable!(),
        }
        if pod.has_nothing_to_retry() {
            let has_its_answer = pod.cut_answer.is_none() && !self.journal.context().is_unanswered();
            assert!(!pod.calls.is_empty() || has_its_answer, "a retry is possible: {pod:?}");
        }
        assert!(pod.compacting_from.is_none() || pod.state == PodState::Running);
        assert!(pod.state != PodState::Stopped || pod.operator_calls.is_empty());
        let open: BTreeSet<_> = pod.operator_calls.iter().map(|call| &call.call_id).collect();
        assert_eq!(open, self.by_hand.iter().collect(), "what a person runs, and what is open of it");
        for open in &pod.approvals {
            if let Some(call_id) = open.asker() {
                assert!(is_by_hand(call_id) || self.tools.iter().any(|running| running == call_id), "{pod:?}");
                continue;
            }
            assert!(pod.calls.iter().any(|call| call.call_id == open.call_id && !call.is_allowed));
        }
    }

    /// Every message that was not rewound is in the context once, or in what a summary was made of.
    fn check_nothing_is_lost(&self, messages: &[Message]) {
        let mut alive: Vec<(Seq, String)> = Vec::new();
        for record in &self.journal.records {
            let content = match &record.event {
                Event::Turn(TurnEvent::Rewound { to_seq }) => {
                    alive.retain(|(seq, _)| seq <= to_seq);
                    continue;
                }
                Event::Turn(TurnEvent::UserMessage { segments, .. }) => segments[0].as_text().into_owned(),
                Event::Turn(TurnEvent::PeerMessage { text, .. }) => text.clone(),
                Event::Turn(TurnEvent::MessageFinished { text, .. }) => text.clone(),
                _ => continue,
            };
            alive.extend(numbers(&content).into_iter().map(|number| (record.seq, number)));
        }
        let mut seen = BTreeSet::new();
        for number in messages.iter().filter(|message| message.role != Role::Tool).flat_map(|one| numbers(&one.content))
        {
            assert!(seen.insert(number.clone()), "{number} is there twice: {messages:#?}");
        }
        for (_, number) in alive {
            assert!(seen.contains(&number) || self.summarised.contains(&number), "{number} is lost: {messages:#?}");
        }
    }

    /// From any state, a person can get it to answer.
    pub(crate) fn use_again(&mut self) {
        for _ in 0..2 {
            match self.journal.pod.state {
                PodState::Stopped => self.act(&Act::Restore),
                PodState::Waiting => self.act(&Act::Cancel),
                _ => (),
            }
        }
        self.act(&Act::Submit);
        self.act(&Act::Summary(true));
        assert!(self.is_answering, "{:?}", self.journal.pod);
        for act in [Act::Say, Act::Finish] {
            self.act(&act);
        }
        assert_eq!(self.journal.pod.state, PodState::Idle);
    }
}

/// The numbers in a text, with their brackets.
fn numbers(text: &str) -> Vec<String> {
    let pieces = text.split('(').skip(1).filter_map(|piece| piece.split_once(')'));
    pieces.map(|(number, _)| format!("({number})")).collect()
}

/// What a provider accepts: the system message first and once, and after each answer one result for each of its calls.
pub(crate) fn check_conversation(messages: &[Message]) {
    assert_eq!(messages[0].role, Role::System);
    let mut expected: BTreeSet<&str> = BTreeSet::new();
    for message in &messages[1..] {
        match message.role {
            Role::System => panic!("a second system message: {messages:#?}"),
            Role::Tool => {
                let call_id = message.call_id.as_deref().unwrap();
                assert!(expected.remove(call_id), "a result without its call in front: {messages:#?}");
            }
            Role::User | Role::Assistant => {
                assert!(expected.is_empty(), "a call without its result behind it: {messages:#?}");
                assert!(message.call_id.is_none());
                expected = message.tool_calls.iter().map(|call| call.call_id.as_str()).collect();
                assert_eq!(expected.len(), message.tool_calls.len(), "a call id twice");
                let is_empty = message.content.is_empty() && message.tool_calls.is_empty();
                assert!(!is_empty, "a message that says nothing: {messages:#?}");
            }
        }
    }
    assert!(expected.is_empty(), "a call without its result at the end: {messages:#?}");
}

/// What remains of the conversation.
fn context_tail(context: &Context, cut: &Cut) -> Vec<Message> {
    let messages = context.messages();
    messages[messages.len() - cut.kept..].to_vec()
}
