//! Markdown as views. No HTML string anywhere: what a model writes cannot become markup of ours.

use leptos::prelude::*;
use transcript::markup::{Alignment, Inline, ListItem, MarkupBlock, MarkupStream, inline_text};

use super::code::CodeBlock;

/// A text that may grow. Each top-level block is drawn for itself, and again only when it is another.
#[component]
pub(crate) fn Markup(#[prop(into)] text: Signal<String>) -> impl IntoView {
    let stream = StoredValue::new(MarkupStream::default());
    let blocks = Memo::new(move |_| {
        let text = text.get();
        stream
            .try_update_value(|stream| {
                stream.update(&text);
                stream.blocks().to_vec()
            })
            .unwrap_or_default()
    });
    view! {
        <div class="markup">
            <For each=move || 0..blocks.with(Vec::len) key=|index| *index let:index>
                <Place blocks=blocks index=index />
            </For>
        </div>
    }
    .into_any()
}

#[component]
fn Place(blocks: Memo<Vec<MarkupBlock>>, index: usize) -> impl IntoView {
    let block = Memo::new(move |_| blocks.with(|blocks| blocks.get(index).cloned()));
    move || block.get().map(block_view)
}

fn block_view(block: MarkupBlock) -> AnyView {
    match block {
        MarkupBlock::Paragraph(content) => view! { <p>{inlines(content)}</p> }.into_any(),
        MarkupBlock::Heading { level, content } => heading(level, content),
        MarkupBlock::List { start: Some(start), items } => {
            view! { <ol start=start.to_string()>{items_view(items)}</ol> }.into_any()
        }
        MarkupBlock::List { start: None, items } => view! { <ul>{items_view(items)}</ul> }.into_any(),
        MarkupBlock::Code { language, text } => view! { <CodeBlock language=language text=text /> }.into_any(),
        MarkupBlock::Quote(content) => view! { <blockquote>{blocks_view(content)}</blockquote> }.into_any(),
        MarkupBlock::Table { alignments, head, rows } => table(alignments, head, rows),
        MarkupBlock::Rule => view! { <hr /> }.into_any(),
    }
}

fn blocks_view(blocks: Vec<MarkupBlock>) -> AnyView {
    blocks.into_iter().map(block_view).collect_view().into_any()
}

/// The page's own headings are 1 and 2, so a model's begin at 3.
fn heading(level: u8, content: Vec<Inline>) -> AnyView {
    match level {
        1 => view! { <h3 class="heading-1">{inlines(content)}</h3> }.into_any(),
        2 => view! { <h4 class="heading-2">{inlines(content)}</h4> }.into_any(),
        3 => view! { <h5>{inlines(content)}</h5> }.into_any(),
        _ => view! { <h6>{inlines(content)}</h6> }.into_any(),
    }
}

/// A paragraph that is all of an item needs no element of its own.
fn items_view(items: Vec<ListItem>) -> AnyView {
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
        });
        let body = match <[MarkupBlock; 1]>::try_from(content) {
            Ok([MarkupBlock::Paragraph(content)]) => inlines(content),
            Ok([block]) => block_view(block),
            Err(blocks) => blocks_view(blocks),
        };
        view! { <li class:is-task=checked.is_some()>{mark} {body}</li> }
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
        .map(|(column, cell)| view! { <th scope="col" class=class(column)>{inlines(cell)}</th> })
        .collect_view();
    let row = |row: Vec<Vec<Inline>>| {
        let cells = row.into_iter().enumerate();
        let cells = cells.map(|(column, cell)| view! { <td class=class(column)>{inlines(cell)}</td> }).collect_view();
        view! { <tr>{cells}</tr> }
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

fn inlines(content: Vec<Inline>) -> AnyView {
    content.into_iter().map(inline).collect_view().into_any()
}

fn inline(inline: Inline) -> AnyView {
    match inline {
        Inline::Text(text) => text.into_any(),
        Inline::Code(text) => view! { <code>{text}</code> }.into_any(),
        Inline::Emphasis(content) => view! { <em>{inlines(content)}</em> }.into_any(),
        Inline::Strong(content) => view! { <strong>{inlines(content)}</strong> }.into_any(),
        Inline::Strikethrough(content) => view! { <del>{inlines(content)}</del> }.into_any(),
        Inline::Link { href, content } => link(href, content),
        // A model's line ends where it ended it, as in every chat.
        Inline::SoftBreak | Inline::LineBreak => view! { <br /> }.into_any(),
    }
}

/// A link says where it goes when its words do not.
fn link(href: String, content: Vec<Inline>) -> AnyView {
    let words = inline_text(&content);
    let place = (words != href && format!("mailto:{words}") != href)
        .then(|| view! { <span class="goes-to">" (" {host_of(&href)} ")"</span> });
    view! {
        <a href=href.clone() title=href rel="noopener noreferrer external" target="_blank">
            {inlines(content)}
        </a>
        {place}
    }
    .into_any()
}

fn host_of(href: &str) -> String {
    let rest = href.split_once("://").map_or(href, |(_, rest)| rest);
    let host = rest.split(['/', '?', '#']).next().unwrap_or(rest);
    // What stands before an @ is not where the link leads.
    host.rsplit('@').next().unwrap_or(host).to_owned()
}

#[cfg(test)]
mod tests {
    use super::host_of;

    #[test]
    fn a_link_shows_the_host_that_it_really_leads_to() {
        assert_eq!(host_of("https://docs.rs/leptos?x#y"), "docs.rs");
        assert_eq!(host_of("https://github.com@evil.example/login"), "evil.example");
        assert_eq!(host_of("mailto:a@b.example"), "b.example");
    }
}
