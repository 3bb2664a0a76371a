//! Rules that people gave for a folder or for the whole server.

use super::Shared;
use crate::{StoreError, columns::time, rules::RuleRow};

/// The rules of folders and of the whole server.
#[derive(Debug, Clone, Copy)]
pub struct Rules<'s>(pub(super) &'s Shared);

impl Rules<'_> {
    /// All of them, newest first.
    pub async fn list(self) -> Result<Vec<RuleRow>, StoreError> {
        let rules = self.0.reader.select("select id, rule, given_by, at from rules order by at desc, id");
        let row = |(id, rule, by, at): (String, String, String, i64)| Ok(RuleRow { id, rule, by, at: time(at)? });
        rules.all("list the rules", row).await
    }
}
