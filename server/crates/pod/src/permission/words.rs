//! Parses a command line that consists of nothing but literal words, which is what a rule that allows commands is
//! matched against.
//!
//! This reads a small part of the shell's language and gives up on everything else: a text that it accepts means to a
//! shell exactly the words that it returns, and nothing more. Expansions, substitutions, globs, braces, assignments,
//! functions, compound commands and here-documents are left to a person, and so are builtins that set something
//! (`setters`).

use super::setters;

/// Separates two words of a command.
pub(super) const GAP: char = '\0';
/// Surrounds what joins commands, and precedes the target of a redirection: no `*` reaches across it.
pub(super) const WALL: char = '\u{1}';
/// A `*` of a pattern, once the pattern has been parsed.
pub(super) const STAR: char = '\u{2}';

/// Words that begin something other than a command.
const RESERVED: [&str; 23] = [
    "!", "[[", "]]", "{", "}", "case", "coproc", "do", "done", "elif", "else", "esac", "fi", "for", "function", "if",
    "in", "select", "then", "time", "until", "while", "((",
];
/// A redirection to or from here is not worth mentioning.
const NOWHERE: &str = "/dev/null";

/// One command with its words, and the files that its output is redirected to.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Simple {
    pub(super) words: Vec<String>,
    files: Vec<(&'static str, String)>,
}

impl Simple {
    /// Its first word, or the one behind `command` or `builtin`.
    pub(super) fn name(&self) -> Option<&str> {
        setters::split(&self.words).map(|(name, _)| name)
    }

    /// The words in one line, with walls before its files.
    pub(super) fn line(&self) -> String {
        let mut line = self.words.join(&GAP.to_string());
        for (sign, file) in &self.files {
            line.extend([WALL.to_string(), (*sign).to_owned(), GAP.to_string(), file.clone()]);
        }
        line
    }
}

/// Commands, and what joins each to the next.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Line {
    pub(super) commands: Vec<Simple>,
    joints: Vec<&'static str>,
}

impl Line {
    /// A pattern for the first words of each command with anything after them; `None` if output goes to a file, if a
    /// word would need quotes in a pattern, or if a command has no such words.
    pub(super) fn general(&self, words: usize) -> Option<String> {
        let mut pattern = String::new();
        for (at, command) in self.commands.iter().enumerate() {
            let begin: Vec<&str> = command.words.iter().take(words).map(String::as_str).collect();
            let is_named = begin.iter().skip(1).all(|word| !word.starts_with(['-', '/', '.']));
            if !command.files.is_empty() || begin.len() < words || !is_named || !begin.iter().all(|word| is_bare(word))
            {
                return None;
            }
            pattern.push_str(&begin.join(" "));
            pattern.push_str(" *");
            if let Some(joint) = self.joints.get(at).filter(|_| at + 1 < self.commands.len()) {
                pattern.push_str(if *joint == ";" { "" } else { " " });
                pattern.push_str(joint);
                pattern.push(' ');
            }
        }
        Some(pattern)
    }

    /// Whether, in a pattern, a star stands for a part of the name of a file.
    pub(super) fn is_redirected_anywhere(&self) -> bool {
        self.commands.iter().flat_map(|command| &command.files).any(|(_, file)| file.contains(STAR))
    }

    /// All of it in one line, with walls between commands.
    pub(super) fn line(&self) -> String {
        let mut line = String::new();
        for (at, command) in self.commands.iter().enumerate() {
            line.push_str(&command.line());
            if let Some(joint) = self.joints.get(at).filter(|_| at + 1 < self.commands.len()) {
                line.extend([WALL.to_string(), (*joint).to_owned(), WALL.to_string()]);
            }
        }
        line
    }
}

/// The commands that a text consists of; `None` if it contains anything but literal words.
pub(super) fn read(text: &str) -> Option<Line> {
    Reader::of(text, false).line()
}

/// Like [`read`], for a rule's pattern: each unescaped `*` stands for any words.
pub(super) fn read_pattern(pattern: &str) -> Option<Line> {
    Reader::of(pattern, true).line()
}

struct Reader<'a> {
    rest: std::iter::Peekable<std::str::Chars<'a>>,
    is_pattern: bool,
    line: Line,
    command: Simple,
    /// The word being read, if any.
    word: Option<String>,
    /// A part of it is quoted, so digits in it are no file descriptor.
    is_quoted: bool,
    /// A redirection that waits for its file.
    sign: Option<&'static str>,
}

impl<'a> Reader<'a> {
    fn of(text: &'a str, is_pattern: bool) -> Self {
        let rest = text.chars().peekable();
        Self {
            rest,
            is_pattern,
            line: Line::default(),
            command: Simple::default(),
            word: None,
            is_quoted: false,
            sign: None,
        }
    }

