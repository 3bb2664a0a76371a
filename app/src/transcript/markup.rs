//! Markdown as views. Never as a string of HTML of our own making, so that nothing a model writes can become markup.

mod growing;

use leptos::prelude::*;
use transcript::{
    markup::{Alignment, Inline, ListItem, MarkupBlock, bare_links, inline_text},
    unseen,
};

use self::growing::{Growing, Node};
use crate::{
    components::{
        code::CodeBlock,
        formula::FormulaView,
        part::{Draw, Part},
    },
    redrawn::redrawn,
};

/// Draws a code block from its language and text.
pub(crate) type DrawCode = fn(Option<String>, String) -> AnyView;

static MARKUP: Part<Signal<String>> = Part::new(|| Box::pin(markup(())), unformatted);

#[lazy]
fn markup(_: ()) -> Draw<Signal<String>> {
    |text| view! { <Blocks text=text /> }.into_any()
}

/// Markdown text that may grow. What comes with the page is not parsed again in the browser.
#[component]
pub(crate) fn Markup(#[prop(into)] text: Signal<String>) -> impl IntoView {
    let is_coloured = text.with_untracked(|text| may_be_coloured(text));
    MARKUP.still(text, is_coloured, move || text.track())
}

/// Fetches the code that draws Markdown: it will be needed.
pub(crate) async fn ready() {
    MARKUP.ready().await;
}

/// The text as it is written.
fn unformatted(text: Signal<String>) -> AnyView {
    view! { <div class="markup"><p>{redrawn(move || text.with(|text| unseen::shown(text).into_owned()))}</p></div> }
        .into_any()
}

/// Whether code or a formula may be in the text: both are finished in the browser, and code has a button.
fn may_be_coloured(text: &str) -> bool {
    let is_indented = |line: &str| line.starts_with("    ") || line.starts_with('\t');
    ["```", "~~~", "$", "\\(", "\\["].iter().any(|mark| text.contains(mark)) || text.lines().any(is_indented)
}

/// Each top-level block is drawn separately, and redrawn only when it changes.
#[component]
fn Blocks(text: Signal<String>) -> impl IntoView {
    let growing = StoredValue::new(Growing::default());
    let blocks = Memo::new(move |_| {
        text.with(|text| growing.try_update_value(|growing| growing.update(text)).unwrap_or_default())
    });
    view! {
        <div class="markup">
            <For each=move || 0..blocks.with(Vec::len) key=|index| *index let:index>
                <Place blocks=blocks index=index />
            </For>
        </div>
    }
}

#[component]
fn Place(blocks: Memo<Vec<Node>>, index: usize) -> impl IntoView {
    let block = Memo::new(move |_| blocks.with(|blocks| blocks.get(index).cloned()));
    redrawn(move || block.get().map(|node| block_view(node.block(), live_code)))
}

fn live_code(language: Option<String>, text: String) -> AnyView {
    view! { <CodeBlock language=language text=text /> }.into_any()
}

/// Complete text, for a page that is never hydrated.
#[cfg(feature = "ssr")]
pub(crate) fn whole(text: &str, code: DrawCode) -> AnyView {
    view! { <div class="markup">{blocks_view(transcript::markup::parse(text), code)}</div> }.into_any()
}

fn block_view(block: MarkupBlock, code: DrawCode) -> AnyView {
    match block {
        MarkupBlock::Paragraph(content) => view! { <p>{inlines(content)}</p> }.into_any(),
        MarkupBlock::Heading { level, content } => heading(level, content),
        MarkupBlock::List { start: Some(start), items } => {
            view! { <ol start=start.to_string()>{items_view(items, code)}</ol> }.into_any()
        }
        MarkupBlock::List { start: None, items } => view! { <ul>{items_view(items, code)}</ul> }.into_any(),
        MarkupBlock::Code { language, text } => code(language, text),
        MarkupBlock::Quote(content) => view! { <blockquote>{blocks_view(content, code)}</blockquote> }.into_any(),
        MarkupBlock::Table { alignments, head, rows } => table(alignments, head, rows),
        MarkupBlock::Rule => view! { <hr /> }.into_any(),
        MarkupBlock::Footnote { name, content } => view! {
            <div class="footnote" role="note">
                <sup>{unseen::shown(&name).into_owned()}</sup>
                <div>{blocks_view(content, code)}</div>
            </div>
        }
        .into_any(),
    }
}

fn blocks_view(blocks: Vec<MarkupBlock>, code: DrawCode) -> AnyView {
    blocks.into_iter().map(|block| block_view(block, code)).collect_view().into_any()
}

/// Levels 1 and 2 are the page's own headings, so a model's begin at 3.
fn heading(level: u8, content: Vec<Inline>) -> AnyView {
    match level {
        1 => view! { <h3 class="heading-1">{inlines(content)}</h3> }.into_any(),
        2 => view! { <h4 class="heading-2">{inlines(content)}</h4> }.into_any(),
        3 => view! { <h5>{inlines(content)}</h5> }.into_any(),
        _ => view! { <h6>{inlines(content)}</h6> }.into_any(),
    }
}

