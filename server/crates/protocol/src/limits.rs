//! Limits on the number of Pods.

use serde::{Deserialize, Serialize};

/// How many Pods that are not stopped a server has, and one Pod leads. Each costs memory while it works, and a person keeps an eye on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct PodLimits {
    /// On the server; where several share a database, on all of them.
    pub max: u64,
    /// Children of one Pod.
    pub children_max: u64,
    /// All beneath the one that nobody leads, however far down: so that none makes others without end.
    pub family_max: u64,
}

impl Default for PodLimits {
    fn default() -> Self {
        Self { max: 10_000, children_max: 32, family_max: 128 }
    }
}

impl PodLimits {
    /// For display: what is limited, the limit, and its key in `[pods]`.
    pub fn lines(self) -> [(&'static str, u64, &'static str); 3] {
        [
            ("of this server", self.max, "max"),
            ("of one Pod's own children", self.children_max, "children_max"),
            ("of all descendants of one Pod", self.family_max, "family_max"),
        ]
    }
}
