//! Converts an HTML page to its text, with headings, lists and links as in Markdown.
//!
//! Each byte is looked at a bounded number of times, whatever the page contains: it is untrusted.

use reqwest::Url;

use super::entities::decode;

/// Elements whose content is not visible on the page.
const UNSEEN: [&str; 8] = ["script", "style", "template", "svg", "iframe", "object", "math", "noscript"];
/// Longer link targets are left out: nobody follows them by hand.
const LINK_BYTES_MAX: usize = 500;

/// At least the first `chars_max` characters of the text; the rest of the page is not processed.
pub(super) fn text(page: &str, base: &Url, chars_max: usize) -> String {
    let mut writer = Writer::new(base);
    let mut rest = page;
    while !rest.is_empty() && writer.out.len() <= chars_max * 4 {
        let (before, tag) = rest.split_at(rest.find('<').unwrap_or(rest.len()));
        writer.words(&decode(before));
        rest = step(tag, &mut writer);
    }
    writer.finish()
}

/// Processes what begins with `<`, and returns what comes after it.
fn step<'a>(tag: &'a str, writer: &mut Writer<'_>) -> &'a str {
    if let Some(comment) = tag.strip_prefix("<!--") {
        return comment.split_once("-->").map_or("", |(_, rest)| rest);
    }
    let inner = tag.strip_prefix('<').unwrap_or("");
    let (is_end, named) = inner.strip_prefix('/').map_or((false, inner), |named| (true, named));
    if !named.starts_with(|letter: char| letter.is_ascii_alphabetic()) {
        if is_end || inner.starts_with(['!', '?']) {
            return inner.split_once('>').map_or("", |(_, rest)| rest);
        }
        writer.words(&tag[..tag.len() - inner.len()]);
        return inner;
    }
    let name_end = named.find(|letter: char| letter.is_whitespace() || "/>".contains(letter)).unwrap_or(named.len());
    let name = named[..name_end].to_ascii_lowercase();
    let Some(end) = tag_end(&named[name_end..]) else {
        return "";
    };
    let (attributes, rest) = (&named[name_end..name_end + end], &named[name_end + end + 1..]);
    if is_end {
        writer.close(&name);
        return rest;
    }
    if UNSEEN.contains(&name.as_str()) && !attributes.ends_with('/') {
        return after_end_of(&name, rest);
    }
    writer.open(&name, attributes);
    rest
}

/// The position of the `>` that ends a tag, ignoring quoted values. A quote elsewhere is an ordinary character.
fn tag_end(attributes: &str) -> Option<usize> {
    let mut quote = None;
    let mut is_value_next = false;
    for (index, byte) in attributes.bytes().enumerate() {
        match (quote, byte) {
            (None, b'>') => return Some(index),
            (None, b'"' | b'\'') if is_value_next => quote = Some(byte),
            (Some(open), byte) if open == byte => quote = None,
            _ => (),
        }
        is_value_next = byte == b'=' || (is_value_next && byte.is_ascii_whitespace());
    }
    None
}

/// What follows `</name>`.
fn after_end_of<'a>(name: &str, text: &'a str) -> &'a str {
    let mut rest = text;
    while let Some((_, after)) = rest.split_once("</") {
        rest = after;
        if rest.get(..name.len()).is_some_and(|found| found.eq_ignore_ascii_case(name)) {
            return rest.split_once('>').map_or("", |(_, rest)| rest);
        }
    }
    ""
}

/// The value of an attribute: quoted or not.
fn attribute(attributes: &str, name: &str) -> Option<String> {
    let mut rest = attributes;
    loop {
        rest = rest.trim_start_matches(|letter: char| letter.is_whitespace() || letter == '/');
        let end = rest.find(|letter: char| letter.is_whitespace() || letter == '=').unwrap_or(rest.len());
        let found = rest[..end].eq_ignore_ascii_case(name);
        let after = rest[end..].trim_start();
        let Some(value) = after.strip_prefix('=') else {
            if after.is_empty() {
                return None;
            }
            // A lone `"`, or a name without a value.
            rest = if end == 0 { after.get(1..).unwrap_or("") } else { after };
            continue;
        };
        let value = value.trim_start();
        let (value, after) = match value.chars().next() {
            Some(quote @ ('"' | '\'')) => value[1..].split_once(quote).unwrap_or((&value[1..], "")),
            _ => value.split_at(value.find(char::is_whitespace).unwrap_or(value.len())),
        };
        if found {
            return Some(decode(value).into_owned());
        }
        rest = after;
    }
}

/// The text so far.
struct Writer<'a> {
    base: &'a Url,
    out: String,
    /// Line breaks due before the next word.
    breaks: usize,
    /// A space is due before the next word.
    is_apart: bool,
    /// The nesting depth of `pre`.
    verbatim: usize,
    /// Where the text of the open link begins, and its target.
    link: Option<(usize, String)>,
}

impl<'a> Writer<'a> {
    fn new(base: &'a Url) -> Self {
        Self { base, out: String::new(), breaks: 0, is_apart: false, verbatim: 0, link: None }
    }

    fn words(&mut self, text: &str) {
        if self.verbatim > 0 {
            if !text.is_empty() {
                self.settle();
                self.out.push_str(text);
            }
            return;
        }
        for (index, word) in text.split(|letter: char| letter.is_ascii_whitespace()).enumerate() {
            self.is_apart |= index > 0;
            if !word.is_empty() {
                self.settle();
                self.out.push_str(word);
            }
        }
    }

