//! Commands of a person's own: Markdown files whose text is sent as a message.

use serde::{Deserialize, Serialize};

/// One of them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct OwnCommand {
    /// The word after the colon.
    pub name: String,
    /// One line; may be empty.
    pub description: String,
    /// Its file.
    pub path: String,
}

/// The message that such a command stands for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct OwnMessage {
    pub text: String,
}
