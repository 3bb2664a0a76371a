//! The contents of a sandbox, as an ordered list of steps.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use pod::Scope;
use serde::{Deserialize, Serialize};

use super::{
    super::system::System,
    Private,
    identity::Identity,
    survey::{self, Point, Reach},
};

/// The size of the sandbox's shared memory, which takes up the machine's memory.
const SHARED_MEMORY_BYTES: u64 = 256 << 20;
/// The size of folders that only contain mount points.
const FRAME_BYTES: u64 = 1 << 20;
/// Devices with nothing behind them.
pub(in super::super) const DEVICES: [&str; 6] =
    ["/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty"];
const LINKS: [(&str, &str); 4] = [
    ("/dev/fd", "/proc/self/fd"),
    ("/dev/stdin", "/proc/self/fd/0"),
    ("/dev/stdout", "/proc/self/fd/1"),
    ("/dev/stderr", "/proc/self/fd/2"),
];
/// The kernel's files that reveal or control the machine and not just the sandbox's processes. All others cannot be
/// written either.
const KERNEL: [&str; 16] = [
    "/proc/kcore",
    "/proc/keys",
    "/proc/key-users",
    "/proc/kmsg",
    "/proc/kallsyms",
    "/proc/kpagecgroup",
    "/proc/kpagecount",
    "/proc/kpageflags",
    "/proc/latency_stats",
    "/proc/pagetypeinfo",
    "/proc/sched_debug",
    "/proc/slabinfo",
    "/proc/sysrq-trigger",
    "/proc/timer_list",
    "/proc/timer_stats",
    "/proc/vmallocinfo",
];

/// One step.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(in super::super) enum Step {
    /// An empty folder in memory.
    Memory {
        at: PathBuf,
        bytes: u64,
    },
    /// The machine's file or folder at `from`, if it is still the one with this identity.
    Bind {
        from: PathBuf,
        at: PathBuf,
        how: How,
        identity: Identity,
    },
    Link {
        at: PathBuf,
        to: PathBuf,
    },
    Processes {
        at: PathBuf,
    },
    /// Nothing can be written on this mount from here on.
    Seal {
        at: PathBuf,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(in super::super) enum How {
    Read,
    Write,
    Device,
}

/// The whole sandbox.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(in super::super) struct Plan {
    pub(super) steps: Vec<Step>,
    /// The command's temporary folder, at its path in the sandbox.
    pub(in super::super) temp: PathBuf,
}

impl Plan {
    /// # Errors
    /// A sentence: a rule cannot be enforced.
    pub(in super::super) fn of(
        scope: &Scope,
        fixed: &[PathBuf],
        system: &System,
        private: &Private,
    ) -> Result<Self, String> {
        let points = survey::points(scope, fixed, system)?;
        let identity_of = |path: &Path| Identity::at(path).map_err(|error| format!("{}: {error}", path.display()));
        let closed = |is_folder| {
            let from = private.closed(is_folder);
            identity_of(&from).map(|identity| Closed { from, identity })
        };
        let mut drawing = Drawing { points: &points, closed: (closed(false)?, closed(true)?), steps: Vec::new() };
        drawing.frame();
        let temp = drawing.temp(private.temp(), identity_of(&private.temp())?);
        drawing.grants();
        drawing.links(system);
        drawing.devices();
        drawing.processes();
        if drawing.reach_at(Path::new("/")) == Reach::Nothing {
            drawing.steps.push(Step::Seal { at: "/".into() });
        }
        Ok(Self { steps: drawing.steps, temp })
    }

    /// Checks that everything that was bound is what it was meant to be. Called inside, before the command starts.
    pub(in super::super) fn check(&self) -> Result<(), String> {
        for step in &self.steps {
            if let Step::Bind { at, identity, .. } = step
                && Identity::at(at).ok() != Some(*identity)
            {
                return Err(format!("{} was changed while the room was built; try again", at.display()));
            }
        }
        Ok(())
    }
}

/// What is mounted over something closed.
struct Closed {
    from: PathBuf,
    identity: Identity,
}

struct Drawing<'a> {
    points: &'a BTreeMap<PathBuf, Point>,
    /// For a file and for a folder.
    closed: (Closed, Closed),
    steps: Vec<Step>,
}

