//! `[pods]`: limits on the number of Pods.

use protocol::PodLimits;
use serde::Deserialize;

/// As written in the file.
#[derive(Debug, Clone, Copy, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Pods {
    /// Pods of the server that are not stopped.
    max: Option<u64>,
    /// Children of one Pod that are not stopped.
    children_max: Option<u64>,
    /// All descendants of one Pod that are not stopped.
    family_max: Option<u64>,
}

impl Pods {
    /// 0 is a valid limit: then no Pod can create others.
    pub(crate) fn limits(self) -> PodLimits {
        let usual = PodLimits::default();
        PodLimits {
            max: self.max.unwrap_or(usual.max),
            children_max: self.children_max.unwrap_or(usual.children_max),
            family_max: self.family_max.unwrap_or(usual.family_max),
        }
    }
}
