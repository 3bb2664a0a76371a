//! Providers' API keys that a person gives to the running server: tested, stored, used, forgotten. A key goes in and
//! never comes out.

use protocol::{ApiError, ErrorCode, GiveKey, ProviderView};
use provider::{KeyRefusal, ProviderConfig, ProviderErrorCode, ProviderSource, usual_provider};
use runtime::Origin;
use secrecy::{ExposeSecret, SecretString};

use super::Backend;

/// The most keys that are stored.
const KEYS_MAX: usize = 64;
/// The most bytes of a key, which is a line of text and not a file.
const KEY_BYTES_MAX: usize = 4_096;
const URL_BYTES_MAX: usize = 2_048;
/// The provider name of a refused attempt goes into the audit and into messages, cut to this length: it may be a key
/// that was pasted into the wrong field.
const TARGET_CHARS_MAX: usize = 12;

/// Gives providers their keys, and forgets them.
#[derive(Debug, Clone, Copy)]
pub struct Keys<'a> {
    pub(super) backend: &'a Backend,
}

impl Keys<'_> {
    /// Tests a key by asking the vendor for its models, which takes at most 10 s, and stores it. It is used from the
    /// next request on. Giving the same key again is no error.
    ///
    /// # Errors
    /// Nothing is stored: `invalid_input` for what the vendor refuses, with its message, and for an invalid name, kind,
    /// address or key; `name_taken` if the configuration or the environment has this name; `provider_error` or
    /// `timeout` if the vendor gave no verdict; `rate_limited` beyond 64 keys.
    pub async fn set(self, origin: &Origin, name: &str, given: GiveKey) -> Result<ProviderView, ApiError> {
        let done = self.put_in(name, given).await;
        self.note(origin, "key_set", name, &done).await;
        done
    }

    /// Forgets a key. Pods that used it report that their provider is missing until they get another.
    ///
    /// # Errors
    /// `not_found` if no key was given to this provider.
    pub async fn forget(self, origin: &Origin, name: &str) -> Result<(), ApiError> {
        let done = self.take_out(name).await;
        self.note(origin, "key_forget", name, &done).await;
        done
    }

    async fn put_in(self, name: &str, given: GiveKey) -> Result<ProviderView, ApiError> {
        let providers = self.backend.settings().model_providers();
        let config = self.config(name, given).await?;
        let tried = providers.try_key(config).await.map_err(refused)?;
        // If two keys are given at once, the later one wins, both in the file and in use.
        let mut file = self.backend.kept_keys.hold().await;
        if file.get(name).is_none() && file.len() >= KEYS_MAX {
            let sentence = format!("there can be at most {KEYS_MAX} keys; forget one first");
            return Err(ApiError::new(ErrorCode::RateLimited, sentence));
        }
        file.put(tried.config().clone()).await.map_err(not_written)?;
        providers.keep_key(tried);
        drop(file);
        let views = providers.views().await;
        let view = views.into_iter().find(|view| view.name == name);
        view.ok_or_else(|| ApiError::new(ErrorCode::NotFound, format!("the key of \"{name}\" was forgotten meanwhile")))
    }

    async fn take_out(self, name: &str) -> Result<(), ApiError> {
        let mut file = self.backend.kept_keys.hold().await;
        if file.get(name).is_none() {
            let name = cut(name);
            let sentence = format!(
                "the provider \"{name}\" has no stored key; change a key of the configuration or the environment there"
            );
            return Err(ApiError::new(ErrorCode::NotFound, sentence));
        }
        file.remove(name).await.map_err(not_written)?;
        self.backend.settings().model_providers().forget_key(name);
        Ok(())
    }

    /// The provider's configuration: from the request, otherwise from what was stored, otherwise implied by the name.
    async fn config(self, name: &str, given: GiveKey) -> Result<ProviderConfig, ApiError> {
        let GiveKey { kind, base_url, key } = given;
        let api_key = SecretString::from(key.trim());
        // Overwrites the copy that came with the request as well.
        drop(SecretString::from(key));
        let has_sense =
            |key: &str| (1..=KEY_BYTES_MAX).contains(&key.len()) && key.bytes().all(|byte| byte.is_ascii_graphic());
        if !has_sense(api_key.expose_secret()) {
            return Err(ApiError::invalid(
                "the key is what the vendor shows once: visible ASCII characters, no spaces",
            ));
        }
        let said_url = base_url.map(|url| url.trim().to_owned()).filter(|url| !url.is_empty());
        if said_url.as_ref().is_some_and(|url| url.len() > URL_BYTES_MAX) {
            return Err(ApiError::invalid(format!("an address has at most {URL_BYTES_MAX} bytes")));
        }
        // Comes before checks that apply only to providers with a name of their own.
        self.backend.settings().model_providers().check_free(name).map_err(refused)?;
        let before = self.backend.kept_keys.hold().await.get(name).cloned();
        let usual = usual_provider(name);
        let (kind, usual_url) = match (kind, before, usual) {
            (Some(kind), _, usual) => {
                let kind =
                    kind.parse().map_err(|error: provider::ProviderKindError| ApiError::invalid(error.to_string()))?;
                (kind, usual.filter(|usual| usual.0 == kind).and_then(|usual| usual.1.map(str::to_owned)))
            }
            (None, Some(before), _) => (before.kind, before.base_url),
            (None, None, Some((kind, url))) => (kind, url.map(str::to_owned)),
            (None, None, None) => {
                let sentence =
                    "say its kind: openai, anthropic, gemini, or openai-compatible with the base_url of its server";
                return Err(ApiError::invalid(sentence));
            }
        };
        let (name, base_url, models) = (name.to_owned(), said_url.or(usual_url), Vec::new());
        Ok(ProviderConfig { name, kind, base_url, api_key: Some(api_key), models, source: ProviderSource::DataFolder })
    }

    async fn note<T>(self, origin: &Origin, action: &str, name: &str, done: &Result<T, ApiError>) {
        let target = if done.is_ok() { name.to_owned() } else { cut(name) };
        self.backend.audit().ended(origin, action, target, None, done).await;
    }
}

fn cut(name: &str) -> String {
    match name.char_indices().nth(TARGET_CHARS_MAX) {
        None => name.to_owned(),
        Some((at, _)) => format!("{}…", &name[..at]),
    }
}

fn refused(refusal: KeyRefusal) -> ApiError {
    let code = match &refusal {
        KeyRefusal::Provider(_) | KeyRefusal::Keyless(_) | KeyRefusal::Nowhere { .. } => ErrorCode::InvalidInput,
        KeyRefusal::Given { .. } => ErrorCode::NameTaken,
        KeyRefusal::Busy => ErrorCode::RateLimited,
        KeyRefusal::Vendor(error) => match error.code {
            ProviderErrorCode::Unauthorized | ProviderErrorCode::BadRequest | ProviderErrorCode::ModelNotFound => {
                ErrorCode::InvalidInput
            }
            ProviderErrorCode::Timeout => ErrorCode::Timeout,
            _ => ErrorCode::ProviderError,
        },
    };
    ApiError::new(code, refusal.to_string())
}

fn not_written(error: std::io::Error) -> ApiError {
    tracing::error!(%error, "the file of keys could not be written");
    ApiError::new(ErrorCode::Internal, "yoi could not store its keys, so nothing was done; its log says why")
}
