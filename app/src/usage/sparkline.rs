use leptos::prelude::*;
use transcript::{Block, BlockKind, words::tokens_words};

use crate::{console::use_pod, format::counted, redrawn::redrawn, usage::charts};

/// Size of the drawing, in its own units; it is stretched to the width available.
const SIZE: (u32, u32) = (200, 28);

/// How many of the newest runs are drawn.
const RUNS_MAX: usize = 40;

/// A line through these values, oldest first, with a label for screen readers.
#[component]
pub(crate) fn Sparkline(values: Vec<u64>, label: String) -> impl IntoView {
    let (width, height) = SIZE;
    view! {
        <svg
            class="sparkline"
            width="100%"
            height=height
            // Leave space for the line's own width at the edges.
            viewBox=format!("-2 -2 {} {}", width + 4, height + 4)
            preserveAspectRatio="none"
            role="img"
            aria-label=label
        >
            <polyline points=charts::line_points(&values, width, height) />
        </svg>
    }
}

/// Tokens of this Pod's newest runs, as far as they are loaded; empty until there are two.
#[component]
pub(crate) fn RunsLine() -> impl IntoView {
    let rows = use_pod().rows;
    let runs = Memo::new(move |_| rows.newest(RUNS_MAX, run_tokens));
    redrawn(move || {
        let runs = runs.get();
        (runs.len() > 1).then(|| {
            let label = runs_words(&runs);
            view! { <Sparkline values=runs label=label /> }.into_any()
        })
    })
}

/// The tokens of a run that has ended.
fn run_tokens(block: &Block) -> Option<u64> {
    match &block.kind {
        BlockKind::RunEnd { usage, .. } => Some(usage.input.saturating_add(usage.output)),
        _ => None,
    }
}

fn runs_words(runs: &[u64]) -> String {
    let (least, most) = (runs.iter().min().copied().unwrap_or(0), runs.iter().max().copied().unwrap_or(0));
    format!(
        "Tokens of the newest {}: {} to {} each, {} in the last one",
        counted(runs.len() as u64, "run"),
        tokens_words(least),
        tokens_words(most),
        tokens_words(runs.last().copied().unwrap_or(0))
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_are_told_by_their_span_and_the_last_one() {
        assert_eq!(
            runs_words(&[900, 4_200, 1_000]),
            "Tokens of the newest 3 runs: 900 to 4.2k each, 1k in the last one"
        );
    }
}
