//! Checks the arrows between the modules of each crate: there are no cycles, not even over several modules.
//!
//! It reads the source: paths that begin with `crate`, `super` or `self`. A module at the top of a crate is one node
//! with everything in its folder; the crate's first file is a node for the items that it defines, and a re-export leads
//! to the item itself.
//!
//! The map of the crates with the most modules, layer by layer, is in `docs/architecture.md`; `YOI_UPDATE=1` writes it
//! anew.

#![allow(clippy::unwrap_used)]

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
};

/// Crates by their folder, from the root.
const CRATES: [&str; 27] = [
    "server",
    "server/crates/acp",
    "server/crates/api",
    "server/crates/backend",
    "server/crates/client",
    "server/crates/commands",
    "server/crates/compat",
    "server/crates/follow",
    "server/crates/mcp",
    "server/crates/mcp-server",
    "server/crates/pod",
    "server/crates/pod-store",
    "server/crates/protocol",
    "server/crates/provider",
    "server/crates/runtime",
    "server/crates/simulation",
    "server/crates/stdio",
    "server/crates/telemetry",
    "server/crates/testkit",
    "server/crates/tools",
    "server/crates/transcript",
    "server/crates/tui",
    "server/xtask",
    "app",
    "app/bundle",
    "app/hydrate",
    "server/benches",
];

/// Crates with at least this many modules are on the map.
const MAPPED_MODULES_MIN: usize = 12;

/// What precedes and follows the map.
const MAP_BEGINS: &str = "<!-- map of modules: written by server/tests/modules.rs -->\n";
const MAP_ENDS: &str = "<!-- end of the map -->\n";

/// How many names of an arrow a failure shows.
const NAMES_SHOWN_MAX: usize = 6;

/// The crate's first file, as a node.
const FIRST: &str = "(first)";

type Arrows = BTreeMap<String, BTreeMap<String, BTreeSet<String>>>;

#[test]
fn no_module_of_a_crate_is_part_of_a_cycle() {
    let mut broken = Vec::new();
    for folder in CRATES {
        let arrows = arrows_of(folder);
        broken.extend(circles_of(&arrows).iter().map(|circle| described(folder, &arrows, circle)));
    }
    assert!(broken.is_empty(), "circles of modules:\n{}", broken.join("\n"));
}

#[test]
fn the_map_of_modules_stands_in_the_document() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/architecture.md");
    let document = fs::read_to_string(&path).unwrap();
    let (before, rest) = document.split_once(MAP_BEGINS).expect("the document has a place for the map");
    let (_, after) = rest.split_once(MAP_ENDS).expect("the map has an end");
    let made = format!("{before}{MAP_BEGINS}{}{MAP_ENDS}{after}", map());
    if std::env::var_os("YOI_UPDATE").is_some() {
        fs::write(&path, &made).unwrap();
        return;
    }
    assert!(
        made == document,
        "the map is old; YOI_UPDATE=1 cargo test -p yoi --test modules writes it anew:\n{}",
        map()
    );
}

/// A block for each crate on the map: its layers from the top, each with its modules.
fn map() -> String {
    let mut map = String::new();
    for folder in CRATES {
        let arrows = arrows_of(folder);
        if arrows.len() <= MAPPED_MODULES_MIN {
            continue;
        }
        map.push_str(&format!("\n`{folder}`\n\n```\n"));
        for (number, modules) in floors(&arrows).into_iter().rev() {
            map.push_str(&format!("{number:>2}  {}\n", modules.join(", ")));
        }
        map.push_str("```\n");
    }
    map.push('\n');
    map
}

/// The modules by the length of the longest chain of modules beneath each.
fn floors(arrows: &Arrows) -> BTreeMap<usize, Vec<String>> {
    let mut found: BTreeMap<&str, usize> = BTreeMap::new();
    while let Some((node, floor)) = arrows.iter().find_map(|(node, to)| {
        let beneath: Option<Vec<usize>> = to.keys().map(|other| found.get(other.as_str()).copied()).collect();
        let floor = beneath?.into_iter().max().map_or(0, |highest| highest + 1);
        (!found.contains_key(node.as_str())).then_some((node, floor))
    }) {
        found.insert(node, floor);
    }
    let mut floors: BTreeMap<usize, Vec<String>> = BTreeMap::new();
    for (node, floor) in found {
        if node != FIRST {
            floors.entry(floor).or_default().push(node.to_owned());
        }
    }
    floors
}

