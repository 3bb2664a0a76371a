//! Why a call failed, by what the caller can do about it.

use protocol::ApiError;

/// A failure of one call.
#[derive(Debug, Clone, thiserror::Error)]
pub enum ClientError {
    /// The server answered and refused; its sentence names the way out.
    #[error("{}", .0.detail)]
    Api(ApiError),
    /// Nothing answers at that address.
    #[error("no yoi answers at {address} ({cause}); start one with `yoi`, or name another with --server URL")]
    NoServer { address: String, cause: String },
    /// Something answers, but not as a yoi of this version would.
    #[error("the answer of {address} is not one of yoi's: {cause}")]
    Protocol { address: String, cause: String },
    /// The address itself is no `http://` or `https://` URL, or the token is no token.
    #[error("{0}")]
    Invalid(String),
}

impl ClientError {
    /// The refusal, when it was one.
    pub fn api(&self) -> Option<&ApiError> {
        match self {
            Self::Api(error) => Some(error),
            _ => None,
        }
    }
}
