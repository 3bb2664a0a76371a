//! The audit: entries for what no runtime carries out, and for what was refused or carried out elsewhere.

use jiff::Timestamp;
use protocol::{ApiError, AuditAbout, AuditEntry, ErrorCode};
use runtime::Origin;

use super::Backend;

/// Writes audit rows.
#[derive(Debug, Clone, Copy)]
pub struct Audit<'a> {
    pub(super) backend: &'a Backend,
}

impl Audit<'_> {
    /// Records something that no runtime carries out, such as a login.
    pub async fn record(
        self,
        origin: &Origin,
        action: &str,
        target: Option<String>,
        result: &str,
        code: Option<ErrorCode>,
    ) {
        self.append(origin, action, target, None, (result, code)).await;
    }

    /// Records the outcome of an action, with details besides its target.
    pub(super) async fn ended<T>(
        self,
        origin: &Origin,
        action: &str,
        target: String,
        about: Option<AuditAbout>,
        done: &Result<T, ApiError>,
    ) {
        let end = match done {
            Ok(_) => ("done", None),
            Err(error) if error.code.status() >= 500 => ("failed", Some(error.code)),
            Err(error) => ("refused", Some(error.code)),
        };
        self.append(origin, action, Some(target), about, end).await;
    }

    async fn append(
        self,
        origin: &Origin,
        action: &str,
        target: Option<String>,
        about: Option<AuditAbout>,
        (result, code): (&str, Option<ErrorCode>),
    ) {
        let entry = AuditEntry {
            at: Timestamp::now(),
            by: origin.by.clone(),
            client: origin.client.clone(),
            action: action.to_owned(),
            target,
            result: result.to_owned(),
            code: code.map(|code| code.to_string()),
            about,
        };
        if let Err(error) = self.backend.host.audit().append(entry).await {
            tracing::error!(%error, action, "could not write the audit");
        }
    }
}
