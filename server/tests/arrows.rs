//! Checks the arrows of the architecture: which crate may depend on which. It uses cargo's own metadata.

#![allow(clippy::unwrap_used)]

use std::{
    collections::{BTreeMap, BTreeSet},
    process::Command,
};

use serde_json::Value;

/// Which crate may depend on which. An arrow also allows what its target may depend on, because a crate can be reached
/// through another one anyway. The dependencies of `testkit`, and dependencies of tests only, are not restricted.
const ARROWS: [(&str, &[&str]); 27] = [
    ("protocol", &[]),
    ("transcript", &["protocol"]),
    ("commands", &["protocol"]),
    ("pod", &["protocol"]),
    ("follow", &["protocol"]),
    ("client", &["follow"]),
    ("pod-store", &["protocol", "pod"]),
    ("provider", &["protocol", "pod"]),
    ("changes", &["protocol"]),
    ("tools", &["protocol", "pod", "changes"]),
    ("mcp", &["tools"]),
    ("acp", &["protocol", "pod", "tools"]),
    ("runtime", &["pod", "pod-store", "provider", "mcp", "acp"]),
    ("backend", &["runtime", "client", "transcript"]),
    ("compat", &["backend"]),
    ("mcp-server", &["backend"]),
    ("api", &["mcp-server"]),
    ("app", &["backend", "transcript", "commands", "follow"]),
    ("stdio", &["client"]),
    ("tui", &["client", "transcript", "commands"]),
    ("hydrate", &["app"]),
    ("bundle", &["hydrate"]),
    ("xtask", &["testkit"]),
    ("testkit", &[]),
    ("simulation", &["api", "backend", "runtime", "pod-store", "provider"]),
    ("telemetry", &[]),
    ("yoi", &["api", "app", "bundle", "compat", "stdio", "telemetry", "tui"]),
];

/// In the browser, `app` has no server behind it, whatever its server half may depend on.
const APP_IN_THE_BROWSER: [&str; 4] = ["transcript", "commands", "follow", "protocol"];

/// Libraries that only some crates may use, and those crates.
const BORDERS: [(&str, &[&str]); 9] = [
    ("sqlx", &["pod-store"]),
    ("axum", &["api", "app", "yoi", "testkit"]),
    ("leptos_axum", &["app", "yoi"]),
    ("genai", &["provider"]),
    ("ratatui", &["tui"]),
    ("rmcp", &["mcp", "mcp-server"]),
    ("opentelemetry", &["telemetry"]),
    ("opentelemetry_sdk", &["telemetry"]),
    ("agent-client-protocol", &["acp", "stdio"]),
];

/// Crates without an async runtime: they compile for the browser, or have to stay replayable.
const WITHOUT_TOKIO: [&str; 6] = ["protocol", "transcript", "commands", "follow", "pod", "changes"];

/// One direct dependency that ends up in the product (not of tests only).
#[derive(Debug)]
struct Arrow {
    from: String,
    to: String,
    is_optional: bool,
}

#[test]
fn every_arrow_between_our_crates_is_one_that_the_architecture_draws() {
    let (members, arrows) = workspace();
    let drawn: BTreeSet<&str> = ARROWS.iter().map(|(name, _)| *name).collect();
    let present: BTreeSet<&str> = members.keys().map(String::as_str).collect();
    assert_eq!(present, drawn, "a crate came or went: draw its arrows here and in docs/architecture.md");

    let broken: Vec<String> = arrows
        .iter()
        .filter(|arrow| members.contains_key(&arrow.to) && arrow.from != "testkit")
        .filter(|arrow| !reachable(&arrow.from).contains(arrow.to.as_str()))
        .map(|arrow| format!("{} → {}", arrow.from, arrow.to))
        .collect();
    assert!(broken.is_empty(), "arrows that the architecture does not draw: {broken:?}");
}

#[test]
fn the_architecture_draws_these_arrows() {
    let text = std::fs::read_to_string(root().join("docs/architecture.md")).unwrap();
    let mut drawn: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for line in text.lines().filter(|line| !line.contains('`') && !line.starts_with('|')) {
        let Some((from, to)) = line.split_once(" → ") else { continue };
        let to = to.split('(').next().unwrap();
        let names = |list: &'static str| list.split(", ").map(str::trim);
        let (from, to): (&'static str, &'static str) = (from.to_owned().leak(), to.to_owned().leak());
        names(from).for_each(|name| drawn.entry(name).or_default().extend(names(to)));
    }
    let held = ARROWS.iter().filter(|(_, targets)| !targets.is_empty());
    let held: BTreeMap<&str, BTreeSet<&str>> =
        held.map(|(name, targets)| (*name, targets.iter().copied().collect())).collect();
    assert_eq!(drawn, held);
}

