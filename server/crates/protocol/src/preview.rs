//! Previews of what a Pod's commands serve.

use serde::{Deserialize, Serialize};

/// Opens a preview.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct PreviewCommand {
    /// A port on the loopback of the Pod's commands: 1 to 65535.
    #[cfg_attr(feature = "openapi", schema(minimum = 1, maximum = 65_535))]
    pub port: u16,
}

/// A port on the loopback of a Pod's commands, which can be shown on an origin of its own.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Preview {
    #[cfg_attr(feature = "openapi", schema(minimum = 1, maximum = 65_535))]
    pub port: u16,
    /// The preview is open.
    pub is_open: bool,
    /// A command is listening on it now.
    pub is_listening: bool,
    /// The preview's address: `http://p-….localhost:PORT/`; absent when it is not open. In the answer that opens
    /// it, with a code that lets one browser in, once and within a minute.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
}
