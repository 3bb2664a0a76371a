//! Builds the tree from the parser's events, with an explicit stack of open elements. It never recurses, so no input
//! can overflow the call stack; and its own stack is bounded, so that each event costs the same at any depth.

use std::ops::Range;

use pulldown_cmark::{CodeBlockKind, Event, LinkType, Tag};

use super::{
    Alignment, Formula, Inline, ListItem, MarkupBlock, NESTING_MAX, bare::with_bare_links, formulas, is_allowed, parser,
};

/// A tree, and where its top-level blocks begin.
#[derive(Debug)]
pub(super) struct Built {
    pub(super) blocks: Vec<MarkupBlock>,
    /// For each top-level element: how many blocks precede it, and where it begins in the source.
    pub(super) starts: Vec<(usize, usize)>,
}

pub(super) fn parse(text: &str) -> Built {
    match formulas::masked(text) {
        None => build(text, Vec::new()),
        Some(masked) => build(&masked.text, masked.places),
    }
}

fn build(text: &str, formulas: Vec<(Range<usize>, Formula)>) -> Built {
    let mut builder = Builder::new(formulas);
    parser(text).into_offset_iter().for_each(|(event, range)| builder.event(event, range));
    let mut root = builder.stack.swap_remove(0);
    root.close_paragraph();
    Built { blocks: with_bare_links(root.blocks), starts: builder.starts }
}

/// An open element.
enum Open {
    /// No element of its own: its content goes to the enclosing element.
    Flat,
    Paragraph,
    Heading(u8),
    Quote,
    Code(Option<String>),
    List(Option<u64>, Vec<ListItem>),
    Item(Option<bool>),
    Footnote(String),
    Table(Table),
    Head,
    Row,
    Cell,
    Emphasis,
    Strong,
    Strikethrough,
    /// A link or an image; images become links, and nothing is ever loaded.
    Link(String),
}

#[derive(Default)]
struct Table {
    alignments: Vec<Alignment>,
    head: Vec<Vec<Inline>>,
    rows: Vec<Vec<Vec<Inline>>>,
}

struct Frame {
    open: Open,
    blocks: Vec<MarkupBlock>,
    inlines: Vec<Inline>,
    cells: Vec<Vec<Inline>>,
}

struct Builder {
    /// At most [`NESTING_MAX`] elements above the root.
    stack: Vec<Frame>,
    /// How many more elements are open beyond the limit: their content goes to the top of the stack.
    deeper: usize,
    starts: Vec<(usize, usize)>,
    /// What is under a mask in the text, last one first.
    formulas: Vec<(Range<usize>, Formula)>,
}

impl Builder {
    fn new(mut formulas: Vec<(Range<usize>, Formula)>) -> Self {
        formulas.reverse();
        Self { stack: vec![Frame::new(Open::Flat)], deeper: 0, starts: Vec::new(), formulas }
    }

    fn event(&mut self, event: Event<'_>, range: Range<usize>) {
        if self.stack.len() == 1 && matches!(event, Event::Start(_) | Event::Rule) {
            let before = self.top().blocks.len();
            self.starts.push((before, range.start));
        }
        match event {
            Event::Start(tag) => self.start(tag),
            Event::End(_) => self.end(),
            Event::Text(text) => self.text(&text, &range),
            Event::Code(text) | Event::InlineMath(text) | Event::DisplayMath(text) => {
                self.top().push(Inline::Code(text.into_string()));
            }
            Event::Html(text) | Event::InlineHtml(text) => self.top().push_lines(&text),
            Event::FootnoteReference(name) => self.top().push(Inline::Footnote(name.into_string())),
            Event::SoftBreak => self.top().push(Inline::SoftBreak),
            Event::HardBreak => self.top().push(Inline::LineBreak),
            Event::Rule => self.top().add(MarkupBlock::Rule),
            Event::TaskListMarker(is_checked) => {
                if let Some(Frame { open: Open::Item(checked), .. }) = self.stack.last_mut() {
                    *checked = Some(is_checked);
                }
            }
        }
    }

