//! Groups on the kernel's own tree, in a part of it that each test creates for itself.
//!
//! Only root can create one by itself. Of the kernel's limits for a group, only those that are available here are
//! tested: a controller that is bound to a tree of the older version is not.

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::atomic::{AtomicU32, Ordering},
};

use protocol::{Wall, WallItem, WallState};
use serde_json::json;
use tempfile::TempDir;
use testkit::{until_so, within};
use tokio::sync::mpsc;
use tools::{
    Lifeline, Place, Tool,
    bash::{Bash, Confine, Groups, Limits, walls},
};

use crate::stage::{Stage, builder};

/// A group for one test. This process enters it with the server's side of things, and leaves it at the end.
struct Part {
    folder: PathBuf,
    before: PathBuf,
    tree: TempDir,
}

impl Part {
    /// None if this account may not create one, which is reported.
    fn take() -> Option<Self> {
        static TAKEN: AtomicU32 = AtomicU32::new(0);
        let tree = tempfile::tempdir().unwrap();
        let mounted = Command::new("mount").args(["-t", "cgroup2", "none"]).arg(tree.path()).output().unwrap();
        if !mounted.status.success() {
            println!("no tree of groups can be had here: {}", String::from_utf8_lossy(&mounted.stderr).trim());
            return None;
        }
        let own = fs::read_to_string("/proc/self/cgroup").unwrap();
        let own = own.lines().find_map(|line| line.strip_prefix("0::/")).unwrap();
        let before = tree.path().join(own);
        let name = format!("yoi-test-{}-{}", std::process::id(), TAKEN.fetch_add(1, Ordering::Relaxed));
        let part = Self { folder: tree.path().join(name), before, tree };
        match fs::create_dir(&part.folder) {
            Ok(()) => Some(part),
            Err(error) => {
                println!("no group can be made here: {error}");
                None
            }
        }
    }

    fn names(&self) -> Vec<String> {
        let folders = fs::read_dir(&self.folder).unwrap().flatten().filter(|entry| entry.path().is_dir());
        let mut names = Vec::from_iter(folders.map(|folder| folder.file_name().into_string().unwrap()));
        names.sort();
        names
    }

    /// The only group of a command.
    fn command(&self) -> PathBuf {
        let names = self.names();
        let [command, _server] = &names[..] else { panic!("{names:?}") };
        self.folder.join(command)
    }

    fn offers(&self, controller: &str) -> bool {
        let offered = fs::read_to_string(self.folder.join("cgroup.controllers")).unwrap();
        offered.split_whitespace().any(|name| name == controller)
    }
}

impl Drop for Part {
    fn drop(&mut self) {
        let _ = fs::write(self.before.join("cgroup.procs"), std::process::id().to_string());
        let _ = fs::write(self.folder.join("cgroup.kill"), "1");
        for name in if self.folder.exists() { self.names() } else { Vec::new() } {
            let _ = fs::remove_dir(self.folder.join(name));
        }
        let _ = fs::remove_dir(&self.folder);
        let _ = Command::new("umount").arg(self.tree.path()).status();
    }
}

/// A Pod's folder on a server that has this part.
fn stage(part: &Part) -> Stage {
    let mut stage = Stage::new();
    stage.options.groups = Groups::beneath(&part.folder);
    stage
}

fn wall(groups: &Groups) -> WallItem {
    let walls = walls(Confine::Auto, builder(), groups);
    walls.into_iter().find(|item| item.wall == Wall::Cgroup).unwrap()
}

fn arguments_in(group: &Path) -> Vec<String> {
    let pids = fs::read_to_string(group.join("cgroup.procs")).unwrap_or_default();
    let line = |pid: &str| fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    pids.lines().map(|pid| String::from_utf8_lossy(&line(pid)).replace('\0', " ")).collect()
}

pub(crate) async fn a_command_has_a_group_from_its_beginning_to_its_end() {
    let Some(part) = Part::take() else { return };
    let stage = stage(&part);
    until_so("the first command's is gone", async || part.names() == ["server"]).await;
    let own = fs::read_to_string(part.folder.join("server/cgroup.procs")).unwrap();
    assert_eq!(own.trim(), std::process::id().to_string());
    let command = "setsid sleep 5555.1 & cat /proc/self/cgroup; until [ -e go ]; do sleep 0.02; done";
    let looking = async {
        let has_begun = || part.names().len() == 2 && arguments_in(&part.command()).join("\n").contains("sleep 5555.1");
        until_so("the command has begun", async || has_begun()).await;
        let arguments = arguments_in(&part.command());
        assert!(arguments.iter().any(|line| line.contains("until [ -e go ]")), "{arguments:?}");
        fs::write(stage.path("pod/go"), "").unwrap();
    };
    let (said, ()) = tokio::join!(stage.says(command), looking);
    assert!(said.lines().any(|line| line == "0::/"), "it sees no other group: {said}");
    // The call has ended when nothing of it runs any more; its group is removed a moment later.
    until_so("its group is gone", async || part.names() == ["server"]).await;
}

pub(crate) async fn a_group_ends_with_a_call_that_is_given_up() {
    let Some(part) = Part::take() else { return };
    let stage = stage(&part);
    let (sender, _pieces) = mpsc::channel(8);
    let (lifeline, mut ended) = Lifeline::pair();
    let (bash, place) = (Bash::new(stage.options.clone()), Place { lifeline, ..stage.place() });
    let call = bash.call(&place, json!({ "command": "setsid sleep 5555.2 & sleep 5555.2" }), sender);
    tokio::select! {
        _ = call => panic!("it ended by itself"),
        () = until_so("the command has its group", async || part.names().len() == 2 && !arguments_in(&part.command()).is_empty()) => (),
    }
    drop(place);
    assert_eq!(within("nothing of the call is left", ended.recv()).await, None);
    assert_eq!(part.names(), ["server"]);
}

