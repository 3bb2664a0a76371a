//! Stopping a child: it ends, and what was lent to it goes back, in one transaction.

use futures_util::future::try_join_all;
use pod::{Input, decide};
use pod_store::{ChildRow, Committed, LoanChange, MailPut, PodChange, PodRow};
use protocol::{
    ApiError, ChildChange, CommandId, ControlEvent, ErrorCode, PodState, Receipt, ScopeRule, Seq, WorkerId,
};

use super::{audit_only, child_row};
use crate::{
    Origin,
    actor::{Extras, Held},
    asked::Asked,
    clock,
    family::Family,
    hold::{Holding, Together, Wanted},
    mail::Letter,
    view,
};

/// How often to look again if the Pod has got another child meanwhile.
const ROUNDS_MAX: usize = 8;
/// The most siblings that are stopped in one transaction.
const TOGETHER_MAX: usize = 32;

/// Who stops a Pod.
#[derive(Debug, Clone)]
pub(crate) enum Stopper<'a> {
    /// A person: the parent is told.
    Person(Asked<'a>),
    /// A person who deletes it: the parent is told as well.
    Deleter(&'a Origin),
    /// Its parent or another ancestor, which knows already.
    Leader(&'a Origin),
}

/// Stops a Pod and takes back what was lent to it; its children first, because what they hold is part of it. Returns
/// the receipt and what went back. Stopping a stopped Pod changes nothing.
pub(crate) async fn stop(
    family: &Family,
    worker_id: &WorkerId,
    stopper: &Stopper<'_>,
) -> Result<(Receipt, Vec<ScopeRule>), ApiError> {
    if let Stopper::Person(asked) = stopper
        && let Some(receipt) = asked.first_answer(family).await?
    {
        return Ok((receipt, Vec::new()));
    }
    for _ in 0..ROUNDS_MAX {
        let row = family.existing_row(worker_id).await?;
        stop_children(family, &row, stopper.origin()).await?;
        if let Some(done) = stop_one(family, &row, stopper).await? {
            return Ok(done);
        }
    }
    Err(ApiError::new(ErrorCode::Busy, "it spawns children faster than they can be stopped; pause it first"))
}

/// Stops the children of a Pod, each after its own children, and siblings together: what they run may take seconds to
/// end.
async fn stop_children(family: &Family, parent: &PodRow, origin: &Origin) -> Result<(), ApiError> {
    let mut children = family.store.family().children(parent.key).await?;
    children.retain(needs_stop);
    try_join_all(children.iter().map(|child| Box::pin(stop_children(family, &child.pod, origin)))).await?;
    for siblings in children.chunks(TOGETHER_MAX) {
        let together = match siblings {
            [_] => false,
            siblings => stop_siblings(family, parent, siblings, origin).await.is_ok(),
        };
        // One by one, one that does not end holds up no other.
        for child in siblings.iter().filter(|_| !together) {
            Box::pin(stop(family, &child.pod.worker_id, &Stopper::Leader(origin))).await?;
        }
    }
    Ok(())
}

/// Stops these children of one Pod in one transaction. Those that have got children meanwhile are left.
async fn stop_siblings(
    family: &Family,
    parent: &PodRow,
    siblings: &[ChildRow],
    origin: &Origin,
) -> Result<(), ApiError> {
    let loadable = siblings.iter().filter(|child| view::open(&child.pod).is_ok()).map(|child| &child.pod.worker_id);
    let pods: Vec<&WorkerId> = loadable.chain([&parent.worker_id]).collect();
    let mut holding = family.pods.hold(&pods).await?;
    let stopper = Stopper::Leader(origin);
    let (mut together, mut orders, mut events) = (Together::default(), Vec::new(), Vec::new());
    for child in siblings {
        if family.store.family().children(child.pod.key).await?.iter().any(needs_stop) {
            continue;
        }
        let part = Part::of(&child.pod, Some(child), holding.remove(&child.pod.worker_id), &stopper);
        together.audit.extend(stopper.together(&child.pod, part.head).0.audit);
        together.others.extend(part.change);
        orders.extend(part.order);
        events.extend(part.news);
    }
    if let Some(held) = holding.remove(&parent.worker_id) {
        orders.push((held, Wanted { events, ..Wanted::default() }));
    }
    together.wakes.push(parent.worker_id.clone());
    family.pods.commit_together(orders, together).await?;
    siblings.iter().for_each(|child| family.list.tell_changed(&child.pod.worker_id));
    Ok(())
}

/// What stopping one Pod takes.
struct Part {
    /// The head of its journal once it is stopped.
    head: Seq,
    /// What was lent to it.
    returned: Vec<ScopeRule>,
    order: Option<(Held, Wanted)>,
    /// The change of one that cannot be loaded.
    change: Option<PodChange>,
    /// What its parent is told, if that changes anything.
    news: Option<ControlEvent>,
}

impl Part {
    fn of(row: &PodRow, link: Option<&ChildRow>, own: Option<Held>, stopper: &Stopper<'_>) -> Self {
        let (head, is_live) = outlook(row, own.as_ref());
        let loan = link.is_some_and(|link| link.is_lent).then_some(LoanChange::Back);
        let returned = link.map(view::lent).unwrap_or_default();
        let told = ControlEvent::ChildStopped { child: view::label(row), scope: returned.clone() };
        let news = (loan.is_some() || is_live).then_some(told);
        let (order, change) = match own {
            Some(held) => {
                let mail_put = mail(row, stopper, head).filter(|_| is_live).into_iter().collect();
                let extras = Extras { loan, mail_put, ..Extras::default() };
                let wanted = Wanted { inputs: vec![Input::Stop], extras, ends_work: true, ..Wanted::default() };
                (Some((held, wanted)), None)
            }
            None => (None, Some(PodChange { loan, ..PodChange::of(row.key) })),
        };
        Self { head, returned, order, change, news }
    }
}

pub(super) fn needs_stop(child: &ChildRow) -> bool {
    child.is_lent || view::open(&child.pod).is_ok_and(|opened| opened.pod.state != PodState::Stopped)
}

/// `None` if it has got another child meanwhile.
async fn stop_one(
    family: &Family,
    row: &PodRow,
    stopper: &Stopper<'_>,
) -> Result<Option<(Receipt, Vec<ScopeRule>)>, ApiError> {
    let mut holding = hold(family, row).await?;
    if family.store.family().children(row.key).await?.iter().any(needs_stop) {
        return Ok(None);
    }
    let link = child_row(family, row).await?;
    let part = Part::of(row, link.as_ref(), holding.remove(&row.worker_id), stopper);
    let Part { head, returned, order, change, news } = part;
    let (mut together, receipt) = stopper.together(row, head);
    together.others.extend(change);
    let mut orders: Vec<_> = order.into_iter().collect();
    if let (Some(held), Some(event)) = (parent_of(row).and_then(|parent| holding.remove(parent)), news) {
        orders.push((held, Wanted { events: vec![event], ..Wanted::default() }));
    }
    together.wakes.extend(parent_of(row).cloned());
    let committed = family.pods.commit_together(orders, together).await?;
    family.list.tell_changed(&row.worker_id);
    match (committed, stopper) {
        (Committed::Repeated(first), Stopper::Person(asked)) => Ok(Some((asked.repeated(first)?, Vec::new()))),
        _ => Ok(Some((receipt, returned))),
    }
}

/// Holds the Pod and its parent. A Pod that cannot be loaded is not held: nothing of it runs, and what it was lent goes
/// back all the same.
async fn hold(family: &Family, row: &PodRow) -> Result<Holding, ApiError> {
    let own = view::open(row).is_ok().then_some(&row.worker_id);
    let pods: Vec<&WorkerId> = parent_of(row).into_iter().chain(own).collect();
    family.pods.hold(&pods).await
}

fn parent_of(row: &PodRow) -> Option<&WorkerId> {
    row.parent.as_ref().map(|parent| &parent.worker_id)
}

/// The head of the Pod's journal once it is stopped, and whether it is live now.
fn outlook(row: &PodRow, held: Option<&Held>) -> (Seq, bool) {
    let Some(held) = held else { return (row.head, false) };
    let steps = decide(&held.pod, &held.spec, Input::Stop).map_or(0, |decision| decision.steps.len());
    (Seq(held.pod.head.0 + steps as i64 + i64::from(held.owes_usage)), held.pod.state != PodState::Stopped)
}

/// The mail to the parent, unless it knows already.
fn mail(row: &PodRow, stopper: &Stopper<'_>, head: Seq) -> Option<MailPut> {
    let (Some(parent), Stopper::Person(_) | Stopper::Deleter(_)) = (&row.parent, stopper) else { return None };
    let letter = Letter::Child { what: ChildChange::ShutDown, child: view::label(row), detail: None };
    let key = format!("stop:{}:{head}", row.worker_id);
    Some(MailPut { to: parent.key, key, body: letter.encode(), at: clock::now() })
}

impl Stopper<'_> {
    fn origin(&self) -> &Origin {
        match self {
            Self::Person(asked) => asked.origin,
            Self::Deleter(origin) | Self::Leader(origin) => origin,
        }
    }

    fn together(&self, row: &PodRow, head: Seq) -> (Together, Receipt) {
        let target = view::pod_ref(row).to_string();
        let receipt =
            |command_id: CommandId| Receipt { command_id, accepted_at: clock::now(), seq: head, report: Vec::new() };
        match self {
            Self::Person(asked) => {
                let receipt = receipt(asked.key.id.clone());
                (asked.together("stop", target, &receipt), receipt)
            }
            Self::Deleter(origin) | Self::Leader(origin) => {
                (audit_only(origin, "stop", target), receipt(CommandId::random()))
            }
        }
    }
}
