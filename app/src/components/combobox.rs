//! A text field with a list of suggestions below it. Any text may be typed; the list only helps.

use leptos::{ev, prelude::*};

use crate::{live, redrawn::redrawn};

/// How many suggestions are drawn; typing more narrows the list.
const SHOWN_MAX: usize = 50;

/// One line of the list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Item {
    /// The text that choosing it puts into the field.
    pub(crate) text: String,
    pub(crate) what: String,
}

/// The list opens on typing, with the arrow keys or on a press, and closes with Escape, which then closes nothing
/// else. Enter takes the suggestion chosen with the arrow keys; if none is chosen, it goes to the form.
#[component]
pub(crate) fn Combobox(
    #[prop(into)] id: String,
    label: &'static str,
    /// The label is not drawn, because what stands above the field already says it.
    #[prop(optional)]
    is_bare: bool,
    value: RwSignal<String>,
    /// The value used while the field is empty.
    #[prop(into)]
    placeholder: Signal<String>,
    #[prop(optional)] hint: &'static str,
    /// Suggestions for what is typed now.
    #[prop(into)]
    items: Signal<Vec<Item>>,
    /// Called when something is typed or the list is opened.
    #[prop(optional)]
    on_typed: Option<Callback<()>>,
) -> impl IntoView {
    let list = List::new(StoredValue::new(id), value, items, on_typed);
    let List { id, at, is_shown, .. } = list;
    let of = move |part: &str| list.part(part);
    let take = Callback::new(move |index| list.take(index));
    let active = move || at.get().filter(|_| is_shown.get()).map(|at| of(&at.to_string()));
    view! {
        <div class="field">
            {(!is_bare).then(|| view! { <label for=id.get_value()>{label}</label> }.into_any())}
            <input
                id=id.get_value()
                type="text"
                role="combobox"
                autocomplete="off"
                autocapitalize="off"
                spellcheck="false"
                aria-label=is_bare.then_some(label)
                aria-autocomplete="list"
                aria-controls=of("list")
                aria-expanded=move || is_shown.get().to_string()
                aria-activedescendant=active
                aria-describedby=of("hint")
                placeholder=placeholder
                prop:value=move || value.get()
                on:input=move |event| {
                    value.set(event_target_value(&event));
                    at.set(None);
                    list.open();
                }
                on:click=move |_| list.open()
                on:blur=move |_| list.close()
                on:keydown=move |event| list.press(&event)
            />
            <ul id=of("list") class="peer-options" class:is-hidden=move || !is_shown.get() role="listbox" aria-label=label>
                {redrawn(move || is_shown.get().then(|| lines(id, items.get(), at, take)))}
            </ul>
            <small id=of("hint")>{hint}</small>
        </div>
    }
}

/// The list's state: whether it is open, and which line is chosen.
#[derive(Debug, Clone, Copy)]
struct List {
    id: StoredValue<String>,
    value: RwSignal<String>,
    items: Signal<Vec<Item>>,
    on_typed: Option<Callback<()>>,
    is_open: RwSignal<bool>,
    at: RwSignal<Option<usize>>,
    is_shown: Memo<bool>,
}

impl List {
    fn new(
        id: StoredValue<String>,
        value: RwSignal<String>,
        items: Signal<Vec<Item>>,
        on_typed: Option<Callback<()>>,
    ) -> Self {
        let (is_open, at) = (RwSignal::new(false), RwSignal::new(None));
        let is_shown = Memo::new(move |_| is_open.get() && items.with(|items| !items.is_empty()));
        Self { id, value, items, on_typed, is_open, at, is_shown }
    }

    fn part(self, part: &str) -> String {
        self.id.with_value(|id| format!("{id}-{part}"))
    }

    fn open(self) {
        self.is_open.set(true);
        if let Some(on_typed) = self.on_typed {
            on_typed.run(());
        }
    }

    fn close(self) {
        self.is_open.set(false);
        self.at.set(None);
    }

    fn take(self, index: usize) {
        let Some(item) = self.items.with_untracked(|items| items.get(index).cloned()) else { return };
        // A folder keeps the list open, which then offers its contents.
        let goes_on = item.text.ends_with('/');
        self.value.set(item.text);
        self.at.set(None);
        self.is_open.set(goes_on);
        if let Some(on_typed) = self.on_typed.filter(|_| goes_on) {
            on_typed.run(());
        }
    }

    fn step(self, by: isize) {
        let last = self.items.with_untracked(Vec::len).min(SHOWN_MAX).saturating_sub(1);
        let next = match (self.is_shown.get_untracked(), self.at.get_untracked()) {
            (true, Some(now)) => now.saturating_add_signed(by).min(last),
            (_, _) if by > 0 => 0,
            _ => last,
        };
        self.open();
        self.at.set(Some(next));
        live::reveal(&self.part(&next.to_string()));
    }

    fn press(self, event: &ev::KeyboardEvent) {
        match event.key().as_str() {
            "ArrowDown" | "ArrowUp" => {
                event.prevent_default();
                self.step(if event.key() == "ArrowDown" { 1 } else { -1 });
            }
            "Enter" if !event.is_composing() && self.is_shown.get_untracked() => {
                if let Some(chosen) = self.at.get_untracked() {
                    event.prevent_default();
                    self.take(chosen);
                }
            }
            "Escape" if self.is_shown.get_untracked() => {
                event.prevent_default();
                event.stop_propagation();
                self.close();
            }
            _ => (),
        }
    }
}

fn lines(
    id: StoredValue<String>,
    items: Vec<Item>,
    at: RwSignal<Option<usize>>,
    take: Callback<usize>,
) -> Vec<AnyView> {
    let line = move |(index, item): (usize, Item)| {
        view! {
            <li
                id=id.with_value(|id| format!("{id}-{index}"))
                role="option"
                aria-selected=move || (at.get() == Some(index)).to_string()
                on:mousedown=move |event| {
                    // Keep the focus in the field.
                    event.prevent_default();
                    take.run(index);
                }
            >
                <b>{item.text}</b>
                <span>{item.what}</span>
            </li>
        }
        .into_any()
    };
    items.into_iter().take(SHOWN_MAX).enumerate().map(line).collect()
}
