//! The model's view of the conversation during a run.

use pod::Context;
use protocol::{Seq, TurnEvent};

/// The conversation, as the Pod's task holds it.
#[derive(Debug, Default)]
pub(super) enum Conversation {
    /// Only in the journal.
    #[default]
    Unread,
    /// Being read, or in use elsewhere. Collects what is said meanwhile.
    Away(Vec<Said>),
    Here(Box<Context>),
}

/// Something said while the conversation was away, to be added when it is back.
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

    pub(super) fn leave(&mut self) -> Option<Context> {
        match std::mem::replace(self, Self::Away(Vec::new())) {
            Self::Here(context) => Some(*context),
            Self::Unread | Self::Away(_) => None,
        }
    }

    /// Puts the conversation back and catches up. If it was forgotten meanwhile, drops it.
    pub(super) fn come_back(&mut self, mut context: Context) {
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
            blobs: protocol::Blobs::default(),
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
