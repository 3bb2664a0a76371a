//! Checks the documents against the repository: what they name exists, and their links lead somewhere.
//!
//! `docs/decisions` records past decisions, and may name what no longer exists.

#![allow(clippy::unwrap_used)]

use std::{
    fs,
    path::{Path, PathBuf},
};

#[test]
fn every_source_that_a_document_names_is_there() {
    let mut known = Vec::new();
    for folder in ["app", "docs", "server", "style"] {
        gather(&root().join(folder), &mut known);
    }
    let is_there = |named: &str| {
        let file = format!("{named}.rs");
        known.iter().any(|path| path.ends_with(named) || path.ends_with(&file))
    };
    let mut missing = Vec::new();
    each_line(|document, number, line| {
        for named in line.split('`').skip(1).step_by(2).filter(|text| is_source(text)) {
            if !is_there(named.trim_end_matches('/')) {
                missing.push(format!("{document}:{number} {named}"));
            }
        }
    });
    assert!(missing.is_empty(), "documents name what is not there:\n{}", missing.join("\n"));
}

#[test]
fn every_link_between_documents_leads_somewhere() {
    let mut broken = Vec::new();
    each_line(|document, number, line| {
        let folder = root().join(document).parent().unwrap().to_owned();
        for target in line.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
            let path = target.split('#').next().unwrap();
            if !path.is_empty() && !path.contains(':') && !folder.join(path).exists() {
                broken.push(format!("{document}:{number} {target}"));
            }
        }
    });
    assert!(broken.is_empty(), "links that lead nowhere:\n{}", broken.join("\n"));
}

#[test]
fn no_document_has_two_versions_of_a_line() {
    let mut marks = Vec::new();
    each_line(|document, number, line| {
        if ["<<<<<<< ", "=======", ">>>>>>> "].iter().any(|mark| line.starts_with(mark)) {
            marks.push(format!("{document}:{number}"));
        }
    });
    assert!(marks.is_empty(), "a merge was left half done:\n{}", marks.join("\n"));
}

/// A path of ours: a Rust source file, or a folder of sources or tests.
fn is_source(text: &str) -> bool {
    let is_path = text.chars().all(|letter| letter.is_ascii_alphanumeric() || "_-./".contains(letter));
    let is_ours = text.ends_with(".rs") || ["/src", "/tests"].iter().any(|folder| text.contains(folder));
    is_path && is_ours && !text.starts_with(['/', '.'])
}

/// Passes on every line of every document, with the document's path from the root.
fn each_line(mut see: impl FnMut(&str, usize, &str)) {
    let mut documents = vec!["README.md".to_owned()];
    for entry in fs::read_dir(root().join("docs")).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        if name.ends_with(".md") {
            documents.push(format!("docs/{name}"));
        }
    }
    assert!(documents.len() > 10, "{documents:?}");
    for document in documents {
        let text = fs::read_to_string(root().join(&document)).unwrap();
        text.lines().enumerate().for_each(|(index, line)| see(&document, index + 1, line));
    }
}

/// All files and folders below a folder, without build output.
fn gather(folder: &Path, known: &mut Vec<PathBuf>) {
    known.push(folder.to_owned());
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true if path.ends_with("target") => {}
            true => gather(&path, known),
            false => known.push(path),
        }
    }
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}
