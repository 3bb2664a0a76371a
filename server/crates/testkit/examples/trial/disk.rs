//! The server on disks that fail: a file system in memory, mounted by FUSE, that is full, that cannot sync, that is
//! read-only, and that forgets what was not synced when its power goes; and a small real one (tmpfs) that is full.

// The same idea of a disk as in the tests of the store.
#[path = "../../../simulation/src/disk/image.rs"]
#[expect(dead_code, reason = "folders are kept by the file system itself")]
mod image;
mod memory;

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
    time::{Duration, Instant},
};

use testkit::yoi::{Launch, WAIT_MAX};

use self::memory::{Memory, Trouble};
use crate::{fault, kill};

/// How long a fault lasts.
const TROUBLE: Duration = Duration::from_secs(4);
const LOOK_AGAIN: Duration = Duration::from_millis(20);
/// Of the small file system, in MB: more than the files of an empty server, less than those of a busy one.
const SMALL_MB: u32 = 48;

/// Returns false if anything was lost or duplicated, or a Pod did not recover.
pub(crate) async fn run(binary: &str, rounds: u32) -> bool {
    if !Path::new("/dev/fuse").exists() {
        println!("    not tried: this machine has no /dev/fuse; load the kernel module fuse, and run this as root");
        return true;
    }
    let mut holds = power(binary, rounds).await;
    fault::heading();
    for (what, trouble) in [
        ("disk full, 4 s", Trouble::Full),
        ("fsync fails, 4 s", Trouble::NoSync),
        ("read-only, 4 s", Trouble::ReadOnly),
    ] {
        let disk = Disk::mount();
        let yoi = Launch::new(binary).data(&disk.data()).start().await;
        let files = disk.files.clone();
        let outage = async {
            files.trouble(Some(trouble));
            tokio::time::sleep(TROUBLE).await;
            files.trouble(None);
            Ok(())
        };
        holds &= fault::play(what, &yoi, outage).await;
        drop(yoi);
    }
    holds & small(binary).await
}

/// kill -9 and a power loss, at random moments.
async fn power(binary: &str, rounds: u32) -> bool {
    let mut disk = Disk::mount();
    let mut yoi = Launch::new(binary).data(&disk.data()).start().await;
    let mut sum = kill::Sum::default();
    for round in 0..rounds {
        kill::play(&mut yoi, round, &mut sum, || disk.lose_power()).await;
        kill::tell_round(round, &sum);
    }
    kill::tell(rounds, &mut sum);
    drop(yoi);
    sum.holds()
}

/// A real file system, completely full for some seconds.
async fn small(binary: &str) -> bool {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let size = format!("size={SMALL_MB}m");
    let is_mounted = Command::new("mount").args(["-t", "tmpfs", "-o", &size, "yoi-trial"]).arg(folder.path()).status();
    if !is_mounted.is_ok_and(|status| status.success()) {
        println!("    {:<24} not tried: a tmpfs cannot be mounted; run this as root", "a full tmpfs");
        return true;
    }
    let yoi = Launch::new(binary).data(&folder.path().join("data")).start().await;
    let filler = folder.path().join("filler");
    let outage = async {
        let began = Instant::now();
        while began.elapsed() < TROUBLE {
            fill(&filler);
            tokio::time::sleep(LOOK_AGAIN).await;
        }
        fs::remove_file(&filler).map_err(|error| error.to_string())
    };
    let holds = fault::play("a full tmpfs, 4 s", &yoi, outage).await;
    drop(yoi);
    unmount(folder.path());
    holds
}

/// Fills all the space that is left.
fn fill(filler: &Path) {
    use std::io::Write;
    let Ok(mut file) = fs::OpenOptions::new().create(true).append(true).open(filler) else { return };
    while file.write_all(&[7; 4096]).is_ok() {}
}

/// The file system in memory, mounted; unmounted when it is dropped.
struct Disk {
    files: Memory,
    folder: tempfile::TempDir,
    session: Option<fuser::BackgroundSession>,
    seed: u64,
}

impl Disk {
    fn mount() -> Self {
        let folder = tempfile::Builder::new().prefix("yoi-disk-").tempdir().expect("a temporary folder can be made");
        let mut disk = Self { files: Memory::new(), folder, session: None, seed: 0 };
        disk.attach();
        disk
    }

    fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    fn attach(&mut self) {
        let mut config = fuser::Config::default();
        config.mount_options = vec![fuser::MountOption::FSName("yoi-trial".to_owned())];
        let session = fuser::spawn_mount(self.files.clone(), self.folder.path(), &config);
        self.session = Some(session.unwrap_or_else(|error| panic!("cannot mount by FUSE: {error}; run this as root")));
    }

    fn detach(&mut self) {
        unmount(self.folder.path());
        if let Some(session) = self.session.take() {
            session.join().ok();
        }
    }

    /// No process has a file of it open any more.
    fn lose_power(&mut self) {
        self.detach();
        self.seed += 1;
        let mut state = self.seed;
        self.files.power_off(&mut || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            state >> 33
        });
        self.attach();
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        self.detach();
    }
}

/// Waits for the last process of a sandbox to be gone.
fn unmount(folder: &Path) {
    let began = Instant::now();
    while !Command::new("umount").arg("-q").arg(folder).status().is_ok_and(|status| status.success()) {
        if began.elapsed() > WAIT_MAX {
            Command::new("umount").arg("-l").arg(folder).status().ok();
            return;
        }
        std::thread::sleep(LOOK_AGAIN);
    }
}
