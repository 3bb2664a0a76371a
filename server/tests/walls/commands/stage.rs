//! The stage of the attacks: a yoi of some account, a Pod with a folder, and beside it what must not be reached.

use std::{
    collections::BTreeSet,
    fs,
    io::Write,
    os::{
        linux::net::SocketAddrExt,
        unix::{
            fs::PermissionsExt,
            net::{SocketAddr, UnixListener},
            process::CommandExt,
        },
    },
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::atomic::{AtomicU32, Ordering},
};

use serde_json::{Value, json};
use tempfile::TempDir;
use testkit::yoi::{Launch, YoiProcess, pod_path};

use super::Attack;
use crate::YOI;

/// The account of the processes when the tests run as root but the attacks do not.
const ORDINARY: u32 = 65_534;
const SECRET: &str = "text-of-secret";
/// Limits for the commands of these tests, so that bombs stay small.
const CONFIG: &str = "processes = 301\nmemory_mb = 512\nfile_mb = 64\n";

/// The programs that the attacks use: without one of them, they would fail for the wrong reason.
const TOOLS: [&str; 14] = [
    "perl", "prlimit", "renice", "taskset", "ionice", "chrt", "unshare", "nsenter", "mount", "ipcs", "script",
    "setpriv", "timeout", "findmnt",
];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Account {
    Root,
    Ordinary,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Builder {
    Own,
    Bubblewrap,
}

pub(super) struct Stage {
    yoi: YoiProcess,
    pod: Value,
    root: TempDir,
    account: Account,
    builder: Builder,
    config: PathBuf,
    number: u32,
    victim: Victim,
    /// It leads a process group of its own.
    other: Victim,
    planted: Planted,
}

/// A process of the same account.
struct Victim(Child);

impl Drop for Victim {
    fn drop(&mut self) {
        self.0.kill().ok();
        self.0.wait().ok();
    }
}

/// Things outside whose names are not in the stage's folder.
struct Planted {
    paths: Vec<PathBuf>,
    key: i32,
}

impl Drop for Planted {
    fn drop(&mut self) {
        for path in &self.paths {
            fs::remove_file(path).ok();
        }
        let key = self.key.to_string();
        Command::new("ipcrm").args(["-M", &key, "-S", &key, "-Q", &key]).stderr(Stdio::null()).status().ok();
    }
}

impl Stage {
    /// None if this machine cannot run it; that is reported.
    pub(super) async fn set(account: Account, builder: Builder) -> Option<Self> {
        let is_root = rustix::process::geteuid().is_root();
        if account == Account::Root && !is_root {
            println!("the tests do not run as root: the half as root is not tried");
            return None;
        }
        if builder == Builder::Bubblewrap && !is_there("bwrap") {
            println!("bubblewrap is not installed: its half is not tried");
            return None;
        }
        for tool in TOOLS {
            assert!(is_there(tool), "these attacks need `{tool}` (Debian: util-linux, coreutils, perl)");
        }
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = 700_000 + std::process::id() % 10_000 * 10 + NUMBER.fetch_add(1, Ordering::Relaxed);
        // Not in /tmp, so that the sandbox has a private one.
        let root = tempfile::Builder::new().prefix("yoi-walls-").tempdir_in("/var/tmp").unwrap();
        lay_out(root.path());
        let as_other = (account == Account::Ordinary && is_root).then_some(ORDINARY);
        let config = root.path().join("config.toml");
        let bubblewrap = builder == Builder::Bubblewrap;
        fs::write(&config, format!("[commands]\nbubblewrap = {bubblewrap}\n{CONFIG}")).unwrap();
        let planted = plant(root.path(), number, as_other);
        let launch = Launch::new(&program(root.path(), as_other))
            .data(&root.path().join("data"))
            .env("HOME", root.path().join("home").to_str().unwrap())
            .env("XDG_CONFIG_HOME", root.path().join("home").to_str().unwrap())
            .arg("--config")
            .arg(config.to_str().unwrap())
            .arg("--socket")
            .arg(root.path().join("data/yoi.sock").to_str().unwrap());
        if let Some(uid) = as_other {
            let folders = launch.work_dir().parent().unwrap().to_owned();
            own(&[root.path(), &folders], uid);
        }
        let victim = Victim(as_account(as_other, "sleep").arg(format!("{number}00")).spawn().unwrap());
        let other = Victim(as_account(as_other, "sleep").arg(format!("{number}01")).process_group(0).spawn().unwrap());
        let yoi = launch.start().await;
        let path = |name: &str| root.path().join(name);
        let scope = json!([
            { "path": path("pod"), "access": "write" },
            { "path": path("pod/secret"), "access": "deny" },
            { "path": path("pod/deep/secret"), "access": "deny" },
            { "path": path("pod/src/.env"), "access": "deny" },
        ]);
        let body = json!({ "name": "attacker", "provider": "rehearsal", "cwd": path("pod"), "scope": scope });
        let pod = yoi.post("/api/v1/pods", &body).await.expect(201);
        let stage = Self { yoi, pod, root, account, builder, config, number, victim, other, planted };
        stage.is_as_asked().await;
        Some(stage)
    }

    pub(super) fn wall(&self) -> &'static str {
        match (self.account, self.builder) {
            (Account::Root, Builder::Own) => "commands of root",
            (Account::Root, Builder::Bubblewrap) => "commands of root, by bubblewrap",
            (Account::Ordinary, Builder::Own) => "commands of an ordinary account",
            (Account::Ordinary, Builder::Bubblewrap) => "commands of an ordinary account, by bubblewrap",
        }
    }

    pub(super) fn number(&self) -> u32 {
        self.number
    }

    /// Asserts that the wall under attack is the intended one.
    async fn is_as_asked(&self) {
        let said = self.bash("id -u; cat /proc/1/comm; echo written > work/own && cat work/own src/b").await;
        let content = said["content"].as_str().unwrap_or_default();
        let uid = if self.account == Account::Root { 0 } else { uid_of_ordinary() };
        assert!(content.starts_with(&format!("{uid}\n")) && content.ends_with("written\ntext of b\n"), "{said}");
        assert!(!said["summary"].as_str().unwrap().starts_with("not confined"), "{said}");
    }

    /// One call of Bash, made as a person would.
    pub(super) async fn bash(&self, command: &str) -> Value {
        let body = json!({ "arguments": { "command": numbered(command), "timeout_s": 300 } });
        self.yoi.post(&format!("{}/tools/Bash", pod_path(&self.pod)), &body).await.expect(200)
    }

    /// Runs all of them in one call; returns what each has reached.
    pub(super) async fn try_all(&self, folder: &str, attacks: &[Attack]) -> Vec<(&'static str, Option<String>)> {
        let said = self.bash(&self.script(folder, attacks)).await;
        let content = said["content"].as_str().unwrap_or_default();
        let of =
            |number: usize| content.lines().find_map(|line| line.strip_prefix(&format!("#{number}#"))).map(str::trim);
        let found = attacks.iter().enumerate().map(|(number, (name, _))| {
            let reached = of(number).unwrap_or_else(|| panic!("\"{name}\" was not tried: {said:#}"));
            (*name, (!reached.is_empty()).then(|| reached.to_owned()))
        });
        found.collect()
    }

    fn script(&self, folder: &str, attacks: &[Attack]) -> String {
        let path = |name: &str| self.root.path().join(name).display().to_string();
        let names = [
            ("S", self.yoi.pid().unwrap().to_string()),
            ("V", self.victim.0.id().to_string()),
            ("W", self.other.0.id().to_string()),
            ("N", self.number.to_string()),
            ("POD", path("pod")),
            ("OUT", path("outside")),
            ("DATA", path("data")),
            ("CONFIG", self.config.display().to_string()),
            ("MARK", format!("yoi-walls-{}", self.number)),
            ("KEY", self.planted.key.to_string()),
        ];
        let mut script = format!("cd {folder}\n");
        for (name, value) in names {
            script += &format!("export {name}='{value}'\n");
        }
        for (number, (_, command)) in attacks.iter().enumerate() {
            let quoted = command.replace('\'', "'\\''");
            script += &format!(
                "printf '\\n#{number}#%s\\n' \"$(timeout -s KILL 20 bash -c '{quoted}' 2>/dev/null | head -c 120 | tr '\\0\\n' '  ')\"\n"
            );
        }
        script
    }

    /// Asserts that nothing outside was changed, whatever the attacks themselves have seen.
    pub(super) async fn check_what_is_outside(&self) {
        let outside = self.root.path().join("outside");
        assert_eq!(fs::read_to_string(outside.join("e")).unwrap(), "text of e\n");
        assert_eq!(fs::metadata(outside.join("e")).unwrap().permissions().mode() & 0o7777, 0o644);
        let secret = self.root.path().join("pod/secret");
        assert_eq!(fs::read_to_string(secret.join("d")).unwrap(), SECRET);
        assert_eq!(fs::read_dir(secret).unwrap().count(), 2, "something was made in the denied folder");
        let status = fs::read_to_string(format!("/proc/{}/status", self.victim.0.id())).unwrap();
        assert!(status.contains("State:\tS"), "the other process was stopped or ended: {status}");
        let limits = fs::read_to_string(format!("/proc/{}/limits", self.victim.0.id())).unwrap();
        assert!(!limits.contains(" 99 "), "{limits}");
        self.yoi.get("/readyz").await.expect(200);
    }
}