impl Drawing<'_> {
    fn frame(&mut self) {
        if self.reach_at(Path::new("/")) == Reach::Nothing {
            self.steps.push(Step::Memory { at: "/".into(), bytes: FRAME_BYTES });
        }
    }

    /// The access at the nearest point on the way to `path`.
    fn reach_at(&self, path: &Path) -> Reach {
        path.ancestors().find_map(|path| self.points.get(path)).map_or(Reach::Nothing, |point| point.reach)
    }

    /// Mounts the temporary folder at `/tmp`, unless the scope says something about `/tmp` or what lies in it; then it
    /// stays at its path on the machine. Write access to one must not extend to the other.
    fn temp(&mut self, from: PathBuf, identity: Identity) -> PathBuf {
        let tmp = Path::new("/tmp");
        let is_free = self.reach_at(tmp) == Reach::Nothing && !self.holds_grants(tmp);
        let at = if is_free { tmp.to_owned() } else { from.clone() };
        self.steps.push(Step::Bind { from, at: at.clone(), how: How::Write, identity });
        at
    }

    /// Adds each place with more or less access than its surroundings.
    fn grants(&mut self) {
        let mut around = vec![(Path::new("/"), Reach::Nothing)];
        let mut steps = Vec::new();
        for (path, point) in self.points {
            while around.last().is_some_and(|(outer, _)| !path.starts_with(outer)) {
                around.pop();
            }
            let outer = around.last().map_or(Reach::Nothing, |(_, reach)| *reach);
            if point.reach == outer && !point.is_fixed {
                continue;
            }
            steps.push(match point.reach {
                Reach::Read => bind(path, How::Read, point.identity),
                Reach::Write => bind(path, How::Write, point.identity),
                Reach::Nothing if self.holds_grants(path) => Step::Memory { at: path.clone(), bytes: FRAME_BYTES },
                Reach::Nothing => self.close(path, point.identity.is_folder),
            });
            around.push((path, point.reach));
        }
        // The temporary folder is mounted after a granted root and before what is granted beneath it.
        let is_root = |step: &Step| matches!(step, Step::Bind { at, .. } if at == Path::new("/"));
        let root = steps.iter().position(is_root).map(|place| steps.remove(place));
        self.steps.splice(0..0, root);
        self.steps.append(&mut steps);
    }

    fn holds_grants(&self, folder: &Path) -> bool {
        let beneath = self.points.range(folder.to_owned()..);
        beneath.take_while(|(path, _)| path.starts_with(folder)).any(|(_, point)| point.reach != Reach::Nothing)
    }

    fn close(&self, at: &Path, is_folder: bool) -> Step {
        let Closed { from, identity } = if is_folder { &self.closed.1 } else { &self.closed.0 };
        Step::Bind { from: from.clone(), at: at.to_owned(), how: How::Read, identity: *identity }
    }

    /// Links that lead to the system's folders, and other names for the temporary folder.
    fn links(&mut self, system: &System) {
        let own = [(PathBuf::from("/var/tmp"), PathBuf::from("/tmp"))];
        for (at, to) in system.links.iter().chain(&own) {
            if self.reach_at(at) == Reach::Nothing && !self.holds_grants(at) {
                self.steps.push(Step::Link { at: at.clone(), to: to.clone() });
            }
        }
    }

    fn devices(&mut self) {
        self.steps.push(Step::Memory { at: "/dev".into(), bytes: FRAME_BYTES });
        for device in DEVICES {
            // A missing device is skipped.
            if let Ok(identity) = Identity::at(Path::new(device)) {
                self.steps.push(bind(Path::new(device), How::Device, identity));
            }
        }
        let links = LINKS.map(|(at, to)| Step::Link { at: at.into(), to: to.into() });
        self.steps.extend(links);
        self.steps.push(Step::Memory { at: "/dev/shm".into(), bytes: SHARED_MEMORY_BYTES });
        self.steps.push(Step::Seal { at: "/dev".into() });
    }

    fn processes(&mut self) {
        self.steps.push(Step::Processes { at: "/proc".into() });
        for path in KERNEL.map(Path::new).into_iter().filter(|path| path.exists()) {
            let closed = self.close(path, false);
            self.steps.push(closed);
        }
        self.steps.push(Step::Seal { at: "/proc".into() });
    }
}

fn bind(path: &Path, how: How, identity: Identity) -> Step {
    Step::Bind { from: path.to_owned(), at: path.to_owned(), how, identity }
}
