//! The background commands of a Pod: what each runs, and its state.

use protocol::BackgroundCommand;
use ratatui::{style::Stylize, text::Line};

use crate::{
    model::Jobs,
    wrap::{fit, padded},
};

/// Columns of a command's id and of its state.
const ID_WIDTH: usize = 12;
const STATE_WIDTH: usize = 24;

/// All lines, each with the index of its command.
pub(crate) fn lines(jobs: &Jobs, width: usize) -> Vec<(usize, Line<'static>)> {
    let Some(items) = &jobs.items else { return vec![(0, Line::from("Looking …").dim())] };
    if items.is_empty() {
        return vec![(0, Line::from("Nothing runs in the background.").dim())];
    }
    items.iter().enumerate().map(|(index, job)| (index, line(job, index == jobs.selected, width))).collect()
}

fn line(job: &BackgroundCommand, is_selected: bool, width: usize) -> Line<'static> {
    let state = job.detail.as_deref().unwrap_or(job.state.as_str());
    let (id, state) = (padded(&job.id, ID_WIDTH), padded(state, STATE_WIDTH));
    let mark = if is_selected { "> " } else { "  " };
    let line = Line::from(fit(&format!("{mark}{id} {state} {}", job.command), width));
    if is_selected { line.bold() } else { line }
}
