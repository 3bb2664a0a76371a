//! What the model has been told, while a run goes on. It is read, and worked on, beside the Pod: who sent a message has
//! the receipt meanwhile, and a cancellation is heard.

use futures_util::future::BoxFuture;
use pod::{Context, Cut, Newest, NoSummary, Reach, Room};
use protocol::{Message, Seq, TurnEvent};
use provider::Purpose;

use super::PodTask;
use crate::{heavy, history};

/// The conversation, as the Pod's task has it.
#[derive(Debug, Default)]
pub(super) enum Conversation {
    /// In the journal alone.
    #[default]
    Unread,
    /// Being read or worked on; what is said meanwhile.
    Away(Vec<Said>),
    Here(Box<Context>),
}

/// What the conversation has to catch up with.
#[derive(Debug)]
pub(super) enum Said {
    Run(u64),
    Event(Seq, Option<String>, Box<TurnEvent>),
}

impl Conversation {
    pub(super) fn forget(&mut self) {
        *self = Self::Unread;
    }

    pub(super) fn begin_run(&mut self, ordinal: u64) {
        match self {
            Self::Unread => (),
            Self::Away(said) => said.push(Said::Run(ordinal)),
            Self::Here(context) => context.begin_run(ordinal),
        }
    }

    pub(super) fn push(&mut self, seq: Seq, run_id: Option<&str>, event: &TurnEvent) {
        match self {
            Self::Unread => (),
            Self::Away(said) if !event.is_chunk() => {
                said.push(Said::Event(seq, run_id.map(str::to_owned), Box::new(event.clone())));
            }
            Self::Away(_) => (),
            Self::Here(context) => context.push(seq, run_id, event),
        }
    }

    fn leave(&mut self) -> Option<Context> {
        match std::mem::replace(self, Self::Away(Vec::new())) {
            Self::Here(context) => Some(*context),
            Self::Unread | Self::Away(_) => None,
        }
    }

    /// One that was forgotten meanwhile is not wanted any more.
    fn come_back(&mut self, mut context: Context) {
        let Self::Away(said) = self else { return };
        for said in said.drain(..) {
            match said {
                Said::Run(ordinal) => context.begin_run(ordinal),
                Said::Event(seq, run_id, event) => context.push(seq, run_id.as_deref(), &event),
            }
        }
        *self = Self::Here(Box::new(context));
    }
}

/// What the model is to be asked, in the making. Dropping it gives it up.
pub(super) struct Asking {
    purpose: Purpose,
    pub(super) asked: BoxFuture<'static, Result<Asked, String>>,
}

/// The conversation as it stood when the question was decided on, and what is made of it.
pub(super) struct Asked {
    context: Context,
    question: Question,
}

enum Question {
    /// With the size of it.
    Answer(Vec<Message>, pod::QuestionSize),
    Summary(Result<Cut, Newest>),
}

/// What the question is made by.
#[derive(Clone, Copy)]
struct Making {
    purpose: Purpose,
    head: Seq,
    room: Room,
    /// Nobody counts the tokens of this conversation, so it is compacted by our own estimate.
    is_uncounted: bool,
}

/// Percent of the model's context that may be used by our own estimate.
const CONTEXT_PERCENT_MAX: u64 = 80;

impl Making {
    fn question(&self, context: &Context) -> Question {
        let cut = || context.cut_within(self.head, self.room);
        if self.purpose == Purpose::Summary {
            return Question::Summary(cut().ok_or_else(|| context.newest(self.room.tools)));
        }
        let tokens = context.tokens();
        let is_nearly_full = (tokens + self.room.tools) * 100 >= self.room.limit * CONTEXT_PERCENT_MAX;
        match (self.is_uncounted && is_nearly_full).then(cut).flatten() {
            Some(cut) => Question::Summary(Ok(cut)),
            None => Question::Answer(context.messages(), context.size()),
        }
    }
}

