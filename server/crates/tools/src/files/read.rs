//! Read: a file's text with line numbers.

use pod::{Picture, PictureKind, ToolOutcome};
use schemars::JsonSchema;
use serde::Deserialize;

use super::{
    content,
    failure::Failure,
    open, output,
    page::{Page, Range, page},
    seen,
    work::{FileTool, Work},
};

/// Shows a text file.
#[derive(Debug, Clone, Copy)]
pub struct Read;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Arguments {
    /// A file, absolute or relative to the working directory; or output:CALL_ID for the stored output of a call.
    path: String,
    /// The line to begin at, counted from 1.
    #[serde(default)]
    offset: Option<u64>,
    /// The maximum number of lines, 2000 when absent.
    #[serde(default)]
    limit: Option<u64>,
}

impl FileTool for Read {
    const NAME: &str = "Read";
    const DESCRIPTION: &str = "Shows a text file with line numbers, 2000 lines or 100 KiB at a time; the last line of a part says how to continue. \
         Very long lines are cut. The numbers and the tab after them are not part of the file. A file must be read \
         before Edit changes it or Write replaces it. A PNG, JPEG, GIF or WebP picture is shown as a picture.";
    type Arguments = Arguments;

    fn run(work: &Work, arguments: &Arguments) -> Result<ToolOutcome, Failure> {
        let range = Range::new(arguments.offset, arguments.limit)?;
        if let Some(call_id) = output::call_id(&arguments.path) {
            let text = output::read(work, call_id)?;
            return Ok(outcome(&arguments.path, page(&text, range)?));
        }
        let path = work.absolute(&arguments.path)?;
        let asked = work.shown(&path);
        let file = open::open(work, &path)?;
        let bytes = content::bytes(&file, &asked)?;
        if let Some(kind) = PictureKind::of(&bytes) {
            return picture(kind, &bytes, &asked);
        }
        let page = page(content::text(&bytes, &asked)?, range)?;
        Ok(ToolOutcome { seen: Some(seen::file(&file.path, &bytes)), ..outcome(&asked, page) })
    }
}

/// The picture itself, without its metadata. It is no text that could be edited, so it does not count as seen.
fn picture(kind: PictureKind, bytes: &[u8], asked: &str) -> Result<ToolOutcome, Failure> {
    let bare = kind.bare(bytes).ok_or_else(|| {
        let sentence =
            format!("{asked} begins like a {} picture but is not a valid one ({} bytes)", kind.name(), bytes.len());
        Failure::InvalidInput(sentence)
    })?;
    let summary = format!("read {asked}, a {} picture of {} bytes", kind.name(), bytes.len());
    Ok(ToolOutcome { picture: Some(Picture { kind, bytes: bare }), ..ToolOutcome::done(summary) })
}

fn outcome(shown: &str, page: Page) -> ToolOutcome {
    let content = Some(page.text).filter(|text| !text.is_empty());
    ToolOutcome { content, ..ToolOutcome::done(format!("read {shown}, {}", page.extent)) }
}
