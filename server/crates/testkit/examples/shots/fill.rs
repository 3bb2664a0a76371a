//! Fills a yoi with a morning's work: five Pods and two children on two repositories, with some of everything that a
//! transcript can show.

use std::{path::PathBuf, time::Duration};

use anyhow::{Context, Result};
use serde_json::{Value, json};
use testkit::{
    scripted_model::{Answer, ScriptedModel, Step, Tokens},
    yoi::{Launch, YoiProcess, pod_path},
};

use crate::{clock::Clock, repositories as code};

/// How long a model thinks: on the clock of the pictures these are minutes.
const THINKS: Duration = Duration::from_millis(140);

/// ledger's report.
const REPORT: &str = "\
The export streams now instead of building everything in memory.

| shop | orders | before | now |
| --- | --- | --- | --- |
| small | 4,210 | 31 MB | **12 MB** |
| large | 1,204,118 | 1.9 GB | **40 MB** |

```ts
for await (const page of shop.orders.pages(month, 500)) {
  out.write(toCsv(page.map(asRow)));
}
```

- the columns are as they were, byte for byte
- a page has 500 orders; larger ones are no faster";

/// A running yoi with its Pods.
#[derive(Debug)]
pub(crate) struct Cast {
    pub(crate) yoi: YoiProcess,
    /// It waits for an answer; its changes can be reviewed.
    pub(crate) refunds: Value,
    /// It is idle: a peer of refunds, with a background command.
    pub(crate) ledger: Value,
    /// It has two children, and is running.
    pub(crate) segments: Value,
    /// The scripted models and the repositories, kept as long as this.
    _models: Models,
    _source: Source,
}

/// One for each Pod that works at the same time as another one, so that each has the right next answer.
#[derive(Debug)]
struct Models {
    anthropic: ScriptedModel,
    openai: ScriptedModel,
    openrouter: ScriptedModel,
    local: ScriptedModel,
}

/// The folder with the repositories, deleted with this. Its path is in the pictures.
#[derive(Debug)]
struct Source(PathBuf);

impl Drop for Source {
    fn drop(&mut self) {
        std::fs::remove_dir_all(&self.0).ok();
    }
}

/// What the acts of the scene share.
struct Stage {
    yoi: YoiProcess,
    clock: Clock,
    models: Models,
    source: Source,
}

pub(crate) async fn play(binary: &str) -> Result<Cast> {
    let launch = Launch::new(binary);
    let folder = launch.work_dir().parent().context("the working folder is in another one")?.to_owned();
    let source = Source(std::env::temp_dir().join("src"));
    std::fs::create_dir(&source.0).with_context(|| format!("{} is in the way of the scene", source.0.display()))?;
    code::make(&source.0)?;
    let models = Models {
        anthropic: ScriptedModel::start().await,
        openai: ScriptedModel::start().await,
        openrouter: ScriptedModel::start().await,
        local: ScriptedModel::start().await,
    };
    let config = folder.join("yoi.toml");
    std::fs::write(&config, settings(&models))?;
    let (clock, launch) = Clock::wind(&folder, launch.env("SCENE_KEY", "none"));
    clock.minutes_ago(190, 190);
    let yoi = launch.arg("--config").arg(config.to_str().context("a temporary path is text")?).start().await;
    let stage = Stage { yoi, clock, models, source };

    let segments = stage.merges().await;
    stage.writes_documents(&segments).await;
    let ledger = stage.exports().await;
    stage.fails().await;
    let refunds = stage.refunds(&ledger).await;
    stage.measures(&segments).await;
    stage.clock.minutes_ago(0, 0);
    let Stage { yoi, models, source, .. } = stage;
    Ok(Cast { yoi, refunds, ledger, segments, _models: models, _source: source })
}

/// Reads, edits, tests and new tests need no approval; whole files and other commands do.
fn settings(models: &Models) -> String {
    let provider = |name: &str, kind: &str, url: String, model: &str| {
        format!(
            "[providers.{name}]\nkind = \"{kind}\"\nbase_url = \"{url}\"\nmodels = [\"{model}\"]\napi_key_env = \"SCENE_KEY\"\n"
        )
    };
    let allow = |tool: &str, what: &str| format!("{{ tool = \"{tool}\", match = \"{what}\", decision = \"allow\" }}");
    let rules = [
        "{ tool = \"Edit\", decision = \"allow\" }".to_owned(),
        allow("Write", "*.test.ts"),
        allow("Write", "docs/*"),
        allow("Bash", "./test *"),
        allow("Bash", "./run *"),
        allow("Bash", "./watch *"),
    ];
    let profile = |name: &str, provider: &str, model: &str| {
        let rules = rules.join(", ");
        format!("[profiles.{name}]\nprovider = \"{provider}\"\nmodel = \"{model}\"\npermissions = [{rules}]\n")
    };
    [
        provider("anthropic", "anthropic", models.anthropic.anthropic_base_url(), "claude-sonnet-4-5"),
        provider("openai", "openai", models.openai.base_url(), "gpt-5"),
        provider("openrouter", "openai-compatible", models.openrouter.base_url(), "qwen3-coder"),
        provider("local", "openai-compatible", models.local.base_url(), "qwen3-30b"),
        profile("coder", "anthropic", "claude-sonnet-4-5"),
        profile("writer", "openai", "gpt-5"),
        profile("mover", "openrouter", "qwen3-coder"),
        profile("worker", "local", "qwen3-30b"),
        "[models.\"qwen3-coder\"]\ninput = 0.4\noutput = 1.6\ncontext_limit = 262144\n".to_owned(),
        "[models.\"qwen3-30b\"]\ninput = 0.1\noutput = 0.3\ncontext_limit = 131072\n".to_owned(),
    ]
    .concat()
}

