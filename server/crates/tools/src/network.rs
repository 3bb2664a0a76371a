//! Which part of the network a command can reach.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// The port of the way out, inside a sandbox.
pub(crate) const PORT: u16 = 3128;
/// Programs read these in either case.
const VARIABLES: [&str; 6] = ["http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"];
const EXCEPTIONS: [&str; 2] = ["no_proxy", "NO_PROXY"];

/// The network of a command in a sandbox; a command without one has the machine's.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Network {
    /// A loopback of its own, with nothing on it.
    None,
    /// The machine's network.
    Open,
    /// A loopback of its own with a proxy on it: each connection is forwarded to this Unix socket.
    Through { socket: PathBuf },
}

impl Network {
    /// Whether it has a network of its own.
    pub(crate) fn is_own(&self) -> bool {
        *self != Self::Open
    }

    /// The port of the way out on its loopback.
    pub(crate) fn own_port(&self) -> Option<u16> {
        matches!(self, Self::Through { .. }).then_some(PORT)
    }

    /// The variables that tell programs about the way out.
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