    fn line(mut self) -> Option<Line> {
        while let Some(character) = self.rest.next() {
            match character {
                ' ' | '\t' => self.end_word()?,
                '\'' => self.quoted()?,
                '"' => self.double_quoted()?,
                '\\' => self.escaped()?,
                '#' if self.word.is_none() => while self.rest.next_if(|next| *next != '\n').is_some() {},
                '\n' | ';' | '&' | '|' => self.joint(character)?,
                '<' | '>' => self.redirection(character)?,
                '*' if self.is_pattern => self.push(STAR),
                other if is_plain(other, self.word.as_deref()) => self.push(other),
                _ => return None,
            }
        }
        self.end_command()?;
        (!self.line.commands.is_empty()).then_some(self.line)
    }

    fn push(&mut self, character: char) {
        self.word.get_or_insert_default().push(character);
    }

    fn quote(&mut self) {
        self.is_quoted = true;
        self.word.get_or_insert_default();
    }

    fn quoted(&mut self) -> Option<()> {
        self.quote();
        loop {
            match self.rest.next()? {
                '\'' => return Some(()),
                '*' if self.is_pattern => self.push(STAR),
                character if is_mark(character) => return None,
                character => self.push(character),
            }
        }
    }

    fn double_quoted(&mut self) -> Option<()> {
        self.quote();
        loop {
            match self.rest.next()? {
                '"' => return Some(()),
                '$' | '`' => return None,
                '\\' => match self.rest.next()? {
                    '\n' => (),
                    character @ ('$' | '`' | '"' | '\\') => self.push(character),
                    character if is_mark(character) => return None,
                    character => {
                        self.push('\\');
                        self.push(character);
                    }
                },
                '*' if self.is_pattern => self.push(STAR),
                character if is_mark(character) => return None,
                character => self.push(character),
            }
        }
    }

    fn escaped(&mut self) -> Option<()> {
        match self.rest.next()? {
            '\n' => (),
            // In a pattern this is the pattern's own escape: an unquoted star is a glob in a command, and never a
            // literal word.
            '*' if self.is_pattern => return None,
            character if is_mark(character) => return None,
            character => {
                self.quote();
                self.push(character);
            }
        }
        Some(())
    }

    fn end_word(&mut self) -> Option<()> {
        self.is_quoted = false;
        let Some(word) = self.word.take() else { return Some(()) };
        if let Some(sign) = self.sign.take() {
            let is_copy = sign.ends_with('&') && (word == "-" || is_digit(&word));
            if !is_copy && word != NOWHERE {
                self.command.files.push((sign, word));
            }
            return Some(());
        }
        let begins = self.command.words.is_empty();
        if begins && (word.is_empty() || RESERVED.contains(&word.as_str()) || is_assignment(&word)) {
            return None;
        }
        self.command.words.push(word);
        Some(())
    }

    fn end_command(&mut self) -> Option<()> {
        self.end_word()?;
        if self.sign.is_some() {
            return None;
        }
        let command = std::mem::take(&mut self.command);
        if command.words.is_empty() {
            return command.files.is_empty().then_some(());
        }
        if setters::is_one(&command.words) {
            return None;
        }
        self.line.commands.push(command);
        Some(())
    }

    fn joint(&mut self, first: char) -> Option<()> {
        let joint = match (first, self.rest.peek()) {
            ('\n', _) => ";",
            (';', Some(';' | '&')) => return None,
            // `a &> b c` is one command in bash; in another shell `a` runs in the background, and then `c`.
            ('&', Some('>')) => return None,
            ('&', Some('&')) => "&&",
            ('|', Some('|')) => "||",
            ('|', Some('&')) => "|&",
            (';', _) => ";",
            ('&', _) => "&",
            _ => "|",
        };
        if joint.len() == 2 {
            self.rest.next();
        }
        self.end_command()?;
        let is_open = self.line.joints.len() < self.line.commands.len();
        match (first, is_open) {
            (_, true) => self.line.joints.push(joint),
            // An empty line, possibly after something that joins.
            ('\n', false) => (),
            (_, false) => return None,
        }
        Some(())
    }

    fn redirection(&mut self, first: char) -> Option<()> {
        // `2>`: which stream it is says nothing about where it goes. Longer numbers are words to some shells.
        if let Some(word) = self.word.take_if(|word| !self.is_quoted && is_number(word))
            && !is_digit(&word)
        {
            return None;
        }
        self.end_word()?;
        let sign = match (first, self.rest.peek()) {
            ('<', Some('<' | '>' | '(')) | ('>', Some('(')) => return None,
            ('<', Some('&')) => "<&",
            ('>', Some('>')) => ">>",
            ('>', Some('|')) => ">|",
            ('>', Some('&')) => ">&",
            ('<', _) => "<",
            _ => ">",
        };
        if sign.len() == 2 {
            self.rest.next();
        }
        self.sign.replace(sign).is_none().then_some(())
    }
}

/// Stands for itself everywhere in a word, unquoted. `~` means a home directory at the beginning of a word or of a path
/// in it.
fn is_plain(character: char, word: Option<&str>) -> bool {
    match character {
        '~' => word.is_some_and(|word| !word.is_empty() && !word.ends_with(['=', ':'])),
        '#' => true,
        '$' | '`' | '(' | ')' | '{' | '}' | '*' | '?' | '[' | '!' => false,
        other => !other.is_control() && !other.is_whitespace(),
    }
}

