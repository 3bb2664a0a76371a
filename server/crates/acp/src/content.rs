//! Content blocks as text.

use agent_client_protocol::v1::schema::{ContentBlock, EmbeddedResourceResource};

/// Returns what a person reads of the block.
pub(crate) fn text_of(block: ContentBlock) -> String {
    match block {
        ContentBlock::Text(text) => text.text,
        ContentBlock::Image(image) => format!("[a picture, {}, is left out]", image.mime_type),
        ContentBlock::Audio(audio) => format!("[a sound, {}, is left out]", audio.mime_type),
        ContentBlock::ResourceLink(link) => format!("[{}]({})", link.name, link.uri),
        ContentBlock::Resource(resource) => match resource.resource {
            EmbeddedResourceResource::TextResourceContents(text) => text.text,
            _ => "[a file that is not text is left out]".to_owned(),
        },
        _ => String::new(),
    }
}