/// One answer of a model, after a moment: a text, and calls. `size` is how full the context is, in thousand tokens.
fn turn(size: u64, text: &str, calls: &[(&str, Value)]) -> Answer {
    let tokens = Tokens { input: size * 1_000 + 137, cached: size * 920, output: 180 + (text.len() as u64 + 400) / 3 };
    let begun = Answer::new().step(Step::Pause(THINKS));
    let begun = if text.is_empty() { begun } else { begun.text(text) };
    let answer = calls.iter().enumerate().fold(begun, |answer, (number, (name, arguments))| {
        answer.tool_call(&format!("c{number}"), name, &[&arguments.to_string()])
    });
    answer.usage(tokens).finish()
}

fn bash(command: &str) -> (&'static str, Value) {
    ("Bash", json!({ "command": command }))
}

fn read(path: &str) -> (&'static str, Value) {
    ("Read", json!({ "path": path }))
}

fn edit(path: &str, old: &str, new: &str) -> (&'static str, Value) {
    ("Edit", json!({ "path": path, "old": old.trim_end(), "new": new.trim_end() }))
}

/// A task list of which the first `done` are done.
fn tasks(done: usize) -> (&'static str, Value) {
    let texts = [
        "Find where the cent is lost",
        "Write a test that shows it",
        "Share out once per order",
        "Tell ledger which line gets the spare cent",
        "Replace the old rounding",
    ];
    let state = |number: usize| match number {
        number if number < done => "done",
        number if number == done => "in_progress",
        _ => "pending",
    };
    let items: Vec<_> =
        texts.iter().enumerate().map(|(number, text)| json!({ "text": text, "state": state(number) })).collect();
    ("Tasks", json!({ "items": items }))
}

impl Stage {
    /// A Pod in a work tree of its own.
    async fn pod(&self, name: &str, profile: &str, repository: &str, branch: &str) -> Value {
        let body = json!({
            "name": name, "profile": profile, "cwd": self.source.0.join(repository), "worktree": { "branch": branch },
        });
        self.yoi.post("/api/v1/pods", &body).await.expect(201)
    }

    /// Tells a Pod what to do and returns when a record of this kind has resulted.
    async fn act(&self, pod: &Value, task: &str, until: &str) {
        let receipt = self.yoi.say(pod, task).await;
        let mut events = self.yoi.events().await;
        events.subscribe("play", pod, None).await;
        let said = receipt["seq"].as_i64().unwrap_or_default();
        let is_it = |record: &Value| record["event"]["kind"] == until && record["seq"].as_i64() > Some(said);
        events.records_until("play", is_it).await;
    }

    /// Waits until a Pod has said something that begins so, and is idle again.
    async fn said(&self, pod: &Value, begins: &str) {
        let mut events = self.yoi.events().await;
        events.subscribe("said", pod, None).await;
        let mut has_said = false;
        events
            .records_until("said", |record| {
                let event = &record["event"];
                has_said |= event["text"].as_str().is_some_and(|text| text.starts_with(begins));
                has_said && event["kind"] == "run_finished"
            })
            .await;
    }

