use protocol::Role;

use super::*;

fn takes(kind: ProviderKind) -> Takes {
    Takes { kind, pictures: None }
}

fn message(media_type: &str, name: Option<&str>) -> Message {
    let blob = BlobId::parse(&"0a".repeat(32)).unwrap();
    let name = name.map(str::to_owned);
    let attachments = vec![Attachment { blob, media_type: media_type.to_owned(), bytes: 7, name }];
    Message { attachments, ..Message::new(Role::User, "see") }
}

fn words(held: Option<Held>, message: &Message) -> String {
    let attached: Attached = held.map(|held| (message.attachments[0].blob.clone(), held)).into_iter().collect();
    attached.words(message).into_owned()
}

#[test]
fn a_picture_is_sent_to_a_model_that_is_not_known_to_be_blind() {
    let png = || Bytes::from_static(b"png");
    for kind in [ProviderKind::OpenAi, ProviderKind::Anthropic, ProviderKind::Gemini, ProviderKind::Ollama] {
        assert_eq!(takes(kind).hold("image/png", png()), Held::Picture(png()), "{kind}");
        let blind = Takes { pictures: Some(false), ..takes(kind) };
        assert_eq!(blind.hold("image/png", png()), Held::Not("the model cannot see pictures".to_owned()));
    }
    assert!(matches!(takes(ProviderKind::Gemini).hold("image/gif", png()), Held::Not(_)));
    let large = ANTHROPIC_PICTURE_BYTES_MAX + 1;
    assert!(takes(ProviderKind::Anthropic).refusal("image/png", large).unwrap().contains("send a smaller one"));
    assert_eq!(takes(ProviderKind::OpenAi).refusal("image/png", large), None);
    assert!(takes(ProviderKind::OpenAi).refusal("image/png", ATTACHED_BYTES_MAX as u64 + 1).is_some());
}

#[test]
fn a_document_goes_where_it_is_taken_and_a_file_as_its_text() {
    let pdf = || Bytes::from_static(b"%PDF-1.7");
    assert_eq!(takes(ProviderKind::Anthropic).hold(PDF, pdf()), Held::Document(pdf()));
    assert!(matches!(takes(ProviderKind::OpenAiCompatible).hold(PDF, pdf()), Held::Not(_)));
    let hold =
        |bytes: &'static [u8]| takes(ProviderKind::Ollama).hold("application/x-thing", Bytes::from_static(bytes));
    assert_eq!(hold("größer".as_bytes()), Held::Text("größer".to_owned(), 8));
    assert!(matches!(hold(b"a\0b"), Held::Not(_)) && matches!(hold(b"\xff"), Held::Not(_)));
    let long = Bytes::from("é".repeat(TEXT_BYTES_MAX));
    let Held::Text(text, whole) = takes(ProviderKind::Ollama).hold("text/plain", long.clone()) else { panic!() };
    assert_eq!((text.len(), whole), (TEXT_BYTES_MAX, long.len()));
}

#[test]
fn a_model_is_told_what_it_is_not_sent_and_why() {
    let picture = message("image/png", Some("cat.png"));
    assert_eq!(words(Some(Held::Picture(Bytes::new())), &picture), "see");
    let not = Held::Not("the model cannot see pictures".to_owned());
    assert_eq!(
        words(Some(not), &picture),
        "see\n\n[image cat.png (image/png, 7 bytes) was not sent: the model cannot see pictures]"
    );
    assert_eq!(
        words(None, &message("image/png", None)),
        "see\n\n[the image (image/png, 7 bytes) was not sent: it is not kept here]"
    );
    let file = message("text/plain", Some("a.txt"));
    assert_eq!(words(Some(Held::Text("one".into(), 3)), &file), "see\n\n[file a.txt]\none\n[end of file a.txt]");
    let cut = words(Some(Held::Text("one".into(), 9)), &file);
    assert_eq!(cut, "see\n\n[file a.txt: the first 3 of 9 bytes]\none\n[file a.txt goes on]");
}
