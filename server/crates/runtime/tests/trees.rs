//! Work trees of several Pods on one repository, with real git in its real sandbox. This binary is its own helper.

#![allow(clippy::unwrap_used)]

mod stage;

use std::{
    env, fs,
    panic::{AssertUnwindSafe, catch_unwind},
    path::{Path, PathBuf},
    process::ExitCode,
};

use protocol::{
    ApiError, CommitAnswer, CommitCommand, CreatePod, ErrorCode, PodSummary, Since, WorkerId, WorktreeAnswer,
    WorktreeCommand, WorktreeDone, WorktreeOptions, WorktreeWish,
};
use runtime::CommandKey;
use stage::{Stage, key, named, origin};

/// How often what goes on at once is tried.
const ROUNDS: usize = 4;

type Test = fn(&tokio::runtime::Runtime);

macro_rules! tests {
    ($($name:ident)*) => {
        const TESTS: &[(&str, Test)] = &[$((stringify!($name), |runtime| runtime.block_on($name()))),*];
    };
}

tests! {
    of_several_pods_that_want_one_branch_one_gets_it_and_the_others_harm_nobody
    of_several_pods_of_one_name_one_is_made_on_the_branch_of_its_name
    merges_at_once_happen_one_after_the_other_and_leave_the_other_folder_clean
    a_merge_that_was_solved_in_the_work_tree_is_committed_as_one
    a_branch_that_is_checked_out_elsewhere_stays_when_its_work_tree_is_removed
    a_merge_goes_into_a_branch_whose_folder_is_gone
    a_merge_names_what_is_checked_out
}

fn main() -> ExitCode {
    if let Some(code) = tools::bash::helper_main(env::args_os().skip(1)) {
        return code;
    }
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let wanted = env::args().skip(1).find(|word| !word.starts_with('-'));
    let (mut passed, mut failed) = (0, 0);
    for (name, test) in TESTS {
        if wanted.as_ref().is_some_and(|wanted| !name.contains(wanted.as_str())) {
            continue;
        }
        let is_ok = catch_unwind(AssertUnwindSafe(|| test(&runtime))).is_ok();
        println!("test {name} ... {}", if is_ok { "ok" } else { "FAILED" });
        passed += u32::from(is_ok);
        failed += u32::from(!is_ok);
    }
    let result = if failed == 0 { "ok" } else { "FAILED" };
    println!("test result: {result}. {passed} passed; {failed} failed; 0 ignored; 0 measured; 0 filtered out");
    ExitCode::from(u8::from(failed > 0))
}

/// A repository with one commit on `main`, and a host.
struct Orchard {
    stage: Stage,
    repository: PathBuf,
}

impl Orchard {
    async fn plant() -> Self {
        let stage = Stage::new().await;
        let repository = stage.folder.path().canonicalize().unwrap().join("orchard");
        fs::create_dir(&repository).unwrap();
        git(&repository, &["init", "-q", "-b", "main"]);
        fs::write(repository.join("a"), "1\n").unwrap();
        git(&repository, &["add", "."]);
        git(&repository, &["commit", "-qm", "begin"]);
        Self { stage, repository }
    }

    async fn make(&self, name: &str, branch: Option<&str>) -> Result<PodSummary, ApiError> {
        let options = WorktreeOptions { branch: branch.map(str::to_owned), from: None };
        let create = CreatePod {
            cwd: Some(self.repository.to_str().unwrap().to_owned()),
            worktree: Some(WorktreeWish::Of(options)),
            ..named(name)
        };
        self.stage.host.pods().create(fresh(), &origin(), create).await
    }

    /// A Pod that has committed a file on its branch.
    async fn with_commit(&self, name: &str) -> WorkerId {
        let pod = self.make(name, None).await.unwrap();
        fs::write(Path::new(&pod.cwd).join(name), name).unwrap();
        git(Path::new(&pod.cwd), &["add", "."]);
        git(Path::new(&pod.cwd), &["commit", "-qm", name]);
        pod.pod.worker_id
    }

    async fn worktree(&self, pod: &WorkerId, command: WorktreeCommand) -> Result<WorktreeAnswer, ApiError> {
        self.stage.host.work().change_worktree(fresh(), &origin(), pod, command).await
    }

