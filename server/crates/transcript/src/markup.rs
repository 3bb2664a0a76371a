//! Markdown as a typed tree. There is no HTML anywhere: raw HTML is text, so nothing has to be sanitized.
//!
//! Top-level blocks do not depend on one another, so that only the last one is redrawn while a text streams.

mod bare;
mod build;
mod formulas;
mod stream;

use pulldown_cmark::{Options, Parser};
use serde::{Deserialize, Serialize};

pub use bare::bare_links;
pub use stream::MarkupStream;

/// The maximum nesting depth; deeper elements are drawn as their content only.
pub const NESTING_MAX: usize = 32;

/// One block of a text.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MarkupBlock {
    Paragraph(Vec<Inline>),
    Heading {
        /// 1 to 6.
        level: u8,
        content: Vec<Inline>,
    },
    List {
        /// Number of the first item; `None` for an unordered list.
        start: Option<u64>,
        items: Vec<ListItem>,
    },
    Code {
        /// The first word after the fence.
        language: Option<String>,
        /// Without the last line break.
        text: String,
    },
    Quote(Vec<MarkupBlock>),
    Table {
        alignments: Vec<Alignment>,
        head: Vec<Vec<Inline>>,
        rows: Vec<Vec<Vec<Inline>>>,
    },
    Rule,
    /// What a footnote says; the text refers to it by [`Inline::Footnote`].
    Footnote {
        name: String,
        content: Vec<MarkupBlock>,
    },
}

/// One item of a list.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ListItem {
    /// Set for a task.
    pub checked: Option<bool>,
    pub content: Vec<MarkupBlock>,
}

/// The alignment of a table's column.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Alignment {
    Default,
    Left,
    Center,
    Right,
}

/// A piece of a line.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Inline {
    Text(String),
    Code(String),
    Emphasis(Vec<Inline>),
    Strong(Vec<Inline>),
    Strikethrough(Vec<Inline>),
    Link {
        /// Begins with `http://`, `https://` or `mailto:`. A screen shows it if `content` says something else.
        href: String,
        content: Vec<Inline>,
    },
    Formula(Formula),
    /// A reference to the footnote of this name.
    Footnote(String),
    /// A line break in the source only; a space on a screen.
    SoftBreak,
    LineBreak,
}

/// A formula, in the language of TeX.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Formula {
    /// As it was written, with what it stands between: `$x$`, `$$x$$`, `\\(x\\)`, `\\[x\\]`.
    pub source: String,
    /// It has lines of its own.
    pub is_display: bool,
}

impl Formula {
    /// What stands between its signs.
    pub fn tex(&self) -> &str {
        let signs = if self.source.starts_with('$') && !self.source.starts_with("$$") { 1 } else { 2 };
        self.source.get(signs..self.source.len().saturating_sub(signs)).unwrap_or_default()
    }
}

/// Parses a text into blocks. Accepts any text; what is not Markdown is a paragraph.
pub fn parse(text: &str) -> Vec<MarkupBlock> {
    build::parse(text).blocks
}

/// The text of a line without its markup.
pub fn inline_text(content: &[Inline]) -> String {
    let mut text = String::new();
    push_text(content, &mut text);
    text
}

fn push_text(content: &[Inline], text: &mut String) {
    for inline in content {
        match inline {
            Inline::Text(words) | Inline::Code(words) => text.push_str(words),
            Inline::Emphasis(content) | Inline::Strong(content) | Inline::Strikethrough(content) => {
                push_text(content, text);
            }
            Inline::Link { content, .. } => push_text(content, text),
            Inline::Formula(formula) => text.push_str(&formula.source),
            Inline::Footnote(name) => text.push_str(&format!("[{name}]")),
            Inline::SoftBreak => text.push(' '),
            Inline::LineBreak => text.push('\n'),
        }
    }
}

fn parser(text: &str) -> Parser<'_> {
    Parser::new_ext(
        text,
        Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS | Options::ENABLE_FOOTNOTES,
    )
}

/// Whether a link may lead there. Anything else (`javascript:`, `data:`, paths of this server) is not a link.
fn is_allowed(href: &str) -> bool {
    let starts = |scheme: &str| href.get(..scheme.len()).is_some_and(|start| start.eq_ignore_ascii_case(scheme));
    ["http://", "https://", "mailto:"].into_iter().any(starts)
        && !href.chars().any(|letter| letter.is_control() || letter.is_whitespace())
}

#[cfg(test)]
mod tests;
