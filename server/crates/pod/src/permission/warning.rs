//! Warns about rules that allow more than they seem to, or nothing. A person decides.

use protocol::{
    PermissionDecision, PermissionRule,
    tool::{self, Subject},
};

use super::{
    address::host_doubt,
    command::WRAPPERS,
    pattern::{exact, literals},
    words::{self, STAR},
};

/// Programs and builtins that run anything their arguments say, or anything in a file that a Pod may be able to write,
/// besides those that are followed by what they run (`WRAPPERS`).
const RUN_ANYTHING: &str = "
    7z R Rscript ansible ansible-playbook apt apt-get asdf at awk batch bazel buck2 bun bundle bwrap c++ cabal capsh
    cargo cc clang clang++ cmake compgen composer cpio crontab csh ctags dart deno direnv docker dotnet ed elixir emacs
    entr erl ex expect fakeroot fc firejail fish flutter g++ gawk gcc gdb gdbserver gem ghc ghci git gmake go gradle
    grunt guix gulp gvim hatch helm hyperfine iex irb java jest jobs jrunscript julia just kubectl latex lein lerna
    less lldb logsave ltrace lua lualatex mail make man mawk meson mise mix mksh mocha mvn mysql nim ninja nix
    nix-build nix-shell nmap node nox npm npx nvim nx ocaml octave openssl pdflatex pdm perf perl php pip pipenv pipx
    pnpm podman poetry pre-commit proot psql pytest python python3 racket rake raku rebar3 rg rlwrap rpm rr rsync ruby
    run-parts rustc rustup rview rvim sbt scons scp screen sed sftp socat sort split sqlite3 ssh stack
    start-stop-daemon swift systemctl systemd-run tar tclsh tcpdump tcsh terraform tmux tox ts-node tsx turbo uv
    vagrant valgrind vi view vim vimdiff vitest wget xelatex yarn zig zip
";

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
            "Bash {pattern}: it has signs of the shell besides *, or a builtin that sets something (export, read, printf \
             -v), so it allows nothing; name the words of a command"
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
        || RUN_ANYTHING.split_whitespace().chain(WRAPPERS).any(|known| known == bare || known == plain)
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
            (Some("source *"), true),
            (Some(". *"), true),
            (Some("trap *"), true),
            (Some("builtin *"), true),
            (Some("compgen *"), true),
            (Some("sort *"), true),
            (Some("split *"), true),
            (Some("strace *"), true),
            (Some("export *"), true),
            (Some("printf -v *"), true),
            (Some("printf *"), false),
            (Some("test *"), false),
            (Some("port *"), false),
            (Some("set *"), false),
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
            assert_eq!(rule_warning(&rule).is_some(), warns, "{pattern:?}: {:?}", rule_warning(&rule));
            assert_eq!(rule_warning(&PermissionRule { decision: PermissionDecision::Deny, ..rule }), None);
        }
    }
}
