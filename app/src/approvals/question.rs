//! A question to a person, wherever it is shown, and the ways to answer it.

mod answering;

use leptos::{ev, prelude::*, task::spawn_local};
use protocol::{
    AgentOption, Approval, ApprovalCommand, Decision, OpenApproval, PodRef, Timestamp,
    tool::{self, Changes},
};
use serde_json::Value;

pub(crate) use self::answering::{answer, answer_words, earlier_answer};
use crate::{
    approvals::arguments::{ArgumentsView, Change, always_words},
    components::{deed::Deed, problem::Problem},
    console::{Console, use_console},
    live,
    server_fns::asked_change,
};

/// So often an open question looks at its file, in milliseconds.
const COMPARED_MS: u32 = 5_000;

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Question {
    pub(crate) pod: PodRef,
    pub(crate) id: String,
    pub(crate) tool: String,
    pub(crate) arguments: Value,
    pub(crate) asked_at: Timestamp,
    /// The answers that an agent offers to its own question.
    pub(crate) options: Vec<AgentOption>,
}

impl From<OpenApproval> for Question {
    fn from(open: OpenApproval) -> Self {
        let Approval { id, tool, arguments, asked_at, options, .. } = open.approval;
        Self { pod: open.pod, id, tool, arguments, asked_at, options }
    }
}

/// What all buttons of one card share.
#[derive(Clone, Copy)]
struct Card {
    console: Console,
    question: StoredValue<Question>,
    /// The answer that came, whoever gave it.
    answered: RwSignal<Option<Approval>>,
    deed: Deed,
    is_denying: RwSignal<bool>,
    reason: RwSignal<String>,
    /// Where the focus was when a reason was asked for: whoever was writing goes on there.
    was_writing: StoredValue<bool>,
}

/// All of what is asked, and three answers. `answered` takes the one that comes; the first one counts. The one that is
/// next on its Pod's page is answered from the message too.
#[component]
pub(crate) fn QuestionCard(
    question: Question,
    answered: RwSignal<Option<Approval>>,
    #[prop(optional, into)] is_next: Signal<bool>,
) -> impl IntoView {
    let console = use_console();
    let Question { tool, arguments, asked_at, .. } = question.clone();
    let card = Card {
        console,
        question: StoredValue::new(question),
        answered,
        deed: Deed::default(),
        is_denying: RwSignal::new(false),
        reason: RwSignal::new(String::new()),
        was_writing: StoredValue::new(false),
    };
    let words = move || match answered.with(|answer| answer.as_ref().map(answer_words)) {
        Some(words) => words,
        None => match console.clock.age(asked_at).as_str() {
            "now" => "just now".to_owned(),
            age => format!("waiting {age}"),
        },
    };
    let is_open = Memo::new(move |_| answered.with(Option::is_none));
    let change = RwSignal::new(None);
    if tool::facts(&tool).changes == Changes::Files {
        Effect::new(move |_| keep_compared(card, change));
    }
    let covers = always_words(&tool);
    let label = format!("{tool} asks for permission");
    view! {
        <article
            id=dom_id(card, "question")
            class="tool"
            class:ask=move || is_open.get()
            tabindex="-1"
            aria-label=label
            data-question=move || is_open.get().then_some("")
            data-next=move || (is_open.get() && is_next.get()).then_some("")
            on:keydown=move |event| on_key(card, &event)
        >
            <header>
                <b>{tool.clone()}</b>
                <span>{move || if is_open.get() { "asks for permission" } else { "asked for permission" }}</span>
                <span class="figure">{words}</span>
            </header>
            {move || view! { <ArgumentsView tool=tool.clone() arguments=arguments.clone() change=change.get() /> }.into_any()}
            <Show when=move || is_open.get()>
                <Answers card=card covers=covers.clone() is_next=is_next />
            </Show>
        </article>
    }
}

/// Keeps what it would do to the file of now, for as long as it is open: others write there too.
fn keep_compared(card: Card, change: RwSignal<Option<Change>>) {
    spawn_local(async move {
        let Some((pod, id)) = card.question.try_with_value(|question| (question.pod.clone(), question.id.clone()))
        else {
            return;
        };
        let found = asked_change(pod, id).await;
        // What cannot be read now is read again; the page says itself that it is cut off.
        if let Ok(Some(Approval { diff, effect: Some(effect), .. })) = found {
            let now = Some(Change { diff, effect });
            if change.try_with_untracked(|before| *before != now) == Some(true) {
                change.try_set(now);
            }
        }
        if card.answered.try_with_untracked(Option::is_none) == Some(true) {
            live::after(COMPARED_MS, move || keep_compared(card, change));
        }
    });
}

