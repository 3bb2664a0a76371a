//! The print page, as the server draws it, and the rest of a transcript for a reader without scripts.

#![allow(clippy::unwrap_used)]

mod stage;

use std::ops::Deref;

use protocol::{CommandId, PodRef, RewindCommand, Seq};

use crate::stage::{Stage, page_of, words};

/// A stage with one Pod, which everything is about.
struct One {
    stage: Stage,
    pod: PodRef,
}

impl One {
    async fn start() -> Self {
        let stage = Stage::start().await;
        let pod = stage.pod("ada").await;
        Self { stage, pod }
    }

    /// Sends it, and waits until all of it has been answered.
    async fn say(&self, text: &str) {
        self.stage.say_through(&self.pod, text).await;
    }

    /// The page at this path below the Pod's own.
    async fn page(&self, below: &str) -> String {
        self.stage.page(&format!("{}{below}", page_of(&self.pod))).await
    }
}

impl Deref for One {
    type Target = Stage;

    fn deref(&self) -> &Stage {
        &self.stage
    }
}

/// An answer of several lines: the model of these tests says one line after the other.
fn lines(text: &str) -> String {
    text.lines().map(|line| format!("say {line}\n")).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn the_whole_transcript_is_on_one_page_that_needs_no_script() {
    let stage = One::start().await;
    stage.say("think about it first\nsay the first answer").await;
    stage.say(&lines("# A title\n```rust\nfn main() { println!(\"hi\"); }\n```\nand **words** after it")).await;
    let mut page = stage.page("/print").await;
    // What there was no time to colour is tried again at the next request.
    for _ in 0..20 {
        if page.contains("code-keyword") {
            break;
        }
        page = stage.page("/print").await;
    }
    let said = words(&page);
    for expected in [
        "ada",
        "rehearsal",
        "the whole transcript",
        "Written",
        "Turn 1",
        "Turn 2",
        "your message",
        "about it first",
        "the first answer",
        "A title",
        "fn main() { println!(\"hi\"); }",
        "As Markdown",
        "All Pods",
    ] {
        assert!(said.contains(expected), "{expected}: {said}");
    }
    assert!(page.contains("<span class=\"code-keyword\">fn"), "code has its colours: {page}");
    assert!(page.contains("href=\"/pkg/x/yoi.css\"") && !page.contains("yoi.js") && !page.contains("wasm"), "{page}");
    for opened in ["<details", "<button", "show all"] {
        assert!(!page.contains(opened), "everything is open, and nothing is to be pressed: {opened}");
    }
    assert!(page.contains(&format!("href=\"/pods/local/{}\"", stage.pod.worker_id)), "{page}");
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_of_a_page_is_carried_along_in_a_script() {
    let stage = One::start().await;
    stage.say("say a word that stands once: xylophone").await;
    let page = stage.page("/print").await;
    assert_eq!(page.matches("once: xylophone").count(), 2, "the message and its answer: {page}");
    for script in page.split("<script").skip(1) {
        assert!(!script.split("</script>").next().unwrap().contains("xylophone"), "{page}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_part_has_links_to_what_is_before_and_after_it() {
    let stage = One::start().await;
    stage.say("say one").await;
    let middle = stage.backend.pod(&stage.pod).await.unwrap().summary.head_seq;
    stage.say("say two").await;
    let said = words(&stage.page(&format!("/print?to={middle}")).await);
    assert!(said.contains("one") && !said.contains("say two"), "{said}");
    assert!(said.contains(&format!("After record {middle}")), "{said}");
    let rest = stage.page(&format!("/print?from={}", middle.0 + 1)).await;
    let said = words(&rest);
    assert!(said.contains("say two") && !said.contains("say one"), "{said}");
    assert!(rest.contains(&format!("/print?to={middle}\"")), "{rest}");
    let nothing = words(&stage.page("/print?from=99999").await);
    assert!(nothing.contains("Nothing here."), "{nothing}");
    let missing = words(&stage.stage.page("/pods/local/nobody/print").await);
    assert!(missing.contains("Transcript unavailable"), "{missing}");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_not_in_the_context_any_more_is_printed_and_said_to_be_out() {
    let stage = One::start().await;
    stage.say("say one").await;
    let head = stage.backend.pod(&stage.pod).await.unwrap().summary.head_seq;
    let command = RewindCommand::context(Seq(1), head);
    stage
        .backend
        .carry_out(
            &stage.origin,
            CommandId::random(),
            protocol::operations::Rewind { pod: stage.pod.clone(), body: command },
        )
        .await
        .unwrap();
    let said = words(&stage.page("/print").await);
    assert!(said.contains("say one") && said.contains("No longer in the context:"), "{said}");
}

/// What a model or a tool could write to run or to load something in the page, one answer each.
const HOSTILE: [&str; 9] = [
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>\n<iframe src=\"https://evil.example\"></iframe>",
    "[click](javascript:alert(1)) [data](data:text/html,x) <javascript:alert(1)> [here](//evil.example)",
    "![picture](https://evil.example/pixel.png)",
    "[bank](https://bank.example@evil.example/login)",
    "<svg onload=alert(1)><style>*{display:none}</style>",
    "if admin \u{202e}} // check\u{2069}",
    "```html\n</code></pre><script>alert(2)</script><img src=y>\n```",
    "````x\"onclick=\"alert(1)\ncode\n````",
];

/// Everything between `<` and `>`; a `>` in an attribute's quotes does not end a tag.
fn tags(page: &str) -> Vec<String> {
    let (mut tags, mut tag, mut in_quotes) = (Vec::new(), None::<String>, false);
    for letter in page.chars() {
        match (&mut tag, letter) {
            (None, '<') => tag = Some(String::new()),
            (Some(_), '>') if !in_quotes => tags.extend(tag.take()),
            (Some(tag), letter) => {
                in_quotes ^= letter == '"';
                tag.push(letter);
            }
            (None, _) => (),
        }
    }
    tags
}

/// The page's own scripts and styles have the nonce of this answer.
fn is_ours(tag: &str) -> bool {
    tag.contains(" nonce=\"")
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_that_a_model_writes_runs_or_loads_anything() {
    let stage = One::start().await;
    for text in HOSTILE {
        stage.say(&lines(text)).await;
    }
    for below in ["", "/print"] {
        let page = stage.page(below).await;
        let body: String = page.split_once("<body").unwrap().1.to_owned();
        // The content of our own scripts is data for the browser's half.
        let drawn: String =
            body.split("<script nonce").map(|part| part.split_once("</script>").map_or(part, |cut| cut.1)).collect();
        for tag in tags(&drawn) {
            let name = tag.split_whitespace().next().unwrap_or_default();
            let runs = ["script", "img", "iframe", "style", "object", "embed", "link", "base"].contains(&name);
            assert!(!runs || is_ours(&tag), "{below}: {tag}");
            let names: String = tag.split('"').step_by(2).collect();
            for part in names.split_whitespace() {
                assert!(!part.starts_with("on") && !part.starts_with("srcdoc"), "{below}: {tag}");
            }
            if let Some(href) = tag.split("href=\"").nth(1) {
                let is_inside = href.starts_with(['/', '?', '#']) && !href.starts_with("//");
                assert!(is_inside || href.starts_with("https://"), "{below}: {tag}");
                assert!(is_inside || tag.contains("rel=\"noopener noreferrer external\""), "{below}: {tag}");
            }
        }
        let said = words(&page);
        for expected in ["<script>alert(1)</script>", "<img src=x onerror=alert(1)>", "javascript:alert(1)"] {
            let expected = expected.replace('<', "&lt;").replace('>', "&gt;");
            assert!(said.contains(&expected), "{below}: it can be read: {expected}: {said}");
        }
        assert!(said.contains("picture (evil.example)") && said.contains("bank (evil.example)"), "{below}: {said}");
        assert!(said.contains("if admin [U+202E]} // check[U+2069]"), "{below}: {said}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_turn_is_linked_and_found_cold_without_a_script() {
    let stage = One::start().await;
    for number in 0..45 {
        stage.say(&format!("say n{number}")).await;
    }
    let whole = stage.page("/print").await;
    let seqs: Vec<&str> = whole.split("?at=").skip(1).map(|rest| rest.split('#').next().unwrap()).collect();
    assert_eq!(seqs.len(), 45, "each turn has its link");
    for seq in [seqs[0], seqs[20], seqs[44]] {
        let page = stage.page(&format!("?at={seq}")).await;
        assert_eq!(page.matches(&format!("id=\"seq-{seq}\"")).count(), 1, "{seq}");
        assert!(page.contains(&format!("?at={seq}#seq-{seq}\"")), "{seq}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn words_are_found_in_a_transcript_without_a_script() {
    let stage = One::start().await;
    for number in 0..3 {
        stage.say(&format!("say lease number {number}")).await;
    }
    let page = stage.page("?find=lease").await;
    let said = words(&page);
    assert!(said.contains("6 of 6"), "{said}");
    let links: Vec<&str> = page.split("?find=lease&amp;at=").skip(1).collect();
    assert_eq!(links.len(), 3, "to this place, to the one before, to the next: {page}");
    let seq = links[1].split('#').next().unwrap();
    let before = stage.page(&format!("?find=lease&at={seq}")).await;
    assert!(words(&before).contains("5 of 6") && before.contains(&format!("id=\"seq-{seq}\"")), "{before}");
    let none = words(&stage.page("?find=nowhere").await);
    assert!(none.contains("no matches"), "{none}");
    assert!(page.contains("href=\"/pods/local/") && page.contains("/print\""), "{page}");
}

#[tokio::test]
async fn colours_are_found_for_those_who_may_read() {
    let code = vec![app::server_fns::CodeText { language: "rust".to_owned(), text: "fn main() {}".to_owned() }];
    // The first stage requests the routes, which ends any existing owner.
    let stage = One::start().await;
    let owner = leptos::prelude::Owner::new();
    owner.set();
    app::server_fns::highlight(code.clone()).await.unwrap_err();
    leptos::prelude::provide_context(stage.backend.clone());
    leptos::prelude::provide_context(stage.origin.clone());
    let runs = app::server_fns::highlight(code).await.unwrap().remove(0);
    assert_eq!(runs.iter().map(|run| run.1).sum::<u32>(), 12);
    assert_eq!(app::server_fns::KINDS[runs[0].0 as usize], "code-keyword");
}
