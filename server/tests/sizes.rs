//! Long inputs and long answers, with the built binary: what is accepted, what is refused, and that nothing is lost.

#![allow(clippy::unwrap_used)]

use std::process::Stdio;

use reqwest::Method;
use serde_json::{Value, json};
use testkit::{
    browser::Browser,
    scripted_model::{Answer, ScriptedModel, Step},
    yoi::{EventSocket, Launch, YoiProcess, pod_path},
};
use tokio::io::AsyncWriteExt;

const YOI: &str = env!("CARGO_BIN_EXE_yoi");
const MIB: usize = 1024 * 1024;
/// Nothing that shows records is larger than this, whatever they contain.
const SHOWN_MAX: usize = 1_000_000;
const ANSWERS: usize = 26;

async fn with_model(model: &ScriptedModel) -> YoiProcess {
    let launch = Launch::new(YOI);
    launch.env("OPENAI_BASE_URL", &model.base_url()).env("OPENAI_API_KEY", "key").start().await
}

async fn new_pod(yoi: &YoiProcess, name: &str) -> Value {
    let wanted = json!({ "name": name, "provider": "openai", "model": "scripted" });
    yoi.post("/api/v1/pods", &wanted).await.expect(201)
}

async fn watch(yoi: &YoiProcess, pod: &Value) -> EventSocket {
    let mut socket = yoi.events().await;
    socket.subscribe("a", pod, None).await;
    socket.wait_for(|frame| frame["type"] == "snapshot").await;
    socket
}

/// Two MiB of distinct words.
fn long_text() -> String {
    let mut text: String = (0..).map(|number| format!("word{number} ")).take(220_000).collect();
    text.truncate(2 * MIB);
    assert_eq!(text.len(), 2 * MIB);
    text
}

fn input(text: &str) -> Value {
    json!({ "segments": [{ "type": "text", "text": text }] })
}

/// The user's message in this request, as the model got it.
fn told(body: &Value) -> Vec<&str> {
    let messages = body["messages"].as_array().unwrap().iter();
    messages.filter(|message| message["role"] == "user").map(|message| message["content"].as_str().unwrap()).collect()
}

#[tokio::test]
async fn an_input_of_two_mib_is_accepted_and_reaches_the_model_whole() {
    let model = ScriptedModel::start().await;
    model.otherwise(Answer::say("read"));
    let yoi = with_model(&model).await;
    let pod = new_pod(&yoi, "ada").await;
    let text = long_text();
    let mut viewer = watch(&yoi, &pod).await;
    let by_words = format!("read this: {text}");
    yoi.post(&format!("{}/input", pod_path(&pod)), &input(&by_words)).await.expect(202);
    let records = viewer.records_until("a", |record| record["event"]["kind"] == "run_finished").await;
    let said = records.iter().find(|record| record["event"]["kind"] == "user_message").unwrap();
    assert!(said["event"]["segments"][0]["text"] == by_words.as_str(), "a viewer gets it whole");
    assert!(told(&model.requests()[0].body) == [by_words.as_str()], "the model is told it whole");

    // The command line reads it from standard input.
    let mut command = yoi.launch().command();
    command.args(["send", "ada", "-", "--data"]).arg(yoi.launch().data_dir());
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(text.as_bytes()).await.unwrap();
    assert!(child.wait().await.unwrap().success());
    let questions = model.wait_for_requests(2).await;
    assert!(told(&questions[1].body).contains(&text.as_str()), "what came by standard input is told whole, too");
}

