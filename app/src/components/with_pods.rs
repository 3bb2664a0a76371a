use leptos::prelude::*;

use crate::{codec::Fetched, console::use_console};

/// The list that came with the page. Read by all who draw Pods before the stream has said anything.
pub(crate) type PodsResource = Fetched<Result<Vec<protocol::PodSummary>, crate::UiError>>;

/// For what is drawn from the list of Pods outside of the list itself: once the list is there, so that the server's
/// page and the hydrated one are drawn from the same.
#[component]
pub(crate) fn WithPods(children: ChildrenFn) -> impl IntoView {
    let console = use_console();
    let pods = expect_context::<PodsResource>();
    view! {
        <Suspense fallback=|| ()>
            {move || {
                pods.get()
                    .map(|list| {
                        if let Ok(list) = list {
                            console.seed(list);
                        }
                        children()
                    })
            }}
        </Suspense>
    }
}
