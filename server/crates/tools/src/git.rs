//! Git as yoi itself runs it, for what a person wants done in a Pod's repository.
//!
//! A repository is hostile: whoever wrote its settings may have named programs for git to run (hooks, monitors, filters,
//! drivers, transports), and a Pod may have written everything but the settings. So git runs in the same kind of sandbox
//! as a Pod's command, with the scope that its task needs, without a network, with bounded time and output, and with
//! everything off that it does not need. Filters and drivers, which decide what is in a file, run in that sandbox.

use std::{path::PathBuf, time::Duration};

use pod::Scope;

use crate::bash::{BashOptions, Errand, Ran, Unrun};

/// How long one call may take, unless the call sets another limit.
pub const GIT_TIME_MAX: Duration = Duration::from_secs(30);
/// The most bytes of output of one call, unless the call sets another limit.
pub const GIT_BYTES_MAX: usize = 8 * 1024 * 1024;
/// How much of git's own message is passed on.
const WORDS_CHARS_MAX: usize = 400;

/// Settings that the ones of a repository and of the account cannot change. Hooks never run: a person's command does
/// what it says, and what a hook checks is checked by whoever commits in the Pod.
const SETTINGS: [&str; 18] = [
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "core.untrackedCache=false",
    "core.quotePath=false",
    "core.editor=false",
    "core.pager=cat",
    "sequence.editor=false",
    "commit.gpgSign=false",
    "tag.gpgSign=false",
    "color.ui=false",
    "gc.auto=0",
    "maintenance.auto=false",
    "submodule.recurse=false",
    "merge.autoStash=false",
    "rebase.autoStash=false",
    "protocol.allow=never",
    "protocol.ext.allow=never",
    "credential.helper=",
];
const VARIABLES: [(&str, &str); 10] = [
    ("LC_ALL", "C"),
    ("GIT_CONFIG_NOSYSTEM", "1"),
    ("GIT_TERMINAL_PROMPT", "0"),
    ("GIT_OPTIONAL_LOCKS", "0"),
    // Missing objects are not fetched, by no transport.
    ("GIT_NO_LAZY_FETCH", "1"),
    ("GIT_ALLOW_PROTOCOL", "none"),
    ("GIT_LFS_SKIP_SMUDGE", "1"),
    ("GIT_ASKPASS", "false"),
    ("GIT_NO_REPLACE_OBJECTS", "1"),
    // A path is a path, whatever characters it has.
    ("GIT_LITERAL_PATHSPECS", "1"),
];

/// Runs git.
#[derive(Debug, Clone)]
pub struct Git {
    options: BashOptions,
}

/// One call of git.
#[derive(Debug, Clone)]
pub struct GitCall {
    cwd: PathBuf,
    scope: Scope,
    arguments: Vec<String>,
    variables: Vec<(String, String)>,
    input: Vec<u8>,
    time_max: Duration,
    bytes_max: usize,
}

/// Why git did not do what it was to do.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum GitFailure {
    #[error("git could not be run: {0}")]
    Unrun(#[from] Unrun),
    /// Its exit code and its last words.
    #[error("git refused: {words}")]
    Refused { code: i32, words: String },
}

impl GitCall {
    /// Git in this folder, with what it may touch: `git ARGUMENTS`. Put values that others chose behind
    /// `--end-of-options` or `--`.
    pub fn new<A: Into<String>>(cwd: impl Into<PathBuf>, scope: Scope, arguments: impl IntoIterator<Item = A>) -> Self {
        Self {
            cwd: cwd.into(),
            scope,
            arguments: arguments.into_iter().map(Into::into).collect(),
            variables: Vec::new(),
            input: Vec::new(),
            time_max: GIT_TIME_MAX,
            bytes_max: GIT_BYTES_MAX,
        }
    }

    /// What it reads from its standard input.
    #[must_use]
    pub fn with_input(self, input: impl Into<Vec<u8>>) -> Self {
        Self { input: input.into(), ..self }
    }

    /// A variable of its environment, such as `GIT_INDEX_FILE`.
    #[must_use]
    pub fn with_variable(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.variables.push((name.into(), value.into()));
        self
    }