/// Without a sandbox, only its group holds what a command has started.
pub(crate) async fn what_outlives_its_keeper_is_ended_with_its_group() {
    let Some(part) = Part::take() else { return };
    let mut stage = stage(&part);
    stage.options.confine = Confine::Never;
    stage.options.allow_unconfined = true;
    let killing = async {
        until_so("the command has its group", async || {
            part.names().len() == 2 && arguments_in(&part.command()).join("\n").contains("sleep 5555.3")
        })
        .await;
        let keepers = arguments_of_server(&part);
        let (keeper, _) = keepers.iter().find(|(_, line)| line.contains("__shell")).unwrap();
        assert!(Command::new("kill").args(["-9", keeper]).status().unwrap().success());
    };
    let (done, ()) = tokio::join!(stage.run("setsid sleep 5555.3 & sleep 5555.4"), killing);
    assert_eq!(done.outcome.code.as_deref(), Some("signal"));
    assert_eq!(part.names(), ["server"], "removed, so nothing runs in it");
}

fn arguments_of_server(part: &Part) -> Vec<(String, String)> {
    let pids = fs::read_to_string(part.folder.join("server/cgroup.procs")).unwrap();
    let line = |pid: &str| String::from_utf8_lossy(&fs::read(format!("/proc/{pid}/cmdline")).unwrap()).into_owned();
    pids.lines().map(|pid| (pid.to_owned(), line(pid))).collect()
}

pub(crate) async fn what_a_killed_server_left_behind_is_ended_at_the_next_start() {
    let Some(part) = Part::take() else { return };
    let old = part.folder.join("command-old");
    fs::create_dir(&old).unwrap();
    let mut left: Child = Command::new("sleep").arg("5555.5").stdin(Stdio::null()).spawn().unwrap();
    fs::write(old.join("cgroup.procs"), left.id().to_string()).unwrap();
    let groups = Groups::beneath(&part.folder);
    assert!(!left.wait().unwrap().success());
    assert_eq!(part.names(), ["server"]);
    assert_ne!(wall(&groups).state, WallState::Off);
}

pub(crate) async fn a_command_takes_no_more_than_its_group_may() {
    let Some(part) = Part::take() else { return };
    let mut stage = stage(&part);
    let WallItem { state, detail, .. } = wall(&stage.options.groups);
    let detail = detail.unwrap();
    let offered = ["pids", "memory", "cpu"].map(|controller| part.offers(controller));
    assert_eq!(state, if offered == [true; 3] { WallState::On } else { WallState::Partly }, "{detail}");
    for (controller, is_offered) in ["pids", "memory", "cpu"].into_iter().zip(offered) {
        let is_told = detail.contains(&format!("{controller} is not offered there"));
        assert_eq!(is_told, !is_offered, "{detail}");
        if !is_offered {
            println!("{controller} is not offered to groups here: its limit is not tried");
        }
    }
    // Without a sandbox, nothing else counts the processes of a command.
    stage.options.confine = Confine::Never;
    stage.options.allow_unconfined = true;
    stage.options.limits = Limits { processes: 40, memory_bytes: Some(100 << 20), ..Limits::default() };
    if offered[0] {
        let command = "for i in $(seq 100); do sleep 5555.6 & done; echo begun";
        let done = stage.run(command).await;
        assert!(done.content().contains("Resource temporarily unavailable"), "{}", done.content());
    }
    if offered[1] {
        let taking = "b = bytearray(40 << 20)\nfor i in range(0, len(b), 4096): b[i] = 1\nimport time; time.sleep(600)";
        let command = format!("for i in 1 2 3; do python3 -c '{taking}' & done; wait -n; echo ended with $?");
        let said = stage.says(&command).await;
        assert!(said.contains("ended with 137"), "each takes less than it may, all of them more: {said}");
    }
    if offered[2] {
        let looking = async {
            until_so("the command has its group", async || {
                part.names().len() == 2 && !arguments_in(&part.command()).is_empty()
            })
            .await;
            let weight = fs::read_to_string(part.command().join("cpu.weight")).unwrap();
            fs::write(stage.path("pod/go"), "").unwrap();
            weight
        };
        let (_, weight) = tokio::join!(stage.says("until [ -e go ]; do sleep 0.02; done"), looking);
        assert_eq!(weight, "20\n");
    }
}

pub(crate) async fn what_is_no_group_is_not_taken_for_one() {
    let folder = tempfile::tempdir().unwrap();
    for groups in [Groups::beneath(folder.path()), Groups::beneath(Path::new("/no/such/group"))] {
        let WallItem { state, detail, .. } = wall(&groups);
        let detail = detail.unwrap();
        assert_eq!(state, WallState::Off, "{detail}");
        assert!(
            detail.contains("could not be divided") && detail.contains("limits per process apply instead"),
            "{detail}"
        );
    }
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0, "nothing is left there");
    let mut stage = Stage::new();
    stage.options.groups = Groups::beneath(folder.path());
    assert_eq!(stage.says("echo runs all the same").await, "runs all the same\n");
}
