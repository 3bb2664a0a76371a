//! `[pods]`: how many Pods a Pod may lead.

use runtime::FamilyLimits;
use serde::Deserialize;

/// As it is written.
#[derive(Debug, Clone, Copy, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Pods {
    /// Children of one Pod that are not stopped.
    children_max: Option<usize>,
    /// Of all that one Pod leads, however far down.
    family_max: Option<usize>,
}

impl Pods {
    /// 0 is a limit, too: then no Pod makes others.
    pub(crate) fn limits(self) -> FamilyLimits {
        let usual = FamilyLimits::default();
        FamilyLimits {
            children_max: self.children_max.unwrap_or(usual.children_max),
            family_max: self.family_max.unwrap_or(usual.family_max),
        }
    }
}
