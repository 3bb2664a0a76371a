use leptos::prelude::*;
use protocol::{ReviewCommand, ReviewComment};

use super::{
    page::Review,
    saying::{Saying, Submit},
};
use crate::{
    components::deed::Deed,
    console::{fresh_command, pod_href},
    format::counted,
    live,
    redrawn::redrawn,
    server_fns::review_changes,
};

/// The id of the button that sends them.
pub(super) const SEND: &str = "review-send";
/// The id of the link that leads on after sending.
const SENT: &str = "review-sent";

/// The finished comments, and the form that sends them.
#[component]
pub(super) fn Side(review: Review, name: String, children: Children) -> impl IntoView {
    let drafts = review.drafts;
    let (deed, text) = (Deed::default(), RwSignal::new(String::new()));
    let finished = Memo::new(move |_| drafts.finished());
    let count = Memo::new(move |_| finished.with(Vec::len));
    let is_sent = RwSignal::new(false);
    let send = move |event: leptos::ev::SubmitEvent| {
        event.prevent_default();
        let said = Some(text.get_untracked()).filter(|text| !text.trim().is_empty());
        let command = ReviewCommand { comments: finished.get_untracked(), text: said };
        let pod = review.pod.get_value();
        deed.begin(Box::pin(async move {
            let comments = command.comments.clone();
            review_changes(pod, fresh_command(), command).await?;
            drafts.sent(&comments);
            text.try_set(String::new());
            is_sent.try_set(true);
            // Nothing is left to send, so the button cannot keep the focus.
            live::focus_soon(SENT);
            Ok(())
        }));
    };
    let listed = move || finished.get().into_iter().map(|comment| row(review, comment)).collect_view();
    let writing = move || {
        let (path, line) = drafts.place.get()?;
        let name = path.rsplit('/').next().unwrap_or_default().to_owned();
        Some(view! { <p class="changes-writing">"One more is being written at " {name} ":" {line} "."</p> }.into_any())
    };
    let is_empty = move || count.get() == 0 && text.with(|text| text.trim().is_empty());
    let words = move || match count.get() {
        0 => "Send".to_owned(),
        count => format!("Send {}", counted(count as u64, "comment")),
    };
    let unkept = move || {
        drafts.error().get().map(|error| {
            let words = format!("Your notes are only in this browser so far: {}.", error.sentence());
            view! { <p class="problem" role="alert">{words}</p> }.into_any()
        })
    };
    let sent = {
        let (name, href) = (name.clone(), review.pod.with_value(pod_href));
        move || is_sent.get().then(|| sent(name.clone(), href.clone()))
    };
    view! {
        <aside class="changes-side" aria-label="Your comments, and the commit">
            <h2>"Your comments " <small>{redrawn(move || count.get())}</small></h2>
            {redrawn(listed)}
            {redrawn(writing)}
            <form on:submit=send>
                <Saying
                    id="review-text"
                    label="A note to go with them"
                    rows="2"
                    placeholder="A note to go with them (optional)"
                    text=text
                />
                <Submit
                    id=SEND
                    class="button primary"
                    deed=deed
                    is_idle=Signal::derive(is_empty)
                    hint=format!("{name} gets them as one message.")
                >
                    {words}
                </Submit>
            </form>
            {redrawn(unkept)}
            {sent}
            {children()}
        </aside>
    }
}

fn sent(name: String, href: String) -> AnyView {
    view! { <p role="status">"Sent. " <a id=SENT href=href>"See what " {name} " does with it"</a></p> }.into_any()
}

fn row(review: Review, comment: ReviewComment) -> AnyView {
    let ReviewComment { path, line, text } = comment;
    let name = path.rsplit('/').next().unwrap_or_default().to_owned();
    view! {
        <button type="button" class="changes-comment" on:click=move |_| review.drafts.begin(&path, line)>
            <code>{name} ":" {line}</code>
            <span>{text}</span>
        </button>
    }
    .into_any()
}
