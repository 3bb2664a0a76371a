//! The forms of a file that the binary does not hold: plain, and gzip. Both are made of the brotli form.

use std::{
    collections::BTreeMap,
    io::{Read, Write},
    sync::{Mutex, PoisonError},
};

use flate2::{Compression, write::GzEncoder};

/// What was asked for as gzip so far, by path. Files are few, so each is packed once and stays.
static PACKED: Mutex<BTreeMap<String, &'static [u8]>> = Mutex::new(BTreeMap::new());

/// The plain bytes of a brotli form: some 10 ms for the largest file.
pub(crate) fn plain(brotli: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    brotli::Decompressor::new(brotli, 4_096).read_to_end(&mut bytes).expect("the build script has packed it");
    bytes
}

/// The gzip form of the file at `path`. The first request for it takes a quarter of a second for the largest file.
pub(crate) fn gzip(path: &str, brotli: &[u8]) -> &'static [u8] {
    let packed = || PACKED.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(bytes) = packed().get(path) {
        return bytes;
    }
    // Packed without the lock: two who ask at once both pack, and the first one's bytes stay.
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(&plain(brotli)).expect("memory takes what is written");
    let bytes = encoder.finish().expect("memory takes what is written");
    packed().entry(path.to_owned()).or_insert_with(|| bytes.leak())
}
