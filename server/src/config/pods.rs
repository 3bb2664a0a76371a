//! `[pods]`: how many Pods there may be.

use protocol::PodLimits;
use serde::Deserialize;

/// As it is written.
#[derive(Debug, Clone, Copy, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Pods {
    /// Of the server, those that are not stopped.
    max: Option<u64>,
    /// Children of one Pod that are not stopped.
    children_max: Option<u64>,
    /// Of all that one Pod leads, however far down.
    family_max: Option<u64>,
}

impl Pods {
    /// 0 is a limit, too: then no Pod makes others.
    pub(crate) fn limits(self) -> PodLimits {
        let usual = PodLimits::default();
        PodLimits {
            max: self.max.unwrap_or(usual.max),
            children_max: self.children_max.unwrap_or(usual.children_max),
            family_max: self.family_max.unwrap_or(usual.family_max),
        }
    }
}
