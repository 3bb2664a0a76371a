//! Templates of addresses (RFC 6570), as far as people type into them: where in a template the text ends, what may come
//! next, and whether it is a whole address.

#[cfg(test)]
mod fuzz;

/// A template. It begins with fixed text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Template {
    pub(crate) text: String,
    parts: Vec<Part>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Part {
    Fixed(String),
    Variable(Variable),
    /// An unsupported expression: any text fits from here on.
    Rest,
}

/// `{name}`, or `{+name}` and `{name*}`, whose value may contain what separates parts of an address.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Variable {
    name: String,
    is_wide: bool,
}

/// Where in a template a text ends that somebody types.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Typed {
    /// It is a whole address.
    pub(crate) is_whole: bool,
    /// The text up to the next variable, if it is not there yet.
    pub(crate) next: Option<String>,
    /// The variable whose value is being typed.
    pub(crate) open: Option<Open>,
}

/// A variable whose value is being typed.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Open {
    pub(crate) name: String,
    pub(crate) value: String,
    /// The variables before it, with their values.
    pub(crate) before: Vec<(String, String)>,
    /// The text before the value.
    prefix: String,
    is_wide: bool,
    /// The fixed text behind it.
    then: String,
}

impl Template {
    /// Returns `None` if it is malformed, or begins with a variable, so that every text would fit.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let mut parts = Vec::new();
        let mut rest = text;
        while !rest.is_empty() {
            let (fixed, after) = rest.split_once('{').unwrap_or((rest, ""));
            if !fixed.is_empty() {
                parts.push(Part::Fixed(fixed.to_owned()));
            }
            if fixed.len() == rest.len() {
                break;
            }
            let (expression, after) = after.split_once('}')?;
            let is_next_to_another = matches!(parts.last(), Some(Part::Variable(_)));
            match Variable::parse(expression).filter(|_| !is_next_to_another) {
                Some(variable) => parts.push(Part::Variable(variable)),
                None => {
                    parts.push(Part::Rest);
                    break;
                }
            }
            rest = after;
        }
        let is_odd =
            |part: &Part| matches!(part, Part::Fixed(text) if text.contains(char::is_whitespace) || text.contains('}'));
        let begins = matches!(parts.first(), Some(Part::Fixed(_)));
        (begins && !parts.iter().any(is_odd)).then(|| Self { text: text.to_owned(), parts })
    }

    /// The text before the first variable.
    pub(crate) fn beginning(&self) -> &str {
        match self.parts.first() {
            Some(Part::Fixed(text)) => text,
            _ => "",
        }
    }

    pub(crate) fn is_whole(&self, text: &str) -> bool {
        self.typed(text).is_some_and(|typed| typed.is_whole)
    }

    /// Returns `None` if the text is not the beginning of any of the template's addresses.
    pub(crate) fn typed(&self, text: &str) -> Option<Typed> {
        let ended = |is_whole, next| Some(Typed { is_whole, next, open: None });
        let mut rest = text;
        let mut before = Vec::new();
        for (at, part) in self.parts.iter().enumerate() {
            let so_far = &text[..text.len() - rest.len()];
            match part {
                Part::Rest => return ended(true, None),
                Part::Fixed(fixed) => match rest.strip_prefix(fixed.as_str()) {
                    Some(after) => rest = after,
                    None if fixed.starts_with(rest) => return ended(false, Some(format!("{so_far}{fixed}"))),
                    None => return None,
                },
                Part::Variable(variable) => {
                    let then = match self.parts.get(at + 1) {
                        Some(Part::Fixed(fixed)) => fixed.as_str(),
                        _ => "",
                    };
                    let end = rest.find(then).filter(|_| !then.is_empty());
                    if let Some(value) = end.map(|end| &rest[..end]).filter(|value| variable.takes(value)) {
                        if value.is_empty() {
                            return None;
                        }
                        before.push((variable.name.clone(), decoded(value)));
                        rest = &rest[value.len()..];
                        continue;
                    }
                    let is_last = self.parts[at + 1..].iter().all(|part| *part == Part::Rest);
                    if variable.takes(rest) {
                        let next = (!rest.is_empty() && !then.is_empty()).then(|| format!("{text}{then}"));
                        // A value that ends like what comes behind it makes the longer text another one.
                        let next = next.filter(|next| self.typed(next).is_some());
                        let Variable { name, is_wide } = variable.clone();
                        let (value, prefix, then) = (decoded(rest), so_far.to_owned(), then.to_owned());
                        let open = Some(Open { name, value, before, prefix, is_wide, then });
                        return Some(Typed { is_whole: is_last && !rest.is_empty(), next, open });
                    }
                    // What cannot be part of the value belongs to what comes behind it.
                    let end = rest.find(|letter| !variable.takes_letter(letter)).filter(|end| *end > 0)?;
                    return match (is_last && at + 1 < self.parts.len(), then.starts_with(&rest[end..])) {
                        (true, _) => ended(true, None),
                        (false, true) if !then.is_empty() => {
                            ended(false, Some(format!("{so_far}{}{then}", &rest[..end])))
                        }
                        _ => None,
                    };
                }
            }
        }
        if rest.is_empty() { ended(true, None) } else { None }
    }
}

