//! Tests a provider with the cheapest real call there is: listing its models.

use std::time::{Duration, Instant};

use protocol::ProviderTest;

use crate::{ProviderConfig, ProviderErrorCode, ProviderSource, Providers, registry::TESTS_MAX};

/// A provider that has not answered within this time has failed the test.
const TEST_WAIT_MAX: Duration = Duration::from_secs(10);

impl Providers {
    /// Asks the provider itself, whatever models are configured; takes at most 10 s. `None` if there is no provider
    /// of this name.
    pub async fn test(&self, name: &str) -> Option<ProviderTest> {
        self.test_within(name, TEST_WAIT_MAX).await
    }

    pub(crate) async fn test_within(&self, name: &str, limit: Duration) -> Option<ProviderTest> {
        let entry = self.entry(name)?;
        let config = &entry.config;
        if let Some(missing) = config.missing() {
            return Some(failed(config, Duration::ZERO, "not_configured", missing));
        }
        let Some(_permit) = self.begin_test() else {
            let sentence = format!("{TESTS_MAX} providers are being tested already; try again in a moment");
            return Some(failed(config, Duration::ZERO, ProviderErrorCode::RateLimited.as_str(), sentence));
        };
        let began = Instant::now();
        let answer = tokio::time::timeout(limit, entry.provider.models()).await;
        let took = began.elapsed();
        Some(match answer {
            Ok(Ok(models)) => ProviderTest {
                models: u32::try_from(models.len()).unwrap_or(u32::MAX),
                is_ok: true,
                detail: None,
                code: None,
                ..failed(config, took, "", String::new())
            },
            Ok(Err(error)) => {
                let way_out = way_out(config, error.code);
                failed(config, took, error.code.as_str(), format!("{}; {way_out}", error.detail.trim_end_matches('.')))
            }
            Err(_) => {
                let (code, seconds) = (ProviderErrorCode::Timeout, limit.as_secs_f32());
                let sentence = format!("{}: no answer within {seconds} s; {}", config.name, way_out(config, code));
                failed(config, took, code.as_str(), sentence)
            }
        })
    }
}

fn failed(config: &ProviderConfig, took: Duration, code: &str, detail: String) -> ProviderTest {
    ProviderTest {
        provider: config.name.clone(),
        is_ok: false,
        took_ms: u64::try_from(took.as_millis()).unwrap_or(u64::MAX),
        models: 0,
        detail: Some(detail),
        code: Some(code.to_owned()),
    }
}

/// What to do about a failed test.
fn way_out(config: &ProviderConfig, code: ProviderErrorCode) -> String {
    let name = &config.name;
    let key = match config.kind.key_variable().filter(|_| name == config.kind.as_str()) {
        Some(variable) => format!("{variable}, or the key of [providers.{name}]"),
        None => format!("the key of [providers.{name}]"),
    };
    match code {
        ProviderErrorCode::Unauthorized if config.source == ProviderSource::DataFolder => {
            format!("give it another key: in Settings, or with `yoi key set {name}`")
        }
        ProviderErrorCode::Unauthorized => format!("check {key}, then start yoi again"),
        ProviderErrorCode::Unreachable | ProviderErrorCode::Cut if config.base_url.is_some() => {
            "it is configured, so see that its server runs and that its address is right".to_owned()
        }
        ProviderErrorCode::Unreachable | ProviderErrorCode::Cut => {
            "it is configured, so see that this machine can reach the network".to_owned()
        }
        ProviderErrorCode::Timeout => "its server may be starting or overloaded: try again".to_owned(),
        ProviderErrorCode::RateLimited | ProviderErrorCode::Overloaded => "try again in a moment".to_owned(),
        ProviderErrorCode::ModelNotFound | ProviderErrorCode::BadRequest => {
            format!("see that the base_url and the kind of [providers.{name}] are right")
        }
        ProviderErrorCode::ContextOverflow | ProviderErrorCode::TooLarge | ProviderErrorCode::Failed => {
            format!("see that [providers.{name}] leads to a server of kind {}", config.kind)
        }
    }
}

#[cfg(test)]
mod tests {
    use secrecy::SecretString;
    use testkit::scripted_model::{Answer, ScriptedModel, Step};
    use tokio::net::TcpListener;

    use super::*;
    use crate::ProviderKind;

    const KEY: &str = "sk-secret-4f9aQ7xT1mZ8";

    fn providers(kind: ProviderKind, base_url: Option<String>, key: Option<&str>) -> Providers {
        let config = ProviderConfig {
            name: "lab".to_owned(),
            kind,
            base_url,
            api_key: key.map(SecretString::from),
            // The test asks the server despite this.
            models: vec!["configured".to_owned()],
            source: ProviderSource::Configuration,
        };
        Providers::new(vec![config]).unwrap()
    }

    fn code(test: &ProviderTest) -> (bool, &str) {
        (test.is_ok, test.code.as_deref().unwrap_or_default())
    }

