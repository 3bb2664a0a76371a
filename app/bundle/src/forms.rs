//! The encodings that the binary does not embed, plain and gzip. Both are derived from the brotli form.

use std::{
    collections::BTreeMap,
    io::{Read, Write},
    sync::{Mutex, PoisonError},
};

use flate2::{Compression, write::GzEncoder};

/// Cache of gzip forms requested so far, by path. There are few files, so each is compressed once and kept.
static PACKED: Mutex<BTreeMap<String, &'static [u8]>> = Mutex::new(BTreeMap::new());

/// Decompresses a brotli form; about 10 ms for the largest file.
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
    // Compressed without holding the lock: two concurrent first requests both compress, and the first result is kept.
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(&plain(brotli)).expect("memory takes what is written");
    let bytes = encoder.finish().expect("memory takes what is written");
    packed().entry(path.to_owned()).or_insert_with(|| bytes.leak())
}
