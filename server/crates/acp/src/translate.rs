//! Turns what an agent reports about its turn into the pieces that a Pod decides on. Pure: the same updates give the
//! same pieces.

mod calls;
#[cfg(test)]
mod fuzz;

use std::path::Path;

use agent_client_protocol::v1::schema::{
    ContentChunk, Plan, PlanEntryPriority, PlanEntryStatus, SessionUpdate, UsageUpdate,
};
use pod::AgentPiece;
use protocol::{AgentOption, Cost, Currency, PlanEntry, Priced, Usage, both_priced};
use serde_json::Value;

use self::calls::Calls;
use crate::{content::text_of, offers::Offered, turn::Said, wire::cut};

/// The number of steps in a plan, and the length of each.
const ENTRIES_MAX: usize = 100;
const ENTRY_CHARS_MAX: usize = 1_000;
/// The number of options of one question, and the length of each.
const OPTIONS_MAX: usize = 20;
const OPTION_CHARS_MAX: usize = 200;
/// A longer text is split into pieces of this many bytes, each of which is a record.
const PIECE_BYTES_MAX: usize = 64 * 1024;

/// Turns one agent's updates into pieces, in order.
#[derive(Debug, Default)]
pub(crate) struct Translator {
    calls: Calls,
    /// The session's total cost, as last reported.
    spent: Priced,
    usage: Option<Usage>,
}

impl Translator {
    /// Creates the translator for a session that has cost this much already.
    pub(crate) fn new(spent: Priced) -> Self {
        Self { spent, ..Self::default() }
    }

    /// Begins a turn. The Pod has already closed what was open.
    pub(crate) fn begin_turn(&mut self) {
        self.calls = Calls::default();
        self.usage = None;
    }

    /// Translates an update of the current turn. `raw` is the same update as it arrived: it can contain more than the
    /// types do.
    pub(crate) fn update(&mut self, update: SessionUpdate, raw: &Value, offered: &mut Offered) -> Vec<Said> {
        match update {
            SessionUpdate::AgentMessageChunk(chunk) => self.speech(chunk, Said::Text),
            SessionUpdate::AgentThoughtChunk(chunk) => self.speech(chunk, Said::Thought),
            SessionUpdate::ToolCall(call) => self.calls.called(call, raw),
            SessionUpdate::ToolCallUpdate(update) => self.calls.updated(update, raw),
            SessionUpdate::Plan(plan) => vec![AgentPiece::Plan(entries(plan)).into()],
            SessionUpdate::AvailableCommandsUpdate(_) => {
                offered.take_commands(raw.get("availableCommands").unwrap_or(&Value::Null));
                vec![AgentPiece::Offers(offered.value()).into()]
            }
            SessionUpdate::CurrentModeUpdate(update) => {
                let mode = cut(&update.current_mode_id.0, OPTION_CHARS_MAX);
                offered.mode = Some(mode.clone());
                vec![AgentPiece::Mode(mode).into()]
            }
            SessionUpdate::ConfigOptionUpdate(_) => {
                offered.take_options(raw.get("configOptions").unwrap_or(&Value::Null));
                let mode = offered.mode.clone().map(|mode| AgentPiece::Mode(mode).into());
                std::iter::once(AgentPiece::Offers(offered.value()).into()).chain(mode).collect()
            }
            SessionUpdate::UsageUpdate(update) => {
                self.note_usage(&update);
                Vec::new()
            }
            // The person's own words are already in the journal, and the session's title is not used.
            _ => Vec::new(),
        }
    }

    fn speech(&mut self, chunk: ContentChunk, said: fn(String) -> Said) -> Vec<Said> {
        let told = self.calls.tell_begun();
        told.into_iter().chain(pieces(&text_of(chunk.content)).map(said)).collect()
    }

    /// Translates a question about a call. The call itself is reported before it.
    pub(crate) fn asked(&mut self, ask: &str, params: &Value) -> Result<Vec<Said>, String> {
        let call = params.get("toolCall").unwrap_or(&Value::Null);
        let options = options(params.get("options"))?;
        let (mut said, id, tool, arguments) = self.calls.asked(call)?;
        said.push(AgentPiece::Asked { ask: ask.to_owned(), id, tool, arguments, options }.into());
        Ok(said)
    }

