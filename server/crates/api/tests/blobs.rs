//! Pictures and files over a real listener: stored once, never executed, and sent with messages.

#![allow(clippy::unwrap_used)]

mod common;

use common::{Server, answer, code};
use provider::{ProviderConfig, ProviderKind, ProviderSource};
use reqwest::Method;
use serde_json::{Value, json};
use testkit::{
    scripted_model::{Answer, ScriptedModel},
    until_so,
};

const PATH: &str = "/api/v1/blobs";

/// One chunk of a PNG; its checksum is not checked.
fn chunk(name: &[u8], held: &[u8]) -> Vec<u8> {
    [&u32::try_from(held.len()).unwrap().to_be_bytes()[..], name, held, &[0; 4]].concat()
}

/// A picture with metadata.
fn png(beside: &[u8]) -> Vec<u8> {
    let head = chunk(b"IHDR", &[0, 0, 0, 1, 0, 0, 0, 1, 8, 2, 0, 0, 0]);
    [&b"\x89PNG\r\n\x1a\n"[..], &head, &chunk(b"tEXt", beside), &chunk(b"IDAT", b"dots"), &chunk(b"IEND", b"")].concat()
}

async fn keep(server: &Server, media_type: &str, body: impl Into<reqwest::Body>) -> (u16, Value) {
    answer(server.request(Method::POST, PATH).header("Content-Type", media_type).body(body)).await
}

/// A header of the answer, and the whole body.
async fn kept(server: &Server, blob: &Value) -> (reqwest::header::HeaderMap, Vec<u8>) {
    let response =
        server.request(Method::GET, &format!("{PATH}/{}", blob["blob"].as_str().unwrap())).send().await.unwrap();
    assert_eq!(response.status(), 200);
    (response.headers().clone(), response.bytes().await.unwrap().to_vec())
}

#[tokio::test]
async fn the_same_content_is_the_same_blob_without_what_tells_a_place() {
    let server = Server::start().await;
    let (status, first) = keep(&server, "image/png", png(b"48.8584 N")).await;
    assert_eq!((status, &first["media_type"]), (201, &json!("image/png")), "{first}");
    let (_, again) = keep(&server, "application/octet-stream", png(b"another place")).await;
    assert_eq!(again, first);
    let (headers, body) = kept(&server, &first).await;
    assert_eq!(
        (headers["content-type"].to_str().unwrap(), body.len() as u64),
        ("image/png", first["bytes"].as_u64().unwrap())
    );
    assert!(body.windows(4).any(|window| window == b"dots") && !body.windows(4).any(|window| window == b"48.8"));
    let (_, other) = keep(&server, "image/png", [png(b""), vec![1]].concat()).await;
    assert_eq!(other, first, "nothing stands behind the end of a picture");
    let (_, text) = keep(&server, "text/plain; charset=utf-8", "words").await;
    assert_eq!((&text["media_type"], &text["bytes"]), (&json!("text/plain"), &json!(5)));
    assert_eq!(text["blob"], "dba36bffa5cab0f922d087a3aeb179f9d4e745df40b323e1b1471402848c8a3e");
}

#[tokio::test]
async fn whatever_is_in_one_a_browser_runs_nothing_of_it() {
    let server = Server::start().await;
    let html = "<script>alert(document.cookie)</script>";
    let svg = "<svg xmlns=\"http://www.w3.org/2000/svg\" onload=\"alert(1)\"/>";
    for (media_type, body) in [
        ("text/html", html),
        ("image/svg+xml", svg),
        ("image/png", html),
        ("text/javascript", html),
        ("application/xhtml+xml", html),
        ("application/pdf", "%PDF-1.7"),
    ] {
        let (status, blob) = keep(&server, media_type, body).await;
        assert_eq!(status, 201, "{media_type}: {blob}");
        let (headers, bytes) = kept(&server, &blob).await;
        let header = |name: &str| headers[name].to_str().unwrap().to_owned();
        assert_eq!((header("content-type").as_str(), bytes.as_slice()), ("application/octet-stream", body.as_bytes()));
        assert_eq!(
            (header("x-content-type-options"), header("content-disposition")),
            ("nosniff".into(), "attachment".into())
        );
        let policy = header("content-security-policy");
        assert!(policy.contains("sandbox") && policy.contains("default-src 'none'"), "{policy}");
    }
    let (_, picture) = keep(&server, "text/html", png(html.as_bytes())).await;
    let (headers, bytes) = kept(&server, &picture).await;
    assert_eq!(
        (&headers["content-type"], &headers["content-disposition"]),
        (&"image/png".parse().unwrap(), &"inline".parse().unwrap())
    );
    assert!(!String::from_utf8_lossy(&bytes).contains("script"));
    assert!(headers["content-security-policy"].to_str().unwrap().contains("sandbox"));
}

