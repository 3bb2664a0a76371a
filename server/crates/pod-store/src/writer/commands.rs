//! Command ids: each is carried out once.

use std::collections::{HashMap, HashSet};

use protocol::CommandId;

use super::{
    Job,
    failure::{Failure, Steps},
};
use crate::{CommandRow, Step, engine::Pen};

/// Claims the group's command ids. Returns the rows of those batches whose id existed before or is claimed by an
/// earlier batch of the group.
pub(crate) async fn claimed(
    pen: &mut dyn Pen,
    steps: &Steps,
    jobs: &[Job],
) -> Result<HashMap<usize, CommandRow>, Failure> {
    let rows = jobs.iter().enumerate().filter_map(|(index, job)| Some((index, job.batch.command.as_ref()?)));
    let rows: Vec<(usize, &CommandRow)> = rows.collect();
    if rows.is_empty() {
        return Ok(HashMap::new());
    }
    steps.reach(Step::Command)?;
    let mut first_of_id: HashMap<&CommandId, &CommandRow> = HashMap::new();
    let mut repeated = Vec::new();
    for (index, row) in rows {
        if first_of_id.contains_key(&row.id) {
            repeated.push((index, &row.id));
        } else {
            first_of_id.insert(&row.id, row);
        }
    }
    let mut first: Vec<&CommandRow> = first_of_id.values().copied().collect();
    first.sort_by(|a, b| a.id.as_str().cmp(b.id.as_str()));
    let inserted = pen.commands_insert(&first).await?;
    let standing = standing_of(pen, &first, &inserted).await?;
    let row_of = |id: &CommandId| standing.get(id).or_else(|| first_of_id.get(id).copied()).cloned();

    let old = jobs.iter().enumerate().filter_map(|(index, job)| {
        let id = &job.batch.command.as_ref()?.id;
        standing.contains_key(id).then_some((index, id))
    });
    Ok(old.chain(repeated).filter_map(|(index, id)| Some((index, row_of(id)?))).collect())
}

async fn standing_of(
    pen: &mut dyn Pen,
    rows: &[&CommandRow],
    inserted: &HashSet<CommandId>,
) -> Result<HashMap<CommandId, CommandRow>, Failure> {
    let old: Vec<&CommandId> = rows.iter().map(|row| &row.id).filter(|id| !inserted.contains(*id)).collect();
    if old.is_empty() {
        return Ok(HashMap::new());
    }
    let found = pen.commands_find(&old).await?;
    Ok(found.into_iter().map(|row| (row.id.clone(), row)).collect())
}
