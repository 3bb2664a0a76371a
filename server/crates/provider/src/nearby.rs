//! Detects model servers on this machine at their usual ports. No other machine is contacted.

use std::{
    net::Ipv4Addr,
    time::{Duration, Instant},
};

use futures_util::future::join_all;
use protocol::ModelView;
use tokio::{net::TcpStream, sync::Mutex, time::timeout};

use crate::{Catalogue, Provider, ProviderConfig, ProviderKind, ProviderSource, TimeLimits, Vendor};

/// A server that has not listed its models within this time is not detected.
const LOOK_MAX: Duration = Duration::from_millis(300);
/// How long a result counts as fresh.
const LOOKED_AGE_MAX: Duration = Duration::from_secs(5);

/// The default ports of known servers.
const USUAL: [(&str, ProviderKind, u16); 4] = [
    ("ollama", ProviderKind::Ollama, 11434),
    ("lm-studio", ProviderKind::OpenAiCompatible, 1234),
    ("llama.cpp", ProviderKind::OpenAiCompatible, 8080),
    ("vllm", ProviderKind::OpenAiCompatible, 8000),
];

/// The time of the last detection.
#[derive(Debug, Default)]
pub(crate) struct Nearby(Mutex<Option<Instant>>);

impl Nearby {
    /// Returns the servers that answer now and are not taken, and adds their models to the catalogue. `None` if the
    /// last detection is still fresh. Concurrent callers wait for one detection.
    pub(crate) async fn look(
        &self,
        is_taken: impl Fn(&ProviderConfig) -> bool,
        catalogue: &Catalogue,
    ) -> Option<Vec<ProviderConfig>> {
        let mut looked = self.0.lock().await;
        if looked.is_some_and(|at| at.elapsed() < LOOKED_AGE_MAX) {
            return None;
        }
        let usual = USUAL.into_iter().map(config).filter(|(config, _)| !is_taken(config));
        let there = join_all(usual.map(async |(config, port)| {
            let models = timeout(LOOK_MAX, models_of(&config, port)).await.ok()??;
            catalogue.tell(&config.name, models);
            Some(config)
        }));
        let there = there.await.into_iter().flatten().collect();
        *looked = Some(Instant::now());
        Some(there)
    }
}

fn config((name, kind, port): (&str, ProviderKind, u16)) -> (ProviderConfig, u16) {
    let path = if kind == ProviderKind::Ollama { "" } else { "/v1" };
    let config = ProviderConfig {
        name: name.to_owned(),
        kind,
        base_url: Some(format!("http://127.0.0.1:{port}{path}")),
        api_key: None,
        models: Vec::new(),
        source: ProviderSource::Found,
    };
    (config, port)
}

/// Tries to connect first, so that no HTTP client is made for a closed port. A server without models is of no use.
async fn models_of(config: &ProviderConfig, port: u16) -> Option<Vec<ModelView>> {
    drop(TcpStream::connect((Ipv4Addr::LOCALHOST, port)).await.ok()?);
    let limits = TimeLimits { connect: LOOK_MAX, header: LOOK_MAX, silence: LOOK_MAX };
    let models = Vendor::new(config.clone(), limits).ok()?.models().await.ok()?;
    (!models.is_empty()).then_some(models)
}
