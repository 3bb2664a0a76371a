//! PNG: a signature, then chunks of a length, a name, data and a checksum.

use super::Reader;

const SIGNATURE_BYTES: usize = 8;
/// The chunks that determine how it looks. Everything else is metadata.
const KEPT: [&[u8; 4]; 16] = [
    b"IHDR", b"PLTE", b"IDAT", b"IEND", b"tRNS", b"gAMA", b"cHRM", b"sRGB", b"iCCP", b"sBIT", b"bKGD", b"pHYs",
    b"cICP", b"acTL", b"fcTL", b"fdAT",
];

pub(super) fn bare(bytes: &[u8]) -> Option<Vec<u8>> {
    let mut reader = Reader(bytes);
    let mut bare = reader.take(SIGNATURE_BYTES)?.to_vec();
    loop {
        let (length, name) = (reader.four()?, reader.four()?);
        let rest = reader.take(usize::try_from(u32::from_be_bytes(length)).ok()?.checked_add(4)?)?;
        if KEPT.contains(&&name) {
            bare.extend_from_slice(&length);
            bare.extend_from_slice(&name);
            bare.extend_from_slice(rest);
        }
        if name == *b"IEND" {
            return Some(bare);
        }
    }
}
