//! Pictures and files attached to messages: which of them a model accepts, and what it is told about the others.

use std::{borrow::Cow, collections::HashMap, fmt, sync::Arc};

use bytes::Bytes;
use protocol::{Attachment, BlobId, Message};

use crate::ProviderKind;

/// The limit for all pictures and documents of one request, in bytes. As base64 they are a third longer, and vendors
/// accept 20 MB.
pub const ATTACHED_BYTES_MAX: usize = 14 * 1024 * 1024;

/// How much of a text file is sent, in bytes.
const TEXT_BYTES_MAX: usize = 256 * 1024;

/// Anthropic accepts 5 MiB of base64 for a picture, which encodes three quarters of that.
const ANTHROPIC_PICTURE_BYTES_MAX: u64 = 5 * 1024 * 1024 / 4 * 3;

const PDF: &str = "application/pdf";

/// What a provider's model accepts besides text.
#[derive(Debug, Clone, Copy)]
pub struct Takes {
    pub(crate) kind: ProviderKind,
    /// `None`: unknown, so it is tried.
    pub(crate) pictures: Option<bool>,
}

/// How a picture or file is sent in a request.
#[derive(Clone, PartialEq, Eq)]
pub enum Held {
    Picture(Bytes),
    /// A PDF.
    Document(Bytes),
    /// The beginning of the file, and the size of the whole in bytes.
    Text(String, usize),
    /// Not sent; the reason completes "… was not sent: ".
    Not(String),
}

impl fmt::Debug for Held {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Picture(bytes) => write!(formatter, "Picture({} bytes)", bytes.len()),
            Self::Document(bytes) => write!(formatter, "Document({} bytes)", bytes.len()),
            Self::Text(_, bytes) => write!(formatter, "Text({bytes} bytes)"),
            Self::Not(why) => write!(formatter, "Not({why:?})"),
        }
    }
}

impl Held {
    /// The bytes that it adds to a request.
    pub fn len(&self) -> usize {
        match self {
            Self::Picture(bytes) | Self::Document(bytes) => bytes.len(),
            Self::Text(text, _) => text.len(),
            Self::Not(_) => 0,
        }
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl Takes {
    /// Why an attachment of this type and size is not sent, whatever it contains; `None` if it is sent.
    pub fn refusal(self, media_type: &str, bytes: u64) -> Option<String> {
        match media_type {
            _ if media_type.starts_with("image/") => self.picture_refusal(media_type, bytes),
            PDF => match self.kind {
                ProviderKind::OpenAi | ProviderKind::Anthropic | ProviderKind::Gemini => too_large(bytes),
                _ => Some("this provider takes no PDF documents".to_owned()),
            },
            _ => None,
        }
    }

    fn picture_refusal(self, media_type: &str, bytes: u64) -> Option<String> {
        if self.pictures == Some(false) {
            return Some("the model cannot see pictures".to_owned());
        }
        if self.kind == ProviderKind::Gemini && media_type == "image/gif" {
            return Some("Gemini takes no GIF pictures; PNG, JPEG and WebP it takes".to_owned());
        }
        if self.kind == ProviderKind::Anthropic && bytes > ANTHROPIC_PICTURE_BYTES_MAX {
            let most = ANTHROPIC_PICTURE_BYTES_MAX;
            return Some(format!("it has {bytes} bytes, and Anthropic takes {most} of a picture; send a smaller one"));
        }
        too_large(bytes)
    }

    /// The form in which an attachment is sent.
    pub fn hold(self, media_type: &str, body: Bytes) -> Held {
        if let Some(why) = self.refusal(media_type, body.len() as u64) {
            return Held::Not(why);
        }
        match media_type {
            PDF => Held::Document(body),
            _ if media_type.starts_with("image/") => Held::Picture(body),
            _ => text(&body),
        }
    }
}

fn too_large(bytes: u64) -> Option<String> {
    let most = ATTACHED_BYTES_MAX;
    (bytes > most as u64).then(|| format!("it has {bytes} bytes, and a question has room for {most}"))
}

/// A file is text if it is valid UTF-8 without NUL, whatever its name.
fn text(body: &[u8]) -> Held {
    match str::from_utf8(body) {
        Ok(text) if !text.contains('\0') => {
            let beginning = &text[..text.floor_char_boundary(TEXT_BYTES_MAX)];
            Held::Text(beginning.to_owned(), body.len())
        }
        _ => Held::Not("it is neither text nor a picture".to_owned()),
    }
}

/// The attachments of one request. Cheap to clone; the bytes are freed with the last clone.
#[derive(Debug, Clone, Default)]
pub struct Attached(Arc<HashMap<BlobId, Held>>);

impl FromIterator<(BlobId, Held)> for Attached {
    fn from_iter<T: IntoIterator<Item = (BlobId, Held)>>(held: T) -> Self {
        Self(Arc::new(held.into_iter().collect()))
    }
}

impl Attached {
    /// Total size in bytes.
    pub(crate) fn bytes(&self) -> usize {
        self.0.values().map(Held::len).sum()
    }

    pub(crate) fn find(&self, blob: &BlobId) -> Option<&Held> {
        self.0.get(blob)
    }

    /// The message's text with the text files attached to it, and a note for each attachment that is not sent.
    pub(crate) fn words<'m>(&self, message: &'m Message) -> Cow<'m, str> {
        let notes = message.attachments.iter().filter_map(|attachment| self.note(attachment));
        notes.fold(Cow::Borrowed(message.content.as_str()), |words, note| format!("{words}\n\n{note}").into())
    }

    /// `None` for an attachment that is sent as it is.
    fn note(&self, attachment: &Attachment) -> Option<String> {
        let Attachment { media_type, bytes, .. } = attachment;
        let name = called(attachment);
        match self.find(&attachment.blob) {
            Some(Held::Picture(_) | Held::Document(_)) => None,
            Some(Held::Text(text, whole)) if text.len() < *whole => {
                Some(format!("[{name}: the first {} of {whole} bytes]\n{text}\n[{name} goes on]", text.len()))
            }
            Some(Held::Text(text, _)) => Some(format!("[{name}]\n{text}\n[end of {name}]")),
            Some(Held::Not(why)) => Some(format!("[{name} ({media_type}, {bytes} bytes) was not sent: {why}]")),
            None => Some(format!("[{name} ({media_type}, {bytes} bytes) was not sent: it is not kept here]")),
        }
    }
}

/// The words for an attachment, for people and models.
pub fn called(Attachment { media_type, name, .. }: &Attachment) -> String {
    let what = if media_type.starts_with("image/") { "image" } else { "file" };
    name.as_ref().map_or_else(|| format!("the {what}"), |name| format!("{what} {name}"))
}

#[cfg(test)]
#[path = "attached_tests.rs"]
mod tests;
