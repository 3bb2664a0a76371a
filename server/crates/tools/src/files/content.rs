//! The whole content of a file: its bytes, their hash, and whether they are text.

use std::{fmt::Write as _, io::Read as _};

use sha2::{Digest, Sha256};

use super::{failure::Failure, open::Opened};

/// Larger files are neither read nor searched nor edited.
pub(super) const FILE_BYTES_MAX: u64 = 10 * 1024 * 1024;

/// A NUL within this many bytes makes a file binary.
const BINARY_HEAD_BYTES: usize = 8 * 1024;

/// The first bytes of files that models like to open, and what they are.
const KINDS: [(&[u8], &str); 13] = [
    (b"\x89PNG", "a PNG picture"),
    (b"\xff\xd8\xff", "a JPEG picture"),
    (b"GIF8", "a GIF picture"),
    (b"RIFF", "a RIFF file (WebP, WAV, AVI)"),
    (b"%PDF", "a PDF document"),
    (b"PK\x03\x04", "a ZIP archive"),
    (b"\x1f\x8b", "gzip data"),
    (b"\x28\xb5\x2f\xfd", "zstd data"),
    (b"\x7fELF", "an ELF program or library"),
    (b"\0asm", "a WebAssembly module"),
    (b"SQLite format 3", "an SQLite database"),
    (b"\xff\xfe", "UTF-16 text"),
    (b"\xfe\xff", "UTF-16 text"),
];

/// All bytes of `file`, which is called `asked` in errors. Only regular files up to [`FILE_BYTES_MAX`].
pub(super) fn bytes(file: &Opened, asked: &str) -> Result<Vec<u8>, Failure> {
    if file.kind().is_dir() {
        return Err(Failure::InvalidInput(format!(
            "{asked} is a folder; use Glob with the pattern \"*\" and this path to see what is in it"
        )));
    }
    if !file.kind().is_file() {
        return Err(Failure::InvalidInput(format!("{asked} is not a regular file, so it has no content to read")));
    }
    let mut bytes = Vec::with_capacity(usize::try_from(file.size().min(FILE_BYTES_MAX)).unwrap_or(0));
    let reader = file.reader().map_err(|errno| Failure::of_system(asked, errno))?;
    reader
        .take(FILE_BYTES_MAX + 1)
        .read_to_end(&mut bytes)
        .map_err(|error| Failure::Io(format!("{asked} was not read: {error}")))?;
    if bytes.len() as u64 > FILE_BYTES_MAX {
        return Err(Failure::InvalidInput(format!(
            "{asked} has {} bytes, and at most {FILE_BYTES_MAX} are read; use Bash to get a part of it",
            file.size()
        )));
    }
    Ok(bytes)
}

/// The bytes as text; the error says what they are instead.
pub(super) fn text<'a>(bytes: &'a [u8], asked: &str) -> Result<&'a str, Failure> {
    let has_nul = bytes.iter().take(BINARY_HEAD_BYTES).any(|byte| *byte == 0);
    match str::from_utf8(bytes) {
        Ok(text) if !has_nul => Ok(text),
        _ => {
            let known = KINDS.iter().find(|(head, _)| bytes.starts_with(head)).map(|(_, kind)| *kind);
            let kind = known.unwrap_or(if has_nul { "binary data" } else { "text that is not UTF-8" });
            Err(Failure::InvalidInput(format!(
                "{asked} is {kind} ({} bytes), and only UTF-8 text is read and replaced; use Bash for it",
                bytes.len()
            )))
        }
    }
}

/// SHA-256 as 64 hex digits.
pub(super) fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().fold(String::with_capacity(64), |mut hex, byte| {
        write!(hex, "{byte:02x}").expect("a string takes everything");
        hex
    })
}