    /// Writes the breaks and the space that are due.
    fn settle(&mut self) {
        let is_at_start = self.out.is_empty() || self.out.ends_with(['\n', ' ', '\t']);
        if self.breaks > 0 && !self.out.is_empty() {
            let there = self.out.bytes().rev().take_while(|byte| *byte == b'\n').take(2).count();
            self.out.extend(std::iter::repeat_n('\n', self.breaks.saturating_sub(there)));
        } else if self.is_apart && !is_at_start {
            self.out.push(' ');
        }
        (self.breaks, self.is_apart) = (0, false);
    }

    fn break_line(&mut self, breaks: usize) {
        self.breaks = self.breaks.max(breaks);
    }

    fn mark(&mut self, text: &str) {
        self.settle();
        self.out.push_str(text);
    }

    fn open(&mut self, name: &str, attributes: &str) {
        self.break_line(breaks_around(name));
        match name {
            "a" => {
                self.end_link();
                let target = attribute(attributes, "href").and_then(|target| self.target(&target));
                if let Some(target) = target {
                    self.mark("");
                    self.link = Some((self.out.len(), target));
                }
            }
            "h1" | "h2" | "h3" | "h4" | "h5" | "h6" => {
                let level = usize::from(name.as_bytes()[1] - b'0');
                self.mark(&format!("{} ", "#".repeat(level)));
            }
            "li" => self.mark("- "),
            "td" | "th" if !self.out.ends_with('\n') && self.breaks == 0 => self.mark("\t"),
            "pre" => self.verbatim += 1,
            _ => (),
        }
    }

    fn close(&mut self, name: &str) {
        match name {
            "a" => self.end_link(),
            "pre" => self.verbatim = self.verbatim.saturating_sub(1),
            _ => (),
        }
        self.break_line(breaks_around(name));
    }

    fn target(&self, target: &str) -> Option<String> {
        let is_elsewhere = !target.starts_with('#');
        let url = self.base.join(target).ok().filter(|url| is_elsewhere && matches!(url.scheme(), "http" | "https"))?;
        Some(url.to_string()).filter(|url| url.len() <= LINK_BYTES_MAX)
    }

    fn end_link(&mut self) {
        let Some((start, target)) = self.link.take() else {
            return;
        };
        if !self.out[start..].trim().is_empty() {
            self.out.push_str(&format!(" <{target}>"));
        }
    }

    fn finish(mut self) -> String {
        self.end_link();
        self.out.truncate(self.out.trim_end().len());
        self.out
    }
}

/// Line breaks before and after an element.
fn breaks_around(name: &str) -> usize {
    match name {
        "p" | "h1" | "h2" | "h3" | "h4" | "h5" | "h6" | "pre" | "blockquote" | "ul" | "ol" | "dl" | "table" | "hr"
        | "title" | "article" | "section" | "main" | "header" | "footer" | "nav" | "aside" | "figure" | "form" => 2,
        "div" | "li" | "tr" | "br" | "dt" | "dd" | "option" | "caption" | "figcaption" | "summary" | "body" => 1,
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::*;

    fn read(page: &str) -> String {
        text(page, &Url::parse("https://example.com/dir/page").unwrap(), 60_000)
    }

    #[test]
    fn a_page_reads_like_a_document() {
        let page = r##"<!DOCTYPE html><html><head><title>A &amp; B</title><style>p { color: red }</style>
            <script>if (a < b) { "</p>" }</script></head>
            <body><!-- <p>not this</p> --><h1 class="x > y">One</h1><p>First   line<br>second, <b>bold</b>er.</p>
            <ul><li>a</li><li><a href='/x?a=1&amp;b=2'>b</a></li></ul><a href="#top"> up </a><a href="javascript:x()">no</a>
            <pre>  let x = 1 &lt; 2;
  y</pre><table><tr><th>k</th><th>v</th></tr><tr><td>1</td><td>2</td></tr></table>1 < 2 &euro; &#8364; &#x20AC; &nope;</body>"##;
        let wanted = "A & B\n\n# One\n\nFirst line\nsecond, bolder.\n\n- a\n- b <https://example.com/x?a=1&b=2>\n\nup no\n\n  \
             let x = 1 < 2;\n  y\n\nk\tv\n1\t2\n\n1 < 2 € € € &nope;";
        assert_eq!(read(page), wanted);
    }

    #[test]
    fn broken_pages_end_well() {
        let cases = [
            ("", ""),
            ("plain", "plain"),
            ("a<", "a<"),
            ("a<b", "a"),
            ("a<!--b", "a"),
            ("<script>a", ""),
            ("</>x", "x"),
            ("<a href=>x</a>", "x <https://example.com/dir/page>"),
            ("<a href='x", ""),
            ("<p", ""),
            ("a</p", "a"),
            ("<?x?>y", "y"),
            ("<a =\"\" href=z>x", "x <https://example.com/dir/z>"),
            ("<svg/>x", "x"),
            ("&", "&"),
            ("&#0;&#xd800;&#x;", "\u{fffd}\u{fffd}&#x;"),
            ("<é>x", "<é>x"),
            ("<scripté>x", "x"),
            ("<p title=it's>x", "x"),
            ("<p a = '>' b>x", "x"),
        ];
        for (page, wanted) in cases {
            assert_eq!(read(page), wanted, "{page}");
        }
    }

    #[test]
    fn hostile_pages_take_no_longer_than_their_size() {
        for piece in [
            "<a href=x>",
            "<",
            "<!--",
            "<p",
            "&",
            "<pre>",
            "</a",
            "<script>",
            "<script></",
            "<a \"",
            "\n",
            "<li>",
            "</p>",
            "&#",
        ] {
            let page = piece.repeat(2 * 1024 * 1024 / piece.len());
            let started = Instant::now();
            let text = read(&page);
            assert!(started.elapsed() < Duration::from_secs(60), "{piece}: {:?}", started.elapsed());
            assert!(text.len() <= page.len() + 300_000);
        }
    }
}
