//! Pairs of peers, peer requests, and messages.

use async_trait::async_trait;

use super::PostgresPen;
use crate::{
    NewMessage,
    columns::micros,
    engine::PeerPen,
    peer_columns::{quoted, receipt_word, turn_number},
    peer_plan::{LinkedLine, PeerLines, ReceiptLine, RequestLine},
    txn::WriteError,
};

#[async_trait]
impl PeerPen for PostgresPen {
    async fn peers_change(&mut self, lines: &PeerLines<'_>) -> Result<(), WriteError> {
        match lines {
            PeerLines::Link(lines) => link(self, lines).await,
            PeerLines::Unlink(pairs) => {
                let query = sqlx::query(
                    "delete from peers using unnest($1::bigint[], $2::bigint[]) as line (low, high)
                     where peers.low = line.low and peers.high = line.high",
                )
                .bind(pairs.iter().map(|pair| pair.low.0).collect::<Vec<_>>())
                .bind(pairs.iter().map(|pair| pair.high.0).collect::<Vec<_>>());
                self.run("unlink two Pods", query).await.map(drop)
            }
            PeerLines::Pace(paces) => {
                let query = sqlx::query(
                    "update peers set pace_level = line.level, pace_at = line.at
                     from unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::bigint[]) as line (low, high, level, at)
                     where peers.low = line.low and peers.high = line.high",
                )
                .bind(paces.keys().map(|pair| pair.low.0).collect::<Vec<_>>())
                .bind(paces.keys().map(|pair| pair.high.0).collect::<Vec<_>>())
                .bind(paces.values().map(|(level, _)| i64::from(*level)).collect::<Vec<_>>())
                .bind(paces.values().map(|(_, at)| micros(*at)).collect::<Vec<_>>());
                self.run("note a pair's pace", query).await.map(drop)
            }
            PeerLines::Request(lines) => request(self, lines).await,
            PeerLines::RequestDone(ids) => {
                let query = sqlx::query("delete from peer_requests where id = any($1)").bind(ids);
                self.run("settle a request", query).await.map(drop)
            }
        }
    }

    async fn messages_put(&mut self, lines: &[&NewMessage]) -> Result<(), WriteError> {
        let query = sqlx::query(
            "insert into messages (id, sender, receiver, call_id, text, hops, state, at, changed_at, woke)
             select line.id, line.sender, line.receiver, line.call_id, line.text, line.hops, line.state, line.at, line.at,
                    line.woke
             from unnest($1::text[], $2::bigint[], $3::bigint[], $4::text[], $5::text[], $6::bigint[], $7::text[],
                         $8::bigint[], $9::boolean[])
                  as line (id, sender, receiver, call_id, text, hops, state, at, woke)
             join pods sender on sender.key = line.sender join pods receiver on receiver.key = line.receiver",
        )
        .bind(lines.iter().map(|message| message.id.as_str()).collect::<Vec<_>>())
        .bind(lines.iter().map(|message| message.sender.0).collect::<Vec<_>>())
        .bind(lines.iter().map(|message| message.receiver.0).collect::<Vec<_>>())
        .bind(lines.iter().map(|message| message.call_id.as_str()).collect::<Vec<_>>())
        .bind(lines.iter().map(|message| quoted(&message.text)).collect::<Vec<_>>())
        .bind(lines.iter().map(|message| i64::from(message.hops)).collect::<Vec<_>>())
        .bind(lines.iter().map(|message| receipt_word(message.state)).collect::<Vec<_>>())
        .bind(lines.iter().map(|message| micros(message.at)).collect::<Vec<_>>())
        .bind(lines.iter().map(|message| message.woke).collect::<Vec<_>>());
        let put = self.run("put a message", query).await?;
        // One is missing: the same batch deletes one of its Pods.
        if put < lines.len() as u64 { Err(WriteError::Conflict) } else { Ok(()) }
    }

    async fn messages_change(&mut self, lines: &[ReceiptLine<'_>]) -> Result<(), WriteError> {
        let query = sqlx::query(
            "update messages set
                 state = line.state,
                 turn = coalesce(line.turn, messages.turn),
                 woke = messages.woke or line.woke,
                 changed_at = line.at
             from unnest($1::text[], $2::text[], $3::bigint[], $4::boolean[], $5::bigint[])
                  as line (id, state, turn, woke, at)
             where messages.id = line.id",
        )
        .bind(lines.iter().map(|line| line.id).collect::<Vec<_>>())
        .bind(lines.iter().map(|line| receipt_word(line.state)).collect::<Vec<_>>())
        .bind(lines.iter().map(|line| line.turn.map(turn_number)).collect::<Vec<_>>())
        .bind(lines.iter().map(|line| line.woke).collect::<Vec<_>>())
        .bind(lines.iter().map(|line| micros(line.at)).collect::<Vec<_>>());
        self.run("change a message's state", query).await.map(drop)
    }
}

