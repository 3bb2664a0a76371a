//! Opens a browser without putting a secret into an argument or its history: it is given a file that only its owner can
//! read, which submits a code that is valid once and for a minute.

use std::{
    fs::DirBuilder,
    os::unix::fs::DirBuilderExt,
    path::{Path, PathBuf},
    process::Stdio,
};

use anyhow::{Context, Result};
use tokio::process::Command;

use crate::data_dir::write_private;

const FILE: &str = "open.html";

/// Writes the page that logs in to the console at this address. Returns its path.
pub(crate) fn write_page(data: &Path, console: &str, code: &str) -> Result<PathBuf> {
    let made = DirBuilder::new().recursive(true).mode(0o700).create(data);
    made.with_context(|| format!("the data folder {} cannot be made", data.display()))?;
    let path = std::path::absolute(data.join(FILE)).context("the current directory is gone")?;
    write_private(&path, &page(console, code))?;
    Ok(path)
}

/// The command that opens a page in the person's browser.
pub(crate) fn browser(page: &Path) -> Command {
    let program = if cfg!(target_os = "macos") { "open" } else { "xdg-open" };
    let mut command = Command::new(program);
    command.arg(page).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command
}

fn page(console: &str, code: &str) -> String {
    let (console, code) = (attribute(console), attribute(code));
    format!(
        "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\"><title>yoi</title>\
         <meta name=\"referrer\" content=\"no-referrer\"></head>\
         <body onload=\"document.forms[0].submit()\"><form method=\"post\" action=\"{console}/login\">\
         <input type=\"hidden\" name=\"code\" value=\"{code}\"><button>Open the console</button></form></body></html>\n"
    )
}

/// Escapes a text for use in a quoted attribute.
fn attribute(text: &str) -> String {
    text.replace('&', "&amp;").replace('"', "&quot;").replace('<', "&lt;")
}

#[cfg(test)]
mod tests {
    use std::{fs, os::unix::fs::PermissionsExt};

    use super::*;

    #[test]
    fn the_page_is_for_its_owner_and_holds_a_form_with_the_code() {
        let root = tempfile::tempdir().unwrap();
        let path = write_page(&root.path().join("data"), "http://yoi-x.localhost:1", "a\"b").unwrap();
        let text = fs::read_to_string(&path).unwrap();
        assert!(
            text.contains("action=\"http://yoi-x.localhost:1/login\"") && text.contains("value=\"a&quot;b\""),
            "{text}"
        );
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    }
}
