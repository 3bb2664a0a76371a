use leptos::prelude::*;
use leptos_meta::Title;

/// A page with one heading, and below it what it is about.
#[component]
pub(crate) fn Page(
    title: &'static str,
    /// How the heading's id begins, too.
    class: &'static str,
    children: Children,
) -> impl IntoView {
    let (title_id, labelled_by) = (format!("{class}-title"), format!("{class}-title"));
    view! {
        <Title text=title />
        <main id="main" class="page" tabindex="-1">
            <section class=class aria-labelledby=labelled_by>
                <h1 id=title_id>{title}</h1>
                {children()}
            </section>
        </main>
    }
}
