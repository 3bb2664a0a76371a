//! Clients that two independent generators make from the API's document, against the built binary. The programs beside
//! this file define no types of their own: what they send and read has the document's types, and a kind that is missing
//! there makes them fail.

#![allow(clippy::unwrap_used)]

use std::path::{Path, PathBuf};

use testkit::{
    generators::{Generators, run},
    yoi::YoiProcess,
};

const YOI: &str = env!("CARGO_BIN_EXE_yoi");

fn program(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/generated_clients").join(name)
}

/// The document as this server serves it.
async fn document(yoi: &YoiProcess, folder: &Path) -> PathBuf {
    let path = folder.join("openapi.json");
    let document = yoi.get("/api/v1/openapi.json").await.expect(200);
    std::fs::write(&path, document.to_string()).unwrap();
    path
}

#[tokio::test]
async fn a_generated_client_in_python_reads_records_and_problems_as_types() {
    let (yoi, folder) = (YoiProcess::start(YOI).await, tempfile::tempdir().unwrap());
    let document = document(&yoi, folder.path()).await;
    let generators = Generators::load().await;
    let mut client = generators.python_client(&document, folder.path(), &program("client.py")).await;
    assert_eq!(run(client.args([yoi.base_url(), yoi.token()])).await, "python is served\n");
}

#[tokio::test]
async fn a_generated_client_in_typescript_knows_each_kind_of_event() {
    let (yoi, folder) = (YoiProcess::start(YOI).await, tempfile::tempdir().unwrap());
    let document = document(&yoi, folder.path()).await;
    let generators = Generators::load().await;
    let mut client = generators.typescript_client(&document, folder.path(), &program("client.ts")).await;
    assert_eq!(run(client.args([yoi.base_url(), yoi.token()])).await, "typescript is served\n");
}
