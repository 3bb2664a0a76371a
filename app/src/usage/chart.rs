use leptos::prelude::*;
use protocol::UsageReport;
use transcript::words::{about_cost, about_tokens, tokens_words};

use crate::{
    console::use_console,
    redrawn::redrawn,
    usage::charts::{self, Bar, BarChart, CHART_HEIGHT, Tick},
};

/// Width of the axis labels beside the bars, in CSS pixels.
const AXIS_WIDTH: u32 = 40;

/// The pieces of a bar, from bottom to top.
const PIECES: [(&str, &str); 3] =
    [("bar-cached", "cached input"), ("bar-fresh", "other input"), ("bar-output", "output")];

/// Tokens per day, as bars. The table beside it has the same figures.
#[component]
pub(crate) fn DaysChart(report: RwSignal<UsageReport>) -> impl IntoView {
    let clock = use_console().clock;
    let chart = Memo::new(move |_| report.with(|report| charts::bar_chart(&report.days, clock.now())));
    let legend = PIECES
        .into_iter()
        .map(|(class, words)| view! { <span class=format!("chart-key {class}")>{words}</span> }.into_any());
    view! {
        <figure class="chart">
            <div class="chart-body">
                <svg class="chart-axis" width=AXIS_WIDTH height=CHART_HEIGHT aria-hidden="true">
                    {redrawn(move || chart.with(|chart| chart.ticks.iter().map(tick_figure).collect_view()))}
                </svg>
                <svg
                    class="chart-plot"
                    width="100%"
                    height=CHART_HEIGHT
                    role="img"
                    aria-label=move || chart.with(in_words)
                >
                    {redrawn(move || chart.with(plot))}
                </svg>
            </div>
            <figcaption class="hint">{legend.collect_view()}</figcaption>
        </figure>
    }
}

fn tick_figure(tick: &Tick) -> impl IntoView + use<> {
    view! {
        <text x=AXIS_WIDTH - 6 y=tick.y + 4>
            {tokens_words(tick.tokens)}
        </text>
    }
    .into_any()
}

fn plot(chart: &BarChart) -> AnyView {
    let line = |tick: &Tick| view! { <line class="chart-line" x1="0" x2="100%" y1=tick.y y2=tick.y /> }.into_any();
    let name = |name: &charts::DayName| {
        view! {
            <text x=name.x.to_string() y=CHART_HEIGHT - 4>
                {name.text.clone()}
            </text>
        }
        .into_any()
    };
    view! {
        {chart.ticks.iter().map(line).collect_view()}
        {chart.bars.iter().filter(|bar| charts::tokens(&bar.usage) > 0).map(bar_view).collect_view()}
        {chart.names.iter().map(name).collect_view()}
    }
    .into_any()
}

fn bar_view(bar: &Bar) -> impl IntoView + use<> {
    let (x, width) = (bar.x.to_string(), bar.width.to_string());
    let piece = |(piece, (class, _)): (&charts::Piece, (&'static str, &str))| {
        view! { <rect class=class x=x.clone() width=width.clone() y=piece.y height=piece.height /> }.into_any()
    };
    let usage = &bar.usage;
    let said = format!(
        "{}: {} in ({} cached), {} out, {}",
        bar.day,
        about_tokens(usage.input, usage.estimated),
        tokens_words(usage.cached),
        about_tokens(usage.output, usage.estimated),
        about_cost(usage.cost, usage.currency, usage.estimated)
    );
    view! {
        <g>
            <title>{said}</title>
            {bar.pieces.iter().zip(PIECES).filter(|(piece, _)| piece.height > 0).map(piece).collect_view()}
        </g>
    }
    .into_any()
}

/// A description of the chart for screen readers.
fn in_words(chart: &BarChart) -> String {
    let days = chart.bars.len();
    let all: u64 = chart.bars.iter().map(|bar| charts::tokens(&bar.usage)).fold(0, u64::saturating_add);
    match chart.bars.iter().max_by_key(|bar| charts::tokens(&bar.usage)).filter(|_| all > 0) {
        Some(most) => format!(
            "Tokens of the last {days} days: {} in total, most on {} with {}. The table below lists each day.",
            tokens_words(all),
            most.day,
            tokens_words(charts::tokens(&most.usage))
        ),
        None => format!("No tokens were used in the last {days} days."),
    }
}

#[cfg(test)]
mod tests {
    use protocol::UsageDay;

    use super::*;

    #[test]
    fn the_chart_is_told_in_one_sentence() {
        let now = "2026-11-21T09:00:00Z".parse().unwrap();
        let day = |day: &str, input| UsageDay { day: Some(day.to_owned()), input, ..UsageDay::default() };
        let chart = charts::bar_chart(&[day("2026-11-19", 3_000), day("2026-11-21", 1_200)], now);
        assert_eq!(
            in_words(&chart),
            "Tokens of the last 30 days: 4.2k in total, most on 19 Nov with 3k. The table below lists each day."
        );
        assert_eq!(in_words(&charts::bar_chart(&[], now)), "No tokens were used in the last 30 days.");
    }
}
