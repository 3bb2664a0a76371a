//! What the model is to be asked, in the making. The conversation is read, and worked on, beside the Pod: who sent a message has
//! the receipt meanwhile, and a cancellation is heard.

use futures_util::future::BoxFuture;
use pod::{Context, Cut, Newest, QuestionSize, Reach, Room};
use pod_store::Store;
use protocol::{Message, Seq};
use provider::{Attached, Purpose, Takes};

use super::budgets::{Budgets, Standing};
use crate::{blobs, heavy, history::Journal};

/// Percent of the model's context that may be used by our own estimate.
const CONTEXT_PERCENT_MAX: u64 = 80;

/// A question in the making. Dropping it gives it up.
pub(super) struct Asking {
    pub(super) purpose: Purpose,
    pub(super) asked: BoxFuture<'static, Result<Asked, String>>,
}

/// The conversation as it stood when the question was decided on, and what is made of it.
pub(super) struct Asked {
    /// None where it was not read.
    pub(super) context: Option<Context>,
    pub(super) question: Question,
    /// Budgets that come to their end.
    pub(super) warnings: Vec<String>,
    /// What goes with the question.
    pub(super) attached: Attached,
    /// New pictures and files that do not go with it, and why.
    pub(super) unsent: Vec<String>,
}

impl Asked {
    pub(super) fn of(context: Option<Context>, question: Question) -> Self {
        Self { context, question, warnings: Vec::new(), attached: Attached::default(), unsent: Vec::new() }
    }
}

pub(super) enum Question {
    /// With the size of it.
    Answer(Vec<Message>, QuestionSize),
    Summary(Result<Cut, Newest>),
    /// The Pod's agent is to have a turn.
    Agent(Box<acp::Begin>),
    /// Nothing more may be used, and why.
    Spent(String),
}

/// What the question is made by.
#[derive(Clone, Copy)]
pub(super) struct Making {
    pub(super) purpose: Purpose,
    pub(super) head: Seq,
    pub(super) room: Room,
    /// Nobody counts the tokens of this conversation, so it is compacted by our own estimate.
    pub(super) is_uncounted: bool,
    /// What the model takes beside text.
    pub(super) takes: Takes,
}

impl Making {
    /// Begins, with the conversation as it stands now; without one it is read.
    pub(super) fn begin(
        self,
        here: Option<Context>,
        journal: Journal,
        budgets: Option<Budgets>,
        store: Store,
    ) -> Asking {
        let asked = Box::pin(async move {
            let Standing { spent, warnings } = match budgets {
                None => Standing::default(),
                Some(budgets) => {
                    let standing = budgets.look().await;
                    standing.map_err(|error| format!("what was used could not be read: {}", error.detail))?
                }
            };
            if let Some(why) = spent {
                return Ok(Asked::of(here, Question::Spent(why)));
            }
            let context = match here {
                Some(context) => context,
                None => {
                    let read = journal.context(Reach::default()).await;
                    read.map_err(|error| format!("the conversation could not be read: {error}"))?
                }
            };
            let made = heavy::work(context.weight(), move || {
                let question = self.question(&context);
                Asked { warnings, ..Asked::of(Some(context), question) }
            });
            let mut asked = made.await;
            if let Question::Answer(messages, _) = &asked.question {
                let found = blobs::attached(&store, self.takes, messages).await;
                let failed = |error| format!("what goes with the conversation could not be read: {error}");
                (asked.attached, asked.unsent) = found.map_err(failed)?;
            }
            Ok(asked)
        });
        Asking { purpose: self.purpose, asked }
    }

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
