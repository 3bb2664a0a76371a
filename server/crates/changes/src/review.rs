//! A review as the message that a Pod gets.

/// A comment with the line that it is about, if that is there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Remark {
    pub path: String,
    /// From 1.
    pub line: u64,
    pub quoted: Option<String>,
    pub text: String,
}

/// The most characters of a line that are quoted.
const QUOTED_CHARS_MAX: usize = 400;

/// The message: each comment below its place and the quoted line, then what goes with them.
pub fn message(remarks: &[Remark], text: Option<&str>) -> String {
    let count = remarks.len();
    let mut parts = Vec::new();
    if count > 0 {
        let noun = if count == 1 { "comment" } else { "comments" };
        parts.push(format!("I have reviewed your changes: {count} {noun}."));
    }
    parts.extend(remarks.iter().map(|remark| {
        let Remark { path, line, quoted, text } = remark;
        let quoted = quoted.as_deref().map(|quoted| format!("> {}\n", bounded(quoted))).unwrap_or_default();
        format!("{path}:{line}\n{quoted}{}", text.trim())
    }));
    parts.extend(text.map(str::trim).filter(|text| !text.is_empty()).map(str::to_owned));
    parts.join("\n\n")
}

fn bounded(line: &str) -> String {
    match line.char_indices().nth(QUOTED_CHARS_MAX) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_review_names_places_quotes_lines_and_ends_with_the_word_that_goes_with_it() {
        let remark = |line, quoted: Option<&str>, text: &str| Remark {
            path: "src/a.rs".to_owned(),
            line,
            quoted: quoted.map(str::to_owned),
            text: text.to_owned(),
        };
        let remarks = [remark(3, Some("let x = 1;"), "Why 1?\n"), remark(9, None, "And here")];
        assert_eq!(
            message(&remarks, Some(" Thanks. ")),
            "I have reviewed your changes: 2 comments.\n\nsrc/a.rs:3\n> let x = 1;\nWhy 1?\n\nsrc/a.rs:9\nAnd here\n\nThanks."
        );
        assert_eq!(message(&[], Some("Fine")), "Fine");
        let long = "x".repeat(1_000);
        assert!(message(&[remark(1, Some(&long), "?")], None).contains(&format!("> {}…\n", "x".repeat(400))));
    }
}