/// Skips a Pod that the same batch deletes.
async fn link(pen: &mut PostgresPen, lines: &[LinkedLine<'_>]) -> Result<(), WriteError> {
    let lows: Vec<i64> = lines.iter().map(|line| line.pair.low.0).collect();
    let highs: Vec<i64> = lines.iter().map(|line| line.pair.high.0).collect();
    let query = sqlx::query(
        "insert into peers (low, high, by_whom, since, pace_level, pace_at)
         select line.low, line.high, line.by_whom, line.at, 0, line.at
         from unnest($1::bigint[], $2::bigint[], $3::text[], $4::bigint[])
              with ordinality as line (low, high, by_whom, at, place)
         join pods low on low.key = line.low join pods high on high.key = line.high
         order by line.place on conflict do nothing",
    )
    .bind(&lows)
    .bind(&highs)
    .bind(lines.iter().map(|line| line.by.as_ref()).collect::<Vec<&str>>())
    .bind(lines.iter().map(|line| micros(line.at)).collect::<Vec<_>>());
    pen.run("link two Pods", query).await?;
    let query = sqlx::query(
        "delete from peer_requests using unnest($1::bigint[], $2::bigint[]) as line (low, high)
         where peer_requests.low = line.low and peer_requests.high = line.high",
    )
    .bind(lows)
    .bind(highs);
    pen.run("settle a request", query).await.map(drop)
}

async fn request(pen: &mut PostgresPen, lines: &[RequestLine<'_>]) -> Result<(), WriteError> {
    let query = sqlx::query(
        "insert into peer_requests (id, low, high, asker, note, by_whom, at, expires_at)
         select line.id, line.low, line.high, line.asker, line.note, line.by_whom, line.at, line.expires_at
         from unnest($1::text[], $2::bigint[], $3::bigint[], $4::bigint[], $5::text[], $6::text[], $7::bigint[],
                     $8::bigint[])
              as line (id, low, high, asker, note, by_whom, at, expires_at)
         join pods low on low.key = line.low join pods high on high.key = line.high
         where not exists (select 1 from peers where peers.low = line.low and peers.high = line.high)",
    )
    .bind(lines.iter().map(|line| line.id).collect::<Vec<_>>())
    .bind(lines.iter().map(|line| line.pair.low.0).collect::<Vec<_>>())
    .bind(lines.iter().map(|line| line.pair.high.0).collect::<Vec<_>>())
    .bind(lines.iter().map(|line| line.asker.0).collect::<Vec<_>>())
    .bind(lines.iter().map(|line| line.note.as_deref()).collect::<Vec<_>>())
    .bind(lines.iter().map(|line| line.by.as_ref()).collect::<Vec<&str>>())
    .bind(lines.iter().map(|line| micros(line.at)).collect::<Vec<_>>())
    .bind(lines.iter().map(|line| micros(line.expires_at)).collect::<Vec<_>>());
    let put = pen.run("put a request", query).await?;
    // One is missing: its Pods are peers already.
    if put < lines.len() as u64 { Err(WriteError::Conflict) } else { Ok(()) }
}
