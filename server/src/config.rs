//! Combines flags, environment and file into one typed [`Config`]. Flags take precedence over the environment, and the
//! environment over the file.
//!
//! Nothing else reads the environment or `config.toml`. Errors name the key or the variable, never a value that could
//! be a secret.

mod agents;
mod commands;
mod environment;
mod file;
mod mcp;
mod pods;
mod terminal;

use std::{
    collections::BTreeMap,
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr},
    path::{Path, PathBuf},
    time::Duration,
};

use ::mcp::ServerConfig;
use acp::AgentConfig;
use backend::TerminalOptions;
use etcetera::BaseStrategy;
use pod_store::Database;
use protocol::RuntimeId;
use provider::{ModelSettings, ProviderConfig, ProviderEnvironment};
use runtime::Profile;
use secrecy::SecretString;
use tools::hooks::Hook;

use self::commands::Commands;
pub(crate) use self::environment::Environment;
use self::file::File;
use self::pods::Pods;
use crate::{
    data_dir,
    options::{CommonOptions, ServeOptions},
};

const LISTEN: &str = "127.0.0.1:7474";
/// The log filter if YOI_LOG is not set.
const LOG: &str = "info,rmcp=error";

/// A configuration that cannot be used. The message says where the problem is and how to fix it; the process exits with
/// 2.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub(crate) struct BadConfig(pub(crate) String);

/// The configuration of `serve`.
#[derive(Debug)]
pub(crate) struct Config {
    pub(crate) listen: SocketAddr,
    /// A Unix socket in addition to the address.
    pub(crate) socket: Option<PathBuf>,
    pub(crate) data: PathBuf,
    pub(crate) database: Database,
    /// The configuration file that was read.
    pub(crate) file: Option<PathBuf>,
    pub(crate) allow_hosts: Vec<String>,
    /// What this server announces as its name to other servers.
    pub(crate) name: Option<RuntimeId>,
    /// How long a server that announced itself may be silent before it is forgotten.
    pub(crate) forget_after: Duration,
    /// Replaces the one in the data folder.
    pub(crate) token: Option<SecretString>,
    pub(crate) open: bool,
    /// In order of preference: those in the file, then those known only from the environment.
    pub(crate) providers: Vec<ProviderConfig>,
    pub(crate) models: BTreeMap<String, ModelSettings>,
    /// Find model servers on this machine without configuration.
    pub(crate) finds_models: bool,
    pub(crate) profiles: BTreeMap<String, Profile>,
    pub(crate) mcp: Vec<ServerConfig>,
    pub(crate) agents: BTreeMap<String, AgentConfig>,
    /// Files with keys, and the configuration itself, which no tool of a Pod may read.
    pub(crate) private_files: Vec<PathBuf>,
    /// Variables that contain keys.
    pub(crate) key_variables: Vec<String>,
    pub(crate) commands: Commands,
    /// Command lines around the calls of tools.
    pub(crate) hooks: Vec<Hook>,
    pub(crate) pods: Pods,
    /// Terminals for whoever is logged in, if there are any.
    pub(crate) terminals: Option<TerminalOptions>,
}

/// The configuration of the other verbs.
#[derive(Debug)]
pub(crate) struct ClientConfig {
    pub(crate) server: String,
    /// The data folder of the server, unless a server was named; it says where that server is now.
    pub(crate) found_in: Option<PathBuf>,
    pub(crate) data: PathBuf,
    /// Replaces the one in the data folder.
    pub(crate) token: Option<SecretString>,
    pub(crate) json: bool,
}

