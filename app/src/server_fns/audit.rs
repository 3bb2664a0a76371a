//! The audit.

use leptos::prelude::*;
use protocol::{AuditRow, Gathered};
use serde::{Deserialize, Serialize};

#[cfg(feature = "ssr")]
use super::door::{self, operation, operations};
use crate::{UiError, codec::Json};

/// The filters for audit rows; an absent one matches every row.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AuditAsked {
    pub action: Option<String>,
    pub result: Option<String>,
    pub target: Option<String>,
    pub after: Option<String>,
}

/// Audit rows, newest first; at most `limit` of them.
#[server(prefix = "/fn", endpoint = "list_audit", input = Json, output = Json)]
pub async fn list_audit(asked: AuditAsked, limit: u32) -> Result<Gathered<AuditRow>, UiError> {
    let AuditAsked { action, result, target, after } = asked;
    door::read(operations::Audit {
        action: operation::Filled(action),
        result: operation::Filled(result),
        target: operation::Filled(target),
        after: operation::Loose(after),
        limit: operation::Limit(limit.clamp(1, ROWS_MAX)),
        ..Default::default()
    })
    .await
}

/// The maximum on one page.
#[cfg(feature = "ssr")]
const ROWS_MAX: u32 = 200;
