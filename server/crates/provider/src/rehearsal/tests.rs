use std::time::Duration;

use futures_util::StreamExt;
use proptest::prelude::*;
use protocol::{Role, ToolCall, Usage};
use serde_json::{Value, json};

use super::*;
use crate::{FinishReason, ModelEvent, ProviderErrorCode};

fn request(messages: Vec<Message>) -> ModelRequest {
    ModelRequest {
        purpose: Default::default(),
        model: NAME.to_owned(),
        thinking: None,
        messages,
        attached: Default::default(),
        tools: Vec::new(),
        context_limit: None,
        conversation: None,
    }
}

fn user(text: &str) -> Message {
    Message::new(Role::User, text)
}

fn assistant(text: &str, calls: &[(&str, &str)]) -> Message {
    let tool_calls = calls.iter().map(|(id, name)| ToolCall {
        call_id: (*id).to_owned(),
        name: (*name).to_owned(),
        arguments: json!({}),
    });
    Message { tool_calls: tool_calls.collect(), ..Message::new(Role::Assistant, text) }
}

fn result(call_id: &str, content: &str) -> Message {
    Message { call_id: Some(call_id.to_owned()), ..Message::new(Role::Tool, content) }
}

async fn answer(messages: Vec<Message>) -> Vec<Result<ModelEvent, ProviderError>> {
    Rehearsal.stream(request(messages)).collect().await
}

/// The text chunks of an answer.
async fn texts(messages: Vec<Message>) -> Vec<String> {
    let events = answer(messages).await;
    events
        .into_iter()
        .filter_map(|event| match event {
            Ok(ModelEvent::Text(text)) => Some(text),
            _ => None,
        })
        .collect()
}

async fn says(messages: Vec<Message>) -> String {
    texts(messages).await.concat()
}

#[tokio::test(start_paused = true)]
async fn lines_come_word_by_word_and_are_separated_by_a_newline() {
    let script = "say  hello  big world\r\n\n   \nstream 3 at 0\nthink one two\nthink three\nwait 2\nsay end";
    let began = tokio::time::Instant::now();
    let events: Vec<_> = answer(vec![user(script)]).await.into_iter().map(Result::unwrap).collect();
    let text = |text: &str| ModelEvent::Text(text.to_owned());
    let thought = |text: &str| ModelEvent::Reasoning(text.to_owned());
    let input = script.len().div_ceil(4) as u64;
    let usage = Usage { input, output: 10, context_used: input + 10, ..Usage::default() };
    assert_eq!(
        events,
        [
            text("hello"),
            text("  big"),
            text(" world"),
            text("\nw1"),
            text(" w2"),
            text(" w3"),
            thought("one"),
            thought(" two"),
            thought("\nthree"),
            text("\nend"),
            ModelEvent::Usage(usage),
            ModelEvent::Finished { reason: FinishReason::Stop },
        ]
    );
    assert_eq!(began.elapsed(), Duration::from_secs(2));
}

#[tokio::test(start_paused = true)]
async fn a_paced_stream_gives_its_first_word_at_once_and_the_others_in_time() {
    let began = tokio::time::Instant::now();
    let mut stream = Rehearsal.stream(request(vec![user("stream 11 at 5")]));
    assert_eq!(stream.next().await, Some(Ok(ModelEvent::Text("w1".to_owned()))));
    assert_eq!(began.elapsed(), Duration::ZERO);
    let words = stream.filter(|event| std::future::ready(matches!(event, Ok(ModelEvent::Text(_))))).count().await;
    assert_eq!(words, 10);
    assert_eq!(began.elapsed().as_millis().div_ceil(10), 200);
}

