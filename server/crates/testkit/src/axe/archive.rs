//! Extracts one file from a `.tgz` without a crate for it: 512-byte headers, each before its file.

use std::io::Read;

use anyhow::{Context, Result};
use flate2::read::GzDecoder;

const BLOCK: usize = 512;

/// The bytes of the file with this name. Long names, which need more than one header, are not supported.
pub(super) fn file(archive: &[u8], name: &str) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    GzDecoder::new(archive).read_to_end(&mut bytes)?;
    let mut rest = bytes.as_slice();
    while let Some((header, behind)) = rest.split_at_checked(BLOCK) {
        let size = size(&header[124..136]).unwrap_or_default();
        if text(&header[..100]) == name {
            return Ok(behind.get(..size).context("the archive ends too early")?.to_vec());
        }
        rest = behind.get(size.next_multiple_of(BLOCK)..).unwrap_or_default();
    }
    anyhow::bail!("there is no {name} in the archive")
}

fn text(field: &[u8]) -> &str {
    let end = field.iter().position(|byte| *byte == 0).unwrap_or(field.len());
    std::str::from_utf8(&field[..end]).unwrap_or_default().trim()
}

/// Parses octal digits.
fn size(field: &[u8]) -> Option<usize> {
    usize::from_str_radix(text(field), 8).ok()
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use flate2::{Compression, write::GzEncoder};

    use super::*;

    fn archive(files: &[(&str, &str)]) -> Vec<u8> {
        let mut gzip = GzEncoder::new(Vec::new(), Compression::fast());
        for (name, content) in files {
            let mut header = [0_u8; BLOCK];
            header[..name.len()].copy_from_slice(name.as_bytes());
            header[124..135].copy_from_slice(format!("{:011o}", content.len()).as_bytes());
            gzip.write_all(&header).unwrap();
            let mut padded = content.as_bytes().to_vec();
            padded.resize(content.len().next_multiple_of(BLOCK), 0);
            gzip.write_all(&padded).unwrap();
        }
        gzip.write_all(&[0; 2 * BLOCK]).unwrap();
        gzip.finish().unwrap()
    }

    #[test]
    fn a_file_is_found_behind_others_and_a_missing_one_is_an_error() {
        let long = "x".repeat(700);
        let archive = archive(&[("package/a.js", &long), ("package/b.js", "let b;")]);
        assert_eq!(file(&archive, "package/b.js").unwrap(), b"let b;");
        assert_eq!(file(&archive, "package/a.js").unwrap().len(), 700);
        assert!(file(&archive, "package/c.js").is_err() && file(b"nonsense", "x").is_err());
    }
}
