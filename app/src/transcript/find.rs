//! Finding text in this Pod's transcript: the server searches all of it, and the page goes from match to match.
//!
//! The bar is a form and its steps are links, so that it works the same without a script. It takes no space: it is
//! visible while it has the focus and while a search is active.

mod places;

use leptos::{
    ev::{KeyboardEvent, MouseEvent, SubmitEvent},
    html::Input,
    prelude::*,
    task::spawn_local,
};
use leptos_router::{
    NavigateOptions,
    hooks::{use_navigate, use_query_map},
};
use protocol::Seq;

use self::places::{Places, find};
use crate::{
    UiError,
    codec::{Fetched, fetched},
    components::{link::taken, marks},
    console::{Console, PodContext, encoded, pod_href, print_href, use_console, use_pod},
    live,
    redrawn::redrawn,
    rows::dom_id,
};

/// The field's id; focusing it opens the bar.
const FIELD: &str = "find-words";

/// How long typing must pause before matches are counted, in milliseconds.
const REST_MS: u32 = 250;

/// For this many frames after a bar has been drawn it may lose the focus that it was given.
const FRAMES_MAX: usize = 30;

/// Opens the bar. Does nothing on a page without one.
pub(crate) fn open() {
    live::focus(FIELD);
}

/// Focuses this bar if it replaces another one because a match had to be loaded.
fn take_focus(console: Console) {
    Effect::new(move |_| {
        if console.is_finding.get_value() {
            console.is_finding.set_value(false);
            spawn_local(async {
                live::painted().await;
                live::focus(FIELD);
                for _ in 0..FRAMES_MAX {
                    live::painted().await;
                    live::focus_if_lost(FIELD);
                }
            });
        }
    });
}

type Found = Fetched<Result<Places, UiError>>;

/// One search, and the current match. It may be read once more after the page, and this bar with it, has been
/// replaced to load a match, so it is only read in ways that tolerate disposal.
#[derive(Clone, Copy)]
struct Finding {
    pod: PodContext,
    field: NodeRef<Input>,
    words: RwSignal<String>,
    found: Found,
    /// `None` until you have moved on from where the search began.
    index: RwSignal<Option<usize>>,
    /// Whether to go to the matches. Until then they are only counted.
    is_asked: RwSignal<bool>,
    at: StoredValue<Option<Seq>>,
    /// Counts the key presses so far.
    count: StoredValue<u64>,
    /// Goes to the address of a match that is not on this page.
    load: Callback<String>,
}

impl Finding {
    fn new(asked: String, at: Option<Seq>) -> Self {
        let (console, pod) = (use_console(), use_pod());
        let is_asked = RwSignal::new(!asked.is_empty());
        let words = RwSignal::new(asked);
        let address = pod.pod.get_value();
        let found = fetched(
            move || words.try_get().unwrap_or_default(),
            move |words| find(words.trim().to_owned(), address.clone()),
        );
        let navigate = use_navigate();
        let load = Callback::new(move |href: String| {
            console.is_finding.set_value(true);
            navigate(&href, NavigateOptions { scroll: false, ..Default::default() });
        });
        let (field, index) = (NodeRef::new(), RwSignal::new(None));
        let (at, count) = (StoredValue::new(at), StoredValue::new(0));
        Self { pod, field, words, found, index, is_asked, at, count, load }
    }

    fn places(self) -> Places {
        self.found.try_get().flatten().and_then(Result::ok).unwrap_or_default()
    }

    /// Whether the results are for the current words and not for earlier ones.
    fn is_answered(self) -> bool {
        untrack(|| self.words.try_with(|words| self.places().words == words.trim())) == Some(true)
    }

    fn index(self, places: &Places) -> usize {
        let first = || places.first(self.at.try_get_value().flatten());
        self.index.try_get().flatten().filter(|index| *index < places.seqs.len()).unwrap_or_else(first)
    }

    /// The address of the match `step` away from the current one.
    fn href(self, step: isize) -> Option<String> {
        let places = self.places();
        let seq = *places.seqs.get(places.beside(self.index(&places), step))?;
        Some(self.href_of(&places.words, seq))
    }

    fn href_of(self, words: &str, seq: Seq) -> String {
        let pod = self.pod.pod.try_with_value(pod_href).unwrap_or_default();
        format!("{pod}?find={}&at={seq}#seq-{seq}", encoded(words))
    }

    /// Shows the match on this page and expands its block. Returns false if it has to be loaded first.
    fn show(self, index: usize) -> bool {
        let places = untrack(|| self.places());
        let Some(seq) = places.seqs.get(index).copied() else { return false };
        self.index.set(Some(index));
        let Some(block) = self.pod.rows.block_at(seq).map(|id| dom_id(&id)).filter(|id| live::log_show(id)) else {
            return false;
        };
        live::open_block(&block);
        live::mark_found(&block, places.words.clone(), marks::places);
        live::keep_url(&self.href_of(&places.words, seq));
        true
    }

    /// Goes to the match `step` away from the current one. The first step goes to where the search begins.
    fn go(self, step: isize) {
        let step = if self.is_asked.get_untracked() { step } else { 0 };
        self.is_asked.set(true);
        let (index, href) = untrack(|| {
            let places = self.places();
            (places.beside(self.index(&places), step), self.href(step))
        });
        if let Some(href) = href.filter(|_| !self.show(index)) {
            self.load.run(href);
        }
    }