#[component]
fn Answers(card: Card, covers: String, is_next: Signal<bool>) -> impl IntoView {
    let answer = move |how: Answer, words: &'static str, key: &'static str, class: &'static str| {
        view! {
            <button
                type="button"
                class=class
                data-answer=key
                aria-disabled=move || card.deed.is_busy.get().to_string()
                on:click=move |_| give(card, how)
            >
                {words}
                <kbd>{move || if is_next.get() { "Alt " } else { "" }} {key}</kbd>
            </button>
        }
        .into_any()
    };
    let options = card.question.with_value(|question| question.options.clone());
    let covers = if options.is_empty() {
        covers
    } else {
        "The agent asks this by itself, and these are its answers.".to_owned()
    };
    let buttons = match options.is_empty() {
        true => view! {
            {answer(Answer::Once, "Allow once", "a", "button primary")}
            {answer(Answer::Always, "Always allow this", "A", "button")}
            {answer(Answer::AskWhy, "Deny…", "d", "button")}
        }
        .into_any(),
        false => options.into_iter().map(|option| offered(card, option)).collect_view().into_any(),
    };
    view! {
        <footer class="answers">
            <div class="row">{buttons}</div>
            {move || card.is_denying.get().then(|| view! { <Denial card=card /> }.into_any())}
            <Problem error=card.deed.error />
            <small>{covers}</small>
        </footer>
    }
}

/// One of the agent's own answers.
fn offered(card: Card, option: AgentOption) -> AnyView {
    let class = if option.kind == "allow_once" { "button primary" } else { "button" };
    let command = ApprovalCommand::option(&option);
    let AgentOption { id, name, .. } = option;
    view! {
        <button
            type="button"
            class=class
            data-option=id
            aria-disabled=move || card.deed.is_busy.get().to_string()
            on:click=move |_| send(card, command.clone())
        >
            {name}
        </button>
    }
    .into_any()
}

/// Why not: the model reads it. It may stay empty.
#[component]
fn Denial(card: Card) -> impl IntoView {
    let id = dom_id(card, "reason");
    view! {
        <div class="row denial">
            <input
                id=id
                type="text"
                aria-label="Reason for the model, optional"
                placeholder="Reason, optional: the model reads it"
                prop:value=move || card.reason.get()
                on:input=move |event| card.reason.set(event_target_value(&event))
                on:keydown=move |event| match event.key().as_str() {
                    "Enter" => give(card, Answer::Deny),
                    "Escape" => {
                        event.prevent_default();
                        card.is_denying.set(false);
                        match card.was_writing.get_value() {
                            true => live::focus_soon("message"),
                            false => live::focus_soon(&dom_id(card, "question")),
                        }
                    }
                    _ => (),
                }
            />
            <button type="button" class="button danger" on:click=move |_| give(card, Answer::Deny)>
                "Deny"
            </button>
        </div>
    }
}

/// Call ids are unique within a Pod only.
fn dom_id(card: Card, part: &str) -> String {
    card.question.with_value(|question| format!("{part}-{}-{}", question.pod.worker_id, question.id))
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Answer {
    Once,
    Always,
    /// Opens the field for a reason.
    AskWhy,
    Deny,
}

/// One letter is an answer only while this card has the focus.
fn on_key(card: Card, event: &ev::KeyboardEvent) {
    let answer = match live::plain_key(event).as_deref() {
        Some("a") => Answer::Once,
        Some("A") => Answer::Always,
        Some("d") => Answer::AskWhy,
        _ => return,
    };
    if card.answered.with_untracked(Option::is_none) {
        event.prevent_default();
        give(card, answer);
    }
}

fn give(card: Card, how: Answer) {
    let (decision, remember) = match how {
        Answer::AskWhy => {
            card.is_denying.set(true);
            card.was_writing.set_value(live::has_focus("message"));
            return live::focus_soon(&dom_id(card, "reason"));
        }
        Answer::Deny => (Decision::Deny, false),
        Answer::Once => (Decision::Allow, false),
        Answer::Always => (Decision::Allow, true),
    };
    let reason = Some(card.reason.get_untracked().trim().to_owned()).filter(|reason| !reason.is_empty());
    let reason = reason.filter(|_| decision == Decision::Deny);
    send(card, ApprovalCommand { decision, remember, reason, option: None });
}

fn send(card: Card, command: ApprovalCommand) {
    let (pod, id) = card.question.with_value(|question| (question.pod.clone(), question.id.clone()));
    // The card may be gone when the answer comes.
    let was_writing = card.was_writing.get_value();
    card.deed.begin(Box::pin(async move {
        let answer = answer(card.console, pod, id, command).await?;
        card.answered.try_set(Some(answer));
        // The buttons are gone, and the focus with them. Not to the next question: a key that is pressed twice must not
        // answer that one too.
        match was_writing {
            true => live::focus_soon("message"),
            false => live::focus_content(),
        }
        Ok(())
    }));
}
