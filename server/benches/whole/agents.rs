//! A chunk's way from an agent's standard output to a viewer, against a chunk from a provider in the same run; and what
//! an agent costs that rests.

use std::time::Duration;

use serde_json::{Value, json};
use testkit::{
    processes_below,
    timed_model::{Pace, Plan, TimedModel, nanoseconds},
    yoi::{Launch, YoiProcess},
};
use tokio::runtime::Runtime;

use crate::{
    bare, burst,
    delta::{Rounds, told},
    house::{self, cpu_seconds, median},
    options::Options,
    report::{
        Line, Report,
        Unit::{Count, Milliseconds, PerSecond},
    },
};

const PAUSE: Duration = Duration::from_millis(10);
const DELTAS: usize = 300;
const WARM_UP: usize = 20;
const ROUNDS: usize = 3;
/// The number of chunks for which processor time is given.
const COUNTED: usize = 4_000;
/// How much more a chunk from an agent may cost than one from a provider.
const OF_PROVIDER_MAX: f64 = 1.3;
/// After how many seconds the process of an idle agent ends, here; and how long to wait for that.
const IDLE_S: u64 = 2;
const END_WAIT: Duration = Duration::from_secs(30);

pub(crate) fn run(_: &Options, report: &mut Report) {
    let runtime = house::tokio_runtime();
    let model = runtime.block_on(TimedModel::start(Plan { deltas: WARM_UP, pace: Pace::Every(PAUSE) }));
    let yoi = runtime.block_on(yoi_with_agent(&model));
    let server = yoi.pid().expect("it runs");
    let before = processes_below(server);
    paced(&runtime, &yoi, &model, report);
    at_once(&runtime, &yoi, &model, report);
    let most = processes_below(server).saturating_sub(before);
    let left = runtime.block_on(left_at_rest(server, before));
    report.add(
        Line::new("agent_idle_processes", "processes of agents that rest", Count, left as f64)
            .at_most(0.0)
            .note(format!("{most} just after their turns; they end {IDLE_S} s later")),
    );
}

/// A server with the model and with a bare agent that answers with the same deltas.
async fn yoi_with_agent(model: &TimedModel) -> YoiProcess {
    let launch = Launch::new(house::BINARY).env("OPENAI_BASE_URL", &model.base_url());
    let program = std::env::current_exe().expect("a program knows where it is");
    let zero = bare::nanoseconds().saturating_sub(nanoseconds()).to_string();
    let command = json!([program, bare::WORD, "agent", zero]);
    let config = launch.work_dir().with_file_name("yoi.toml");
    std::fs::write(&config, format!("[agents.timed]\ncommand = {command}\nidle_s = {IDLE_S}\n"))
        .expect("a temporary folder can be written to");
    launch.arg("--config").arg(&config.to_string_lossy()).start().await
}

async fn pod(yoi: &YoiProcess, name: &str, by: &Value) -> Value {
    let mut create = by.clone();
    create["name"] = json!(name);
    yoi.post("/api/v1/pods", &create).await.expect(201)
}

fn by_provider() -> Value {
    json!({ "provider": "openai", "model": "timed" })
}

fn by_agent() -> Value {
    json!({ "agent": "timed" })
}

fn paced(runtime: &Runtime, yoi: &YoiProcess, model: &TimedModel, report: &mut Report) {
    let pace = PAUSE.as_millis();
    let (asked, led) = runtime.block_on(async {
        (pod(yoi, "paced-provider", &by_provider()).await, pod(yoi, "paced-agent", &by_agent()).await)
    });
    let (asked, led) = ([asked], [led]);
    runtime.block_on(told(yoi, &asked, "go", WARM_UP));
    runtime.block_on(told(yoi, &led, &format!("{WARM_UP} at {pace}"), WARM_UP));
    model.set_plan(Plan { deltas: DELTAS, pace: Pace::Every(PAUSE) });
    let (mut provider, mut agent) = (Rounds::default(), Rounds::default());
    let server = yoi.pid().expect("it runs");
    // Alternating, so that other load on the machine affects both.
    for _ in 0..ROUNDS {
        let began = cpu_seconds(server);
        provider.add(runtime.block_on(told(yoi, &asked, "go", DELTAS)));
        let between = cpu_seconds(server);
        agent.add(runtime.block_on(told(yoi, &led, &format!("{DELTAS} at {pace}"), DELTAS)));
        provider.cpu_seconds += between - began;
        agent.cpu_seconds += cpu_seconds(server) - between;
    }
    let (p50, p99) = (median(&mut provider.p50), median(&mut provider.p99));
    report.add(
        Line::new("agent_delta_p50", "chunk of an agent → viewer, p50", Milliseconds, median(&mut agent.p50))
            .floor(p50)
            .at_most(p50 * OF_PROVIDER_MAX)
            .note(format!("one Pod at 100/s, median of {ROUNDS} rounds; floor: the same from a provider")),
    );
    report.add(
        Line::new("agent_delta_p99", "the same, p99", Milliseconds, median(&mut agent.p99))
            .floor(p99)
            .note("floor: the same from a provider"),
    );
    let per_chunk = |rounds: &Rounds| rounds.cpu_seconds * 1e3 / (DELTAS * ROUNDS) as f64 * COUNTED as f64;
    let floor = per_chunk(&provider);
    report.add(
        Line::new("agent_delta_cpu", format!("processor time for {COUNTED} of these"), Milliseconds, per_chunk(&agent))
            .floor(floor)
            .at_most(floor * OF_PROVIDER_MAX)
            .note("of the server alone; user and system"),
    );
    let sent = DELTAS * ROUNDS;
    report.add(
        Line::new("agent_delta_lost", "chunks lost of these", Count, agent.lost as f64)
            .at_most(0.0)
            .note(format!("of {sent}")),
    );
}

fn at_once(runtime: &Runtime, yoi: &YoiProcess, model: &TimedModel, report: &mut Report) {
    let deltas = burst::DELTAS;
    model.set_plan(Plan { deltas, pace: Pace::Threaded });
    let mut provider = runtime.block_on(burst::answered(yoi, &by_provider(), "burst-provider", "go", 1));
    let mut agent = runtime.block_on(burst::answered(yoi, &by_agent(), "burst-agent", &deltas.to_string(), 1));
    let floor = median(&mut provider.per_second);
    report.add(
        Line::new(
            "agent_burst",
            format!("burst: {deltas} chunks of an agent, one viewer"),
            PerSecond,
            median(&mut agent.per_second),
        )
        .floor(floor)
        .at_least(floor / OF_PROVIDER_MAX)
        .note("from the first chunk sent to the last received, each flushed; floor: the same from a provider"),
    );
    let sent = deltas * burst::ROUNDS;
    report.add(
        Line::new("agent_burst_lost", "chunks lost of these", Count, agent.lost as f64)
            .at_most(0.0)
            .note(format!("of {sent}")),
    );
}

/// How many more processes there are than before, once no more of them end.
async fn left_at_rest(server: u32, before: usize) -> usize {
    let gone = async {
        while processes_below(server) > before {
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    };
    let _ = tokio::time::timeout(END_WAIT, gone).await;
    processes_below(server).saturating_sub(before)
}
