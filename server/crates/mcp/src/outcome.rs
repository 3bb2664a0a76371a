//! Turns the result of a server's tool into the outcome that every tool has.

use base64::{Engine, engine::general_purpose::STANDARD};
use pod::{Picture, PictureKind, ToolOutcome};
use rmcp::model::{CallToolResult, ContentBlock, Resource, ResourceContents};
use serde_json::Value;

use crate::{
    bounds::{CONTENT_CHARS_MAX, PICTURE_BYTES_MAX},
    text::{Secrets, line},
};

/// The length of the sentence that summarises a call.
const SUMMARY_CHARS_MAX: usize = 160;
/// How much of the end of a text that is too long is kept.
const TAIL_CHARS: usize = 5_000;

/// Turns a result into an outcome.
pub(crate) fn outcome(result: CallToolResult, secrets: &Secrets) -> ToolOutcome {
    let is_error = result.is_error == Some(true);
    let mut gathered = Gathered::default();
    for block in result.content {
        gathered.take(block);
    }
    if let Some(structured) = result.structured_content {
        gathered.take_structured(&structured);
    }
    let Gathered { texts, picture } = gathered;
    let whole = secrets.hide(texts.join("\n").replace('\0', "\u{fffd}"));
    let summary = match (
        line(whole.lines().find(|line| !line.trim().is_empty()).unwrap_or_default(), SUMMARY_CHARS_MAX),
        &picture,
    ) {
        (summary, _) if !summary.is_empty() => summary,
        (_, Some(picture)) => format!("a {} picture of {} bytes", picture.kind.name(), picture.bytes.len()),
        (_, None) if is_error => "it failed, and did not say why".to_owned(),
        (_, None) => "done; it gave nothing".to_owned(),
    };
    let outcome = if is_error { ToolOutcome::failed("tool_failed", summary) } else { ToolOutcome::done(summary) };
    let content = (!whole.trim().is_empty()).then(|| cut(whole));
    ToolOutcome { content, picture, ..outcome }
}

#[derive(Default)]
struct Gathered {
    texts: Vec<String>,
    /// The first valid picture.
    picture: Option<Picture>,
}

impl Gathered {
    fn take(&mut self, block: ContentBlock) {
        match block {
            ContentBlock::Text(text) => self.texts.push(text.text),
            ContentBlock::Image(image) => self.take_bytes("a picture", &image.mime_type, &image.data),
            ContentBlock::Audio(audio) => self.leave_out("a sound", &audio.mime_type, &audio.data),
            ContentBlock::ResourceLink(link) => self.texts.push(linked(&link)),
            ContentBlock::Resource(embedded) => match embedded.resource {
                ResourceContents::TextResourceContents { uri, text, .. } => {
                    self.texts.push(format!("[{}]\n{text}", line(&uri, SUMMARY_CHARS_MAX)));
                }
                ResourceContents::BlobResourceContents { uri, mime_type, blob, .. } => {
                    let what = format!("the file {}", line(&uri, SUMMARY_CHARS_MAX));
                    self.take_bytes(&what, mime_type.as_deref().unwrap_or("unknown"), &blob);
                }
                _ => self.texts.push("[something that yoi does not know]".to_owned()),
            },
            _ => self.texts.push("[something that yoi does not know]".to_owned()),
        }
    }

    /// Takes a picture, whose type is decided by its bytes.
    fn take_bytes(&mut self, what: &str, media_type: &str, data: &str) {
        let bytes = (data.len() <= PICTURE_BYTES_MAX).then(|| STANDARD.decode(data).ok()).flatten();
        let picture = bytes.and_then(|bytes| {
            let kind = PictureKind::of(&bytes)?;
            kind.bare(&bytes).map(|bytes| Picture { kind, bytes })
        });
        match picture {
            Some(picture) if self.picture.is_none() => self.picture = Some(picture),
            Some(_) => self.leave_out("another picture", media_type, data),
            None => self.leave_out(what, media_type, data),
        }
    }

    fn leave_out(&mut self, what: &str, media_type: &str, data: &str) {
        let media_type = line(media_type, 80);
        self.texts.push(format!("[{what} ({media_type}, about {} bytes) is left out]", data.len() / 4 * 3));
    }

