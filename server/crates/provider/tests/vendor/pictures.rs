//! Pictures and documents on each wire, against a scripted server.

use crate::common::{all, config, connect, request};
use protocol::{Attachment, BlobId, Message, Role, ToolCall};
use provider::{Attached, Held, ModelRequest, ProviderKind, TimeLimits};
use serde_json::{Value, json};
use testkit::scripted_model::{Answer, ScriptedModel};

/// `png!` in base64.
const DATA: &str = "cG5nIQ==";

fn blob(digit: &str) -> BlobId {
    BlobId::parse(&digit.repeat(64)).unwrap()
}

fn attachment(digit: &str, media_type: &str, name: Option<&str>) -> Attachment {
    let name = name.map(str::to_owned);
    Attachment { blob: blob(digit), media_type: media_type.to_owned(), bytes: 4, name }
}

/// A user message with a picture and a text file, then a tool result with a picture.
fn question() -> ModelRequest {
    let attachments = vec![attachment("a", "image/png", Some("cat.png")), attachment("b", "text/plain", Some("a.txt"))];
    let call = ToolCall { call_id: "call_1".to_owned(), name: "Read".to_owned(), arguments: json!({}) };
    let result = Message {
        call_id: Some("call_1".to_owned()),
        attachments: vec![attachment("c", "image/png", None)],
        ..Message::new(Role::Tool, "read b.png")
    };
    let messages = vec![
        Message::new(Role::System, "be good"),
        Message { attachments, ..Message::new(Role::User, "see\n[image cat.png]") },
        Message { tool_calls: vec![call], ..Message::new(Role::Assistant, "a cat") },
        result,
    ];
    let picture = || Held::Picture("png!".as_bytes().into());
    let held = [(blob("a"), picture()), (blob("b"), Held::Text("one".to_owned(), 3)), (blob("c"), picture())];
    ModelRequest { messages, attached: Attached::from_iter(held), ..request() }
}

/// The body of a request, which is sent twice.
async fn sent(kind: ProviderKind, question: ModelRequest) -> Value {
    let server = ScriptedModel::start().await;
    // The answers are in another vendor's format: only the requests matter here.
    server.otherwise(Answer::say("ok"));
    let mut config = config(kind, &server);
    if matches!(kind, ProviderKind::Gemini | ProviderKind::Ollama) {
        config.base_url = Some(server.anthropic_base_url());
    }
    for _ in 0..2 {
        all(connect(config.clone(), TimeLimits::default()).stream(question.clone())).await;
    }
    let requests = server.requests();
    // Because that is no valid answer, Ollama is also asked without streaming.
    let said = |body: &Value| ["messages", "contents", "input"].map(|key| body[key].clone());
    let is_same = requests.iter().all(|request| said(&request.body) == said(&requests[0].body));
    assert!(requests.len() >= 2 && is_same, "the same each time");
    requests[0].body.clone()
}

const WORDS: &str = "see\n[image cat.png]\n\n[file a.txt]\none\n[end of file a.txt]";

#[tokio::test]
async fn anthropic_gets_a_picture_as_a_block_and_within_a_result() {
    let body = sent(ProviderKind::Anthropic, question()).await;
    let image = json!({ "type": "image", "source": { "type": "base64", "media_type": "image/png", "data": DATA } });
    assert_eq!(body["messages"][0]["content"], json!([{ "type": "text", "text": WORDS }, image]));
    let result = json!({
        "type": "tool_result",
        "content": [{ "type": "text", "text": "read b.png" }, image],
        "tool_use_id": "call_1",
        "cache_control": { "type": "ephemeral" },
    });
    assert_eq!(body["messages"][2], json!({ "role": "user", "content": [result] }));
}

#[tokio::test]
async fn chat_completions_get_a_picture_as_an_address_and_that_of_a_result_behind_it() {
    let body = sent(ProviderKind::OpenAiCompatible, question()).await;
    let image = json!({ "type": "image_url", "image_url": { "url": format!("data:image/png;base64,{DATA}") } });
    assert_eq!(body["messages"][1]["content"], json!([{ "type": "text", "text": WORDS }, image]));
    assert_eq!(body["messages"][3], json!({ "role": "tool", "content": "read b.png", "tool_call_id": "call_1" }));
    let text = json!({ "type": "text", "text": "[images of the results above]" });
    assert_eq!(body["messages"][4], json!({ "role": "user", "content": [text, image] }));
}

