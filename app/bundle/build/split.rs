//! Splits the module into what every page needs and the parts that are fetched on first use.
//!
//! A function under `#[lazy]` starts a part (app/src/later.rs). The splitter follows the linker's relocations from
//! there: code reachable from nowhere else moves into that part, code shared by several parts moves into chunks of
//! its own.

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

/// The JavaScript that fetches parts; the module imports it by this relative path.
const LOADER: &str = "./parts.js";

/// The script that [`crate::script::write`] writes, as the loader imports it.
const MAIN: &str = "./yoi.js";

/// What was split off.
#[derive(Debug, Default)]
pub(crate) struct Parts {
    /// The files of each part, keyed by the part's name without the number that the splitter appends.
    files: BTreeMap<String, BTreeSet<String>>,
}

/// Writes the parts and their loader into `site` and returns the path of the main module, which is wasm-bindgen's
/// input.
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
    /// Writes each part with its files as the Rust expression that the crate includes.
    pub(crate) fn write(&self, path: &Path) -> Result<()> {
        let parts: Vec<_> = self.files.iter().map(|(part, files)| (part, files.iter().collect::<Vec<_>>())).collect();
        let code = parts.iter().map(|(part, files)| format!("({part:?}, &{files:?}),")).collect::<String>();
        fs::write(path, format!("&[{code}]")).with_context(|| format!("could not write {}", path.display()))
    }
}

/// Drops custom sections (names and the like), which only debuggers use and which make up half of a part.
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
