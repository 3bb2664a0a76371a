//! Syntax highlighting. It is computed on the server, so that the browser loads no grammars.

#[cfg(feature = "ssr")]
mod cache;
#[cfg(feature = "ssr")]
mod grammars;
#[cfg(feature = "ssr")]
mod kinds;
#[cfg(feature = "ssr")]
mod painter;

use leptos::prelude::*;
use serde::{Deserialize, Serialize};

#[cfg(feature = "ssr")]
pub(crate) use self::painter::Budget;
use crate::{UiError, codec::Json};

/// A longer block is not coloured, in bytes.
pub const CODE_BYTES_MAX: usize = 64 * 1024;
/// A block with more lines is not coloured.
pub const CODE_LINES_MAX: usize = 2_000;
/// The maximum number of blocks in one call.
pub const BLOCKS_MAX: usize = 16;

/// Code as it is shown, with the language that its author named.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct CodeText {
    pub language: String,
    pub text: String,
}

impl CodeText {
    /// Whether it is neither empty nor too long to be coloured.
    pub fn is_fit(&self) -> bool {
        !self.text.is_empty()
            && self.text.len() <= CODE_BYTES_MAX
            && self.text.bytes().filter(|byte| *byte == b'\n').count() < CODE_LINES_MAX
    }
}

/// A run of code of one kind: its index in [`KINDS`] and its length in bytes. The runs of a text are contiguous and
/// may span lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Run(pub u8, pub u32);

/// The CSS classes of the kinds of runs. The first one is for text without a colour.
pub const KINDS: [&str; 8] =
    ["", "code-keyword", "code-string", "code-comment", "code-number", "code-function", "code-type", "code-mark"];

/// The colours of up to [`BLOCKS_MAX`] blocks, in order. Empty for a block that is too long or in an unknown
/// language.
#[server(prefix = "/fn", endpoint = "highlight", input = Json, output = Json)]
pub async fn highlight(blocks: Vec<CodeText>) -> Result<Vec<Vec<Run>>, UiError> {
    // Only for callers who may read a transcript.
    super::door::caller()?;
    super::door::answer(painter::paint_all(blocks).await)
}
