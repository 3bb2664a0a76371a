use leptos::prelude::*;
use leptos_meta::Title;

/// A page with one heading and its content.
#[component]
pub(crate) fn Page(
    title: &'static str,
    /// The page's class, and the prefix of the heading's id.
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
