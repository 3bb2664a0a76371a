use leptos::prelude::*;
use leptos_router::hooks::use_query_map;

use crate::{
    UiError,
    codec::{Fetched, fetched},
    components::{absent::absent, page::Page, read_first::Unreadable},
    redrawn::redrawn,
    search::{Asked, Found, Results, SearchForm, status_words},
    server_fns::search,
};

/// `/search?q=…`: searches all transcripts, or with `pod=` just one.
#[component]
pub(crate) fn SearchPage() -> impl IntoView {
    let query = use_query_map();
    let asked = Memo::new(move |_| query.with(Asked::of));
    // The resource drops a result that arrives after the search has changed.
    let found = fetched(move || asked.get(), find);
    view! {
        <Page title="Search" class="search">
            <SearchForm asked=asked />
            // The old results stay until the new ones arrive.
            <Transition fallback=|| view! { <p class="hint search-slow">"Looking…"</p> }.into_any()>
                <Answer found=found asked=asked />
            </Transition>
        </Page>
    }
}

type FoundResource = Fetched<Result<Option<Found>, UiError>>;

/// `None` when nothing is searched for.
async fn find(asked: Asked) -> Result<Option<Found>, UiError> {
    if asked.words.is_empty() {
        return Ok(None);
    }
    let page = search(asked.words.clone(), asked.pod.clone(), asked.after.clone()).await?;
    Ok(Some(Found { asked, page }))
}

#[component]
fn Answer(found: FoundResource, asked: Memo<Asked>) -> impl IntoView {
    let status = move || match found.get() {
        Some(Ok(Some(found))) => status_words(&found),
        _ => String::new(),
    };
    let is_late = move || match found.get() {
        Some(Ok(Some(found))) => asked.with(|asked| *asked != found.asked),
        _ => false,
    };
    let everywhere = move || {
        let asked = asked.get();
        asked.pod.is_some().then(|| {
            view! {
                " "
                <a href=asked.within(None).href()>"Search all Pods"</a>
            }
            .into_any()
        })
    };
    view! {
        <p class="hint">
            <span role="status">{redrawn(status)}</span>
            {redrawn(everywhere)}
            {redrawn(move || is_late().then(|| view! { <span class="search-slow">" Looking…"</span> }.into_any()))}
        </p>
        {redrawn(move || found.get().and_then(Result::ok).flatten().and_then(|found| absent(&found.page.absent)))}
        {redrawn(move || found.get().map(|answer| body(answer, found)))}
    }
}

fn body(answer: Result<Option<Found>, UiError>, again: FoundResource) -> AnyView {
    match answer {
        Ok(None) => view! { <Searched /> }.into_any(),
        Ok(Some(found)) if found.page.items.is_empty() && found.asked.after.is_none() => {
            view! { <Searched /> }.into_any()
        }
        Ok(Some(found)) => view! { <Results found=found /> }.into_any(),
        Err(error) => view! { <Unreadable error=error again=move || again.refetch() /> }.into_any(),
    }
}

/// What the search covers, and how.
#[component]
fn Searched() -> impl IntoView {
    view! {
        <p class="search-what">
            "This searches your messages, the Pods' answers and messages, tool calls and results, summaries, "
            "and visible reasoning. A match contains all the words; the last may be the beginning of a word. Case does not matter."
        </p>
    }
}
