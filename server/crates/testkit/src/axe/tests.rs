//! Tests the checker itself, against a page with exactly two deliberate mistakes.

use axum::{Router, response::Html, routing::get};

use super::Axe;
use crate::browser::Browser;

const PAGE: &str = r#"<!doctype html><html lang="en"><head><title>Small page</title><link rel="icon" href="data:,"></head>
<body><main><h1>Mistakes</h1><p style="color: #bbb; background: #fff">hardly to be read</p><button></button></main></body></html>"#;

#[tokio::test]
async fn browser_mistakes_are_found_and_said_to_be_serious() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move { axum::serve(listener, Router::new().route("/", get(async || Html(PAGE)))).await });
    let (axe, browser) = (Axe::load().await, Browser::start(800, 600).await);
    browser.goto(&format!("http://{address}/")).await;
    for _ in 0..2 {
        let findings = axe.findings(&browser).await;
        let serious: Vec<_> = findings.iter().filter(|finding| finding.is_serious()).map(|f| f.rule.as_str()).collect();
        assert_eq!(serious, ["button-name", "color-contrast"], "{findings:#?}");
        assert!(findings[0].places.iter().all(|place| place.starts_with("button:")), "{findings:#?}");
    }
    browser.quit().await;
}