#[tokio::test]
async fn calls_in_a_row_are_one_turn_and_their_results_are_told_before_the_script_goes_on() {
    let script = "say a\ncall Read {\"path\": \"x\"}\n\ncall ListPods {}\nsay b\ncall Bash {\"command\":\"ls\"}\nsay c";
    let mut messages = vec![Message::new(Role::System, "be good"), user(script)];
    let events: Vec<_> = answer(messages.clone()).await.into_iter().map(Result::unwrap).collect();
    let call = |index: usize, id: &str, name: &str, arguments: Value| {
        [
            ModelEvent::ToolArgs { index, name: name.to_owned(), text: arguments.to_string() },
            ModelEvent::ToolCall { index, call_id: id.to_owned(), name: name.to_owned(), arguments },
        ]
    };
    let mut expected = vec![ModelEvent::Text("a".to_owned())];
    expected.extend(call(0, "call_1", "Read", json!({"path": "x"})));
    expected.extend(call(1, "call_2", "ListPods", json!({})));
    assert_eq!(events[..5], expected);
    assert!(matches!(events[5], ModelEvent::Usage(_)));
    assert_eq!(events[6..], [ModelEvent::Finished { reason: FinishReason::ToolCalls }]);

    messages.push(assistant("a", &[("call_1", "Read"), ("call_2", "ListPods")]));
    messages.push(result("call_1", "3 lines\nx\ny\nz"));
    messages.push(result("call_2", "you, alone"));
    let events = answer(messages.clone()).await;
    assert_eq!(says(messages.clone()).await, "Read: 3 lines\nListPods: you, alone\nb");
    assert!(
        events.iter().any(|event| matches!(event, Ok(ModelEvent::ToolCall { call_id, .. }) if call_id == "call_3"))
    );

    messages.push(assistant("Read: 3 lines\nListPods: you, alone\nb", &[("call_3", "Bash")]));
    messages.push(result("call_3", ""));
    assert_eq!(says(messages).await, "Bash:\nc");
}

#[tokio::test]
async fn the_demo_goes_on_from_what_its_tools_answered_also_after_it_was_cut() {
    let begun = answer(vec![user("demo")]).await;
    let text = says(vec![user("demo")]).await;
    assert!(text.starts_with("Here is how an agent works."), "{text}");
    assert!(begun.iter().any(|event| matches!(event, Ok(ModelEvent::ToolCall { name, .. }) if name == "Glob")));
    let mut messages = vec![user("demo"), assistant(&text, &[("call_1", "Glob")]), result("call_1", "0 files match *")];
    let next = says(messages.clone()).await;
    assert!(next.starts_with("Nothing here is a text") && !next.contains("Glob:"), "{next}");
    // It was half said: the text is repeated, but the earlier call is not.
    messages.push(assistant("Nothing here", &[]));
    let events = answer(messages.clone()).await;
    assert_eq!(says(messages.clone()).await, next);
    let calls = events.iter().filter(|event| matches!(event, Ok(ModelEvent::ToolCall { .. })));
    assert_eq!(calls.count(), 1);
    messages.extend([assistant(&next, &[("call_2", "Write")]), result("call_2", "wrote rehearsal.md: 3 lines")]);
    let end = says(messages.clone()).await;
    assert!(end.starts_with("## `rehearsal.md` is made"), "{end}");
    messages.push(assistant(&end, &[]));
    assert_eq!(says(messages).await, "");
    // From a peer it is not a demo: it is greeted like anything unknown.
    assert!(says(vec![user("[peer message from bob]\ndemo")]).await.starts_with("Hello!"));
}

#[tokio::test]
async fn a_turn_that_was_cut_between_its_calls_goes_on_with_the_calls_that_are_left() {
    let messages = vec![
        user("call Read {}\ncall Grep {}\nsay end"),
        assistant("", &[("call_1", "Read")]),
        result("call_1", "unknown: the server stopped"),
    ];
    let events = answer(messages.clone()).await;
    assert_eq!(says(messages).await, "Read: unknown: the server stopped");
    let calls = events.iter().filter(|event| matches!(event, Ok(ModelEvent::ToolCall { name, .. }) if name == "Grep"));
    assert_eq!(calls.count(), 1);
}

#[tokio::test]
async fn a_call_that_was_made_is_never_made_again() {
    let messages =
        vec![user("say a\ncall Read {}\nsay b"), assistant("another text", &[("x", "Read")]), result("x", "done")];
    assert_eq!(says(messages).await, "Read: done\nb");
}

