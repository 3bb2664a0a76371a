//! Builds a sandbox with bubblewrap: turns the plan into its arguments.

use std::{
    ffi::OsStr,
    os::unix::ffi::OsStrExt,
    path::{Path, PathBuf},
};

use super::{
    Plan,
    plan::{How, Step},
};
use crate::Network;

/// Where it is, among the folders of PATH.
pub(in super::super) fn found() -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|folder| folder.join("bwrap")).find(|file| file.is_absolute() && file.is_file())
}

/// Whether the sandbox's first process has to limit the number of processes and seal `/proc`, for which it needs a
/// capability. For an ordinary account, the kernel counts the processes and bubblewrap seals `/proc`.
pub(in super::super) fn is_left_to_us() -> bool {
    rustix::process::geteuid().is_root()
}

/// The arguments, each NUL-terminated, as `--args` reads them.
pub(in super::super) fn arguments(plan: &Plan, network: &Network) -> Vec<u8> {
    let mut arguments = Arguments(Vec::new());
    arguments.add(["--unshare-user", "--unshare-ipc", "--unshare-pid", "--unshare-uts", "--unshare-cgroup-try"]);
    if network.is_own() {
        arguments.add(["--unshare-net"]);
    }
    arguments.add(["--die-with-parent", "--as-pid-1", "--cap-drop", "ALL"]);
    for step in &plan.steps {
        match step {
            Step::Seal { at } if is_left_to_us() && at == Path::new("/proc") => (),
            step => arguments.step(step),
        }
    }
    if is_left_to_us() {
        arguments.add(["--cap-add", "CAP_SYS_ADMIN"]);
    }
    arguments.add(["--chdir", "/"]);
    arguments.0
}

struct Arguments(Vec<u8>);

impl Arguments {
    fn add<A: AsRef<OsStr>>(&mut self, arguments: impl IntoIterator<Item = A>) {
        for argument in arguments {
            self.0.extend_from_slice(argument.as_ref().as_bytes());
            self.0.push(0);
        }
    }

    fn step(&mut self, step: &Step) {
        match step {
            // bubblewrap's root is one already.
            Step::Memory { at, .. } if at == Path::new("/") => (),
            Step::Memory { at, bytes } => {
                self.add(["--size", &bytes.to_string(), "--tmpfs"]);
                self.add([at]);
            }
            Step::Bind { from, at, how, .. } => {
                self.add([match how {
                    How::Read => "--ro-bind",
                    How::Write => "--bind",
                    How::Device => "--dev-bind",
                }]);
                self.add([from, at]);
            }
            Step::Link { at, to } => self.add([OsStr::new("--symlink"), to.as_os_str(), at.as_os_str()]),
            Step::Processes { at } => self.add([OsStr::new("--proc"), at.as_os_str()]),
            Step::Seal { at } => self.add([OsStr::new("--remount-ro"), at.as_os_str()]),
        }
    }
}
