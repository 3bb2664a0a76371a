//! The board: what needs you, and what each Pod did since you last looked.

use leptos::{prelude::*, task::spawn_local};
use protocol::{OpenApproval, OpenRequest, PodSummary};

#[cfg(feature = "ssr")]
use crate::approvals::needs::Needs;
use crate::{
    console::{Console, Over, drawn_over, use_console},
    live,
    pods::new_pod_button::NewPodButton,
    reading::{First, Reading},
    redrawn::redrawn,
    server_fns::{BoardFound, read_board},
};

/// Minimum time between two reads of the rows, in milliseconds.
const READING_MS_MIN: u32 = 3_000;

/// The ids of the elements with the rows and with the cards that the server has drawn.
const ROWS: &str = "since";
const CARDS: &str = "cards";

/// The rows are drawn by the server and replaced as a whole; the cards above them are live.
#[component]
pub(crate) fn Board(first: BoardFound) -> impl IntoView {
    let console = use_console();
    let BoardFound { greeting, since, lede, cost, rows, questions, requests } = first;
    let (greeting, lede) = (RwSignal::new(greeting), RwSignal::new(lede));
    let (asked, asking) = (questions.len(), requests.len());
    let count = Memo::new(move |_| needing(console, asked, asking));
    // An answered card stays until you leave.
    let has_needs = Memo::new(move |before: Option<&bool>| before.copied().unwrap_or_default() || count.get() > 0);
    let cards =
        StoredValue::new(if has_needs.get_untracked() { cards_html(&questions, &requests) } else { String::new() });
    let is_alive = RwSignal::new(false);
    Effect::new(move |_| {
        cards.set_value(live::html_in(CARDS));
        is_alive.set(true);
    });
    let drawn_cards = move || view! { <div id=CARDS inner_html=cards.get_value()></div> }.into_any();
    let heads = move || {
        let drawn = |pod: &PodSummary| (pod.pod.clone(), pod.head_seq, pod.state, pod.budget, pod.git.clone());
        console.with_pods(|pods| pods.iter().map(drawn).collect::<Vec<_>>())
    };
    let read = move || async move {
        // A failed read is retried with the next change; the page already shows when the connection is lost.
        if let Ok(found) = read_board().await {
            live::replace_rows(ROWS, &found.rows);
            live::replace_rows("cost", &found.cost);
            greeting.try_set(found.greeting);
            lede.try_set(found.lede);
        }
    };
    Reading::follow(READING_MS_MIN, First::IsKnown, heads, read);
    Effect::new(move |_| {
        // The page was drawn with the server's clock.
        if live::tell_zone() {
            spawn_local(read());
        }
    });
    keep_looked(since.as_millisecond());
    view! {
        <section class="board" aria-labelledby="board-title">
            <header class="hello">
                <div>
                    <h1 id="board-title">{greeting} " " {redrawn(move || need_words(count.get()))}</h1>
                    <p class="lede">{lede}</p>
                </div>
                <div id="cost" class="cost" inner_html=cost></div>
            </header>
            {redrawn(move || match is_alive.get() {
                false => drawn_cards(),
                true => {
                    let (questions, requests) = (questions.clone(), requests.clone());
                    let live_cards = move || {
                        has_needs.get().then(|| drawn_over(Over::Needs(questions.clone(), requests.clone())))
                    };
                    view! { <Suspense fallback=drawn_cards>{redrawn(live_cards)}</Suspense> }.into_any()
                }
            })}
            <BoardBar is_table=false />
            <div id=ROWS class="since" data-rows="" inner_html=rows></div>
            <p class="board-keys" aria-hidden="true">
                <span><kbd>"j"</kbd> " " <kbd>"k"</kbd> " move"</span>
                <span><kbd>"Enter"</kbd> " open"</span>
                <span><kbd>"a"</kbd> " next approval"</span>
                <span><kbd>"n"</kbd> " new Pod"</span>
            </p>
        </section>
    }
}

/// The cards as the server draws them: seen at once, and replaced by live ones as soon as their code is there.
#[cfg(feature = "ssr")]
fn cards_html(questions: &[OpenApproval], requests: &[OpenRequest]) -> String {
    view! { <Needs questions=questions.to_vec() requests=requests.to_vec() /> }.into_any().to_html()
}

#[cfg(not(feature = "ssr"))]
fn cards_html(_questions: &[OpenApproval], _requests: &[OpenRequest]) -> String {
    String::new()
}

/// Cards or table, and a new Pod.
#[component]
pub(crate) fn BoardBar(is_table: bool) -> impl IntoView {
    let current = |is_here: bool| is_here.then_some("page");
    view! {
        <div class="board-bar">
            <nav class="segments" aria-label="Show Pods as">
                <a href="/" aria-current=current(!is_table)>"Board"</a>
                <a href="/?view=table" aria-current=current(is_table)>"Table"</a>
            </nav>
            <NewPodButton />
        </div>
    }
}

/// "Last looked" moves when you leave the page.
fn keep_looked(since_ms: i64) {
    let is_here = StoredValue::new(());
    on_cleanup(move || live::keep_looked(since_ms));
    Effect::new(move |_| {
        live::on_leave(move || {
            if is_here.try_get_value().is_some() {
                live::keep_looked(since_ms);
            }
        });
    });
}

/// How many things need you; until the browser has read them, `asked` approvals and `asking` requests.
fn needing(console: Console, asked: usize, asking: usize) -> usize {
    let questions = console.questions.with(|questions| questions.as_ref().map_or(asked, Vec::len));
    let requests = console.requests.with(|requests| requests.as_ref().map_or(asking, Vec::len));
    console.with_pods(|pods| commands::needing(pods, Some(questions), requests))
}

fn need_words(count: usize) -> String {
    const WORDS: [&str; 10] = ["", "One", "Two", "Three", "Four", "Five", "Six", "Seven", "Eight", "Nine"];
    match (count, WORDS.get(count)) {
        (0, _) => "Nothing needs you.".to_owned(),
        (1, _) => "One thing needs you.".to_owned(),
        (_, Some(word)) => format!("{word} things need you."),
        _ => format!("{count} things need you."),
    }
}

#[cfg(test)]
mod tests {
    use super::need_words;

    #[test]
    fn what_needs_you_is_counted_in_words() {
        let words = [0, 1, 4, 12].map(need_words);
        assert_eq!(
            words,
            ["Nothing needs you.", "One thing needs you.", "Four things need you.", "12 things need you."]
        );
    }
}
