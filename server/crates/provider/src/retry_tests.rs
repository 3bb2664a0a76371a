use std::{
    collections::VecDeque,
    sync::{Arc, Mutex},
};

use super::*;
use crate::{FinishReason, ProviderErrorCode};

type Script = Vec<Item>;

/// A provider that answers each attempt with the next script.
#[derive(Debug, Default)]
struct Scripts {
    left: Mutex<VecDeque<Script>>,
}

#[async_trait::async_trait]
impl Provider for Scripts {
    fn stream(&self, _: ModelRequest) -> ModelStream {
        let script = self.left.lock().unwrap().pop_front().expect("one attempt too many");
        Box::pin(stream::iter(script))
    }

    async fn models(&self) -> Result<Vec<protocol::ModelView>, ProviderError> {
        Ok(Vec::new())
    }
}

/// Returns all items, the number of unused scripts, and the seconds that it took.
async fn run(scripts: Vec<Script>) -> (Vec<Item>, usize, f64) {
    let provider = Arc::new(Scripts { left: Mutex::new(scripts.into()) });
    let policy = RetryPolicy { jitter: 0.0, ..RetryPolicy::default() };
    let request = ModelRequest {
        purpose: Default::default(),
        model: String::new(),
        thinking: None,
        messages: Vec::new(),
        attached: Default::default(),
        tools: Vec::new(),
        context_limit: None,
        conversation: None,
    };
    let began = Instant::now();
    let items = Retrying::new(Arc::clone(&provider) as Arc<dyn Provider>, policy).stream(request).collect().await;
    let left = provider.left.lock().unwrap().len();
    (items, left, began.elapsed().as_secs_f64())
}

fn fails(code: ProviderErrorCode) -> Script {
    vec![Err(ProviderError::new(code, "no"))]
}

fn asks_for(seconds: u64) -> Script {
    let wait = Some(Duration::from_secs(seconds));
    vec![Err(ProviderError { retry_after: wait, ..ProviderError::new(ProviderErrorCode::RateLimited, "no") })]
}

fn text() -> Item {
    Ok(ModelEvent::Text("hi".to_owned()))
}

fn finished() -> Item {
    Ok(ModelEvent::Finished { reason: FinishReason::Stop })
}

fn retry(attempt: u32, wait_ms: u64, code: &str) -> Item {
    let wait = Duration::from_millis(wait_ms);
    Ok(ModelEvent::Retry { attempt, wait, code: code.to_owned(), detail: "no".to_owned() })
}

fn failed(code: ProviderErrorCode) -> Item {
    Err(ProviderError::new(code, "no"))
}

#[tokio::test(start_paused = true)]
async fn what_may_pass_is_tried_again_after_growing_pauses() {
    use ProviderErrorCode::{Overloaded, RateLimited, Unreachable};
    let scripts = vec![fails(Overloaded), fails(RateLimited), fails(Unreachable), vec![text(), finished()]];
    let (items, left, seconds) = run(scripts).await;
    let expected = [
        retry(1, 500, "overloaded"),
        retry(2, 1000, "rate_limited"),
        retry(3, 2000, "unreachable"),
        text(),
        finished(),
    ];
    assert_eq!(items, expected);
    assert_eq!((left, seconds), (0, 3.5));
}

#[tokio::test(start_paused = true)]
async fn the_fourth_failure_is_final() {
    let (items, left, _) = run(vec![fails(ProviderErrorCode::Timeout); 5]).await;
    assert_eq!(items.len(), 4);
    assert_eq!(items[3], failed(ProviderErrorCode::Timeout));
    assert_eq!(left, 1);
}

#[tokio::test(start_paused = true)]
async fn what_stays_wrong_is_not_tried_again() {
    use ProviderErrorCode::{BadRequest, ContextOverflow, Failed, ModelNotFound, Unauthorized};
    for code in [BadRequest, ContextOverflow, Failed, ModelNotFound, Unauthorized] {
        let (items, left, seconds) = run(vec![fails(code), vec![]]).await;
        assert_eq!((items, left, seconds), (vec![failed(code)], 1, 0.0));
    }
}

#[tokio::test(start_paused = true)]
async fn after_the_first_delta_a_failure_is_final() {
    let cut = vec![text(), failed(ProviderErrorCode::Cut)];
    let (items, left, _) = run(vec![cut.clone(), vec![]]).await;
    assert_eq!((items, left), (cut, 1));
}

#[tokio::test(start_paused = true)]
async fn a_provider_is_left_alone_for_as_long_as_it_asks() {
    let (items, _, seconds) = run(vec![asks_for(12), asks_for(18), vec![finished()]]).await;
    assert_eq!(items, [retry(1, 12_000, "rate_limited"), retry(2, 18_000, "rate_limited"), finished()]);
    assert_eq!(seconds, 30.0);
}

#[tokio::test(start_paused = true)]
async fn a_pause_that_ends_too_late_is_not_begun() {
    let (items, left, seconds) = run(vec![asks_for(31), vec![]]).await;
    assert!(items[0].is_err());
    assert_eq!((items.len(), left, seconds), (1, 1, 0.0));
    let (items, left, seconds) = run(vec![asks_for(20), asks_for(11), vec![]]).await;
    assert!(items[1].is_err());
    assert_eq!((items.len(), left, seconds), (2, 1, 20.0));
}

#[test]
fn jitter_adds_at_most_its_part() {
    let policy = RetryPolicy::default();
    let error = ProviderError::new(ProviderErrorCode::Overloaded, "no");
    for _ in 0..100 {
        let wait = policy.wait_after(2, &error).as_millis();
        assert!((1000..=1250).contains(&wait), "{wait}");
    }
}
