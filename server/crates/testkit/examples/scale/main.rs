//! How large one server may become: `cargo xtask bench scale`.
//!
//! `scale PATH_OF_YOI --csv FILE --pictures FOLDER [--quick] [--minutes N]`. 10,000 Pods, a Pod of 60,000 turns and 1 GB of
//! transcripts on one server; then more and more Pods at work, more and more viewers, and a soak. Nothing here asserts a
//! time. The model server and the viewers run in this process, on the same processors as the server.

mod load;
mod picture;
mod stage;
mod viewer;

use std::{
    path::PathBuf,
    process::ExitCode,
    time::{Duration, Instant},
};

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use serde_json::Value;
use testkit::{
    report::{
        Line, Report,
        Unit::{Count, Megabytes, Milliseconds, Times},
    },
    yoi::pod_path,
};

use self::{
    load::{Point, Step, measured, once, quantile},
    picture::{Axes, Curve, svg},
    stage::{Size, Stage},
};

const USAGE: &str = "usage: scale PATH_OF_YOI --csv FILE --pictures FOLDER [--quick] [--minutes N]";
const WHOLE: Size = Size { pods: 10_000, at_work: 1_000, turns: 60_000, transcripts: 20, viewers: 1_000, deltas: 40 };
/// To check that it works, not to quote figures.
const QUICK: Size = Size { pods: 200, at_work: 100, turns: 600, transcripts: 1, viewers: 100, deltas: 10 };
/// The pace of each Pod: five deltas a second.
const PAUSE: Duration = Duration::from_millis(200);
const ROUNDS: usize = 3;
/// Pods of the curve of viewers, and Pods and viewers of the soak.
const VIEWED: usize = 10;
const SOAKED: usize = 100;
/// At most this many viewers while Pods are counted: one for each of the first Pods.
const WATCHING: usize = 100;
const FILES: u64 = 16_384;
const ASKED: usize = 15;

#[derive(Debug, Default)]
struct Options {
    binary: String,
    csv: PathBuf,
    pictures: PathBuf,
    is_quick: bool,
    minutes: u64,
}

impl Options {
    fn parse(arguments: &[String]) -> Option<Self> {
        let mut options = Self { minutes: 2, ..Self::default() };
        let mut arguments = arguments.iter();
        while let Some(argument) = arguments.next() {
            match argument.as_str() {
                "--csv" => options.csv = arguments.next()?.into(),
                "--pictures" => options.pictures = arguments.next()?.into(),
                "--minutes" => options.minutes = arguments.next()?.parse().ok()?,
                "--quick" => options.is_quick = true,
                path if options.binary.is_empty() && !path.starts_with('-') => path.clone_into(&mut options.binary),
                _ => return None,
            }
        }
        (!options.binary.is_empty() && options.csv != PathBuf::new() && options.pictures != PathBuf::new())
            .then_some(options)
    }
}

#[tokio::main]
async fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let Some(options) = Options::parse(&arguments) else {
        eprintln!("{USAGE}");
        return ExitCode::from(2);
    };
    let limit = getrlimit(Resource::Nofile);
    let files = limit.maximum.map_or(FILES, |most| most.min(FILES));
    setrlimit(Resource::Nofile, Rlimit { current: Some(files), ..limit })
        .expect("a program may raise its own soft limit");
    let size = if options.is_quick { QUICK } else { WHOLE };
    let mut report = Report::default();
    let began = Instant::now();
    let stage = Stage::set(&options.binary, size, PAUSE).await;
    let filled = began.elapsed().as_secs_f64();
    tokio::time::sleep(Duration::from_secs(if options.is_quick { 1 } else { 25 })).await;
    told_at_rest(&stage, size, filled, &mut report).await;
    let points = measure(&stage, size, &options).await;
    println!("\n{report}");
    print!("{}", table(&points));
    match write(&options, &points) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("cannot write the figures or the pictures: {error}");
            ExitCode::FAILURE
        }
    }
}

async fn told_at_rest(stage: &Stage, size: Size, filled: f64, report: &mut Report) {
    let all = size.pods + 2 + size.transcripts;
    report.add(Line::new("scale_pods", "Pods", Count, all as f64).note(format!("filled in {filled:.0} s")));
    report.add(Line::new("scale_database", "database", Megabytes, stage.database_mb()));
    report.add(Line::new("scale_rest", "memory at rest (PSS)", Megabytes, stage.pss_mb()));
    let page = |pod: &Value| format!("{}/transcript", pod_path(pod));
    let (short, long) = (asked_ms(stage, &page(&stage.short)).await, asked_ms(stage, &page(&stage.long)).await);
    let what = format!("first page of a Pod of {} turns, against one of 10", size.turns);
    report.add(Line::new("scale_page", what, Times, long / short).note(format!("{long:.2} ms; {short:.2} ms")));
    let list = asked_ms(stage, "/api/v1/pods?limit=100").await;
    report.add(Line::new("scale_list", "a page of 100 Pods of the list", Milliseconds, list));
    let (short, long) = (receipt_ms(stage, &stage.short).await, receipt_ms(stage, &stage.long).await);
    let what = format!("a receipt at {} turns, against 10", size.turns);
    report.add(Line::new("scale_receipt", what, Times, long / short).note(format!("{long:.2} ms; {short:.2} ms")));
}

