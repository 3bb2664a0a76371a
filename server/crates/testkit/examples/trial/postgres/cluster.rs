//! PostgreSQL as an operator runs it: three members with synchronous replication, which Patroni and etcd keep, behind
//! HAProxy, which leads to the primary; and PgBouncer before that.
//!
//! Everything listens on this machine's loopback and lives in one temporary folder. A shell that holds a pipe from this
//! process ends it all and removes the folder, however this process ends.

use std::{
    fs,
    net::TcpListener,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    time::Duration,
};

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};
use testkit::postgres::{programs, unprivileged};
use tokio::time::{Instant, sleep};

const MEMBERS: usize = 3;
/// How long the first start, and the healing after each fault, may take.
const HEALED_MAX: Duration = Duration::from_secs(120);
const LOOK_AGAIN: Duration = Duration::from_millis(100);
/// The time to live of the primary's key in etcd, in seconds: the wait after a machine has died.
const TTL: u32 = 6;

const WATCHDOG: &str = r#"
trap '' INT TERM HUP
while read -r line; do :; done
for file in "$1"/*.pid; do kill -KILL "$(cat "$file")"; done 2>/dev/null
for file in "$1"/*/postmaster.pid; do kill -CONT "$(head -n 1 "$file")"; kill -QUIT "$(head -n 1 "$file")"; done 2>/dev/null
sleep 1
for file in "$1"/*/postmaster.pid; do kill -KILL "$(head -n 1 "$file")"; done 2>/dev/null
rm -rf "$1"
"#;

/// The programs, and where each of them listens.
#[derive(Debug)]
pub(crate) struct Cluster {
    folder: PathBuf,
    etcd: (u16, u16),
    members: Vec<Member>,
    /// HAProxy, PgBouncer in session mode, and in transaction mode.
    fronts: [u16; 3],
    http: reqwest::Client,
    /// Never written to: closing it ends everything.
    _lifeline: Child,
}

#[derive(Debug)]
struct Member {
    name: String,
    postgres: u16,
    patroni: u16,
}

impl Cluster {
    /// Starts everything and waits until a standby is synchronous.
    pub(crate) async fn start() -> Result<Self> {
        // An error means that one is installed already, which is just as good.
        rustls::crypto::ring::default_provider().install_default().ok();
        let folder = tempfile::Builder::new().prefix("yoi-patroni-").tempdir()?.keep();
        let mut watchdog = Command::new("sh");
        watchdog.args(["-c", WATCHDOG, "watchdog"]).arg(&folder).stdin(Stdio::piped());
        std::os::unix::process::CommandExt::process_group(&mut watchdog, 0);
        let lifeline = watchdog.spawn().context("cannot start a shell")?;
        let mut members = Vec::new();
        for number in 0..MEMBERS {
            members.push(Member { name: format!("m{number}"), postgres: free_port()?, patroni: free_port()? });
        }
        let cluster = Self {
            folder,
            etcd: (free_port()?, free_port()?),
            members,
            fronts: [free_port()?, free_port()?, free_port()?],
            http: reqwest::Client::new(),
            _lifeline: lifeline,
        };
        cluster.configure()?;
        cluster.spawn("etcd", Path::new("etcd"), &cluster.etcd_arguments())?;
        for member in &cluster.members {
            cluster.spawn_patroni(member)?;
        }
        cluster.spawn("haproxy", Path::new("/usr/sbin/haproxy"), &["-db", "-f", "haproxy.cfg"])?;
        for mode in ["session", "transaction"] {
            cluster.spawn(mode, Path::new("/usr/sbin/pgbouncer"), &["-q", &format!("{mode}.ini")])?;
        }
        cluster.healed().await?;
        cluster.execute("postgres", "create database yoi").await?;
        Ok(cluster)
    }

    /// Always leads to the primary.
    pub(crate) fn front(&self) -> u16 {
        self.fronts[0]
    }

    /// PgBouncer with a session for each client.
    pub(crate) fn by_session(&self) -> u16 {
        self.fronts[1]
    }

    /// PgBouncer with any session for each transaction.
    pub(crate) fn by_transaction(&self) -> u16 {
        self.fronts[2]
    }

    pub(crate) fn standby(&self, primary: usize) -> u16 {
        self.members[(primary + 1) % MEMBERS].postgres
    }

    pub(crate) async fn execute(&self, database: &str, sql: &str) -> Result<String> {
        testkit::postgres::execute(&url(self.front(), database), sql).await
    }

    /// The number of the member that is the primary now.
    pub(crate) async fn primary(&self) -> Option<usize> {
        let state = self.state().await?;
        state.iter().position(|role| role == "leader")
    }

    /// Waits until all members run, one is the primary, another one is synchronous, and HAProxy leads to it.
    pub(crate) async fn healed(&self) -> Result<usize> {
        let deadline = Instant::now() + HEALED_MAX;
        loop {
            let state = self.state().await.unwrap_or_default();
            let has = |role: &str| state.iter().filter(|is| *is == role).count();
            if has("leader") == 1 && has("sync_standby") >= 1 && has("down") == 0 && self.takes_writes().await {
                return self.primary().await.context("it has just been there");
            }
            if Instant::now() > deadline {
                bail!("PostgreSQL is not whole again after {HEALED_MAX:?}: {state:?}\n{}", self.last_words());
            }
            sleep(LOOK_AGAIN).await;
        }
    }

    pub(crate) async fn takes_writes(&self) -> bool {
        let sql = "create table if not exists beats (at timestamptz); insert into beats values (now())";
        let asked = tokio::time::timeout(Duration::from_secs(3), self.execute("postgres", sql)).await;
        matches!(asked, Ok(Ok(_)))
    }

    /// The processes of a member's PostgreSQL, the first of them its parent.
    pub(crate) fn processes(&self, member: usize) -> Vec<u32> {
        let file = self.folder.join(&self.members[member].name).join("postmaster.pid");
        let text = fs::read_to_string(file).unwrap_or_default();
        let Some(parent) = text.lines().next().and_then(|line| line.trim().parse().ok()) else { return Vec::new() };
        std::iter::once(parent).chain(children_of(parent)).collect()
    }

    /// Of these, the ones that send the log to standbys.
    pub(crate) fn senders(&self, member: usize) -> Vec<u32> {
        let title = |pid: &u32| fs::read_to_string(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        self.processes(member).into_iter().filter(|pid| title(pid).contains("walsender")).collect()
    }

    /// Kills a member's Patroni too, as if its machine had died.
    pub(crate) fn kill_patroni(&self, member: usize) {
        if let Ok(pid) = fs::read_to_string(self.folder.join(format!("{}.pid", self.members[member].name))) {
            signal("-KILL", &[pid.trim().parse().unwrap_or_default()]);
        }
    }

    pub(crate) fn restart_patroni(&self, member: usize) -> Result<()> {
        self.spawn_patroni(&self.members[member])
    }

    /// A planned change of the primary.
    pub(crate) async fn switch_over(&self, from: usize) {
        let asked = format!("http://127.0.0.1:{}/switchover", self.members[from].patroni);
        let body = json!({ "leader": self.members[from].name }).to_string();
        // Patroni refuses while it has no candidate; then nothing happens in this round.
        self.http.post(asked).body(body).timeout(Duration::from_secs(30)).send().await.ok();
    }

    /// The role of each member; `down` if it does not run.
    async fn state(&self) -> Option<Vec<String>> {
        for member in &self.members {
            let asked = format!("http://127.0.0.1:{}/cluster", member.patroni);
            let Ok(answer) = self.http.get(asked).timeout(Duration::from_secs(3)).send().await else { continue };
            let told: Value = serde_json::from_str(&answer.text().await.ok()?).ok()?;
            let role = |member: &Member| {
                let mut all = told["members"].as_array().into_iter().flatten();
                let found = all.find(|one| one["name"] == member.name.as_str() && one["state"] == "running");
                found.and_then(|one| one["role"].as_str()).unwrap_or("down").to_owned()
            };
            return Some(self.members.iter().map(role).collect());
        }
        None
    }

    fn spawn_patroni(&self, member: &Member) -> Result<()> {
        self.spawn(&member.name, Path::new("/usr/bin/patroni"), &[&format!("{}.yml", member.name)])
    }

    /// Its process id and its output are in files of that name.
    fn spawn(&self, name: &str, program: &Path, arguments: &[impl AsRef<std::ffi::OsStr>]) -> Result<()> {
        let log = fs::OpenOptions::new().create(true).append(true).open(self.folder.join(format!("{name}.log")))?;
        let mut command = unprivileged(program);
        command.args(arguments).current_dir(&self.folder).env("HOME", &self.folder).stdin(Stdio::null());
        command.stdout(log.try_clone()?).stderr(log);
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        let mut child = command.spawn().with_context(|| format!("cannot start {}", program.display()))?;
        fs::write(self.folder.join(format!("{name}.pid")), child.id().to_string())?;
        // So that what was killed does not stay as a zombie.
        std::thread::spawn(move || child.wait());
        Ok(())
    }

    fn etcd_arguments(&self) -> Vec<String> {
        let (clients, peers) =
            (format!("http://127.0.0.1:{}", self.etcd.0), format!("http://127.0.0.1:{}", self.etcd.1));
        [
            ("--data-dir", "etcd".to_owned()),
            ("--listen-client-urls", clients.clone()),
            ("--advertise-client-urls", clients),
            ("--listen-peer-urls", peers.clone()),
            ("--initial-advertise-peer-urls", peers.clone()),
            ("--initial-cluster", format!("default={peers}")),
        ]
        .into_iter()
        .flat_map(|(name, value)| [name.to_owned(), value])
        .collect()
    }

    fn configure(&self) -> Result<()> {
        let bin = programs()?;
        for member in &self.members {
            let config = self.patroni_config(member, &bin);
            // JSON is YAML.
            fs::write(self.folder.join(format!("{}.yml", member.name)), config.to_string())?;
        }
        let mut haproxy = format!(
            "global\n maxconn 500\ndefaults\n mode tcp\n timeout connect 1s\n timeout client 1h\n timeout server 1h\n\
             listen primary\n bind 127.0.0.1:{}\n option httpchk GET /primary\n http-check expect status 200\n \
             default-server inter 500ms fall 1 rise 1 on-marked-down shutdown-sessions\n",
            self.front()
        );
        for Member { name, postgres, patroni } in &self.members {
            haproxy += &format!(" server {name} 127.0.0.1:{postgres} check port {patroni}\n");
        }
        fs::write(self.folder.join("haproxy.cfg"), haproxy)?;
        for (mode, port) in [("session", self.by_session()), ("transaction", self.by_transaction())] {
            let config = format!(
                "[databases]\nyoi = host=127.0.0.1 port={} dbname=yoi user=postgres\n[pgbouncer]\n\
                 listen_addr = 127.0.0.1\nlisten_port = {port}\nunix_socket_dir =\nauth_type = any\npool_mode = {mode}\n\
                 server_login_retry = 1\nmax_client_conn = 200\ndefault_pool_size = 40\n",
                self.front()
            );
            fs::write(self.folder.join(format!("{mode}.ini")), config)?;
        }
        let is_root = fs::metadata("/proc/self").is_ok_and(|it| std::os::unix::fs::MetadataExt::uid(&it) == 0);
        if is_root && !Command::new("chown").arg("-R").arg("postgres:postgres").arg(&self.folder).status()?.success() {
            bail!("the folder of the cluster cannot be given to the user postgres");
        }
        Ok(())
    }

    fn patroni_config(&self, member: &Member, bin: &Path) -> Value {
        let at = |port: u16| json!({ "listen": format!("127.0.0.1:{port}"), "connect_address": format!("127.0.0.1:{port}") });
        let user = |name: &str| json!({ "username": name, "password": "only-here" });
        let mut config = json!({
            "scope": "yoi", "name": member.name, "restapi": at(member.patroni),
            "etcd3": { "host": format!("127.0.0.1:{}", self.etcd.0) },
            "bootstrap": {
                "dcs": {
                    "ttl": TTL, "loop_wait": 1, "retry_timeout": 2, "maximum_lag_on_failover": 1_048_576,
                    "primary_start_timeout": 0, "synchronous_mode": true, "synchronous_mode_strict": true,
                    "postgresql": { "use_pg_rewind": true, "use_slots": true, "parameters": {
                        "max_connections": 120, "wal_log_hints": "on", "wal_keep_size": "256MB", "shared_buffers": "32MB",
                    } },
                },
                "initdb": ["data-checksums", { "encoding": "UTF8" }, { "locale": "C" }],
            },
            "postgresql": {
                "data_dir": self.folder.join(&member.name), "bin_dir": bin, "pgpass": self.folder.join("pgpass"),
                "authentication": { "superuser": user("postgres"), "replication": user("replicator"), "rewind": user("postgres") },
                "pg_hba": ["local all all trust", "host all all 127.0.0.1/32 trust", "host replication all 127.0.0.1/32 trust"],
                "parameters": { "unix_socket_directories": self.folder },
            },
        });
        let place = at(member.postgres);
        for (name, value) in place.as_object().into_iter().flatten() {
            config["postgresql"][name] = value.clone();
        }
        config
    }

    /// The end of each log, for a trial that fails.
    fn last_words(&self) -> String {
        let names =
            self.members.iter().map(|member| member.name.clone()).chain(["etcd".to_owned(), "haproxy".to_owned()]);
        let end = |name: String| {
            let log = fs::read_to_string(self.folder.join(format!("{name}.log"))).unwrap_or_default();
            let lines: Vec<&str> = log.lines().rev().take(8).collect();
            format!("--- {name}\n{}\n", lines.into_iter().rev().collect::<Vec<_>>().join("\n"))
        };
        names.map(end).collect()
    }
}

/// The address of a database.
pub(crate) fn url(port: u16, database: &str) -> String {
    format!("postgresql://postgres@127.0.0.1:{port}/{database}?sslmode=disable")
}

pub(crate) fn signal(signal: &str, pids: &[u32]) {
    let mut kill = Command::new("kill");
    kill.arg(signal).args(pids.iter().map(u32::to_string)).stderr(Stdio::null());
    // One that has ended by itself needs none.
    kill.status().ok();
}

fn children_of(parent: u32) -> Vec<u32> {
    let pids = fs::read_dir("/proc").into_iter().flatten().flatten();
    let pids = pids.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    pids.filter(|pid| {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        let fields = stat.rsplit_once(')').map(|(_, fields)| fields).unwrap_or_default();
        fields.split_whitespace().nth(1) == Some(&parent.to_string())
    })
    .collect()
}

fn free_port() -> Result<u16> {
    Ok(TcpListener::bind("127.0.0.1:0")?.local_addr()?.port())
}
