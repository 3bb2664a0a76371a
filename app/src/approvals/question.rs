//! An approval, wherever it is shown, and the ways to answer it.

mod always;
mod answering;
mod form;

use leptos::{ev, prelude::*, task::spawn_local};
use protocol::{
    AgentOption, Approval, ApprovalCommand, Decision, OpenApproval, PodRef, Timestamp,
    tool::{self, Changes, Subject},
};
use serde_json::Value;

pub(crate) use self::answering::{answer, answer_from_anywhere, answer_words};
use self::{
    always::{AlwaysChoice, FIRST},
    form::{Form, FormFields},
};
use crate::{
    approvals::arguments::{ArgumentsView, Change},
    components::{
        deed::Deed,
        part::{Draw, Part},
        problem::Problem,
    },
    console::{Console, use_console},
    live,
    redrawn::redrawn,
    server_fns::asked_change,
};

/// What "Always…" is about.
const ALWAYS: &str = "Choose which calls are meant, and where";
/// How long an approval has to be on the page before a letter in an empty message field answers it, in milliseconds.
const SETTLED_MS: u32 = 1_000;
/// How often an open approval compares its change with the file again, in milliseconds.
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

/// State shared by all buttons of one card.
#[derive(Clone, Copy)]
struct Card {
    console: Console,
    question: StoredValue<Question>,
    /// The answer, whoever gave it.
    answered: RwSignal<Option<Approval>>,
    deed: Deed,
    is_denying: RwSignal<bool>,
    /// Whether it is being chosen what "always" means.
    is_choosing: RwSignal<bool>,
    reason: RwSignal<String>,
    /// The form to fill in, if a tool's server asks for something.
    form: StoredValue<Option<Form>>,
    /// Whether the focus was in the message field when a reason was asked for, so that it can go back there.
    was_writing: StoredValue<bool>,
}

/// What it does while it is open, and what it did.
fn asking_words(is_form: bool) -> (&'static str, &'static str) {
    match is_form {
        true => ("asks for an answer", "asked for an answer"),
        false => ("asks for permission", "asked for permission"),
    }
}

static CARD: Part<Asked> = Part::new(|| Box::pin(card(())), |_| ().into_any());

#[lazy]
fn card(_: ()) -> Draw<Asked> {
    |asked| view! { <Shown asked=asked /> }.into_any()
}

/// What a card is about: see [`QuestionCard`].
#[derive(Clone)]
struct Asked {
    question: Question,
    answered: RwSignal<Option<Approval>>,
    is_next: Signal<bool>,
    found: Option<Approval>,
}

/// An approval in full, with three answers. `answered` receives the answer; the first one counts. The next open
/// approval on its Pod's page can also be answered from the message field.
#[component]
pub(crate) fn QuestionCard(
    question: Question,
    answered: RwSignal<Option<Approval>>,
    #[prop(optional, into)] is_next: Signal<bool>,
    /// The approval with what the call would do, where that is known already.
    #[prop(optional_no_strip)]
    found: Option<Approval>,
) -> impl IntoView {
    // A form: see `form.rs`.
    let is_typed_in = question.arguments.get("schema").is_some();
    CARD.view(Asked { question, answered, is_next, found }, is_typed_in)
}

