use leptos::prelude::*;
use protocol::{FileChange, Hunk, ReviewComment};
use transcript::unseen;

use crate::redrawn::redrawn;

use super::{
    lines::{Line, lines_of},
    mark_of,
    page::{Review, SURE, hunk_id},
};

/// A file with more lines than this in its hunks is folded at first.
const OPEN_LINES_MAX: usize = 600;

/// One changed file with its hunks.
#[component]
pub(super) fn FileView(review: Review, number: usize, file: FileChange) -> impl IntoView {
    let (sign, word) = mark_of(file.status);
    let lines: usize = file.hunks.iter().map(|hunk| hunk.lines.len()).sum();
    let kept = StoredValue::new(file.clone());
    let is_seen = move || kept.with_value(|file| review.seen.has(file));
    let comments = move || match kept.with_value(|file| review.drafts.count(&file.path)) {
        0 => None,
        1 => Some("1 comment".to_owned()),
        count => Some(format!("{count} comments")),
    };
    let others = file.others.then_some("changed by somebody else");
    let hunks = file.hunks.iter().cloned().enumerate().map(|(at, hunk)| {
        view! { <HunkView review=review place=(number, at) path=file.path.clone() file=kept hunk=hunk /> }.into_any()
    });
    let hunks = hunks.collect_view();
    // So that keys can go to it.
    let id = file.hunks.is_empty().then(|| hunk_id((number, 0)));
    let note = file.note.clone().map(|note| {
        view! { <p class="hint" id=id tabindex="-1">{crate::format::sentence_case(&note)} "."</p> }.into_any()
    });
    let sure = move || {
        let asked = kept.with_value(|file| review.asks_about(&file.path))?;
        Some(sure_view(review, kept, asked))
    };
    view! {
        <details class="change-file" id=format!("file-{number}") open=lines <= OPEN_LINES_MAX>
            <summary>
                <abbr class=word title=word>
                    {sign}
                </abbr>
                <h2>{parts_of(&unseen::shown(&file.path))}</h2>
                <small>
                    <b class="added">"+" {file.added}</b> " " <b class="removed">"−" {file.removed}</b>
                </small>
                <small>{others}</small>
                <small class="change-comments">{redrawn(comments)}</small>
            </summary>
            <div class="change-acts">
                <button
                    type="button"
                    class="quiet"
                    on:click=move |_| kept.with_value(|file| review.revert(file, None))
                >
                    "Revert file"
                </button>
                <label>
                    <input
                        type="checkbox"
                        prop:checked=is_seen
                        on:change=move |_| kept.with_value(|file| review.seen.flip(file))
                    />
                    " Seen"
                </label>
            </div>
            {redrawn(sure)}
            {note}
            {hunks}
        </details>
    }
}

/// A path that breaks behind its slashes.
fn parts_of(path: &str) -> Vec<AnyView> {
    path.split_inclusive('/').map(|part| view! { {part.to_owned()} <wbr /> }.into_any()).collect()
}

/// Asks about a revert that deletes the file.
fn sure_view(review: Review, file: StoredValue<FileChange>, hunk: Option<String>) -> AnyView {
    view! {
        <p
            class="change-sure"
            role="group"
            aria-label="Delete it?"
            on:keydown=move |event| {
                if event.key() == "Escape" {
                    event.prevent_default();
                    review.keep();
                }
            }
        >
            <span>"It is new: this deletes the file."</span>
            <button
                id=SURE
                type="button"
                class="button danger"
                on:click=move |_| file.with_value(|file| review.revert(file, hunk.clone()))
            >
                "Delete it"
            </button>
            <button type="button" class="button" on:click=move |_| review.keep()>
                "Keep it"
            </button>
        </p>
    }
    .into_any()
}