impl Open {
    /// The text with this value, up to the next variable.
    pub(crate) fn filled(&self, value: &str) -> String {
        format!("{}{}{}", self.prefix, encoded(value, self.is_wide), self.then)
    }
}

impl Variable {
    fn parse(expression: &str) -> Option<Self> {
        let (name, is_wide) = match (expression.strip_prefix('+'), expression.strip_suffix('*')) {
            (Some(name), _) => (name.strip_suffix('*').unwrap_or(name), true),
            (None, Some(name)) => (name, true),
            (None, None) => (expression, false),
        };
        let is_name = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '_' | '.' | '%' | '-');
        let is_fit = !name.is_empty() && !name.starts_with('.') && name.chars().all(is_name);
        is_fit.then(|| Self { name: name.to_owned(), is_wide })
    }

    fn takes(&self, value: &str) -> bool {
        value.chars().all(|letter| self.takes_letter(letter))
    }

    fn takes_letter(&self, letter: char) -> bool {
        self.is_wide || !matches!(letter, '/' | '?' | '#' | '&' | ',')
    }
}

/// A value as it stands in an address. `is_wide`: what separates parts of an address stays as it is.
fn encoded(value: &str, is_wide: bool) -> String {
    let stays = |byte: u8| {
        byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) || (is_wide && b":/?#[]@!$&'()*+,;=%".contains(&byte))
    };
    let letter = |byte: u8| if stays(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") };
    value.bytes().map(letter).collect()
}

