//! What a command reaches of the network.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// Where the way out listens, inside a room.
pub(crate) const PORT: u16 = 3128;
/// Programs read these in either spelling.
const VARIABLES: [&str; 6] = ["http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"];
const EXCEPTIONS: [&str; 2] = ["no_proxy", "NO_PROXY"];

/// The network of a command in a room; one without a room has the machine's.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Network {
    /// A loopback of its own, and nobody on it.
    None,
    /// That of the machine.
    Open,
    /// A loopback of its own, and a proxy on it: each connection's bytes go to this Unix socket and back.
    Through { socket: PathBuf },
}

impl Network {
    /// A network of its own.
    pub(crate) fn is_own(&self) -> bool {
        *self != Self::Open
    }

    /// The port of its loopback that is the way out's.
    pub(crate) fn own_port(&self) -> Option<u16> {
        matches!(self, Self::Through { .. }).then_some(PORT)
    }

    /// What tells programs of the way out.
    pub(crate) fn variables(&self) -> Vec<(&'static str, String)> {
        match self {
            Self::None | Self::Open => Vec::new(),
            Self::Through { .. } => {
                let proxy = VARIABLES.map(|name| (name, format!("http://127.0.0.1:{PORT}")));
                proxy.into_iter().chain(EXCEPTIONS.map(|name| (name, String::new()))).collect()
            }
        }
    }
}
