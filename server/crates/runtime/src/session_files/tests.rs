use pod::{Pod, PodSpec};
use protocol::{Event, Message, Role, TurnEvent};
use serde_json::json;

use super::*;

const CLAUDE: &str = include_str!("samples/claude.jsonl");
const CODEX: &str = include_str!("samples/codex.jsonl");
const OPENCODE: &str = include_str!("samples/opencode.json");
const SAMPLES: [(&str, ImportFormat); 3] =
    [(CLAUDE, ImportFormat::Claude), (CODEX, ImportFormat::Codex), (OPENCODE, ImportFormat::Opencode)];

fn spec() -> PodSpec {
    serde_json::from_value(json!({
        "provider": "rehearsal", "model": "rehearsal", "cwd": "/", "scope": [], "wake_on_peer": true
    }))
    .unwrap()
}

fn told(text: &str, format: ImportFormat) -> Told {
    read(text, format, Timestamp::UNIX_EPOCH)
}

/// What a model would be sent, without the system message.
fn context(told: &Told) -> Vec<Message> {
    let turns = told.records.iter().filter_map(|record| match &record.event {
        Event::Turn(event) => Some((record.seq, record.run_id.as_deref(), event)),
        _ => None,
    });
    pod::context(&spec(), &[], turns).into_iter().filter(|message| message.role != Role::System).collect()
}

/// Each message in one line.
fn lines(told: &Told) -> Vec<String> {
    let line = |message: Message| {
        let calls: String =
            message.tool_calls.iter().map(|call| format!(" +{}{}", call.name, call.arguments)).collect();
        let thought = message.reasoning.map(|thought| format!("({thought}) ")).unwrap_or_default();
        let role = serde_json::to_value(message.role).unwrap();
        format!("{}: {thought}{}{calls}", role.as_str().unwrap(), message.content.replace('\n', "|"))
    };
    context(told).into_iter().map(line).collect()
}

fn note(told: &Told) -> String {
    match &told.records[0].event {
        Event::Control(protocol::ControlEvent::Alert { text, source, .. }) => {
            assert_eq!(source, "import");
            text.clone()
        }
        other => panic!("{other:?}"),
    }
}

/// Whether every provider would take it: it begins with a person, and each call has its result directly after it.
fn assert_valid(told: &Told, what: &str) {
    let messages = context(told);
    assert!(messages.first().is_none_or(|first| first.role == Role::User), "{what}: {messages:?}");
    let mut open: Vec<String> = Vec::new();
    for message in &messages {
        match message.role {
            Role::Tool => {
                let id = message.call_id.as_ref().unwrap();
                let of = open.iter().position(|open| open == id);
                open.remove(of.unwrap_or_else(|| panic!("{what}: a result of no call: {messages:?}")));
            }
            _ => assert!(open.is_empty(), "{what}: {open:?} have no results: {messages:?}"),
        }
        let is_empty = message.content.is_empty() && message.tool_calls.is_empty();
        assert!(!is_empty, "{what}: an empty message: {messages:?}");
        open.extend(message.tool_calls.iter().map(|call| call.call_id.clone()));
        assert!(message.tool_calls.iter().all(|call| call.arguments.is_object()), "{what}");
    }
    assert!(open.is_empty(), "{what}: {open:?} have no results");
    let mut pod = Pod::default();
    for (number, record) in (1..).zip(&told.records) {
        assert_eq!(record.seq.0, number, "{what}");
        pod.apply(record);
    }
    assert!(pod.calls.is_empty() && pod.open_blocks.is_empty() && pod.run.is_none(), "{what}: {pod:?}");
}

