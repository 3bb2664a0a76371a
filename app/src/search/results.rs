use leptos::prelude::*;
use protocol::{PodRef, SearchHit};
use transcript::unseen;

use super::{
    Asked, Found,
    groups::{OfPod, by_pod, hit_href, kind_words},
};
use crate::{
    components::{
        link::far_pod_link,
        marks::{Piece, marked},
        state_mark::{Sign, StateWord},
        when::TimeOfDay,
        with_pods::WithPods,
    },
    console::use_console,
    format::counted,
    redrawn::redrawn,
};

/// The results by Pod; each links to its place.
#[component]
pub(crate) fn Results(found: Found) -> impl IntoView {
    let Found { asked, page } = found;
    let groups = by_pod(&page.items);
    // Results from a single Pod need no link that narrows to it, unless there are more.
    let narrows = asked.pod.is_none() && (groups.len() > 1 || page.next.is_some());
    let more = page.next.map(|next| {
        view! {
            <p class="search-more">
                <a class="button" href=asked.page_after(&next).href() rel="next">
                    "Next matches"
                </a>
            </p>
        }
        .into_any()
    });
    let groups =
        groups.into_iter().map(|group| view! { <Group group=group asked=asked.clone() narrows=narrows /> }.into_any());
    view! {
        {groups.collect_view()}
        {more}
    }
}

#[component]
fn Group(group: OfPod, asked: Asked, narrows: bool) -> impl IntoView {
    let OfPod { pod, name, hits } = group;
    let only = narrows.then(|| {
        view! {
            <a class="search-only" href=asked.within(Some(&pod)).href()>
                "only in this Pod"
            </a>
        }
        .into_any()
    });
    let count = matches_words(hits.len() as u64);
    view! {
        <section class="search-pod">
            <h2>
                {far_pod_link(&pod, name)}
                <StateNow pod=pod />
                <small>{count}</small>
                {only}
            </h2>
            <ol>{hits.into_iter().map(|hit| place(hit, &asked.words)).collect_view()}</ol>
        </section>
    }
}

/// The Pod's state as in the list; empty if the Pod has gone since.
#[component]
fn StateNow(pod: PodRef) -> impl IntoView {
    let console = use_console();
    let sign = Memo::new(move |_| console.pod(&pod).map(|pod| Sign::of(&pod)));
    view! { <WithPods>{redrawn(move || sign.get().map(|sign| view! { <StateWord sign=sign /> }.into_any()))}</WithPods> }
}

fn place(hit: SearchHit, words: &str) -> impl IntoView + use<> {
    let pieces = marked(&unseen::shown(&hit.snippet), words).into_iter().map(|piece| match piece {
        Piece { text, is_found: true } => view! { <mark>{text}</mark> }.into_any(),
        Piece { text, is_found: false } => text.into_any(),
    });
    view! {
        <li>
            <a class="hit" data-hit="" href=hit_href(&hit)>
                <span class="hit-kind">{kind_words(&hit.kind)}</span>
                <span class="hit-text">{pieces.collect_view()}</span>
                {hit.at.map(|at| view! { <span class="hit-when"><TimeOfDay at=at /></span> }.into_any())}
            </a>
        </li>
    }
    .into_any()
}

/// How much was found, in one sentence.
pub(crate) fn status_words(found: &Found) -> String {
    let (hits, pods) = (found.page.items.len() as u64, by_pod(&found.page.items).len() as u64);
    let first = match (found.page.next.is_some(), found.asked.after.is_some()) {
        (true, false) => "The newest ",
        (_, true) => "Older: ",
        (false, false) => "",
    };
    match (hits, found.asked.pod.is_some()) {
        (0, _) if found.asked.after.is_some() => "No more matches.".to_owned(),
        (0, false) => "No matches.".to_owned(),
        (0, true) => "No matches in this Pod.".to_owned(),
        (_, false) => format!("{first}{} in {}.", matches_words(hits), counted(pods, "Pod")),
        (_, true) => format!("{first}{} in this Pod.", matches_words(hits)),
    }
}

fn matches_words(count: u64) -> String {
    if count == 1 { "1 match".to_owned() } else { format!("{count} matches") }
}

#[cfg(test)]
mod tests {
    use protocol::Gathered;

    use super::{super::groups::tests::hit, *};

    #[test]
    fn the_status_says_how_much_and_whether_there_is_more() {
        let found = |items: Vec<SearchHit>, next: Option<&str>, asked: Asked| {
            status_words(&Found { asked, page: Gathered { items, next: next.map(str::to_owned), absent: Vec::new() } })
        };
        let here = Asked { pod: Some("local/ada".to_owned()), ..Asked::default() };
        assert_eq!(found(vec![], None, Asked::default()), "No matches.");
        assert_eq!(found(vec![], None, here.page_after("1")), "No more matches.");
        assert_eq!(found(vec![], None, here.clone()), "No matches in this Pod.");
        assert_eq!(found(vec![hit("ada", 2), hit("bob", 1)], None, Asked::default()), "2 matches in 2 Pods.");
        assert_eq!(found(vec![hit("ada", 2)], Some("1"), here.clone()), "The newest 1 match in this Pod.");
        assert_eq!(found(vec![hit("ada", 1)], None, here.page_after("1")), "Older: 1 match in this Pod.");
    }
}
