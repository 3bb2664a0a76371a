//! Messages between Pods: one row each, with its state.

use jiff::Timestamp;

use super::Shared;
use crate::{
    MessageRow, PodKey, StoreError,
    columns::micros,
    peer_columns::{self, message_columns},
    peer_plan::Pair,
    statement::Text,
};

/// The messages of a store.
#[derive(Debug, Clone, Copy)]
pub struct Messages<'s>(pub(super) &'s Shared);

impl Messages<'_> {
    pub async fn find(self, id: &str) -> Result<Option<MessageRow>, StoreError> {
        let text = concat!("select ", message_columns!(), " from messages where id = $1");
        self.0.reader.select(text).bind(id).one("look up a message", peer_columns::message).await
    }

    /// The message that a Pod sent in one call, so that a repeated call does not send it again.
    pub async fn of_call(self, sender: PodKey, call_id: &str) -> Result<Option<MessageRow>, StoreError> {
        let text = concat!("select ", message_columns!(), " from messages where sender = $1 and call_id = $2");
        let message = self.0.reader.select(text).bind(sender.0).bind(call_id);
        message.one("look up a call's message", peer_columns::message).await
    }

    /// The messages between two Pods, newest first; `before` is the `at` and id of the previous page's last message.
    pub async fn of_pair(
        self,
        a: PodKey,
        b: PodKey,
        before: Option<(Timestamp, String)>,
        limit: u32,
    ) -> Result<Vec<MessageRow>, StoreError> {
        let pair = Pair::of(a, b);
        let (at, id) = before.unwrap_or((Timestamp::MAX, String::new()));
        // Each direction is read from its own end of the index, and no further than the page.
        let text = concat!(
            "select ",
            message_columns!(),
            " from messages where id in (
                 select id from (select id from messages where sender = $1 and receiver = $2 and (at, id) < ($3, $4)
                                 order by at desc, id desc limit $5) as one_way
                 union all
                 select id from (select id from messages where sender = $2 and receiver = $1 and (at, id) < ($3, $4)
                                 order by at desc, id desc limit $5) as other_way
             ) order by at desc, id desc limit $5"
        );
        let page = self.0.reader.select(text).bind(pair.low.0).bind(pair.high.0);
        let page = page.bind(micros(at)).bind(id).bind(i64::from(limit));
        page.all("list the messages of two Pods", peer_columns::message).await
    }

    /// Held messages from and to a Pod, oldest first.
    pub async fn held(self, pod: PodKey) -> Result<Vec<MessageRow>, StoreError> {
        let text = concat!(
            "select ",
            message_columns!(),
            " from messages where state = 'held' and (sender = $1 or receiver = $1) order by at, id"
        );
        self.0.reader.select(text).bind(pod.0).all("list held messages", peer_columns::message).await
    }

    /// How many of the messages stored at `since` or later began a run of their receiver.
    pub async fn woke_count(self, receiver: PodKey, since: Timestamp) -> Result<u64, StoreError> {
        let text = Text {
            sqlite: "select (select count(*) from messages where woke = 1 and receiver = $1 and at >= $2)
                         + (select count(*) from far_messages where woke = 1 and pod = $1 and at >= $2)",
            postgres: "select (select count(*) from messages where woke and receiver = $1 and at >= $2)
                           + (select count(*) from far_messages where woke and pod = $1 and at >= $2)",
        };
        let count = self.0.reader.select(text).bind(receiver.0).bind(micros(since));
        Ok(count.count("count messages").await?.unsigned_abs())
    }
}
