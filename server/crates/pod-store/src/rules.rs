//! Rules that people gave for a folder or for the whole server.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::txn::{Txn, WriteError};

/// One such rule.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RuleRow {
    pub id: String,
    /// JSON of a `protocol::PermissionRule`.
    pub rule: String,
    /// Who gave it.
    pub by: String,
    pub at: Timestamp,
}

/// A change to these rules.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RuleChange {
    /// Replaces a rule with the same id.
    Put(RuleRow),
    /// No error if there is none.
    Remove { id: String },
}

pub(crate) async fn change_in_txn(txn: &mut Txn<'_>, change: &RuleChange) -> Result<(), WriteError> {
    match change {
        RuleChange::Put(RuleRow { id, rule, by, at }) => {
            let text = "insert into rules (id, rule, given_by, at) values ($1, $2, $3, $4)
                        on conflict (id) do update set rule = excluded.rule, given_by = excluded.given_by, at = excluded.at";
            let change =
                txn.sql(text).bind(id.as_str()).bind(rule.as_str()).bind(by.as_str()).bind(at.as_microsecond());
            change.run("keep a rule").await.map(drop)
        }
        RuleChange::Remove { id } => {
            txn.sql("delete from rules where id = $1").bind(id.as_str()).run("remove a rule").await.map(drop)
        }
    }
}
