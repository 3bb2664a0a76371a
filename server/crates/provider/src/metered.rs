//! Counts how a provider answers: the outcome of every request, how long the first piece took, retries and tokens.

use std::{
    fmt,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
    time::{Duration, Instant},
};

use futures_util::{Stream, StreamExt};
use prometheus_client::{
    encoding::EncodeLabelSet,
    metrics::{counter::Counter, family::Family, histogram::Histogram},
    registry::Registry,
};
use protocol::ModelView;

use crate::{
    ModelEvent, ModelRequest, ModelStream, Provider, ProviderError, ProviderErrorCode, ProviderKind, traced::Traced,
};

/// Upper bounds of the time to the first piece, in seconds.
const FIRST_PIECE_SECONDS: [f64; 12] = [0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 20.0, 30.0, 60.0, 120.0];

/// The outcome of a request that was answered to its end, and of one whose reader went away, as when a run is
/// cancelled. All others are the code of a failure.
const OK: &str = "ok";
const CANCELLED: &str = "cancelled";

/// The number of the names is that of the configured providers.
#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Of {
    provider: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Ended {
    provider: String,
    outcome: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Moved {
    provider: String,
    direction: &'static str,
}

/// The counters of all providers of a server. Clones share them.
#[derive(Debug, Clone)]
pub(crate) struct Meters {
    requests: Family<Ended, Counter>,
    retries: Family<Of, Counter>,
    tokens: Family<Moved, Counter>,
    first_piece: Family<Of, Histogram, fn() -> Histogram>,
}

impl Default for Meters {
    fn default() -> Self {
        Self {
            requests: Family::default(),
            retries: Family::default(),
            tokens: Family::default(),
            first_piece: Family::new_with_constructor(|| Histogram::new(FIRST_PIECE_SECONDS)),
        }
    }
}

impl Meters {
    /// Adds them to the registry of one scrape.
    pub(crate) fn register(&self, registry: &mut Registry) {
        registry.register(
            "provider_requests",
            "Requests to providers that ended, each attempt, by outcome: ok, cancelled, or the kind of failure",
            self.requests.clone(),
        );
        registry.register(
            "provider_retries",
            "Requests that were sent again after a failure that may pass",
            self.retries.clone(),
        );
        registry.register(
            "provider_tokens",
            "Tokens of ended answers, as providers counted them or as yoi estimated them",
            self.tokens.clone(),
        );
        registry.register(
            "provider_first_piece_seconds",
            "Time from a request, each attempt, to the first piece of its answer",
            self.first_piece.clone(),
        );
    }
}

/// A provider whose answers are counted.
pub(crate) struct Metered {
    provider: Arc<dyn Provider>,
    kind: ProviderKind,
    counters: Counters,
}

impl fmt::Debug for Metered {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.provider.fmt(formatter)
    }
}

impl Metered {
    /// `name` is the configured name of the provider.
    pub(crate) fn new(provider: Arc<dyn Provider>, name: &str, kind: ProviderKind, meters: &Meters) -> Self {
        Self { provider, kind, counters: Counters::of(name, meters) }
    }
}

#[async_trait::async_trait]
impl Provider for Metered {
    fn stream(&self, request: ModelRequest) -> ModelStream {
        let traced = Traced::begin(&self.counters.name, self.kind, &request);
        let began = Instant::now();
        let count = Count { counters: self.counters.clone(), began, has_begun: false, is_over: false, traced };
        Box::pin(Counted { stream: self.provider.stream(request), count })
    }

    async fn models(&self) -> Result<Vec<ModelView>, ProviderError> {
        self.provider.models().await
    }
}

/// The counters of one provider.
#[derive(Debug, Clone)]
struct Counters {
    name: String,
    meters: Meters,
    retries: Counter,
    input: Counter,
    output: Counter,
    first_piece: Histogram,
}

impl Counters {
    /// They are there from the beginning, so that a first failure is an increase.
    fn of(name: &str, meters: &Meters) -> Self {
        let (of, moved) =
            (|| Of { provider: name.to_owned() }, |direction| Moved { provider: name.to_owned(), direction });
        let counters = Self {
            name: name.to_owned(),
            meters: meters.clone(),
            retries: meters.retries.get_or_create_owned(&of()),
            input: meters.tokens.get_or_create_owned(&moved("input")),
            output: meters.tokens.get_or_create_owned(&moved("output")),
            first_piece: meters.first_piece.get_or_create_owned(&of()),
        };
        let failures = ProviderErrorCode::ALL.map(ProviderErrorCode::as_str);
        for outcome in [OK, CANCELLED].into_iter().chain(failures) {
            let ended = Ended { provider: name.to_owned(), outcome };
            drop(meters.requests.get_or_create(&ended));
        }
        counters
    }

    fn end(&self, outcome: &'static str) {
        self.meters.requests.get_or_create(&Ended { provider: self.name.clone(), outcome }).inc();
    }
}

/// One call in progress.
struct Count {
    counters: Counters,
    /// When the present attempt began.
    began: Instant,
    /// A piece of its answer has arrived.
    has_begun: bool,
    is_over: bool,
    traced: Traced,
}