    #[must_use]
    pub fn within(self, time_max: Duration) -> Self {
        Self { time_max, ..self }
    }

    #[must_use]
    pub fn at_most(self, bytes_max: usize) -> Self {
        Self { bytes_max, ..self }
    }
}

impl Git {
    /// With the sandboxes of commands that are run this way.
    pub fn new(options: BashOptions) -> Self {
        Self { options }
    }

    /// Runs it to its end, whatever its exit code is. Dropping this future ends it.
    ///
    /// # Errors
    /// It could not be run, or was ended for taking or saying too much.
    pub async fn run(&self, call: GitCall) -> Result<Ran, Unrun> {
        let GitCall { cwd, scope, arguments, variables, input, time_max, bytes_max } = call;
        let settings = SETTINGS.iter().flat_map(|setting| ["-c".to_owned(), (*setting).to_owned()]);
        let program = ["git".to_owned(), "--no-pager".to_owned()].into_iter().chain(settings).chain(arguments);
        let fixed = VARIABLES.map(|(name, value)| (name.to_owned(), value.to_owned()));
        let errand = Errand {
            program: program.collect(),
            variables: fixed.into_iter().chain(variables).collect(),
            input,
            cwd,
            scope,
            keeps_repositories: true,
            time_max,
            bytes_max,
        };
        errand.run(&self.options).await
    }

    /// Git's output; git has to succeed.
    ///
    /// # Errors
    /// It could not be run, or it refused.
    pub async fn told(&self, call: GitCall) -> Result<Vec<u8>, GitFailure> {
        let ran = self.run(call).await?;
        match ran.code {
            Some(0) => Ok(ran.output),
            code => Err(GitFailure::Refused { code: code.unwrap_or(-1), words: words(&ran) }),
        }
    }

    /// Like [`Git::told`], as text without the line's end.
    ///
    /// # Errors
    /// As there.
    pub async fn line(&self, call: GitCall) -> Result<String, GitFailure> {
        let told = self.told(call).await?;
        Ok(String::from_utf8_lossy(&told).trim_end_matches('\n').to_owned())
    }

    /// Removes a folder and everything in it, without following a link, and only if no part of its path is one. What
    /// does not exist is as good as removed.
    ///
    /// # Errors
    /// It could not be removed.
    pub async fn remove(&self, folder: &std::path::Path) -> Result<(), GitFailure> {
        let (Some(above), Some(path)) = (folder.parent().and_then(|above| above.to_str()), folder.to_str()) else {
            return Err(GitFailure::Refused { code: -1, words: "its path is not valid UTF-8".to_owned() });
        };
        let rule = protocol::ScopeRule { path: above.to_owned(), access: protocol::Access::Write, recursive: true };
        let errand = Errand {
            program: ["rm", "-rf", "--", path].map(str::to_owned).to_vec(),
            variables: std::collections::BTreeMap::new(),
            input: Vec::new(),
            cwd: PathBuf::from("/"),
            scope: Scope::new([rule], []),
            keeps_repositories: false,
            time_max: GIT_TIME_MAX,
            bytes_max: GIT_BYTES_MAX,
        };
        let ran = errand.run(&self.options).await?;
        match ran.code {
            Some(0) => Ok(()),
            code => Err(GitFailure::Refused { code: code.unwrap_or(-1), words: words(&ran) }),
        }
    }
}

/// Git's message about its failure, without hints and control characters.
fn words(ran: &Ran) -> String {
    let lines = ran.errors.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with("hint:"));
    let words = lines.map(|line| line.trim_start_matches("fatal: ").trim_start_matches("error: "));
    let words = words.collect::<Vec<_>>().join("; ");
    let words: String = words.chars().filter(|character| !character.is_control()).take(WORDS_CHARS_MAX).collect();
    if words.is_empty() { "it did not say why".to_owned() } else { words }
}

/// The parts of git's output with `-z`, as text. A path that is not valid UTF-8 is only approximate.
pub fn parts(told: &[u8]) -> Vec<String> {
    let parts = told.split(|byte| *byte == 0).filter(|part| !part.is_empty());
    parts.map(|part| String::from_utf8_lossy(part).into_owned()).collect()
}
