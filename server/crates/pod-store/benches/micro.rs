use std::time::Instant;
use sqlx::{ConnectOptions, SqliteConnection, sqlite::*};
fn body(seq: i64) -> String {
    let text = "a few words of an answer that is being streamed, ";
    format!(r#"{{"seq":{seq},"at":"2026-11-21T10:00:00.123456Z","run_id":"r1","event":{{"kind":"text_chunk","block":"b1","text":"{text}"}}}}"#)
}
#[tokio::main(flavor = "multi_thread", worker_threads = 2)]
async fn main() {
    let dir = tempfile::tempdir().unwrap();
    for sync in [SqliteSynchronous::Off, SqliteSynchronous::Full] {
    for kind in ["array", "values", "fresh", "mixed256", "mixed64"] {
    for records in [1i64, 10, 50] {
        let path = dir.path().join(format!("{kind}{records}{sync:?}.db"));
        let mut c: SqliteConnection = SqliteConnectOptions::new().filename(&path).create_if_missing(true).journal_mode(SqliteJournalMode::Wal).synchronous(sync)
          .pragma("cache_size", "-4096").pragma("wal_autocheckpoint", "2000").disable_statement_logging().connect().await.unwrap();
        sqlx::raw_sql("create table journal (pod integer not null, seq integer not null, class integer not null, body text not null, primary key (pod, seq)) without rowid; create index journal_turns on journal (pod, seq) where class = 1;").execute(&mut c).await.unwrap();
        let rounds = 20;
        let t = Instant::now();
        let mut exec = std::time::Duration::ZERO;
        let mut commit = std::time::Duration::ZERO;
        for round in 0..rounds {
            let mut lines = vec![];
            for pod in 1..=100 { for r in 0..records { lines.push((pod, round * records + r + 1)); } }
            sqlx::query("begin immediate").execute(&mut c).await.unwrap();
            let t1 = Instant::now();
            match kind {
                "array" => {
                    let s: Vec<String> = lines.iter().map(|(p, s)| format!("[{p},{s},0,{}]", body(*s))).collect();
                    sqlx::query("insert into journal (pod, seq, class, body) select value->>0, value->>1, value->>2, value->3 from json_each(?)").bind(format!("[{}]", s.join(","))).execute(&mut c).await.unwrap();
                }
                "object" => {
                    let s: Vec<String> = lines.iter().map(|(p, s)| format!("\"{p:019}{s:019}0\":{}", body(*s))).collect();
                    sqlx::query("insert into journal (pod, seq, class, body) select cast(substr(key,1,19) as integer), cast(substr(key,20,19) as integer), cast(substr(key,39) as integer), value from json_each(?)").bind(format!("{{{}}}", s.join(","))).execute(&mut c).await.unwrap();
                }
                "ctes" => {
                    // text rows cut by offsets: body is a slice of one long text
                    let mut text = String::new(); let mut s = vec![];
                    for (p, q) in &lines { let b = body(*q); s.push(format!("[{p},{q},0,{},{}]", text.len() + 1, b.len())); text.push_str(&b); }
                    sqlx::query("insert into journal (pod, seq, class, body) select value->>0, value->>1, value->>2, cast(substr(?2, value->>3, value->>4) as text) from json_each(?1)").bind(format!("[{}]", s.join(","))).bind(text.into_bytes()).execute(&mut c).await.unwrap();
                }
                "fresh" => {
                    for chunk in lines.chunks(8000 - (round as usize % 7)) {
                    let mut rows = sqlx::QueryBuilder::new(format!("insert /* {round} */ into journal (pod, seq, class, body) "));
                    rows.push_values(chunk, |mut row, (p, s)| { row.push_bind(p).push_bind(s).push_bind(0_i64).push_bind(body(*s)); });
                    rows.build().persistent(false).execute(&mut c).await.unwrap();
                    }
                }
                "mixed256" | "mixed64" => {
                    let size = if kind == "mixed64" { 64 } else { 256 };
                    let mut chunks = lines.chunks_exact(size);
                    for chunk in &mut chunks {
                        let mut rows = sqlx::QueryBuilder::new("insert into journal (pod, seq, class, body) ");
                        rows.push_values(chunk, |mut row, (p, s)| { row.push_bind(p).push_bind(s).push_bind(0_i64).push_bind(body(*s)); });
                        rows.build().execute(&mut c).await.unwrap();
                    }
                    let s: Vec<String> = chunks.remainder().iter().map(|(p, s)| format!("[{p},{s},0,{}]", body(*s))).collect();
                    sqlx::query("insert into journal (pod, seq, class, body) select value->>0, value->>1, value->>2, value->3 from json_each(?)").bind(format!("[{}]", s.join(","))).execute(&mut c).await.unwrap();
                }
                _ => {
                    for chunk in lines.chunks(1000) {
                    let mut rows = sqlx::QueryBuilder::new("insert into journal (pod, seq, class, body) ");
                    rows.push_values(chunk, |mut row, (p, s)| { row.push_bind(p).push_bind(s).push_bind(0_i64).push_bind(body(*s)); });
                    rows.build().execute(&mut c).await.unwrap();
                    }
                }
            }
            exec += t1.elapsed();
            let t2 = Instant::now();
            sqlx::query("commit").execute(&mut c).await.unwrap();
            commit += t2.elapsed();
        }
        let n = rounds * records * 100;
        println!("{sync:?} {kind} {records}: {:.0} rows/s; per round exec {:?} commit {:?}", n as f64 / t.elapsed().as_secs_f64(), exec / rounds as u32, commit / rounds as u32);
    }}}
}