fn is_there(tool: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder| folder.join(tool).is_file())
}

fn uid_of_ordinary() -> u32 {
    let own = rustix::process::geteuid();
    if own.is_root() { ORDINARY } else { own.as_raw() }
}

/// The folders: `pod` with a denied part, and what is beside it.
fn lay_out(root: &Path) {
    fs::set_permissions(root, fs::Permissions::from_mode(0o755)).unwrap();
    for folder in ["pod/src", "pod/work", "pod/secret", "pod/deep/secret", "outside", "home"] {
        fs::create_dir_all(root.join(folder)).unwrap();
    }
    let files = [
        ("pod/src/b", "text of b\n"),
        ("pod/src/.env", SECRET),
        ("pod/secret/d", SECRET),
        ("pod/deep/secret/d", SECRET),
        ("outside/e", "text of e\n"),
    ];
    for (file, text) in files {
        fs::write(root.join(file), text).unwrap();
    }
}

/// Files, sockets and memory that every process of the account could reach if there were no wall.
fn plant(root: &Path, number: u32, uid: Option<u32>) -> Planted {
    let mark = format!("yoi-walls-{number}");
    let files = [format!("/tmp/{mark}"), format!("/dev/shm/{mark}")];
    for file in &files {
        fs::write(file, "planted\n").unwrap();
    }
    let sockets = ["/tmp", "/dev/shm", "/run"].map(|folder| format!("{folder}/{mark}.sock"));
    let inside = ["outside/sock", "pod/secret/sock"].map(|name| root.join(name).display().to_string());
    let mut paths = files.iter().chain(&sockets).map(PathBuf::from).collect::<Vec<_>>();
    for path in sockets.iter().chain(&inside) {
        // Only root may write to /run.
        if let Ok(listener) = UnixListener::bind(path) {
            fs::set_permissions(path, fs::Permissions::from_mode(0o777)).unwrap();
            greet(listener);
        }
    }
    let name = SocketAddr::from_abstract_name(&mark).unwrap();
    greet(UnixListener::bind_addr(&name).unwrap());
    let key = i32::try_from(number).unwrap();
    // As a program would that shares memory with others of its kind.
    let script = format!(
        "print shmget({key}, 64, 01777), semget({key}, 1, 01777), msgget({key}, 01777), syscall({}, \"{mark}$z\", 0102, 0777, 0)",
        libc::SYS_mq_open
    );
    let made = as_account(uid, "perl").args(["-e", &script]).output().unwrap();
    assert!(made.status.success(), "{made:?}");
    paths.push(PathBuf::from(format!("/dev/mqueue/{mark}")));
    Planted { paths, key }
}

