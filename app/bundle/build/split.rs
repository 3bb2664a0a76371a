//! Splits the module into what every page needs and the parts that are fetched on first use.
//!
//! A function under `#[lazy]` starts a part (app/src/later.rs). The splitter follows the linker's relocations from
//! there: code reachable from nowhere else moves into that part, code shared by several parts moves into chunks of
//! its own.

use std::{
    collections::BTreeMap,
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

/// The parts that pages are in. A page that comes with one of them fetches the part's files as one file: compressed
/// together they are a tenth smaller, and dozens of requests become one.
const OF_PAGES: [&str; 3] = ["board_view", "conversation_view", "page_view"];

/// What was split off.
#[derive(Debug, Default)]
pub(crate) struct Parts {
    /// The files of each part with their uncompressed sizes in bytes, keyed by the part's name without the number that
    /// the splitter appends.
    files: BTreeMap<String, BTreeMap<String, usize>>,
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
    let mut files = BTreeMap::new();
    for (part, needed) in parts.prefetch_map {
        let needed = needed.into_iter().map(|file| format!("{file}.wasm"));
        files.insert(name(part), needed.map(|file| sized(site, file)).collect::<Result<_>>()?);
    }
    let parts = Parts { files };
    parts.pack(site)?;
    Ok((main, parts))
}

fn sized(site: &Path, file: String) -> Result<(String, usize)> {
    let len = fs::metadata(site.join(&file)).with_context(|| format!("the splitter wrote no {file}"))?.len();
    Ok((file, usize::try_from(len)?))
}

impl Parts {
    /// Writes the files of each page's part one after the other into `site`, as `NAME.pack`.
    fn pack(&self, site: &Path) -> Result<()> {
        for (part, files) in self.files.iter().filter(|(part, _)| OF_PAGES.contains(&part.as_str())) {
            let bytes = files.keys().map(|file| fs::read(site.join(file))).collect::<Result<Vec<_>, _>>()?.concat();
            fs::write(site.join(format!("{part}.pack")), bytes).with_context(|| format!("could not pack {part}"))?;
        }
        Ok(())
    }

    /// Writes each part with its files as the Rust expression that the crate includes.
    pub(crate) fn write(&self, path: &Path) -> Result<()> {
        let parts = self.files.iter().map(|(part, files)| (part, files.iter().collect::<Vec<_>>()));
        let code = parts.map(|(part, files)| format!("({part:?}, &{files:?}),")).collect::<String>();
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
