//! Tokens and cost, as figures, charts and tables.

mod chart;
mod charts;
mod figures;
mod lines;
pub(crate) mod page;
mod sparkline;
mod table;

pub(crate) use self::{
    chart::DaysChart,
    figures::Figures,
    lines::{Line, of_days, of_links, of_models, of_pods, of_trees},
    sparkline::RunsLine,
    table::UsageTable,
};