#[test]
fn a_session_of_claude_code_is_a_history() {
    let told = told(CLAUDE, format_of(CLAUDE));
    assert_eq!(
        lines(&told),
        [
            "user: [summary of what came before]|This session is being continued. The cart total was fixed.",
            "user: Commit it.",
            "assistant: Committed.",
        ]
    );
    let before = read_until(&told, "This session is being continued");
    assert_eq!(
        lines(&before),
        [
            "user: Why does the checkout test fail?",
            "assistant: (Look at the test first.) I read the test and the code. \
         +Read{\"file_path\":\"/home/ana/shop/checkout.test.ts\"} +mcp__git_hub__search_code{\"q\":\"total(\"}",
            "tool: 2 lines|1\ttest('total')|2\texpect(total([])).toBe(0)",
            "tool: failed|rate limited|[a picture that was not imported]",
            "assistant: The total of an empty cart is undefined.",
            "user: Fix it.",
            "assistant:  +Edit{\"file_path\":\"/home/ana/shop/total.ts\",\"old_string\":\"sum\",\"new_string\":\"sum ?? 0\"}",
            "tool: not finished: the session file has no result of this call",
        ]
    );
    assert_eq!(
        note(&told),
        "imported from a session of Claude Code (0f6d1c1e-6a52-4c0c-9b9b-6f0f2c1d8a11) in /home/ana/shop: 4 messages, \
         4 answers, 3 tool calls. Not taken over: 1 line of a subagent, 2 pictures or files, 1 message with the agent's \
         instructions, 1 error message, 1 repeated line, 1 item of an unknown kind, 1 unreadable line or message (the \
         first is number 10). 1 call has no result."
    );
    let asked = told.records.iter().find(|record| record.event.kind() == "user_message").unwrap();
    assert_eq!(asked.at.to_string(), "2026-11-20T09:00:01Z");
    let took = told.records.iter().filter_map(|record| match &record.event {
        Event::Turn(TurnEvent::ToolFinished { duration_ms, is_error, .. }) => Some((*duration_ms, *is_error)),
        _ => None,
    });
    let took: Vec<_> = took.collect();
    assert_eq!(took, [(1_000, false), (3_000, true), (0, true)]);
}

/// The history before the record that has these words.
fn read_until(told: &Told, words: &str) -> Told {
    let has_words = |record: &Record| serde_json::to_string(record).unwrap().contains(words);
    let records = told.records.iter().take_while(|record| !has_words(record)).cloned().collect();
    Told { records, said: told.said }
}

#[test]
fn a_session_of_codex_is_a_history() {
    let told = told(CODEX, format_of(CODEX));
    assert_eq!(
        lines(&told),
        ["user: [summary of what came before]|The tests were mended.", "user: Thanks.", "assistant: You are welcome.",]
    );
    let before = read_until(&told, "The tests were mended.");
    assert_eq!(
        lines(&before),
        [
            "user: Run the tests.",
            "assistant: (**Running tests**)  +shell{\"command\":[\"npm\",\"test\"],\"workdir\":\"/home/ana/shop\"}",
            "tool: failed|1 failing|  total of nothing|",
            "assistant:  +apply_patch{\"input\":\"*** Begin Patch\\n*** End Patch\"}",
            "tool: 2 lines|Success. Updated the following files:|M total.ts|",
            "assistant:  +shell{\"type\":\"exec\",\"command\":[\"ls\"]}",
            "tool: total.ts",
            "assistant:  +web_search{\"type\":\"search\",\"query\":\"nullish\"}",
            "tool: the results are not in the session file",
            "assistant: They pass now.",
            "user: Say what you did.",
            "assistant:  +shell{\"input\":\"nonsense\"}",
            "tool: not finished: the session file has no result of this call",
        ]
    );
    let note = note(&told);
    for part in [
        "Codex (019a2d7a-41c4-78b1-b7cc-a45d62a89cd5) in /home/ana/shop: 4 messages, 3 answers, 5 tool calls.",
        "2 pictures or files",
        "1 thought that only its provider can read",
        "3 messages with the agent's instructions",
        "1 result without its call",
        "1 unreadable line or message (the first is number 23)",
    ] {
        assert!(note.contains(part), "{part}: {note}");
    }
    // An older file has bare items.
    let old = "{\"id\":\"s\",\"timestamp\":\"2025-06-01T10:00:00Z\",\"instructions\":null}\n\
        {\"type\":\"message\",\"role\":\"user\",\"content\":[{\"type\":\"input_text\",\"text\":\"Hi\"}]}\n\
        {\"record_type\":\"state\"}\n\
        {\"type\":\"message\",\"role\":\"assistant\",\"content\":[{\"type\":\"output_text\",\"text\":\"Hello\"}]}";
    assert_eq!(format_of(old), ImportFormat::Codex);
    assert_eq!(lines(&super::read(old, ImportFormat::Codex, Timestamp::UNIX_EPOCH)), ["user: Hi", "assistant: Hello"]);
}

