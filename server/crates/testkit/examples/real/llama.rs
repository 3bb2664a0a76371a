//! llama.cpp's own server at its usual port, where yoi looks for it.

use std::{
    net::{Ipv4Addr, TcpListener},
    process::Stdio,
    time::Duration,
};

use serde_json::Value;
use tokio::process::{Child, Command};

/// The context in tokens: enough to talk, and full after some questions.
pub(crate) const CONTEXT: u64 = 2_048;
const PORT: u16 = 8080;
/// Several threads would busy-wait for each other and hardly progress on a busy machine.
const THREADS: &str = "1";
/// A small model may talk until its context is full.
const ANSWER_TOKENS_MAX: &str = "300";
/// Reading the model from a cold disk takes a while.
const READY_MAX: Duration = Duration::from_secs(120);
const LOOK_AGAIN: Duration = Duration::from_millis(100);

/// A running server. Dropping it ends the server.
#[derive(Debug)]
pub(crate) struct Llama {
    _server: Child,
    http: reqwest::Client,
}

impl Llama {
    /// Starts it, and waits until it has loaded the model.
    pub(crate) async fn start(server: &str, model: &str) -> Result<Self, String> {
        TcpListener::bind((Ipv4Addr::LOCALHOST, PORT))
            .map_err(|error| format!("port {PORT} has to be free, where yoi looks for llama.cpp: {error}"))?;
        let context = CONTEXT.to_string();
        let child = Command::new(server)
            .args([
                "--host",
                "127.0.0.1",
                "--port",
                "8080",
                "--parallel",
                "1",
                "--ctx-size",
                &context,
                "--threads",
                THREADS,
                "--predict",
                ANSWER_TOKENS_MAX,
                "--model",
                model,
            ])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .kill_on_drop(true)
            .spawn()
            .map_err(|error| format!("{server} could not be started: {error}"))?;
        let _ = rustls::crypto::ring::default_provider().install_default();
        let http = reqwest::Client::builder().no_proxy().build().map_err(|error| error.to_string())?;
        let llama = Self { _server: child, http };
        let ready = async {
            while llama.get("health").await.is_none_or(|health| health["status"] != "ok") {
                tokio::time::sleep(LOOK_AGAIN).await;
            }
        };
        match tokio::time::timeout(READY_MAX, ready).await {
            Ok(()) => Ok(llama),
            Err(_) => Err(format!("llama.cpp's server was not ready within {} s", READY_MAX.as_secs())),
        }
    }

    /// Whether it is processing no request.
    pub(crate) async fn is_idle(&self) -> bool {
        let slots = self.get("slots").await.unwrap_or_default();
        slots.as_array().is_some_and(|slots| slots.iter().all(|slot| slot["is_processing"] == false))
    }

    async fn get(&self, path: &str) -> Option<Value> {
        let answer = self.http.get(format!("http://127.0.0.1:{PORT}/{path}")).send().await.ok()?;
        answer.error_for_status().ok()?.json().await.ok()
    }
}
