//! The group in which this process was started, and whether it may be divided.

use std::{
    fs,
    path::{Path, PathBuf},
};

use rustix::{fs::getxattr, io::Errno};

/// The suffixes of systemd's groups.
const OF_SYSTEMD: [&str; 3] = ["service", "scope", "slice"];
/// The marks of a delegated group; the second is only visible to root.
const MARKS: [&str; 2] = ["user.delegate", "trusted.delegate"];

/// The folder of this process's group if it may be divided, otherwise the reason in half a sentence.
pub(super) fn handed_over() -> Result<PathBuf, String> {
    let read = |path: &str| fs::read_to_string(path).map_err(|error| format!("{path} cannot be read: {error}"));
    let folder = folder(&read("/proc/self/cgroup")?, &read("/proc/self/mountinfo")?)?;
    check(&folder).map(|()| folder)
}

/// From two kernel files: `groups` names the group, `mounts` says where the tree is.
fn folder(groups: &str, mounts: &str) -> Result<PathBuf, String> {
    let place = groups.lines().find_map(|line| line.strip_prefix("0::"));
    let place = place.ok_or("this kernel has no cgroup v2")?;
    let trees = mounts.lines().filter_map(|line| {
        let (before, after) = line.split_once(" - ")?;
        let mut fields = before.split(' ').skip(3);
        (after.split(' ').next() == Some("cgroup2")).then_some((fields.next()?, fields.next()?))
    });
    let mut folders = trees.filter_map(|(root, at)| {
        let beneath = Path::new(place).strip_prefix(root).ok()?;
        Some(Path::new(at).join(beneath))
    });
    folders.next().ok_or_else(|| "no tree of cgroup v2 is mounted where yoi can see it".to_owned())
}

fn check(folder: &Path) -> Result<(), String> {
    let shown = folder.display();
    // The machine's root group has no type, and nobody delegates it.
    if !folder.join("cgroup.type").exists() {
        return Err(format!("yoi was started in the machine's own group ({shown}), which is not handed over"));
    }
    let is_of_systemd =
        folder.extension().and_then(|kind| kind.to_str()).is_some_and(|kind| OF_SYSTEMD.contains(&kind));
    match (is_of_systemd, is_marked(folder)) {
        (_, true) => Ok(()),
        (true, false) => Err(format!(
            "systemd has not handed over {shown}, which yoi was started in: a unit with Delegate=yes does (`yoi service install`), \
             from systemd 251 on"
        )),
        (false, false) if is_alone(folder) => Ok(()),
        (false, false) => Err(format!("{shown}, which yoi was started in, holds other processes, too")),
    }
}

fn is_marked(folder: &Path) -> bool {
    MARKS.iter().any(|mark| {
        let mut value = [0; 8];
        let read: Result<usize, Errno> = getxattr(folder, *mark, &mut value);
        read.is_ok_and(|count| &value[..count] == b"1")
    })
}

fn is_alone(folder: &Path) -> bool {
    let own = std::process::id().to_string();
    fs::read_to_string(folder.join("cgroup.procs")).is_ok_and(|pids| pids.lines().all(|pid| pid == own))
}

#[cfg(test)]
mod tests {
    use super::*;

    const UNIFIED: &str = "24 1 0:22 / /proc rw - proc proc rw\n\
                           30 23 0:26 / /sys/fs/cgroup rw,nosuid shared:9 - cgroup2 cgroup2 rw,nsdelegate\n";

    #[test]
    fn a_group_is_found_where_the_tree_is_mounted() {
        let unit = "0::/user.slice/user-1000.slice/user@1000.service/app.slice/yoi.service\n";
        let found = folder(unit, UNIFIED).unwrap();
        let expected = "/sys/fs/cgroup/user.slice/user-1000.slice/user@1000.service/app.slice/yoi.service";
        assert_eq!(found, Path::new(expected));
        let both = "8:pids:/a\n1:name=systemd:/b\n0::/c\n";
        let hybrid = "40 30 0:30 / /sys/fs/cgroup/pids rw - cgroup cgroup rw,pids\n\
                      41 30 0:31 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n";
        assert_eq!(folder(both, hybrid).unwrap(), Path::new("/sys/fs/cgroup/unified/c"));
    }

    #[test]
    fn of_a_tree_that_is_mounted_in_part_the_rest_of_the_path_counts() {
        let part = "41 30 0:31 /box /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n";
        assert_eq!(folder("0::/box/yoi\n", part).unwrap(), Path::new("/sys/fs/cgroup/yoi"));
        assert!(folder("0::/other\n", part).unwrap_err().contains("no tree of cgroup v2 is mounted"));
    }

    #[test]
    fn where_there_is_none_it_is_said() {
        assert_eq!(folder("8:pids:/a\n", UNIFIED).unwrap_err(), "this kernel has no cgroup v2");
        assert!(folder("0::/a\n", "24 1 0:22 / /proc rw - proc proc rw\n").is_err());
    }
}
