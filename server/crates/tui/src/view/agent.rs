//! The agent of the open Pod: what it is, its plan, what it offers, and what yoi cannot control.

use protocol::{AgentChoice, AgentView, PlanEntry};
use ratatui::{
    style::Stylize,
    text::{Line, Span},
};

use crate::{
    model::{Model, OpenPod},
    wrap::{fit, padded, wrap},
};

/// The width of the labels, in columns.
const LABEL_WIDTH: usize = 10;

/// Returns all lines of the sheet.
pub(crate) fn lines(model: &Model, width: u16) -> Vec<Line<'static>> {
    let width = usize::from(width);
    let Some((open, agent)) = model.open.as_ref().and_then(|open| Some((open, open.agent.as_ref()?))) else {
        return vec![Line::from("No agent answers here.").dim()];
    };
    let name = model.summary_of(&open.pod).and_then(|summary| summary.agent.clone()).unwrap_or_default();
    let AgentView { title, version, confined, beyond, mode, offers, .. } = agent;
    let called = [Some(&name), title.as_ref(), version.as_ref()].into_iter().flatten().cloned().collect::<Vec<_>>();
    let mut lines = labelled("agent", &called.join(" · "), width);
    lines.extend(labelled("sandbox", if *confined { "confined to the scope" } else { "not confined" }, width));
    lines.extend(plan(&open.plan(), width));
    lines.extend(choices("modes", &offers.modes, mode.as_deref(), width));
    lines.extend(choices("models", &offers.models, offers.model.as_deref(), width));
    lines.extend(choices("commands", &offers.commands, None, width));
    lines.push(Line::default());
    lines.push(Line::from(fit("What yoi cannot control", width)).bold());
    lines.extend(beyond.iter().flat_map(|sentence| wrap(sentence, width)).map(Line::from));
    lines
}

/// Returns the progress of a plan that is not finished, as one line above the composer.
pub(super) fn plan_line(open: &OpenPod, width: usize) -> Option<Line<'static>> {
    let plan = open.plan();
    let is_open = plan.iter().any(|entry| entry.status != "completed");
    let words = transcript::words::plan_words(&serde_json::to_value(&plan).ok()?);
    is_open.then(|| {
        Line::from(fit(&format!("  {}  {words}", if open.agent.is_some() { "plan" } else { "tasks" }), width)).dim()
    })
}

fn plan(entries: &[PlanEntry], width: usize) -> Vec<Line<'static>> {
    let step = |entry: &PlanEntry| {
        let mark = match entry.status.as_str() {
            "completed" => "✓",
            "in_progress" => "▸",
            _ => "·",
        };
        format!("{mark} {}", entry.content)
    };
    list("plan", entries.iter().map(step).collect(), width)
}

fn choices(label: &'static str, choices: &[AgentChoice], now: Option<&str>, width: usize) -> Vec<Line<'static>> {
    let choice = |choice: &AgentChoice| {
        let mark = if now == Some(choice.id.as_str()) { "▸ " } else { "" };
        let slash = if label == "commands" { "/" } else { "" };
        let name = if choice.name == choice.id { String::new() } else { format!("  {}", choice.name) };
        let what = choice.description.as_deref().map(|what| format!(": {what}")).unwrap_or_default();
        format!("{mark}{slash}{}{name}{what}", choice.id)
    };
    list(label, choices.iter().map(choice).collect(), width)
}

/// Returns the items with the label beside the first one.
fn list(label: &'static str, items: Vec<String>, width: usize) -> Vec<Line<'static>> {
    let labels = std::iter::once(label).chain(std::iter::repeat(""));
    items.iter().zip(labels).flat_map(|(item, label)| labelled(label, item, width)).collect()
}

fn labelled(label: &str, text: &str, width: usize) -> Vec<Line<'static>> {
    let rows = wrap(text, width.saturating_sub(LABEL_WIDTH).max(1)).into_iter();
    let labels = std::iter::once(label).chain(std::iter::repeat(""));
    rows.zip(labels)
        .map(|(row, label)| Line::from(vec![Span::raw(padded(label, LABEL_WIDTH)).dim(), Span::raw(row)]))
        .collect()
}
