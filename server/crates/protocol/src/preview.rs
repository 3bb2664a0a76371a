//! What a Pod's commands serve, shown to a person.

use serde::{Deserialize, Serialize};

/// Opens a preview.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct PreviewCommand {
    /// A port of the loopback of the Pod's commands: 1 to 65535.
    pub port: u16,
}

/// A port that is shown on an origin of its own.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Preview {
    pub port: u16,
    /// Where it is shown: `http://p-….localhost:PORT/`. In the answer that opens it, with a code that lets one browser in, once and
    /// within a minute.
    pub url: String,
}
