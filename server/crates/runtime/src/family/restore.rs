//! Restoring a stopped Pod with what was lent to it, alone or with its descendants.

use pod::{Input, Scope, decide};
use pod_store::{Committed, LoanChange, PodRow};
use protocol::{
    Access, AlertLevel, ApiError, ControlEvent, ErrorCode, PodState, Receipt, RestoreLine, ScopeRule, Seq, WorkerId,
};

use super::{
    audit_only, child_row,
    spawn::{check_idle, refused},
};
use crate::{
    CommandKey, Origin,
    actor::{Extras, place},
    asked::Asked,
    clock, error,
    family::Family,
    hold::{Holding, Together, Wanted},
    view,
};

/// The result of a restore.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Restored {
    /// It was stopped and is live again, in this state.
    Now(PodState),
    /// It was live already, so nothing was started twice.
    WasLive(PodState),
}

/// Restores one Pod for a Pod that sees it. Exactly what was lent to it is lent again; if that is not free, nothing
/// happens.
pub(crate) async fn restore(family: &Family, worker_id: &WorkerId, origin: &Origin) -> Result<Restored, ApiError> {
    let row = family.existing_row(worker_id).await?;
    let together = |_| audit_only(origin, "restore", view::pod_ref(&row).to_string());
    restore_one(family, &row, together).await.map(|(restored, _)| restored)
}

/// A person's restore command for one Pod or its whole tree.
pub(crate) async fn restore_command(
    family: &Family,
    worker_id: &WorkerId,
    key: CommandKey,
    origin: &Origin,
    is_tree: bool,
) -> Result<Receipt, ApiError> {
    let asked = Asked { key, origin };
    if let Some(receipt) = asked.first_answer(family).await? {
        return Ok(receipt);
    }
    let row = family.existing_row(worker_id).await?;
    if is_tree {
        return restore_tree(family, &row, &asked).await;
    }
    let mut receipt = None;
    let together = |head| {
        let given = receipt.insert(receipt_of(&asked, head, Vec::new()));
        asked.together("restore", view::pod_ref(&row).to_string(), given)
    };
    match restore_one(family, &row, together).await? {
        (_, Committed::Repeated(first)) => asked.repeated(first),
        _ => receipt.ok_or_else(|| ApiError::new(ErrorCode::Internal, "a restore came to nothing")),
    }
}

/// Restores each Pod of the tree by itself, so that one failure does not keep the others from being restored. The
/// report is written with the command at the end: if a crash interrupts it, a repeat finds the work done and reports
/// again.
async fn restore_tree(family: &Family, root: &PodRow, asked: &Asked<'_>) -> Result<Receipt, ApiError> {
    restore_one(family, root, |_| Together::default()).await?;
    let mut report = Vec::new();
    restore_below(family, root, asked.origin, &mut report).await?;
    let mut holding = family.pods.hold(&[&root.worker_id]).await?;
    let held = holding.remove(&root.worker_id).ok_or_else(|| error::no_such_pod(&root.worker_id))?;
    let receipt = receipt_of(asked, held.pod.head.next(), report);
    let wanted = Wanted { events: vec![alert(&receipt.report)], ..Wanted::default() };
    let together = asked.together("restore", view::pod_ref(root).to_string(), &receipt);
    match family.pods.commit_together(vec![(held, wanted)], together).await? {
        Committed::Done { .. } => Ok(receipt),
        Committed::Repeated(row) => asked.repeated(row),
    }
}

async fn restore_below(
    family: &Family,
    row: &PodRow,
    origin: &Origin,
    report: &mut Vec<RestoreLine>,
) -> Result<(), ApiError> {
    for child in family.store.family().children(row.key).await? {
        let done = restore(family, &child.pod.worker_id, origin).await;
        report.push(RestoreLine {
            pod: view::pod_ref(&child.pod),
            name: child.pod.name.clone(),
            restored: done.is_ok(),
            reason: done.err().map(|error| error.detail),
        });
        Box::pin(restore_below(family, &child.pod, origin, report)).await?;
    }
    Ok(())
}

