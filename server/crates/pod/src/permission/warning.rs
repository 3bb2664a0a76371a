//! Warns about rules that allow more than they seem to, or nothing. A person decides.

use protocol::{
    PermissionDecision, PermissionRule,
    tool::{self, Subject},
};

use super::{
    address::host_doubt,
    pattern::{exact, literals},
    words::{self, STAR},
};

/// Programs that run anything their arguments say, or anything in a file that a Pod may be able to write.
const RUN_ANYTHING: [&str; 74] = [
    "7z", "ansible", "ash", "awk", "bash", "bun", "bundle", "busybox", "cargo", "cmake", "command", "composer", "dash",
    "deno", "docker", "doas", "dotnet", "ed", "emacs", "env", "eval", "ex", "exec", "expect", "fd", "find", "flock",
    "gawk", "gdb", "git", "gmake", "go", "gradle", "java", "just", "ksh", "less", "lua", "make", "man", "mawk", "mvn",
    "ninja", "nice", "node", "nohup", "npm", "npx", "parallel", "perl", "php", "pip", "pnpm", "podman", "poetry",
    "pytest", "python", "python3", "rsync", "ruby", "scp", "sed", "setsid", "sh", "ssh", "sudo", "tar", "tclsh",
    "time", "timeout", "uv", "vi", "vim", "xargs",
];
/// More of the same, less common.
const RUN_ANYTHING_TOO: [&str; 9] = ["yarn", "zip", "zsh", "rake", "rg", "tsx", "ts-node", "watch", "tmux"];

/// Warnings about rules that allow more than they seem to, in the order of the rules.
pub fn rule_warnings(rules: &[PermissionRule]) -> Vec<String> {
    rules.iter().filter_map(rule_warning).collect()
}

/// Why a rule allows more than it says, as a sentence; `None` if it does not.
pub(super) fn rule_warning(rule: &PermissionRule) -> Option<String> {
    if rule.decision != PermissionDecision::Allow {
        return None;
    }
    let pattern = rule.pattern.as_deref().unwrap_or("*");
    match tool::facts(&rule.tool).subject {
        Subject::Command => command_warning(pattern),
        Subject::Host => host_doubt(pattern).map(|doubt| format!("Network {pattern}: {doubt}")),
        Subject::Url if !pattern.contains("://") && exact(pattern).is_none() && pattern != "*" => Some(format!(
            "WebFetch {pattern}: it names no scheme; https://HOST/* says which host is meant, and nothing else"
        )),
        _ => None,
    }
}

fn command_warning(pattern: &str) -> Option<String> {
    if exact(pattern).is_some() {
        return None;
    }
    if pattern == "*" {
        return Some("Bash *: it runs any command".to_owned());
    }
    let Some(line) = words::read_pattern(pattern) else {
        return Some(format!(
            "Bash {pattern}: it has signs of the shell besides *, so it allows nothing; name the words of a command"
        ));
    };
    let programs = line.commands.iter().filter_map(|command| command.words.first());
    let anything = programs.filter(|program| runs_anything(program)).map(|program| program.replace(STAR, "*"));
    let named = anything.collect::<Vec<_>>().join(", ");
    let may = "can run any program; a rule with more words, or without *, says more closely what is meant";
    (!named.is_empty() && !literals(pattern).is_empty()).then(|| format!("Bash {pattern}: {named} {may}"))
}

fn runs_anything(program: &str) -> bool {
    let bare = program.rsplit('/').next().unwrap_or_default();
    // "python3.12" is python.
    let plain = bare.trim_end_matches(|sign: char| sign.is_ascii_digit() || sign == '.');
    program.contains(STAR)
        || [bare, plain].iter().any(|name| RUN_ANYTHING.contains(name) || RUN_ANYTHING_TOO.contains(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rule_that_runs_anything_says_so() {
        for (pattern, warns) in [
            (Some("git *"), true),
            (Some("find *"), true),
            (Some("/usr/bin/env *"), true),
            (Some("python3.12 *"), true),
            (Some("npm run *"), true),
            (Some("* --help"), true),
            (Some("cd * && make *"), true),
            (Some("echo $*"), true),
            (Some("*"), true),
            (None, true),
            (Some("git status"), false),
            (Some("ls *"), false),
            (Some("cat *"), false),
        ] {
            let rule = PermissionRule {
                tool: "Bash".to_owned(),
                pattern: pattern.map(str::to_owned),
                folder: None,
                pod: None,
                decision: PermissionDecision::Allow,
            };
            assert_eq!(rule_warning(&rule).is_some(), warns, "{pattern:?}");
            assert_eq!(rule_warning(&PermissionRule { decision: PermissionDecision::Deny, ..rule }), None);
        }
    }
}
