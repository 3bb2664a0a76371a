//! What a Pod may still spend under its own budget and those of its ancestors.

use jiff::Timestamp;
use pod::{Input, Pod};
use pod_store::{PodKey, Store};
use protocol::{AlertLevel, ApiError, Budget, BudgetPer, BudgetUse, ControlEvent, Currency, ErrorCode, PodName};

use super::{Actor, Actors, commit::Extras, state::State};
use crate::{clock, view};

/// The percentage of a budget at which its Pod is warned.
const WARN_PERCENT: u64 = 80;

/// The budgets that apply to a Pod, in a form that can be checked apart from it.
pub(super) struct Budgets {
    store: Store,
    key: PodKey,
    name: PodName,
    own: Option<Budget>,
    /// The Pod has ancestors, which may have budgets of their own.
    is_led: bool,
    /// The model that is asked now, and the currency of its price if it has one.
    model: String,
    priced_in: Option<Currency>,
}

/// The state of the budgets.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Standing {
    /// Why nothing more may be spent.
    pub(super) spent: Option<String>,
    /// Warnings about budgets that are nearly spent or cannot be enforced. A budget's text stays the same, so that it
    /// can be recognised.
    pub(super) warnings: Vec<String>,
}

impl Budgets {
    /// Returns `None` if the Pod cannot have any budget, so that nothing has to be looked up.
    pub(super) fn of(actors: &Actors, state: &State) -> Option<Self> {
        let State { key, name, spec, .. } = state;
        // A child carries the rules of its ancestors from its creation on.
        let is_led = !spec.ceilings.is_empty();
        if spec.budget.is_none() && !is_led {
            return None;
        }
        let (provider, model) = state.asked();
        let facts = actors.equipment.providers.facts(provider, model);
        let currency = facts.currency.as_deref().and_then(|currency| currency.parse().ok()).unwrap_or_default();
        let priced_in = facts.prices.is_some().then_some(currency);
        let (store, key, name, own) = (actors.store.clone(), *key, name.clone(), spec.budget);
        Some(Self { store, key, name, own, is_led, model: model.to_owned(), priced_in })
    }

    /// Adds up what was used under each budget, the Pod's own and its ancestors'.
    pub(super) async fn look(&self) -> Result<Standing, ApiError> {
        let mut standing = Standing::default();
        let today = day(clock::now());
        for (key, name, budget) in self.all().await? {
            let (percent, words) = (used(&self.store, key, &budget).await?.percent, budget.words());
            let when = if budget.per == BudgetPer::Day { format!(" of {today}") } else { String::new() };
            if percent >= 100 {
                let sentence =
                    format!("the budget of {name}{when} is spent ({words}); raise it, and send the message again");
                standing.spent.get_or_insert(sentence);
            }
            if percent >= WARN_PERCENT {
                standing.warnings.push(format!("{WARN_PERCENT} % of the budget of {name}{when} is used ({words})"));
            }
            standing.warnings.extend(self.uncounted(&name, &budget));
        }
        Ok(standing)
    }

    /// Why a budget cannot count the money that the Pod spends.
    fn uncounted(&self, name: &PodName, budget: &Budget) -> Option<String> {
        budget.cost?;
        let (model, words) = (&self.model, budget.words());
        let why = match self.priced_in {
            Some(currency) if currency == budget.currency.unwrap_or_default() => return None,
            Some(currency) => format!("which is priced in {currency}: set a budget in {currency}, or in tokens"),
            None => format!("which has no price: set one in [models.\"{model}\"], or a budget in tokens"),
        };
        Some(format!("the budget of {name} ({words}) does not count money for \"{model}\", {why}"))
    }

    /// All budgets: the Pod's own first, then each ancestor's.
    async fn all(&self) -> Result<Vec<(PodKey, PodName, Budget)>, ApiError> {
        let mut all: Vec<_> = self.own.map(|budget| (self.key, self.name.clone(), budget)).into_iter().collect();
        let mut below = self.is_led.then_some(self.key);
        while let Some(key) = below {
            let Some(child) = self.store.family().child(key).await? else { break };
            let Some(parent) = child.pod.parent else { break };
            let row = self.store.pods().find(&parent.worker_id).await?;
            let budget = row.as_ref().and_then(|row| view::open(row).ok()?.spec.budget);
            if let Some((row, budget)) = row.zip(budget) {
                all.push((row.key, row.name, budget));
            }
            below = Some(parent.key).filter(|key| *key != self.key);
        }
        Ok(all)
    }
}

impl Actor {
    /// Raises an alert for each budget that is nearly spent, once per budget.
    pub(super) async fn warn_of_budgets(&mut self) {
        let Some(budgets) = Budgets::of(&self.actors, &self.state) else { return };
        let told = match budgets.look().await {
            Ok(standing) => match warned(&self.state.pod, standing.warnings) {
                Some(alerts) => self.advance([Input::Note(alerts)], Extras::default()).await.map(drop),
                None => return,
            },
            Err(error) => Err(error),
        };
        if let Err(error) = told {
            tracing::error!(%error, pod = %self.state.name, "the state of a budget could not be reported");
        }
    }
}

/// Alerts for the warnings that have not been raised yet.
pub(super) fn warned(pod: &Pod, warnings: Vec<String>) -> Option<Vec<ControlEvent>> {
    let new = warnings.into_iter().filter(|text| !pod.budget_alerts.contains(text));
    let alert =
        |text| ControlEvent::Alert { level: AlertLevel::Warn, source: pod::BUDGET.to_owned(), text, model: None };
    Some(new.map(alert).collect::<Vec<_>>()).filter(|alerts| !alerts.is_empty())
}

/// How much of this Pod's budget is used now.
pub(crate) async fn used(store: &Store, key: PodKey, budget: &Budget) -> Result<BudgetUse, ApiError> {
    let today = day(clock::now());
    let since = (budget.per == BudgetPer::Day).then_some(today.as_str());
    let used = store.usage().of_tree(key, since).await?;
    let tokens = used.iter().map(|used| used.input + used.output).sum();
    let cost = used.iter().find(|used| used.currency.unwrap_or_default() == budget.currency.unwrap_or_default());
    Ok(budget.used(tokens, cost.and_then(|used| used.cost)))
}

/// The day in the format under which usage is counted.
fn day(at: Timestamp) -> String {
    at.strftime("%Y-%m-%d").to_string()
}

pub(super) fn refused(sentence: String) -> ApiError {
    ApiError::new(ErrorCode::BudgetSpent, sentence)
}