fn alert(report: &[RestoreLine]) -> ControlEvent {
    let reasons = report.iter().filter_map(|line| Some(format!("{}: {}", line.name, line.reason.as_deref()?)));
    let reasons: Vec<String> = reasons.collect();
    let (restored, all) = (report.len() - reasons.len(), report.len());
    let (level, rest) = match reasons.is_empty() {
        true => (AlertLevel::Note, String::new()),
        false => (AlertLevel::Warn, format!("; not restored: {}", reasons.join("; "))),
    };
    let text = format!("restored with {restored} of the {all} Pods that it leads{rest}");
    ControlEvent::Alert { level, source: "restore".to_owned(), text, model: None }
}

async fn restore_one(
    family: &Family,
    row: &PodRow,
    together: impl FnOnce(Seq) -> Together,
) -> Result<(Restored, Committed), ApiError> {
    if let Err(reason) = view::open(row) {
        let sentence = format!("pod \"{}\" cannot be restored: {reason}", row.name);
        return Err(ApiError::new(ErrorCode::NotRestorable, sentence));
    }
    let parent = row.parent.as_ref().map(|parent| &parent.worker_id);
    let pods: Vec<&WorkerId> = parent.into_iter().chain([&row.worker_id]).collect();
    let mut holding = family.pods.hold(&pods).await?;
    let held = holding.remove(&row.worker_id).ok_or_else(|| error::no_such_pod(&row.worker_id))?;
    let before = held.pod.state;
    let _seat = match before {
        PodState::Stopped => Some(family.seat().await?),
        _ => None,
    };
    let steps = decide(&held.pod, &held.spec, Input::Restore).map_or(0, |decision| decision.steps.len());
    let head = Seq(held.pod.head.0 + steps as i64);
    let after = if held.pod.resumable { PodState::Paused } else { PodState::Idle };
    let mut wanted = Wanted { inputs: vec![Input::Restore], ..Wanted::default() };
    let mut orders = Vec::new();
    if let Some(scope) = lent_again(family, row, before, &holding).await? {
        wanted.extras = Extras { loan: Some(LoanChange::Out), ..Extras::default() };
        if let Some(lender) = parent.and_then(|parent| holding.remove(parent)) {
            let event = ControlEvent::ScopeChanged { child: view::label(row), scope };
            orders.push((lender, Wanted { events: vec![event], ..Wanted::default() }));
        }
    }
    orders.push((held, wanted));
    let mut together = together(head);
    // What arrived while it was stopped is in its mailbox and its queue.
    together.wakes.push(row.worker_id.clone());
    let committed = family.pods.commit_together(orders, together).await?;
    let restored = if before == PodState::Stopped { Restored::Now(after) } else { Restored::WasLive(before) };
    Ok((restored, committed))
}

/// What has to be lent to a child again if it was taken back; an error if the parent cannot lend it now.
async fn lent_again(
    family: &Family,
    row: &PodRow,
    before: PodState,
    holding: &Holding,
) -> Result<Option<Vec<ScopeRule>>, ApiError> {
    let Some(link) = child_row(family, row).await?.filter(|link| !link.is_lent && before == PodState::Stopped) else {
        return Ok(None);
    };
    let Some(lender) = row.parent.as_ref().and_then(|parent| holding.get(&parent.worker_id)) else { return Ok(None) };
    // A parent that has given back what it was lent has nothing to lend: another Pod may hold it by now.
    if family.store.family().child(lender.key).await?.is_some_and(|link| !link.is_lent) {
        let leader = &lender.label.name;
        let sentence =
            format!("{leader} leads it and is stopped, so what it holds was taken back; restore {leader} first");
        return Err(ApiError::new(ErrorCode::ScopeNotHeld, sentence));
    }
    let scope = view::lent_last(&link);
    let grants: Vec<ScopeRule> = scope.iter().filter(|rule| rule.access != Access::Deny).cloned().collect();
    check_idle(lender, &grants)?;
    let loans = place::loans(family, lender.key).await?;
    let held = Scope::new(lender.spec.scope.iter().cloned(), loans.iter().cloned());
    held.lend(&grants, &loans).map_err(|refusal| refused(&refusal))?;
    Ok(Some(scope))
}

fn receipt_of(asked: &Asked<'_>, seq: Seq, report: Vec<RestoreLine>) -> Receipt {
    Receipt { command_id: asked.key.id.clone(), accepted_at: clock::now(), seq, report }
}
