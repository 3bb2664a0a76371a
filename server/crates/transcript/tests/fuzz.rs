//! Fuzz targets (docs/testing.md): records in any order and shape, Markdown with formulas, and a program's output.

#![allow(clippy::unwrap_used)]

use protocol::{Record, Seq};
use serde_json::{Value, json};
use testkit::fuzz::{Choices, corpus};
use transcript::{
    Transcript, ansi, export_markdown,
    markup::{self, MarkupStream},
};

const HERE: &str = env!("CARGO_MANIFEST_DIR");

/// An event of any kind, with ids that often meet.
fn some_event(choices: &mut Choices<'_>) -> Value {
    let block = choices.pick(&["b1", "b2", "b3"]);
    let call = choices.pick(&["c1", "c2"]);
    let text = choices.pick(&["", "x", "a\nb", "é\u{202e}", "```\n", "{\"command\":\"ls\"}", "\u{1b}[31m"]);
    let usage = json!({ "input": 1, "cached": 0, "output": 2, "context_used": 3, "context_limit": 4 });
    let peer = json!({ "runtime_id": "local", "worker_id": "w", "name": "bob" });
    let by = choices.pick(&["model", "operator", "agent", "nobody"]);
    match choices.below(18) {
        0 => json!({ "kind": "text_chunk", "block": block, "text": text }),
        1 => json!({ "kind": "reasoning_chunk", "block": block, "text": text }),
        2 => json!({ "kind": "tool_args_chunk", "block": block, "text": text }),
        3 => json!({ "kind": "tool_output_chunk", "block": block, "text": text }),
        4 => json!({ "kind": "message_finished", "block": block, "text": text, "interrupted": choices.flag() }),
        5 => json!({ "kind": "reasoning_finished", "block": block, "text": text, "interrupted": choices.flag() }),
        6 => {
            json!({ "kind": "tool_called", "call_id": call, "block": block, "name": choices.pick(&["Bash", "Edit", "x"]),
                     "arguments": choices.pick::<str>(&["", "{}"]), "by": by })
        }
        7 => json!({ "kind": "tool_finished", "call_id": call, "block": block, "summary": text, "content": text,
                     "is_error": choices.flag(), "duration_ms": 5, "by": by }),
        8 => json!({ "kind": "run_started", "trigger": choices.pick(&["input", "peer", "resume"]) }),
        9 => json!({ "kind": "run_finished", "usage": usage,
                     "outcome": choices.pick(&["completed", "cancelled", "paused", "interrupted", "rolled_back", "error"]) }),
        10 => {
            json!({ "kind": "user_message", "segments": [{ "type": "text", "text": text }], "command_id": call, "by": by })
        }
        11 => json!({ "kind": "peer_message", "message_id": call, "text": text, "from": peer, "hops": 0 }),
        12 => json!({ "kind": "rewound", "to_seq": choices.below(12) }),
        13 => json!({ "kind": "compacted", "summary": text, "kept_from_seq": choices.below(12) }),
        14 => json!({ "kind": "approval_asked", "id": call, "tool": "Bash", "arguments": { "command": text } }),
        15 => {
            json!({ "kind": "approval_answered", "id": call, "tool": "Bash", "arguments": {}, "decision": "allow", "by": by })
        }
        16 => json!({ "kind": "message_receipt", "message_id": call, "peer": peer,
                      "state": choices.pick(&["stored", "read", "answered", "held", "refused"]) }),
        _ => {
            json!({ "kind": choices.pick(&["status", "usage", "alert", "provider_retry", "nonsense"]), "state": "running",
                     "level": "warn", "source": "x", "text": text, "attempt": 1, "wait_ms": 1, "code": "timeout", "detail": text })
        }
    }
}

fn some_record(choices: &mut Choices<'_>) -> Option<Record> {
    let seq = choices.below(24);
    let run = choices.pick::<str>(&["r1", "r2"]);
    let record = json!({ "seq": seq, "at": "2026-03-01T09:00:00Z", "run_id": run, "event": some_event(choices) });
    serde_json::from_value(record).ok()
}

