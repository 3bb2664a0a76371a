//! Strips what a browser has no use for: comments, indentation, and the long names by which module and script call
//! each other.

use std::{collections::HashMap, fs, path::Path};

use anyhow::{Context, Result, bail};
use wasm_encoder::{EntityType, ImportSection, Module, RawSection};
use wasmparser::{ImportSectionReader, Parser, Payload, TypeRef};

use crate::order;

/// The name under which the module imports the wasm-bindgen script.
const SCRIPT: &str = "./yoi_bg.js";

/// The sheet without comments and indentation. Line breaks stay: one may be the only whitespace between two words.
pub(crate) fn style(sheet: &str) -> String {
    let mut rest = sheet;
    let mut bare = String::with_capacity(sheet.len());
    while let Some((before, comment)) = rest.split_once("/*") {
        bare.push_str(before);
        bare.push(' ');
        rest = comment.split_once("*/").map_or("", |(_, after)| after);
    }
    bare.push_str(rest);
    let lines = bare.lines().map(str::trim).filter(|line| !line.is_empty());
    lines.collect::<Vec<_>>().join("\n")
}

/// Rewrites script and module in place. Each function that the module imports from the script has a name of dozens of
/// characters in both files; it is replaced by a two-letter name.
pub(crate) fn script_and_module(site: &Path) -> Result<()> {
    let (script_path, module_path) = (site.join("yoi.js"), site.join("yoi_bg.wasm"));
    let script = fs::read_to_string(&script_path).context("wasm-bindgen writes yoi.js")?;
    let module = fs::read(&module_path).context("wasm-bindgen writes yoi_bg.wasm")?;
    let names = short_names(&module, &script)?;
    fs::write(&script_path, bare_script(&script, &names)).context("could not write yoi.js")?;
    fs::write(&module_path, order::by_likeness(&renamed(&module, &names)?)?).context("could not write yoi_bg.wasm")
}

/// Picks a short name for each import that the script defines exactly once, at the start of a line (`name: …`). Any
/// other keeps its name.
fn short_names(module: &[u8], script: &str) -> Result<HashMap<String, String>> {
    let mut defined: HashMap<&str, usize> = HashMap::new();
    for (name, _) in script.lines().filter_map(|line| line.trim_start().split_once(':')) {
        *defined.entry(name).or_default() += 1;
    }
    let mut names = HashMap::new();
    for payload in Parser::new(0).parse_all(module) {
        if let Payload::ImportSection(imports) = payload? {
            for import in imports.into_imports() {
                let import = import?;
                if import.module == SCRIPT && defined.get(import.name) == Some(&1) {
                    let short = short_name(names.len());
                    names.entry(import.name.to_owned()).or_insert(short);
                }
            }
        }
    }
    Ok(names)
}

/// `aa`, `ab`, …
fn short_name(number: usize) -> String {
    let letter = |number: usize| char::from(b'a' + (number % 26) as u8);
    let mut name = vec![letter(number)];
    let mut rest = number / 26;
    while rest > 0 || name.len() < 2 {
        name.push(letter(rest));
        rest /= 26;
    }
    name.iter().rev().collect()
}

/// Relies on wasm-bindgen putting comments on lines of their own and emitting no multi-line strings.
fn bare_script(script: &str, names: &HashMap<String, String>) -> String {
    let mut bare = String::with_capacity(script.len());
    let mut in_comment = false;
    for line in script.lines().map(str::trim) {
        in_comment |= line.starts_with("/*");
        if in_comment || line.is_empty() || line.starts_with("//") {
            in_comment &= !line.ends_with("*/");
            continue;
        }
        match line.split_once(':').and_then(|(name, rest)| Some((names.get(name)?, rest))) {
            Some((name, rest)) => bare.extend([name.as_str(), ":", rest]),
            None => bare.push_str(line),
        }
        bare.push('\n');
    }
    bare
}

fn renamed(module: &[u8], names: &HashMap<String, String>) -> Result<Vec<u8>> {
    let mut slim = Module::new();
    for payload in Parser::new(0).parse_all(module) {
        let payload = payload?;
        if let Payload::ImportSection(imports) = payload {
            slim.section(&renamed_imports(imports, names)?);
        } else if let Some((id, range)) = payload.as_section() {
            let range = usize::try_from(range.start)?..usize::try_from(range.end)?;
            slim.section(&RawSection { id, data: &module[range] });
        }
    }
    Ok(slim.finish())
}

fn renamed_imports(imports: ImportSectionReader<'_>, names: &HashMap<String, String>) -> Result<ImportSection> {
    let mut section = ImportSection::new();
    for import in imports.into_imports() {
        let import = import?;
        let TypeRef::Func(function) = import.ty else {
            bail!("the module imports {}, which is no function", import.name)
        };
        let is_of_script = import.module == SCRIPT;
        let name = names.get(import.name).filter(|_| is_of_script).map_or(import.name, String::as_str);
        section.import(import.module, name, EntityType::Function(function));
    }
    Ok(section)
}
