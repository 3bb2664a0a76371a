//! Pictures: detecting their kind from the first bytes, and removing their metadata.
//!
//! Nothing is decoded: the blocks of a picture are copied or left out. What a picture needs to look as it does stays;
//! everything else is removed: locations, times, names, comments, embedded thumbnails, and trailing data.

mod gif;
mod jpeg;
mod png;
mod webp;

/// The kinds of pictures that browsers show and models see.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PictureKind {
    Png,
    Jpeg,
    Gif,
    Webp,
}

impl PictureKind {
    pub const ALL: [Self; 4] = [Self::Png, Self::Jpeg, Self::Gif, Self::Webp];

    /// Detects the kind by the first bytes, whatever the declared type.
    pub fn of(bytes: &[u8]) -> Option<Self> {
        match bytes {
            [0x89, b'P', b'N', b'G', b'\r', b'\n', 0x1a, b'\n', ..] => Some(Self::Png),
            [0xff, 0xd8, 0xff, ..] => Some(Self::Jpeg),
            [b'G', b'I', b'F', b'8', b'7' | b'9', b'a', ..] => Some(Self::Gif),
            [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'E', b'B', b'P', ..] => Some(Self::Webp),
            _ => None,
        }
    }

    /// By media type, without parameters and in lower case.
    pub fn of_media_type(media_type: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.media_type() == media_type)
    }

    pub fn media_type(self) -> &'static str {
        match self {
            Self::Png => "image/png",
            Self::Jpeg => "image/jpeg",
            Self::Gif => "image/gif",
            Self::Webp => "image/webp",
        }
    }

    /// A name for people.
    pub fn name(self) -> &'static str {
        match self {
            Self::Png => "PNG",
            Self::Jpeg => "JPEG",
            Self::Gif => "GIF",
            Self::Webp => "WebP",
        }
    }

    /// The picture without metadata; idempotent. `None` if the bytes are not structured as a picture of this kind.
    pub fn bare(self, bytes: &[u8]) -> Option<Vec<u8>> {
        match self {
            Self::Png => png::bare(bytes),
            Self::Jpeg => jpeg::bare(bytes),
            Self::Gif => gif::bare(bytes),
            Self::Webp => webp::bare(bytes),
        }
    }
}

/// Reads from the front. The only possible failure is a premature end.
struct Reader<'b>(&'b [u8]);

impl<'b> Reader<'b> {
    fn take(&mut self, bytes: usize) -> Option<&'b [u8]> {
        let (taken, rest) = self.0.split_at_checked(bytes)?;
        self.0 = rest;
        Some(taken)
    }

    fn byte(&mut self) -> Option<u8> {
        self.take(1).map(|bytes| bytes[0])
    }

    fn four(&mut self) -> Option<[u8; 4]> {
        self.take(4)?.try_into().ok()
    }
}

#[cfg(test)]
#[path = "picture/tests.rs"]
mod tests;
