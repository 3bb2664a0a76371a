//! The vendors behind our own types: OpenAI, everything that speaks chat completions, Anthropic, Gemini, Ollama.
//!
//! The wire formats are the genai library's. This module decides what that leaves open: address and key, timeouts,
//! what counts as an end, and that no key appears in an error or a log line.

mod address;
mod answer;
mod attachments;
mod bounds;
mod calls;
mod failure;
mod frames;
mod gate;
mod line;
mod listing;
mod masked;
mod notice;
mod ollama;
mod overflow;
mod plain;
mod quiet;
mod request;
mod responses;
mod usage;
mod weak;

use std::{
    sync::{Arc, OnceLock},
    time::Duration,
};

use futures_util::{Stream, StreamExt, future::Either, stream};
use genai::{
    ModelIden, ServiceTarget,
    adapter::AdapterKind,
    resolver::{AuthData, Endpoint},
};
use protocol::ModelView;
use secrecy::{ExposeSecret, SecretString};

use self::{
    address::Address,
    answer::Answer,
    failure::Failures,
    frames::Frames,
    gate::{Ask, Extra, Shape},
    line::Line,
    masked::{KEY_BYTES_MIN, Masked},
    plain::Plain,
    quiet::Quiet,
    request::ChatQuestion,
    weak::{Manner, Weaknesses},
};
use crate::{
    ModelEvent, ModelRequest, ModelStream, Provider, ProviderConfig, ProviderError, ProviderErrorCode, ProviderKind,
    redact::Redactor,
};

type Item = Result<ModelEvent, ProviderError>;

/// Requests up to this size are serialized on the spot; moving them to another thread would cost more.
const AT_ONCE_BYTES_MAX: usize = 64 * 1024;
const AT_ONCE_MESSAGES_MAX: usize = 512;

/// How long to wait for a provider.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TimeLimits {
    /// Until the connection is established.
    pub connect: Duration,
    /// Until the response headers arrive, including connecting.
    pub header: Duration,
    /// Between two chunks of the answer.
    pub silence: Duration,
}

impl Default for TimeLimits {
    fn default() -> Self {
        Self { connect: Duration::from_secs(10), header: Duration::from_secs(60), silence: Duration::from_secs(120) }
    }
}

/// A vendor's server. Its HTTP client is created on first use, because reading the system's certificates takes longer
/// than the rest of the startup.
#[derive(Debug, Clone)]
pub struct Vendor {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    config: ProviderConfig,
    address: Address,
    limits: TimeLimits,
    failures: Failures,
    line: OnceLock<Result<Line, ProviderError>>,
    weaknesses: Weaknesses,
}

impl Vendor {
    /// # Errors
    /// `BadRequest`: the base_url is not an http or https address, or the kind is the built-in one.
    pub fn new(config: ProviderConfig, limits: TimeLimits) -> Result<Self, ProviderError> {
        adapter(config.kind)?;
        let address = Address::parse(config.kind, config.base_url.as_deref())?;
        let secrets = config.api_key.iter().cloned().chain(address.secrets()).collect();
        let failures = Failures::new(config.name.clone(), Redactor::new(secrets), limits);
        let (line, weaknesses) = (OnceLock::new(), Weaknesses::default());
        Ok(Self { shared: Arc::new(Shared { config, address, limits, failures, line, weaknesses }) })
    }
}

#[async_trait::async_trait]
impl Provider for Vendor {
    fn stream(&self, request: ModelRequest) -> ModelStream {
        let (shared, request) = (Arc::clone(&self.shared), Arc::new(request));
        let answer = stream::once(async move { shared.answer(request).await }).flatten();
        let keys = self.shared.config.api_key.iter().cloned().collect();
        Box::pin(Masked::new(Quiet::new(answer), keys))
    }

    async fn models(&self) -> Result<Vec<ModelView>, ProviderError> {
        self.shared.list().await
    }
}

impl Shared {
    /// Sends the request in the manner that the server is known to support. If it refuses something that it does not
    /// support, sends it again without that.
    async fn answer(self: Arc<Self>, request: Arc<ModelRequest>) -> impl Stream<Item = Item> + Send {
        let (kind, model) = (self.config.kind, request.model.as_str());
        let mut manner = self.weaknesses.manner(kind, model);
        loop {
            let mut answer = match Arc::clone(&self).ask_beside(Arc::clone(&request), manner).await {
                Ok(answer) => answer,
                Err(error) => return Either::Left(stream::iter([Err(error)])),
            };
            let first = answer.next().await;
            let is_own_server = !self.address.is_official(kind);
            if let (Some(Err(_)), Some(refused)) = (&first, answer.refused())
                && let Some(weaker) = manner.after(&refused, is_own_server, !request.tools.is_empty())
            {
                manner = weaker;
                continue;
            }
            let mut alerts = Vec::new();
            if matches!(first, Some(Ok(_))) {
                self.weaknesses.remember(kind, model, manner);
                // Without tools in the request there is nothing to report about them.
                let manner = Manner { offers_tools: manner.offers_tools || request.tools.is_empty(), ..manner };
                alerts = manner.alerts(kind, &self.config.name, model);
            }
            return Either::Right(stream::iter(alerts.into_iter().map(Ok).chain(first)).chain(answer));
        }
    }

