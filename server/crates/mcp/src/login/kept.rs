//! The logins that were made, in a file that only its owner can read.

use std::{
    collections::BTreeMap,
    fmt, io,
    path::PathBuf,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use async_trait::async_trait;
use rmcp::transport::auth::{AuthError, AuthorizationMetadata, CredentialStore, OAuthClientConfig, StoredCredentials};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::private_file;

/// A login to one server. Deliberately without a derived `Debug`.
#[derive(Clone, Serialize, Deserialize)]
pub(super) struct KeptLogin {
    /// The server's address when it was made. A server at another address gets nothing of it.
    pub(super) url: String,
    pub(super) client_id: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) client_secret: Option<String>,
    pub(super) redirect_uri: String,
    /// How the authorization server described itself.
    pub(super) metadata: AuthorizationMetadata,
    pub(super) credentials: StoredCredentials,
}

impl fmt::Debug for KeptLogin {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("KeptLogin").field("url", &self.url).finish_non_exhaustive()
    }
}

impl KeptLogin {
    pub(super) fn client(&self) -> OAuthClientConfig {
        let client = OAuthClientConfig::new(&self.client_id, &self.redirect_uri);
        match &self.client_secret {
            Some(secret) => client.with_client_secret(secret),
            None => client,
        }
    }

    /// Returns the values that nobody may see.
    fn secrets(&self) -> Vec<String> {
        let values = self.values(["access_token", "refresh_token", "id_token"]);
        self.client_secret.iter().cloned().chain(values.into_iter().map(|(_, value)| value)).collect()
    }

    /// Returns the tokens with their kinds, the one that others are made from first.
    pub(super) fn tokens(&self) -> Vec<(&'static str, String)> {
        self.values(["refresh_token", "access_token"])
    }

    fn values<const N: usize>(&self, names: [&'static str; N]) -> Vec<(&'static str, String)> {
        // The library's type gives its tokens only as JSON.
        let tokens = serde_json::to_value(&self.credentials.token_response).unwrap_or_default();
        let value = |name| Some((name, tokens.get(name).and_then(Value::as_str)?.to_owned()));
        names.into_iter().filter_map(value).collect()
    }
}

/// All logins, by the servers' names.
#[derive(Debug, Default)]
pub(crate) struct Logins {
    file: Option<PathBuf>,
    all: Mutex<BTreeMap<String, KeptLogin>>,
}

impl Logins {
    /// Reads the file. Without one, logins are forgotten at exit.
    pub(crate) fn open(file: Option<PathBuf>) -> Self {
        let all = file.as_ref().and_then(|file| private_file::read(file)).unwrap_or_default();
        Self { file, all: Mutex::new(all) }
    }

    fn all(&self) -> MutexGuard<'_, BTreeMap<String, KeptLogin>> {
        self.all.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the login to the server of this name, if it was made at this address.
    pub(super) fn of(&self, name: &str, url: &str) -> Option<KeptLogin> {
        self.all().get(name).filter(|login| login.url == url).cloned()
    }

    /// # Errors
    /// The file cannot be written; then nothing has changed.
    pub(super) fn put(&self, name: &str, login: KeptLogin) -> io::Result<()> {
        self.change(|all| drop(all.insert(name.to_owned(), login)))
    }

    /// # Errors
    /// The file cannot be written; then nothing has changed.
    pub(super) fn remove(&self, name: &str) -> io::Result<()> {
        self.change(|all| drop(all.remove(name)))
    }

    fn change(&self, change: impl FnOnce(&mut BTreeMap<String, KeptLogin>)) -> io::Result<()> {
        let mut all = self.all();
        let mut changed = all.clone();
        change(&mut changed);
        if let Some(file) = &self.file {
            private_file::write(file, &changed)?;
        }
        *all = changed;
        Ok(())
    }

    pub(super) fn secrets(&self, name: &str) -> Vec<String> {
        self.all().get(name).map(KeptLogin::secrets).unwrap_or_default()
    }
}

/// The tokens of one server, as the library reads and renews them.
pub(super) struct Tokens {
    pub(super) logins: Arc<Logins>,
    pub(super) name: String,
    pub(super) url: String,
}

fn unwritten(error: &io::Error) -> AuthError {
    AuthError::CredentialStoreError(format!("the login cannot be written down: {error}"))
}

#[async_trait]
impl CredentialStore for Tokens {
    async fn load(&self) -> Result<Option<StoredCredentials>, AuthError> {
        Ok(self.logins.of(&self.name, &self.url).map(|login| login.credentials))
    }

    async fn save(&self, credentials: StoredCredentials) -> Result<(), AuthError> {
        // Somebody may have logged out meanwhile.
        let Some(login) = self.logins.of(&self.name, &self.url) else { return Ok(()) };
        self.logins.put(&self.name, KeptLogin { credentials, ..login }).map_err(|error| unwritten(&error))
    }

    async fn clear(&self) -> Result<(), AuthError> {
        self.logins.remove(&self.name).map_err(|error| unwritten(&error))
    }
}

#[cfg(test)]
mod tests {
    use std::{fs, os::unix::fs::PermissionsExt};

    use super::*;

    fn login(url: &str) -> KeptLogin {
        let tokens = r#"{"access_token":"hush-access","token_type":"bearer","refresh_token":"hush-refresh"}"#;
        KeptLogin {
            url: url.to_owned(),
            client_id: "yoi".into(),
            client_secret: Some("hush-secret".into()),
            redirect_uri: "http://localhost/".into(),
            metadata: AuthorizationMetadata::default(),
            credentials: StoredCredentials::new("yoi".into(), serde_json::from_str(tokens).ok(), Vec::new(), None),
        }
    }

    #[test]
    fn a_login_is_there_again_for_its_address_alone_until_it_is_forgotten() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("mcp-logins.json");
        let logins = Logins::open(Some(file.clone()));
        logins.put("a", login("http://a/")).unwrap();
        logins.put("b", login("http://b/")).unwrap();
        let again = Logins::open(Some(file.clone()));
        assert!(again.of("a", "http://a/").is_some());
        assert!(again.of("a", "http://evil/").is_none(), "a token is for the address that it was given for");
        let mut secrets = again.secrets("a");
        secrets.sort();
        assert_eq!(secrets, ["hush-access", "hush-refresh", "hush-secret"]);
        assert!(!format!("{again:?}").contains("hush"), "{again:?}");
        again.remove("a").unwrap();
        assert!(Logins::open(Some(file.clone())).of("a", "http://a/").is_none());
        assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    }
}