impl PodTask {
    /// Begins to make the question that the model is asked, with the conversation as it stands now.
    pub(super) fn ask(&mut self, purpose: Purpose) {
        let usage = self.pod.usage;
        let was_compacted = std::mem::take(&mut self.work.is_compacted);
        let (limit, halvings) = (usage.context_limit, self.work.halvings);
        let is_uncounted = usage.input == 0 && limit > 0 && !was_compacted;
        let tools = if is_uncounted || purpose == Purpose::Summary { self.tool_tokens() } else { 0 };
        let room = Room { limit, fits: self.pod.fits, tools, halvings };
        let making = Making { purpose, head: self.pod.head, room, is_uncounted };
        let here = self.conversation.leave();
        let journal = history::Journal::until(&self.inner.store, self.key, &self.spec, &self.pod);
        let asked = Box::pin(async move {
            let context = match here {
                Some(context) => context,
                None => {
                    let read = journal.context(Reach::default()).await;
                    read.map_err(|error| format!("the conversation could not be read: {error}"))?
                }
            };
            let made = heavy::work(context.weight(), move || {
                let question = making.question(&context);
                Asked { context, question }
            });
            Ok(made.await)
        });
        self.work.asking = Some(Asking { purpose, asked });
    }

    /// The state was read again from the store: what was being made of another one is made anew.
    pub(super) fn ask_again(&mut self) {
        if let Some(Asking { purpose, .. }) = self.work.asking.take() {
            self.ask(purpose);
        }
    }

    /// The question is made, or cannot be.
    pub(super) async fn asked(&mut self, asked: Result<Asked, String>, purpose: Purpose) {
        let question = match asked {
            Ok(Asked { context, question }) => {
                self.conversation.come_back(context);
                question
            }
            Err(reason) if purpose == Purpose::Summary => {
                return self.take_summary(Err(NoSummary::Failed(reason))).await;
            }
            Err(reason) => return self.fail(reason),
        };
        match question {
            Question::Answer(messages, asked) => self.call_model(messages, asked),
            Question::Summary(cut) => self.begin_summary(cut).await,
        }
        self.let_go();
    }

    /// Outside of a run nobody needs the conversation.
    pub(super) fn let_go(&mut self) {
        if self.pod.run.is_none() && self.work.asking.is_none() {
            self.conversation.forget();
        }
    }
}

impl Asking {
    pub(super) fn purpose(&self) -> Purpose {
        self.purpose
    }
}

#[cfg(test)]
mod tests {
    use pod::PodSpec;
    use protocol::{CommandId, Segment};
    use serde_json::json;

    use super::*;

    fn spec() -> PodSpec {
        serde_json::from_value(json!({ "provider": "p", "model": "m", "cwd": "/", "scope": [], "wake_on_peer": true }))
            .unwrap()
    }

    fn events() -> Vec<(Seq, Option<&'static str>, TurnEvent)> {
        let say = |text: &str| TurnEvent::UserMessage {
            segments: vec![Segment::text(text)],
            command_id: CommandId::parse("c").unwrap(),
            by: "operator".to_owned(),
        };
        let heard = json!({ "kind": "peer_message", "message_id": "m", "text": "psst", "hops": 0,
            "from": { "runtime_id": "local", "worker_id": "w", "name": "bob" } });
        let answer = |text: &str| TurnEvent::MessageFinished {
            block: "b1".to_owned(),
            text: text.to_owned(),
            interrupted: false,
        };
        let chunk = TurnEvent::TextChunk { block: "b1".to_owned(), text: "on".to_owned() };
        vec![
            (Seq(2), Some("run-1"), say("first")),
            (Seq(3), None, serde_json::from_value(heard).unwrap()),
            (Seq(4), Some("run-1"), chunk),
            (Seq(5), Some("run-1"), answer("one")),
            (Seq(7), Some("run-2"), answer("two")),
        ]
    }

    #[test]
    fn a_conversation_that_was_away_has_all_that_was_said_meanwhile() {
        for left_at in 0..events().len() {
            let mut always = Conversation::Here(Box::new(Context::new(&spec(), &[])));
            let mut away = Conversation::Here(Box::new(Context::new(&spec(), &[])));
            let mut left = None;
            for (at, (seq, run_id, event)) in events().into_iter().enumerate() {
                if at == left_at {
                    left = away.leave();
                }
                for conversation in [&mut always, &mut away] {
                    if seq == Seq(7) {
                        conversation.begin_run(2);
                    }
                    conversation.push(seq, run_id, &event);
                }
            }
            away.come_back(left.unwrap());
            let (Conversation::Here(always), Conversation::Here(away)) = (always, away) else {
                panic!("both are here")
            };
            assert_eq!(always, away, "left before event {left_at}");
        }
    }

    #[test]
    fn a_conversation_that_was_forgotten_while_it_was_away_stays_forgotten() {
        let mut conversation = Conversation::default();
        assert!(conversation.leave().is_none());
        conversation.forget();
        conversation.come_back(Context::new(&spec(), &[]));
        assert!(matches!(conversation, Conversation::Unread));
    }
}