fn any_records(bytes: &[u8]) {
    let mut choices = Choices::of(bytes);
    let (mut transcript, mut seen) = (Transcript::default(), Vec::new());
    while !choices.is_over() && seen.len() < 200 {
        if choices.below(8) == 7 {
            let mut older: Vec<Record> = (0..choices.below(6)).filter_map(|_| some_record(&mut choices)).collect();
            older.sort_by_key(|record| record.seq);
            transcript.prepend(&older);
            seen.extend(older);
        } else if let Some(record) = some_record(&mut choices) {
            transcript.apply(&record);
            seen.push(record);
        }
        // One record is at most a block and the end of those that were open.
        assert!(
            transcript.blocks().len() <= 2 * seen.len() + 1,
            "{} blocks of {} records",
            transcript.blocks().len(),
            seen.len()
        );
        assert!(transcript.head() >= Seq(0));
    }
    let again = Transcript::from_records(&seen);
    assert!(again.blocks().len() <= 2 * seen.len() + 1);
    let _ = export_markdown(again.blocks());
}

const MARKDOWN: &[&str] = &[
    "a",
    " ",
    "\n",
    "\n\n",
    "# ",
    "- ",
    "1. ",
    "> ",
    "```",
    "```rust\n",
    "`",
    "*",
    "**",
    "_",
    "~~",
    "[",
    "](",
    ")",
    "![",
    "<b>",
    "</b>",
    "<",
    "&amp;",
    "&#0;",
    "|",
    "|-|-|\n",
    "$",
    "$$",
    "\\(",
    "\\)",
    "\\[",
    "\\]",
    "\\",
    "x^2",
    "\\frac{",
    "}",
    "{",
    "https://a.b/c",
    "www.a.b",
    "a@b.c",
    "[a]: ",
    "[^1]",
    "- [ ] ",
    "    ",
    "\t",
    "\r",
    "\u{0}",
    "é",
    "\u{202e}",
    "---\n",
];

fn any_markdown(bytes: &[u8]) {
    let made = Choices::of(bytes).text(MARKDOWN, 120);
    for text in [&*String::from_utf8_lossy(bytes), &made] {
        let whole = markup::parse(text);
        // A text that streams is drawn, in the end, as the whole text is.
        let mut stream = MarkupStream::default();
        let ends = text.char_indices().map(|(at, _)| at).step_by(7).chain([text.len()]);
        for end in ends {
            let from = stream.update(&text[..end]);
            assert!(from <= stream.blocks().len());
        }
        assert_eq!(stream.blocks(), whole, "{text:?}");
    }
}

const OUTPUT: &[&str] = &[
    "a",
    "\n",
    "\r",
    "\r\n",
    "\t",
    "\u{8}",
    "\u{1b}",
    "\u{1b}[",
    "\u{1b}]",
    "\u{9b}",
    "\u{90}",
    "\u{9c}",
    "\u{7}",
    "m",
    ";",
    ":",
    "0",
    "1",
    "31",
    "38",
    "5",
    "2",
    "255",
    "99999999999",
    "K",
    "J",
    "H",
    "A",
    "?",
    "25h",
    "8;;",
    "http://a",
    "\u{1b}\\",
    "é",
    "\u{0}",
    "\u{1b}(B",
];

fn any_output(bytes: &[u8]) {
    let made = Choices::of(bytes).text(OUTPUT, 120);
    for text in [&*String::from_utf8_lossy(bytes), &made] {
        let spans = ansi::parse(text);
        let plain = ansi::strip(text);
        assert!(plain.chars().all(|letter| !letter.is_control() || matches!(letter, '\n' | '\t')), "{plain:?}");
        assert!(plain.len() <= text.len());
        assert_eq!(ansi::strip(&plain), plain, "there is nothing left to take away");
        for count in [0, 1, 3] {
            let (before, end) = ansi::split_end(spans.clone(), count);
            let joined: String = before.iter().chain(&end).map(|span| span.text.as_str()).collect();
            assert_eq!(joined, plain);
        }
    }
}

#[test]
fn records_in_any_order_are_drawn_in_bounded_room() {
    corpus(HERE, "records", any_records);
    bolero::check!().with_iterations(5_000).with_max_len(600).for_each(any_records);
}

#[test]
fn markdown_that_streams_is_drawn_as_the_whole_is() {
    corpus(HERE, "markdown", any_markdown);
    bolero::check!().with_iterations(1_500).with_max_len(160).for_each(any_markdown);
}

#[test]
fn nothing_in_an_output_reaches_the_screen_but_letters() {
    corpus(HERE, "output", any_output);
    bolero::check!().with_iterations(10_000).with_max_len(200).for_each(any_output);
}