#[component]
fn Shown(asked: Asked) -> impl IntoView {
    let Asked { question, answered, is_next, found } = asked;
    let console = use_console();
    let Question { tool, mut arguments, asked_at, .. } = question.clone();
    let form = Form::of(&question.id, &tool, &arguments);
    if form.is_some() {
        // The form is shown below, to be filled in.
        arguments.as_object_mut().and_then(|fields| fields.remove("schema"));
    }
    let is_yois = question.options.is_empty();
    let card = Card {
        console,
        question: StoredValue::new(question),
        answered,
        deed: Deed::default(),
        is_denying: RwSignal::new(false),
        is_choosing: RwSignal::new(false),
        reason: RwSignal::new(String::new()),
        form: StoredValue::new(form.clone()),
        was_writing: StoredValue::new(false),
    };
    let words = move || {
        answered.with(|answer| answer.as_ref().map_or_else(|| waited(&console.clock.age(asked_at)), answer_words))
    };
    let is_open = Memo::new(move |_| answered.with(Option::is_none));
    let found = RwSignal::new(found);
    if form.is_none() {
        Effect::new(move |_| keep_compared(card, found));
    }
    let known = tool::facts(&tool);
    let is_of_files = known.changes == Changes::Files && form.is_none();
    let reaches = known.subject == Subject::Command && form.is_none() && is_yois;
    let is_settled = settled();
    let change = Memo::new(move |_| {
        let effect = |asked: &Approval| Some(Change { diff: asked.diff.clone(), effect: asked.effect.clone()? });
        // The room of its line is kept until it is known.
        let unknown = || (is_of_files && is_open.get()).then(|| Change { diff: None, effect: "…".to_owned() });
        found.with(|found| found.as_ref().map_or_else(unknown, effect))
    });
    let (asks, asked) = asking_words(form.is_some());
    let label = format!("{tool} {asks}");
    view! {
        <article
            id=dom_id(card, "question")
            class="tool"
            class:ask=move || is_open.get()
            tabindex="-1"
            aria-label=label
            data-question=move || is_open.get().then_some("")
            data-next=move || (is_open.get() && is_next.get()).then_some("")
            data-settled=move || is_settled.get().then_some("")
            on:keydown=move |event| on_key(card, &event)
        >
            <header>
                <b>{tool.clone()}</b>
                <span>{redrawn(move || if is_open.get() { asks } else { asked })}</span>
                <span class="figure">{redrawn(words)}</span>
            </header>
            {redrawn(move || view! { <ArgumentsView tool=tool.clone() arguments=arguments.clone() change=change.get() /> }.into_any())}
            {redrawn(move || found.with(|found| match found {
                Some(asked) => reach_words(asked),
                None => (reaches && is_open.get()).then(|| "…".to_owned()),
            }).map(|words| {
                view! { <p class="fact"><span>"reach"</span><bdi>{words}</bdi></p> }.into_any()
            }))}
            <Show when=move || is_open.get()>
                <Answers card=card found=found is_next=is_next />
            </Show>
        </article>
    }
}

fn waited(age: &str) -> String {
    match age {
        "now" => "just now".to_owned(),
        age => format!("waiting {age}"),
    }
}

/// Becomes true once the question has been there for a moment.
fn settled() -> RwSignal<bool> {
    let is_settled = RwSignal::new(false);
    Effect::new(move |_| {
        live::after(SETTLED_MS, move || {
            is_settled.try_set(true);
        });
    });
    is_settled
}

/// What a command can touch, in words.
fn reach_words(asked: &Approval) -> Option<String> {
    let reach = asked.preview.as_ref()?.reach.as_ref()?;
    let writes = match reach.writes.as_slice() {
        [] => "can write nowhere".to_owned(),
        folders => format!("can write in {}", folders.join(", ")),
    };
    let network = match reach.network.as_str() {
        "none" => "has no network",
        "ask" => "asks before it uses the network",
        _ => "can use the network",
    };
    match reach.sandboxed {
        true => Some(format!("{writes}; {network}")),
        false => Some("can do all that yoi's own account can".to_owned()),
    }
}

/// Keeps what the call would do up to date while the approval is open, because others may write to its file too.
fn keep_compared(card: Card, found: RwSignal<Option<Approval>>) {
    spawn_local(async move {
        let Some((pod, id)) = card.question.try_with_value(|question| (question.pod.clone(), question.id.clone()))
        else {
            return;
        };
        let changes_files =
            card.question.try_with_value(|question| tool::facts(&question.tool).changes == Changes::Files);
        // A failed read is simply retried; the page already shows when the connection is lost.
        let now = asked_change(pod, id).await;
        let is_done = matches!(now, Ok(Some(_))) && changes_files == Some(false);
        if let Ok(now @ Some(_)) = now
            && found.try_with_untracked(|before| *before != now) == Some(true)
        {
            found.try_set(now);
        }
        if !is_done && card.answered.try_with_untracked(Option::is_none) == Some(true) {
            live::after(COMPARED_MS, move || keep_compared(card, found));
        }
    });
}