    /// segments merges in the background, and its child fuzz finds a crash.
    async fn merges(&self) -> Value {
        let (model, local) = (&self.models.anthropic, &self.models.local);
        self.clock.minutes_ago(165, 128);
        let pod = self.pod("segments", "coder", "lantern", "segment-merge").await;
        let tree = self.source.0.join("lantern.worktrees/segment-merge");
        let glob = ("Glob", json!({ "pattern": "src/**/*.rs" }));
        model.push(turn(21, "I look at who waits for a merge today.", &[glob, read("src/merge.rs")]));
        model.push(turn(34, "", &[edit("src/merge.rs", code::MERGE_OLD, code::MERGE_NEW)]));
        model.push(turn(36, "", &[bash("./test merge")]));
        let child = json!({
            "name": "fuzz", "task": "Merge random segments for four hours. Write every crash down as a file.",
            "profile": "worker", "scope": [{ "path": tree.join("fuzz"), "access": "write" }],
        });
        model.push(turn(38, "Somebody has to try what I do not think of.", &[("SpawnPod", child)]));
        model.push(turn(40, "Merges run in the background now; *fuzz* tries random ones.", &[]));
        local.push(turn(6, "I begin with small segments.", &[bash("./run 2000000")]));
        local.push(turn(
            8,
            "2.1 million inputs in four hours. One crash, of an empty segment; it is written down.",
            &[],
        ));
        let edit = edit("src/merge.rs", code::EMPTY_OLD, code::EMPTY_NEW);
        model.push(turn(44, "fuzz is right: an empty segment is still counted.", &[edit]));
        model.push(turn(46, "", &[bash("./test merge")]));
        model.push(turn(
            47,
            "Merges segments in the background now; searching no longer waits for it. fuzz found one crash, which is fixed.",
            &[],
        ));
        let task =
            "A search stands still while segments are merged. Merge them in the background, and have it tried hard.";
        self.yoi.say(&pod, task).await;
        self.said(&pod, "Merges segments").await;
        pod
    }

    /// query-docs writes the guide, and is asked to be a peer.
    async fn writes_documents(&self, segments: &Value) {
        let model = &self.models.openai;
        self.clock.minutes_ago(112, 84);
        let body = json!({
            "name": "query-docs", "profile": "writer", "cwd": self.source.0.join("lantern"),
            "worktree": { "branch": "query-docs" }, "peer_policy": "ask",
        });
        let pod = self.yoi.post("/api/v1/pods", &body).await.expect(201);
        model.push(turn(12, "", &[read("docs/query.md")]));
        model.push(turn(14, "", &[("Write", json!({ "path": "docs/query.md", "content": code::QUERY }))]));
        model.push(turn(17, "", &[bash("./test docs")]));
        model.push(turn(18, "Rewrote the query guide with 14 examples, which are run as tests.", &[]));
        self.act(&pod, "Rewrite the query guide. Every example has to be run as a test.", "run_finished").await;
        self.clock.minutes_ago(31, 31);
        let asked = json!({ "target": "query-docs", "note": "What changes in the query syntax?" });
        self.yoi.post(&format!("{}/peers", pod_path(segments)), &asked).await;
    }

    /// ledger streams its export, and leaves a command running.
    async fn exports(&self) -> Value {
        let model = &self.models.openai;
        self.clock.minutes_ago(96, 62);
        let pod = self.pod("ledger", "writer", "orchard", "stream-export").await;
        let looking = Answer::new().step(Step::Pause(THINKS));
        let looking = looking.reasoning("The whole month is one array. Pages would do, if the columns stay.");
        let looks = [("Glob", json!({ "pattern": "src/export/*" })), read("src/export/monthly.ts")];
        model.push(
            looks
                .iter()
                .enumerate()
                .fold(looking, |answer, (number, (name, arguments))| {
                    answer.tool_call(&format!("l{number}"), name, &[&arguments.to_string()])
                })
                .usage(Tokens { input: 18_210, cached: 15_000, output: 240 })
                .finish(),
        );
        let streams = edit("src/export/monthly.ts", code::EXPORT_OLD, code::EXPORT_NEW);
        model.push(turn(
            22,
            "The export holds a whole month in memory. It can read one page after the other.",
            &[streams],
        ));
        model.push(turn(25, "", &[bash("./test export")]));
        let watch = ("Bash", json!({ "command": "./watch export", "background": true }));
        model.push(turn(26, "Now with the orders of a large shop:", &[watch]));
        model.push(turn(28, REPORT, &[]));
        self.act(&pod, "The monthly export runs out of memory in large shops. Make it stream.", "run_finished").await;
        pod
    }

    /// node-24 fails: its provider wants money.
    async fn fails(&self) {
        let model = &self.models.openrouter;
        self.clock.minutes_ago(71, 58);
        let pod = self.pod("node-24", "mover", "orchard", "node-24").await;
        model.push(turn(15, "", &[read("package.json")]));
        let says = "9 of 13 packages build on Node 24. The next one is `pdf`, which needs a newer canvas.";
        model.push(turn(19, says, &[read("AGENTS.md")]));
        let why = json!({ "error": { "message": "Insufficient credits: 0.00 left. Add more to go on.", "code": 402 } });
        model.push(Answer::refuse(402, why.to_string()));
        self.act(&pod, "Move the build to Node 24, one package after the other.", "run_finished").await;
    }