    /// Ends the turn: reports calls that were not reported yet, and the usage. `answer` is the agent's answer to the
    /// prompt.
    pub(crate) fn end_turn(&mut self, answer: &Value) -> Vec<Said> {
        let mut said = self.calls.tell_begun();
        let counted = answer.get("usage").map(counted).unwrap_or_default();
        if self.usage.is_some() || counted != Usage::default() {
            let context = self.usage.take().unwrap_or_default();
            let Usage { context_used, context_limit, cost, currency, .. } = context;
            said.push(AgentPiece::Usage(Usage { context_used, context_limit, cost, currency, ..counted }).into());
        }
        said
    }

    /// Notes the usage. An agent reports a session's cost as a total; records carry what was added to it.
    fn note_usage(&mut self, update: &UsageUpdate) {
        let before = self.usage.take().unwrap_or_default();
        let more = update.cost.as_ref().and_then(|cost| self.spent_more(cost.amount, &cost.currency));
        let (cost, currency) = both_priced((before.cost, before.currency), more.unwrap_or_default());
        let (context_used, context_limit) = (update.used, update.size);
        self.usage = Some(Usage { context_used, context_limit, cost, currency, ..Usage::default() });
    }

    /// Returns what was added to the total. A total that is smaller than before, or in another currency, starts from
    /// zero.
    fn spent_more(&mut self, amount: f64, currency: &str) -> Option<Priced> {
        let currency = currency.parse::<Currency>().ok()?.told();
        let told = cost_of(amount)?;
        let before = match self.spent {
            (Some(before), known) if known == currency && before.units() <= told.units() => before.units(),
            _ => 0,
        };
        self.spent = (Some(told), currency);
        let more = told.units() - before;
        (more > 0).then(|| (Some(Cost::from_units(more)), currency))
    }
}

fn cost_of(amount: f64) -> Option<Cost> {
    const MOST: f64 = 1e6;
    (0.0..=MOST).contains(&amount).then(|| format!("{amount:.9}").parse().ok()).flatten()
}

/// Returns the token counts of a turn, if the agent reports them.
fn counted(usage: &Value) -> Usage {
    let count = |name: &str| usage.get(name).and_then(Value::as_u64).unwrap_or(0);
    let (cached, written) = (count("cachedReadTokens"), count("cachedWriteTokens"));
    // Agents count cached tokens separately; our `input` includes them.
    let input = count("inputTokens").saturating_add(cached).saturating_add(written);
    Usage { input, cached, written, output: count("outputTokens"), ..Usage::default() }
}

fn pieces(text: &str) -> impl Iterator<Item = String> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let end = rest.floor_char_boundary(PIECE_BYTES_MAX);
        let (piece, after) = rest.split_at(end);
        rest = after;
        (!piece.is_empty()).then(|| piece.to_owned())
    })
}

fn entries(plan: Plan) -> Value {
    let entry = |entry: agent_client_protocol::v1::schema::PlanEntry| {
        let priority = match entry.priority {
            PlanEntryPriority::High => "high",
            PlanEntryPriority::Low => "low",
            _ => "medium",
        };
        let status = match entry.status {
            PlanEntryStatus::InProgress => "in_progress",
            PlanEntryStatus::Completed => "completed",
            _ => "pending",
        };
        let content = cut(&entry.content, ENTRY_CHARS_MAX);
        PlanEntry { content, priority: priority.to_owned(), status: status.to_owned() }
    };
    let entries: Vec<_> = plan.entries.into_iter().take(ENTRIES_MAX).map(entry).collect();
    serde_json::to_value(entries).unwrap_or_default()
}

fn options(list: Option<&Value>) -> Result<Vec<AgentOption>, String> {
    let option = |option: &Value| {
        let text = |name: &str| option.get(name).and_then(Value::as_str).map(str::to_owned);
        let id = text("optionId").filter(|id| !id.is_empty() && id.chars().count() <= OPTION_CHARS_MAX)?;
        let kind = text("kind")
            .filter(|kind| matches!(kind.as_str(), "allow_once" | "allow_always" | "reject_once" | "reject_always"))?;
        let name = cut(&text("name").unwrap_or_else(|| id.clone()), OPTION_CHARS_MAX);
        Some(AgentOption { id, name, kind })
    };
    let options: Vec<_> =
        list.and_then(Value::as_array).into_iter().flatten().filter_map(option).take(OPTIONS_MAX).collect();
    match options.is_empty() {
        true => Err("`options` has none that yoi knows the kind of".to_owned()),
        false => Ok(options),
    }
}

/// Returns a path as it appears in a call's arguments.
fn shown(path: &Path) -> String {
    path.display().to_string()
}

#[cfg(test)]
mod tests;