/// A cycle, and the names that cause it.
fn described(folder: &str, arrows: &Arrows, circle: &[String]) -> String {
    let mut said = format!("{folder}: {}", circle.join(", "));
    for from in circle {
        for (to, names) in arrows[from].iter().filter(|(to, _)| circle.contains(to)) {
            let names: Vec<&str> = names.iter().map(String::as_str).take(NAMES_SHOWN_MAX).collect();
            said.push_str(&format!("\n    {from} → {to}: {}", names.join(", ")));
        }
    }
    said
}

/// The modules of a crate, each with those that it depends on and the names that it uses from them.
fn arrows_of(folder: &str) -> Arrows {
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(folder).join("src");
    let mut files = Vec::new();
    if sources.is_dir() {
        gather(&sources, &sources, &mut files);
    }
    let nodes: BTreeSet<String> =
        files.iter().filter_map(|(module, _)| module.first().cloned()).chain([FIRST.to_owned()]).collect();
    let first: Vec<Token> =
        files.iter().filter(|(module, _)| module.is_empty()).flat_map(|(_, text)| tokens(text)).collect();
    let exported = re_exports(&first, &nodes);

    let mut arrows: Arrows = nodes.iter().map(|node| (node.clone(), BTreeMap::new())).collect();
    for (module, text) in &files {
        let from = module.first().map_or(FIRST, String::as_str);
        for path in paths(&tokens(text), module, &nodes) {
            let Some(head) = path.first() else { continue };
            let to = match nodes.contains(head) {
                true => head.as_str(),
                false => exported.get(head).map_or(FIRST, String::as_str),
            };
            if to != from {
                let name = path.last().unwrap().clone();
                arrows.get_mut(from).unwrap().entry(to.to_owned()).or_default().insert(name);
            }
        }
    }
    arrows
}

