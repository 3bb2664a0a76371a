//! What is noticed of an answer beside the library.

use serde_json::Value;

use super::calls::CallPiece;

/// A part of an answer, in the order in which it came.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Notice {
    Text(String),
    Reasoning(String),
    /// A thought that only the provider can read, as it wants it back.
    Thought(Value),
    Call(CallPiece),
    /// A call whose arguments are known as a whole.
    Whole(CallPiece),
}
