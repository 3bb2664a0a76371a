//! The one form of errors, and their stable codes.

use std::fmt;

use serde::{Deserialize, Serialize, Serializer, ser::SerializeStruct};

use crate::{PodName, PodRef};

macro_rules! codes {
    ($($variant:ident $text:literal $status:literal $title:literal;)*) => {
        /// A stable name for what went wrong. Clients act on it; people read the sentence.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
        #[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
        #[serde(rename_all = "snake_case")]
        pub enum ErrorCode { $($variant,)* }

        impl ErrorCode {
            pub const ALL: &'static [Self] = &[$(Self::$variant,)*];

            pub fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $text,)* }
            }

            /// Its HTTP status.
            pub fn status(self) -> u16 {
                match self { $(Self::$variant => $status,)* }
            }

            /// A short, constant title.
            pub fn title(self) -> &'static str {
                match self { $(Self::$variant => $title,)* }
            }
        }
    };
}

codes! {
    InvalidInput "invalid_input" 400 "The request is not valid";
    CursorInvalid "cursor_invalid" 400 "The cursor is not valid here";
    Unauthorized "unauthorized" 401 "A token is needed";
    ForbiddenHost "forbidden_host" 403 "This host name is not allowed";
    ForbiddenOrigin "forbidden_origin" 403 "This origin is not allowed";
    NotVisible "not_visible" 403 "Not visible";
    PermissionDenied "permission_denied" 403 "Permission denied";
    TerminalOff "terminal_off" 403 "Terminals are off";
    ScopeNotHeld "scope_not_held" 403 "Outside the scope that is held";
    PodNotFound "pod_not_found" 404 "No such Pod";
    RuntimeNotFound "runtime_not_found" 404 "No such runtime";
    NotFound "not_found" 404 "Nothing here";
    MethodNotAllowed "method_not_allowed" 405 "The method does not fit";
    AmbiguousName "ambiguous_name" 409 "The name is ambiguous";
    BudgetSpent "budget_spent" 409 "A budget is spent";
    Busy "busy" 409 "The Pod is busy";
    NotRunning "not_running" 409 "The Pod is not running";
    NotPaused "not_paused" 409 "The Pod is not paused";
    NotLive "not_live" 409 "The Pod is not live";
    NotRestorable "not_restorable" 409 "The Pod cannot be restored";
    NothingToRetry "nothing_to_retry" 409 "There is nothing to retry";
    AlreadyAnswered "already_answered" 409 "Already answered";
    NameTaken "name_taken" 409 "The name is taken";
    ScopeConflict "scope_conflict" 409 "The scope is in conflict";
    HeadMoved "head_moved" 409 "The head has moved";
    NoRepository "no_repository" 409 "The folder is in no git repository";
    NoWorktree "no_worktree" 409 "The Pod has no work tree of its own";
    NotCommitted "not_committed" 409 "Something is not committed";
    NotMerged "not_merged" 409 "Commits would be lost";
    MergeConflict "merge_conflict" 409 "The changes are in conflict";
    NothingToCommit "nothing_to_commit" 409 "There is nothing to commit";
    Changed "changed" 409 "It has changed meanwhile";
    FilesChanged "files_changed" 409 "Somebody else changed files";
    PeerRefused "peer_refused" 409 "The other side refused";
    CursorExpired "cursor_expired" 410 "The cursor has expired";
    PayloadTooLarge "payload_too_large" 413 "Too large";
    PeerSelf "peer_self" 422 "A Pod cannot be its own peer";
    KeyReused "key_reused" 422 "The idempotency key is in use";
    RateLimited "rate_limited" 429 "Too many requests";
    Internal "internal" 500 "Something broke inside yoi";
    ProviderError "provider_error" 502 "The model's provider failed";
    RuntimeUnavailable "runtime_unavailable" 503 "The runtime is not available";
    Timeout "timeout" 504 "It took too long";
}

impl fmt::Display for ErrorCode {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

/// A Pod that may have been meant.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Candidate {
    pub pod: PodRef,
    pub name: PodName,
}

/// An error as a client gets it: `application/problem+json`.
///
/// On the wire it also carries `type`, `title` and `status`, which follow from the code.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, thiserror::Error)]
#[error("{detail}")]
pub struct ApiError {
    pub code: ErrorCode,
    /// One sentence that says what is wrong and what to do.
    pub detail: String,
    #[serde(default)]
    pub candidates: Vec<Candidate>,
    #[serde(default)]
    pub retry_after_ms: Option<u64>,
    /// The files that it is about.
    #[serde(default)]
    pub paths: Vec<String>,
}

impl ApiError {
    pub fn new(code: ErrorCode, detail: impl Into<String>) -> Self {
        Self { code, detail: detail.into(), candidates: Vec::new(), retry_after_ms: None, paths: Vec::new() }
    }

    pub fn invalid(detail: impl Into<String>) -> Self {
        Self::new(ErrorCode::InvalidInput, detail)
    }

    /// For an input of this many bytes, more than [`crate::INPUT_BYTES_MAX`].
    pub fn input_too_large(bytes: usize) -> Self {
        let most = crate::INPUT_BYTES_MAX;
        let sentence = format!(
            "the message has {bytes} bytes; at most {most} fit: send it in parts, or write it to a file and name that file"
        );
        Self::new(ErrorCode::PayloadTooLarge, sentence)
    }

    #[must_use]
    pub fn with_paths(mut self, paths: Vec<String>) -> Self {
        self.paths = paths;
        self
    }

    #[must_use]
    pub fn with_candidates(mut self, candidates: Vec<Candidate>) -> Self {
        self.candidates = candidates;
        self
    }
}

impl Serialize for ApiError {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut problem = serializer.serialize_struct("ApiError", 8)?;
        problem.serialize_field("type", &format!("urn:yoi:error:{}", self.code))?;
        problem.serialize_field("title", self.code.title())?;
        problem.serialize_field("status", &self.code.status())?;
        problem.serialize_field("code", &self.code)?;
        problem.serialize_field("detail", &self.detail)?;
        match self.candidates.is_empty() {
            true => problem.skip_field("candidates")?,
            false => problem.serialize_field("candidates", &self.candidates)?,
        }
        match self.retry_after_ms {
            None => problem.skip_field("retry_after_ms")?,
            Some(ms) => problem.serialize_field("retry_after_ms", &ms)?,
        }
        match self.paths.is_empty() {
            true => problem.skip_field("paths")?,
            false => problem.serialize_field("paths", &self.paths)?,
        }
        problem.end()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_of_each_code_is_its_json() {
        for code in ErrorCode::ALL {
            assert_eq!(serde_json::to_value(code).unwrap(), code.as_str());
        }
    }

    #[test]
    fn a_problem_says_type_title_status_code_and_detail() {
        let error = ApiError::new(ErrorCode::Busy, "pod \"ada\" is running");
        let json = serde_json::to_value(&error).unwrap();
        assert_eq!(
            json,
            serde_json::json!({
                "type": "urn:yoi:error:busy", "title": "The Pod is busy", "status": 409, "code": "busy",
                "detail": "pod \"ada\" is running"
            })
        );
        assert_eq!(serde_json::from_value::<ApiError>(json).unwrap(), error);
    }
}
