//! JPEG: segments that each begin with a marker, and between them the data of scans.

use super::Reader;

const END: u8 = 0xd9;
const SCAN: u8 = 0xda;
const COMMENT: u8 = 0xfe;
/// The segment of Exif and XMP.
const NOTES: u8 = 0xe1;
/// The segment of a colour profile; with another header, of further pictures.
const PROFILE: u8 = 0xe2;
/// The segment that says how colours are encoded.
const ADOBE: u8 = 0xee;
/// The Exif tag for the orientation.
const ORIENTATION: u16 = 0x0112;

pub(super) fn bare(bytes: &[u8]) -> Option<Vec<u8>> {
    let mut reader = Reader(bytes);
    let mut bare = reader.take(2)?.to_vec();
    let mut turned = None;
    loop {
        let marker = marker(&mut reader)?;
        if marker == END {
            bare.extend_from_slice(&[0xff, END]);
            return Some(bare);
        }
        let length = reader.take(2)?;
        let held = reader.take(usize::from(u16::from_be_bytes([length[0], length[1]])).checked_sub(2)?)?;
        if marker == NOTES && turned.is_none() {
            turned = held.strip_prefix(b"Exif\0\0").and_then(orientation);
            bare.extend(turned.into_iter().flat_map(exif));
        }
        if is_kept(marker, held) {
            bare.extend_from_slice(&[0xff, marker]);
            bare.extend_from_slice(length);
            bare.extend_from_slice(held);
        }
        if marker == SCAN {
            let scanned = scanned(reader.0);
            bare.extend_from_slice(reader.take(scanned)?);
            if reader.0.is_empty() {
                // The picture was truncated at its source; it is shown as far as it goes.
                return Some(bare);
            }
        }
    }
}

/// Reads a marker, which any number of fill bytes may precede.
fn marker(reader: &mut Reader) -> Option<u8> {
    if reader.byte()? != 0xff {
        return None;
    }
    loop {
        match reader.byte()? {
            0xff => (),
            0x00 | 0x01 | 0xd0..=0xd8 => return None,
            marker => return Some(marker),
        }
    }
}

fn is_kept(marker: u8, held: &[u8]) -> bool {
    match marker {
        0xe0 => held.starts_with(b"JFIF\0"),
        PROFILE => held.starts_with(b"ICC_PROFILE\0"),
        ADOBE => held.starts_with(b"Adobe"),
        0xe1..=0xef | COMMENT => false,
        _ => true,
    }
}

/// The number of bytes up to the next marker that ends a scan.
fn scanned(bytes: &[u8]) -> usize {
    let ends = |pair: &[u8]| pair[0] == 0xff && !matches!(pair[1], 0x00 | 0xd0..=0xd7 | 0xff);
    bytes.windows(2).position(ends).unwrap_or(bytes.len())
}

/// The orientation, unless it is the normal one.
fn orientation(tiff: &[u8]) -> Option<u8> {
    let is_little = match tiff.get(..4)? {
        b"II*\0" => true,
        b"MM\0*" => false,
        _ => return None,
    };
    let two = |at: usize| {
        let bytes = tiff.get(at..at.checked_add(2)?)?.try_into().ok()?;
        Some(if is_little { u16::from_le_bytes(bytes) } else { u16::from_be_bytes(bytes) })
    };
    let first = tiff.get(4..8)?.try_into().ok()?;
    let first = if is_little { u32::from_le_bytes(first) } else { u32::from_be_bytes(first) };
    let first = usize::try_from(first).ok()?;
    let entries = (0..usize::from(two(first)?)).map(|entry| first.saturating_add(2 + entry * 12));
    let at = entries.take_while(|at| *at < tiff.len()).find(|at| two(*at) == Some(ORIENTATION))?;
    let value = two(at.checked_add(8)?)?;
    u8::try_from(value).ok().filter(|value| (2..=8).contains(value))
}

/// A segment that contains the orientation and nothing else.
fn exif(orientation: u8) -> [u8; 36] {
    let mut segment = *b"\xff\xe1\0\x22Exif\0\0MM\0*\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01\0\0\0\0\0\0\0\0";
    segment[29] = orientation;
    segment
}
