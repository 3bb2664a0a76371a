//! PostgreSQL dies in the middle of a commit, and gives the number of that transaction to another one.

use std::{
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::{Arc, Mutex},
};

use pod_store::{Database, Faults, Patience, Step, Store, StoreError, StoreOptions};
use protocol::Seq;
use testkit::{
    postgres::{programs, unprivileged},
    until_so,
};

use crate::world::*;

/// A server of its own, which may be killed.
#[derive(Debug)]
struct Server {
    folder: tempfile::TempDir,
    process: Mutex<Option<Child>>,
    /// It dies before the next commit.
    is_armed: Mutex<bool>,
}

impl Server {
    async fn start() -> Arc<Self> {
        let folder = tempfile::tempdir().unwrap();
        // The user postgres may not exist where this process is no root.
        drop(Command::new("chown").arg("postgres:postgres").arg(folder.path()).stderr(Stdio::null()).status());
        let mut initdb = unprivileged(&programs().unwrap().join("initdb"));
        initdb.args(["--username=postgres", "--auth=trust", "--encoding=UTF8", "--locale=C", "--no-sync", "-D"]);
        assert!(initdb.arg(data(folder.path())).current_dir("/").stdout(Stdio::null()).status().unwrap().success());
        let server = Arc::new(Self { folder, process: Mutex::default(), is_armed: Mutex::default() });
        until_so("PostgreSQL answers", async || server.run("select 1")).await;
        server
    }

    fn url(&self) -> String {
        format!("postgresql:///postgres?host={}&user=postgres", self.folder.path().display())
    }

    /// Runs a statement; starts the server if it does not run. It cannot while processes of the one before are left.
    fn run(&self, sql: &str) -> bool {
        let mut process = self.process.lock().unwrap();
        if process.as_mut().is_none_or(|process| process.try_wait().unwrap().is_some()) {
            let mut server = unprivileged(&programs().unwrap().join("postgres"));
            server.arg("-D").arg(data(self.folder.path())).arg("-k").arg(self.folder.path());
            server.args(["-c", "listen_addresses="]).current_dir("/").stdout(Stdio::null()).stderr(Stdio::null());
            *process = Some(server.spawn().unwrap());
        }
        let mut psql = Command::new(programs().unwrap().join("psql"));
        let psql = psql.args(["-qAt", "-d", &self.url(), "-c", sql]).stdout(Stdio::null()).stderr(Stdio::null());
        psql.status().unwrap().success()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if let Some(mut process) = self.process.lock().unwrap().take() {
            process.kill().unwrap();
            process.wait().unwrap();
        }
    }
}

fn data(folder: &Path) -> PathBuf {
    folder.join("data")
}

impl Faults for Server {
    fn before(&self, step: Step) -> Result<(), StoreError> {
        if step == Step::Commit && std::mem::take(&mut *self.is_armed.lock().unwrap()) {
            if let Some(process) = self.process.lock().unwrap().as_mut() {
                process.kill().unwrap();
                process.wait().unwrap();
            }
            // The first transaction that takes a number takes that of the one that was lost.
            let began = std::time::Instant::now();
            while !self.run("create table after_the_crash ()") {
                assert!(began.elapsed() < testkit::WAIT_MAX, "PostgreSQL does not start again");
                std::thread::sleep(std::time::Duration::from_millis(20));
            }
        }
        Ok(())
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_commit_that_died_with_its_server_is_not_taken_for_the_one_that_got_its_number() {
    let server = Server::start().await;
    let database = Database::parse(&server.url()).unwrap();
    let store = Store::open(StoreOptions::new(database).with_faults(server.clone())).await.unwrap();
    let ada = create(&store, "ada").await;
    for seq in 1..=2 {
        *server.is_armed.lock().unwrap() = true;
        store.commit_with(Patience::Endless, one(records(ada, seq, seq))).await.unwrap();
        let found = seqs(&store.journals().after(ada, Seq(0), 100, ALL).await.unwrap());
        assert_eq!(found, (1..=seq).collect::<Vec<_>>());
        assert!(server.run("drop table after_the_crash"));
    }
    store.close().await;
}