/// A word that stands for itself in a pattern, without quotes.
fn is_bare(word: &str) -> bool {
    let is_plain = |sign: char| sign.is_ascii_alphanumeric() || matches!(sign, '-' | '_' | '.' | '/' | ':' | '@' | '+');
    !word.is_empty() && word.chars().all(is_plain)
}

fn is_number(word: &str) -> bool {
    !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_digit())
}

fn is_digit(word: &str) -> bool {
    word.len() == 1 && is_number(word)
}

/// One of the characters with a special meaning here.
fn is_mark(character: char) -> bool {
    matches!(character, GAP | WALL | STAR)
}

/// `NAME=…` before a command sets a variable for it, which can change what the command does.
fn is_assignment(word: &str) -> bool {
    word.split_once('=').is_some_and(|(name, _)| {
        let name = name.strip_suffix('+').unwrap_or(name);
        !name.is_empty() && name.chars().all(|character| character.is_ascii_alphanumeric() || character == '_')
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Option<Vec<Vec<String>>> {
        Some(read(text)?.commands.into_iter().map(|command| command.words).collect())
    }

    #[test]
    fn literal_words_are_read_as_a_shell_reads_them() {
        for (text, expected) in [
            ("cargo test", &[&["cargo", "test"][..]][..]),
            ("  cargo\ttest  ", &[&["cargo", "test"]]),
            ("cargo 'a b' \"c d\" e\\ f g\"h\"'i'", &[&["cargo", "a b", "c d", "e f", "ghi"]]),
            ("car\\\ngo te\"\\\nst\"", &[&["cargo", "test"]]),
            ("a; b && c || d | e & f\n\ng", &[&["a"], &["b"], &["c"], &["d"], &["e"], &["f"], &["g"]]),
            ("a 2>&1 >/dev/null </dev/null", &[&["a"]]),
            ("a # b; c", &[&["a"]]),
            ("a b#c", &[&["a", "b#c"]]),
            ("git show HEAD~1 x=~y a=b", &[]),
            ("git show HEAD~1 a=b", &[&["git", "show", "HEAD~1", "a=b"]]),
            ("a \"\\x\\\\\" '' \"!\"", &[&["a", "\\x\\", "", "!"]]),
            ("a |\n b", &[&["a"], &["b"]]),
            ("a \"2\">/dev/null", &[&["a", "2"]]),
        ] {
            let expected: Vec<Vec<String>> =
                expected.iter().map(|words| words.iter().map(|word| (*word).to_owned()).collect()).collect();
            assert_eq!(words(text).unwrap_or_default(), expected, "{text}");
        }
    }

    #[test]
    fn what_is_more_than_literal_words_is_not_read() {
        for text in [
            "a $b",
            "a ${b}",
            "a $(b)",
            "a `b`",
            "a \"$b\"",
            "a \"`b`\"",
            "a $'b'",
            "a *",
            "a b?",
            "a [b]",
            "a {b,c}",
            "~/a",
            "a ~",
            "a b=~/c",
            "X=1 a",
            "X+=1 a",
            "if a; then b; fi",
            "! a",
            "time a",
            "{ a; }",
            "(a)",
            "a()",
            "function a",
            "for a",
            "a <<b",
            "a <<<b",
            "a <(b)",
            "a >(b)",
            "a <>b",
            "a ;; b",
            "a && && b",
            "; a",
            "a >",
            "a 'b",
            "a \"b",
            "a \\",
            "",
            " ",
            "# a",
            "\"\" a",
            "[[ a ]]",
            "a\u{a0}b",
            "a\u{b}b",
            "> a",
            "a !b",
            "a &>/dev/null b",
            "a &>>/dev/null b",
            "a 10>/dev/null",
            "a 2 \"\\\u{1}&&\\\u{1}b\"",
            "a; printf -v b c",
            "export A=b; a",
            "set -k; a",
        ] {
            assert_eq!(words(text), None, "{text}");
        }
    }

    #[test]
    fn a_file_that_output_goes_to_is_no_word() {
        assert_eq!(read("a b > c").unwrap().line(), "a\0b\u{1}>\0c");
        assert_eq!(read("a b >> c 2>d").unwrap().line(), "a\0b\u{1}>>\0c\u{1}>\0d");
        assert_eq!(read("a >&10").unwrap().line(), "a\u{1}>&\u{0}10");
        assert_eq!(read("a 5> c").unwrap().line(), "a\u{1}>\0c");
        assert_eq!(read("a && b; c").unwrap().line(), "a\u{1}&&\u{1}b\u{1};\u{1}c");
        assert_eq!(read_pattern("a * && b*").unwrap().line(), "a\0\u{2}\u{1}&&\u{1}b\u{2}");
    }
}
