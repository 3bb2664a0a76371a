//! `config.toml` as it is written.

use std::{
    collections::BTreeMap,
    fmt,
    io::ErrorKind,
    path::{Path, PathBuf},
    time::Duration,
};

use ::mcp::ServerConfig;
use acp::AgentConfig;
use etcetera::BaseStrategy;
use provider::{ModelSettings, ProviderConfig, ProviderKind, ProviderSource};
use runtime::{Profile, rules_refusal};
use secrecy::SecretString;
use serde::{Deserialize, Deserializer, de};
use tools::hooks::Hook;

use super::{BadConfig, Environment, agents::Agent, commands::Commands, mcp::McpTable, pods::Pods};

/// The default of `forget_after_s`.
const FORGET_AFTER: Duration = Duration::from_secs(600);
/// A year.
const FORGET_AFTER_S_MAX: u64 = 31_536_000;

/// The whole file. An unknown key is an error.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct File {
    pub(super) listen: Option<String>,
    pub(super) socket: Option<PathBuf>,
    pub(super) data: Option<PathBuf>,
    pub(super) database: Option<String>,
    pub(super) name: Option<String>,
    pub(super) allow_hosts: Vec<String>,
    /// Whoever is logged in may open a terminal.
    pub(super) terminal: bool,
    forget_after_s: Option<u64>,
    /// The first one is the default, so the file's order is kept.
    #[serde(deserialize_with = "in_order")]
    providers: Vec<(String, ProviderTable)>,
    pub(super) models: BTreeMap<String, ModelSettings>,
    /// Find model servers on this machine without configuration.
    find_models: Option<bool>,
    pub(super) profiles: BTreeMap<String, Profile>,
    mcp: BTreeMap<String, McpTable>,
    agents: BTreeMap<String, Agent>,
    pub(super) commands: Commands,
    /// Command lines around the calls of tools.
    pub(super) hooks: Vec<Hook>,
    pub(super) pods: Pods,
    /// The file's own path; relative paths in it are relative to its folder.
    #[serde(skip)]
    path: PathBuf,
}

/// One `[providers.NAME]`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ProviderTable {
    kind: String,
    base_url: Option<String>,
    api_key_env: Option<String>,
    api_key_file: Option<PathBuf>,
    #[serde(default)]
    models: Vec<String>,
}

impl File {
    /// The file named by a flag or YOI_CONFIG, which must exist; otherwise the one in the XDG config directory, if it
    /// exists; otherwise an empty one.
    pub(super) fn load(flag: Option<&Path>, environment: &Environment) -> Result<Self, BadConfig> {
        let named = flag.map(Path::to_owned).or_else(|| environment.text("YOI_CONFIG").map(PathBuf::from));
        let (path, is_named) = match (named, etcetera::choose_base_strategy()) {
            (Some(path), _) => (path, true),
            (None, Ok(strategy)) => (strategy.config_dir().join("yoi").join("config.toml"), false),
            (None, Err(_)) => return Ok(Self::default()),
        };
        match std::fs::read_to_string(&path) {
            Ok(text) => Self::parse(&text, path),
            Err(error) if error.kind() == ErrorKind::NotFound && !is_named => Ok(Self::default()),
            Err(error) => Err(BadConfig(format!("the configuration {} cannot be read: {error}", path.display()))),
        }
    }

    fn parse(text: &str, path: PathBuf) -> Result<Self, BadConfig> {
        let refuse = |key: &str, error: &toml::de::Error| {
            let before = error.span().map(|span| &text[..span.start]).unwrap_or_default();
            let line = before.matches('\n').count() + 1;
            // Not the error's full text, which quotes the line: that might contain a misplaced key.
            let message = error.message().replace('\n', "; ");
            BadConfig(format!("{} line {line}{key}: {message}", path.display()))
        };
        let document = toml::Deserializer::parse(text).map_err(|error| refuse("", &error))?;
        let file: Self = serde_path_to_error::deserialize(document).map_err(|error| {
            let place = error.path().to_string();
            let key = if place == "." { String::new() } else { format!(", `{place}`") };
            refuse(&key, error.inner())
        })?;
        let file = Self { path, ..file };
        file.mcp()?;
        file.agents()?;
        if let Some(sentence) = file.commands.refusal(&file.key_variables()) {
            return Err(file.bad(&sentence));
        }
        if let Some(sentence) = file.hooks.iter().find_map(Hook::refusal) {
            return Err(file.bad(&format!("[[hooks]]: {sentence}")));
        }
        for (name, model) in &file.models {
            if let Some(sentence) = model.refusal() {
                return Err(file.bad(&format!("[models.\"{name}\"]: {sentence}")));
            }
        }
        for (name, profile) in &file.profiles {
            let rules = profile.permissions.as_deref().unwrap_or_default();
            if let Some(sentence) = rules_refusal(rules, &[]) {
                return Err(file.bad(&format!("[profiles.{name}]: {sentence}")));
            }
            if let Some(server) = profile.mcp.iter().flatten().find(|server| !file.mcp.contains_key(*server)) {
                return Err(
                    file.bad(&format!("[profiles.{name}]: mcp names \"{server}\", and there is no [mcp.{server}]"))
                );
            }
        }
        Ok(file)
    }

