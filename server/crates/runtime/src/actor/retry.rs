//! Asking the model again, without a new message.

use pod::{Input, Reach};
use protocol::ApiError;

use super::{Actor, commands::Carrying};
use crate::history::Journal;

impl Carrying<'_> {
    /// Asks the model again if the conversation has no answer, or only part of one, at its end.
    pub(super) async fn retry(&mut self) -> Result<String, ApiError> {
        self.check_budgets().await?;
        let Actor { actors, state, .. } = &*self.actor;
        // A run in progress is refused, whatever the conversation ends with.
        let is_unanswered = match state.pod.run.is_some() || state.pod.cut_answer.is_some() {
            true => false,
            false => {
                let journal = Journal::until(&actors.store, state.key, &state.spec, &state.pod);
                journal.context(Reach::default()).await?.is_unanswered()
            }
        };
        let input = Input::Retry { command_id: self.key.id.clone(), is_unanswered };
        self.enter(input, "retry", |_| false).await
    }
}
