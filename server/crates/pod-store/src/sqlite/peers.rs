//! Pairs of peers, peer requests, and messages.

use async_trait::async_trait;
use serde_json::{Value, json};

use super::SqlitePen;
use crate::{
    NewMessage,
    columns::micros,
    engine::PeerPen,
    peer_columns::{quoted, receipt_word, turn_number},
    peer_plan::{LinkedLine, Pair, PeerLines, ReceiptLine, RequestLine},
    txn::WriteError,
};

#[async_trait]
impl PeerPen for SqlitePen {
    async fn peers_change(&mut self, lines: &PeerLines<'_>) -> Result<(), WriteError> {
        match lines {
            PeerLines::Link(lines) => link(self, lines).await,
            PeerLines::Unlink(pairs) => {
                let sql = "delete from peers where (low, high) in (select value->>0, value->>1 from json_each(?))";
                self.write("unlink two Pods", sql, pairs.iter().map(pair_row)).await.map(drop)
            }
            PeerLines::Pace(paces) => {
                let rows = paces.iter().map(|(pair, (level, at))| json!([pair.low.0, pair.high.0, level, micros(*at)]));
                let sql = "update peers set pace_level = line.value->>2, pace_at = line.value->>3
                           from json_each(?) line where peers.low = line.value->>0 and peers.high = line.value->>1";
                self.write("note a pair's pace", sql, rows).await.map(drop)
            }
            PeerLines::Request(lines) => request(self, lines).await,
            PeerLines::RequestDone(ids) => {
                let sql = "delete from peer_requests where id in (select value from json_each(?))";
                self.write("settle a request", sql, ids.iter().map(|id| json!(id))).await.map(drop)
            }
        }
    }

    async fn messages_put(&mut self, lines: &[&NewMessage]) -> Result<(), WriteError> {
        let row = |message: &&NewMessage| {
            json!([
                message.id,
                message.sender.0,
                message.receiver.0,
                message.call_id,
                quoted(&message.text),
                message.hops,
                receipt_word(message.state),
                micros(message.at),
                i64::from(message.woke),
            ])
        };
        let sql = "insert into messages (id, sender, receiver, call_id, text, hops, state, at, changed_at, woke)
                   select line.value->>0, sender.key, receiver.key, line.value->>3, line.value->>4,
                          line.value->>5, line.value->>6, line.value->>7, line.value->>7, line.value->>8
                   from json_each(?) line cross join pods sender cross join pods receiver
                   where sender.key = line.value->>1 and receiver.key = line.value->>2";
        let put = self.write("put a message", sql, lines.iter().map(row)).await?;
        // One is missing: the same batch deletes one of its Pods.
        if put < lines.len() as u64 { Err(WriteError::Conflict) } else { Ok(()) }
    }

    async fn messages_change(&mut self, lines: &[ReceiptLine<'_>]) -> Result<(), WriteError> {
        let row = |line: &ReceiptLine<'_>| {
            let turn = line.turn.map(turn_number);
            json!([line.id, receipt_word(line.state), turn, i64::from(line.woke), micros(line.at)])
        };
        let sql = "update messages set
                       state = line.value->>1,
                       turn = coalesce(line.value->>2, turn),
                       woke = max(woke, line.value->>3),
                       changed_at = line.value->>4
                   from json_each(?) line where messages.id = line.value->>0";
        self.write("change a message's state", sql, lines.iter().map(row)).await.map(drop)
    }
}

/// Skips a Pod that the same batch deletes.
async fn link(pen: &mut SqlitePen, lines: &[LinkedLine<'_>]) -> Result<(), WriteError> {
    let rows = lines.iter().map(|line| json!([line.pair.low.0, line.pair.high.0, line.by, micros(line.at)]));
    let sql = "insert into peers (low, high, by_whom, since, pace_level, pace_at)
               select line.value->>0, line.value->>1, line.value->>2, line.value->>3, 0, line.value->>3
               from json_each(?) line cross join pods low cross join pods high
               where low.key = line.value->>0 and high.key = line.value->>1
               on conflict do nothing";
    pen.write("link two Pods", sql, rows).await?;
    let sql = "delete from peer_requests where (low, high) in (select value->>0, value->>1 from json_each(?))";
    pen.write("settle a request", sql, lines.iter().map(|line| pair_row(&line.pair))).await.map(drop)
}

async fn request(pen: &mut SqlitePen, lines: &[RequestLine<'_>]) -> Result<(), WriteError> {
    let row = |line: &RequestLine<'_>| {
        let (low, high, asker) = (line.pair.low.0, line.pair.high.0, line.asker.0);
        json!([line.id, low, high, asker, line.note, line.by, micros(line.at), micros(line.expires_at)])
    };
    let sql = "insert into peer_requests (id, low, high, asker, note, by_whom, at, expires_at)
               select line.value->>0, low.key, high.key, line.value->>3,
                      line.value->>4, line.value->>5, line.value->>6, line.value->>7
               from json_each(?) line cross join pods low cross join pods high
               where low.key = line.value->>1 and high.key = line.value->>2
                 and not exists (select 1 from peers where peers.low = low.key and peers.high = high.key)";
    let inserted = pen.write("put a request", sql, lines.iter().map(row)).await?;
    // One is missing: its Pods are peers already.
    if inserted < lines.len() as u64 { Err(WriteError::Conflict) } else { Ok(()) }
}

fn pair_row(pair: &Pair) -> Value {
    json!([pair.low.0, pair.high.0])
}