#[tokio::test]
async fn what_is_none_is_refused_in_words() {
    let server = Server::start().await;
    let most = 20 * 1024 * 1024;
    assert_eq!(keep(&server, "application/octet-stream", vec![7; most]).await.0, 201, "so much is taken");
    assert_eq!(code(&keep(&server, "image/png", vec![7; most + 1]).await), (413, "payload_too_large"));
    assert_eq!(code(&keep(&server, "image/png", Vec::new()).await), (400, "invalid_input"));
    for media_type in ["png", "image/", "a/b/c", "multipart/form-data; boundary=x"] {
        assert_eq!(code(&keep(&server, media_type, "x").await), (400, "invalid_input"), "{media_type}");
    }
    let request = || server.request(Method::POST, PATH).body("x");
    assert_eq!(code(&answer(request()).await), (400, "invalid_input"), "without a type");
    let encoded = request().header("Content-Type", "text/plain").header("Content-Encoding", "gzip");
    assert_eq!(code(&answer(encoded).await), (400, "invalid_input"));
    for blob in ["0".repeat(64), "nothing".to_owned(), "A".repeat(64), "..%2f..%2fetc".to_owned()] {
        assert_eq!(code(&server.get(&format!("{PATH}/{blob}")).await), (404, "not_found"), "{blob}");
    }
    let bare = || server.bare(Method::POST, PATH).header("Content-Type", "image/png").body(png(b""));
    assert_eq!(code(&answer(bare()).await), (401, "unauthorized"));
    let abroad = bare().bearer_auth(common::TOKEN).header("Origin", "http://evil.example");
    assert_eq!(code(&answer(abroad).await), (403, "forbidden_origin"));
    assert_eq!(
        code(&answer(server.bare(Method::GET, &format!("{PATH}/{}", "0".repeat(64)))).await),
        (401, "unauthorized")
    );
    // Elsewhere a body is JSON of at most 4 MiB, as before.
    let pods = server.request(Method::POST, "/api/v1/pods").header("Content-Type", "image/png").body("x");
    assert_eq!(code(&answer(pods).await), (400, "invalid_input"));
}

#[tokio::test]
async fn a_message_names_what_is_kept_and_the_model_is_sent_it() {
    let server = Server::start().await;
    let pod = server.pod("ada").await;
    let (_, picture) = keep(&server, "image/png", png(b"")).await;
    let (_, text) = keep(&server, "text/plain", "words").await;
    let segments = json!([
        { "type": "text", "text": "say hello" },
        { "type": "image", "blob": picture["blob"] },
        { "type": "file", "blob": text["blob"], "name": "a.txt" },
    ]);
    let (status, receipt) = server.post(&format!("{pod}/input"), json!({ "segments": segments })).await;
    assert_eq!(status, 202, "{receipt}");
    let said = async || server.records(&pod, "message_finished").await;
    until_so("it answers".to_owned(), async || said().await.len() == 1).await;
    let size = picture["bytes"].as_u64().unwrap();
    let expected = format!("I was sent the image (image/png, {size} bytes), file a.txt (5 bytes of text).\nhello");
    assert_eq!(said().await[0]["text"], expected);
    let [message] = server.records(&pod, "user_message").await.try_into().unwrap();
    assert_eq!((&message["segments"], &message["blobs"]), (&segments, &json!([picture, text])));
    let (_, history) = server.get(&format!("{pod}/history")).await;
    let asked = &history["messages"][1];
    assert_eq!(asked["content"], "say hello\n[image]\n[file a.txt]");
    assert_eq!(asked["attachments"][0], picture);
    assert_eq!((&asked["attachments"][1]["name"], &asked["attachments"][1]["blob"]), (&json!("a.txt"), &text["blob"]));

    let nowhere = "0".repeat(64);
    for (segment, told) in [
        (json!({ "type": "image", "blob": nowhere }), "not here"),
        (json!({ "type": "file", "blob": nowhere, "name": "x" }), "not here"),
        (json!({ "type": "image", "blob": text["blob"] }), "no picture"),
        (json!({ "type": "file", "blob": text["blob"], "name": " " }), "name"),
        (json!({ "type": "file", "blob": text["blob"], "name": "a\nb" }), "name"),
        (json!({ "type": "file", "blob": text["blob"] }), "name"),
        (json!({ "type": "image", "blob": "short" }), "blob"),
    ] {
        let refused = server.post(&format!("{pod}/input"), json!({ "segments": [segment] })).await;
        assert_eq!(code(&refused), (400, "invalid_input"), "{segment}");
        assert!(refused.1["detail"].as_str().unwrap().contains(told), "{}", refused.1);
    }
}