    /// Returns the file's MCP servers.
    pub(super) fn mcp(&self) -> Result<Vec<ServerConfig>, BadConfig> {
        let config = |(name, table): (&String, &McpTable)| {
            table.config(name).map_err(|sentence| self.bad(&format!("[mcp.{name}]: {sentence}")))
        };
        self.mcp.iter().map(config).collect()
    }

    /// The providers in the file, in its order, with their keys.
    pub(super) fn providers(&self, environment: &Environment) -> Result<Vec<ProviderConfig>, BadConfig> {
        self.providers.iter().map(|(name, table)| self.provider(name, table, environment)).collect()
    }

    fn provider(
        &self,
        name: &str,
        table: &ProviderTable,
        environment: &Environment,
    ) -> Result<ProviderConfig, BadConfig> {
        let kind: ProviderKind =
            table.kind.parse().map_err(|error| self.bad(&format!("[providers.{name}]: {error}")))?;
        let api_key = match (&table.api_key_env, &table.api_key_file) {
            (Some(_), Some(_)) => {
                return Err(self.bad(&format!("[providers.{name}] has api_key_env and api_key_file; keep one")));
            }
            // An unset variable is no error: the console says that the key is missing and how to add it.
            (Some(variable), None) => environment.secret(variable),
            (None, Some(path)) => Some(self.key_file(name, path)?),
            (None, None) => None,
        };
        Ok(ProviderConfig {
            name: name.to_owned(),
            kind,
            base_url: table.base_url.clone(),
            api_key,
            models: table.models.clone(),
            source: ProviderSource::Configuration,
        })
    }

    pub(super) fn finds_models(&self) -> bool {
        self.find_models.unwrap_or(true)
    }

    /// Returns the file's agents, by name.
    pub(super) fn agents(&self) -> Result<BTreeMap<String, AgentConfig>, BadConfig> {
        let config = |(name, agent): (&String, &Agent)| {
            let config = agent.config(name).map_err(|sentence| self.bad(&sentence))?;
            Ok((name.clone(), config))
        };
        self.agents.iter().map(config).collect()
    }

    /// How long a server that announced itself may be silent before it is forgotten.
    pub(super) fn forget_after(&self) -> Result<Duration, BadConfig> {
        match self.forget_after_s {
            None => Ok(FORGET_AFTER),
            Some(seconds @ 1..=FORGET_AFTER_S_MAX) => Ok(Duration::from_secs(seconds)),
            Some(other) => Err(self.bad(&format!("forget_after_s is 1 to {FORGET_AFTER_S_MAX} seconds, not {other}"))),
        }
    }

    /// What no Pod may read: the file itself, and the key files that it refers to.
    pub(super) fn private_files(&self) -> Vec<PathBuf> {
        let folder = self.path.parent().unwrap_or(Path::new(""));
        let keys = self.providers.iter().filter_map(|(_, table)| Some(folder.join(table.api_key_file.as_ref()?)));
        keys.chain(self.path()).collect()
    }

    /// The path of the file, if one was read.
    pub(super) fn path(&self) -> Option<PathBuf> {
        (!self.path.as_os_str().is_empty()).then(|| self.path.clone())
    }

    /// The names of the variables that contain keys.
    pub(super) fn key_variables(&self) -> Vec<String> {
        self.providers.iter().filter_map(|(_, table)| table.api_key_env.clone()).collect()
    }

    fn key_file(&self, name: &str, path: &Path) -> Result<SecretString, BadConfig> {
        let path = self.path.parent().unwrap_or(Path::new("")).join(path);
        match std::fs::read_to_string(&path) {
            Ok(text) => Ok(SecretString::from(text.trim())),
            Err(error) => {
                let place = format!("[providers.{name}]: the api_key_file {}", path.display());
                Err(self.bad(&format!("{place} cannot be read: {error}")))
            }
        }
    }

    fn bad(&self, sentence: &str) -> BadConfig {
        BadConfig(format!("{}: {sentence}", self.path.display()))
    }
}

/// A table as its entries, in the order of the file.
fn in_order<'de, D: Deserializer<'de>, T: Deserialize<'de>>(deserializer: D) -> Result<Vec<(String, T)>, D::Error> {
    struct Entries<T>(std::marker::PhantomData<T>);

    impl<'de, T: Deserialize<'de>> de::Visitor<'de> for Entries<T> {
        type Value = Vec<(String, T)>;

        fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
            formatter.write_str("a table")
        }

        fn visit_map<A: de::MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
            let mut entries = Vec::new();
            while let Some(entry) = map.next_entry()? {
                entries.push(entry);
            }
            Ok(entries)
        }
    }
    deserializer.deserialize_map(Entries(std::marker::PhantomData))
}
