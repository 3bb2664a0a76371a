use reqwest::header::HeaderValue;
use serde_json::json;

use super::*;

const KEY: &str = "sk-test-0123456789abcdef";

fn failures() -> Failures {
    Failures::new("mine".to_owned(), Redactor::new(vec![KEY.into()]), TimeLimits::default())
}

fn refused(status: u16, body: &str) -> ProviderError {
    failures().refused(status, body, &HeaderMap::new())
}

#[test]
fn a_refusal_says_the_status_and_the_vendors_words() {
    let error = refused(400, &json!({"error": {"message": "no such\nparameter"}}).to_string());
    assert_eq!(error.detail, "mine: HTTP status 400: no such parameter");
    assert_eq!(error.code, ProviderErrorCode::BadRequest);
    assert_eq!(refused(502, "").detail, "mine: HTTP status 502");
}

#[test]
fn the_vendors_words_narrow_a_bad_request() {
    let too_long = json!({"error": {"code": "context_length_exceeded", "message": "too big"}});
    assert_eq!(refused(400, &too_long.to_string()).code, ProviderErrorCode::ContextOverflow);
    let too_long = json!({"type": "error", "error": {"message": "prompt is too long: 2 > 1"}});
    assert_eq!(refused(400, &too_long.to_string()).code, ProviderErrorCode::ContextOverflow);
    let unknown = json!({"error": "model \"x\" not found"});
    assert_eq!(refused(400, &unknown.to_string()).code, ProviderErrorCode::ModelNotFound);
    assert_eq!(refused(429, &too_long.to_string()).code, ProviderErrorCode::RateLimited);
}

#[test]
fn an_error_inside_a_stream_is_known_by_its_name() {
    let code = |body: Value| failures().said(&body).code;
    let named = |name: &str| json!({"type": "error", "error": {"type": name, "message": "no"}});
    assert_eq!(code(named("overloaded_error")), ProviderErrorCode::Overloaded);
    assert_eq!(code(named("rate_limit_error")), ProviderErrorCode::RateLimited);
    assert_eq!(code(named("authentication_error")), ProviderErrorCode::Unauthorized);
    assert_eq!(code(named("invalid_request_error")), ProviderErrorCode::BadRequest);
    assert_eq!(code(json!({"code": 503, "message": "no"})), ProviderErrorCode::Overloaded);
    assert_eq!(code(json!([{"error": {"status": "RESOURCE_EXHAUSTED"}}])), ProviderErrorCode::RateLimited);
    assert_eq!(code(json!("just words")), ProviderErrorCode::Failed);
}

#[test]
fn the_key_is_in_no_sentence() {
    let quoted = format!("Incorrect API key provided: {KEY}");
    for error in [refused(401, &quoted), failures().said(&json!({"error": {"message": quoted}}))] {
        assert!(!format!("{error:?}").contains("sk-test"), "{error:?}");
    }
}

#[test]
fn when_a_usage_limit_is_reset_is_read_in_each_vendors_words() {
    let limit = |body: Value| failures().refused(429, &body.to_string(), &HeaderMap::new()).retry_after;
    let seconds = Duration::from_secs;
    assert_eq!(
        limit(json!({"error": {"type": "usage_limit_reached", "resets_in_seconds": 7200}})),
        Some(seconds(7_200))
    );
    let delay = json!({"error": {"status": "RESOURCE_EXHAUSTED", "details": [{"@type": "QuotaFailure"}, {"retryDelay": "34.5s"}]}});
    assert_eq!(limit(delay), Some(Duration::from_millis(34_500)));
    let in_an_hour = Timestamp::now().as_second() + 3_600;
    let about_an_hour = |wait: Option<Duration>| wait.is_some_and(|wait| (3_590..=3_600).contains(&wait.as_secs()));
    assert!(about_an_hour(limit(json!({"error": {"resets_at": in_an_hour}}))));
    let mut headers = HeaderMap::new();
    headers.insert("anthropic-ratelimit-unified-reset", HeaderValue::from_str(&in_an_hour.to_string()).unwrap());
    assert!(about_an_hour(failures().refused(429, "", &headers).retry_after));
    assert_eq!(failures().refused(500, "", &headers).retry_after, None, "it is no limit");
    headers.insert("retry-after", HeaderValue::from_static("5"));
    assert_eq!(failures().refused(429, "", &headers).retry_after, Some(seconds(5)));
    for odd in [
        json!({"error": {"resets_at": "soon"}}),
        json!({"error": {"resets_in_seconds": -1}}),
        json!([1]),
        json!({"error": {"resets_at": 1e300}}),
    ] {
        assert_eq!(limit(odd.clone()), None, "{odd}");
    }
}

#[test]
fn a_time_to_be_left_alone_comes_as_seconds_milliseconds_or_a_date() {
    let read = |name: &'static str, value: &str| {
        let mut headers = HeaderMap::new();
        headers.insert(name, HeaderValue::from_str(value).unwrap());
        wait_asked(&headers)
    };
    assert_eq!(read("retry-after", "7"), Some(Duration::from_secs(7)));
    assert_eq!(read("retry-after", "0.5"), Some(Duration::from_millis(500)));
    assert_eq!(read("retry-after-ms", "250"), Some(Duration::from_millis(250)));
    assert_eq!(read("retry-after", "Wed, 21 Oct 2015 07:28:00 GMT"), Some(Duration::ZERO));
    assert!(read("retry-after", "Wed, 21 Oct 2099 07:28:00 GMT").unwrap() > Duration::from_secs(86_400));
    assert_eq!(read("retry-after", "soon"), None);
    assert_eq!(read("retry-after", "-1"), None);
}
