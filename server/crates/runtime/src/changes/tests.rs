use std::{fs, os::unix::fs::PermissionsExt, sync::Arc};

use protocol::{Access, RevertCommand, ScopeRule, Seq, WorkerId};
use tools::bash::Background;

use super::*;

/// A Pod's folder with its snapshots.
struct World {
    kept: tempfile::TempDir,
    folders: Folders,
    shelf: Arc<Shelf>,
    head: i64,
}

impl World {
    fn new(files: &[(&str, &str)]) -> Self {
        let kept = tempfile::tempdir().unwrap();
        let at = kept.path().canonicalize().unwrap();
        fs::create_dir(at.join("work")).unwrap();
        let cwd = at.join("work").to_str().unwrap().to_owned();
        let rule = ScopeRule { path: cwd.clone(), access: Access::Write, recursive: true };
        let folders = Folders { cwd, scope: Scope::new([rule], []), snapshots: at.join("snapshots"), also: Vec::new() };
        let mut world = Self { kept, folders, shelf: Arc::new(shelf()), head: 0 };
        files.iter().for_each(|(path, text)| world.put(path, text));
        world.head = 1;
        world
    }

    fn at(&self, path: &str) -> PathBuf {
        Path::new(&self.folders.cwd).join(path)
    }

    fn put(&self, path: &str, text: &str) {
        fs::create_dir_all(self.at(path).parent().unwrap()).unwrap();
        fs::write(self.at(path), text).unwrap();
    }

    fn read(&self, path: &str) -> String {
        fs::read_to_string(self.at(path)).unwrap()
    }

    /// A call of the Pod that does this.
    async fn call(&mut self, does: impl FnOnce(&Self)) {
        let mut step = Step::new(self.shelf.clone(), self.folders.clone());
        step.begin(Seq(self.head)).await;
        does(self);
        self.head += 1;
        step.end(Seq(self.head)).await;
    }

    fn archive(&self) -> Archive {
        Archive::read(&self.folders.snapshots).unwrap()
    }

    fn plan(&self, to_seq: i64) -> Plan {
        Plan::of(&self.folders, &self.archive(), Seq(to_seq)).unwrap()
    }

    /// Rewinds the files, as a call of its own.
    async fn rewind(&mut self, to_seq: i64) -> Result<(), ApiError> {
        self.shelf.take(&self.folders, Seq(self.head)).await.unwrap();
        let mut done = Ok(());
        self.call(|world| done = restore(&world.folders, &world.archive(), &world.plan(to_seq))).await;
        done
    }

    fn revert(&self, path: &str) -> Result<(), ApiError> {
        let archive = self.archive();
        let base = Base::of(&archive, Since::Start, None);
        let seen = left_by_pod(&self.folders, path).unwrap();
        let command = RevertCommand { path: path.to_owned(), hunk: None, since: Since::Start, version: None };
        revert(&self.folders, &archive, &base, &command, seen.as_deref()).map(drop)
    }
}

fn shelf() -> Shelf {
    Shelf::new(WorkerId::parse("ada").unwrap(), Background::default())
}

#[tokio::test]
async fn a_rewind_exchanges_files_and_folders() {
    let mut world = World::new(&[("d/x", "former"), ("f", "former")]);
    let tangle = |world: &World| {
        fs::remove_dir_all(world.at("d")).unwrap();
        fs::remove_file(world.at("f")).unwrap();
        world.put("d", "now");
        world.put("f/deep/y", "in");
    };
    world.call(tangle).await;
    world.rewind(1).await.unwrap();
    assert_eq!((world.read("d/x"), world.read("f")), ("former".to_owned(), "former".to_owned()));
    assert!(world.plan(1).listed().is_empty());
    // What somebody else put into the folder stays, and with it the folder.
    world.call(tangle).await;
    world.put("f/theirs", "theirs");
    let plan = world.plan(1);
    assert_eq!(plan.others(), Vec::<String>::new());
    assert!(plan.notes()[0].starts_with("f stays as it is"), "{:?}", plan.notes());
    world.rewind(1).await.unwrap();
    assert_eq!((world.read("d/x"), world.read("f/theirs")), ("former".to_owned(), "theirs".to_owned()));
    // One file after the other.
    fs::remove_file(world.at("f/theirs")).unwrap();
    world.put("f/deep/y", "in");
    assert!(world.revert("f").is_err());
    fs::remove_file(world.at("f/deep/y")).unwrap();
    world.revert("f").unwrap();
    assert_eq!(world.read("f"), "former");
}

