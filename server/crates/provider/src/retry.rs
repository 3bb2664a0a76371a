//! Retries a request as long as nothing of an answer has been shown.
//!
//! At most four attempts, none of which begins later than 30 s after the first. After the first delta a failure is
//! final: only the reader of the stream knows what to do with half an answer.

use std::{
    fmt,
    hash::{BuildHasher, RandomState},
    sync::Arc,
    time::Duration,
};

use futures_util::{StreamExt, stream};
use tokio::time::Instant;

use crate::{ModelEvent, ModelRequest, ModelStream, Provider, ProviderError};

/// The limits and pauses of retries.
#[derive(Debug, Clone, PartialEq)]
pub struct RetryPolicy {
    /// Attempts in total, including the first.
    pub attempts_max: u32,
    /// No attempt begins later than this after the first.
    pub total_max: Duration,
    /// The pause after the first failure; it doubles each time.
    pub first_wait: Duration,
    /// Up to this fraction of a pause is added at random, so that many Pods do not retry at once. 0 for none.
    pub jitter: f64,
}

impl Default for RetryPolicy {
    fn default() -> Self {
        Self {
            attempts_max: 4,
            total_max: Duration::from_secs(30),
            first_wait: Duration::from_millis(500),
            jitter: 0.25,
        }
    }
}

impl RetryPolicy {
    /// The pause after failed attempt `attempt` (from 1); the provider's own wish has precedence.
    fn wait_after(&self, attempt: u32, error: &ProviderError) -> Duration {
        let backoff = self.first_wait * 2_u32.saturating_pow(attempt - 1);
        error.retry_after.unwrap_or_else(|| backoff + backoff.mul_f64(self.jitter * random_fraction()))
    }
}

/// Between 0 and 1. The standard hasher's fresh keys are random enough to spread load.
fn random_fraction() -> f64 {
    f64::from(RandomState::new().hash_one(0_u8) as u32) / f64::from(u32::MAX)
}

/// A provider that retries its streams.
pub struct Retrying {
    provider: Arc<dyn Provider>,
    policy: RetryPolicy,
}

impl Retrying {
    pub fn new(provider: Arc<dyn Provider>, policy: RetryPolicy) -> Self {
        Self { provider, policy }
    }
}

impl fmt::Debug for Retrying {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.provider.fmt(formatter)
    }
}

#[async_trait::async_trait]
impl Provider for Retrying {
    fn stream(&self, request: ModelRequest) -> ModelStream {
        let provider = Arc::clone(&self.provider);
        retrying(self.policy.clone(), move || provider.stream(request.clone()))
    }

    async fn models(&self) -> Result<Vec<protocol::ModelView>, ProviderError> {
        self.provider.models().await
    }
}

/// A stream from `make`, made again after each retryable failure.
fn retrying(policy: RetryPolicy, make: impl Fn() -> ModelStream + Send + 'static) -> ModelStream {
    let attempts = Attempts { policy, make, phase: Phase::Start, attempt: 0, began: None };
    Box::pin(stream::unfold(attempts, Attempts::next))
}

struct Attempts<Make> {
    policy: RetryPolicy,
    make: Make,
    phase: Phase,
    /// The number of the current attempt, from 1.
    attempt: u32,
    /// When the first attempt began.
    began: Option<Instant>,
}

enum Phase {
    Start,
    /// The announced pause before the next attempt.
    Wait(Duration),
    /// Nothing has been shown yet.
    Asking(ModelStream),
    /// Something has been shown: no more retries.
    Answering(ModelStream),
    Ended,
}

type Item = Result<ModelEvent, ProviderError>;

impl<Make: Fn() -> ModelStream> Attempts<Make> {
    async fn next(mut self) -> Option<(Item, Self)> {
        loop {
            match std::mem::replace(&mut self.phase, Phase::Ended) {
                Phase::Start => {
                    self.began.get_or_insert_with(Instant::now);
                    self.attempt += 1;
                    self.phase = Phase::Asking((self.make)());
                }
                Phase::Wait(pause) => {
                    tokio::time::sleep(pause).await;
                    self.phase = Phase::Start;
                }
                Phase::Asking(mut answer) => {
                    let item = match answer.next().await? {
                        Ok(event) if event.is_delta() => {
                            self.phase = Phase::Answering(answer);
                            Ok(event)
                        }
                        Ok(event) => {
                            self.phase = Phase::Asking(answer);
                            Ok(event)
                        }
                        Err(error) => self.failed(error),
                    };
                    return Some((item, self));
                }
                Phase::Answering(mut answer) => {
                    let item = answer.next().await?;
                    if item.is_ok() {
                        self.phase = Phase::Answering(answer);
                    }
                    return Some((item, self));
                }
                Phase::Ended => return None,
            }
        }
    }

    /// Announces the next attempt, or returns the error if no attempt or time is left.
    fn failed(&mut self, error: ProviderError) -> Item {
        let wait = self.policy.wait_after(self.attempt, &error);
        let gone = self.began.map_or(Duration::ZERO, |began| began.elapsed());
        if !error.is_retryable() || self.attempt >= self.policy.attempts_max || gone + wait > self.policy.total_max {
            return Err(error);
        }
        self.phase = Phase::Wait(wait);
        Ok(ModelEvent::Retry { attempt: self.attempt, wait, code: error.code.to_string(), detail: error.detail })
    }
}

#[cfg(test)]
#[path = "retry_tests.rs"]
mod tests;
