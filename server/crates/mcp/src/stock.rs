//! What a server offers beside tools, as it was listed.

use protocol::{McpPrompt, McpResource};

/// The prompts and resources of one server, as one Pod sees them.
#[derive(Debug, Default)]
pub(crate) struct Shelf {
    /// With the server's own names.
    pub(crate) prompts: Vec<(String, McpPrompt)>,
    pub(crate) resources: Vec<McpResource>,
}
