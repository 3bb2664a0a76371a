//! Converts a prompt in the editor to a message to a Pod: text, pictures, files, and other context that the editor
//! attaches.

use std::path::Path;

use agent_client_protocol::v1::schema::{ContentBlock, EmbeddedResourceResource, TextResourceContents};
use base64::{Engine as _, engine::general_purpose::STANDARD};
use client::Client;
use protocol::{BLOB_BYTES_MAX, Segment};

use super::Refused;

/// The maximum size in bytes of a text resource; a longer one is sent as a file.
const TEXT_BYTES_MAX: usize = 16 * 1024;
/// The maximum number of blocks in one message.
const BLOCKS_MAX: usize = 200;

/// The segments of a message. Pictures and files are uploaded to the server first.
pub(super) async fn segments(client: &Client, cwd: &Path, blocks: Vec<ContentBlock>) -> Result<Vec<Segment>, Refused> {
    if blocks.len() > BLOCKS_MAX {
        return Err(Refused::params(format!("a message has at most {BLOCKS_MAX} parts")));
    }
    let mut segments = Vec::new();
    for block in blocks {
        segments.push(match block {
            ContentBlock::Text(text) => Segment::Text { text: text.text },
            ContentBlock::ResourceLink(link) => linked(cwd, &link.uri, &link.name),
            ContentBlock::Image(image) => {
                let name = image.uri.as_deref().map_or("picture", last_part).to_owned();
                kept(client, &image.mime_type, &image.data, name).await?
            }
            ContentBlock::Resource(resource) => match resource.resource {
                EmbeddedResourceResource::TextResourceContents(text) => embedded(client, text).await?,
                EmbeddedResourceResource::BlobResourceContents(blob) => {
                    let kind = blob.mime_type.as_deref().unwrap_or("application/octet-stream");
                    kept(client, kind, &blob.blob, last_part(&blob.uri).to_owned()).await?
                }
                _ => return Err(Refused::params("a resource is a text or a blob")),
            },
            _ => return Err(Refused::params("a message is of text, pictures and resources; this is none of them")),
        });
    }
    Ok(segments)
}

/// A file in the Pod's folder becomes a file reference; anything else stays a link.
fn linked(cwd: &Path, uri: &str, name: &str) -> Segment {
    let path = file_path(uri).filter(|path| Path::new(path).starts_with(cwd));
    match path {
        Some(path) => {
            let path = Path::new(&path).strip_prefix(cwd).map_or(path.clone(), |path| path.display().to_string());
            Segment::FileRef { path }
        }
        None => Segment::Text { text: format!("[{name}]({uri})") },
    }
}

/// The path of a `file:` URI, percent-decoded.
fn file_path(uri: &str) -> Option<String> {
    let path = uri.strip_prefix("file://")?;
    let path = path.split(['#', '?']).next()?;
    let mut bytes = Vec::with_capacity(path.len());
    let mut rest = path.as_bytes();
    while let Some((byte, after)) = rest.split_first() {
        rest = after;
        bytes.push(match byte {
            b'%' => {
                let hex = std::str::from_utf8(rest.get(..2)?).ok()?;
                rest = &rest[2..];
                u8::from_str_radix(hex, 16).ok()?
            }
            byte => *byte,
        });
    }
    String::from_utf8(bytes).ok().filter(|path| path.starts_with('/'))
}

async fn embedded(client: &Client, resource: TextResourceContents) -> Result<Segment, Refused> {
    let TextResourceContents { text, uri, .. } = resource;
    if text.len() <= TEXT_BYTES_MAX {
        return Ok(Segment::Paste { text: format!("{uri}\n\n{text}") });
    }
    let view = client.keep_blob("text/plain", text.into()).await?;
    Ok(Segment::kept(&view, last_part(&uri).to_owned()))
}

async fn kept(client: &Client, kind: &str, data: &str, name: String) -> Result<Segment, Refused> {
    if data.len() > BLOB_BYTES_MAX / 3 * 4 + 4 {
        return Err(Refused::params(format!("a picture or a file has at most {BLOB_BYTES_MAX} bytes")));
    }
    let bytes = STANDARD.decode(data).map_err(|error| Refused::params(format!("it is not base64: {error}")))?;
    let view = client.keep_blob(kind, bytes.into()).await?;
    Ok(Segment::kept(&view, name))
}

/// A short name for a URI.
fn last_part(uri: &str) -> &str {
    let path = uri.split(['#', '?']).next().unwrap_or(uri);
    path.rsplit('/').find(|part| !part.is_empty()).unwrap_or("file")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_the_folder_are_named_and_others_are_addresses() {
        let linked = |uri: &str| linked(Path::new("/w"), uri, "it");
        assert_eq!(linked("file:///w/src/a%20b.rs#L3"), Segment::FileRef { path: "src/a b.rs".to_owned() });
        for other in ["file:///etc/passwd", "https://x.example/", "file:///w/%zz", "file://w/a", "zed:///x"] {
            assert!(matches!(linked(other), Segment::Text { .. }), "{other}");
        }
        assert_eq!((last_part("file:///a/b.rs?x"), last_part("///")), ("b.rs", "file"));
    }
}
