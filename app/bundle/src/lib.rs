//! What the browser loads, embedded in the binary: JavaScript, WebAssembly and one style sheet, each as brotli.
//! Clients that do not accept brotli get another encoding, made from it on request.
//!
//! Built by the build script (`build/main.rs`); this crate only hands the bytes out and knows no HTTP server. All
//! files are served under a path that contains [`HASH`], so they can be cached for ever.

#![cfg_attr(test, allow(clippy::unwrap_used))]

mod accepts;
mod forms;

use std::{borrow::Cow, fmt::Write};

use rust_embed::{EmbeddedFile, RustEmbed};

pub use accepts::Accepts;

/// Names and contents of all files, hashed: 16 hexadecimal digits, or `absent` when the bundle was left out.
pub const HASH: &str = env!("YOI_WEB_HASH");

/// The parts that are fetched only on first use: each part's name, and the files that it consists of with their
/// uncompressed sizes in bytes. The part of a page is also there as one file, these one after the other: `NAME.pack`.
pub const PARTS: &[(&str, &[(&str, usize)])] = include!(concat!(env!("OUT_DIR"), "/parts.rs"));

/// The script that starts the console; it loads [`WASM`] from the same folder.
pub const JS: &str = "yoi.js";
/// The console, compiled.
pub const WASM: &str = "yoi_bg.wasm";
/// All style sheets, joined.
pub const CSS: &str = "yoi.css";

/// The folder that the build script filled. Missing while `YOI_WEB=skip` is set, hence `allow_missing`.
#[derive(RustEmbed)]
#[folder = "$OUT_DIR/site"]
#[allow_missing = true]
struct Site;

/// A file in the encoding chosen for one request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Asset {
    pub bytes: Cow<'static, [u8]>,
    pub content_type: &'static str,
    /// The value of `Content-Encoding`: `br`, `gzip`, or none for the plain bytes.
    pub encoding: Option<&'static str>,
    /// A strong ETag with its quotes, from the bytes as sent: each encoding has its own.
    pub etag: String,
}

/// False when this build was made with `YOI_WEB=skip`; pages then work, but without scripts or styles.
pub fn is_present() -> bool {
    packed(JS).is_some()
}

/// The file at this path (`yoi.js`, no leading slash) in the smallest form that the client accepts; `None` if there
/// is no such file.
///
/// Brotli is ready at once; the other forms take up to a quarter of a second on first request.
pub fn file(path: &str, accepts: Accepts) -> Option<Asset> {
    let packed = packed(path)?;
    let encoding = accepts.smallest();
    let etag = etag(&packed, encoding.unwrap_or("plain"));
    let bytes = match encoding {
        Some("br") => packed.data,
        Some(_) => Cow::Borrowed(forms::gzip(path, &packed.data)),
        None => Cow::Owned(forms::plain(&packed.data)),
    };
    Some(Asset { bytes, content_type: content_type(path), encoding, etag })
}

/// The brotli form of a file, as the build script made it.
fn packed(path: &str) -> Option<EmbeddedFile> {
    Site::get(&format!("{path}.br"))
}

/// Each file's name, uncompressed size and brotli size in bytes: what a first visit costs.
pub fn sizes() -> Vec<(String, usize, usize)> {
    Site::iter()
        .filter_map(|file| {
            let path = file.strip_suffix(".br")?;
            let packed = packed(path)?.data;
            Some((path.to_owned(), forms::plain(&packed).len(), packed.len()))
        })
        .collect()
}

fn etag(file: &EmbeddedFile, encoding: &str) -> String {
    let mut etag = format!("\"{encoding}-");
    for byte in &file.metadata.sha256_hash()[..16] {
        write!(etag, "{byte:02x}").expect("writing to a String cannot fail");
    }
    etag.push('"');
    etag
}

fn content_type(path: &str) -> &'static str {
    match path.rsplit_once('.').map(|(_, extension)| extension) {
        Some("js") => "text/javascript; charset=utf-8",
        Some("wasm") => "application/wasm",
        Some("css") => "text/css; charset=utf-8",
        Some("svg") => "image/svg+xml",
        Some("png") => "image/png",
        Some("ico") => "image/x-icon",
        Some("woff2") => "font/woff2",
        Some("webmanifest") => "application/manifest+json",
        _ => "application/octet-stream",
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use super::*;

    #[test]
    fn every_file_has_its_own_etag_in_each_encoding() {
        let mut seen = Vec::new();
        for (path, ..) in sizes() {
            for accepts in ["br", "gzip", "identity"] {
                let asset = file(&path, Accepts::parse(accepts)).unwrap();
                assert_eq!(asset.encoding, (accepts != "identity").then_some(accepts), "{path}");
                assert!(!seen.contains(&asset.etag), "{path} as {accepts} has the ETag of another file");
                seen.push(asset.etag);
            }
        }
    }

    #[test]
    fn every_form_of_a_file_holds_the_same_bytes() {
        for (path, len, _) in sizes() {
            let plain = file(&path, Accepts::default()).unwrap().bytes;
            let gzip = file(&path, Accepts::parse("gzip")).unwrap().bytes;
            let again = file(&path, Accepts::parse("gzip")).unwrap().bytes;
            let mut unpacked = Vec::new();
            flate2::read::GzDecoder::new(&gzip[..]).read_to_end(&mut unpacked).unwrap();
            assert_eq!((unpacked.len(), &unpacked[..]), (len, &plain[..]), "{path}");
            assert!(std::ptr::eq(&gzip[..], &again[..]), "{path} was packed twice");
        }
    }

    #[test]
    fn a_built_bundle_has_all_three_files_with_their_types_and_a_skipped_one_has_none() {
        let types =
            [(JS, "text/javascript; charset=utf-8"), (WASM, "application/wasm"), (CSS, "text/css; charset=utf-8")];
        for (path, expected) in types {
            match file(path, Accepts::default()) {
                Some(asset) => assert_eq!((asset.content_type, is_present()), (expected, true)),
                None => assert_eq!((HASH, is_present()), ("absent", false), "{path} is missing"),
            }
        }
    }

    #[test]
    fn compressed_forms_have_no_address_of_their_own() {
        assert_eq!(file("yoi.js.br", Accepts::default()), None);
        assert_eq!(file("../Cargo.toml", Accepts::default()), None);
        assert_eq!(file("", Accepts::default()), None);
    }
}