async fn measure(stage: &Stage, size: Size, options: &Options) -> Vec<Point> {
    let rounds = if options.is_quick { 1 } else { ROUNDS };
    let steps = |most: usize| [1, 10, 100, 1_000].into_iter().filter(move |step| *step <= most);
    let deltas = size.deltas;
    // The first run makes the provider's client.
    once(stage, Step { curve: "warm", at: 1.0, pods: 1, viewers: 1, deltas }).await;
    let mut points = Vec::new();
    let mut add = |point: Point| {
        eprint!("{}", row(&point));
        points.push(point);
    };
    for pods in steps(size.at_work) {
        let viewers = pods.min(WATCHING);
        add(measured(stage, Step { curve: "work", at: pods as f64, pods, viewers, deltas }, rounds).await);
    }
    for viewers in steps(size.viewers) {
        let pods = VIEWED.min(viewers);
        add(measured(stage, Step { curve: "viewers", at: viewers as f64, pods, viewers, deltas }, rounds).await);
    }
    let began = Instant::now();
    while began.elapsed() < Duration::from_secs(options.minutes * 60) {
        let at = began.elapsed().as_secs_f64();
        let pods = SOAKED.min(size.at_work);
        add(once(stage, Step { curve: "soak", at, pods, viewers: pods, deltas }).await);
    }
    points
}

const HEAD: &str = "curve,at,p50_ms,p99_ms,cpus,cpu_us_per_delta,pss_mb,deltas_per_s,deliveries_per_s,commits_per_s,database_mb,lost,load\n";

fn row(point: &Point) -> String {
    let Point { curve, at, p50, p99, cpus, cpu_us, pss_mb, lost, load, .. } = point;
    let (deltas, deliveries, commits) = (point.deltas_per_s, point.deliveries_per_s, point.commits_per_s);
    format!(
        "{curve},{at:.0},{p50:.2},{p99:.2},{cpus:.2},{cpu_us:.0},{pss_mb:.1},{deltas:.0},{deliveries:.0},{commits:.0},{:.0},{lost},{load:.1}\n",
        point.database_mb
    )
}

fn table(points: &[Point]) -> String {
    let mut text = HEAD.to_owned();
    points.iter().for_each(|point| text += &row(point));
    text
}

fn write(options: &Options, points: &[Point]) -> std::io::Result<()> {
    std::fs::write(&options.csv, table(points))?;
    std::fs::create_dir_all(&options.pictures)?;
    let curve = |curve: &str, name: &'static str, of: fn(&Point) -> f64| {
        let points = points.iter().filter(|point| point.curve == curve);
        Curve { name, points: points.map(|point| (point.at, of(point))).collect() }
    };
    let latency = |which: &str| [curve(which, "p50", |point| point.p50), curve(which, "p99", |point| point.p99)];
    let (work, viewers) = ("Pods at work, each at 5 deltas/s", "viewers of ten Pods at work");
    let log = |title, across| Axes { title, across, is_log: true };
    let soak = |title| Axes { title, across: "seconds with 100 Pods at work and 100 viewers", is_log: false };
    for (file, axes, curves) in [
        ("scale-work.svg", log("Delta → viewer, ms", work), latency("work")),
        ("scale-viewers.svg", log("Delta → viewer, ms", viewers), latency("viewers")),
        ("scale-soak.svg", soak("Delta → viewer, ms"), latency("soak")),
    ] {
        std::fs::write(options.pictures.join(file), svg(axes, &curves))?;
    }
    let cpus = |which: &str, name| curve(which, name, |point| point.cpus);
    let pss = |which: &str| curve(which, "PSS", |point| point.pss_mb);
    for (file, axes, curves) in [
        (
            "scale-cpu.svg",
            log("Processors used by the server", "Pods at work; viewers"),
            vec![cpus("work", "Pods"), cpus("viewers", "viewers")],
        ),
        ("scale-memory.svg", log("Memory of the server, MB", work), vec![pss("work")]),
        ("scale-soak-memory.svg", soak("Memory of the server, MB"), vec![pss("soak")]),
    ] {
        std::fs::write(options.pictures.join(file), svg(axes, &curves))?;
    }
    Ok(())
}

async fn asked_ms(stage: &Stage, path: &str) -> f64 {
    let mut took = Vec::new();
    for _ in 0..ASKED {
        let began = Instant::now();
        stage.yoi.get(path).await.expect(200);
        took.push(began.elapsed().as_secs_f64() * 1e3);
    }
    took.sort_by(f64::total_cmp);
    quantile(&took, 0.5)
}

async fn receipt_ms(stage: &Stage, pod: &Value) -> f64 {
    let mut took = Vec::new();
    for _ in 0..ASKED {
        let began = Instant::now();
        stage.yoi.say(pod, "say hello").await;
        took.push(began.elapsed().as_secs_f64() * 1e3);
        // The next one is sent to an idle Pod, too.
        while stage.yoi.get(&pod_path(pod)).await.expect(200)["state"] != "idle" {
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    }
    took.sort_by(f64::total_cmp);
    quantile(&took, 0.5)
}
