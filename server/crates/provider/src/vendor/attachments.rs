//! Pictures and documents in each vendor's format.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use genai::chat::{Binary, ChatMessage, ChatRole, ContentPart, MessageContent, ToolResponse};
use protocol::{Attachment, Message};
use serde_json::{Value, json};

use crate::{
    ProviderKind,
    attached::{Attached, Held},
};

/// Precedes pictures that belong to tool results, for vendors whose results are text only.
const OF_RESULTS: &str = "[images of the results above]";

/// OpenAI refuses a document without a name.
const NAMELESS: &str = "document.pdf";

/// The result of a call, and the pictures in it.
pub(super) struct Shown {
    pub(super) response: ToolResponse,
    pub(super) parts: Vec<ContentPart>,
}

/// A message's attachments besides its text, in order.
pub(super) fn parts(message: &Message, attached: &Attached) -> Vec<ContentPart> {
    let part = |attachment: &Attachment| match attached.find(&attachment.blob)? {
        Held::Picture(bytes) => Some(binary(&attachment.media_type, bytes, None)),
        Held::Document(bytes) => {
            let name = attachment.name.clone().unwrap_or_else(|| NAMELESS.to_owned());
            Some(binary(&attachment.media_type, bytes, Some(name)))
        }
        Held::Text(..) | Held::Not(_) => None,
    };
    message.attachments.iter().filter_map(part).collect()
}

/// Like [`parts`], in the format of OpenAI's Responses API.
pub(super) fn items(message: &Message, attached: &Attached) -> Vec<Value> {
    let data = |attachment: &Attachment, bytes: &[u8]| {
        format!("data:{};base64,{}", attachment.media_type, STANDARD.encode(bytes))
    };
    let item = |attachment: &Attachment| match attached.find(&attachment.blob)? {
        Held::Picture(bytes) => {
            Some(json!({ "type": "input_image", "detail": "auto", "image_url": data(attachment, bytes) }))
        }
        Held::Document(bytes) => {
            let name = attachment.name.as_deref().unwrap_or(NAMELESS);
            Some(json!({ "type": "input_file", "filename": name, "file_data": data(attachment, bytes) }))
        }
        Held::Text(..) | Held::Not(_) => None,
    };
    message.attachments.iter().filter_map(item).collect()
}

fn binary(media_type: &str, bytes: &[u8], name: Option<String>) -> ContentPart {
    ContentPart::Binary(Binary::from_base64(media_type, STANDARD.encode(bytes), name))
}

/// The results of one turn. Anthropic and Gemini want them in one message, the others one message each. Anthropic has
/// pictures inside a result and Gemini beside it; for the others, whose results are text, they follow as if a user
/// had sent them.
pub(super) fn results(kind: ProviderKind, results: Vec<Shown>) -> Vec<ChatMessage> {
    match kind {
        ProviderKind::Anthropic => {
            let parts: Vec<ContentPart> = results.into_iter().map(within).collect();
            vec![ChatMessage::new(ChatRole::Tool, MessageContent::from_parts(parts))]
        }
        ProviderKind::Gemini => {
            let (responses, shown) = apart(results);
            let responses = responses.into_iter().map(ContentPart::ToolResponse).collect::<Vec<_>>();
            match shown.is_empty() {
                true => vec![ChatMessage::new(ChatRole::Tool, MessageContent::from_parts(responses))],
                false => {
                    let parts: Vec<ContentPart> = responses.into_iter().chain(introduced(shown)).collect();
                    vec![ChatMessage::user(MessageContent::from_parts(parts))]
                }
            }
        }
        _ => {
            let (responses, shown) = apart(results);
            let shown = (!shown.is_empty())
                .then(|| ChatMessage::user(MessageContent::from_parts(introduced(shown).collect::<Vec<_>>())));
            responses.into_iter().map(ChatMessage::from).chain(shown).collect()
        }
    }
}

fn apart(results: Vec<Shown>) -> (Vec<ToolResponse>, Vec<ContentPart>) {
    let (responses, shown): (Vec<_>, Vec<_>) =
        results.into_iter().map(|Shown { response, parts }| (response, parts)).unzip();
    (responses, shown.into_iter().flatten().collect())
}

fn introduced(shown: Vec<ContentPart>) -> impl Iterator<Item = ContentPart> {
    std::iter::once(ContentPart::Text(OF_RESULTS.to_owned())).chain(shown)
}

/// The library supports only text results; this is Anthropic's own format with pictures.
fn within(Shown { response, parts }: Shown) -> ContentPart {
    if parts.is_empty() {
        return ContentPart::ToolResponse(response);
    }
    let picture = |part: ContentPart| match part {
        ContentPart::Binary(Binary { content_type, source: genai::chat::BinarySource::Base64(data), .. }) => {
            let source = json!({ "type": "base64", "media_type": content_type, "data": &*data });
            Some(json!({ "type": "image", "source": source }))
        }
        _ => None,
    };
    let text = (!response.content.trim().is_empty()).then(|| json!({ "type": "text", "text": response.content }));
    let content: Vec<_> = text.into_iter().chain(parts.into_iter().filter_map(picture)).collect();
    let result = json!({ "type": "tool_result", "tool_use_id": response.call_id, "content": content });
    ContentPart::from_custom(result, None)
}