    async fn commit(&self, pod: &WorkerId, key: CommandKey, paths: Option<&str>) -> Result<CommitAnswer, ApiError> {
        let paths = paths.map(|path| vec![path.to_owned()]);
        let command = CommitCommand { message: "solve it".to_owned(), paths };
        self.stage.host.work().commit_changes(key, &origin(), pod, command).await
    }

    /// The folders of all work trees besides the first one, and the branches.
    fn trees_and_branches(&self) -> (Vec<String>, Vec<String>) {
        let lines = |words: &[&str]| git(&self.repository, words).lines().map(str::to_owned).collect::<Vec<_>>();
        let trees = lines(&["worktree", "list", "--porcelain"]);
        let trees = trees.iter().filter_map(|line| line.strip_prefix("worktree "));
        let trees = trees.skip(1).map(|tree| Path::new(tree).file_name().unwrap().to_str().unwrap().to_owned());
        (trees.collect(), lines(&["branch", "--format=%(refname:short)"]))
    }
}

fn fresh() -> CommandKey {
    key(&uuid::Uuid::now_v7().to_string())
}

/// Git as a person uses it.
fn git(folder: &Path, words: &[&str]) -> String {
    let names = ["-c", "user.name=Ada", "-c", "user.email=ada@example.com"];
    let done = std::process::Command::new("git").current_dir(folder).args(names).args(words).output().unwrap();
    assert!(done.status.success(), "git {words:?}: {}", String::from_utf8_lossy(&done.stderr));
    String::from_utf8(done.stdout).unwrap()
}

fn words(all: &[&str]) -> Vec<String> {
    all.iter().map(|&word| word.to_owned()).collect()
}

async fn of_several_pods_that_want_one_branch_one_gets_it_and_the_others_harm_nobody() {
    for _ in 0..ROUNDS {
        let orchard = Orchard::plant().await;
        let make = async |name| orchard.make(name, Some("same")).await;
        let (one, two, three) = tokio::join!(make("one"), make("two"), make("three"));
        let (made, refused): (Vec<_>, Vec<_>) = [one, two, three].into_iter().partition(Result::is_ok);
        let codes: Vec<_> = refused.into_iter().map(|refused| refused.unwrap_err().code).collect();
        assert_eq!((made.len(), codes), (1, vec![ErrorCode::NameTaken; 2]));
        let cwd = made.into_iter().next().unwrap().unwrap().cwd;
        assert_eq!(fs::read_to_string(Path::new(&cwd).join("a")).unwrap(), "1\n");
        assert_eq!(orchard.trees_and_branches(), (words(&["same"]), words(&["main", "same"])));
        assert_eq!(git(Path::new(&cwd), &["status", "--porcelain", "--branch"]).trim(), "## same");
    }
}

async fn of_several_pods_of_one_name_one_is_made_on_the_branch_of_its_name() {
    for _ in 0..ROUNDS {
        let orchard = Orchard::plant().await;
        let make = async || orchard.make("ada", None).await;
        let (one, two, three) = tokio::join!(make(), make(), make());
        assert_eq!([&one, &two, &three].iter().filter(|made| made.is_ok()).count(), 1, "{one:?} {two:?} {three:?}");
        assert_eq!(orchard.trees_and_branches(), (words(&["ada"]), words(&["ada", "main"])));
    }
    // A branch that is there without its folder, and a folder without its branch, are somebody's.
    let orchard = Orchard::plant().await;
    git(&orchard.repository, &["branch", "ada"]);
    fs::create_dir_all(orchard.repository.with_file_name("orchard.worktrees").join("ada-2")).unwrap();
    let pod = orchard.make("ada", None).await.unwrap();
    assert!(pod.cwd.ends_with("/ada-3"), "{}", pod.cwd);
    assert_eq!(orchard.make("eve", Some("ada")).await.unwrap_err().code, ErrorCode::NameTaken);
    assert_eq!(orchard.trees_and_branches(), (words(&["ada-3"]), words(&["ada", "ada-3", "main"])));
}

