//! Who did what.

use leptos::prelude::*;
use protocol::{AuditRow, Gathered};
use serde::{Deserialize, Serialize};

#[cfg(feature = "ssr")]
use super::door::{self, operation, operations};
use crate::{UiError, codec::Json};

/// Which rows are asked for; what is absent lets all through.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AuditAsked {
    pub action: Option<String>,
    pub result: Option<String>,
    pub target: Option<String>,
    pub after: Option<String>,
}

/// Who did what, newest first; at most `limit` rows.
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

/// Of one page.
#[cfg(feature = "ssr")]
const ROWS_MAX: u32 = 200;
