//! Where a message is written. The text is cleared only once the server has it.

mod attaching;
mod bar;
mod blind;
mod chips;
pub(crate) mod draft;
mod keeping;
mod keys;
mod listed;
mod mode;
mod plan;
mod queue;
mod recall;
mod sending;
mod sending_key;
mod tour;

use commands::allowed::input_refusal;
use leptos::{ev, prelude::*, task::spawn_local};
use protocol::ErrorCode;

use self::{
    attaching::attach,
    bar::{Bar, is_working},
    blind::BlindNote,
    chips::Chips,
    keeping::keep_draft,
    keys::Keys,
    listed::List,
    mode::ModeSwitch,
    plan::PlanLine,
    recall::Recall,
    sending::Outgoing,
    tour::Tour,
};
use crate::{
    UiError,
    components::{completion::Completion, problem::Problem},
    composer::{
        draft::{Draft, is_long_paste},
        queue::Queue,
    },
    console::{use_console, use_pod},
    live,
    reconnect::Link,
    redrawn::redrawn,
};

/// The message field's id.
const FIELD: &str = "message";

/// How many animation frames a new page gets to make the message field ready for focus.
const FRAMES_MAX: usize = 30;

#[component]
pub(crate) fn Composer() -> impl IntoView {
    let pod = use_pod();
    let outgoing = Outgoing::new(use_console(), pod);
    let switch = ModeSwitch::new(use_console(), pod);
    keep_draft(outgoing);
    forget_outage(outgoing);
    take_back(outgoing);
    begin_writing(outgoing);

    let refusal =
        move || input_refusal(pod.state.get()).map(|words| view! { <p class="refusal">{words}</p> }.into_any());
    view! {
        <div class="composer">
            <div class="composer-inner">
                <Tour outgoing=outgoing />
                <PlanLine />
                <Queue />
                {redrawn(refusal)}
                <Problem error=outgoing.error />
                <Chips outgoing=outgoing />
                <BlindNote outgoing=outgoing />
                <Field outgoing=outgoing switch=switch />
                <Bar outgoing=outgoing switch=switch />
            </div>
            <noscript>
                <p class="hint">"Sending from this page needs JavaScript. Without it: yoi send NAME TEXT."</p>
            </noscript>
        </div>
    }
}

/// The message field, and above it the completions for what is typed.
#[component]
fn Field(outgoing: Outgoing, switch: ModeSwitch) -> impl IntoView {
    let Outgoing { draft, pod, .. } = outgoing;
    let list = List::new(outgoing);
    let keys = Keys { outgoing, list, switch, recall: StoredValue::new(Recall::default()) };
    let on_paste = move |event: ev::ClipboardEvent| {
        let files = live::pasted_files(&event);
        if !files.is_empty() {
            event.prevent_default();
            return attach(outgoing, files);
        }
        if let Some(text) = live::pasted_text(&event).filter(|text| is_long_paste(text)) {
            event.prevent_default();
            draft.update(|draft| draft.pastes.push(text));
        }
    };
    let is_over = RwSignal::new(false);
    let on_drag = move |event: ev::DragEvent| {
        if live::drags_files(&event) {
            event.prevent_default();
            is_over.set(true);
        }
    };
    let on_drop = move |event: ev::DragEvent| {
        is_over.set(false);
        let files = live::dropped_files(&event);
        if !files.is_empty() {
            event.prevent_default();
            attach(outgoing, files);
        }
    };
    let placeholder = move || {
        let name = pod.summary.with(|summary| summary.name.to_string());
        match is_working(pod.state.get()) {
            true => format!("Message {name} (queued until it finishes)"),
            false => format!("Message {name}"),
        }
    };
    let active = move || {
        let chosen = list.chosen.get()?;
        list.choices.with(|choices| (chosen < choices.len()).then(|| format!("command-{chosen}")))
    };
    view! {
        <div
            class="composer-box"
            class:takes-files=move || is_over.get()
            on:dragover=on_drag
            on:dragleave=move |_| is_over.set(false)
            on:drop=on_drop
        >
            <Completion
                label=Signal::derive(move || list.label())
                choices=list.choices
                chosen=list.chosen
                choose=move |index| list.complete(index)
            />
            <textarea
                id="message"
                aria-label="Message"
                rows="2"
                autocomplete="off"
                placeholder=placeholder
                aria-controls="commands"
                aria-activedescendant=active
                prop:value=move || draft.with(|draft| draft.text.clone())
                on:input=move |event| {
                    draft.update(|draft| draft.text = event_target_value(&event));
                    list.typed();
                }
                on:click=move |_| list.typed()
                on:keydown=move |event| keys.pressed(&event)
                on:paste=on_paste
            ></textarea>
        </div>
    }
}

/// When a Pod is opened, what is typed goes to its message field: Escape leaves it. After a Pod was made the field gets
/// the focus wherever that is, also if something drawn beside it takes the focus meanwhile; otherwise only if nothing
/// else is being written, and not where a keyboard would cover half of the screen.
fn begin_writing(outgoing: Outgoing) {
    Effect::new(move |_| {
        let is_made = outgoing.console.is_writing.get_value();
        outgoing.console.is_writing.set_value(false);
        to_field(is_made);
    });
    outgoing.pod.presence.on_turn(|is_here| {
        if is_here {
            to_field(false);
        }
    });
}

fn to_field(is_made: bool) {
    spawn_local(async move {
        for _ in 0..FRAMES_MAX {
            live::painted().await;
            if !is_made && !live::may_take_focus() {
                return;
            }
            live::focus(FIELD);
            if live::has_focus(FIELD) {
                return;
            }
        }
    });
}

/// Clears the error "the server does not answer" once it answers again.
fn forget_outage(outgoing: Outgoing) {
    Effect::new(move |_| {
        let is_live = outgoing.console.link.get() == Link::Live;
        let is_outage = |error: &UiError| error.code() == ErrorCode::RuntimeUnavailable;
        if is_live && outgoing.error.with_untracked(|error| error.as_ref().is_some_and(is_outage)) {
            outgoing.error.set(None);
        }
    });
}

/// Puts text that the Pod returned, or that you took back, into the message field to be sent again.
fn take_back(outgoing: Outgoing) {
    Effect::new(move |_| {
        let Some(returned) = outgoing.pod.returned.get() else { return };
        outgoing.pod.returned.set(None);
        if !returned.is_asked_for && !outgoing.draft.with_untracked(Draft::is_blank) {
            let words = "The model gave no answer, so the message was taken back. Choose “Edit again” beside it to get the text back.";
            return outgoing.console.note(words);
        }
        outgoing.draft.update(|draft| draft.put_back(&returned.segments));
        if returned.is_asked_for {
            live::focus("message");
        }
    });
}