    /// Adds text, with the formulas that are under a mask in it.
    fn text(&mut self, text: &str, range: &Range<usize>) {
        let mut at = range.start;
        while let Some((place, formula)) = self.formulas.pop_if(|(place, _)| place.end <= range.end) {
            let before = text.get(at.saturating_sub(range.start)..place.start.saturating_sub(range.start));
            if place.start < at || place.end - range.start > text.len() {
                continue;
            }
            self.plain(before.unwrap_or_default());
            self.top().push(Inline::Formula(formula));
            at = place.end;
        }
        self.plain(text.get(at - range.start..).unwrap_or_default());
    }

    fn plain(&mut self, text: &str) {
        if !text.is_empty() {
            self.top().push(Inline::Text(text.to_owned()));
        }
    }

    fn start(&mut self, tag: Tag<'_>) {
        match self.stack.len() <= NESTING_MAX {
            true => self.stack.push(Frame::new(open(tag))),
            false => self.deeper += 1,
        }
    }

    fn end(&mut self) {
        if let Some(fewer) = self.deeper.checked_sub(1) {
            self.deeper = fewer;
            return;
        }
        // The root stays: the parser closes only what it opened.
        if self.stack.len() > 1
            && let Some(frame) = self.stack.pop()
        {
            let is_in_link = self.stack.iter().any(|frame| matches!(frame.open, Open::Link(_)));
            close(frame, self.top(), is_in_link);
        }
    }

    fn top(&mut self) -> &mut Frame {
        self.stack.last_mut().expect("the root is never popped")
    }
}

impl Frame {
    fn new(open: Open) -> Self {
        Self { open, blocks: Vec::new(), inlines: Vec::new(), cells: Vec::new() }
    }

    fn push(&mut self, inline: Inline) {
        match (self.inlines.last_mut(), inline) {
            (Some(Inline::Text(text)), Inline::Text(more)) => text.push_str(&more),
            (_, inline) => self.inlines.push(inline),
        }
    }

    fn push_lines(&mut self, text: &str) {
        for line in text.split_inclusive('\n') {
            let words = line.trim_end_matches(['\n', '\r']);
            if !words.is_empty() {
                self.push(Inline::Text(words.to_owned()));
            }
            if words.len() < line.len() {
                self.push(Inline::SoftBreak);
            }
        }
    }

    fn add(&mut self, block: MarkupBlock) {
        self.close_paragraph();
        self.blocks.push(block);
    }

    /// Closes text that stands in a block without a paragraph, as in a tight list.
    fn close_paragraph(&mut self) {
        while self.inlines.last() == Some(&Inline::SoftBreak) {
            self.inlines.pop();
        }
        if !self.inlines.is_empty() {
            self.blocks.push(MarkupBlock::Paragraph(std::mem::take(&mut self.inlines)));
        }
    }

    fn into_blocks(mut self) -> Vec<MarkupBlock> {
        self.close_paragraph();
        self.blocks
    }
}

fn open(tag: Tag<'_>) -> Open {
    match tag {
        Tag::Paragraph | Tag::HtmlBlock => Open::Paragraph,
        Tag::Heading { level, .. } => Open::Heading(level as u8),
        Tag::BlockQuote(_) => Open::Quote,
        Tag::CodeBlock(CodeBlockKind::Fenced(word)) => {
            Open::Code(word.split([' ', ',']).next().filter(|word| !word.is_empty()).map(str::to_owned))
        }
        Tag::CodeBlock(CodeBlockKind::Indented) => Open::Code(None),
        Tag::List(start) => Open::List(start, Vec::new()),
        Tag::Item => Open::Item(None),
        Tag::FootnoteDefinition(name) => Open::Footnote(name.into_string()),
        Tag::Table(alignments) => {
            Open::Table(Table { alignments: alignments.into_iter().map(alignment).collect(), ..Table::default() })
        }
        Tag::TableHead => Open::Head,
        Tag::TableRow => Open::Row,
        Tag::TableCell => Open::Cell,
        Tag::Emphasis => Open::Emphasis,
        Tag::Strong => Open::Strong,
        Tag::Strikethrough => Open::Strikethrough,
        // The parser leaves the scheme out.
        Tag::Link { link_type: LinkType::Email, dest_url, .. } => Open::Link(format!("mailto:{dest_url}")),
        Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. } => Open::Link(dest_url.into_string()),
        _ => Open::Flat,
    }
}

