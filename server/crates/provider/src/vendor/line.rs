//! The way to a vendor: the library, our HTTP client, and the gate between them.

use genai::Client;

use super::{TimeLimits, address::Address, failure::Failures, gate::Gate};
use crate::{ProviderError, ProviderErrorCode};

#[derive(Debug)]
pub(super) struct Line {
    pub(super) client: Client,
    pub(super) gate: Gate,
}

impl Line {
    /// Does not connect yet, but reads the system's certificates.
    pub(super) fn open(address: &Address, limits: TimeLimits, failures: &Failures) -> Result<Self, ProviderError> {
        // Fails only if the process has a provider already, which is just as good.
        let _ = rustls::crypto::ring::default_provider().install_default();
        // A redirect could send the key to another host.
        let mut builder = reqwest::Client::builder()
            .connect_timeout(limits.connect)
            .redirect(reqwest::redirect::Policy::none())
            .tcp_nodelay(true);
        if address.is_loopback() {
            builder = builder.no_proxy();
        }
        let failed = |reason: String| failures.error(ProviderErrorCode::Failed, &reason);
        let http = builder.build().map_err(|error| failed(format!("no HTTP client: {error}")))?;
        let gate = Gate::open(http, address.clone(), failures.clone(), limits)
            .map_err(|error| failed(format!("no way to ask it: {error}")))?;
        let client = Client::builder().with_reqwest(gate.client.clone()).build();
        Ok(Self { client: client.map_err(|error| failed(error.to_string()))?, gate })
    }
}