    /// Like [`Self::ask`], with slow work moved to a blocking thread: serializing a long conversation, and creating
    /// the HTTP client.
    async fn ask_beside(self: Arc<Self>, request: Arc<ModelRequest>, manner: Manner) -> Result<Answer, ProviderError> {
        let bytes =
            request.messages.iter().map(|message| message.content.len()).sum::<usize>() + request.attached.bytes();
        let is_short = bytes <= AT_ONCE_BYTES_MAX && request.messages.len() <= AT_ONCE_MESSAGES_MAX;
        // Creating the HTTP client reads the system's certificates.
        if is_short && self.line.get().is_some() {
            return self.ask(request, manner).await;
        }
        let (runtime, shared) = (tokio::runtime::Handle::current(), Arc::clone(&self));
        let asking = move || runtime.block_on(Quiet::new(async move { shared.ask(request, manner).await }));
        match tokio::task::spawn_blocking(asking).await {
            Ok(asked) => asked,
            Err(error) => Err(self.failures.error(ProviderErrorCode::Failed, &format!("not asked: {error}"))),
        }
    }

    /// Does not connect yet; the answer does when it is first polled.
    async fn ask(self: Arc<Self>, request: Arc<ModelRequest>, manner: Manner) -> Result<Answer, ProviderError> {
        self.check_key()?;
        let frames = Frames::new(manner.wire);
        let question = ChatQuestion::new(manner, &request, self.limits, &frames);
        let line = self.line()?;
        let shape = match manner.wire {
            ProviderKind::Ollama => Shape::Lines,
            _ => Shape::Events,
        };
        let extra = Extra { fields: request::fields(manner.wire, &request), messages: question.messages };
        let ask = line.gate.ask(shape, extra);
        let response = line
            .client
            .exec_chat_stream(self.target(&ask, &request, manner)?, question.chat, Some(&question.options))
            .await
            .map_err(|error| self.translate(&ask, error))?;
        let plain = Plain { shared: Arc::clone(&self), request, manner };
        Ok(Answer::new(response.stream, ask, frames, self.failures.clone(), plain))
    }

    fn check_key(&self) -> Result<(), ProviderError> {
        match self.config.missing() {
            None => Ok(()),
            Some(missing) => Err(ProviderError::new(
                ProviderErrorCode::Unauthorized,
                format!("the provider {:?} has {missing}", self.config.name),
            )),
        }
    }

    fn target(&self, ask: &Ask, request: &ModelRequest, manner: Manner) -> Result<ServiceTarget, ProviderError> {
        Ok(ServiceTarget {
            endpoint: Endpoint::from_owned(ask.base_url()),
            auth: self.auth_of_question(ask, manner),
            model: ModelIden::new(adapter(manner.wire)?, request.model.clone()),
        })
    }

    /// The gate's description of a failure is better than what the library saw of it.
    fn translate(&self, ask: &Ask, error: genai::Error) -> ProviderError {
        ask.failure().unwrap_or_else(|| self.failures.translate(error))
    }

    fn key(&self) -> Option<&str> {
        self.config.api_key.as_ref().map(SecretString::expose_secret)
    }

    fn auth(&self) -> AuthData {
        match self.key() {
            Some(key) => AuthData::from_single(key),
            None if self.config.kind.is_like(ProviderKind::OpenAi) => AuthData::None,
            None => AuthData::from_single(""),
        }
    }

    /// A server without a key gets no `Authorization` header at all, since some refuse an empty one.
    fn auth_of_question(&self, ask: &Ask, manner: Manner) -> AuthData {
        let path = if manner.wire == ProviderKind::OpenAi { "responses" } else { "chat/completions" };
        match self.auth() {
            AuthData::None => AuthData::RequestOverride {
                url: format!("{}{path}", ask.base_url()),
                headers: genai::Headers::default(),
            },
            auth => auth,
        }
    }

    fn line(&self) -> Result<&Line, ProviderError> {
        self.line.get_or_init(|| Line::open(&self.address, self.limits, &self.failures)).as_ref().map_err(Clone::clone)
    }
}

fn adapter(kind: ProviderKind) -> Result<AdapterKind, ProviderError> {
    match kind {
        ProviderKind::OpenAi => Ok(AdapterKind::OpenAIResp),
        ProviderKind::OpenAiCompatible => Ok(AdapterKind::OpenAI),
        ProviderKind::Anthropic => Ok(AdapterKind::Anthropic),
        ProviderKind::Gemini => Ok(AdapterKind::Gemini),
        ProviderKind::Ollama => Ok(AdapterKind::Ollama),
        ProviderKind::Rehearsal => {
            Err(ProviderError::new(ProviderErrorCode::BadRequest, "the rehearsal model has no server"))
        }
    }
}