#[tokio::test]
async fn a_refused_rewind_changes_nothing() {
    let mut world = World::new(&[("a", "1"), ("z/b", "1")]);
    let change = |world: &World| {
        world.put("a", "2");
        world.put("z/b", "2");
    };
    world.call(change).await;
    let rule = |path: &str, access| ScopeRule { path: path.to_owned(), access, recursive: true };
    let lent = rule(&format!("{}/z", world.folders.cwd), Access::Write);
    world.folders.scope = Scope::new([rule(&world.folders.cwd, Access::Write)], [lent]);
    assert_eq!(world.rewind(1).await.unwrap_err().code, ErrorCode::ScopeNotHeld);
    assert_eq!((world.read("a"), world.read("z/b")), ("2".to_owned(), "2".to_owned()));
}

#[tokio::test]
async fn a_file_is_reverted_unseen_only_as_the_pod_left_it() {
    let mut world = World::new(&[("a", "1"), ("b", "1"), ("mine", "1")]);
    world.call(|world| ["a", "b"].iter().for_each(|path| world.put(path, "2"))).await;
    world.put("a", "theirs");
    world.put("mine", "theirs");
    // As after a restart, in which what was shown is forgotten. A later call of the Pod changes nothing about it.
    for _ in 0..2 {
        for path in ["a", "mine"] {
            assert_eq!(world.revert(path).unwrap_err().code, ErrorCode::Changed, "{path}");
            assert_eq!(world.read(path), "theirs");
        }
        world.shelf = Arc::new(shelf());
        world.call(|_| ()).await;
    }
    world.revert("b").unwrap();
    assert_eq!(world.read("b"), "1");
}

#[tokio::test]
async fn a_folder_that_is_gone_has_no_changes_and_nothing_makes_it_anew() {
    let mut world = World::new(&[("a", "1")]);
    world.call(|world| world.put("a", "2")).await;
    fs::remove_dir_all(&world.folders.cwd).unwrap();
    // Also after a snapshot that has seen it gone.
    for _ in 0..2 {
        let archive = world.archive();
        for since in [Since::Start, Since::Turn] {
            let told = changes(&world.folders, &archive, since, &Base::of(&archive, since, None)).unwrap();
            assert_eq!((told.files.len(), told.added, told.removed), (0, 0, 0));
            assert!(matches!(&told.notes[..], [note] if note.contains("is gone")), "{:?}", told.notes);
        }
        assert!(matches!(since_branch(&world.folders).await, Ok(Base::Snapshot(None))));
        let refused = world.revert("a").unwrap_err();
        assert_eq!(refused.code, ErrorCode::NotFound);
        assert!(refused.detail.contains("is gone"), "{}", refused.detail);
        assert!(world.plan(1).listed().is_empty());
        world.rewind(1).await.unwrap();
        assert!(!Path::new(&world.folders.cwd).exists());
    }
}

#[tokio::test]
async fn what_only_its_owner_could_read_comes_back_so() {
    let mut world = World::new(&[("secret", "1")]);
    let mode = |world: &World| fs::metadata(world.at("secret")).unwrap().permissions().mode() & 0o777;
    world.call(|_| ()).await;
    // Nobody reviews this, and it is kept.
    fs::set_permissions(world.at("secret"), fs::Permissions::from_mode(0o600)).unwrap();
    world.call(|world| fs::remove_file(world.at("secret")).unwrap()).await;
    world.rewind(1).await.unwrap();
    assert_eq!((world.read("secret"), mode(&world)), ("1".to_owned(), 0o600));
}

#[tokio::test]
async fn what_git_ignores_is_reviewed_if_a_call_names_it() {
    let mut world = World::new(&[(".git/HEAD", "ref: refs/heads/main\n"), (".gitignore", ".env\n"), (".env", "1")]);
    world.folders.also = vec![world.at(".env").to_str().unwrap().to_owned()];
    world.call(|world| world.put(".env", "2")).await;
    world.folders.also.clear();
    let archive = world.archive();
    let base = Base::of(&archive, Since::Start, None);
    let told = changes(&world.folders, &archive, Since::Start, &base).unwrap();
    assert_eq!(told.files.iter().map(|file| (file.path.as_str(), file.removed)).collect::<Vec<_>>(), [(".env", 1)]);
    world.rewind(1).await.unwrap();
    assert_eq!(world.read(".env"), "1");
    assert!(world.kept.path().join("snapshots/log").exists());
}