#[tokio::test]
async fn a_picture_that_waits_in_the_queue_goes_with_its_message() {
    let server = Server::start().await;
    let pod = server.pod("ada").await;
    server.say_until(&pod, "wait 60", "running").await;
    let (_, picture) = keep(&server, "image/png", png(b"")).await;
    let body = json!({ "segments": [{ "type": "image", "blob": picture["blob"] }], "queue": true });
    assert_eq!(server.post(&format!("{pod}/input"), body).await.0, 202);
    assert_eq!(server.post(&format!("{pod}/cancel"), json!({})).await.0, 202);
    let said = async || server.records(&pod, "message_finished").await;
    until_so("it answers".to_owned(), async || {
        said().await.iter().any(|said| said["text"].to_string().contains("I was sent the image (image/png"))
    })
    .await;
}

#[tokio::test]
async fn a_blind_model_is_told_of_a_picture_and_so_are_people() {
    let model = ScriptedModel::start().await;
    model.otherwise(Answer::say("I cannot see it."));
    let server = Server::start_asking(vec![ProviderConfig {
        name: "mine".to_owned(),
        kind: ProviderKind::OpenAiCompatible,
        base_url: Some(model.base_url()),
        api_key: Some("a-key".into()),
        models: vec!["deepseek-chat".to_owned()],
        source: ProviderSource::Configuration,
    }])
    .await;
    let pod = server.pod("ada").await;
    let (_, picture) = keep(&server, "image/png", png(b"")).await;
    let body = json!({ "segments": [{ "type": "image", "blob": picture["blob"], "name": "cat.png" }] });
    assert_eq!(server.post(&format!("{pod}/input"), body).await.0, 202);
    until_so("it answers".to_owned(), async || server.records(&pod, "message_finished").await.len() == 1).await;
    let alerts = server.records(&pod, "alert").await;
    let [alert] = alerts.iter().filter(|alert| alert["source"] == "attachment").collect::<Vec<_>>().try_into().unwrap();
    assert_eq!(
        alert["text"],
        "image cat.png was not sent to the model, which was told so: the model cannot see pictures"
    );
    let question = model.requests()[0].body.to_string();
    assert!(
        question.contains("[image cat.png (image/png, ")
            && question.contains("was not sent: the model cannot see pictures]")
    );
    assert!(!question.contains("image_url"), "{question}");
}

#[tokio::test]
async fn read_shows_a_picture_to_the_model_and_keeps_it() {
    let server = Server::start_with(tools::Toolbox::new(tools::files::tools())).await;
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("b.png"), png(b"48.8584 N")).unwrap();
    std::fs::write(folder.path().join("torn.png"), b"\x89PNG\r\n\x1a\n torn").unwrap();
    let cwd = folder.path().to_str().unwrap();
    let (status, summary) = server.post("/api/v1/pods", json!({ "name": "ada", "cwd": cwd })).await;
    assert_eq!(status, 201, "{summary}");
    let pod = common::pod_path(&summary["pod"]);
    server.say(&pod, "call Read {\"path\":\"b.png\"}").await;
    let [result] = server.records(&pod, "tool_finished").await.try_into().unwrap();
    assert_eq!(
        (&result["is_error"], &result["blobs"][0]["media_type"]),
        (&json!(false), &json!("image/png")),
        "{result}"
    );
    let (headers, bytes) = kept(&server, &result["blobs"][0]).await;
    assert_eq!(headers["content-type"], "image/png");
    assert!(!bytes.windows(4).any(|window| window == b"48.8"));
    let said = server.records(&pod, "message_finished").await;
    assert!(
        said.iter().any(|said| said["text"].as_str().unwrap().contains("I was sent the image (image/png, ")),
        "{said:?}"
    );
    server.say(&pod, "call Read {\"path\":\"torn.png\"}").await;
    let torn = server.records(&pod, "tool_finished").await.pop().unwrap();
    assert!(torn["is_error"] == true && torn["summary"].as_str().unwrap().contains("not a valid one"), "{torn}");
}
