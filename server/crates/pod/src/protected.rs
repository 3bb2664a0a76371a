//! What no Pod may write, whatever its scope says: files that make another program run something later, outside of
//! every scope. These are shell startup files, git's hooks and settings, anything started with the session or by the
//! clock, and yoi's own configuration.
//!
//! Pure, like the scope: paths are compared as text, and need not exist.

/// In a home folder, each with everything beneath it.
const IN_HOMES: [&str; 78] = [
    // Shells.
    ".bash_aliases",
    ".bash_login",
    ".bash_logout",
    ".bash_profile",
    ".bashrc",
    ".cshrc",
    ".inputrc",
    ".kshrc",
    ".login",
    ".mkshrc",
    ".oh-my-zsh",
    ".profile",
    ".tcshrc",
    ".zlogin",
    ".zlogout",
    ".zprofile",
    ".zshenv",
    ".zshrc",
    ".config/elvish",
    ".config/fish",
    ".config/nushell",
    ".config/xonsh",
    ".config/zsh",
    ".local/share/bash-completion",
    // Git, and keys.
    ".gitconfig",
    ".config/git",
    ".gnupg",
    ".ssh",
    // Started with the session or by the clock.
    ".config/autostart",
    ".config/environment.d",
    ".config/hypr",
    ".config/i3",
    ".config/sway",
    ".config/systemd",
    ".config/upstart",
    ".config/yoi",
    ".local/share/applications",
    ".local/share/dbus-1",
    ".local/share/systemd",
    ".pam_environment",
    ".xinitrc",
    ".xprofile",
    ".xsession",
    ".xsessionrc",
    // Programs that are found by their name.
    ".cargo/bin",
    ".local/bin",
    "bin",
    // Tools whose settings can name programs.
    ".aws/config",
    ".cargo/config",
    ".cargo/config.toml",
    ".cargo/env",
    ".config/direnv",
    ".config/pip",
    ".config/tmux",
    ".direnvrc",
    ".docker/config.json",
    ".gdbinit",
    ".gradle/init.d",
    ".gradle/init.gradle",
    ".kube/config",
    ".lldbinit",
    ".m2/settings.xml",
    ".npmrc",
    ".pip",
    ".psqlrc",
    ".pypirc",
    ".screenrc",
    ".tmux.conf",
    ".yarnrc",
    ".yarnrc.yml",
    // Editors.
    ".config/emacs",
    ".config/helix",
    ".config/nvim",
    ".config/vim",
    ".emacs",
    ".emacs.d",
    ".vim",
    ".vimrc",
];

/// System-wide paths, which a server running as root could write.
const OF_MACHINE: [&str; 22] = [
    "/etc/bash.bashrc",
    "/etc/cron.d",
    "/etc/cron.daily",
    "/etc/cron.hourly",
    "/etc/cron.monthly",
    "/etc/cron.weekly",
    "/etc/crontab",
    "/etc/environment",
    "/etc/gitconfig",
    "/etc/ld.so.conf",
    "/etc/ld.so.conf.d",
    "/etc/ld.so.preload",
    "/etc/pam.d",
    "/etc/profile",
    "/etc/profile.d",
    "/etc/ssh",
    "/etc/sudoers",
    "/etc/sudoers.d",
    "/etc/systemd",
    "/etc/zsh",
    "/usr/lib/systemd",
    "/var/spool/cron",
];

/// In the git folder of any repository: settings and hooks can name programs, the others lead to settings elsewhere.
pub const IN_GIT_FOLDERS: [&str; 4] = ["config", "config.worktree", "hooks", "commondir"];
/// Each folder in these is a git folder too.
const GIT_FOLDERS_WITHIN: [&str; 2] = ["modules", "worktrees"];
/// Read by a program that watches a shell enter a folder.
const ANYWHERE: [&str; 1] = [".envrc"];
/// The folder with people's home folders.
const HOMES: &str = "/home";
const ROOTS_HOME: &str = "/root";

/// What is protected on this machine.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Protected {
    /// Absolute.
    homes: Vec<String>,
    /// yoi's own paths, absolute, including where it would look for its configuration.
    own: Vec<String>,
}

impl Protected {
    /// `homes` are the home folders of the account that yoi runs as, under each of their names. `own` are yoi's own
    /// paths, each with everything beneath it.
    pub fn new(homes: impl IntoIterator<Item = String>, own: impl IntoIterator<Item = String>) -> Self {
        let mut homes: Vec<_> = homes.into_iter().chain([ROOTS_HOME.to_owned()]).collect();
        homes.sort();
        homes.dedup();
        Self { homes, own: own.into_iter().collect() }
    }

