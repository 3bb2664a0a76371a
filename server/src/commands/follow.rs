//! The records of one Pod as they come, each once, over as many connections as it takes.
//!
//! After losing the server, the client continues from its cursor. Only if the server cannot do that, or this reader was
//! too slow, a snapshot comes instead; the records in between are then fetched here.

use anyhow::Result;
use client::Client;
use protocol::{PodRef, PodSummary, Record, Seq};

use crate::output;

/// Records per page of what was missed …
const PAGE: u32 = 1_000;
/// … and the most pages that are fetched. Older records stay in the journal.
const PAGES_MAX: usize = 50;

/// How much of one Pod the reader has been given.
#[derive(Debug)]
pub(super) struct Follow {
    pod: PodRef,
    /// Nothing up to this record is missing; `None` until the first snapshot has said where it begins.
    seen: Option<Seq>,
    /// The newest record that was given.
    given: Seq,
}

impl Follow {
    /// Begins with the first snapshot.
    pub(super) fn from_now(pod: PodRef) -> Self {
        Self { pod, seen: None, given: Seq(0) }
    }

    /// Begins with the Pod's first record.
    pub(super) fn from_start(pod: PodRef) -> Self {
        Self { pod, seen: Some(Seq(0)), given: Seq(0) }
    }

    /// The records that have not been given yet, out of those that follow the previous ones.
    pub(super) fn records(&mut self, records: Vec<Record>) -> Vec<Record> {
        let news: Vec<_> = records.into_iter().filter(|record| record.seq > self.given).collect();
        if let Some(newest) = news.last() {
            self.given = newest.seq;
            self.seen = Some(self.seen.map_or(newest.seq, |seen| seen.max(newest.seq)));
        }
        news
    }

    /// The new records of a snapshot, preceded by those that it leaves out.
    pub(super) async fn snapshot(
        &mut self,
        client: &Client,
        summary: &PodSummary,
        records: Vec<Record>,
        has_more: bool,
    ) -> Result<Vec<Record>> {
        let mut records = records;
        match self.seen {
            Some(seen) if has_more => {
                let missed = missed(client, &self.pod, seen, records.first().map(|record| record.seq)).await?;
                records.splice(0..0, missed);
            }
            Some(_) => {}
            None => self.seen = Some(summary.head_seq),
        }
        let mut news = self.records(records);
        for record in news.iter_mut().filter(|record| record.cut.is_some()) {
            *record = client.record(&self.pod, record.seq).await?;
        }
        Ok(news)
    }
}

/// The records after `seen` and before `before`, in order.
async fn missed(client: &Client, pod: &PodRef, seen: Seq, before: Option<Seq>) -> Result<Vec<Record>> {
    let mut pages = Vec::new();
    let mut before = before;
    while before.is_none_or(|before| before.0 > seen.0 + 1) {
        if pages.len() == PAGES_MAX {
            output::note("too many records were missed to fetch; `yoi export` prints them all");
            break;
        }
        let page = client.whole_transcript(pod, before, PAGE).await?;
        before = page.items.first().map(|record| record.seq);
        let is_last = page.next.is_none() || before.is_none();
        pages.push(page.items);
        if is_last {
            break;
        }
    }
    Ok(pages.into_iter().rev().flatten().filter(|record| record.seq > seen).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(seq: i64) -> Record {
        serde_json::from_value(serde_json::json!({
            "seq": seq, "at": "2026-01-01T00:00:00Z", "event": { "kind": "text_chunk", "block": "b", "text": "x" }
        }))
        .unwrap()
    }

    /// A server that serves this page of a transcript once.
    async fn server(page: serde_json::Value) -> Client {
        use tokio::io::{AsyncReadExt, AsyncWriteExt};

        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let client = Client::new(&format!("http://{}", listener.local_addr().unwrap()), "t").unwrap();
        tokio::spawn(async move {
            let (mut stream, _) = listener.accept().await.unwrap();
            let _ = stream.read(&mut [0; 4096]).await.unwrap();
            let body = page.to_string();
            let head = format!("HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {}", body.len());
            stream.write_all(format!("{head}\r\n\r\n{body}").as_bytes()).await.unwrap();
        });
        client
    }

    #[tokio::test]
    async fn what_a_snapshot_after_a_gap_leaves_out_is_fetched() {
        let summary: PodSummary = serde_json::from_value(serde_json::json!({
            "pod": { "runtime_id": "local", "worker_id": "1" }, "name": "ada", "state": "idle", "provider": "rehearsal",
            "model": "rehearsal", "cwd": "/", "created_at": "2026-01-01T00:00:00Z",
            "updated_at": "2026-01-01T00:00:00Z", "head_seq": 9, "needs_you": false, "unread": 0,
            "relations": { "children": 0, "peers": 0 }, "usage": { "input": 0, "cached": 0, "output": 0 }
        }))
        .unwrap();
        let items: Vec<_> = (2..8).map(record).collect();
        let client = server(serde_json::json!({ "items": items, "next": "2" })).await;
        let mut follow = Follow::from_now(summary.pod.clone());
        let first = follow.snapshot(&client, &summary, vec![record(3), record(4)], true).await.unwrap();
        assert_eq!(first.len(), 2, "what was before the first snapshot was not asked for");
        let seqs = |records: Vec<Record>| records.iter().map(|record| record.seq.0).collect::<Vec<_>>();
        // The first snapshot says that the newest record is 9, so anything lost comes after that.
        assert_eq!(seqs(follow.snapshot(&client, &summary, vec![record(9)], true).await.unwrap()), [9]);

        let mut follow = Follow::from_start(summary.pod.clone());
        follow.records(vec![record(1), record(3), record(4)]);
        let again = follow.snapshot(&client, &summary, vec![record(8), record(9)], true).await.unwrap();
        assert_eq!(seqs(again), [5, 6, 7, 8, 9]);
    }

    #[test]
    fn a_record_is_given_once_however_often_it_comes() {
        let mut follow = Follow::from_now("local/1".parse().unwrap());
        let mut seqs = |range: std::ops::Range<i64>| -> Vec<i64> {
            follow.records(range.map(record).collect()).iter().map(|record| record.seq.0).collect()
        };
        assert_eq!(seqs(3..5), [3, 4]);
        assert_eq!(seqs(1..7), [5, 6]);
        assert!(seqs(2..7).is_empty());
    }
}