#[test]
fn an_export_of_opencode_is_a_history() {
    let told = told(OPENCODE, format_of(OPENCODE));
    assert_eq!(
        lines(&told),
        ["user: [summary of what came before]|The list asks once per row."],
        "the rest is reverted"
    );
    let before = read_until(&told, "The list asks once per row.");
    assert_eq!(
        lines(&before),
        [
            "user: Why is the list slow?|Called the Read tool",
            "assistant: (It queries in a loop.) Let me look. +grep{\"pattern\":\"select\"}",
            "tool: 2 lines|list.ts:3: select|list.ts:9: select",
            "assistant:  +bash{\"command\":\"npm test\"}",
            "tool: Command timed out",
            "assistant:  +bash{\"command\":\"sleep 9\"}",
            "tool: not finished: the session file has no result of this call",
            "user: Go on.",
            "assistant: I beg",
        ]
    );
    let note = note(&told);
    assert!(
        note.contains("opencode (ses_5f2c) in /home/ana/shop") && note.contains("(the first is number 9)"),
        "{note}"
    );
    let compact = serde_json::from_str::<Value>(OPENCODE).unwrap().to_string();
    assert_eq!(format_of(&compact), ImportFormat::Opencode);
    assert_eq!(lines(&super::read(&compact, ImportFormat::Opencode, Timestamp::UNIX_EPOCH)), lines(&told));
}

#[test]
fn a_file_is_told_by_its_content() {
    for (text, format) in SAMPLES {
        assert_eq!(format_of(text), format);
        // Whatever stands before the first line that is one.
        assert_eq!(
            format_of(&format!("garbage\n\n[]\n{text}")),
            if format == ImportFormat::Opencode { ImportFormat::Yoi } else { format }
        );
    }
    for ours in [
        "",
        "{",
        "[]",
        "null",
        "nonsense",
        r#"{"seq":1,"at":"2026-11-21T10:00:00Z","event":{"kind":"status","state":"idle"}}"#,
        r#"{"seq":1,"type":"user","message":{},"at":"2026-11-21T10:00:00Z","event":{"kind":"status","state":"idle"}}"#,
        r#"{"type":"user","message":"text"}"#,
        r#"{"type":"session_meta"}"#,
        r#"{"info":{}}"#,
    ] {
        assert_eq!(format_of(ours), ImportFormat::Yoi, "{ours}");
    }
}

#[test]
fn the_beginning_of_a_file_says_what_it_is_about_and_names_a_pod() {
    let glance = |text: &str| super::glance(text).unwrap();
    let claude = glance(&CLAUDE[..2_500]);
    assert_eq!((claude.format, claude.folder.as_deref()), (ImportFormat::Claude, Some("/home/ana/shop")));
    assert_eq!(
        (claude.words.as_str(), claude.name().as_str()),
        ("Why does the checkout test fail?", "why-does-the-checkout-test-fail")
    );
    assert_eq!(glance(CODEX).words, "Run the tests.");
    assert_eq!(glance(OPENCODE).name(), "why-is-the-list-slow-called-the-read-too");
    let named = |words: &str| Glance { format: ImportFormat::Codex, folder: None, words: words.to_owned() }.name();
    assert_eq!((named("  …Ähm, A/B!  "), named("…"), named("")), ("hm-a-b".to_owned(), String::new(), String::new()));
    assert!(protocol::PodName::parse(&named(&"long words ".repeat(20))).is_ok());
    assert_eq!(super::glance(&CLAUDE[..300]), None, "nobody has said anything yet");
    assert_eq!(super::glance("{}"), None);
}

