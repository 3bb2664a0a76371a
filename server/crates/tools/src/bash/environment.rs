//! Which variables of yoi's environment a command gets: all but those that are secrets or lead to somebody who holds some.

use std::ffi::{OsStr, OsString};

/// A name with one of these in it, in whatever case, is that of a secret.
const SECRET: [&str; 6] = ["KEY", "TOKEN", "SECRET", "PASSWORD", "PASSWD", "CREDENTIAL"];
/// Agents that would act for the command outside of its scope.
const AGENTS: [&str; 3] = ["SSH_AUTH_SOCK", "GPG_AGENT_INFO", "DBUS_SESSION_BUS_ADDRESS"];
/// A command has no terminal and nobody to ask.
const FIXED: [(&str, &str); 3] = [("PAGER", "cat"), ("GIT_TERMINAL_PROMPT", "0"), ("TERM", "dumb")];

/// `all` without secrets and without `hidden`, and with what a command without a terminal needs.
pub(super) fn shown(all: impl Iterator<Item = (OsString, OsString)>, hidden: &[String]) -> Vec<(OsString, OsString)> {
    let fixed = FIXED.map(|(name, value)| (OsString::from(name), OsString::from(value)));
    let is_fixed = |name: &OsStr| FIXED.iter().any(|(fixed, _)| name == *fixed);
    all.filter(|(name, _)| !is_hidden(name, hidden) && !is_fixed(name)).chain(fixed).collect()
}

fn is_hidden(name: &OsStr, hidden: &[String]) -> bool {
    let name = name.to_string_lossy().to_uppercase();
    name.starts_with("YOI_")
        || AGENTS.contains(&name.as_str())
        || SECRET.iter().any(|part| name.contains(part))
        || hidden.iter().any(|other| other.to_uppercase() == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_and_hidden_names_are_left_out_and_the_rest_is_passed_on() {
        let names = [
            "PATH",
            "HOME",
            "YOI_TOKEN",
            "yoi_x",
            "OPENAI_API_KEY",
            "npm_token",
            "MY_PASSWORD",
            "DB_PASSWD",
            "AWS_CREDENTIALS",
            "Client_Secret",
            "SSH_AUTH_SOCK",
            "MINE",
            "TERM",
            "LANG",
        ];
        let all = names.iter().map(|name| (OsString::from(name), OsString::from("x")));
        let shown = shown(all, &["mine".to_owned()]);
        let names = shown.iter().map(|(name, _)| name.to_str().unwrap()).collect::<Vec<_>>();
        assert_eq!(names, ["PATH", "HOME", "LANG", "PAGER", "GIT_TERMINAL_PROMPT", "TERM"]);
    }
}
