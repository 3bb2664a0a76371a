//! The front matter of a Markdown file: lines between two lines of dashes.

/// The most characters of a description.
const DESCRIPTION_CHARS_MAX: usize = 300;

/// What is read of it.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Front {
    pub(super) description: Option<String>,
}

impl Front {
    /// The front matter and the text below it.
    pub(super) fn of(text: &str) -> (Self, &str) {
        let begins = text.strip_prefix("---\n").or_else(|| text.strip_prefix("---\r\n"));
        let Some(rest) = begins else { return (Self::default(), text) };
        let mut front = Self::default();
        let mut at = 0;
        for line in rest.split_inclusive('\n') {
            at += line.len();
            let line = line.trim_end();
            if line == "---" {
                return (front, &rest[at..]);
            }
            if let Some(value) = line.strip_prefix("description:") {
                let value = value.trim().trim_matches(['"', '\'']);
                front.description = Some(value.to_owned()).filter(|value| !value.is_empty());
            }
        }
        // It does not end, so it is none.
        (Self::default(), text)
    }
}

/// A description as one short line.
pub(super) fn one_line(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(DESCRIPTION_CHARS_MAX) {
        Some((at, _)) => format!("{}…", &line[..at]),
        None => line,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_front_matter_ends_where_its_dashes_are() {
        let (front, body) = Front::of("---\nname: x\ndescription: 'say it'\n---\nbody\n---\n");
        assert_eq!((front.description.as_deref(), body), (Some("say it"), "body\n---\n"));
        for text in ["body", "---\ndescription: x\nno end", "--- \ndescription: x\n---\n"] {
            assert_eq!(Front::of(text), (Front::default(), text));
        }
        assert_eq!(one_line(" a\n b "), "a b");
        assert_eq!(one_line(&"x".repeat(400)).chars().count(), 301);
    }
}
