use leptos::prelude::*;
use leptos_meta::Title;
use leptos_router::hooks::use_query_map;

use crate::{
    codec::fetched,
    components::{read_first::Unreadable, with_pods::PodsResource},
    console::{Console, use_console},
    pods::{
        board::{Board, BoardBar},
        first_minute::FirstMinute,
        pods_table::PodsTable,
    },
    redrawn::redrawn,
    server_fns::{BoardFound, read_board},
};

/// `/`: the board, or all Pods as a table; on a fresh start, the first screen.
#[component]
pub(crate) fn PodsPage() -> impl IntoView {
    let console = use_console();
    let query = use_query_map();
    let is_table = Memo::new(move |_| query.with(|query| query.get("view").as_deref() == Some("table")));
    let pods = expect_context::<PodsResource>();
    let found = fetched(
        move || is_table.get(),
        |is_table| async move {
            match is_table {
                true => Ok(None),
                false => read_board().await.map(Some),
            }
        },
    );
    view! {
        // The page has no name of its own, whatever page was open before.
        <Title text="" />
        <main id="main" class="page board-page" tabindex="-1">
            <Suspense fallback=|| view! { <p class="hint">"Loading Pods…"</p> }.into_any()>
                {redrawn(move || {
                    pods.get()
                        .zip(found.get())
                        .map(|read| match read {
                            (Ok(list), Ok(found)) => {
                                console.seed(list);
                                view! { <Dashboard console=console found=found /> }.into_any()
                            }
                            (Err(error), _) | (_, Err(error)) => {
                                let again = move || {
                                    pods.refetch();
                                    found.refetch();
                                };
                                view! {
                                    <section class="board">
                                        <h1>"Pods"</h1>
                                        <Unreadable error=error again=again />
                                    </section>
                                }.into_any()
                            }
                        })
                })}
            </Suspense>
        </main>
    }
}

/// Whether there is no Pod yet.
fn is_fresh(console: Console) -> Memo<bool> {
    Memo::new(move |_| console.with_pods(<[_]>::is_empty))
}

/// `found` is absent where the table is asked for.
#[component]
fn Dashboard(console: Console, found: Option<BoardFound>) -> impl IntoView {
    let is_fresh = is_fresh(console);
    redrawn(move || match (is_fresh.get(), found.clone()) {
        (true, _) => view! { <FirstMinute /> }.into_any(),
        (false, Some(found)) => view! { <Board first=found /> }.into_any(),
        (false, None) => view! {
            <section class="board" aria-labelledby="pods-title">
                <h1 id="pods-title">"Pods"</h1>
                <BoardBar is_table=true />
                <PodsTable />
                <p class="hint">
                    <a href="/settings#models">"Models and keys"</a>
                </p>
            </section>
        }
        .into_any(),
    })
}
