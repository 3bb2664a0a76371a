//! Names of branches.

use protocol::PodName;

/// The longest name of a branch, in bytes. Its file is named after it.
const BRANCH_BYTES_MAX: usize = 200;

/// Why this is not a valid branch name; `None` if it is one. The rules are git's.
pub(super) fn refusal(branch: &str) -> Option<&'static str> {
    let is_bad = |character: char| character.is_control() || " ~^:?*[\\\u{7f}".contains(character);
    let part_is_bad = |part: &str| part.is_empty() || part.starts_with('.') || part.ends_with(".lock");
    if branch.is_empty() {
        Some("it is empty")
    } else if branch.len() > BRANCH_BYTES_MAX {
        Some("it has more than 200 bytes")
    } else if branch.starts_with('-') {
        Some("it begins with a hyphen")
    } else if branch.contains(is_bad) {
        Some("it has a space, a control character or one of ~^:?*[\\ in it")
    } else if branch.split('/').any(part_is_bad) {
        Some("one of its parts is empty, begins with a dot or ends with .lock")
    } else if branch.contains("..") || branch.contains("@{") || branch.ends_with('.') || branch == "@" {
        Some("it has .. or @{ in it, ends with a dot, or is @")
    } else if branch == "HEAD" || branch.starts_with("refs/") {
        Some("git uses this name for something else")
    } else {
        None
    }
}

/// Names for the branch of a Pod, in the order in which they are tried.
pub(super) fn of_pod(name: &PodName) -> impl Iterator<Item = String> {
    let plain = name.as_str().replace("..", "-");
    let plain = plain.trim_start_matches(['.', '-']).trim_end_matches('.');
    let plain = plain.strip_suffix(".lock").unwrap_or(plain);
    let base = match refusal(plain) {
        None => plain.to_owned(),
        Some(_) => format!("pod-{}", name.as_str().replace(|character: char| !character.is_ascii_alphanumeric(), "")),
    };
    std::iter::once(base.clone()).chain((2..).map(move |number| format!("{base}-{number}")))
}

/// Whether no branch of this name can be made beside the others: it exists, or a branch is a folder of the other.
pub(super) fn is_taken(branch: &str, others: &[String]) -> bool {
    let is_within = |path: &str, folder: &str| path.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/'));
    others.iter().any(|other| other == branch || is_within(other, branch) || is_within(branch, other))
}

/// The name of the folder for a branch.
pub(super) fn folder(branch: &str) -> String {
    branch.replace('/', "-")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_refused_as_git_refuses_them() {
        for fine in ["main", "refunds", "feature/refund-rounding", "a.b", "ü", "v1@x", "x;y", "a$b"] {
            assert_eq!(refusal(fine), None, "{fine}");
        }
        for bad in [
            "",
            "-x",
            "--upload-pack=x",
            "a b",
            "a..b",
            "a~1",
            "a^",
            "a:b",
            "a?",
            "a*",
            "a[b",
            "a\\b",
            "/a",
            "a/",
            "a//b",
            ".a",
            "a/.b",
            "a.lock",
            "a.lock/b",
            "a.",
            "@",
            "a@{1}",
            "HEAD",
            "refs/heads/x",
            "a\nb",
            "a\0b",
            "a\u{7f}",
        ] {
            assert!(refusal(bad).is_some(), "{bad:?}");
        }
        assert!(refusal(&"x".repeat(201)).is_some());
    }

    #[test]
    fn each_pod_has_a_name_for_its_branch() {
        for (name, branch) in [
            ("refunds", "refunds"),
            ("a..b", "a-b"),
            ("-x", "x"),
            (".x.", "x"),
            ("x.lock", "x"),
            ("HEAD", "pod-HEAD"),
            ("---", "pod-"),
        ] {
            let branches: Vec<_> = of_pod(&PodName::parse(name).unwrap()).take(2).collect();
            assert_eq!(branches, [branch.to_owned(), format!("{branch}-2")], "{name}");
            assert_eq!(refusal(branch), None, "{branch}");
        }
    }

    #[test]
    fn a_branch_is_no_folder_of_another() {
        let others = ["main".to_owned(), "feature/a".to_owned()];
        for taken in ["main", "feature", "feature/a", "main/x", "feature/a/b"] {
            assert!(is_taken(taken, &others), "{taken}");
        }
        for free in ["mai", "main2", "feature/b", "features"] {
            assert!(!is_taken(free, &others), "{free}");
        }
    }
}
