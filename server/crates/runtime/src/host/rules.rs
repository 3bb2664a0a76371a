//! The rules that stand, and taking them back.

use pod_store::{Batch, Committed, PodGroup, RuleChange};
use protocol::{ApiError, ErrorCode, RuleItem};

use super::Inner;
use crate::{
    CommandKey, Origin,
    actor::PodCommand,
    asked::Asked,
    hold::Together,
    rules::{self, Owner},
    view,
};

/// Rows to read at once.
const ROWS_AT_ONCE: u32 = 1_000;
/// The most Pods whose rules are listed; the oldest come first.
const PODS_WITH_RULES_MAX: usize = 500;

/// The rules that stand, and taking them back.
#[derive(Debug, Clone, Copy)]
pub struct Rules<'a> {
    pub(super) inner: &'a Inner,
}

impl Rules<'_> {
    /// The rules of at most 500 Pods, each Pod's in the order in which they are tried; then those of folders and of the
    /// whole server, newest first.
    pub async fn list(self) -> Result<Vec<RuleItem>, ApiError> {
        let (mut found, mut pods, mut after) = (Vec::new(), 0, None);
        loop {
            let rows = self.inner.store.pods().page_of(PodGroup::WithRules, after, ROWS_AT_ONCE).await?;
            after = rows.last().map(|row| row.key);
            for row in &rows {
                let permissions = view::open(row).map(|opened| opened.spec.permissions).unwrap_or_default();
                if permissions.is_empty() || pods == PODS_WITH_RULES_MAX {
                    continue;
                }
                pods += 1;
                let pod = view::pod_ref(row);
                let mut of_pod: Vec<RuleItem> = Vec::new();
                for item in permissions.iter().map(|rule| rules::of_pod(&pod, &row.name, rule)) {
                    // The same rule twice is one rule.
                    if of_pod.iter().all(|known| known.id != item.id) {
                        of_pod.push(item);
                    }
                }
                found.extend(of_pod);
            }
            if rows.len() < ROWS_AT_ONCE as usize || pods == PODS_WITH_RULES_MAX {
                break;
            }
        }
        let shared = rules::shared(self.inner).await?;
        found.extend(shared.into_iter().map(|(id, rule)| rules::of_server(id, &rule)));
        Ok(found)
    }

    /// Takes a rule back.
    ///
    /// # Errors
    /// `not_found` if there is no such rule, or none any longer.
    pub async fn remove(self, key: CommandKey, origin: &Origin, id: &str) -> Result<(), ApiError> {
        let asked = Asked { key, origin };
        if let Some(first) = asked.first_answer(self.inner).await? {
            return Ok(first);
        }
        match rules::owner_of(id) {
            None => Err(unknown(id)),
            Some(Owner::Shared) => self.remove_shared(&asked, id).await,
            Some(Owner::Pod(worker_id)) => {
                let command = PodCommand::RemoveRule { id: id.to_owned() };
                let removed = self.inner.cluster.command(asked.key, origin, &worker_id, command).await;
                removed.map_err(|error| match error.code {
                    ErrorCode::PodNotFound => unknown(id),
                    _ => error,
                })
            }
        }
    }

    async fn remove_shared(self, asked: &Asked<'_>, id: &str) -> Result<(), ApiError> {
        self.inner.count_command();
        if !rules::shared(self.inner).await?.iter().any(|(known, _)| known == id) {
            return Err(unknown(id));
        }
        let Together { command, audit, .. } = asked.together("rule_remove", id.to_owned(), &());
        let change = RuleChange::Remove { id: id.to_owned() };
        let batch = Batch { command, audit, rules: vec![change], ..Batch::default() };
        match self.inner.store.commit(batch).await? {
            Committed::Done { .. } => Ok(()),
            Committed::Repeated(row) => asked.repeated(row),
        }
    }
}

fn unknown(id: &str) -> ApiError {
    let id: String = id.chars().take(100).collect();
    ApiError::new(ErrorCode::NotFound, format!("no rule has the id \"{id}\"; GET /api/v1/rules lists the rules"))
}