/// A paragraph that is an item's only content needs no element of its own.
fn items_view(items: Vec<ListItem>, code: DrawCode) -> AnyView {
    let item = |ListItem { checked, content }: ListItem| {
        let mark = checked.map(|checked| {
            let words = if checked { "done: " } else { "to do: " };
            let mark = if checked { "☑ " } else { "☐ " };
            view! {
                <span class="task" aria-hidden="true">
                    {mark}
                </span>
                <span class="visually-hidden">{words}</span>
            }
            .into_any()
        });
        let body = match <[MarkupBlock; 1]>::try_from(content) {
            Ok([MarkupBlock::Paragraph(content)]) => inlines(content),
            Ok([block]) => block_view(block, code),
            Err(blocks) => blocks_view(blocks, code),
        };
        view! { <li class:is-task=checked.is_some()>{mark} {body}</li> }.into_any()
    };
    items.into_iter().map(item).collect_view().into_any()
}

fn table(alignments: Vec<Alignment>, head: Vec<Vec<Inline>>, rows: Vec<Vec<Vec<Inline>>>) -> AnyView {
    let class = |column: usize| match alignments.get(column) {
        Some(Alignment::Right) => "right",
        Some(Alignment::Center) => "center",
        _ => "left",
    };
    let head = head
        .into_iter()
        .enumerate()
        .map(|(column, cell)| view! { <th scope="col" class=class(column)>{inlines(cell)}</th> }.into_any())
        .collect_view();
    let row = |row: Vec<Vec<Inline>>| {
        let cells = row.into_iter().enumerate();
        let cells = cells
            .map(|(column, cell)| view! { <td class=class(column)>{inlines(cell)}</td> }.into_any())
            .collect_view();
        view! { <tr>{cells}</tr> }.into_any()
    };
    view! {
        <div class="table-scroll" tabindex="0" role="group" aria-label="Table">
            <table>
                <thead>
                    <tr>{head}</tr>
                </thead>
                <tbody>{rows.into_iter().map(row).collect_view()}</tbody>
            </table>
        </div>
    }
    .into_any()
}

/// A text as it is, with its addresses as links.
pub(super) fn plain(text: &str) -> AnyView {
    inlines(bare_links(text))
}

fn inlines(content: Vec<Inline>) -> AnyView {
    content.into_iter().map(inline).collect_view().into_any()
}

fn inline(inline: Inline) -> AnyView {
    match inline {
        Inline::Text(text) => unseen::shown(&text).into_owned().into_any(),
        Inline::Code(text) => view! { <code>{unseen::shown(&text).into_owned()}</code> }.into_any(),
        Inline::Formula(formula) => view! { <FormulaView formula=formula /> }.into_any(),
        Inline::Emphasis(content) => view! { <em>{inlines(content)}</em> }.into_any(),
        Inline::Strong(content) => view! { <strong>{inlines(content)}</strong> }.into_any(),
        Inline::Strikethrough(content) => view! { <del>{inlines(content)}</del> }.into_any(),
        Inline::Link { href, content } => link(href, content),
        Inline::Footnote(name) => {
            view! { <sup class="footnote-mark">{unseen::shown(&name).into_owned()}</sup> }.into_any()
        }
        // A line break in a model's text is kept, as in any chat.
        Inline::SoftBreak | Inline::LineBreak => view! { <br /> }.into_any(),
    }
}

/// A link, followed by its destination where its words do not say it.
fn link(href: String, content: Vec<Inline>) -> AnyView {
    let words = inline_text(&content);
    let place = (words != href && format!("mailto:{words}") != href).then(|| {
        let host = unseen::shown(host_of(&href)).into_owned();
        view! { <span class="goes-to">" (" {host} ")"</span> }.into_any()
    });
    view! {
        <a href=href.clone() title=href rel="noopener noreferrer external" target="_blank">
            {inlines(content)}
        </a>
        {place}
    }
    .into_any()
}

/// The host as a browser parses it: a backslash is a slash, and any number of them may precede the host.
fn host_of(href: &str) -> &str {
    let rest = href.split_once(':').map_or(href, |(_, rest)| rest).trim_start_matches(['/', '\\']);
    let host = rest.split(['/', '\\', '?', '#']).next().unwrap_or(rest);
    // What precedes an @ is not the host.
    host.rsplit('@').next().unwrap_or(host)
}

#[cfg(test)]
mod tests {
    use super::host_of;

    #[test]
    fn a_link_shows_the_host_that_it_really_leads_to() {
        assert_eq!(host_of("https://docs.rs/leptos?x#y"), "docs.rs");
        assert_eq!(host_of("https://github.com@evil.example/login"), "evil.example");
        assert_eq!(host_of("mailto:a@b.example"), "b.example");
        assert_eq!(host_of(r"https://evil.example\@github.com"), "evil.example");
        assert_eq!(host_of("https:///evil.example/github.com"), "evil.example");
        assert_eq!(host_of("https://evil.example:8443/a@b"), "evil.example:8443");
    }
}
