//! GIF: a header with its colour table, then blocks identified by a byte, each in pieces of at most 255 bytes.

use super::Reader;

/// Extensions that control an animation.
const MOTION: [&[u8; 11]; 2] = [b"NETSCAPE2.0", b"ANIMEXTS1.0"];
const CONTROL: u8 = 0xf9;
const APPLICATION: u8 = 0xff;

pub(super) fn bare(bytes: &[u8]) -> Option<Vec<u8>> {
    let mut reader = Reader(bytes);
    let mut bare = reader.take(13)?.to_vec();
    bare.extend_from_slice(colours(&mut reader, bare[10])?);
    loop {
        let before = reader.0;
        let is_kept = match reader.byte()? {
            0x3b => {
                bare.push(0x3b);
                return Some(bare);
            }
            0x2c => {
                let flags = reader.take(9)?[8];
                colours(&mut reader, flags)?;
                reader.byte()?;
                pieces(&mut reader)?;
                true
            }
            0x21 => {
                let label = reader.byte()?;
                let first = pieces(&mut reader)?;
                label == CONTROL || (label == APPLICATION && MOTION.iter().any(|name| first == *name))
            }
            _ => return None,
        };
        if is_kept {
            bare.extend_from_slice(&before[..before.len() - reader.0.len()]);
        }
    }
}

/// The colour table that the preceding flags announce.
fn colours<'b>(reader: &mut Reader<'b>, flags: u8) -> Option<&'b [u8]> {
    match flags & 0x80 {
        0 => Some(&[]),
        _ => reader.take(3 << ((flags & 7) + 1)),
    }
}

/// Skips all pieces of a block. Returns the first.
fn pieces<'b>(reader: &mut Reader<'b>) -> Option<&'b [u8]> {
    let mut first: Option<&[u8]> = None;
    loop {
        let length = reader.byte()?;
        let piece = reader.take(length.into())?;
        if length == 0 {
            return Some(first.unwrap_or_default());
        }
        first.get_or_insert(piece);
    }
}
