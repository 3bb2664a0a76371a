//! Even the most verbose log contains no key.

use std::{
    io::Write,
    sync::{Arc, Mutex},
};

use crate::common::{KEY, all, ask};
use provider::ProviderKind::{Anthropic, OpenAi, OpenAiCompatible};
use serde_json::json;
use testkit::scripted_model::{Answer, ScriptedModel, Step};
use tracing_subscriber::fmt::MakeWriter;

/// Collects the log output.
#[derive(Debug, Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl Write for Log {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl MakeWriter<'_> for Log {
    type Writer = Self;

    fn make_writer(&self) -> Self {
        self.clone()
    }
}

#[tokio::test]
async fn no_log_line_holds_the_key() {
    let log = Log::default();
    let subscriber = tracing_subscriber::fmt().with_max_level(tracing::Level::TRACE).with_writer(log.clone()).finish();
    let _listening = tracing::subscriber::set_default(subscriber);
    tracing::info!("listening");
    for kind in [OpenAi, OpenAiCompatible, Anthropic] {
        let server = ScriptedModel::start().await;
        let said = format!("Incorrect API key provided: {KEY}");
        server.push(Answer::refuse(401, &said));
        server.push(Answer::new().text("hi").step(Step::ErrorFrame(json!({"message": said}))));
        for _ in 0..2 {
            let items = all(ask(kind, &server)).await;
            assert!(items.last().unwrap().is_err());
        }
    }
    let lines = String::from_utf8(log.0.lock().unwrap().clone()).unwrap();
    assert!(lines.contains("listening"));
    assert!(!lines.contains(KEY), "{lines}");
}
