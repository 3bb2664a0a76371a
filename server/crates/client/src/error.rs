//! The errors of calls, distinguished by what the caller can do about them.

use protocol::ApiError;

/// The failure of a call.
#[derive(Debug, Clone, thiserror::Error)]
pub enum ClientError {
    /// The server refused; its sentence says what to do.
    #[error("{}", .0.detail)]
    Api(ApiError),
    /// Nothing answers at that address.
    #[error("no yoi answers at {address} ({cause}); start one with `yoi`, or name another with --server URL")]
    NoServer { address: String, cause: String },
    /// Something answers, but not as a yoi of this version would.
    #[error("the answer of {address} is not one of yoi's: {cause}")]
    Protocol { address: String, cause: String },
    /// The address is not an `http://` or `https://` URL, or the token is malformed.
    #[error("{0}")]
    Invalid(String),
}

impl ClientError {
    /// The server's refusal, if it was one.
    pub fn api(&self) -> Option<&ApiError> {
        match self {
            Self::Api(error) => Some(error),
            _ => None,
        }
    }
}

/// Rewords a server's sentence for the command line: requests become verbs.
pub fn in_verbs(sentence: &str) -> String {
    let mut said = sentence
        .replace("GET the Pod to see its queue", "`yoi queue NAME` lists its queue")
        .replace("send with `queue`, or wait", "leave --no-queue out, or wait")
        .replace("begin without `after`", "begin without --after")
        .replace("set `overwrite` to", "use --overwrite to")
        .replace(
            "send `force` to remove it nevertheless",
            "`yoi worktree NAME discard --force` removes it nevertheless",
        )
        .replace("rewind without `files`", "rewind without --files")
        .replace("GET the changes to see", "`yoi changes NAME` shows");
    while let Some(at) = said.find(LIST) {
        let rest = &said[at + LIST.len()..];
        let end = rest.find(|letter: char| !letter.is_ascii_lowercase()).unwrap_or(rest.len());
        said = format!("{}`yoi {}`{}", &said[..at], &rest[..end], &rest[end..]);
    }
    said
}

/// Precedes the name of a list, which is also its verb.
const LIST: &str = "GET /api/v1/";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_server_says_of_requests_is_said_of_verbs() {
        for (said, expected) in [
            ("no login; GET /api/v1/sessions lists those that are", "no login; `yoi sessions` lists those that are"),
            ("see GET /api/v1/runtimes", "see `yoi runtimes`"),
            ("no such message; GET the Pod to see its queue", "no such message; `yoi queue NAME` lists its queue"),
            ("GET a coffee", "GET a coffee"),
        ] {
            assert_eq!(in_verbs(said), expected);
        }
    }
}
