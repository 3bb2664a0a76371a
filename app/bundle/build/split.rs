//! The module in parts: what every page needs, and what is fetched when a person goes there.
//!
//! A function under `#[lazy]` is where a part begins (app/src/later.rs). The splitter follows the linker's relocations from
//! there; what is reached from nowhere else moves into that part, what several parts share into chunks of its own.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result, anyhow};
use wasm_encoder::{Module, RawSection};
use wasm_split_cli_support::{Options, transform};
use wasmparser::{Parser, Payload};

use crate::order;

/// The JavaScript that fetches parts; the module imports it from beside itself.
const LOADER: &str = "./parts.js";

/// The module that [`crate::script::write`] writes, as the loader imports it.
const MAIN: &str = "./yoi.js";

/// What was split off.
#[derive(Debug, Default)]
pub(crate) struct Parts {
    /// By the name of the part, without the number that the splitter adds: the files that it is in.
    files: BTreeMap<String, BTreeSet<String>>,
}

/// Writes the parts and their loader into `site`; gives the path of the main module, which wasm-bindgen takes from there.
pub(crate) fn split(module: &Path, site: &Path) -> Result<(PathBuf, Parts)> {
    let input = fs::read(module).with_context(|| format!("could not read {}", module.display()))?;
    let main = module.with_file_name("main.wasm");
    let mut options = Options::new(&input);
    options.output_dir = site;
    options.main_out_path = &main;
    options.link_name = LOADER;
    options.main_module = MAIN;
    let parts = transform(options).map_err(|error| anyhow!("the module could not be split: {error:#}"))?;
    for part in parts.split_modules {
        let bytes = fs::read(&part)?;
        let bare = without_custom_sections(&bytes).with_context(|| format!("{} is no module", part.display()))?;
        fs::write(&part, order::by_likeness(&bare)?)?;
    }
    let name = |name: String| name.trim_end_matches(|last: char| last.is_ascii_digit()).trim_matches('_').to_owned();
    let files = |files: Vec<String>| files.into_iter().map(|file| format!("{file}.wasm")).collect();
    let files = parts.prefetch_map.into_iter().map(|(part, needed)| (name(part), files(needed))).collect();
    Ok((main, Parts { files }))
}

impl Parts {
    /// As a constant of the crate: each part with its files.
    pub(crate) fn write(&self, path: &Path) -> Result<()> {
        let parts: Vec<_> = self.files.iter().map(|(part, files)| (part, files.iter().collect::<Vec<_>>())).collect();
        let code = parts.iter().map(|(part, files)| format!("({part:?}, &{files:?}),")).collect::<String>();
        fs::write(path, format!("&[{code}]")).with_context(|| format!("could not write {}", path.display()))
    }
}

/// Names and such: for debuggers, and half of a part.
fn without_custom_sections(bytes: &[u8]) -> Result<Vec<u8>> {
    let mut bare = Module::new();
    for payload in Parser::new(0).parse_all(bytes) {
        let payload = payload?;
        if matches!(payload, Payload::CustomSection(_)) {
            continue;
        }
        if let Some((id, range)) = payload.as_section() {
            let range = usize::try_from(range.start)?..usize::try_from(range.end)?;
            bare.section(&RawSection { id, data: &bytes[range] });
        }
    }
    Ok(bare.finish())
}