#[tokio::test]
async fn a_longer_input_is_refused_with_the_limit_and_the_way_out_and_leaves_nothing() {
    let yoi = YoiProcess::start(YOI).await;
    let pod = yoi.new_pod("ada").await;
    let path = format!("{}/input", pod_path(&pod));
    let before = yoi.journal(&pod).await;
    for (bytes, says) in [(3 * MIB, "2162688"), (4 * MIB, "4 MiB"), (9 * MIB, "4 MiB")] {
        let refused = yoi.post_with_key("k", &path, &input(&"x".repeat(bytes))).await.expect(413);
        assert_eq!(refused["code"], "payload_too_large", "{bytes}");
        let detail = refused["detail"].as_str().unwrap();
        assert!(detail.contains(says) && detail.contains("file"), "{bytes}: {detail}");
    }
    // A text may fit while its JSON does not: each of these takes six characters.
    let request = yoi.request(Method::POST, &path).header("Content-Type", "application/json");
    let escaped = format!(r#"{{"segments":[{{"type":"text","text":"{}"}}]}}"#, r"\u00e4".repeat(MIB));
    assert_eq!(request.body(escaped).send().await.unwrap().status().as_u16(), 413);
    assert_eq!(yoi.journal(&pod).await, before);
    yoi.post_with_key("k", &path, &input("say fine")).await.expect(202);
}

/// The text of the answer of this number: 2 MB, all distinct.
fn answer(number: usize) -> String {
    let mut text = format!("answer {number} begins ");
    text.push_str(&"word ".repeat(400_000));
    text.push_str(&format!("answer {number} ends"));
    text
}

/// A stopped Pod with 26 answers of 2 MB.
async fn with_long_answers(yoi: &YoiProcess) -> Value {
    let lines = (1..=ANSWERS).map(|number| {
        let event = json!({ "kind": "message_finished", "block": format!("b{number}"), "text": answer(number),
            "interrupted": false });
        json!({ "seq": number, "at": "2026-11-22T06:00:00Z", "event": event }).to_string()
    });
    let body = lines.collect::<Vec<_>>().join("\n");
    let request = yoi.request(Method::POST, "/api/v1/import?name=long");
    let answer = request.header("Content-Type", "application/x-ndjson").body(body).send().await.unwrap();
    assert_eq!(answer.status().as_u16(), 201);
    answer.json().await.unwrap()
}

async fn text_of(yoi: &YoiProcess, path: &str) -> (u16, String) {
    let answer = yoi.request(Method::GET, path).send().await.unwrap();
    (answer.status().as_u16(), answer.text().await.unwrap())
}

#[tokio::test]
async fn pages_of_long_answers_are_small_and_all_of_each_is_one_request_away() {
    let yoi = YoiProcess::start(YOI).await;
    let pod = with_long_answers(&yoi).await;
    let path = pod_path(&pod);
    let (mut before, mut seen, mut pages) = (String::new(), Vec::new(), 0);
    loop {
        let (status, page) = text_of(&yoi, &format!("{path}/transcript?limit=1000{before}")).await;
        assert!(status == 200 && page.len() <= SHOWN_MAX, "{status}, {} bytes", page.len());
        let page: Value = serde_json::from_str(&page).unwrap();
        let items = page["items"].as_array().unwrap().clone();
        assert!(!items.is_empty());
        seen.splice(0..0, items);
        pages += 1;
        match page["next"].as_str() {
            Some(next) => before = format!("&before={next}"),
            None => break,
        }
    }
    assert!(pages > 1);
    assert_eq!(seen.iter().filter(|record| record["cut"]["bytes"].as_u64() > Some(2_000_000)).count(), ANSWERS);
    for number in [1, 13, ANSWERS] {
        let shown = seen[number - 1]["event"]["text"].as_str().unwrap();
        let whole = answer(number);
        assert!(whole.starts_with(shown.strip_suffix('…').unwrap()), "the beginning of {number}");
        let record = yoi.get(&format!("{path}/records/{number}")).await.expect(200);
        assert!(record["event"]["text"] == whole.as_str() && record["cut"].is_null(), "all of {number}");
        let (status, text) = text_of(&yoi, &format!("{path}/records/{number}?format=text")).await;
        assert!(status == 200 && text == whole, "all of {number} as text");
    }
    // Whole records, where they are requested: one that is larger than a page comes alone.
    let page = yoi.get(&format!("{path}/transcript?limit=1000&whole=true&before=9")).await.expect(200);
    let items = page["items"].as_array().unwrap();
    assert!(items.len() == 1 && items[0]["event"]["text"] == answer(8).as_str() && page["next"] == "8");
    for wrong in ["records/0", "records/x", "records/1?format=xml", "transcript?whole=maybe"] {
        assert_eq!(yoi.get(&format!("{path}/{wrong}")).await.expect_error(400), "invalid_input", "{wrong}");
    }
    assert_eq!(yoi.get(&format!("{path}/records/9999")).await.expect_error(404), "not_found");
}

#[tokio::test]
async fn a_snapshot_of_long_answers_is_small_and_what_follows_a_cursor_comes_whole_and_apart() {
    let model = ScriptedModel::start().await;
    model.otherwise(Answer::say("read"));
    let yoi = with_model(&model).await;
    let pod = with_long_answers(&yoi).await;
    let mut socket = yoi.events().await;
    socket.subscribe("a", &pod, None).await;
    let snapshot = socket.wait_for(|frame| frame["type"] == "snapshot").await;
    assert!(snapshot.to_string().len() <= SHOWN_MAX, "{}", snapshot.to_string().len());
    assert_eq!(snapshot["has_more"], true);
    assert!(snapshot["records"].as_array().unwrap().len() > 5, "short ones would have been all there is");

    // A cursor before all of it: each answer in a frame of its own.
    let mut fresh = yoi.events().await;
    let other = new_pod(&yoi, "ada").await;
    fresh.subscribe("b", &other, None).await;
    let cursor = fresh.wait_for(|frame| frame["type"] == "snapshot").await["cursor"].as_str().unwrap().to_owned();
    let text = "x ".repeat(500_000);
    for _ in 0..3 {
        yoi.say(&other, &text).await;
    }
    let ends = |record: &Value| record["event"]["kind"] == "run_finished";
    let mut done = 0;
    fresh
        .records_until("b", |record| {
            done += usize::from(ends(record));
            done == 3
        })
        .await;
    let mut late = yoi.events().await;
    late.subscribe("c", &other, Some(&cursor)).await;
    let (mut said, mut ended) = (0, 0);
    late.wait_for(|frame| {
        let records = frame["records"].as_array().cloned().unwrap_or_default();
        let bytes = frame.to_string().len();
        assert!(records.len() == 1 || bytes <= SHOWN_MAX, "{} records of {bytes} bytes", records.len());
        let whole = |record: &&Value| record["event"]["segments"][0]["text"] == text.as_str();
        said += records.iter().filter(whole).count();
        ended += records.iter().filter(|record| ends(record)).count();
        ended == 3
    })
    .await;
    assert_eq!(said, 3, "each input came whole");
}

#[tokio::test]
async fn a_viewer_that_comes_in_the_middle_of_a_long_answer_gets_all_of_it_in_a_small_snapshot() {
    let model = ScriptedModel::start().await;
    let go_on = std::sync::Arc::new(tokio::sync::Notify::new());
    let words: Vec<String> = (0..20_000).map(|number| format!("w{number} ")).collect();
    let pieces = words.chunks(1).fold(Answer::new(), |answer, word| answer.text(word.concat()));
    model.push(pieces.step(Step::WaitFor(go_on.clone())).text("the end").finish());
    let yoi = with_model(&model).await;
    let pod = new_pod(&yoi, "ada").await;
    let mut first = watch(&yoi, &pod).await;
    yoi.post(&format!("{}/input", pod_path(&pod)), &input("go")).await.expect(202);
    let last = words.last().unwrap();
    first.records_until("a", |record| record["event"]["text"].as_str().is_some_and(|text| text.ends_with(last))).await;
    let mut late = yoi.events().await;
    late.subscribe("b", &pod, None).await;
    let snapshot = late.wait_for(|frame| frame["type"] == "snapshot").await;
    assert!(snapshot.to_string().len() <= SHOWN_MAX, "{}", snapshot.to_string().len());
    let pieces =
        snapshot["records"].as_array().unwrap().iter().filter(|record| record["event"]["kind"] == "text_chunk");
    let said: String = pieces.map(|record| record["event"]["text"].as_str().unwrap()).collect();
    assert!(said == words.concat(), "{} bytes of {}", said.len(), words.concat().len());
    // What follows comes next.
    go_on.notify_one();
    let rest = late.records_until("b", |record| record["event"]["kind"] == "message_finished").await;
    assert_eq!(rest[0]["event"]["text"], "the end");
}

#[tokio::test]
async fn the_pages_for_people_are_small_and_lead_to_all_of_a_long_answer() {
    let yoi = YoiProcess::start(YOI).await;
    let pod = with_long_answers(&yoi).await;
    let page = pod_path(&pod).replacen("/api/v1/runtimes/", "/pods/", 1).replacen("/workers/", "/", 1);
    let (status, html) = text_of(&yoi, &page).await;
    assert!(status == 200 && html.len() <= SHOWN_MAX, "{status}, {} bytes", html.len());
    assert!(html.contains("Show all 2.0 MB"));
    let link = format!("{}/records/{ANSWERS}?format=text", pod_path(&pod));
    assert!(html.contains(&link), "a link that works without a script");
    let (status, printed) = text_of(&yoi, &format!("{page}/print")).await;
    assert!(status == 200 && printed.len() <= 4 * SHOWN_MAX, "{status}, {} bytes", printed.len());
    assert!(printed.contains(&link) && printed.contains("answer 1 begins"), "all 26 are there, each with its link");
}

#[tokio::test]
async fn the_command_line_prints_all_of_a_long_answer() {
    let yoi = YoiProcess::start(YOI).await;
    with_long_answers(&yoi).await;
    let mut command = yoi.launch().command();
    command.args(["log", "long", "--limit", "4", "--json", "--data"]).arg(yoi.launch().data_dir());
    let printed = command.output().await.unwrap();
    assert!(printed.status.success());
    let listing: Value = serde_json::from_slice(&printed.stdout).unwrap();
    let items = listing["items"].as_array().unwrap();
    // The answers are followed by the record of their import.
    let texts: Vec<&str> = items.iter().filter_map(|record| record["event"]["text"].as_str()).collect();
    let whole = [answer(ANSWERS - 1), answer(ANSWERS)];
    assert!(items.len() == 4 && texts.len() == 3 && texts[..2] == whole, "{} of {} records", texts.len(), items.len());
}

#[tokio::test]
async fn what_waits_is_shown_in_short_and_given_back_whole() {
    let yoi = YoiProcess::start(YOI).await;
    let pod = yoi.new_pod("ada").await;
    let path = pod_path(&pod);
    yoi.say(&pod, "wait 600").await;
    let text = long_text();
    for _ in 0..3 {
        yoi.say(&pod, &text).await;
    }
    let detail = yoi.get(&path).await.expect(200);
    assert!(detail.to_string().len() < SHOWN_MAX, "{}", detail.to_string().len());
    let waiting = detail["queued"].as_array().unwrap();
    assert_eq!(
        waiting.iter().map(|input| input["cut"]["bytes"].as_u64()).collect::<Vec<_>>(),
        [Some(2 * MIB as u64); 3]
    );
    let id = waiting[0]["command_id"].as_str().unwrap();
    let given_back = yoi.delete(&format!("{path}/input/{id}")).await.expect(200);
    assert!(given_back["segments"][0]["text"] == text.as_str() && given_back["cut"].is_null());
}

#[tokio::test]
async fn browser_one_press_brings_all_of_a_long_answer_into_its_place() {
    let yoi = YoiProcess::start(YOI).await;
    let pod = with_long_answers(&yoi).await;
    let browser = Browser::open_pod(&yoi, &pod).await;
    let last = format!("document.getElementById('block-b{ANSWERS}')");
    browser.wait_script(&format!("return {last} !== null")).await;
    let shown = browser.eval(&format!("return {last}.textContent.length")).await.as_u64().unwrap();
    assert!((50_000..100_000).contains(&shown), "{shown} letters of 2,000,000");
    browser.eval(&format!("{last}.querySelector('.cut-here a').click()")).await;
    browser.wait_script(&format!("return {last}.textContent.includes('answer {ANSWERS} ends')")).await;
    browser.wait_script(&format!("return {last}.querySelector('.cut-here') === null")).await;
    // The others are unchanged, and older ones arrive on scrolling up.
    assert_eq!(browser.eval("return document.body.textContent.includes('answer 1 begins')").await, false);
    browser
        .wait_until("the first answer is there", async |browser| {
            browser.eval("document.getElementById('log').scrollTop = 0").await;
            browser.eval("return document.body.textContent.includes('answer 1 begins')").await == true
        })
        .await;
    browser.no_errors().await;
}