/// Every source file of the product below a folder: its module's path, and its text.
fn gather(root: &Path, folder: &Path, files: &mut Vec<(Vec<String>, String)>) {
    let mut entries: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    entries.sort();
    for path in entries {
        let stem = path.file_stem().unwrap().to_str().unwrap().to_owned();
        if stem == "tests" || stem == "bin" {
            continue;
        }
        if path.is_dir() {
            gather(root, &path, files);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let below = path.strip_prefix(root).unwrap().with_extension("");
            let mut module: Vec<String> =
                below.iter().map(|part| part.to_str().unwrap().to_owned()).filter(|part| part != "mod").collect();
            if module.len() == 1 && matches!(module[0].as_str(), "lib" | "main") {
                module.clear();
            }
            files.push((module, fs::read_to_string(&path).unwrap()));
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Token {
    Word(String),
    /// `::`
    Into,
    Sign(char),
}

impl Token {
    fn is(&self, word: &str) -> bool {
        matches!(self, Self::Word(own) if own == word)
    }
}

/// The tokens of a source file, without comments, strings and what exists only for tests.
fn tokens(text: &str) -> Vec<Token> {
    let mut found = Vec::new();
    let mut rest = text;
    while let Some(next) = rest.chars().next() {
        let length = if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if let Some(length) = length_of_text(rest) {
            length
        } else if rest.starts_with("::") {
            found.push(Token::Into);
            2
        } else if next.is_alphabetic() || next == '_' {
            let length = rest.find(|letter: char| !letter.is_alphanumeric() && letter != '_').unwrap_or(rest.len());
            found.push(Token::Word(rest[..length].to_owned()));
            length
        } else {
            if !next.is_whitespace() {
                found.push(Token::Sign(next));
            }
            next.len_utf8()
        };
        rest = &rest[length..];
    }
    without_tests(found)
}

/// The length of the string or character literal at the start of the source.
fn length_of_text(rest: &str) -> Option<usize> {
    if let Some(raw) = rest.strip_prefix('r') {
        let marks = raw.len() - raw.trim_start_matches('#').len();
        if raw[marks..].starts_with('"') {
            let end = format!("\"{}", "#".repeat(marks));
            return Some(2 + marks + raw[marks + 1..].find(&end)? + end.len());
        }
    }
    let quote = rest.chars().next().filter(|letter| matches!(letter, '"' | '\''))?;
    let mut letters = rest.char_indices().skip(1);
    while let Some((at, letter)) = letters.next() {
        if letter == '\\' {
            letters.next();
        } else if letter == quote {
            return Some(at + 1);
        } else if quote == '\'' && at > 4 {
            break;
        }
    }
    // A lifetime.
    (quote == '\'').then_some(1)
}

/// Leaves out what follows `#[cfg(test)]`: an item up to its end.
fn without_tests(tokens: Vec<Token>) -> Vec<Token> {
    let mark =
        [Token::Sign('#'), Token::Sign('['), Token::Word("cfg".into()), Token::Sign('('), Token::Word("test".into())];
    let mut kept = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        if !tokens[at..].starts_with(&mark) {
            kept.push(tokens[at].clone());
            at += 1;
            continue;
        }
        let mut depth = 0;
        at += mark.len() + 2;
        while at < tokens.len() {
            match &tokens[at] {
                Token::Sign('{') => depth += 1,
                Token::Sign('}') if depth == 1 => break,
                Token::Sign('}') => depth -= 1,
                Token::Sign(';') if depth == 0 => break,
                _ => {}
            }
            at += 1;
        }
        at += 1;
    }
    kept
}

/// Every path to items of the same crate, from its top.
fn paths(tokens: &[Token], module: &[String], nodes: &BTreeSet<String>) -> Vec<Vec<String>> {
    let mut found = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        let follows = tokens.get(at + 1) == Some(&Token::Into) && (at == 0 || tokens[at - 1] != Token::Into);
        let Token::Word(word) = &tokens[at] else {
            at += 1;
            continue;
        };
        let is_export = is_exported_at(tokens, at);
        let start = match word.as_str() {
            "crate" if follows => Some(Vec::new()),
            "self" if follows => Some(module.to_vec()),
            "super" if follows => Some(module[..module.len().saturating_sub(1)].to_vec()),
            // In the first file, a module needs no prefix.
            word if follows && module.is_empty() && nodes.contains(word) && !is_export => Some(vec![word.to_owned()]),
            _ => None,
        };
        match start {
            Some(start) if !(is_export && module.is_empty()) => at = tree(tokens, at + 2, start, &mut found),
            _ => at += 1,
        }
    }
    found
}

/// Whether the path at this position belongs to a `pub use`.
fn is_exported_at(tokens: &[Token], at: usize) -> bool {
    if at == 0 || !tokens[at - 1].is("use") {
        return false;
    }
    let before = &tokens[..at - 1];
    before.last().is_some_and(|token| token.is("pub") || *token == Token::Sign(')'))
}

/// Reads on after `::`: one path, or each path of a group. Returns the position behind it.
fn tree(tokens: &[Token], mut at: usize, mut path: Vec<String>, found: &mut Vec<Vec<String>>) -> usize {
    loop {
        match tokens.get(at) {
            Some(Token::Word(word)) if word == "super" => {
                path.pop();
            }
            Some(Token::Word(word)) if word == "self" => {}
            Some(Token::Word(word)) => path.push(word.clone()),
            Some(Token::Sign('{')) => {
                at += 1;
                while at < tokens.len() && tokens[at] != Token::Sign('}') {
                    at = match &tokens[at] {
                        Token::Word(word) if word != "as" => tree(tokens, at, path.clone(), found),
                        Token::Word(_) => at + 2,
                        _ => at + 1,
                    };
                }
                return at + 1;
            }
            _ => break,
        }
        at += 1;
        if tokens.get(at) != Some(&Token::Into) {
            break;
        }
        at += 1;
    }
    found.push(path);
    at
}

/// What the first file re-exports: each name with the module where it is defined.
fn re_exports(first: &[Token], nodes: &BTreeSet<String>) -> BTreeMap<String, String> {
    let mut exported = BTreeMap::new();
    let mut at = 0;
    while at < first.len() {
        if !first[at].is("use") {
            at += 1;
            continue;
        }
        let mut found = Vec::new();
        let start =
            if first.get(at + 1).is_some_and(|token| token.is("crate") || token.is("self")) { at + 3 } else { at + 1 };
        at = tree(first, start, Vec::new(), &mut found);
        for path in found {
            if nodes.contains(&path[0]) && path.len() > 1 {
                exported.insert(path.last().unwrap().clone(), path[0].clone());
            }
        }
    }
    exported
}

/// The sets of nodes that reach each other.
fn circles_of(arrows: &Arrows) -> Vec<Vec<String>> {
    let reach: BTreeMap<&String, BTreeSet<&String>> = arrows.keys().map(|node| (node, reached(arrows, node))).collect();
    let mut circles: BTreeSet<Vec<String>> = BTreeSet::new();
    for (node, own) in &reach {
        let circle: Vec<String> =
            own.iter().filter(|other| reach[**other].contains(*node)).map(|other| (*other).clone()).collect();
        if circle.len() > 1 {
            circles.insert(circle);
        }
    }
    circles.into_iter().collect()
}

fn reached<'a>(arrows: &'a Arrows, node: &'a String) -> BTreeSet<&'a String> {
    let mut reached = BTreeSet::new();
    let mut open = vec![node];
    while let Some(next) = open.pop() {
        for target in arrows[next].keys() {
            if reached.insert(target) {
                open.push(target);
            }
        }
    }
    reached
}
