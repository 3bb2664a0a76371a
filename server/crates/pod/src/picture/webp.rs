//! WebP: a RIFF file of chunks with a name, a length and data, padded to an even length.

use super::Reader;

const KEPT: [&[u8; 4]; 7] = [b"VP8 ", b"VP8L", b"VP8X", b"ALPH", b"ANIM", b"ANMF", b"ICCP"];
/// The `VP8X` flags for an Exif and an XMP chunk.
const NOTES: u8 = 0x08 | 0x04;

pub(super) fn bare(bytes: &[u8]) -> Option<Vec<u8>> {
    let mut reader = Reader(bytes);
    reader.take(4)?;
    let size = usize::try_from(u32::from_le_bytes(reader.four()?)).ok()?;
    let mut reader = Reader(reader.take(size)?);
    let mut bare = b"RIFF\0\0\0\0".to_vec();
    bare.extend_from_slice(reader.take(4)?);
    while !reader.0.is_empty() {
        let (name, length) = (reader.four()?, reader.four()?);
        let held = reader.take(usize::try_from(u32::from_le_bytes(length)).ok()?)?;
        // The last chunk may lack its padding byte.
        if held.len() % 2 == 1 && !reader.0.is_empty() {
            reader.byte()?;
        }
        if !KEPT.contains(&&name) {
            continue;
        }
        bare.extend_from_slice(&name);
        bare.extend_from_slice(&length);
        let at = bare.len();
        bare.extend_from_slice(held);
        if name == *b"VP8X" {
            *bare.get_mut(at)? &= !NOTES;
        }
        if held.len() % 2 == 1 {
            bare.push(0);
        }
    }
    let size = u32::try_from(bare.len() - 8).ok()?;
    bare[4..8].copy_from_slice(&size.to_le_bytes());
    Some(bare)
}