/// Greets everybody who connects. The thread ends with the test.
fn greet(listener: UnixListener) {
    std::thread::spawn(move || {
        for mut stream in listener.incoming().map_while(Result::ok) {
            stream.write_all(b"welcome\n").ok();
        }
    });
}

/// The yoi under test, started under another account if requested.
fn program(root: &Path, uid: Option<u32>) -> String {
    let Some(uid) = uid else { return YOI.to_owned() };
    let script = root.join("as-other");
    // If the other account cannot reach the binary, it gets a copy.
    let is_near = as_account(Some(uid), "test").args(["-x", YOI]).status().unwrap().success();
    let binary = if is_near { PathBuf::from(YOI) } else { root.join("yoi") };
    if !is_near {
        fs::copy(YOI, &binary).unwrap();
    }
    let text =
        format!("#!/bin/sh\nexec setpriv --reuid={uid} --regid={uid} --clear-groups '{}' \"$@\"\n", binary.display());
    fs::write(&script, text).unwrap();
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).unwrap();
    script.to_str().unwrap().to_owned()
}

fn as_account(uid: Option<u32>, program: &str) -> Command {
    let Some(uid) = uid else { return Command::new(program) };
    let mut command = Command::new("setpriv");
    command.args([&format!("--reuid={uid}"), &format!("--regid={uid}"), "--clear-groups", program]);
    command
}

