//! The error that server functions return.

use leptos::server_fn::error::{FromServerFnError, ServerFnErrorErr};
use protocol::{ApiError, ErrorCode};
use serde::{Deserialize, Serialize};

use crate::codec::JsonText;

/// The API's own error. On the wire it is the same problem document that REST returns, so that a refusal from the
/// login check, which runs before any server function, parses the same way.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[serde(transparent)]
#[error("{0}")]
pub struct UiError(pub ApiError);

impl UiError {
    pub fn new(code: ErrorCode, sentence: impl Into<String>) -> Self {
        Self(ApiError::new(code, sentence))
    }

    pub fn code(&self) -> ErrorCode {
        self.0.code
    }

    /// One sentence that names what is wrong and what to do.
    pub fn sentence(&self) -> &str {
        &self.0.detail
    }

    /// Whether the login has expired.
    pub fn is_unauthorized(&self) -> bool {
        self.0.code == ErrorCode::Unauthorized
    }
}

impl From<ApiError> for UiError {
    fn from(error: ApiError) -> Self {
        Self(error)
    }
}

impl FromServerFnError for UiError {
    type Encoder = JsonText;

    fn from_server_fn_error(error: ServerFnErrorErr) -> Self {
        match error {
            ServerFnErrorErr::Request(_) => {
                Self::new(ErrorCode::RuntimeUnavailable, "the server does not answer; nothing is lost, so try again")
            }
            ServerFnErrorErr::Args(detail) | ServerFnErrorErr::MissingArg(detail) => {
                Self::new(ErrorCode::InvalidInput, detail)
            }
            // On the server this is a malformed request; in the browser, a malformed response.
            ServerFnErrorErr::Deserialization(detail) if cfg!(feature = "ssr") => {
                Self::new(ErrorCode::InvalidInput, format!("the body does not fit: {detail}"))
            }
            other => Self::new(ErrorCode::Internal, other.to_string()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_answer_of_the_login_check_is_understood() {
        let problem = br#"{"type":"urn:yoi:error:unauthorized","title":"A token is needed","status":401,
            "code":"unauthorized","detail":"log in again"}"#;
        let error = UiError::de(problem.to_vec().into());
        assert!(error.is_unauthorized());
        assert_eq!(error.sentence(), "log in again");
    }

    #[test]
    fn an_error_is_the_same_after_the_wire() {
        let error = UiError::new(ErrorCode::Busy, "pod \"ada\" is running");
        assert_eq!(UiError::de(error.ser()), error);
    }

    #[test]
    fn an_answer_that_is_no_json_is_an_error_of_ours_and_not_a_panic() {
        let told = if cfg!(feature = "ssr") { ErrorCode::InvalidInput } else { ErrorCode::Internal };
        assert_eq!(UiError::de(b"<html>".to_vec().into()).code(), told);
    }
}
