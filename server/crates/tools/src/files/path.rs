//! Paths as text: converts what a model wrote into an absolute path without `.` and `..`, and back into what the model
//! is shown.

use super::failure::Failure;

/// The most bytes of a path, and of one name in it, as in the kernel.
const PATH_BYTES_MAX: usize = 4095;
const NAME_BYTES_MAX: usize = 255;

/// The absolute path that `path` names, relative to `cwd`. The disk is not consulted: `a/../b` is `b`, whatever `a` is.
pub(super) fn absolute(cwd: &str, path: &str) -> Result<String, Failure> {
    let refused = |what: &str| Err(Failure::InvalidInput(format!("path: {what}; give the path of a file or folder")));
    if path.is_empty() {
        return refused("it is empty");
    }
    if path.contains('\0') {
        return refused("it has a NUL character in it");
    }
    let whole = join(cwd, path);
    if path.len() > PATH_BYTES_MAX || whole.len() > PATH_BYTES_MAX {
        return refused("it is longer than 4095 bytes");
    }
    if whole.split('/').any(|name| name.len() > NAME_BYTES_MAX) {
        return refused("one of its names is longer than 255 bytes");
    }
    Ok(whole)
}

/// `path` relative to `folder`, normalised; an absolute `path` is not changed by `folder`.
pub(super) fn join(folder: &str, path: &str) -> String {
    let mut names: Vec<&str> = Vec::new();
    let folder = if path.starts_with('/') { "" } else { folder };
    for name in folder.split('/').chain(path.split('/')) {
        match name {
            "" | "." => (),
            ".." => drop(names.pop()),
            name => names.push(name),
        }
    }
    format!("/{}", names.join("/"))
}

/// The path as it is written in results: relative to `cwd` if it is beneath that, otherwise absolute.
pub(super) fn shown(cwd: &str, path: &str) -> String {
    match beneath(cwd, path) {
        Some("") => ".".to_owned(),
        Some(rest) => rest.to_owned(),
        None => path.to_owned(),
    }
}

/// The rest of `path` relative to `folder`; empty for the folder itself, `None` if it is elsewhere.
pub(super) fn beneath<'a>(folder: &str, path: &'a str) -> Option<&'a str> {
    let folder = folder.trim_end_matches('/');
    match path.strip_prefix(folder)? {
        "" => Some(""),
        rest => rest.strip_prefix('/'),
    }
}

/// The folder and the name of an absolute path; `None` for the root.
pub(super) fn split(path: &str) -> Option<(&str, &str)> {
    match path.rsplit_once('/')? {
        (_, "") => None,
        ("", name) => Some(("/", name)),
        parts => Some(parts),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_normalised_before_anything_else() {
        let cases = [
            ("a/b", "/w/a/b"),
            ("./a//b/", "/w/a/b"),
            ("../x", "/x"),
            ("../../../x", "/x"),
            ("a/../../w2", "/w2"),
            ("/abs/./y/..", "/abs"),
            ("/", "/"),
            (".", "/w"),
        ];
        for (given, wanted) in cases {
            assert_eq!(absolute("/w", given).unwrap(), wanted, "{given}");
        }
    }

    #[test]
    fn paths_that_no_file_can_have_are_refused() {
        for bad in ["".to_owned(), "a\0b".to_owned(), "x".repeat(256), "a/".repeat(3000)] {
            assert_eq!(absolute("/w", &bad).unwrap_err().code(), "invalid_input");
        }
    }

    #[test]
    fn outputs_show_paths_from_the_working_directory() {
        assert_eq!(shown("/w", "/w/a/b"), "a/b");
        assert_eq!(shown("/w", "/w"), ".");
        assert_eq!(shown("/w", "/wider/a"), "/wider/a");
        assert_eq!(shown("/", "/wider/a"), "wider/a");
    }
}
