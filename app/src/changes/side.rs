use leptos::prelude::*;
use protocol::{ReviewCommand, ReviewComment};

use super::page::Review;
use crate::{
    components::{deed::Deed, problem::Problem},
    console::{fresh_command, pod_href},
    format::counted,
    server_fns::review_changes,
};

/// The id of the button that sends them.
pub(super) const SEND: &str = "review-send";

/// The comments that are finished, and sending them.
#[component]
pub(super) fn Side(review: Review, name: String, children: Children) -> impl IntoView {
    let drafts = review.drafts;
    let (deed, text) = (Deed::default(), RwSignal::new(String::new()));
    let count = Memo::new(move |_| drafts.comments.with(Vec::len));
    let is_sent = RwSignal::new(false);
    let send = move |event: leptos::ev::SubmitEvent| {
        event.prevent_default();
        let said = Some(text.get_untracked()).filter(|text| !text.trim().is_empty());
        let command = ReviewCommand { comments: drafts.comments.get_untracked(), text: said };
        let pod = review.pod.get_value();
        deed.begin(Box::pin(async move {
            review_changes(pod, fresh_command(), command).await?;
            drafts.clear();
            text.try_set(String::new());
            is_sent.try_set(true);
            Ok(())
        }));
    };
    let listed = move || {
        drafts.comments.with(|comments| comments.iter().cloned().map(|comment| row(review, comment)).collect_view())
    };
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
    let sent = {
        let (name, href) = (name.clone(), review.pod.with_value(pod_href));
        move || is_sent.get().then(|| sent(name.clone(), href.clone()))
    };
    view! {
        <aside class="changes-side" aria-label="Your comments, and the commit">
            <h2>"Your comments " <small>{move || count.get()}</small></h2>
            {listed}
            {writing}
            <form on:submit=send>
                <label for="review-text" class="visually-hidden">
                    "A word to go with them"
                </label>
                <textarea
                    id="review-text"
                    rows="2"
                    placeholder="A word to go with them (optional)"
                    prop:value=move || text.get()
                    on:input=move |event| text.set(event_target_value(&event))
                ></textarea>
                <button
                    id=SEND
                    type="submit"
                    class="button primary"
                    prop:disabled=is_empty
                    aria-disabled=move || deed.is_busy.get().to_string()
                >
                    {words}
                </button>
                <p class="hint">{name} " gets them as one message."</p>
            </form>
            <Problem error=deed.error />
            {sent}
            {children()}
        </aside>
    }
}

fn sent(name: String, href: String) -> AnyView {
    view! { <p role="status">"Sent. " <a href=href>"See what " {name} " does with it"</a></p> }.into_any()
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
