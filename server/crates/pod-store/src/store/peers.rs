//! Pairs of peers, and peer requests: one row for both Pods.

use jiff::Timestamp;
use sqlx::FromRow;

use super::Shared;
use crate::{
    PairRow, PeerLinkRow, PodKey, RequestRow, StoreError,
    columns::{self, POD_COLUMNS, PodColumns, micros, pod_columns, pod_tables, time},
    peer_columns::{self, RequestSide, requests_where},
    peer_plan::Pair,
    statement::Line,
};

/// The pairs of a store, and its peer requests.
#[derive(Debug, Clone, Copy)]
pub struct Peers<'s>(pub(super) &'s Shared);

/// A Pod, `pair.by_whom, pair.since`.
struct LinkColumns(PodColumns, String, i64);

impl<'r, R: Line> FromRow<'r, R> for LinkColumns {
    fn from_row(row: &'r R) -> Result<Self, sqlx::Error> {
        Ok(Self(PodColumns::from_row(row)?, row.at(POD_COLUMNS)?, row.at(POD_COLUMNS + 1)?))
    }
}

impl Peers<'_> {
    /// The peers of a Pod, oldest pair first.
    pub async fn links(self, pod: PodKey) -> Result<Vec<PeerLinkRow>, StoreError> {
        let text = concat!(
            "select ",
            pod_columns!(),
            ", pair.by_whom, pair.since from (
                 select high as other, by_whom, since from peers where low = $1
                 union all select low, by_whom, since from peers where high = $1
             ) pair cross join ",
            pod_tables!(),
            " where pods.key = pair.other order by pair.since, pods.key"
        );
        let link = |LinkColumns(pod, by, since): LinkColumns| {
            Ok(PeerLinkRow { pod: columns::pod(pod)?, by, since: time(since)? })
        };
        self.0.reader.select(text).bind(pod.0).all("list a Pod's peers", link).await
    }

    /// The pair of two Pods if they are peers; the order does not matter.
    pub async fn link(self, a: PodKey, b: PodKey) -> Result<Option<PairRow>, StoreError> {
        let pair = Pair::of(a, b);
        let text = "select by_whom, since, pace_level, pace_at from peers where low = $1 and high = $2";
        let link = self.0.reader.select(text).bind(pair.low.0).bind(pair.high.0);
        link.one("look up a link", peer_columns::pair).await
    }

    /// Requests from and to a Pod, oldest first.
    pub async fn requests(self, pod: PodKey) -> Result<Vec<RequestRow>, StoreError> {
        let text = requests_where!("(request.low = $1 or request.high = $1)");
        paired(self.0.reader.select(text).bind(pod.0).all(LOOK_UP, Ok).await)
    }

    pub async fn request(self, id: &str) -> Result<Option<RequestRow>, StoreError> {
        let text = requests_where!("request.id = $1");
        Ok(paired(self.0.reader.select(text).bind(id).all(LOOK_UP, Ok).await)?.pop())
    }

    /// The request between two Pods, whoever asked.
    pub async fn request_of(self, a: PodKey, b: PodKey) -> Result<Option<RequestRow>, StoreError> {
        let pair = Pair::of(a, b);
        let text = requests_where!("request.low = $1 and request.high = $2");
        let sides = self.0.reader.select(text).bind(pair.low.0).bind(pair.high.0);
        Ok(paired(sides.all(LOOK_UP, Ok).await)?.pop())
    }

    /// Requests that expired at or before `now`, oldest first.
    pub async fn requests_expired(self, now: Timestamp) -> Result<Vec<RequestRow>, StoreError> {
        let text = requests_where!("request.expires_at <= $1");
        paired(self.0.reader.select(text).bind(micros(now)).all(LOOK_UP, Ok).await)
    }
}

const LOOK_UP: &str = "look up requests";

fn paired(sides: Result<Vec<RequestSide>, StoreError>) -> Result<Vec<RequestRow>, StoreError> {
    peer_columns::requests(sides?)
}