async fn merges_at_once_happen_one_after_the_other_and_leave_the_other_folder_clean() {
    for _ in 0..ROUNDS {
        let orchard = Orchard::plant().await;
        let pods = [orchard.with_commit("m1").await, orchard.with_commit("m2").await, orchard.with_commit("m3").await];
        let merge = async |pod| orchard.worktree(pod, WorktreeCommand::merge()).await.map(|answer| answer.done);
        let (one, two, three) = tokio::join!(merge(&pods[0]), merge(&pods[1]), merge(&pods[2]));
        let mut done = [one.unwrap(), two.unwrap(), three.unwrap()].map(|done| done == WorktreeDone::FastForward);
        done.sort_unstable();
        assert_eq!(done, [false, false, true], "the first one found nothing new");
        assert_eq!(git(&orchard.repository, &["status", "--porcelain"]), "");
        assert_eq!(git(&orchard.repository, &["ls-files"]).lines().collect::<Vec<_>>(), ["a", "m1", "m2", "m3"]);
        // And removing them at once.
        let discard =
            async |pod| orchard.worktree(pod, WorktreeCommand::discard(false)).await.map(|answer| answer.done);
        let (one, two, three) = tokio::join!(discard(&pods[0]), discard(&pods[1]), discard(&pods[2]));
        assert_eq!([one.unwrap(), two.unwrap(), three.unwrap()], [WorktreeDone::Discarded; 3]);
        assert_eq!(orchard.trees_and_branches(), (Vec::new(), words(&["main"])));
        for since in [Since::Start, Since::Branch] {
            let left = orchard.stage.host.work().changes(&pods[0], since).await.unwrap();
            assert!(left.files.is_empty() && left.notes[0].contains("is gone"), "{left:?}");
        }
    }
}

async fn a_merge_that_was_solved_in_the_work_tree_is_committed_as_one() {
    let orchard = Orchard::plant().await;
    let pod = orchard.make("ada", None).await.unwrap();
    let (tree, pod) = (PathBuf::from(pod.cwd), pod.pod.worker_id);
    for (folder, text) in [(&orchard.repository, "theirs\n"), (&tree, "own\n")] {
        fs::write(folder.join("a"), text).unwrap();
        git(folder, &["commit", "-qam", text.trim()]);
    }
    fs::write(orchard.repository.join("b"), "theirs\n").unwrap();
    git(&orchard.repository, &["add", "."]);
    git(&orchard.repository, &["commit", "-qm", "b"]);
    let refused = orchard.worktree(&pod, WorktreeCommand::merge()).await.unwrap_err();
    assert_eq!(refused.code, ErrorCode::MergeConflict);
    let merging = std::process::Command::new("git")
        .current_dir(&tree)
        .args(["-c", "user.name=Ada", "-c", "user.email=ada@example.com", "merge", "-q", "main"])
        .output()
        .unwrap();
    assert!(!merging.status.success());

    let refused = orchard.commit(&pod, fresh(), None).await.unwrap_err();
    assert_eq!((refused.code, refused.paths), (ErrorCode::MergeConflict, words(&["a"])));
    fs::write(tree.join("a"), "both\n").unwrap();
    git(&tree, &["add", "a"]);
    assert_eq!(orchard.commit(&pod, fresh(), Some("a")).await.unwrap_err().code, ErrorCode::InvalidInput);
    let done = orchard.commit(&pod, fresh(), None).await.unwrap();
    assert_eq!(done.files, ["a", "b"]);
    assert_eq!(git(&tree, &["log", "-1", "--format=%s %H"]).trim(), format!("solve it {}", done.commit));
    assert_eq!(
        git(&tree, &["rev-list", "--parents", "-1", "HEAD"]).split_whitespace().count(),
        3,
        "it has two parents"
    );
    assert_eq!(git(&tree, &["status", "--porcelain"]), "");
    let merged = orchard.worktree(&pod, WorktreeCommand::merge()).await.unwrap();
    assert_eq!(merged.done, WorktreeDone::FastForward);
    assert_eq!(fs::read_to_string(orchard.repository.join("a")).unwrap(), "both\n");
}

