use proptest::prelude::*;

use super::*;

fn text(words: &str) -> Inline {
    Inline::Text(words.to_owned())
}

fn paragraph(words: &str) -> MarkupBlock {
    MarkupBlock::Paragraph(vec![text(words)])
}

#[test]
fn every_element_has_its_type() {
    insta::assert_debug_snapshot!(parse(concat!(
        "# Title\n\nOne *two* **three** ~~four~~ `five`  \nsix\nseven\n\n",
        "3. a\n4. b\n   - [x] done\n   - [ ] open\n\n> quoted\n\n```rust ignore\nfn main() {}\n```\n\n",
        "| l | r |\n|:--|--:|\n| 1 | **2** |\n\n---\n\n[site](https://example.org) <https://example.org>\n",
    )));
}

#[test]
fn raw_html_is_text() {
    assert_eq!(parse("<script>alert(1)</script>"), vec![paragraph("<script>alert(1)</script>")]);
    assert_eq!(parse("a <b onclick=x>bold</b>"), vec![paragraph("a <b onclick=x>bold</b>")]);
}

#[test]
fn only_web_and_mail_addresses_are_links() {
    let bad = ["javascript:alert(1)", "data:text/html,x", "/etc/passwd", "file:///etc", "JaVaScRiPt:x", "//host/x"];
    for href in bad {
        assert_eq!(parse(&format!("[click]({href})")), vec![paragraph(&format!("click ({href})"))], "{href}");
    }
    assert_eq!(parse("[click](javascript&colon;x)"), vec![paragraph("click (javascript:x)")]);
    for href in ["https://a.b/c", "HTTP://A.B", "mailto:a@b.c"] {
        let link = Inline::Link { href: href.to_owned(), content: vec![text("click")] };
        assert_eq!(parse(&format!("[click]({href})")), vec![MarkupBlock::Paragraph(vec![link])]);
    }
}

#[test]
fn images_are_links_and_never_loaded() {
    let link = Inline::Link { href: "https://a.b/c.png".to_owned(), content: vec![text("plot")] };
    assert_eq!(parse("![plot](https://a.b/c.png)"), vec![MarkupBlock::Paragraph(vec![link.clone()])]);
    assert_eq!(parse("[![plot](https://x.y/z.png)](https://a.b/c.png)"), vec![MarkupBlock::Paragraph(vec![link])]);
}

#[test]
fn a_formula_is_whole_whatever_is_in_it() {
    let formula = |source: &str, is_display| Inline::Formula(Formula { source: source.to_owned(), is_display });
    let expected = vec![text("Let "), formula("$a_1 * b_2 * c$", false), text(" be.")];
    assert_eq!(parse("Let $a_1 * b_2 * c$ be."), vec![MarkupBlock::Paragraph(expected)]);
    let display = MarkupBlock::Paragraph(vec![formula(r"\[ <b>[x](y) \\ _z_ \]", true)]);
    assert_eq!(parse(r"\[ <b>[x](y) \\ _z_ \]"), vec![display]);
    let linked = Inline::Link { href: "https://a.b".to_owned(), content: vec![formula(r"\(x\)", false)] };
    assert_eq!(parse(r"[\(x\)](https://a.b)"), vec![MarkupBlock::Paragraph(vec![linked])]);
    assert_eq!(
        parse("$5 and $10 `$x$`"),
        vec![MarkupBlock::Paragraph(vec![text("$5 and $10 "), Inline::Code("$x$".to_owned()),])]
    );
    assert_eq!(inline_text(&[formula("$x$", false)]), "$x$");
    for (source, tex) in [("$x$", "x"), ("$$x$$", "x"), (r"\(x\)", "x"), (r"\[x\]", "x"), ("", "")] {
        assert_eq!(Formula { source: source.to_owned(), is_display: false }.tex(), tex);
    }
}

#[test]
fn an_open_fence_is_code_while_it_streams() {
    let code = MarkupBlock::Code { language: Some("sh".to_owned()), text: "ls".to_owned() };
    assert_eq!(parse("```sh\nls"), vec![code]);
}

fn depth(blocks: &[MarkupBlock]) -> usize {
    let below = |block: &MarkupBlock| match block {
        MarkupBlock::Quote(content) => depth(content),
        MarkupBlock::List { items, .. } => items.iter().map(|item| depth(&item.content)).max().unwrap_or(0),
        _ => 0,
    };
    1 + blocks.iter().map(below).max().unwrap_or(0)
}

#[test]
fn nesting_is_bounded_and_loses_no_word() {
    let blocks = parse(&format!("{}end", "> ".repeat(5_000)));
    assert!(depth(&blocks) <= NESTING_MAX + 1);
    assert!(format!("{blocks:?}").contains("end"));
    let emphasis = parse(&format!("{}word{}", "*a ".repeat(3_000), " a*".repeat(3_000)));
    assert!(format!("{emphasis:?}").contains("word"));
}