/// Every value of a document replaced by values of other types, one after the other.
fn changed(value: &Value) -> Vec<Value> {
    let others = [Value::Null, json!(u64::MAX), json!("\u{0}x"), json!([]), json!({}), json!([[{}]])];
    let mut all = others.to_vec();
    match value {
        Value::Object(fields) => {
            for (name, field) in fields {
                let mut without = fields.clone();
                without.shift_remove(name);
                all.push(Value::Object(without));
                all.extend(changed(field).into_iter().map(|field| {
                    let mut with = fields.clone();
                    with.insert(name.clone(), field);
                    Value::Object(with)
                }));
            }
        }
        Value::Array(items) => {
            for (at, item) in items.iter().enumerate() {
                all.extend(changed(item).into_iter().map(|item| {
                    let mut with = items.clone();
                    with[at] = item;
                    Value::Array(with)
                }));
            }
        }
        _ => (),
    }
    all
}

#[test]
fn whatever_a_file_holds_the_history_is_valid() {
    for (text, format) in [(CLAUDE, ImportFormat::Claude), (CODEX, ImportFormat::Codex)] {
        let whole: Vec<&str> = text.lines().collect();
        for (at, line) in whole.iter().enumerate() {
            let Ok(line) = serde_json::from_str::<Value>(line) else { continue };
            for other in changed(&line) {
                let mut lines: Vec<String> = whole.iter().map(|line| (*line).to_owned()).collect();
                lines[at] = other.to_string();
                assert_valid(&told(&lines.join("\n"), format), &lines[at]);
            }
            // Missing, twice, and everything after it in the opposite order.
            let without = [&whole[..at], &whole[at + 1..]].concat();
            let twice = [&whole[..=at], &whole[at..]].concat();
            let mut turned = whole.clone();
            turned[at..].reverse();
            for lines in [without, twice, turned] {
                assert_valid(&told(&lines.join("\n"), format), &format!("line {at}"));
            }
        }
    }
    let whole: Value = serde_json::from_str(OPENCODE).unwrap();
    for other in changed(&whole) {
        assert_valid(&told(&other.to_string(), ImportFormat::Opencode), "changed");
    }
    for (text, _) in SAMPLES {
        for format in ImportFormat::ALL {
            for end in (0..text.len()).step_by(37).filter(|end| text.is_char_boundary(*end)) {
                assert_valid(&told(&text[..end], format), &text[end.saturating_sub(80)..end]);
                let _ = super::glance(&text[..end]);
            }
        }
    }
}

#[test]
fn a_large_file_is_read_and_what_is_too_long_is_shortened() {
    let line = |number: usize, message: &Value| json!({ "type": message["role"], "uuid": number.to_string(), "message": message });
    let mut lines = vec![line(0, &json!({ "role": "user", "content": "x".repeat(3 << 20) })).to_string()];
    for number in 1..20_000 {
        let id = format!("t{number}");
        let call =
            json!({ "role": "assistant", "content": [{ "type": "tool_use", "id": id, "name": "Read", "input": {} }] });
        let result = json!({ "role": "user", "content": [{ "type": "tool_result", "tool_use_id": id, "content": "line\n".repeat(100) }] });
        lines.push(line(number * 2, &call).to_string());
        lines.push(line(number * 2 + 1, &result).to_string());
    }
    lines.push(
        line(
            1,
            &json!({ "role": "assistant", "content": [
        { "type": "tool_use", "id": "big", "name": "n".repeat(100), "input": { "text": "y".repeat(2 << 20) } }] }),
        )
        .to_string(),
    );
    let file = lines.join("\n");
    assert!(file.len() > 17 << 20);
    let told = told(&file, format_of(&file));
    assert_valid(&told, "large");
    assert!(
        note(&told).ends_with("2 long texts were shortened. 1 call has no result. The file has no times."),
        "{}",
        note(&told)
    );
    assert!(told.records.iter().all(|record| serde_json::to_string(record).unwrap().len() < 2 << 20));
    // Calls that never get results, in a number that no Pod has.
    let calls: Vec<_> = (0..5_000)
        .map(|number| line(number, &json!({ "role": "assistant", "content": [{ "type": "tool_use", "id": number.to_string(), "name": "x" }] })).to_string())
        .collect();
    assert_valid(&super::read(&calls.join("\n"), ImportFormat::Claude, Timestamp::UNIX_EPOCH), "calls");
}