    /// Whether only a person may write `path`.
    pub fn covers(&self, path: &str) -> bool {
        self.own.iter().map(String::as_str).chain(OF_MACHINE).any(|folder| beneath(path, folder).is_some())
            || self.homes.iter().any(|home| beneath(path, home).is_some_and(is_of_home))
            || beneath(path, HOMES).and_then(|rest| rest.split_once('/')).is_some_and(|(_, rest)| is_of_home(rest))
            || is_of_repository(path)
    }

    /// The paths that are known without looking at the disk: all but those in repositories. `others` are further home
    /// folders.
    pub fn known(&self, others: impl IntoIterator<Item = String>) -> Vec<String> {
        let homes = self.homes.iter().cloned().chain(others);
        let in_homes = homes.flat_map(|home| IN_HOMES.map(|path| format!("{}/{path}", home.trim_end_matches('/'))));
        in_homes.chain(self.own.iter().cloned()).chain(OF_MACHINE.map(str::to_owned)).collect()
    }
}

/// `rest` is relative to a home folder.
fn is_of_home(rest: &str) -> bool {
    IN_HOMES.iter().any(|path| beneath(&format!("/{rest}"), &format!("/{path}")).is_some())
}

/// True for a repository's settings and hooks, a `.git` file in place of the folder, and files that are protected
/// anywhere.
fn is_of_repository(path: &str) -> bool {
    let names: Vec<&str> = path.split('/').collect();
    if names.iter().any(|name| ANYWHERE.contains(name)) {
        return true;
    }
    // A bare repository counts too, if its name ends in `.git`.
    let folders = names.iter().enumerate().filter(|(_, name)| name.ends_with(".git"));
    folders.map(|(at, name)| (*name, &names[at + 1..])).any(|(name, within)| match within {
        // The folder itself, or a file that points to it.
        [] => name == ".git",
        [first, ..] if IN_GIT_FOLDERS.contains(first) => true,
        [first, rest @ ..] => GIT_FOLDERS_WITHIN.contains(first) && rest.iter().any(|name| is_of_git_folder(name)),
    })
}

fn is_of_git_folder(name: &str) -> bool {
    IN_GIT_FOLDERS.contains(&name) || name == "gitdir"
}

/// The rest of `path` relative to `folder`; empty for the folder itself.
fn beneath<'a>(path: &'a str, folder: &str) -> Option<&'a str> {
    match path.strip_prefix(folder.trim_end_matches('/'))? {
        "" => Some(""),
        rest => rest.strip_prefix('/'),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn protected() -> Protected {
        Protected::new(["/srv/ada".to_owned()], ["/srv/conf/yoi".to_owned()])
    }

    #[test]
    fn what_runs_something_later_is_covered_wherever_it_lies() {
        for path in [
            "/srv/ada/.bashrc",
            "/srv/ada/.ssh/authorized_keys",
            "/srv/ada/.config/git/config",
            "/srv/ada/.config/systemd/user/x.service",
            "/srv/ada/bin/ls",
            "/root/.profile",
            "/home/bob/.zshrc",
            "/home/bob/.cargo/config.toml",
            "/etc/cron.d/job",
            "/srv/conf/yoi/config.toml",
            "/w/.git",
            "/w/.git/config",
            "/w/deep/er/.git/hooks/pre-commit",
            "/w/.git/hooks",
            "/w/.git/modules/lib/hooks/post-checkout",
            "/w/.git/modules/a/b/config",
            "/w/.git/worktrees/x/gitdir",
            "/w/.git/commondir",
            "/w/bare.git/hooks/update",
            "/w/.envrc",
            "/w/sub/.envrc",
        ] {
            assert!(protected().covers(path), "{path}");
        }
    }

    #[test]
    fn work_is_not_covered() {
        for path in [
            "/srv/ada",
            "/srv/ada/work/.bashrc.md",
            "/srv/ada/.config",
            "/srv/ada/.config/app/x",
            "/srv/ada/binary",
            "/home/bob",
            "/home/bob/work/bin/x",
            "/w/.git/index",
            "/w/.git/HEAD",
            "/w/.git/refs/heads/config",
            "/w/.git/modules/lib/index",
            "/w/.gitignore",
            "/w/.github/workflows/x.yml",
            "/w/hooks/x",
            "/w/.envrc.example",
            "/w/bare.git",
            "/srv/conf/yoi2",
        ] {
            assert!(!protected().covers(path), "{path}");
        }
    }

    #[test]
    fn known_paths_are_covered() {
        let protected = protected();
        for path in protected.known(["/home/eve".to_owned()]) {
            assert!(protected.covers(&path), "{path}");
        }
    }
}