/// The value of a part of an address. What is no text stays as it is.
fn decoded(text: &str) -> String {
    let (mut bytes, mut rest) = (Vec::new(), text.as_bytes());
    while let Some((&first, after)) = rest.split_first() {
        let byte = after.get(..2).filter(|_| first == b'%').and_then(|hex| std::str::from_utf8(hex).ok());
        match byte.and_then(|hex| u8::from_str_radix(hex, 16).ok()) {
            Some(byte) => {
                bytes.push(byte);
                rest = &after[2..];
            }
            None => {
                bytes.push(first);
                rest = after;
            }
        }
    }
    String::from_utf8(bytes).unwrap_or_else(|_| text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whether it is whole, what comes next, and the open variable with its value.
    fn typed(template: &str, text: &str) -> Option<(bool, Option<String>, Option<String>)> {
        let Typed { is_whole, next, open } = Template::parse(template).unwrap().typed(text)?;
        Some((is_whole, next, open.map(|open| format!("{}={}", open.name, open.value))))
    }

    #[test]
    fn what_comes_next_is_not_offered_if_it_would_not_fit() {
        let offered = |template: &str, text: &str| typed(template, text).map(|(_, next, _)| next);
        assert_eq!(offered("x-{a}/b/{c}", "x-1"), Some(Some("x-1/b/".to_owned())));
        assert_eq!(offered("%zz{a*}%zz%zz{a*}a", "%zz%zz"), Some(None));
    }

    #[test]
    fn a_text_is_somewhere_in_a_template_or_does_not_belong_to_it() {
        const NOTE: &str = "note://{id}";
        const FILE: &str = "repo://{owner}/{name}/raw/{+path}";
        const POD: &str = "yoi://pods/{id}/transcript{?before}";
        let at = |is_whole, next: &str, open: &str| {
            let said = |text: &str| (!text.is_empty()).then(|| text.to_owned());
            Some((is_whole, said(next), said(open)))
        };
        for (template, text, expected) in [
            (NOTE, "", at(false, "note://", "")),
            (NOTE, "no", at(false, "note://", "")),
            (NOTE, "note://", at(false, "", "id=")),
            (NOTE, "note://1", at(true, "", "id=1")),
            (NOTE, "note://a%20b", at(true, "", "id=a b")),
            (NOTE, "note://1/2", None),
            (NOTE, "notes", None),
            (FILE, "repo://", at(false, "", "owner=")),
            (FILE, "repo://ada", at(false, "repo://ada/", "owner=ada")),
            (FILE, "repo:///", None),
            (FILE, "repo://ada/x", at(false, "repo://ada/x/raw/", "name=x")),
            (FILE, "repo://ada/x/r", at(false, "repo://ada/x/raw/", "")),
            (FILE, "repo://ada/x/y", None),
            (FILE, "repo://ada/x/raw/", at(false, "", "path=")),
            (FILE, "repo://ada/x/raw/src/a.rs", at(true, "", "path=src/a.rs")),
            (POD, "yoi://pods/1", at(false, "yoi://pods/1/transcript", "id=1")),
            (POD, "yoi://pods/1/transcript", at(true, "", "")),
            (POD, "yoi://pods/1/transcript?before=3", at(true, "", "")),
            ("a:{x}{?y}", "a:1?y=2", at(true, "", "")),
            ("a:{x}/end", "a:1/end", at(true, "", "")),
            ("a:{x}/end", "a:1/end2", None),
            ("fixed://all", "fixed://all", at(true, "", "")),
        ] {
            assert_eq!(typed(template, text), expected, "{template} {text}");
        }
    }

    #[test]
    fn a_value_is_put_into_the_address_up_to_the_next_variable() {
        let filled = |template: &str, text: &str, value: &str| {
            Template::parse(template).unwrap().typed(text).unwrap().open.unwrap().filled(value)
        };
        assert_eq!(filled("repo://{owner}/{name}", "repo://a", "a d/a"), "repo://a%20d%2Fa/");
        assert_eq!(filled("repo://{owner}/{name}", "repo://a/b", "bob"), "repo://a/bob");
        assert_eq!(filled("file:///{+path}", "file:///s", "src/ü.rs"), "file:///src/%C3%BC.rs");
        let open = Template::parse("a:{x}/{y}").unwrap().typed("a:1%2f/2").unwrap().open.unwrap();
        assert_eq!(open.before, [("x".to_owned(), "1/".to_owned())]);
    }

    #[test]
    fn what_is_no_template_or_fits_everything_is_none() {
        for text in ["", "{x}", "{+url}/a", "note://{id", "note://}x", "no te://{id}"] {
            assert_eq!(Template::parse(text), None, "{text}");
        }
        for text in ["a:{", "%", "%f", "%zz", "%ff"] {
            assert_eq!(decoded(text), text);
        }
        assert!(Template::parse("a:{x}{y}").unwrap().typed("a:1/2").unwrap().is_whole);
    }
}
