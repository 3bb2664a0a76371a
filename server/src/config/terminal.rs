//! What terminals in the page are made of.

use std::path::PathBuf;

use backend::TerminalOptions;

use super::Environment;

/// The shell if there is no SHELL.
const SHELL: &str = "/bin/sh";
/// The variables that a shell gets: what a login gives it. Everything else of the server's environment may be a secret
/// of the server's.
const VARIABLES: [&str; 25] = [
    "HOME",
    "USER",
    "LOGNAME",
    "SHELL",
    "PATH",
    "TZ",
    "LANG",
    "LANGUAGE",
    "LC_ALL",
    "LC_COLLATE",
    "LC_CTYPE",
    "LC_MESSAGES",
    "LC_MONETARY",
    "LC_NUMERIC",
    "LC_TIME",
    "EDITOR",
    "VISUAL",
    "PAGER",
    "SSH_AUTH_SOCK",
    "DBUS_SESSION_BUS_ADDRESS",
    "XDG_RUNTIME_DIR",
    "XDG_CONFIG_HOME",
    "XDG_DATA_HOME",
    "XDG_STATE_HOME",
    "XDG_CACHE_HOME",
];

pub(super) fn options(environment: &Environment) -> TerminalOptions {
    let variable = |name: &str| Some((name.to_owned(), environment.text(name)?));
    TerminalOptions {
        shell: environment.text("SHELL").map_or_else(|| PathBuf::from(SHELL), PathBuf::from),
        environment: VARIABLES.into_iter().filter_map(variable).collect(),
        open_files: None,
    }
}