    #[tokio::test]
    async fn a_server_that_answers_works_with_as_many_models_as_it_names() {
        let model = ScriptedModel::start().await;
        model.set_models(&["a", "b", "c"]);
        for (kind, url) in
            [(ProviderKind::OpenAi, model.base_url()), (ProviderKind::Anthropic, model.anthropic_base_url())]
        {
            let test = providers(kind, Some(url), Some(KEY)).test("lab").await.unwrap();
            assert_eq!((test.is_ok, test.models, &test.detail, &test.code), (true, 3, &None, &None), "{test:?}");
        }
    }

    #[tokio::test]
    async fn the_rehearsal_model_always_works_and_a_name_that_is_not_there_is_none() {
        let providers = Providers::new(Vec::new()).unwrap();
        let test = providers.test("rehearsal").await.unwrap();
        assert_eq!((test.is_ok, test.models), (true, 1));
        assert_eq!(providers.test("openai").await, None);
    }

    #[tokio::test]
    async fn a_refusal_says_so_with_the_way_out_and_never_the_key() {
        let model = ScriptedModel::start().await;
        let body = format!("{{\"error\":{{\"message\":\"Incorrect API key provided: {KEY}.\"}}}}");
        model.otherwise(Answer::refuse(401, body));
        // At a path that the scripted server does not know as a model list, it answers what the test wrote.
        let url = model.base_url().replace("/v1", "/other");
        let test = providers(ProviderKind::OpenAi, Some(url), Some(KEY)).test("lab").await.unwrap();
        assert_eq!(code(&test), (false, "unauthorized"));
        let detail = test.detail.unwrap();
        assert!(detail.contains("401") && detail.contains("the key of [providers.lab]"), "{detail}");
        assert!(!detail.contains("sk-secret") && !detail.contains("4f9aQ7xT"), "{detail}");
    }

    #[tokio::test]
    async fn a_server_that_is_away_is_unreachable_and_not_unconfigured() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/v1", listener.local_addr().unwrap());
        drop(listener);
        for kind in [ProviderKind::OpenAi, ProviderKind::Ollama] {
            let test = providers(kind, Some(url.clone()), None).test("lab").await.unwrap();
            assert_eq!(code(&test), (false, "unreachable"));
            let detail = test.detail.unwrap();
            assert!(detail.contains("it is configured") && !detail.contains("127.0.0.1"), "{detail}");
        }
    }

    #[tokio::test]
    async fn a_server_that_hangs_is_given_up_in_time() {
        let model = ScriptedModel::start().await;
        model.otherwise(Answer::new().step(Step::Stall));
        let url = model.base_url().replace("/v1", "/other");
        let providers = providers(ProviderKind::OpenAi, Some(url), Some(KEY));
        // Long enough for the request to arrive on a busy machine: it must be the server that hangs.
        let limit = Duration::from_secs(3);
        let test = providers.test_within("lab", limit).await.unwrap();
        assert_eq!(code(&test), (false, "timeout"));
        assert!(u128::from(test.took_ms) >= limit.as_millis(), "{test:?}");
        model.wait_for_disconnect().await;
    }

    #[tokio::test]
    async fn so_many_tests_go_on_at_once_and_one_more_is_refused() {
        let model = ScriptedModel::start().await;
        model.otherwise(Answer::new().step(Step::Stall));
        let url = model.base_url().replace("/v1", "/other");
        let providers = providers(ProviderKind::OpenAi, Some(url), Some(KEY));
        let limit = Duration::from_millis(300);
        let all = futures_util::future::join_all((0..=TESTS_MAX).map(|_| providers.test_within("lab", limit))).await;
        let codes: Vec<_> = all.iter().flatten().map(|test| code(test).1).collect();
        assert_eq!(codes.iter().filter(|code| **code == "timeout").count(), TESTS_MAX, "{codes:?}");
        assert_eq!(codes.last(), Some(&"rate_limited"));
        assert_eq!(code(&providers.test_within("lab", limit).await.unwrap()).1, "timeout", "there is room again");
    }

    #[tokio::test]
    async fn a_provider_without_its_key_is_not_asked_and_says_what_is_missing() {
        let test = providers(ProviderKind::Gemini, None, None).test("lab").await.unwrap();
        assert_eq!((code(&test), test.took_ms), ((false, "not_configured"), 0));
        assert!(test.detail.unwrap().contains("api_key_env or api_key_file in [providers.lab]"));
    }

    #[tokio::test]
    async fn an_answer_that_is_no_list_is_a_failure() {
        let model = ScriptedModel::start().await;
        model.otherwise(Answer::refuse(200, "<html>hello</html>"));
        let url = model.base_url().replace("/v1", "/other");
        let test = providers(ProviderKind::OpenAi, Some(url), Some(KEY)).test("lab").await.unwrap();
        assert_eq!(code(&test), (false, "failed"), "{test:?}");
    }
}
