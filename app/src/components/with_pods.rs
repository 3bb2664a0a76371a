use leptos::prelude::*;

use crate::{codec::Fetched, console::use_console, redrawn::redrawn};

/// The list of Pods that came with the page, used until the stream has delivered anything.
pub(crate) type PodsResource = Fetched<Result<Vec<protocol::PodSummary>, crate::UiError>>;

/// Draws its children once the list of Pods is there, so that the server's page and the hydrated one are drawn from
/// the same data. For what uses the list outside the list itself.
#[component]
pub(crate) fn WithPods(children: ChildrenFn) -> impl IntoView {
    let console = use_console();
    let pods = expect_context::<PodsResource>();
    view! {
        <Suspense fallback=|| ()>
            {redrawn(move || {
                pods.get()
                    .map(|list| {
                        if let Ok(list) = list {
                            console.seed(list);
                        }
                        children()
                    })
            })}
        </Suspense>
    }
}