fn close(frame: Frame, around: &mut Frame, is_in_link: bool) {
    match frame.open {
        Open::Flat => splice(frame, around),
        Open::Paragraph => frame.into_blocks().into_iter().for_each(|block| around.add(block)),
        Open::Heading(level) => around.add(MarkupBlock::Heading { level, content: frame.inlines }),
        Open::Quote => around.add(MarkupBlock::Quote(frame.into_blocks())),
        Open::Code(language) => around.add(MarkupBlock::Code { language, text: code_text(frame.inlines) }),
        Open::List(start, items) => around.add(MarkupBlock::List { start, items }),
        Open::Item(checked) => close_item(checked, frame, around),
        Open::Footnote(ref name) => {
            let name = name.clone();
            around.add(MarkupBlock::Footnote { name, content: frame.into_blocks() });
        }
        Open::Table(table) => {
            let Table { alignments, head, rows } = table;
            around.add(MarkupBlock::Table { alignments, head, rows });
        }
        Open::Head | Open::Row => close_row(frame, around),
        Open::Cell => around.cells.push(frame.inlines),
        Open::Emphasis => around.push(Inline::Emphasis(frame.inlines)),
        Open::Strong => around.push(Inline::Strong(frame.inlines)),
        Open::Strikethrough => around.push(Inline::Strikethrough(frame.inlines)),
        Open::Link(href) => close_link(href, frame.inlines, around, is_in_link),
    }
}

fn splice(frame: Frame, around: &mut Frame) {
    frame.blocks.into_iter().for_each(|block| around.add(block));
    frame.inlines.into_iter().for_each(|inline| around.push(inline));
}

fn close_item(checked: Option<bool>, frame: Frame, around: &mut Frame) {
    let item = ListItem { checked, content: frame.into_blocks() };
    match &mut around.open {
        Open::List(_, items) => items.push(item),
        _ => item.content.into_iter().for_each(|block| around.add(block)),
    }
}

fn close_row(frame: Frame, around: &mut Frame) {
    let is_head = matches!(frame.open, Open::Head);
    match &mut around.open {
        Open::Table(table) if is_head => table.head = frame.cells,
        Open::Table(table) => table.rows.push(frame.cells),
        _ => frame.cells.into_iter().flatten().for_each(|inline| around.push(inline)),
    }
}

/// A destination that is not allowed stays readable, as text.
fn close_link(href: String, content: Vec<Inline>, around: &mut Frame, is_in_link: bool) {
    let label = super::inline_text(&content);
    if is_allowed(&href) && !is_in_link {
        let content = if label.trim().is_empty() { vec![Inline::Text(href.clone())] } else { content };
        around.push(Inline::Link { href, content });
        return;
    }
    let is_told = href.is_empty() || label == href || is_in_link;
    content.into_iter().for_each(|inline| around.push(inline));
    if !is_told {
        around.push(Inline::Text(if label.is_empty() { href } else { format!(" ({href})") }));
    }
}

fn code_text(lines: Vec<Inline>) -> String {
    let mut text = super::inline_text(&lines);
    if text.ends_with('\n') {
        text.pop();
    }
    text
}

fn alignment(alignment: pulldown_cmark::Alignment) -> Alignment {
    match alignment {
        pulldown_cmark::Alignment::None => Alignment::Default,
        pulldown_cmark::Alignment::Left => Alignment::Left,
        pulldown_cmark::Alignment::Center => Alignment::Center,
        pulldown_cmark::Alignment::Right => Alignment::Right,
    }
}

#[cfg(test)]
mod tests {
    use pulldown_cmark::TagEnd;

    use super::*;

    #[test]
    fn the_stack_stays_small_however_deep_a_text_is() {
        let mut builder = Builder::new(Vec::new());
        for _ in 0..100_000 {
            builder.event(Event::Start(Tag::BlockQuote(None)), 0..0);
            builder.event(Event::Start(Tag::Emphasis), 0..0);
            builder.event(Event::Text("a".into()), 0..1);
            assert!(builder.stack.len() <= NESTING_MAX + 1);
        }
        for _ in 0..100_000 {
            builder.event(Event::End(TagEnd::Emphasis), 0..0);
            builder.event(Event::End(TagEnd::BlockQuote(None)), 0..0);
        }
        assert_eq!((builder.stack.len(), builder.deeper), (1, 0));
    }
}