    /// Searches for what is typed; with `asks`, also goes to the first match, or to the next one if the results are
    /// already there.
    fn look(self, asks: bool) {
        self.count.update_value(|count| *count += 1);
        let typed = self.field.get_untracked().map(|field| field.value().trim().to_owned()).unwrap_or_default();
        if self.words.with_untracked(|words| *words != typed) {
            self.index.set(None);
            self.is_asked.set(asks);
            self.words.set(typed);
        } else if asks && self.is_answered() {
            self.go(1);
        } else if asks {
            self.is_asked.set(true);
        }
    }

    /// Counts the matches once typing pauses.
    fn look_soon(self) {
        self.count.update_value(|count| *count += 1);
        let mine = self.count.get_value();
        live::after(REST_MS, move || {
            if self.count.try_get_value() == Some(mine) {
                self.look(false);
            }
        });
    }

    fn pressed(self, event: &KeyboardEvent) {
        match event.key().as_str() {
            "Escape" => self.close(),
            "Enter" if event.shift_key() => self.go(-1),
            // In the field these are letters.
            "n" | "N" => match live::plain_key(event) {
                Some(key) => self.go(if key == "N" { -1 } else { 1 }),
                None => return,
            },
            _ => return,
        }
        event.prevent_default();
        event.stop_propagation();
    }

    fn told(self) -> String {
        match self.found.try_get().flatten() {
            Some(Ok(places)) if self.words.try_with(|words| places.words == words.trim()) != Some(false) => {
                let index = self.is_asked.try_get().unwrap_or_default().then(|| self.index(&places));
                places.told(index)
            }
            Some(Err(error)) => error.sentence().to_owned(),
            _ => "looking…".to_owned(),
        }
    }

    fn forget(self) {
        if let Some(field) = self.field.get_untracked() {
            field.set_value("");
        }
        self.words.set(String::new());
        self.index.set(None);
        self.is_asked.set(false);
        self.at.set_value(None);
        live::unmark_found();
    }

    /// Closes the bar and returns to the transcript without moving it.
    fn close(self) {
        self.forget();
        live::keep_url(&self.pod.pod.with_value(pod_href));
        live::focus("log");
    }
}

/// Goes to the first match once the requested results arrive, unless the address already leads to one.
fn go_to_first(finding: Finding, at: Option<Seq>) {
    let led_to = at.map(|_| finding.words.get_untracked()).unwrap_or_default();
    Effect::new(move |before: Option<String>| {
        let before = before.unwrap_or_else(|| led_to.clone());
        let Some(Some(Ok(places))) = finding.found.try_get() else { return before };
        // The results may be too late, with another page on screen.
        if !finding.pod.presence.is_here() || finding.is_asked.try_get_untracked() != Some(true) {
            return before;
        }
        let first = places.first(at);
        if before != places.words && first < places.seqs.len() && !finding.show(first) {
            finding.load.run(finding.href_of(&places.words, places.seqs[first]));
        }
        places.words
    });
}

/// The find bar: matches are counted while you type. Enter goes to the first, and then from match to match.
#[component]
pub(crate) fn FindBar() -> impl IntoView {
    let query = use_query_map();
    let asked = query.with_untracked(|query| query.get("find").unwrap_or_default());
    let at = query.with_untracked(|query| query.get("at")?.parse().ok().map(Seq));
    let finding = Finding::new(asked.clone(), at);
    let pod = finding.pod;
    take_focus(use_console());
    pod.presence.on_turn(move |is_here| {
        if !is_here {
            finding.forget();
        }
    });
    go_to_first(finding, at);
    let submit = move |event: SubmitEvent| {
        event.prevent_default();
        finding.look(true);
    };
    let href = pod.pod.with_value(pod_href);
    view! {
        <form
            class="find-bar"
            class:is-open=move || finding.words.try_with(|words| !words.is_empty()).unwrap_or_default()
            role="search"
            method="get"
            action=href.clone()
            on:submit=submit
            on:keydown=move |event| finding.pressed(&event)
        >
            <input
                id=FIELD
                node_ref=finding.field
                name="find"
                type="search"
                aria-label="Find in this transcript"
                placeholder="Find in this transcript"
                autocomplete="off"
                spellcheck="false"
                value=asked
                on:input=move |_| finding.look_soon()
            />
            <Transition>
                <Told finding=finding />
                <Step finding=finding id="find-previous" step=-1 name="Previous match (Shift-Enter)" sign="↑" />
                <Step finding=finding id="find-next" step=1 name="Next match (Enter)" sign="↓" />
            </Transition>
            <a class="without-script" href=pod.pod.with_value(print_href)>
                "Full transcript"
            </a>
            <a
                class="quiet"
                href=href.clone()
                rel="external"
                aria-label="Close (Esc)"
                title="Close (Esc)"
                on:click=move |event| {
                    taken(&event);
                    finding.close();
                }
            >
                "✕"
            </a>
        </form>
    }
}

/// The number of matches, linked to the current one, because without a script nothing has gone there yet.
#[component]
fn Told(finding: Finding) -> impl IntoView {
    let told = move || finding.told();
    let here = move || match finding.href(0) {
        Some(href) => view! { <a href=href>{redrawn(told)}</a> }.into_any(),
        None => told.into_any(),
    };
    view! {
        <span class="find-told" role="status">
            {redrawn(here)}
        </span>
    }
}

/// The link to the match `step` away.
#[component]
fn Step(finding: Finding, id: &'static str, step: isize, name: &'static str, sign: &'static str) -> impl IntoView {
    redrawn(move || {
        finding.href(step).map(|href| {
            let pressed = move |event: MouseEvent| {
                taken(&event);
                finding.go(step);
            };
            view! {
                <a class="quiet" id=id href=href aria-label=name title=name on:click=pressed>
                    {sign}
                </a>
            }
            .into_any()
        })
    })
}
