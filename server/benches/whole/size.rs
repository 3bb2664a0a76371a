//! What is installed, and what a browser loads first.

use reqwest::Client;
use testkit::yoi::YoiProcess;

use crate::{
    house::{self, BINARY},
    options::Options,
    report::{
        Line, Report,
        Unit::{Kilobytes, Megabytes},
    },
};

pub(crate) fn run(_: &Options, report: &mut Report) {
    let bytes = std::fs::metadata(BINARY).expect("the binary is there").len();
    report.add(Line::new("binary", "binary", Megabytes, bytes as f64 / 1e6).at_most(40.0));
    match house::tokio_runtime().block_on(first_load()) {
        Some((files, bytes)) => report.add(
            Line::new("first_load", "first load of the console, brotli", Kilobytes, bytes as f64 / 1e3)
                .at_most(300.0)
                .note(format!("{files} files; floor of such a page 136 kB")),
        ),
        None => eprintln!("first load of the console: this build has none (YOI_WEB=skip)"),
    }
}

/// How many files a page names, and their transferred bytes; none if there are none.
async fn first_load() -> Option<(usize, usize)> {
    let yoi = YoiProcess::start(BINARY).await;
    let http = Client::builder().no_gzip().build().expect("a client needs nothing of the machine");
    let get = async |path: &str| {
        let asked = http.get(format!("{}{path}", yoi.base_url())).bearer_auth(yoi.token());
        asked.header("Accept-Encoding", "br").send().await.expect("yoi answers")
    };
    let page = yoi.request(reqwest::Method::GET, "/").header("Accept-Encoding", "identity").send().await;
    let page = page.expect("yoi answers").text().await.expect("a page is text");
    let mut paths: Vec<&str> = page.split(['"', '\'']).filter(|text| text.starts_with("/pkg/")).collect();
    paths.sort_unstable();
    paths.dedup();
    let mut bytes = 0;
    let mut files = 0;
    for path in paths {
        let answer = get(path).await;
        if answer.status() == 200 {
            files += 1;
            bytes += answer.bytes().await.expect("a file arrives whole").len();
        }
    }
    (files > 0).then_some((files, bytes))
}