#[component]
fn Answers(card: Card, found: RwSignal<Option<Approval>>, is_next: Signal<bool>) -> impl IntoView {
    let answer = move |how: Answer, words: &'static str, key: &'static str, class: &'static str| {
        view! {
            <button
                type="button"
                class=class
                data-answer=key
                title=(how == Answer::Always).then_some(ALWAYS)
                aria-disabled=move || card.deed.is_busy.get().to_string()
                on:click=move |_| give(card, how)
            >
                {words}
                <kbd>
                    {redrawn(move || is_next.get().then(|| view! { <span class="with-alt">"Alt "</span> }.into_any()))} {key}
                </kbd>
            </button>
        }
        .into_any()
    };
    let form = card.form.get_value();
    let options = card.question.with_value(|question| question.options.clone());
    let about = match (&form, options.is_empty()) {
        (Some(_), _) => Some(form::WORDS),
        (None, false) => Some("The agent asks this itself, and these are its answers."),
        (None, true) => None,
    };
    let buttons = match form {
        Some(_) => vec![
            answer(Answer::Once, "Send the answer", "a", "button primary"),
            answer(Answer::Deny, "Decline", "d", "button"),
        ],
        None if !options.is_empty() => options.into_iter().map(|option| offered(card, option)).collect(),
        None => vec![
            answer(Answer::Once, "Allow once", "a", "button primary"),
            answer(Answer::Always, "Always…", "A", "button"),
            answer(Answer::AskWhy, "Deny…", "d", "button"),
        ],
    };
    let fields = form.map(|form| view! { <FormFields form=form prefix=dom_id(card, "field") /> }.into_any());
    view! {
        <footer class="answers">
            {fields}
            <div class="row">{buttons}</div>
            {redrawn(move || card.is_choosing.get().then(|| view! { <AlwaysChoice card=card found=found /> }.into_any()))}
            {redrawn(move || card.is_denying.get().then(|| view! { <Denial card=card /> }.into_any()))}
            <Problem error=card.deed.error />
            {about.map(|about| view! { <small>{about}</small> }.into_any())}
        </footer>
    }
}

/// Shows one of the agent's own answers.
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

/// The field for a reason, which the model reads. It may stay empty.
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

/// Unique in the document: call ids are unique within a Pod only.
fn dom_id(card: Card, part: &str) -> String {
    card.question.with_value(|question| format!("{part}-{}-{}", question.pod.worker_id, question.id))
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Answer {
    Once,
    /// Opens the choice of what "always" means.
    Always,
    /// Opens the field for a reason.
    AskWhy,
    Deny,
}

/// The single-letter keys answer only while this card has the focus.
fn on_key(card: Card, event: &ev::KeyboardEvent) {
    let has_form = card.form.with_value(Option::is_some);
    let answer = match live::plain_key(event).as_deref() {
        // With a form, letter keys belong to its fields.
        _ if has_form => return,
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
    let decision = match how {
        Answer::Always => {
            card.is_choosing.set(true);
            return live::focus_soon(&dom_id(card, FIRST));
        }
        Answer::AskWhy => {
            card.is_denying.set(true);
            card.was_writing.set_value(live::has_focus("message"));
            return live::focus_soon(&dom_id(card, "reason"));
        }
        Answer::Deny => Decision::Deny,
        Answer::Once => Decision::Allow,
    };
    let reason = Some(card.reason.get_untracked().trim().to_owned()).filter(|reason| !reason.is_empty());
    let reason = reason.filter(|_| decision == Decision::Deny);
    let content = card.form.with_value(|form| form.as_ref().map(Form::content)).filter(|_| decision == Decision::Allow);
    send(card, ApprovalCommand { reason, content, ..ApprovalCommand::once(decision) });
}

fn send(card: Card, command: ApprovalCommand) {
    let (pod, id) = card.question.with_value(|question| (question.pod.clone(), question.id.clone()));
    // The card may be gone when the answer arrives.
    let was_writing = card.was_writing.get_value();
    let element = dom_id(card, "question");
    card.deed.begin(Box::pin(async move {
        let answer = answer(card.console, pod, id, command).await?;
        card.answered.try_set(Some(answer));
        // The buttons are gone, and the focus with them. It does not move to the next approval, so that pressing a key
        // twice cannot answer that one too.
        match was_writing {
            true => live::focus_soon("message"),
            false => live::focus_card(&element),
        }
        Ok(())
    }));
}
