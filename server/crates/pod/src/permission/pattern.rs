//! Patterns of rules as text: `*` stands for any text, including none; `\*` and `\\` stand for themselves, as does
//! everything else.

/// Whether the whole text matches the pattern.
pub(super) fn matches(pattern: &str, text: &str) -> bool {
    fits(&literals(pattern), text)
}

/// The single text that the pattern stands for, or `None` if it contains a wildcard.
pub(super) fn exact(pattern: &str) -> Option<String> {
    match literals(pattern).as_slice() {
        [only] => Some(only.clone()),
        _ => None,
    }
}

/// The pattern that stands for exactly this text.
pub(super) fn of_text(text: &str) -> String {
    let mut pattern = String::new();
    for character in text.chars() {
        if matches!(character, '*' | '\\') {
            pattern.push('\\');
        }
        pattern.push(character);
    }
    pattern
}

/// The pattern's literal pieces, split at each `*`.
pub(super) fn literals(pattern: &str) -> Vec<String> {
    let mut parts = vec![String::new()];
    let mut characters = pattern.chars();
    while let Some(character) = characters.next() {
        let plain = match character {
            '*' => {
                parts.push(String::new());
                continue;
            }
            '\\' => characters.next().unwrap_or('\\'),
            other => other,
        };
        if let Some(part) = parts.last_mut() {
            part.push(plain);
        }
    }
    parts
}

/// Whether the text consists of these pieces with anything in between.
pub(super) fn fits(parts: &[String], text: &str) -> bool {
    let Some((first, others)) = parts.split_first() else { return false };
    let Some(mut rest) = text.strip_prefix(first.as_str()) else { return false };
    let Some((last, between)) = others.split_last() else { return rest.is_empty() };
    for part in between {
        let Some(at) = rest.find(part.as_str()) else { return false };
        rest = &rest[at + part.len()..];
    }
    rest.ends_with(last.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_stands_for_any_text() {
        for (pattern, text, expected) in [
            ("cargo *", "cargo test", true),
            ("cargo *", "cargo", false),
            ("cargo test", "cargo test", true),
            ("cargo test", "cargo test -p x", false),
            ("*", "", true),
            ("git * --stat", "git diff --stat", true),
            ("git * --stat", "git diff --stat x", false),
            ("a*b*c", "abbc", true),
            ("a*b*c", "acb", false),
            ("ab*ba", "aba", false),
            (r"rm \*", "rm *", true),
            (r"rm \*", "rm x", false),
            (r"a\\*", r"a\b", true),
        ] {
            assert_eq!(matches(pattern, text), expected, "{pattern} over {text}");
        }
        assert_eq!(exact(&of_text(r"a*\b")).unwrap(), r"a*\b");
        assert_eq!(exact("a*"), None);
    }
}
