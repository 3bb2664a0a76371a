//! What is read from an answer in addition to the library.

use serde_json::Value;

use super::calls::CallPiece;

/// A part of an answer, in order of arrival.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Notice {
    Text(String),
    Reasoning(String),
    /// Reasoning that only the provider can read, as it wants it back.
    Thought(Value),
    Call(CallPiece),
    /// A call whose arguments are complete.
    Whole(CallPiece),
}