impl Count {
    fn take(&mut self, item: Option<&Result<ModelEvent, ProviderError>>) {
        if let Some(Ok(event)) = item {
            self.traced.heed(event);
        }
        match item {
            Some(Ok(event)) if event.is_delta() => {
                if !self.has_begun {
                    self.has_begun = true;
                    let after = self.began.elapsed();
                    self.counters.first_piece.observe(after.as_secs_f64());
                    self.traced.first_piece(after);
                }
            }
            Some(Ok(ModelEvent::Retry { wait, code, .. })) => self.retry(*wait, code),
            Some(Ok(ModelEvent::Usage(usage))) => {
                self.counters.input.inc_by(usage.input);
                self.counters.output.inc_by(usage.output);
            }
            Some(Ok(ModelEvent::Finished { .. })) => self.end(OK),
            Some(Ok(_)) => (),
            Some(Err(error)) => self.end(error.code.as_str()),
            None => self.end(ProviderErrorCode::Cut.as_str()),
        }
    }

    fn retry(&mut self, wait: Duration, code: &str) {
        let known = ProviderErrorCode::ALL.into_iter().find(|known| known.as_str() == code);
        self.counters.end(known.unwrap_or(ProviderErrorCode::Failed).as_str());
        self.counters.retries.inc();
        self.began = Instant::now() + wait;
    }

    fn end(&mut self, outcome: &'static str) {
        if !std::mem::replace(&mut self.is_over, true) {
            self.counters.end(outcome);
            self.traced.end(outcome, (![OK, CANCELLED].contains(&outcome)).then_some(outcome));
        }
    }
}

impl Drop for Count {
    fn drop(&mut self) {
        self.end(CANCELLED);
    }
}

/// An answer that is counted on its way.
struct Counted {
    stream: ModelStream,
    count: Count,
}

impl Stream for Counted {
    type Item = Result<ModelEvent, ProviderError>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let polled = self.stream.poll_next_unpin(context);
        if let Poll::Ready(item) = &polled {
            self.count.take(item.as_ref());
        }
        polled
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use futures_util::stream;
    use protocol::Usage;

    use super::*;
    use crate::{FinishReason, Purpose};

    /// Answers with these items, once; nothing follows them.
    #[derive(Debug)]
    struct Scripted(Mutex<Vec<Result<ModelEvent, ProviderError>>>);

    #[async_trait::async_trait]
    impl Provider for Scripted {
        fn stream(&self, _request: ModelRequest) -> ModelStream {
            let items = std::mem::take(&mut *self.0.lock().unwrap());
            Box::pin(stream::iter(items).chain(stream::pending()))
        }

        async fn models(&self) -> Result<Vec<ModelView>, ProviderError> {
            Ok(Vec::new())
        }
    }

    fn request() -> ModelRequest {
        ModelRequest {
            purpose: Purpose::Answer,
            model: "m".to_owned(),
            thinking: None,
            messages: Vec::new(),
            attached: crate::Attached::default(),
            tools: Vec::new(),
            context_limit: None,
            conversation: None,
        }
    }

    /// Reads so many items of an answer, drops it, and returns the metrics.
    async fn after(items: Vec<Result<ModelEvent, ProviderError>>, read: usize) -> String {
        let meters = Meters::default();
        let provider = Metered::new(Arc::new(Scripted(Mutex::new(items))), "mine", ProviderKind::OpenAi, &meters);
        let answer: Vec<_> = provider.stream(request()).take(read).collect().await;
        assert_eq!(answer.len(), read);
        let mut registry = Registry::default();
        meters.register(&mut registry);
        let mut text = String::new();
        prometheus_client::encoding::text::encode(&mut text, &registry).unwrap();
        text
    }

    fn has(text: &str, line: &str) -> bool {
        text.lines().any(|found| found == line)
    }

    #[tokio::test]
    async fn a_retried_answer_counts_each_attempt_and_the_first_piece_once() {
        let retry = ModelEvent::Retry {
            attempt: 1,
            wait: Duration::ZERO,
            code: "rate_limited".to_owned(),
            detail: String::new(),
        };
        let text = |text: &str| Ok(ModelEvent::Text(text.to_owned()));
        let usage = Usage { input: 7, output: 2, ..Usage::default() };
        let finished = Ok(ModelEvent::Finished { reason: FinishReason::Stop });
        let told = after(vec![Ok(retry), text("a"), text("b"), Ok(ModelEvent::Usage(usage)), finished], 5).await;
        for line in [
            "provider_requests_total{provider=\"mine\",outcome=\"rate_limited\"} 1",
            "provider_requests_total{provider=\"mine\",outcome=\"ok\"} 1",
            "provider_requests_total{provider=\"mine\",outcome=\"cancelled\"} 0",
            "provider_retries_total{provider=\"mine\"} 1",
            "provider_tokens_total{provider=\"mine\",direction=\"input\"} 7",
            "provider_tokens_total{provider=\"mine\",direction=\"output\"} 2",
            "provider_first_piece_seconds_count{provider=\"mine\"} 1",
        ] {
            assert!(has(&told, line), "{line} is not in {told}");
        }
    }

    #[tokio::test]
    async fn an_answer_that_fails_or_is_left_is_counted_as_what_it_is() {
        let failed = after(vec![Err(ProviderError::new(ProviderErrorCode::Unauthorized, "no"))], 1).await;
        assert!(has(&failed, "provider_requests_total{provider=\"mine\",outcome=\"unauthorized\"} 1"), "{failed}");
        assert!(has(&failed, "provider_requests_total{provider=\"mine\",outcome=\"cancelled\"} 0"), "{failed}");
        let left = after(vec![Ok(ModelEvent::Text("a".to_owned()))], 1).await;
        assert!(has(&left, "provider_requests_total{provider=\"mine\",outcome=\"cancelled\"} 1"), "{left}");
    }
}
