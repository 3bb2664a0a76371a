//! One path can be written in many ways. A rule about paths is matched against the plain form too, so that `./secret`
//! and `docs/../secret` do not bypass a rule about `secret`.

/// The plain forms of a path: from the root and, if it is beneath it, from the working directory; without `.`, `..` and
/// double slashes. By the text alone; links on the disk are the scope's business. Empty for an empty path.
pub(super) fn plain(cwd: &str, path: &str) -> Vec<String> {
    if path.is_empty() {
        return Vec::new();
    }
    let whole = match path.starts_with('/') {
        true => straight(path),
        false => straight(&format!("{cwd}/{path}")),
    };
    let beneath = match straight(cwd).as_str() {
        "/" => whole.strip_prefix('/'),
        cwd => whole.strip_prefix(cwd).and_then(|rest| rest.strip_prefix('/')),
    };
    let beneath = beneath.filter(|rest| !rest.is_empty()).map(str::to_owned);
    beneath.into_iter().chain([whole]).collect()
}

fn straight(path: &str) -> String {
    let mut names: Vec<&str> = Vec::new();
    for name in path.split('/') {
        match name {
            "" | "." => (),
            ".." => drop(names.pop()),
            name => names.push(name),
        }
    }
    format!("/{}", names.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_spelled_from_the_root_and_from_the_working_directory() {
        for (cwd, path, expected) in [
            ("/w", "a", &["a", "/w/a"][..]),
            ("/w", "./a//b/", &["a/b", "/w/a/b"]),
            ("/w/", "/w/a", &["a", "/w/a"]),
            ("/w", "a/../../b", &["/b"]),
            ("/w", "/ww/a", &["/ww/a"]),
            ("/w", "/../../etc", &["/etc"]),
            ("/w", ".", &["/w"]),
            ("/", "a", &["a", "/a"]),
            ("/", "/", &["/"]),
            ("/w", "", &[]),
        ] {
            assert_eq!(plain(cwd, path), expected, "{path} in {cwd}");
        }
    }
}
