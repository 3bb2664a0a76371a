//! The file of API keys that were given to the running server: readable only by its owner, written atomically.

use std::path::PathBuf;

use provider::{ProviderConfig, ProviderSource};
use secrecy::{ExposeSecret, SecretString};
use serde::{Deserialize, Serialize};
use tokio::sync::{Mutex, MutexGuard};

use crate::private_file;

/// The stored keys and their file.
#[derive(Debug, Default)]
pub struct KeptKeys {
    path: Option<PathBuf>,
    configs: Mutex<Vec<ProviderConfig>>,
}

/// The stored keys cannot be read.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct KeysUnread(String);

/// An entry of the file. Deliberately without `Debug`.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct KeptKey {
    provider: String,
    kind: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    base_url: Option<String>,
    key: String,
}

/// The file, locked: changes come one after the other.
pub(crate) struct HeldKeys<'a> {
    path: Option<PathBuf>,
    configs: MutexGuard<'a, Vec<ProviderConfig>>,
}

impl KeptKeys {
    /// Reads the file.
    ///
    /// # Errors
    /// It exists and cannot be read; the error does not reveal its content.
    pub fn open(path: PathBuf) -> Result<Self, KeysUnread> {
        let bad = |kept: &KeptKey, reason: String| {
            KeysUnread(format!("{}: the key of {:?}: {reason}", path.display(), kept.provider))
        };
        let mut configs = Vec::new();
        for kept in private_file::read::<KeptKey>(&path).map_err(KeysUnread)? {
            let kind = kept.kind.parse().map_err(|error: provider::ProviderKindError| bad(&kept, error.to_string()))?;
            configs.push(ProviderConfig {
                name: kept.provider,
                kind,
                base_url: kept.base_url,
                api_key: Some(SecretString::from(kept.key)),
                models: Vec::new(),
                source: ProviderSource::DataFolder,
            });
        }
        Ok(Self { path: Some(path), configs: Mutex::new(configs) })
    }

    /// The providers that use these keys.
    pub fn configs(&mut self) -> Vec<ProviderConfig> {
        self.configs.get_mut().clone()
    }

    pub(crate) async fn hold(&self) -> HeldKeys<'_> {
        HeldKeys { path: self.path.clone(), configs: self.configs.lock().await }
    }
}

impl HeldKeys<'_> {
    pub(crate) fn len(&self) -> usize {
        self.configs.len()
    }

    pub(crate) fn get(&self, name: &str) -> Option<&ProviderConfig> {
        self.configs.iter().find(|config| config.name == name)
    }

    pub(crate) async fn put(&mut self, config: ProviderConfig) -> std::io::Result<()> {
        let mut configs = self.configs.clone();
        configs.retain(|known| known.name != config.name);
        configs.push(config);
        self.write(configs).await
    }

    pub(crate) async fn remove(&mut self, name: &str) -> std::io::Result<()> {
        let mut configs = self.configs.clone();
        configs.retain(|known| known.name != name);
        self.write(configs).await
    }

    async fn write(&mut self, configs: Vec<ProviderConfig>) -> std::io::Result<()> {
        if let Some(path) = self.path.clone() {
            let lines: Vec<_> = configs.iter().filter_map(KeptKey::of).collect();
            private_file::write(path, &lines).await?;
        }
        *self.configs = configs;
        Ok(())
    }
}

impl KeptKey {
    fn of(config: &ProviderConfig) -> Option<Self> {
        Some(Self {
            provider: config.name.clone(),
            kind: config.kind.to_string(),
            base_url: config.base_url.clone(),
            key: config.api_key.as_ref()?.expose_secret().to_owned(),
        })
    }
}

#[cfg(test)]
mod tests {
    use std::{fs, os::unix::fs::PermissionsExt};

    use provider::ProviderKind;

    use super::*;

    fn config(name: &str) -> ProviderConfig {
        ProviderConfig {
            name: name.to_owned(),
            kind: ProviderKind::Anthropic,
            base_url: None,
            api_key: Some("hush".into()),
            models: Vec::new(),
            source: ProviderSource::DataFolder,
        }
    }

    #[tokio::test]
    async fn a_key_is_there_again_for_its_owner_alone_until_it_is_forgotten() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("keys.json");
        let kept = KeptKeys::open(path.clone()).unwrap();
        for name in ["one", "two", "one"] {
            kept.hold().await.put(config(name)).await.unwrap();
        }
        kept.hold().await.remove("two").await.unwrap();
        let again = KeptKeys::open(path.clone()).unwrap().configs();
        let one = again.first().unwrap();
        assert_eq!((again.len(), one.name.as_str(), one.kind), (1, "one", ProviderKind::Anthropic));
        assert_eq!(one.api_key.as_ref().unwrap().expose_secret(), "hush");
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
        assert!(!format!("{kept:?}").contains("hush"), "{kept:?}");
    }

    #[test]
    fn a_damaged_file_is_told_by_its_place_and_never_by_its_content() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("keys.json");
        for (text, told) in [
            ("[{\"provider\":\"x\",\"kind\":\"openai\",\"key\":7}]", "damaged at line 1"),
            ("[{\"provider\":\"x\",\"kind\":\"opena\",\"key\":\"hush\"}]", "unknown provider kind"),
        ] {
            fs::write(&path, text).unwrap();
            let sentence = KeptKeys::open(path.clone()).unwrap_err().to_string();
            assert!(sentence.contains(told) && !sentence.contains("hush"), "{sentence}");
        }
    }
}
