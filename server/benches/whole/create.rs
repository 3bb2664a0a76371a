//! Creating Pods, one after the other over one connection.

use std::time::Instant;

use sqlx::Connection;
use testkit::yoi::YoiProcess;

use crate::{
    bare,
    house::{self, BINARY, median, ms, quantile},
    options::Options,
    report::{Line, Report, Unit::Milliseconds},
};

const PODS: usize = 300;

pub(crate) fn run(_: &Options, report: &mut Report) {
    house::tokio_runtime().block_on(async {
        let mut floor = commits().await;
        let yoi = YoiProcess::start(BINARY).await;
        let mut took = Vec::new();
        for number in 0..PODS {
            let began = Instant::now();
            yoi.new_pod(&format!("pod-{number}")).await;
            took.push(ms(began.elapsed()));
        }
        let p99 = quantile(&mut took, 0.99);
        report.add(
            Line::new("create", "create a Pod", Milliseconds, median(&mut took))
                .floor(median(&mut floor))
                .at_most(2.0)
                .note(format!("median of {PODS}, p99 {p99:.2} ms; floor: one durable row through sqlx")),
        );
    });
}

/// Milliseconds of single durable rows.
async fn commits() -> Vec<f64> {
    let folder = tempfile::tempdir().expect("there is a temporary folder");
    let mut connection = bare::connect(&folder.path().join("floor.db")).await;
    let mut took = Vec::new();
    for number in 0..PODS as i64 {
        let began = Instant::now();
        sqlx::query("insert into journal (stream, body) values (?, 'a row')")
            .bind(number)
            .execute(&mut connection)
            .await
            .expect("rows are new");
        took.push(ms(began.elapsed()));
    }
    connection.close().await.expect("nothing is open on it");
    took
}