impl Config {
    pub(crate) fn load(
        common: &CommonOptions,
        serve: &ServeOptions,
        environment: &Environment,
    ) -> Result<Self, BadConfig> {
        let file = File::load(common.config.as_deref(), environment)?;
        let data = data_folder(common, environment, &file)?;
        let listen = first([&serve.listen, &environment.text("YOI_LISTEN"), &file.listen]);
        let database = first([&serve.database, &environment.text("YOI_DATABASE"), &file.database]);
        Ok(Self {
            listen: parse_listen(listen.as_deref().unwrap_or(LISTEN))?,
            socket: socket_path(serve, environment, &file)?,
            database: parse_database(database.as_deref(), &data)?,
            allow_hosts: [serve.allow_hosts.as_slice(), file.allow_hosts.as_slice()].concat(),
            name: first([&serve.name, &file.name]).as_deref().map(parse_name).transpose()?,
            forget_after: file.forget_after()?,
            token: token(environment)?,
            open: serve.open,
            file: file.path(),
            private_files: file.private_files(),
            key_variables: file.key_variables(),
            providers: provider_environment(environment).apply(file.providers(environment)?),
            finds_models: file.finds_models(),
            mcp: file.mcp()?,
            agents: file.agents()?,
            models: file.models,
            profiles: file.profiles,
            commands: file.commands,
            hooks: file.hooks,
            pods: file.pods,
            terminals: (serve.terminal || file.terminal).then(|| terminal::options(environment)),
            data,
        })
    }
}

impl ClientConfig {
    pub(crate) fn load(common: &CommonOptions, environment: &Environment) -> Result<Self, BadConfig> {
        let file = File::load(common.config.as_deref(), environment)?;
        let data = data_folder(common, environment, &file)?;
        let named = first([&common.server, &environment.text("YOI_SERVER")]);
        let found_in = if named.is_none() { Some(data.clone()) } else { None };
        let server = match named.or_else(|| data_dir::address(&data)) {
            Some(server) => server,
            None => {
                let listen = first([&environment.text("YOI_LISTEN"), &file.listen]);
                let listen = parse_listen(listen.as_deref().unwrap_or(LISTEN))?;
                base_url(listen)
            }
        };
        Ok(Self { server, found_in, data, token: token(environment)?, json: common.json })
    }
}

/// The address in a form that a program on this machine can use.
pub(crate) fn base_url(address: SocketAddr) -> String {
    let ip = match address.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(ip) if ip.is_unspecified() => Ipv6Addr::LOCALHOST.into(),
        ip => ip,
    };
    format!("http://{}", SocketAddr::new(ip, address.port()))
}

/// Where systemd looks for this account's units.
pub(crate) fn units_folder() -> Result<PathBuf, BadConfig> {
    match etcetera::choose_base_strategy() {
        Ok(strategy) => Ok(strategy.config_dir().join("systemd").join("user")),
        Err(_) => Err(BadConfig("no home folder for the unit; set HOME".to_owned())),
    }
}

/// The log filter.
pub(crate) fn log_filter(environment: &Environment) -> String {
    environment.text("YOI_LOG").unwrap_or_else(|| LOG.to_owned())
}

fn first<const N: usize>(sources: [&Option<String>; N]) -> Option<String> {
    sources.into_iter().find_map(Clone::clone)
}

fn data_folder(common: &CommonOptions, environment: &Environment, file: &File) -> Result<PathBuf, BadConfig> {
    let given = common.data.clone().or_else(|| environment.text("YOI_DATA").map(PathBuf::from));
    if let Some(data) = given.or_else(|| file.data.clone()) {
        return std::path::absolute(&data).map_err(|error| BadConfig(format!("--data {}: {error}", data.display())));
    }
    match etcetera::choose_base_strategy() {
        Ok(strategy) => Ok(strategy.data_dir().join("yoi")),
        Err(_) => Err(BadConfig("no home folder for the data; give a folder with --data DIR".to_owned())),
    }
}

fn socket_path(serve: &ServeOptions, environment: &Environment, file: &File) -> Result<Option<PathBuf>, BadConfig> {
    let given = serve.socket.clone().or_else(|| environment.text("YOI_SOCKET").map(PathBuf::from));
    let absolute = |path: PathBuf| {
        std::path::absolute(&path).map_err(|error| BadConfig(format!("--socket {}: {error}", path.display())))
    };
    given.or_else(|| file.socket.clone()).map(absolute).transpose()
}

fn parse_listen(text: &str) -> Result<SocketAddr, BadConfig> {
    let numeric = match text.strip_prefix("localhost:") {
        Some(port) => format!("127.0.0.1:{port}"),
        None => text.to_owned(),
    };
    numeric.parse().map_err(|_| {
        BadConfig(format!("\"{text}\" is not an address to listen on; give an address and a port, such as {LISTEN}"))
    })
}