async fn a_branch_that_is_checked_out_elsewhere_stays_when_its_work_tree_is_removed() {
    let orchard = Orchard::plant().await;
    let pod = orchard.make("ada", None).await.unwrap();
    let tree = Path::new(&pod.cwd);
    git(tree, &["switch", "-qc", "other"]);
    git(&orchard.repository, &["switch", "-q", "ada"]);
    // On no other branch, and not lost.
    git(&orchard.repository, &["commit", "-q", "--allow-empty", "-m", "theirs"]);
    let done = orchard.worktree(&pod.pod.worker_id, WorktreeCommand::discard(false)).await.unwrap();
    assert_eq!((done.done, done.kept_in.as_deref()), (WorktreeDone::Discarded, orchard.repository.to_str()));
    assert!(done.words().contains("its branch ada stays"), "{}", done.words());
    assert_eq!(orchard.trees_and_branches(), (Vec::new(), words(&["ada", "main", "other"])));
    assert_eq!(git(&orchard.repository, &["status", "--porcelain", "--branch"]).trim(), "## ada");

    // What only the Pod has committed would be lost as before.
    let bob = orchard.make("bob", None).await.unwrap();
    git(Path::new(&bob.cwd), &["switch", "-q", "--detach"]);
    git(Path::new(&bob.cwd), &["commit", "-q", "--allow-empty", "-m", "own"]);
    git(&orchard.repository, &["switch", "-q", "bob"]);
    let bob = bob.pod.worker_id;
    let refused = orchard.worktree(&bob, WorktreeCommand::discard(false)).await.unwrap_err();
    assert_eq!(refused.code, ErrorCode::NotMerged);
    let done = orchard.worktree(&bob, WorktreeCommand::discard(true)).await.unwrap();
    assert_eq!(done.kept_in.as_deref(), orchard.repository.to_str());
}

async fn a_merge_goes_into_a_branch_whose_folder_is_gone() {
    let orchard = Orchard::plant().await;
    let pod = orchard.with_commit("ada").await;
    for (branch, is_locked) in [("gone", false), ("locked", true)] {
        let folder = orchard.repository.with_file_name(branch);
        git(&orchard.repository, &["worktree", "add", "-q", folder.to_str().unwrap(), "-b", branch]);
        if is_locked {
            git(&orchard.repository, &["worktree", "lock", "--reason", "on a disk", folder.to_str().unwrap()]);
        }
        fs::remove_dir_all(&folder).unwrap();
        let into = WorktreeCommand { into: Some(branch.to_owned()), ..WorktreeCommand::merge() };
        let merged = orchard.worktree(&pod, into).await;
        if is_locked {
            let refused = merged.unwrap_err();
            assert!(refused.detail.contains("which is locked and not there"), "{refused:?}");
        } else {
            assert_eq!(merged.unwrap().done, WorktreeDone::FastForward);
        }
        let files = git(&orchard.repository, &["ls-tree", "--name-only", branch]);
        assert_eq!(files.lines().any(|file| file == "ada"), !is_locked);
    }
}

async fn a_merge_names_what_is_checked_out() {
    let orchard = Orchard::plant().await;
    let pod = orchard.make("ada", None).await.unwrap();
    let (tree, pod) = (PathBuf::from(pod.cwd), pod.pod.worker_id);
    let diverge = |round: &str| {
        for (folder, whose) in [(&orchard.repository, "theirs"), (&tree, "own")] {
            git(folder, &["commit", "-q", "--allow-empty", "-m", &format!("{round}, {whose}")]);
        }
    };
    git(&tree, &["switch", "-qc", "other"]);
    diverge("one");
    let merged = orchard.worktree(&pod, WorktreeCommand::merge()).await.unwrap();
    assert_eq!((merged.done, merged.branch.as_str()), (WorktreeDone::Merged, "other"));
    let subject = || git(&orchard.repository, &["log", "-1", "--format=%s"]).trim().to_owned();
    assert_eq!(subject(), "Merge branch 'other' into main");

    git(&tree, &["switch", "-q", "--detach"]);
    diverge("two");
    let head = git(&tree, &["rev-parse", "HEAD"])[..8].to_owned();
    let merged = orchard.worktree(&pod, WorktreeCommand::merge()).await.unwrap();
    assert_eq!((merged.done, merged.branch), (WorktreeDone::Merged, head.clone()));
    assert_eq!(subject(), format!("Merge commit '{head}' into main"));
}
