//! The JavaScript around the module, which wasm-bindgen writes.

use std::path::Path;

use anyhow::{Context, Result};
use wasm_bindgen_cli_support::Bindgen;

/// Writes `yoi.js` and `yoi_bg.wasm`. The name section goes: it is for debuggers and is a quarter of the module.
pub(crate) fn write(module: &Path, site: &Path) -> Result<()> {
    Bindgen::new()
        .input_path(module)
        .web(true)?
        .typescript(false)
        // The parts share the table of functions, which else is not exported.
        .keep_lld_exports(true)
        .remove_name_section(true)
        .remove_producers_section(true)
        .out_name("yoi")
        .generate(site)
        .with_context(|| format!("wasm-bindgen could not process {}", module.display()))
}