#[tokio::test]
async fn results_that_came_one_after_the_other_are_all_told() {
    let messages = vec![
        user("call Read {}\ncall Grep {}\nsay end"),
        assistant("", &[("call_1", "Read")]),
        result("call_1", "one"),
        assistant("", &[("call_2", "Grep")]),
        result("call_2", "two"),
    ];
    assert_eq!(says(messages).await, "Read: one\nGrep: two\nend");
}

#[tokio::test]
async fn a_peer_message_is_a_script_without_its_header_and_can_be_relayed() {
    let messages = vec![user("say old"), user("[peer message from ann]\nrelay bob")];
    let events = answer(messages).await;
    assert!(
        matches!(&events[1], Ok(ModelEvent::ToolCall { name, arguments, .. })
            if name == "SendToPeerPod" && *arguments == json!({"name": "bob", "message": "relay bob"})),
        "{events:?}"
    );
    let messages = vec![user("[peer message from ann]\nhi\n there "), assistant("ok", &[]), user("relay bob")];
    let events = answer(messages).await;
    assert!(
        matches!(&events[1], Ok(ModelEvent::ToolCall { arguments, .. }) if arguments["message"] == "hi\n there "),
        "{events:?}"
    );
}

#[tokio::test]
async fn news_of_a_child_and_a_summary_are_no_script() {
    let messages = vec![user("say a\nsay b"), assistant("a", &[]), user("[child event]\nkid turn ended")];
    assert_eq!(says(messages).await, "b");
    assert_eq!(says(vec![user("[summary of what came before]\nmuch")]).await, "");
}

#[tokio::test(start_paused = true)]
async fn a_failure_is_that_of_its_http_status() {
    for (status, code) in [
        (400, ProviderErrorCode::BadRequest),
        (401, ProviderErrorCode::Unauthorized),
        (404, ProviderErrorCode::ModelNotFound),
        (408, ProviderErrorCode::Timeout),
        (429, ProviderErrorCode::RateLimited),
        (500, ProviderErrorCode::Overloaded),
        (529, ProviderErrorCode::Overloaded),
    ] {
        let mut events = answer(vec![user(&format!("say a\nfail {status}\nsay b"))]).await;
        let error = events.pop().unwrap().unwrap_err();
        assert_eq!(error.code, code, "{status}");
        assert!(error.detail.contains(&status.to_string()));
        assert_eq!(events, [Ok(ModelEvent::Text("a".to_owned()))]);
    }
}

#[tokio::test]
async fn a_first_message_is_greeted_with_the_list_word_by_word() {
    let words = texts(vec![user("hello you\nare you there?")]).await;
    assert!(words.len() > 50);
    let text = words.concat();
    assert!(text.starts_with("Hello! You said: “hello you”\n\nI am the rehearsal model."), "{text}");
    for line in ["say TEXT", "think TEXT", "stream N at R", "call TOOL {json}", "relay NAME", "wait S", "fail CODE"] {
        assert!(text.contains(&format!("\n- `{line}`")), "{line}");
    }
    let resumed = says(vec![user("hello you"), assistant(&words[..20].concat(), &[])]).await;
    assert_eq!(resumed, text);
    assert_eq!(says(vec![user("hello you"), assistant(&text, &[])]).await, "");
}

#[tokio::test]
async fn without_a_message_it_says_nothing() {
    let events = answer(vec![Message::new(Role::System, "x")]).await;
    assert!(matches!(events.as_slice(), [Ok(ModelEvent::Usage(_)), Ok(ModelEvent::Finished { .. })]));
}