fn own(folders: &[&Path], uid: u32) {
    let status = Command::new("chown").arg("-R").arg(format!("{uid}:{uid}")).args(folders).status().unwrap();
    assert!(status.success(), "the folders could not be given to another account");
}

/// The arguments of every running process.
pub(super) fn arguments_of_all() -> BTreeSet<String> {
    let entries = fs::read_dir("/proc").unwrap().flatten();
    let lines = entries.filter_map(|entry| fs::read(entry.path().join("cmdline")).ok());
    lines
        .flat_map(|line| {
            line.split(|byte| *byte == 0).map(|word| String::from_utf8_lossy(word).into_owned()).collect::<Vec<_>>()
        })
        .collect()
}

/// `@NAME@` is the number of that system call on this machine.
fn numbered(command: &str) -> String {
    CALLS
        .iter()
        .fold(command.to_owned(), |command, (name, number)| command.replace(&format!("@{name}@"), &number.to_string()))
}

macro_rules! calls {
    ($($name:ident => $number:ident)*) => {
        const CALLS: &[(&str, libc::c_long)] = &[$((stringify!($name), libc::$number)),*];
    };
}

calls! {
    acct => SYS_acct
    add_key => SYS_add_key
    bpf => SYS_bpf
    capset => SYS_capset
    clock_settime => SYS_clock_settime
    clone => SYS_clone
    delete_module => SYS_delete_module
    fanotify_init => SYS_fanotify_init
    finit_module => SYS_finit_module
    getsid => SYS_getsid
    init_module => SYS_init_module
    kcmp => SYS_kcmp
    kexec_load => SYS_kexec_load
    keyctl => SYS_keyctl
    migrate_pages => SYS_migrate_pages
    mkdirat => SYS_mkdirat
    mknodat => SYS_mknodat
    mq_open => SYS_mq_open
    name_to_handle_at => SYS_name_to_handle_at
    open_by_handle_at => SYS_open_by_handle_at
    perf_event_open => SYS_perf_event_open
    personality => SYS_personality
    pidfd_getfd => SYS_pidfd_getfd
    pidfd_open => SYS_pidfd_open
    prctl => SYS_prctl
    process_madvise => SYS_process_madvise
    process_vm_readv => SYS_process_vm_readv
    ptrace => SYS_ptrace
    quotactl => SYS_quotactl
    reboot => SYS_reboot
    renameat2 => SYS_renameat2
    request_key => SYS_request_key
    pidfd_send_signal => SYS_pidfd_send_signal
    setdomainname => SYS_setdomainname
    setgroups => SYS_setgroups
    setns => SYS_setns
    setuid => SYS_setuid
    setxattr => SYS_setxattr
    socket => SYS_socket
    socketpair => SYS_socketpair
    swapoff => SYS_swapoff
    syslog => SYS_syslog
    tgkill => SYS_tgkill
    userfaultfd => SYS_userfaultfd
}