    /// refunds finds the cent, talks to ledger, and wants to replace a file.
    async fn refunds(&self, ledger: &Value) -> Value {
        let (model, other) = (&self.models.anthropic, &self.models.openai);
        self.clock.minutes_ago(52, 33);
        let pod = self.pod("refunds", "coder", "orchard", "refund-rounding").await;
        self.yoi.post(&format!("{}/peers", pod_path(&pod)), &json!({ "target": "ledger" })).await.expect(201);
        let grep = ("Grep", json!({ "pattern": "round", "path": "src" }));
        let files = ["src/refunds/split.ts", "src/refunds/refund.ts", "src/money/round.ts"].map(read);
        let looks: Vec<_> = [tasks(0), grep].into_iter().chain(files).collect();
        model.push(turn(24, "I look at how a voucher is split before I touch anything.", &looks));
        let test = json!({ "path": "src/refunds/split.test.ts", "content": code::SPLIT_TEST });
        let words = "Each line is rounded by itself, so three thirds of 10.01 are only 10.00. A test first:";
        model.push(turn(31, words, &[("Write", test), tasks(1)]));
        model.push(turn(34, "", &[bash("./test refunds")]));
        let splits = edit("src/refunds/split.ts", code::SPLIT_OLD, code::SPLIT_NEW);
        let pays = [0, 1].map(|at| edit("src/refunds/refund.ts", code::REFUND_OLD[at], code::REFUND_NEW[at]));
        let changes: Vec<_> = [tasks(2), splits].into_iter().chain(pays).collect();
        model.push(turn(36, "There it is. One total is shared out now, and the parts always add up to it.", &changes));
        model.push(turn(39, "", &[bash("./test refunds"), tasks(3)]));
        model.push(turn(41, "Found the lost cent: every line was rounded by itself. Fixed; 24 tests pass.", &[]));
        let task = "Some refunds are a cent short: order 10447 got 12.96 back for a voucher of 12.97. Find where the cent \
                    is lost, write a test that shows it, and fix it.";
        self.act(&pod, task, "run_finished").await;

        self.clock.minutes_ago(27, 16);
        let question = "Which line gets the spare cent? My export has to book it on the same one.";
        other.push(turn(30, "", &[("SendToPeerPod", json!({ "name": "refunds", "message": question }))]));
        other.push(turn(31, "I have asked refunds.", &[]));
        let reply = "The largest line; if two are equal, the first. It is in `giveRest`.";
        model.push(turn(43, "", &[("SendToPeerPod", json!({ "name": "ledger", "message": reply })), tasks(4)]));
        model.push(turn(44, "ledger books the cent on the largest line, too.", &[]));
        other.push(turn(
            32,
            "The monthly export streams: 1.9 GB became 40 MB. It books the spare cent on the largest line.",
            &[],
        ));
        self.yoi.say(ledger, "Ask refunds which line gets the spare cent.").await;
        self.said(&pod, "ledger books").await;
        self.said(ledger, "The monthly export streams").await;

        self.clock.minutes_ago(13, 12);
        model.push(turn(45, "", &[bash("./test refunds")]));
        let write = json!({ "path": "src/money/round.ts", "content": code::SHARE_OUT });
        let words = "The cent is back. What is left is the old rounding: nothing in `src/refunds` needs it any more, so I \
                     replace it.";
        model.push(turn(46, words, &[("Write", write)]));
        self.act(&pod, "Good. Then replace the old rounding as well.", "approval_asked").await;
        pod
    }

    /// bench, another child of segments, wants to measure; segments goes on writing.
    async fn measures(&self, segments: &Value) {
        let (model, local) = (&self.models.anthropic, &self.models.local);
        self.clock.minutes_ago(8, 4);
        let tree = self.source.0.join("lantern.worktrees/segment-merge");
        let child = json!({
            "name": "bench", "task": "Measure merging with five workloads, before and after.", "profile": "worker",
            "scope": [{ "path": tree.join("benches"), "access": "write" }],
        });
        local.push(turn(
            5,
            "Measured 3 of 5 workloads; I want to save a baseline first.",
            &[bash("cargo bench --bench merge -- --save-baseline before")],
        ));
        model.push(turn(49, "bench measures it.", &[("SpawnPod", child)]));
        model.push(turn(50, "bench measures five workloads, before and after.", &[]));
        self.act(segments, "How much faster is it? Have it measured.", "run_finished").await;
        testkit::until("bench asks", async || {
            let bench = self.yoi.get("/api/v1/pods?name=bench").await.expect(200);
            (bench["items"][0]["state"] == "waiting").then_some(())
        })
        .await;
        self.clock.minutes_ago(1, 0);
        let chapter = "Merges segments in the background now; searching no longer waits for it. Writing the chapter for the \
                       release notes:\n\n### Searching while merging\n\nA merge used to ";
        model.push(Answer::new().text(chapter).step(Step::Stall));
        self.yoi.say(segments, "Meanwhile, write the chapter for the release notes.").await;
    }
}