#[tokio::test(start_paused = true)]
async fn a_silent_line_is_done_when_a_later_one_is() {
    let messages = |said: &str, reasoning: Option<&str>| {
        let partial = Message { reasoning: reasoning.map(str::to_owned), ..assistant(said, &[]) };
        vec![user("say a\nwait 5\nthink hm\nsay b\nsay c"), partial]
    };
    let waited = async |messages| {
        let began = tokio::time::Instant::now();
        let text = says(messages).await;
        (text, began.elapsed().as_secs())
    };
    assert_eq!(waited(messages("a", None)).await, ("b\nc".to_owned(), 5));
    assert_eq!(waited(messages("a", Some("hm"))).await, ("b\nc".to_owned(), 0));
    assert_eq!(waited(messages("a\nb", None)).await, ("c".to_owned(), 0));
    assert_eq!(waited(messages("a\nb\nc", None)).await, (String::new(), 0));
}

/// A script line, and the words that it says.
fn script_line() -> impl Strategy<Value = (String, Vec<String>)> {
    let say = prop::collection::vec("[a-c]{1,2}", 1..4).prop_map(|words| (format!("say {}", words.join(" ")), words));
    let stream = (1_u64..5).prop_map(|count| {
        (format!("stream {count} at 0"), (1..=count).map(|number| format!("w{number}")).collect::<Vec<_>>())
    });
    prop_oneof![4 => say, 2 => stream, 1 => Just((String::new(), Vec::new()))]
}

fn block_on<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(future)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// However often an answer is interrupted, each new one begins with the first incomplete line, and the last one
    /// completes the script.
    #[test]
    fn an_interrupted_answer_goes_on_at_the_beginning_of_the_line_that_was_cut(
        lines in prop::collection::vec(script_line(), 0..7),
        cuts in prop::collection::vec(0_usize..12, 0..4),
    ) {
        let script: Vec<_> = lines.iter().map(|(line, _)| line.as_str()).collect();
        let mut messages = vec![user(&script.join("\n"))];
        let mut left: Vec<_> = lines.iter().map(|(_, words)| words).filter(|words| !words.is_empty()).collect();
        for cut in cuts {
            let words = block_on(texts(messages.clone()));
            let cut = cut.min(words.len());
            messages.push(assistant(&words[..cut].concat(), &[]));
            let mut told = cut;
            while let Some(words) = left.first().filter(|words| words.len() <= told) {
                told -= words.len();
                left.remove(0);
            }
        }
        let expected: Vec<_> = left.iter().map(|words| words.join(" ")).collect();
        prop_assert_eq!(block_on(says(messages)), expected.join("\n"));
    }
}

#[tokio::test]
async fn it_says_what_it_was_sent_beside_the_words() {
    let blob = protocol::BlobId::parse(&"0a".repeat(32)).unwrap();
    let attachment = |name: Option<&str>| protocol::Attachment {
        blob: blob.clone(),
        media_type: "image/png".to_owned(),
        bytes: 4,
        name: name.map(str::to_owned),
    };
    let asked = Message { attachments: vec![attachment(Some("cat.png"))], ..user("say a\n[image cat.png]") };
    let read = Message { attachments: vec![attachment(None)], ..result("x", "read b.png") };
    let says = async |messages: Vec<Message>, held: Option<crate::Held>| {
        let attached = held.map(|held| (blob.clone(), held)).into_iter().collect();
        let pieces = Rehearsal.stream(ModelRequest { attached, ..request(messages) }).collect::<Vec<_>>().await;
        let text = |item: &Result<ModelEvent, _>| match item {
            Ok(ModelEvent::Text(text)) => text.clone(),
            _ => String::new(),
        };
        pieces.iter().map(text).collect::<String>()
    };
    let png = || Some(crate::Held::Picture("png!".as_bytes().into()));
    assert_eq!(says(vec![asked.clone()], png()).await, "I was sent image cat.png (image/png, 4 bytes).\na");
    assert_eq!(says(vec![asked.clone()], None).await, "I was sent image cat.png, which is not kept here.\na");
    let begun = "I was sent image cat.png (image/png, 4 bytes).\na";
    let called = assistant(begun, &[("x", "Read")]);
    let expected = "Read: read b.png\nI was sent the image (image/png, 4 bytes).";
    assert_eq!(says(vec![asked, called, read], png()).await, expected);
}