#[tokio::test]
async fn open_ai_gets_a_picture_with_the_words_and_within_a_result() {
    let body = sent(ProviderKind::OpenAi, question()).await;
    let url = format!("data:image/png;base64,{DATA}");
    let image = json!({ "type": "input_image", "detail": "auto", "image_url": url });
    let with = |words: &str| json!([{ "type": "input_text", "text": words }, image]);
    assert_eq!(body["input"][1], json!({ "role": "user", "content": with(WORDS) }));
    let result = json!({ "type": "function_call_output", "call_id": "call_1", "output": with("read b.png") });
    assert_eq!(body["input"][4], result);
}

#[tokio::test]
async fn gemini_gets_a_picture_beside_the_text_and_beside_the_result() {
    let body = sent(ProviderKind::Gemini, question()).await;
    let image = json!({ "inline_data": { "mime_type": "image/png", "data": DATA } });
    assert_eq!(body["contents"][0]["parts"], json!([{ "text": WORDS }, image]));
    let parts = &body["contents"][2]["parts"];
    assert_eq!((&body["contents"][2]["role"], parts.as_array().unwrap().len()), (&json!("user"), 3));
    assert_eq!(parts[0]["functionResponse"]["name"], "Read");
    assert_eq!((&parts[1], &parts[2]), (&json!({ "text": "[images of the results above]" }), &image));
}

#[tokio::test]
async fn ollama_gets_pictures_in_a_list_of_their_own() {
    let body = sent(ProviderKind::Ollama, question()).await;
    assert_eq!(body["messages"][1], json!({ "role": "user", "content": WORDS, "images": [DATA] }));
    let behind = json!({ "role": "user", "content": "[images of the results above]", "images": [DATA] });
    assert_eq!((&body["messages"][3]["content"], &body["messages"][4]), (&json!("read b.png"), &behind));
}

#[tokio::test]
async fn a_document_goes_in_each_vendors_own_form() {
    let question = || {
        let attachments = vec![attachment("a", "application/pdf", Some("a.pdf"))];
        let messages = vec![Message { attachments, ..Message::new(Role::User, "sum it up") }];
        let held = [(blob("a"), Held::Document("png!".as_bytes().into()))];
        ModelRequest { messages, attached: Attached::from_iter(held), ..request() }
    };
    let body = sent(ProviderKind::Anthropic, question()).await;
    let source = json!({ "type": "base64", "media_type": "application/pdf", "data": DATA });
    let document = json!({ "type": "document", "source": source, "cache_control": { "type": "ephemeral" } });
    assert_eq!(body["messages"][0]["content"][1], document);
    let body = sent(ProviderKind::OpenAi, question()).await;
    let data = format!("data:application/pdf;base64,{DATA}");
    let file = json!({ "type": "input_file", "filename": "a.pdf", "file_data": data });
    assert_eq!(body["input"][0]["content"][1], file);
    let body = sent(ProviderKind::OpenAiCompatible, question()).await;
    let file = json!({ "type": "file", "file": { "filename": "a.pdf", "file_data": data } });
    assert_eq!(body["messages"][0]["content"][1], file);
    let body = sent(ProviderKind::Gemini, question()).await;
    let inline = json!({ "inline_data": { "mime_type": "application/pdf", "data": DATA } });
    assert_eq!(body["contents"][0]["parts"][1], inline);
}

#[tokio::test]
async fn a_model_that_is_not_sent_a_picture_is_told_so_in_words() {
    let mut question = question();
    let blind = || Held::Not("the model cannot see pictures".to_owned());
    question.attached = Attached::from_iter([(blob("a"), blind()), (blob("c"), blind())]);
    for kind in [ProviderKind::Anthropic, ProviderKind::OpenAi, ProviderKind::Gemini, ProviderKind::Ollama] {
        let text = sent(kind, question.clone()).await.to_string();
        assert!(!text.contains(DATA) && !text.contains("[images of"), "{kind}: {text}");
        assert!(text.contains("[image cat.png (image/png, 4 bytes) was not sent: the model cannot see pictures]"));
        assert!(text.contains("[the image (image/png, 4 bytes) was not sent: the model cannot see pictures]"));
        assert!(text.contains("[file a.txt (text/plain, 4 bytes) was not sent: it is not kept here]"));
    }
}