fn parse_name(text: &str) -> Result<RuntimeId, BadConfig> {
    RuntimeId::parse(text).map_err(|error| BadConfig(format!("the name \"{text}\" is not valid: {error}")))
}

fn parse_database(text: Option<&str>, data: &Path) -> Result<Database, BadConfig> {
    match text {
        None => Ok(Database::Sqlite { path: data.join("yoi.db") }),
        Some(text) => Database::parse(text).map_err(|error| BadConfig(format!("the database: {error}"))),
    }
}

fn token(environment: &Environment) -> Result<Option<SecretString>, BadConfig> {
    match environment.text("YOI_TOKEN") {
        None => Ok(None),
        Some(token) if token.bytes().all(|byte| byte.is_ascii_graphic()) => Ok(Some(SecretString::from(token))),
        Some(_) => Err(BadConfig("YOI_TOKEN may hold visible ASCII characters only".to_owned())),
    }
}

fn provider_environment(environment: &Environment) -> ProviderEnvironment {
    ProviderEnvironment {
        openai_api_key: environment.secret("OPENAI_API_KEY"),
        openai_base_url: environment.text("OPENAI_BASE_URL"),
        anthropic_api_key: environment.secret("ANTHROPIC_API_KEY"),
        anthropic_base_url: environment.text("ANTHROPIC_BASE_URL"),
        gemini_api_key: environment.secret("GEMINI_API_KEY"),
        ollama_host: environment.text("OLLAMA_HOST"),
    }
}

#[cfg(test)]
mod tests {
    use secrecy::ExposeSecret;

    use super::*;

