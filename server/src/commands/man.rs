use std::fs;

use anyhow::{Context, Result};
use clap::CommandFactory;

use crate::{
    cli::{Cli, ManOptions},
    output,
};

/// Prints the manual's first page, or writes the pages of all verbs: `yoi.1`, `yoi-send.1`, …
pub(crate) fn man(options: ManOptions) -> Result<()> {
    let Some(folder) = options.folder else {
        let mut page = Vec::new();
        clap_mangen::Man::new(Cli::command()).render(&mut page).context("cannot generate the manual")?;
        return output::bytes(&page);
    };
    let wrong = || format!("cannot write the manual to {}", folder.display());
    fs::create_dir_all(&folder).with_context(wrong)?;
    clap_mangen::generate_to(Cli::command(), &folder).with_context(wrong)?;
    output::note(&format!("manual written to {0}; `man {0}/yoi.1` shows its first page", folder.display()));
    Ok(())
}
