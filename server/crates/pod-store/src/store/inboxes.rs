//! Inboxes and mailboxes: what waits for a Pod.

use super::Shared;
use crate::{InboxRow, MailRow, PodKey, StoreError, columns, statement::Text};

/// The inboxes and mailboxes of a store.
#[derive(Debug, Clone, Copy)]
pub struct Inboxes<'s>(pub(super) &'s Shared);

impl Inboxes<'_> {
    /// Queued messages, oldest first.
    pub async fn inputs(self, pod: PodKey) -> Result<Vec<InboxRow>, StoreError> {
        let text = "select command_id, segments, by_whom, at from inbox where pod = $1 order by id";
        self.0.reader.select(text).bind(pod.0).all("read an inbox", columns::inbox).await
    }

    /// The Pod's mail that its journal does not contain yet, oldest first.
    pub async fn mail(self, pod: PodKey) -> Result<Vec<MailRow>, StoreError> {
        let text = Text {
            sqlite: "select key, body, at from mail where is_taken = 0 and pod = $1 order by id",
            postgres: "select key, body, at from mail where not is_taken and pod = $1 order by id",
        };
        self.0.reader.select(text).bind(pod.0).all("read a mailbox", columns::mail).await
    }
}
