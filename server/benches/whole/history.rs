//! Opening a long conversation, and connecting in the middle of an answer.

use std::time::{Duration, Instant};

use reqwest::Client;
use serde_json::Value;
use sqlx::Connection;
use testkit::yoi::{YoiProcess, pod_path};

use crate::{
    bare,
    house::{self, BINARY, median, ms, quantile},
    options::Options,
    report::{
        Line, Report,
        Unit::{Milliseconds, Percent},
    },
    viewer::{Viewer, chunk_texts, chunks},
};

/// Questions; each has an answer.
const QUESTIONS: usize = 1_000;
const WORDS: &str = "say a sentence of an answer has about this many words and is neither long nor short so that ";
const SENTENCES: usize = 7;
/// Records per page: of the first one as the console requests it, and of the largest.
const FIRST_PAGE: u32 = 200;
const PAGE: u32 = 1_000;
const COMPRESSED: &str = "br, gzip";
const LOOKS: usize = 21;
const LATE: usize = 5;

pub(crate) fn run(_: &Options, report: &mut Report) {
    house::tokio_runtime().block_on(async {
        let yoi = YoiProcess::start(BINARY).await;
        let pod = conversation(&yoi).await;

        let reader = Reader::new(&yoi, &pod);
        let plain = reader.walk().await;
        let mut floor = read_rows(plain.records).await;
        let (mut first, mut whole) = (Vec::new(), Vec::new());
        let mut bytes = 0;
        for _ in 0..LOOKS {
            let began = Instant::now();
            reader.page(None, FIRST_PAGE, COMPRESSED).await;
            first.push(ms(began.elapsed()));

            let began = Instant::now();
            bytes = 0;
            for before in &plain.befores {
                bytes += reader.page(before.as_deref(), PAGE, COMPRESSED).await.len();
            }
            whole.push(ms(began.elapsed()));
        }
        report.add(
            Line::new(
                "open_first_page",
                "open a Pod with 2,000 messages: first page",
                Milliseconds,
                median(&mut first),
            )
            .at_most(3.0)
            .note(format!("200 records, compressed; median of {LOOKS}")),
        );
        report.add(
            Line::new("open_whole", "the same, whole history over the API", Milliseconds, median(&mut whole))
                .floor(median(&mut floor))
                .at_most(25.0)
                .note(format!(
                    "{} records, {:.0} kB compressed of {:.0} kB; floor: so many rows read through sqlx",
                    plain.records,
                    bytes as f64 / 1e3,
                    plain.bytes as f64 / 1e3
                )),
        );

        let mut seen = Vec::new();
        for number in 0..LATE {
            seen.push(seen_by_a_late_viewer(&yoi, number).await);
        }
        let slowest = seen.iter().map(|(_, took)| *took).fold(0.0, f64::max);
        let mut shares: Vec<_> = seen.into_iter().map(|(share, _)| share).collect();
        report.add(
            Line::new(
                "late_viewer",
                "text in mid-stream for a viewer that comes later",
                Percent,
                quantile(&mut shares, 0.0),
            )
            .at_least(100.0)
            .note(format!("in its first frame; the worst of {LATE}, after at most {slowest:.1} ms")),
        );
    });
}

async fn conversation(yoi: &YoiProcess) -> Value {
    let pod = yoi.new_pod("long").await;
    let text = format!("say {}", WORDS.trim_start_matches("say ").repeat(SENTENCES));
    for _ in 0..QUESTIONS {
        yoi.say(&pod, &text).await;
    }
    house::until_idle(yoi, &pod).await;
    pod
}

/// Reads one Pod's transcript as raw bytes: it decodes nothing, because the time to decode is the client's.
struct Reader {
    http: Client,
    url: String,
    token: String,
}

/// The whole transcript, uncompressed.
#[derive(Default)]
struct Walk {
    /// What to request, page by page.
    befores: Vec<Option<String>>,
    records: usize,
    bytes: usize,
}

impl Reader {
    fn new(yoi: &YoiProcess, pod: &Value) -> Self {
        let http = Client::builder().no_gzip().build().expect("a client needs nothing of the machine");
        let url = format!("{}{}/transcript", yoi.base_url(), pod_path(pod));
        Self { http, url, token: yoi.token().to_owned() }
    }

    async fn page(&self, before: Option<&str>, limit: u32, encodings: &str) -> Vec<u8> {
        let before = before.map_or_else(String::new, |before| format!("&before={before}"));
        let asked = self.http.get(format!("{}?limit={limit}{before}", self.url)).bearer_auth(&self.token);
        let answer = asked.header("Accept-Encoding", encodings).send().await.expect("yoi answers");
        let is_compressed = answer.headers().contains_key("content-encoding");
        assert_eq!(is_compressed, encodings == COMPRESSED, "the server takes what it is offered");
        answer.bytes().await.expect("the answer arrives whole").to_vec()
    }

    async fn walk(&self) -> Walk {
        let mut walk = Walk::default();
        let mut before = None;
        loop {
            let bytes = self.page(before.as_deref(), PAGE, "identity").await;
            let page: Value = serde_json::from_slice(&bytes).expect("a page is JSON");
            walk.bytes += bytes.len();
            walk.records += page["items"].as_array().map_or(0, Vec::len);
            walk.befores.push(before);
            before = page["next"].as_str().map(str::to_owned);
            if before.is_none() {
                return walk;
            }
        }
    }
}

/// Milliseconds to read this many rows of the same size.
async fn read_rows(count: usize) -> Vec<f64> {
    let folder = tempfile::tempdir().expect("there is a temporary folder");
    let mut connection = bare::connect(&folder.path().join("floor.db")).await;
    let fill = "insert into journal (stream, body)
                with recursive number (n) as (select 1 union all select n + 1 from number where n < ?)
                select 1, printf('%0240d', n) from number";
    sqlx::query(fill).bind(count as i64).execute(&mut connection).await.expect("rows are new");
    let mut took = Vec::new();
    for _ in 0..LOOKS {
        let began = Instant::now();
        let read = sqlx::query_as::<_, (i64, String)>("select id, body from journal order by id");
        let rows = read.fetch_all(&mut connection).await.expect("rows are readable");
        took.push(ms(began.elapsed()));
        assert_eq!(rows.len(), count, "all rows are read");
    }
    connection.close().await.expect("nothing is open on it");
    took
}

/// How much of what an early viewer had seen (percent) is in the snapshot of a late one, and when it arrived (ms).
async fn seen_by_a_late_viewer(yoi: &YoiProcess, number: usize) -> (f64, f64) {
    let pod = yoi.new_pod(&format!("middle-{number}")).await;
    let mut early = Viewer::of_pod(yoi, &pod).await;
    yoi.say(&pod, "stream 1500 at 1000").await;
    let early = tokio::spawn(async move { early.until_end().await });
    tokio::time::sleep(Duration::from_millis(600)).await;

    let began = Instant::now();
    let (_late, snapshot) = Viewer::with_snapshot(yoi, &pod).await;
    let took = ms(began.elapsed());
    let seen = early.await.expect("a viewer only reads");
    let before: String = chunks(&seen).into_iter().filter(|(at, _)| *at < began).map(|(_, text)| text).collect();
    // A snapshot has the shape of a frame of records.
    let shown = chunk_texts(&[(began, snapshot)]).concat();
    let common = before.bytes().zip(shown.bytes()).take_while(|(before, shown)| before == shown).count();
    assert!(!before.is_empty(), "the early viewer saw something");
    (common as f64 / before.len() as f64 * 100.0, took)
}
