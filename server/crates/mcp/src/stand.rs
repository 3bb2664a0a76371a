//! Where the programs of a Pod's servers stand: what the Pod may touch.

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
    /// What they want to reach of the network; the call is the server's name.
    pub wishes: mpsc::Sender<Wish>,
}

impl Stand {
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        self.cwd == other.cwd && self.scope == other.scope && self.network == other.network
    }
}
