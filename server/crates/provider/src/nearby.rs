//! Model servers that run on this machine, found where they usually listen. Only this machine is looked at.

use std::{
    net::Ipv4Addr,
    time::{Duration, Instant},
};

use futures_util::future::join_all;
use protocol::ModelView;
use tokio::{net::TcpStream, sync::Mutex, time::timeout};

use crate::{Catalogue, Provider, ProviderConfig, ProviderKind, ProviderSource, TimeLimits, Vendor};

/// Whoever has not said within this which models it has is not found.
const LOOK_MAX: Duration = Duration::from_millis(300);
/// What was found is as good as new for so long.
const LOOKED_AGE_MAX: Duration = Duration::from_secs(5);

/// Where servers listen when nobody tells them otherwise.
const USUAL: [(&str, ProviderKind, u16); 4] = [
    ("ollama", ProviderKind::Ollama, 11434),
    ("lm-studio", ProviderKind::OpenAiCompatible, 1234),
    ("llama.cpp", ProviderKind::OpenAiCompatible, 8080),
    ("vllm", ProviderKind::OpenAiCompatible, 8000),
];

/// When it was looked last.
#[derive(Debug, Default)]
pub(crate) struct Nearby(Mutex<Option<Instant>>);

impl Nearby {
    /// Those that answer now and are not taken, and what they say of their models goes into the catalogue. None when it was
    /// looked just now. Who comes meanwhile waits for whoever is looking.
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

/// Who does not listen is not asked; who has no models is no use.
async fn models_of(config: &ProviderConfig, port: u16) -> Option<Vec<ModelView>> {
    drop(TcpStream::connect((Ipv4Addr::LOCALHOST, port)).await.ok()?);
    let limits = TimeLimits { connect: LOOK_MAX, header: LOOK_MAX, silence: LOOK_MAX };
    let models = Vendor::new(config.clone(), limits).ok()?.models().await.ok()?;
    (!models.is_empty()).then_some(models)
}
