use leptos::prelude::*;
use transcript::words::{about_cost, about_tokens, cost_words};

use crate::redrawn::redrawn;

use super::lines::Line;

/// Tokens and cost, one row each. The bar shows the share of the total; its accessible name has the figure.
#[component]
pub(crate) fn UsageTable(caption: &'static str, first: &'static str, lines: Memo<Vec<Line>>) -> impl IntoView {
    view! {
        <table class="usage-table">
            <caption class="visually-hidden">{caption}</caption>
            <thead>
                <tr>
                    <th scope="col">{first}</th>
                    <th scope="col" class="usage-share">
                        "Share"
                    </th>
                    <th scope="col">"In"</th>
                    <th scope="col">"Out"</th>
                    <th scope="col">"Cost"</th>
                </tr>
            </thead>
            <tbody>{redrawn(move || lines.get().into_iter().map(row).collect_view())}</tbody>
        </table>
    }
}

fn row(line: Line) -> impl IntoView {
    let Line { name, href, note, usage, share } = line;
    let name = match href {
        Some(href) => view! {
            <a class="pod-link" href=href>
                {name}
            </a>
        }
        .into_any(),
        None => name.into_any(),
    };
    let note = (!note.is_empty()).then(|| view! { " " <small>{note}</small> }.into_any());
    let cost = match usage.cost.is_some() || usage.currency.is_some() {
        true => about_cost(usage.cost, usage.currency, usage.estimated).into_any(),
        false => view! { <span class="not-priced">{cost_words(None, None)}</span> }.into_any(),
    };
    view! {
        <tr>
            <th scope="row">{name} {note}</th>
            <td class="usage-share">
                <svg width="100%" height="6" role="img" aria-label=share.to_string()>
                    <rect class="bar-ground" width="100%" height="6" rx="3" />
                    <rect class="bar-output" width=share.to_string() height="6" rx="3" />
                </svg>
            </td>
            <td title=usage.input.to_string()>{about_tokens(usage.input, usage.estimated)}</td>
            <td title=usage.output.to_string()>{about_tokens(usage.output, usage.estimated)}</td>
            <td>{cost}</td>
        </tr>
    }
    .into_any()
}
