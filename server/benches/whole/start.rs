//! Process start → first HTTP answer, on empty and on existing data.

use testkit::yoi::Launch;

use crate::{
    floor,
    house::{self, BINARY, Started, median, ms},
    options::Options,
    report::{Line, Report, Unit::Milliseconds},
};

const STARTS: usize = 15;
const PODS: usize = 20;

pub(crate) fn run(_: &Options, report: &mut Report) {
    let bare = || ms(Started::by_clock(floor::command(&["answers"])).took);
    let floor = median(&mut (0..STARTS).map(|_| bare()).collect::<Vec<_>>());

    let launch = Launch::new(BINARY);
    house::tokio_runtime().block_on(fill(launch.clone()));
    let existing = || ms(Started::yoi(&launch).took);
    let mut took: Vec<_> = (0..STARTS).map(|_| existing()).collect();
    report.add(
        Line::new(
            "start_existing",
            "process start → first HTTP answer, existing data",
            Milliseconds,
            median(&mut took),
        )
        .floor(floor)
        .at_most(15.0)
        .note(format!("median of {STARTS}, {PODS} Pods; floor: axum alone")),
    );

    let empty = || ms(Started::yoi(&Launch::new(BINARY)).took);
    let mut took: Vec<_> = (0..STARTS).map(|_| empty()).collect();
    report.add(
        Line::new("start_empty", "the same on empty data", Milliseconds, median(&mut took)).floor(floor).at_most(40.0),
    );
}

async fn fill(launch: Launch) {
    let mut yoi = launch.start().await;
    for number in 0..PODS {
        let pod = yoi.new_pod(&format!("pod-{number}")).await;
        yoi.say(&pod, "say here is a short answer").await;
        house::until_idle(&yoi, &pod).await;
    }
    yoi.terminate().await;
}
