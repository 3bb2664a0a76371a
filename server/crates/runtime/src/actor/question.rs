//! Prepares a request to the model. The conversation is read and processed outside the Pod's task, so that senders get
//! their receipts and a cancellation is heard meanwhile.

use futures_util::future::BoxFuture;
use mcp::Settled;
use pod::{Context, Cut, Newest, QuestionSize, Reach, Room};
use pod_store::Store;
use protocol::{Message, Seq};
use provider::{Attached, Purpose, Takes};

use super::budgets::{Budgets, Standing};
use crate::{blobs, changes::Step, heavy, history::Journal};

/// Percent of the model's context that may be used by our own estimate.
const CONTEXT_PERCENT_MAX: u64 = 80;

/// A request being prepared. Dropping it cancels the work.
pub(super) struct Asking {
    pub(super) purpose: Purpose,
    pub(super) asked: BoxFuture<'static, Result<Asked, String>>,
}

/// The prepared request, with the conversation as it stood when the request was decided on.
pub(super) struct Asked {
    /// `None` if it was not read.
    pub(super) context: Option<Context>,
    pub(super) question: Question,
    /// Budgets that are nearly spent.
    pub(super) warnings: Vec<String>,
    /// Attachments that go with the request.
    pub(super) attached: Attached,
    /// New pictures and files that are left out, and why.
    pub(super) unsent: Vec<String>,
    /// The MCP servers whose tools are left out, and why.
    pub(super) away: Vec<String>,
}

impl Asked {
    pub(super) fn of(context: Option<Context>, question: Question) -> Self {
        Self {
            context,
            question,
            warnings: Vec::new(),
            attached: Attached::default(),
            unsent: Vec::new(),
            away: Vec::new(),
        }
    }
}

pub(super) enum Question {
    /// With the size of the messages.
    Answer(Vec<Message>, QuestionSize),
    Summary(Result<Cut, Newest>),
    /// The Pod's agent is to have a turn; the snapshot before it is taken.
    Agent(Box<acp::Begin>, Option<Step>),
    /// A budget is spent, and which.
    Spent(String),
}

/// What the request is prepared from.
#[derive(Clone, Copy)]
pub(super) struct Making {
    pub(super) purpose: Purpose,
    pub(super) head: Seq,
    pub(super) room: Room,
    /// The provider does not count this conversation's tokens, so it is compacted by our own estimate.
    pub(super) is_uncounted: bool,
    /// What the model accepts besides text.
    pub(super) takes: Takes,
}

impl Making {
    /// Begins with the conversation in hand, or reads it if there is none.
    pub(super) fn begin(
        self,
        here: Option<Context>,
        journal: Journal,
        budgets: Option<Budgets>,
        servers: Settled,
        store: Store,
    ) -> Asking {
        let asked = Box::pin(async move {
            let away = servers.wait().await;
            let Standing { spent, warnings } = match budgets {
                None => Standing::default(),
                Some(budgets) => {
                    let standing = budgets.look().await;
                    standing.map_err(|error| format!("the usage could not be read: {}", error.detail))?
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
            asked.away = away;
            if let Question::Answer(messages, _) = &asked.question {
                let found = blobs::attached(&store, self.takes, messages).await;
                let failed = |error| format!("the attachments of the conversation could not be read: {error}");
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
