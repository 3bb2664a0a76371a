use leptos::prelude::*;
use leptos_meta::Title;

/// The page for an unknown address, with status 404.
#[component]
pub(crate) fn NotFoundPage() -> impl IntoView {
    #[cfg(feature = "ssr")]
    if let Some(options) = use_context::<leptos_axum::ResponseOptions>() {
        options.set_status(axum::http::StatusCode::NOT_FOUND);
    }
    view! {
        <Title text="Page not found" />
        <main id="main" class="page" tabindex="-1">
            <section class="missing">
                <h1>"Page not found"</h1>
                <p>"yoi has no page at this address. It may be mistyped or from another version."</p>
                <p>
                    <a class="button" href="/">
                        "All Pods"
                    </a>
                </p>
            </section>
        </main>
    }
}
