//! What a command may read besides its scope: the system, the folders of PATH, and the user's tool chains.

use std::{
    env, fs,
    path::{Component, Path, PathBuf},
};

use pod::{Scope, covers};
use protocol::Access;
use serde::{Deserialize, Serialize};

const SYSTEM: [&str; 10] =
    ["/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/etc", "/opt", "/nix", "/sys/devices/system/cpu"];
/// The real locations of `/etc/resolv.conf` and, on NixOS, of every program.
const RUNNING: [&str; 4] =
    ["/run/systemd/resolve", "/run/resolvconf", "/run/NetworkManager/resolv.conf", "/run/current-system"];
/// In the user's cargo folder. Its credentials are beside these and excluded.
const CARGO: [&str; 5] = ["bin", "registry", "git", "config.toml", "config"];
/// Without these git refuses to work. Its credentials are elsewhere.
const GIT: [&str; 4] = [".gitconfig", ".config/git/config", ".config/git/ignore", ".config/git/attributes"];
/// The most links on the way to one file, as in the kernel.
const LINKS_MAX: usize = 40;

/// What the system offers to every command.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(super) struct System {
    /// The canonical paths of what may be read and exists. None of them passes through something that the scope may
    /// write: a command could have put a link there, to read more the next time.
    pub(super) readable: Vec<PathBuf>,
    /// Links on the way to them, each with its text.
    pub(super) links: Vec<(PathBuf, PathBuf)>,
    /// Parts that are hidden.
    pub(super) closed: Vec<PathBuf>,
}

impl System {
    pub(super) fn of(scope: &Scope, closed: Vec<PathBuf>) -> Self {
        let home = env::var_os("HOME").map(PathBuf::from).filter(|home| home.is_absolute());
        // A whole home folder, or one above it, cannot be meant by a folder of programs.
        let is_narrow =
            |folder: &PathBuf| folder != Path::new("/") && !home.as_ref().is_some_and(|home| home.starts_with(folder));
        let mut links = Vec::new();
        let wanted = wanted(home.as_deref()).into_iter().filter(|path| path.is_absolute());
        let mut readable = wanted.filter_map(|path| resolved(&path, scope, &mut links)).collect::<Vec<_>>();
        readable.retain(is_narrow);
        readable.sort();
        readable.dedup();
        links.sort();
        links.dedup();
        Self { readable, links, closed }
    }

    /// Whether a command may read `path` whatever its scope says.
    pub(super) fn shows(&self, path: &Path) -> bool {
        let is_in = |paths: &[PathBuf]| paths.iter().any(|outer| path.starts_with(outer));
        is_in(&self.readable) && !is_in(&self.closed)
    }
}

/// What is looked for.
fn wanted(home: Option<&Path>) -> Vec<PathBuf> {
    let at_home = |name: &str| home.map(|home| home.join(name));
    let folder = |variable: &str, name: &str| env::var_os(variable).map(PathBuf::from).or_else(|| at_home(name));
    let cargo = folder("CARGO_HOME", ".cargo");
    let path = env::var_os("PATH").unwrap_or_default();
    let fixed = SYSTEM.iter().chain(&RUNNING).map(PathBuf::from);
    let of_cargo = CARGO.iter().filter_map(|name| Some(cargo.as_ref()?.join(name)));
    let of_git = GIT.iter().filter_map(|name| at_home(name));
    let of_path = env::split_paths(&path).collect::<Vec<_>>();
    fixed.chain(of_cargo).chain(of_git).chain(folder("RUSTUP_HOME", ".rustup")).chain(of_path).collect()
}

/// `path` with its links followed and added to `links`, unless it does not exist or passes through what `scope` may
/// write.
fn resolved(path: &Path, scope: &Scope, links: &mut Vec<(PathBuf, PathBuf)>) -> Option<PathBuf> {
    let mut passed = Vec::new();
    // Includes what is lent, which a child's commands can write.
    let is_granted = |path: &str| scope.rules().iter().any(|rule| rule.access == Access::Write && covers(rule, path));
    let is_writable = |path: &Path| path.to_str().is_none_or(is_granted);
    let mut links_left = LINKS_MAX;
    let mut real = PathBuf::from("/");
    let mut ahead = parts(path);
    while let Some(part) = ahead.pop() {
        if part == ".." {
            real.pop();
            continue;
        }
        real.push(&part);
        if is_writable(&real) {
            return None;
        }
        if fs::symlink_metadata(&real).ok()?.is_symlink() {
            links_left = links_left.checked_sub(1)?;
            let target = fs::read_link(&real).ok()?;
            passed.push((real.clone(), target.clone()));
            match target.is_absolute() {
                true => real = PathBuf::from("/"),
                false => drop(real.pop()),
            }
            ahead.extend(parts(&target));
        }
    }
    links.append(&mut passed);
    Some(real)
}

/// The names in a path, last one first.
fn parts(path: &Path) -> Vec<std::ffi::OsString> {
    let named = |part: &Component<'_>| matches!(part, Component::Normal(_) | Component::ParentDir);
    path.components().rev().filter(named).map(|part| part.as_os_str().to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use protocol::ScopeRule;

    use super::*;

    #[test]
    fn a_path_through_something_that_a_command_can_change_is_not_followed() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        fs::create_dir_all(root.join("tools/bin")).unwrap();
        fs::create_dir(root.join("project")).unwrap();
        symlink(root.join("tools"), root.join("project/link")).unwrap();
        symlink("tools/bin", root.join("outer")).unwrap();
        symlink(root.join("project/link/bin"), root.join("by_way")).unwrap();
        symlink("loop", root.join("loop")).unwrap();
        let path = root.join("project").to_str().unwrap().to_owned();
        let scope = Scope::new([ScopeRule { path, access: Access::Write, recursive: true }], []);

        let mut links = Vec::new();
        let mut resolved = |name: &str| resolved(&root.join(name), &scope, &mut links);
        assert_eq!(resolved("outer"), Some(root.join("tools/bin")));
        assert_eq!(resolved("tools/../outer"), Some(root.join("tools/bin")));
        for bad in ["project/link", "by_way", "loop", "missing"] {
            assert_eq!(resolved(bad), None, "{bad}");
        }
        let outer = (root.join("outer"), PathBuf::from("tools/bin"));
        assert_eq!(links, [outer.clone(), outer]);
    }
}
