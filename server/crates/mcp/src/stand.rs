//! The surroundings of the programs of a Pod's servers: what the Pod may access.

use std::path::PathBuf;

use pod::Scope;
use protocol::NetworkPolicy;
use tokio::sync::mpsc;
use tools::proxy::Wish;

#[derive(Debug, Clone)]
pub struct Stand {
    pub cwd: PathBuf,
    pub scope: Scope,
    pub network: NetworkPolicy,
    /// Their requests for network access; the call in them is the server's name.
    pub wishes: mpsc::Sender<Wish>,
}

impl Stand {
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        self.cwd == other.cwd && self.scope == other.scope && self.network == other.network
    }
}
