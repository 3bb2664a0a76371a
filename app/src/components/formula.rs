use leptos::prelude::*;
use transcript::{markup::Formula, unseen};

use crate::live;

/// A formula, once the server has drawn it; its source until then, and if it cannot be drawn.
#[component]
pub(crate) fn FormulaView(formula: Formula) -> impl IntoView {
    let source = unseen::shown(&formula.source).into_owned();
    let is_display = formula.is_display;
    #[cfg(feature = "ssr")]
    if let Some(drawn) = print::drawn(&formula) {
        return drawn_view(drawn, source, is_display);
    }
    let drawn = RwSignal::new(live::formula_known(&formula));
    if drawn.with_untracked(Option::is_none) {
        Effect::new(move |_| {
            live::draw_formula(formula.clone(), move |found| {
                drawn.try_set(Some(found));
            });
        });
    }
    let view = move || match drawn.get().filter(|drawn| !drawn.is_empty()) {
        Some(drawn) => drawn_view(drawn, source.clone(), is_display),
        None => view! { <code>{source.clone()}</code> }.into_any(),
    };
    view.into_any()
}

/// What the server has drawn contains only the elements of MathML.
fn drawn_view(drawn: String, source: String, is_display: bool) -> AnyView {
    view! { <span class="formula" class:is-display=is_display title=source inner_html=drawn></span> }.into_any()
}

/// On a page that is never hydrated, formulas are drawn with it.
#[cfg(feature = "ssr")]
mod print {
    use leptos::prelude::use_context;
    use transcript::markup::Formula;

    use crate::server_fns::{Budget, draw_formula_now};

    pub(super) fn drawn(formula: &Formula) -> Option<String> {
        use_context::<Budget>().and_then(|_| draw_formula_now(formula))
    }
}