/// Pieces with a meaning in Markdown, in any order.
fn markdown() -> impl Strategy<Value = Vec<String>> {
    let pieces = [
        "word ",
        "\n",
        "\n\n",
        "    ",
        "  ",
        "- ",
        "$x$ ",
        "$",
        "$$",
        "\\(",
        "\\)",
        "\\[a\\]",
        "1. ",
        "> ",
        "# ",
        "```",
        "```rs\n",
        "~~",
        "*",
        "**",
        "_",
        "`",
        "|",
        "a|b\n-|-\n",
        "---\n",
        "===\n",
        "[x](https://a.b)",
        "[x]",
        "![i](u)",
        "<b>",
        "<div>\n",
        "<!--",
        "-->",
        "\\",
        "\t",
        "- [ ] ",
        "&amp;",
        "é",
        "\r\n",
        "\r",
        "]: ",
        "[x]: https://c.d\n",
        "\0",
        "<https://a.b>",
        "</div>\n",
    ];
    prop::collection::vec(prop::sample::select(pieces.to_vec()).prop_map(str::to_owned), 0..40)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_text_panics_or_nests_too_deep(text in any::<String>(), pieces in markdown()) {
        parse(&text);
        prop_assert!(depth(&parse(&pieces.concat())) <= NESTING_MAX + 1);
    }

    #[test]
    fn a_growing_text_is_parsed_as_the_whole(pieces in markdown()) {
        let (mut stream, mut whole) = (MarkupStream::default(), String::new());
        for piece in pieces {
            whole.push_str(&piece);
            let before = stream.blocks().to_vec();
            let from = stream.update(&whole);
            prop_assert_eq!(stream.blocks(), &parse(&whole)[..], "{:?}", whole);
            prop_assert_eq!(&stream.blocks()[..from], &before[..from]);
        }
    }
}

/// All addresses that a reader could be led to.
fn hrefs(blocks: &[MarkupBlock]) -> Vec<String> {
    let debug = format!("{blocks:?}");
    debug.split("href: \"").skip(1).map(|rest| rest.split('"').next().unwrap_or_default().to_owned()).collect()
}

#[test]
fn no_way_of_writing_a_link_leads_to_a_script_or_to_data() {
    for hostile in [
        "[a](javascript:alert(1))",
        "[a](<javascript:alert(1)>)",
        "[a](java\nscript:alert(1))",
        "[a](&#106;avascript:alert(1))",
        "[a](&#x6A&#x61vascript:alert(1))",
        "[a](\u{1}javascript:alert(1))",
        "[a](  javascript:alert(1))",
        "<javascript:alert(1)>",
        "<data:text/html;base64,PHNjcmlwdD4=>",
        "<vbscript:x>",
        "<file:///etc/passwd>",
        "![a](data:image/svg+xml;base64,PHN2Zz4=)",
        "[a]: javascript:alert(1)\n\n[a]",
        "[a][b]\n\n[b]: data:text/html,x",
        "[a](//evil.example)",
        "[a](/fn/delete_pod)",
        "[a](?at=1)",
        "[a](#top)",
        "[a](\\\\evil.example)",
        "[a](blob:https://a.b/c)",
        "[a](https\u{200b}://a.b)",
        "[a](view-source:https://a.b)",
    ] {
        assert_eq!(hrefs(&parse(hostile)), Vec::<String>::new(), "{hostile}");
        assert!(format!("{:?}", parse(hostile)).len() > 20, "{hostile}: it can still be read");
    }
    assert_eq!(hrefs(&parse("[a](https://a.b \"onmouseover=x\")")), ["https://a.b"]);
    assert_eq!(hrefs(&parse("<https://a.b> <c@d.e>")), ["https://a.b", "mailto:c@d.e"]);
}

#[test]
fn blocks_of_html_are_text_to_the_last_letter() {
    let html = "<div onclick=\"x\">\n<img src=x onerror=alert(1)>\n<iframe srcdoc=\"<script>1</script>\">\n</div>\n";
    let text = format!("{:?}", parse(html));
    for piece in ["<div onclick=", "<img src=x onerror=alert(1)>", "<iframe srcdoc=", "</div>"] {
        assert!(text.contains(piece), "{piece}: {text}");
    }
    for html in ["<!-- x -->", "<?php x ?>", "<!DOCTYPE html>", "<![CDATA[x]]>", "<style>*{}</style>", "<svg onload=x>"]
    {
        let MarkupBlock::Paragraph(content) = &parse(html)[0] else { panic!("{html}") };
        assert_eq!(inline_text(content).trim(), html);
    }
}

#[test]
fn texts_of_no_sensible_shape_are_read_in_time() {
    let begun = std::time::Instant::now();
    let texts = [
        "- ".repeat(10_000),
        (0..10_000).map(|depth| format!("{}- x\n", " ".repeat(2 * (depth % 200)))).collect(),
        "1. ".repeat(10_000),
        "x".repeat(1_000_000),
        "[".repeat(50_000),
        "![](".repeat(20_000),
        "*_".repeat(50_000),
        "`".repeat(100_000),
        "<".repeat(100_000),
        "| a ".repeat(20_000) + "\n" + &"|---".repeat(20_000),
        "&".repeat(100_000),
    ];
    for text in &texts {
        assert!(depth(&parse(text)) <= NESTING_MAX + 1);
    }
    assert!(begun.elapsed().as_secs() < 20, "{:?}", begun.elapsed());
}
