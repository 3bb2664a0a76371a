//! What can go wrong with a file, each with the code and the message that a model gets.

use pod::{ScopeRefusal, ToolOutcome};
use rustix::io::Errno;

/// A call that did not do what it was asked. Every message names the problem and the way out.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum Failure {
    #[error("{0}")]
    InvalidInput(String),
    #[error("{path} {refusal}")]
    Scope { path: String, refusal: ScopeRefusal },
    #[error("{path} leads through a symbolic link to something that {refusal}")]
    Link { path: String, refusal: ScopeRefusal },
    #[error("{0}")]
    Denied(String),
    #[error("{0} is not there; use Glob to see what is")]
    NotFound(String),
    #[error("{path} {why}; Read it first, then repeat the call")]
    ReadFirst { path: String, why: &'static str },
    #[error(
        "{path} does not contain `old`; it must match exactly, with all spaces and line breaks: Read the file again"
    )]
    NoMatch { path: String },
    #[error(
        "{path} contains `old` {count} times; give more of the lines around it so that it is unique, or set replace_all"
    )]
    NotUnique { path: String, count: usize },
    #[error("{0}")]
    Io(String),
    #[error("the call was given up before it was carried out")]
    GivenUp,
}

impl Failure {
    pub(super) fn code(&self) -> &'static str {
        match self {
            Self::InvalidInput(_) => "invalid_input",
            Self::Scope { .. } | Self::Link { .. } | Self::Denied(_) => "permission_denied",
            Self::NotFound(_) => "not_found",
            Self::ReadFirst { .. } => "read_first",
            Self::NoMatch { .. } => "no_match",
            Self::NotUnique { .. } => "not_unique",
            Self::Io(_) => "io_failed",
            Self::GivenUp => "interrupted",
        }
    }

    /// The system's error for `path`, which is shown to the model.
    pub(super) fn of_system(path: &str, errno: Errno) -> Self {
        match errno {
            Errno::NOENT => Self::NotFound(path.to_owned()),
            Errno::NOTDIR => Self::NotFound(path.to_owned()),
            Errno::ACCESS | Errno::PERM => {
                Self::Denied(format!("{path} is closed to the user that this server runs as ({errno})"))
            }
            Errno::ROFS => Self::Denied(format!("{path} is on a file system that cannot be written")),
            Errno::NAMETOOLONG => Self::InvalidInput(format!("{path} is longer than the file system takes")),
            Errno::NOSYS => Self::Io(format!(
                "{path} was not opened: this system lacks openat2 (Linux 5.6), without which a scope cannot be kept"
            )),
            errno => Self::Io(format!("{path}: {errno}")),
        }
    }
}

impl From<Failure> for ToolOutcome {
    fn from(failure: Failure) -> Self {
        Self::failed(failure.code(), failure.to_string())
    }
}
