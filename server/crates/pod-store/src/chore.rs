//! Small writes besides the journal. They go through the same writer, so that a database has exactly one.

use jiff::Timestamp;
use protocol::{BlobId, Seq};

use crate::{
    BlobRow, PodKey, SessionRow,
    claims::ClaimChange,
    columns::micros,
    sessions::SessionChange,
    statement::Text,
    txn::{Txn, WriteError},
    words::without_nul,
};

#[derive(Debug, Clone)]
pub(crate) enum Chore {
    /// This host joins again, owning nothing. Committed alone.
    Rejoin,
    /// Commits a write that changes nothing, to find out whether the database can be written.
    Probe,
    Session(SessionChange),
    Claim(ClaimChange),
    Keep(BlobRow),
    /// These blobs were used just now and are not to be swept yet.
    Touch {
        blobs: Vec<BlobId>,
        at: Timestamp,
    },
    /// Deletes a blob that nothing refers to and that has not been used since `before`.
    Sweep {
        blob: BlobId,
        before: Timestamp,
    },
    /// Copies a damaged journal row.
    Quarantine {
        pod: PodKey,
        seq: Seq,
        found_at: Timestamp,
        reason: &'static str,
    },
}

pub(crate) async fn do_in_txn(mut txn: Txn<'_>, chore: &Chore) -> Result<(), WriteError> {
    match chore {
        // Writes nothing.
        Chore::Rejoin => Ok(()),
        Chore::Probe => probe_in_txn(txn).await,
        Chore::Session(change) => session_in_txn(txn, change).await,
        Chore::Claim(change) => claim_in_txn(txn, change).await,
        Chore::Keep(blob) => keep_in_txn(txn, blob).await,
        Chore::Touch { blobs, at } => touch_in_txn(txn, blobs, *at).await,
        Chore::Sweep { blob, before } => {
            let sweep = txn.sql(Text {
                sqlite: "delete from blobs where id = $1 and created_at < $2
                         and not exists (select 1 from blob_uses where blob_uses.blob = blobs.id)
                         and not exists (select 1 from inbox where instr(inbox.segments, blobs.id) > 0)",
                postgres: "delete from blobs where id = $1 and created_at < $2
                           and not exists (select 1 from blob_uses where blob_uses.blob = blobs.id)
                           and not exists (select 1 from inbox where strpos(inbox.segments, blobs.id) > 0)",
            });
            sweep.bind(blob.as_str()).bind(micros(*before)).run("take out a file").await.map(drop)
        }
        Chore::Quarantine { pod, seq, found_at, reason } => {
            let copy = txn.sql(Text {
                sqlite: "insert or ignore into quarantine (pod, seq, body, found_at, reason)
                         select pod, seq, cast(body as blob), $1, $2 from journal where pod = $3 and seq = $4",
                postgres: "insert into quarantine (pod, seq, body, found_at, reason)
                           select pod, seq, body, $1, $2 from journal where pod = $3 and seq = $4 on conflict do nothing",
            });
            let copy = copy.bind(micros(*found_at)).bind(*reason).bind(pod.0).bind(seq.0);
            copy.run("set a damaged record aside").await.map(drop)
        }
    }
}

async fn probe_in_txn(mut txn: Txn<'_>) -> Result<(), WriteError> {
    match &txn {
        Txn::Sqlite(..) => txn.sql("update meta set host_epoch = host_epoch").run("write").await.map(drop),
        // Reading the lease has given this transaction an id, so its commit is written anyway.
        Txn::Postgres(..) => Ok(()),
    }
}

async fn session_in_txn(mut txn: Txn<'_>, change: &SessionChange) -> Result<(), WriteError> {
    let change = match change {
        SessionChange::Put(SessionRow { hash, client, created_at, seen_at, expires_at }) => {
            let put = txn.sql(
                "insert into sessions (hash, client, created_at, seen_at, expires_at) values ($1, $2, $3, $4, $5)
                 on conflict (hash) do update set client = excluded.client, created_at = excluded.created_at,
                     seen_at = excluded.seen_at, expires_at = excluded.expires_at",
            );
            let put = put.bind(hash.as_slice()).bind(without_nul(client)).bind(micros(*created_at));
            put.bind(micros(*seen_at)).bind(micros(*expires_at))
        }
        SessionChange::Seen { hash, at } => {
            let seen = txn.sql("update sessions set seen_at = $1 where hash = $2 and seen_at < $1");
            seen.bind(micros(*at)).bind(hash.as_slice())
        }
        SessionChange::Delete { hash } => txn.sql("delete from sessions where hash = $1").bind(hash.as_slice()),
        SessionChange::DeleteOthers { kept } => {
            txn.sql("delete from sessions where hash <> $1").bind(kept.map(Vec::from).unwrap_or_default())
        }
        SessionChange::Purge { now } => txn.sql("delete from sessions where expires_at <= $1").bind(micros(*now)),
    };
    change.run("change the sessions").await.map(drop)
}

async fn claim_in_txn(mut txn: Txn<'_>, change: &ClaimChange) -> Result<(), WriteError> {
    let change = match change {
        ClaimChange::Settle(row) => {
            let settled = txn.sql(
                "insert into commands (id, fingerprint, answer, at) values ($1, $2, $3, $4)
                 on conflict (id) do update set answer = excluded.answer
                 where commands.fingerprint = excluded.fingerprint and commands.answer = ''",
            );
            let settled = settled.bind(row.id.as_str()).bind(row.fingerprint.as_slice());
            settled.bind(without_nul(&row.answer)).bind(micros(row.at))
        }
        ClaimChange::Free { id, fingerprint } => {
            let freed = txn.sql("delete from commands where id = $1 and fingerprint = $2 and answer = ''");
            freed.bind(id.as_str()).bind(fingerprint.as_slice())
        }
    };
    change.run("change a claimed command").await.map(drop)
}

async fn touch_in_txn(mut txn: Txn<'_>, blobs: &[BlobId], at: Timestamp) -> Result<(), WriteError> {
    for blob in blobs {
        let touched = txn.sql("update blobs set created_at = $1 where id = $2 and created_at < $1");
        touched.bind(micros(at)).bind(blob.as_str()).run("note that a file was asked for").await?;
    }
    Ok(())
}

async fn keep_in_txn(mut txn: Txn<'_>, BlobRow { view, body, created_at }: &BlobRow) -> Result<(), WriteError> {
    let put = txn.sql(
        "insert into blobs (id, media_type, bytes, body, created_at) values ($1, $2, $3, $4, $5) on conflict (id) do nothing",
    );
    let put = put.bind(view.blob.as_str()).bind(without_nul(&view.media_type)).bind(view.bytes.cast_signed());
    put.bind(&body[..]).bind(micros(*created_at)).run("keep a file").await.map(drop)
}