#[component]
fn HunkView(
    review: Review,
    place: (usize, usize),
    path: String,
    file: StoredValue<FileChange>,
    hunk: Hunk,
) -> impl IntoView {
    let id = hunk.id.clone();
    let revert = move |_| file.with_value(|file| review.revert(file, Some(id.clone())));
    let lines = lines_of(&hunk);
    let numbers = lines.iter().filter_map(|line| line.new).collect::<Vec<_>>();
    let (first, last) = (numbers.first().copied().unwrap_or(hunk.new_start), numbers.last().copied());
    let span = match last {
        Some(last) if last != first => format!("{first}–{last}"),
        _ => first.to_string(),
    };
    let label = format!("Lines {span} of {path}");
    // Drawn again only when something of this hunk is commented on.
    let marks = {
        let path = path.clone();
        Memo::new(move |_| {
            let is_here = |at: &str, line: u64| at == path && numbers.contains(&line);
            let mut comments = review.drafts.finished();
            comments.retain(|comment| is_here(&comment.path, comment.line));
            let writing = review.drafts.place.get().filter(|(at, line)| is_here(at, *line)).map(|(_, line)| line);
            (comments, writing)
        })
    };
    let body = move || {
        let (comments, writing) = marks.get();
        lines.iter().map(|line| line_view(review, &path, line, &comments, writing)).collect_view()
    };
    view! {
        <section
            class="hunk"
            id=hunk_id(place)
            tabindex="-1"
            aria-label=label
            on:focusin=move |_| review.stand_at(place)
        >
            <header>
                <span>{span}</span>
                <button type="button" class="quiet" on:click=revert>
                    "Revert hunk"
                </button>
            </header>
            <div class="hunk-lines">{redrawn(body)}</div>
        </section>
    }
}

fn line_view(review: Review, path: &str, line: &Line, comments: &[ReviewComment], writing: Option<u64>) -> AnyView {
    let class = match line.sign {
        '+' => "code-line is-added",
        '-' => "code-line is-removed",
        _ => "code-line",
    };
    let number = |number: Option<u64>| number.map(|number| number.to_string()).unwrap_or_default();
    let new = match line.new {
        None => view! { <span class="number"></span> }.into_any(),
        Some(at) => {
            let path = path.to_owned();
            view! {
                <button
                    type="button"
                    class="number"
                    aria-label=format!("Comment on line {at}")
                    on:click=move |_| review.drafts.begin(&path, at)
                >
                    {at}
                </button>
            }
            .into_any()
        }
    };
    let sign = match line.sign {
        '-' => "−".to_owned(),
        sign => sign.to_string(),
    };
    let here: Vec<_> = comments
        .iter()
        .filter(|comment| Some(comment.line) == line.new)
        .map(|comment| comment_view(review, comment.clone()))
        .collect();
    let form = (writing.is_some() && writing == line.new).then(|| writing_view(review, line.new.unwrap_or_default()));
    view! {
        <div class=class>
            <span class="number">{number(line.old)}</span>
            {new}
            <span class="sign">{sign}</span>
            <code>{unseen::shown(&line.text).into_owned()}</code>
        </div>
        {here}
        {form}
    }
    .into_any()
}

fn comment_view(review: Review, comment: ReviewComment) -> AnyView {
    let ReviewComment { path, line, text } = comment;
    view! {
        <div class="comment">
            <p class="hint">"You · line " {line} " · not sent yet"</p>
            <p>{text}</p>
            <button type="button" class="quiet" on:click=move |_| review.drafts.begin(&path, line)>
                "Edit"
            </button>
        </div>
    }
    .into_any()
}

fn writing_view(review: Review, line: u64) -> AnyView {
    let drafts = review.drafts;
    let key = move |event: leptos::web_sys::KeyboardEvent| {
        let is_sent = event.key() == "Enter" && (event.ctrl_key() || event.meta_key());
        if is_sent || event.key() == "Escape" {
            event.prevent_default();
            if is_sent {
                drafts.add()
            } else {
                drafts.cancel()
            }
            review.focus_hunk();
        }
    };
    view! {
        <form
            class="comment is-open"
            on:submit=move |event| {
                event.prevent_default();
                drafts.add();
                review.focus_hunk();
            }
        >
            <label for="comment">"Comment on line " {line}</label>
            <textarea
                id="comment"
                rows="3"
                prop:value=move || drafts.text.get()
                on:input=move |event| drafts.write(event_target_value(&event))
                on:keydown=key
            ></textarea>
            <p>
                <small>
                    <kbd>"Ctrl"</kbd> " " <kbd>"Enter"</kbd> " adds it"
                </small>
                <button
                    type="button"
                    class="quiet"
                    on:click=move |_| {
                        drafts.cancel();
                        review.focus_hunk();
                    }
                >
                    "Cancel"
                </button>
                <button type="submit" class="button primary">
                    "Add comment"
                </button>
            </p>
        </form>
    }
    .into_any()
}