    /// Takes a structured result. Most servers send the same content as text, too.
    fn take_structured(&mut self, structured: &Value) {
        let is_said =
            self.texts.iter().any(|text| serde_json::from_str::<Value>(text).is_ok_and(|said| said == *structured));
        if !is_said {
            self.texts.push(serde_json::to_string_pretty(structured).unwrap_or_default());
        }
    }
}

fn linked(Resource { uri, name, description, .. }: &Resource) -> String {
    let about = description.as_deref().map(|about| format!(": {}", line(about, SUMMARY_CHARS_MAX))).unwrap_or_default();
    format!("[resource {} at {}{about}]", line(name, SUMMARY_CHARS_MAX), line(uri, 500))
}

/// Keeps the beginning and the end of a text that is too long.
fn cut(text: String) -> String {
    let count = text.chars().count();
    if count <= CONTENT_CHARS_MAX {
        return text;
    }
    let head = text.char_indices().nth(CONTENT_CHARS_MAX - TAIL_CHARS).map_or(text.len(), |(at, _)| at);
    let tail = text.char_indices().nth(count - TAIL_CHARS).map_or(text.len(), |(at, _)| at);
    let left = count - CONTENT_CHARS_MAX;
    format!("{}\n[{left} characters are left out here]\n{}", &text[..head], &text[tail..])
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn of(value: Value) -> ToolOutcome {
        outcome(serde_json::from_value(value).unwrap(), &Secrets::new(vec!["hunter22".into()]))
    }

    #[test]
    fn a_result_is_told_in_one_line_and_given_whole() {
        let done = of(json!({ "content": [{ "type": "text", "text": "\none\u{1b}[31m line\ntwo hunter22" }] }));
        assert_eq!((done.summary.as_str(), done.is_error), ("one line", false));
        assert_eq!(done.content.unwrap(), "\none\u{1b}[31m line\ntwo [hidden]");
        let failed = of(json!({ "content": [{ "type": "text", "text": "no such file" }], "isError": true }));
        assert_eq!((failed.summary.as_str(), failed.code.as_deref()), ("no such file", Some("tool_failed")));
        assert_eq!(of(json!({ "content": [] })).summary, "done; it gave nothing");
        assert_eq!(of(json!({ "content": [], "isError": true })).summary, "it failed, and did not say why");
    }

    #[test]
    fn a_picture_is_what_its_bytes_say_and_the_rest_is_named() {
        let gif = STANDARD.encode(b"GIF89a\x01\0\x01\0\0\0\0\x3b");
        let image = |data: &str| json!({ "type": "image", "mimeType": "image/png", "data": data });
        let shown = of(json!({ "content": [image(&gif), image(&gif), image("bm8gcGljdHVyZQ=="), image("%")] }));
        assert_eq!(shown.picture.unwrap().kind, PictureKind::Gif);
        let told = shown.content.unwrap();
        assert!(told.contains("another picture") && told.matches("is left out").count() == 3, "{told}");
        let sound = of(json!({ "content": [{ "type": "audio", "mimeType": "audio/wav", "data": "AAAA" }] }));
        assert!(sound.content.unwrap().contains("a sound (audio/wav"));
    }

    #[test]
    fn resources_are_told_and_what_is_structured_is_given_once() {
        let link = json!({ "type": "resource_link", "uri": "test://a", "name": "a", "description": "what it is" });
        let text = json!({ "type": "resource", "resource": { "uri": "test://b", "text": "inside" } });
        let told = of(json!({ "content": [link, text] })).content.unwrap();
        assert_eq!(told, "[resource a at test://a: what it is]\n[test://b]\ninside");
        let said = json!({ "content": [{ "type": "text", "text": "{\"a\": 1}" }], "structuredContent": { "a": 1 } });
        assert_eq!(of(said).content.unwrap(), "{\"a\": 1}");
        assert!(of(json!({ "content": [], "structuredContent": { "a": 1 } })).content.unwrap().contains("\"a\": 1"));
    }

    #[test]
    fn what_is_too_long_keeps_its_beginning_and_its_end() {
        let text = format!("begin{}end", "ä".repeat(100_000));
        let kept = of(json!({ "content": [{ "type": "text", "text": text }] })).content.unwrap();
        assert!(
            kept.starts_with("begin") && kept.ends_with("end") && kept.contains("70008 characters"),
            "{}",
            kept.len()
        );
        assert!(kept.chars().count() < 30_100);
    }
}
