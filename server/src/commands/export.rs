use std::io::{self, IsTerminal};

use anyhow::Result;

use super::Caller;
use crate::{cli::ExportOptions, output};

/// Prints a Pod's whole journal. With `--json`, one record per line unless a format is given.
pub(super) async fn export(caller: &Caller, options: ExportOptions) -> Result<()> {
    let pod = caller.resolve(&options.target).await?;
    let format = match (&options.format, caller.config.json) {
        (Some(format), _) => format.as_str(),
        (None, true) => "jsonl",
        (None, false) => "markdown",
    };
    let mut download = caller.client.export(&pod, format).await?;
    let mut file = File { is_terminal: io::stdout().is_terminal(), rest: Vec::new() };
    while let Some(chunk) = download.chunk().await? {
        file.take(chunk.as_ref())?;
    }
    file.end()
}

/// Standard output. Control characters are not passed on to a terminal.
struct File {
    is_terminal: bool,
    /// The beginning of a line whose end has not arrived.
    rest: Vec<u8>,
}

impl File {
    fn take(&mut self, chunk: &[u8]) -> Result<()> {
        if !self.is_terminal {
            return output::bytes(chunk);
        }
        self.rest.extend_from_slice(chunk);
        let end = self.rest.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        let whole: Vec<u8> = self.rest.drain(..end).collect();
        show(&whole)
    }

    fn end(self) -> Result<()> {
        show(&self.rest)
    }
}

fn show(text: &[u8]) -> Result<()> {
    output::bytes(output::printable(&String::from_utf8_lossy(text)).as_bytes())
}