fn root() -> std::path::PathBuf {
    std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

#[test]
fn app_hydrate_knows_no_server() {
    let (members, arrows) = workspace();
    let of_app = || arrows.iter().filter(|arrow| arrow.from == "app" && members.contains_key(&arrow.to));
    for arrow in of_app().filter(|arrow| !APP_IN_THE_BROWSER.contains(&arrow.to.as_str())) {
        assert!(arrow.is_optional, "app → {} must be optional, brought by the feature `ssr` alone", arrow.to);
    }
    let brought = features_reach(&members["app"], "hydrate");
    for arrow in of_app().filter(|arrow| arrow.is_optional) {
        let by_name = format!("dep:{}", arrow.to);
        assert!(!brought.contains(&by_name) && !brought.contains(&arrow.to), "app[hydrate] → {}", arrow.to);
    }
}

#[test]
fn the_browsers_half_is_built_again_when_one_of_its_crates_changes() {
    let build = std::fs::read_to_string(root().join("app/hydrate/build/main.rs")).unwrap();
    for name in APP_IN_THE_BROWSER {
        assert!(build.contains(&format!("\"server/crates/{name}\"")), "the build script does not watch {name}");
    }
}

#[test]
fn sql_http_and_vendors_stay_behind_their_borders() {
    let (_, arrows) = workspace();
    let broken: Vec<String> = arrows
        .iter()
        .filter(|arrow| {
            let border = BORDERS.iter().find(|(library, _)| *library == arrow.to);
            border.is_some_and(|(_, allowed)| !allowed.contains(&arrow.from.as_str()))
        })
        .map(|arrow| format!("{} → {}", arrow.from, arrow.to))
        .collect();
    assert!(broken.is_empty(), "libraries outside their border: {broken:?}");
}

#[test]
fn the_pure_crates_have_no_tokio_in_any_depth() {
    // Only what is built for this machine: the rest of the lock file may not have been fetched.
    let metadata = metadata(&["--filter-platform", &host()]);
    for name in WITHOUT_TOKIO {
        let path = path_to(&metadata, name, "tokio");
        assert!(path.is_none(), "{} reaches tokio: {}", name, path.unwrap_or_default().join(" → "));
    }
}

/// All crates that the arrows lead to from this one.
fn reachable(from: &str) -> BTreeSet<&'static str> {
    let mut reached = BTreeSet::new();
    let mut open = vec![from.to_owned()];
    while let Some(name) = open.pop() {
        for target in ARROWS.iter().filter(|(source, _)| *source == name).flat_map(|(_, targets)| *targets) {
            if reached.insert(*target) {
                open.push((*target).to_owned());
            }
        }
    }
    reached
}

/// The dependencies that a feature enables, following features of the same crate.
fn features_reach(package: &Value, feature: &str) -> BTreeSet<String> {
    let mut reached = BTreeSet::new();
    let mut open = vec![feature.to_owned()];
    while let Some(name) = open.pop() {
        for part in package["features"][&name].as_array().into_iter().flatten() {
            let part = part.as_str().unwrap().to_owned();
            if reached.insert(part.clone()) {
                open.push(part);
            }
        }
    }
    reached
}

/// Our crates by name, and their direct dependencies of the kinds "normal" and "build".
fn workspace() -> (BTreeMap<String, Value>, Vec<Arrow>) {
    let metadata = metadata(&["--no-deps"]);
    let packages = metadata["packages"].as_array().unwrap();
    let members = packages.iter().map(|package| (text(&package["name"]), package.clone())).collect();
    let mut arrows = Vec::new();
    for package in packages {
        for dependency in package["dependencies"].as_array().unwrap() {
            if dependency["kind"] != "dev" {
                let (from, to) = (text(&package["name"]), text(&dependency["name"]));
                arrows.push(Arrow { from, to, is_optional: dependency["optional"] == true });
            }
        }
    }
    (members, arrows)
}

/// The names from a package to a library along dependencies that are not of tests only; none if there is no path.
fn path_to(metadata: &Value, package: &str, library: &str) -> Option<Vec<String>> {
    let names: BTreeMap<&str, &str> = metadata["packages"]
        .as_array()
        .unwrap()
        .iter()
        .map(|package| (package["id"].as_str().unwrap(), package["name"].as_str().unwrap()))
        .collect();
    let nodes: BTreeMap<&str, &Value> = metadata["resolve"]["nodes"]
        .as_array()
        .unwrap()
        .iter()
        .map(|node| (node["id"].as_str().unwrap(), node))
        .collect();
    let is_ours = |id: &str| metadata["workspace_members"].as_array().unwrap().iter().any(|member| member == id);
    let start = names.iter().find(|(id, name)| **name == package && is_ours(id)).unwrap().0;

    let mut seen = BTreeSet::from([*start]);
    let mut open = vec![vec![*start]];
    while let Some(path) = open.pop() {
        let last = path.last().unwrap();
        if names[last] == library {
            return Some(path.iter().map(|id| names[id].to_owned()).collect());
        }
        for dependency in nodes[last]["deps"].as_array().unwrap() {
            let kinds = dependency["dep_kinds"].as_array().unwrap();
            let id = dependency["pkg"].as_str().unwrap();
            if kinds.iter().any(|kind| kind["kind"] != "dev") && seen.insert(id) {
                let mut longer = path.clone();
                longer.push(id);
                open.push(longer);
            }
        }
    }
    None
}

fn metadata(arguments: &[&str]) -> Value {
    let output = cargo(&[&["metadata", "--format-version", "1", "--locked"], arguments].concat());
    serde_json::from_slice(&output).unwrap()
}

/// The default target of this compiler.
fn host() -> String {
    let version = String::from_utf8(cargo(&["-vV"])).unwrap();
    version.lines().find_map(|line| line.strip_prefix("host: ")).unwrap().to_owned()
}

fn cargo(arguments: &[&str]) -> Vec<u8> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo).current_dir(env!("CARGO_MANIFEST_DIR")).args(arguments).output().unwrap();
    assert!(output.status.success(), "cargo {arguments:?} failed: {}", String::from_utf8_lossy(&output.stderr));
    output.stdout
}

fn text(value: &Value) -> String {
    value.as_str().unwrap().to_owned()
}