    /// A file in a folder that exists as long as the test.
    fn file(text: &str) -> (tempfile::TempDir, CommonOptions) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("config.toml");
        std::fs::write(&path, text).unwrap();
        let common =
            CommonOptions { config: Some(path), data: Some(folder.path().join("data")), ..CommonOptions::default() };
        (folder, common)
    }

    fn load(text: &str, serve: &ServeOptions, variables: &[(&str, &str)]) -> Result<Config, BadConfig> {
        let (_folder, common) = file(text);
        Config::load(&common, serve, &Environment::of(variables))
    }

    #[test]
    fn a_flag_wins_over_a_variable_and_a_variable_over_the_file() {
        let text = "listen = \"127.0.0.1:1\"";
        let flag = ServeOptions { listen: Some("127.0.0.1:3".into()), ..ServeOptions::default() };
        let variable = [("YOI_LISTEN", "127.0.0.1:2")];
        let port = |config: Result<Config, BadConfig>| config.unwrap().listen.port();
        assert_eq!(port(load("", &ServeOptions::default(), &[])), 7474);
        assert_eq!(port(load(text, &ServeOptions::default(), &[])), 1);
        assert_eq!(port(load(text, &ServeOptions::default(), &variable)), 2);
        assert_eq!(port(load(text, &flag, &variable)), 3);
    }

    #[test]
    fn an_unknown_key_is_named_wherever_it_stands() {
        let texts = [
            "lisen = \"x\"",
            "[providers.openai]\nkind = \"openai\"\nlisen = 1",
            "[profiles.reviewer]\nlisen = 1",
            "[mcp.files]\ncommand = [\"x\"]\nlisen = 1",
            "[agents.mine]\ncommand = [\"x\"]\nlisen = 1",
        ];
        for text in texts {
            let sentence = load(text, &ServeOptions::default(), &[]).unwrap_err().to_string();
            assert!(sentence.contains("`lisen`") && sentence.contains("config.toml"), "{text}: {sentence}");
            assert!(!sentence.contains('\n'), "{sentence}");
        }
    }

    #[test]
    fn what_cannot_be_meant_is_an_error_that_names_the_place() {
        let table = [
            ("listen = \"7474\"", "7474"),
            ("forget_after_s = 0", "forget_after_s"),
            ("forget_after_s = 31536001", "forget_after_s"),
            ("forget_after_s = \"1 h\"", "forget_after_s"),
            ("database = \"mysql://x\"", "database"),
            ("[providers.mine]\nkind = \"openia\"", "mine"),
            ("[providers.mine]\nbase_url = \"http://x\"", "`kind`"),
            ("[providers.mine]\nkind = \"openai\"\napi_key_file = \"/no/such/key\"", "/no/such/key"),
            ("[providers.mine]\nkind = \"openai\"\napi_key_file = \"a\"\napi_key_env = \"B\"", "mine"),
            ("[mcp.files]\ncommand = [\"x\"]\nurl = \"http://x\"", "files"),
            ("[mcp.files]", "files"),
            ("[agents.mine]", "[agents.mine] needs `command`"),
            ("[agents.mine]\ncommand = []", "[agents.mine] needs `command`"),
            ("[agents.mine]\ncommand = [\"\"]", "names no program"),
            ("[agents.mine]\ncommand = \"x\"", "agents.mine.command"),
            ("[agents.\"a b\"]\ncommand = [\"x\"]", "an agent's name"),
            ("[agents.mine]\ncommand = [\"x\"]\nenv = { YOI_TOKEN = \"1\" }", "YOI_TOKEN"),
            ("[agents.codex]\nidle_s = 0", "idle_s"),
            ("[agents.codex]\nidle_s = 86401", "idle_s"),
            ("listen = ", "line 1"),
        ];
        for (text, named) in table {
            let sentence = load(text, &ServeOptions::default(), &[]).unwrap_err().to_string();
            assert!(sentence.contains(named), "{text}: {sentence}");
        }
    }

    #[test]
    fn a_key_comes_from_the_variable_or_the_file_that_is_named_and_is_never_shown() {
        let text = "[providers.a]\nkind = \"openai\"\napi_key_env = \"MY_KEY\"\nmodels = [\"m\"]\n\
                    [providers.b]\nkind = \"anthropic\"\napi_key_file = \"key.txt\"";
        let (folder, common) = file(text);
        std::fs::write(folder.path().join("key.txt"), "from-file\n").unwrap();
        let environment = Environment::of(&[("MY_KEY", "from-variable"), ("GEMINI_API_KEY", "found")]);
        let config = Config::load(&common, &ServeOptions::default(), &environment).unwrap();
        let keys: Vec<_> = config
            .providers
            .iter()
            .map(|provider| (provider.name.as_str(), provider.api_key.as_ref().unwrap().expose_secret()))
            .collect();
        assert_eq!(keys, [("a", "from-variable"), ("b", "from-file"), ("gemini", "found")]);
        let shown = format!("{config:?} {environment:?}");
        for key in ["from-file", "from-variable", "found"] {
            assert!(!shown.contains(key), "{key} is shown");
        }
    }

    #[test]
    fn an_agent_has_what_the_file_says_and_a_known_one_its_own_command() {
        let agents = |text| load(text, &ServeOptions::default(), &[]).unwrap().agents;
        assert!(agents("").is_empty());
        let text = "[agents.codex]\nconfine = true\nidle_s = 120\n[agents.mine]\ncommand = [\"x\", \"acp\"]\n\
                    env = { KEY = \"hunter2\" }";
        let agents = agents(text);
        let codex = &agents["codex"];
        assert_eq!((codex.command.as_slice(), codex.confine), (&["codex-acp".to_owned()][..], true));
        assert_eq!(codex.idle, Duration::from_secs(120));
        assert_eq!(agents["mine"].command, ["x", "acp"]);
        assert_eq!((agents["mine"].env["KEY"].as_str(), agents["mine"].confine), ("hunter2", false));
        let shown = format!("{:?}", load(text, &ServeOptions::default(), &[]).unwrap());
        assert!(!shown.contains("hunter2"), "{shown}");
    }

    #[test]
    fn terminals_are_off_and_have_nothing_of_the_servers_environment_that_is_secret() {
        let variables = [("SHELL", "/bin/fish"), ("HOME", "/home/ada"), ("LC_TIME", "C"), ("YOI_TOKEN", "hidden-1")];
        let variables = [&variables[..], &[("OPENAI_API_KEY", "hidden-2"), ("MY_KEY", "hidden-3")]].concat();
        let flag = ServeOptions { terminal: true, ..ServeOptions::default() };
        let terminals = |text, serve: &ServeOptions| load(text, serve, &variables).unwrap().terminals;
        assert!(terminals("", &ServeOptions::default()).is_none());
        assert!(terminals("terminal = false", &ServeOptions::default()).is_none());
        for options in [terminals("", &flag).unwrap(), terminals("terminal = true", &ServeOptions::default()).unwrap()]
        {
            assert_eq!(options.shell, Path::new("/bin/fish"));
            let names: Vec<_> = options.environment.iter().map(|(name, _)| name.as_str()).collect();
            assert_eq!(names, ["HOME", "SHELL", "LC_TIME"]);
        }
        assert_eq!(load("", &flag, &[]).unwrap().terminals.unwrap().shell, Path::new("/bin/sh"));
    }

    #[test]
    fn silent_servers_are_forgotten_after_ten_minutes_or_what_the_file_says() {
        let after = |text| load(text, &ServeOptions::default(), &[]).unwrap().forget_after;
        assert_eq!(after(""), Duration::from_secs(600));
        assert_eq!(after("forget_after_s = 1"), Duration::from_secs(1));
        assert_eq!(after("forget_after_s = 31536000"), Duration::from_secs(365 * 24 * 60 * 60));
    }

    #[test]
    fn how_many_pods_there_may_be_is_what_the_file_says() {
        let limits = |text| load(text, &ServeOptions::default(), &[]).unwrap().pods.limits();
        let usual = limits("");
        assert_eq!((usual.max, usual.children_max, usual.family_max), (10_000, 32, 128));
        let other = limits("[pods]\nmax = 7\nfamily_max = 0");
        assert_eq!((other.max, other.children_max, other.family_max), (7, 32, 0));
    }

    #[test]
    fn providers_keep_the_order_of_the_file_because_the_first_is_the_default() {
        let text = "[providers.zeta]\nkind = \"ollama\"\n[providers.alpha]\nkind = \"rehearsal\"";
        let config = load(text, &ServeOptions::default(), &[]).unwrap();
        assert_eq!(
            config.providers.iter().map(|provider| provider.name.as_str()).collect::<Vec<_>>(),
            ["zeta", "alpha"]
        );
    }

    #[test]
    fn the_profile_of_the_documentation_is_understood() {
        let text = "[profiles.reviewer]\nprovider = \"openai\"\nmodel = \"gpt-5.1\"\ninstructions = \"…\"\n\
            tools = [\"Read\", \"Grep\"]\nreasoning = \"summary\"\npeer_policy = \"ask\"\nwake_on_peer = true\n\
            permissions = [{ tool = \"Bash\", match = \"cargo *\", decision = \"allow\" }]";
        let config = load(text, &ServeOptions::default(), &[]).unwrap();
        let profile = &config.profiles["reviewer"];
        assert_eq!(profile.peer_policy, Some(protocol::PeerPolicy::Ask));
        assert_eq!(profile.permissions.as_ref().unwrap()[0].pattern.as_deref(), Some("cargo *"));
    }

    #[test]
    fn a_profile_whose_rules_say_nothing_or_are_too_many_is_named() {
        let many = "{ tool = 'Bash', decision = 'ask' }, ".repeat(201);
        for (rules, told) in [
            ("{ tool = ' ', decision = 'ask' }", "[profiles.careful]: `permissions[0].tool` is empty"),
            ("{ tool = 'Bash', match = '', decision = 'ask' }", "[profiles.careful]: `permissions[0].match` is empty"),
            (&many, "[profiles.careful]: `permissions` has 201 rules; there are at most 200"),
        ] {
            let text = format!("[profiles.careful]\npermissions = [{rules}]");
            let sentence = load(&text, &ServeOptions::default(), &[]).unwrap_err().to_string();
            assert!(sentence.contains(told), "{sentence}");
        }
    }

    #[test]
    fn a_section_of_an_mcp_server_is_understood_and_never_shown() {
        let text = "[mcp.files]\ncommand = [\"x\", \"y\"]\nenv = { KEY = \"hidden-1\" }\ntools = [\"read\"]\n\
            permissions = [{ tool = \"read\", match = \"*\", decision = \"allow\" }]\n\
            [mcp.far]\nurl = \"https://x/mcp?key=hidden-2\"\nheaders = { Authorization = \"Bearer hidden-3\" }\n\
            [profiles.reviewer]\nmcp = [\"files\"]";
        let config = load(text, &ServeOptions::default(), &[]).unwrap();
        let names: Vec<_> = config.mcp.iter().map(|server| server.name.as_str()).collect();
        assert_eq!(names, ["far", "files"]);
        assert_eq!(config.mcp[1].permissions[0].tool, "files__read");
        assert_eq!(config.profiles["reviewer"].mcp.as_deref(), Some(&["files".to_owned()][..]));
        let shown = format!("{config:?}");
        assert!(!shown.contains("hidden-1") && !shown.contains("hidden-3"), "{shown}");
    }

    #[test]
    fn a_section_that_cannot_be_meant_says_what_is_wrong_and_shows_no_value() {
        for (section, told) in [
            ("[mcp.a__b]\ncommand = [\"x\"]", "no __"),
            ("[mcp.a]\ncommand = []", "program"),
            ("[mcp.a]\nurl = \"hidden\"", "http://"),
            ("[mcp.a]\nurl = \"http://x\"\nenv = { A = \"hidden\" }", "env and confine"),
            ("[mcp.a]\nurl = \"http://x\"\nconfine = false", "env and confine"),
            ("[mcp.a]\ncommand = [\"x\"]\noauth = { client_id = \"hidden\" }", "oauth"),
            ("[mcp.a]\nurl = \"http://x\"\noauth = { client_secret = \"hidden\" }", "client_id"),
            ("[mcp.a]\nurl = \"http://x\"\noauth = { client_id = \"hidden\", scopes = [\"a b\"] }", "scopes"),
            ("[mcp.a]\ncommand = [\"x\"]\nheaders = { A = \"hidden\" }", "headers"),
            ("[mcp.a]\nurl = \"http://x\"\nheaders = { Host = \"hidden\" }", "Host"),
            ("[mcp.a]\ncommand = [\"x\"]\npermissions = [{ tool = \"b__c\", decision = \"allow\" }]", "permissions[0]"),
            ("[mcp.a]\ncommand = [\"x\"]\n[profiles.p]\nmcp = [\"b\"]", "[mcp.b]"),
        ] {
            let sentence = load(section, &ServeOptions::default(), &[]).unwrap_err().to_string();
            assert!(sentence.contains(told) && !sentence.contains("hidden"), "{section}: {sentence}");
        }
    }

    #[test]
    fn a_client_finds_the_server_by_flag_variable_data_folder_or_address() {
        let (folder, mut common) = file("listen = \"0.0.0.0:81\"");
        let server = |common: &CommonOptions, variables: &[(&str, &str)]| {
            ClientConfig::load(common, &Environment::of(variables)).unwrap().server
        };
        assert_eq!(server(&common, &[]), "http://127.0.0.1:81");
        std::fs::create_dir(folder.path().join("data")).unwrap();
        std::fs::write(folder.path().join("data/address"), "http://127.0.0.1:82\n").unwrap();
        assert_eq!(server(&common, &[]), "http://127.0.0.1:82");
        assert_eq!(server(&common, &[("YOI_SERVER", "http://x:83")]), "http://x:83");
        common.server = Some("http://x:84".into());
        assert_eq!(server(&common, &[("YOI_SERVER", "http://x:83")]), "http://x:84");
    }

    #[test]
    fn a_file_that_is_named_must_be_there() {
        let common = CommonOptions { config: Some("/no/such/config.toml".into()), ..CommonOptions::default() };
        let error = Config::load(&common, &ServeOptions::default(), &Environment::of(&[])).unwrap_err();
        assert!(error.to_string().contains("/no/such/config.toml"), "{error}");
    }

    #[test]
    fn an_address_that_means_all_is_printed_as_one_that_can_be_used() {
        let table = [
            ("127.0.0.1:7474", "http://127.0.0.1:7474"),
            ("0.0.0.0:80", "http://127.0.0.1:80"),
            ("[::]:81", "http://[::1]:81"),
            ("192.168.0.9:82", "http://192.168.0.9:82"),
        ];
        for (listen, url) in table {
            assert_eq!(base_url(listen.parse().unwrap()), url);
        }
    }
}
