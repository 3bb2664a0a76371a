//! Which of yoi's environment variables a command gets: those for locations and locale, those that name tool chains,
//! and those that a person has listed. Everything else in yoi's environment is withheld.

use std::ffi::{OsStr, OsString};

/// By full name.
const NAMES: [&str; 58] = [
    "PATH",
    "HOME",
    "USER",
    "LOGNAME",
    "SHELL",
    "LANG",
    "LANGUAGE",
    "TZ",
    "TZDIR",
    "COLORTERM",
    "NO_COLOR",
    "CLICOLOR",
    "TERMINFO",
    "TERMINFO_DIRS",
    "EDITOR",
    "MANPATH",
    "INFOPATH",
    "HOSTNAME",
    "SOURCE_DATE_EPOCH",
    "CI",
    // Search paths for libraries and headers.
    "LD_LIBRARY_PATH",
    "LIBRARY_PATH",
    "CPATH",
    "C_INCLUDE_PATH",
    "CPLUS_INCLUDE_PATH",
    "PKG_CONFIG_PATH",
    "CMAKE_PREFIX_PATH",
    "CC",
    "CXX",
    "CFLAGS",
    "CXXFLAGS",
    "LDFLAGS",
    "MAKEFLAGS",
    // Tool chains.
    "CARGO_HOME",
    "CARGO_TARGET_DIR",
    "CARGO_INCREMENTAL",
    "CARGO_BUILD_JOBS",
    "RUSTUP_HOME",
    "RUSTUP_TOOLCHAIN",
    "RUSTFLAGS",
    "RUST_BACKTRACE",
    "GOPATH",
    "GOROOT",
    "GOFLAGS",
    "JAVA_HOME",
    "ANDROID_HOME",
    "NVM_DIR",
    "NODE_PATH",
    "PYENV_ROOT",
    "PYTHONPATH",
    "VIRTUAL_ENV",
    "CONDA_PREFIX",
    "RBENV_ROOT",
    "GEM_HOME",
    "GEM_PATH",
    "PERL5LIB",
    "NIX_PATH",
    "NIX_PROFILES",
];
/// By prefix.
const BEGINNINGS: [&str; 3] = ["LC_", "CARGO_PROFILE_", "NIX_SSL_"];
/// A command has no terminal and nobody to ask.
const FIXED: [(&str, &str); 3] = [("PAGER", "cat"), ("GIT_TERMINAL_PROMPT", "0"), ("TERM", "dumb")];

/// The variables for a command: the common ones in `all`, those in `named`, and fixed ones for a command without a
/// terminal.
pub(super) fn shown(all: impl Iterator<Item = (OsString, OsString)>, named: &[String]) -> Vec<(OsString, OsString)> {
    let fixed = FIXED.map(|(name, value)| (OsString::from(name), OsString::from(value)));
    let is_fixed = |name: &OsStr| FIXED.iter().any(|(fixed, _)| name == *fixed);
    all.filter(|(name, _)| is_shown(name, named) && !is_fixed(name)).chain(fixed).collect()
}

fn is_shown(name: &OsStr, named: &[String]) -> bool {
    let Some(name) = name.to_str() else { return false };
    NAMES.contains(&name)
        || BEGINNINGS.iter().any(|beginning| name.starts_with(beginning))
        || named.iter().any(|other| other == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_named_is_not_passed_on() {
        let names = [
            "PATH",
            "HOME",
            "YOI_TOKEN",
            "OPENAI_API_KEY",
            "DATABASE_URL",
            "SSH_AUTH_SOCK",
            "LD_PRELOAD",
            "BASH_ENV",
            "GIT_SSH_COMMAND",
            "LC_ALL",
            "MINE",
            "mine",
            "TERM",
            "LANG",
        ];
        let all = names.iter().map(|name| (OsString::from(name), OsString::from("x")));
        let shown = shown(all, &["MINE".to_owned()]);
        let names = shown.iter().map(|(name, _)| name.to_str().unwrap()).collect::<Vec<_>>();
        assert_eq!(names, ["PATH", "HOME", "LC_ALL", "MINE", "LANG", "PAGER", "GIT_TERMINAL_PROMPT", "TERM"]);
    }
}
