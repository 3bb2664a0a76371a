//! `demo`: a small task performed with real tools. It lists the folder, reads a text, and asks for approval before it
//! adds a line to it; if there is no text it asks to create one.
//!
//! The next step depends on the results so far, so the script grows with each result. Like every script, it is
//! deterministic in the messages.

use protocol::{Message, Role};
use serde_json::{Value, json};

use super::script::Line;

/// The whole message that requests it.
const WORD: &str = "demo";
/// The file that it creates if it finds nothing to read.
const OWN_FILE: &str = "rehearsal.md";
const ADDED: &str = "One line more, added by a rehearsal.";
/// Lines longer than this are not quoted to find their place again, in bytes.
const LINE_BYTES_MAX: usize = 500;

const BEGINNING: &str = "Here is how an agent works. I look at what is in my folder first.";

/// Whether the message consists of nothing else.
pub(super) fn is_asked(script: &str) -> bool {
    script.trim() == WORD
}

/// The lines of the script, as far as the messages since determine them.
pub(super) fn lines(since: &[Message]) -> Vec<Line> {
    let mut results = since.iter().filter(|message| message.role == Role::Tool).map(|message| message.content.as_str());
    let mut lines = vec![say(BEGINNING), call("Glob", json!({ "pattern": "*" }))];
    let Some(listed) = results.next() else { return lines };
    let Some(path) = text_of(listed) else {
        lines.extend(own_file("Nothing here is a text that I could read, so I ask to make one."));
        lines.extend(results.next().map(|written| end(OWN_FILE, Change::Made, written)));
        return lines;
    };
    lines.extend([say(&format!("`{path}` is a text. I read it.")), call("Read", json!({ "path": path }))]);
    let Some(read) = results.next() else { return lines };
    let Some(place) = last_line(read) else {
        lines.extend(own_file("Nothing in it can be told apart, so I ask to make a text of my own."));
        lines.extend(results.next().map(|written| end(OWN_FILE, Change::Made, written)));
        return lines;
    };
    let edit = json!({ "path": path, "old": place, "new": format!("{place}\n\n{ADDED}") });
    lines.extend([
        say("I would add one line to it. That changes a file, so it is for you to allow; nothing is written before."),
        call("Edit", edit),
    ]);
    lines.extend(results.next().map(|edited| end(&path, Change::Edited, edited)));
    lines
}

enum Change {
    Made,
    Edited,
}

fn own_file(why: &str) -> [Line; 2] {
    let content = format!("# A rehearsal\n\n{ADDED}\n");
    [say(why), call("Write", json!({ "path": OWN_FILE, "content": content }))]
}

/// The final answer: in Markdown, and true to the tool's result.
fn end(path: &str, change: Change, result: &str) -> Line {
    let said = result.lines().next().unwrap_or_default();
    let (verb, word) = match change {
        Change::Made => ("wrote", "made"),
        Change::Edited => ("edited", "changed"),
    };
    let (head, what) = match said.starts_with(verb) {
        true => (format!("## `{path}` is {word}"), format!("You allowed it, and it is done: **{said}**.")),
        false => (format!("## `{path}` is as it was"), format!("It was not to be, and I did nothing else: *{said}*.")),
    };
    say(&format!(
        "{head}\n\n{what}\n\n\
         | step | tool | needs you |\n| --- | --- | --- |\n| look | `Glob` | no |\n| read | `Read` | no |\n| change | `Edit`, `Write` | **yes** |\n\n\
         All of this is in the journal: reload the page, and it is here again. A real model does the same with a task of \
         yours."
    ))
}

fn say(text: &str) -> Line {
    Line::Say(text.to_owned())
}

fn call(name: &str, arguments: Value) -> Line {
    Line::Call { name: name.to_owned(), arguments }
}

/// A text file in the folder itself, preferring a README.
fn text_of(listed: &str) -> Option<String> {
    let is_text = |path: &&str| {
        let name = path.to_ascii_lowercase();
        !path.contains('/') && (name.ends_with(".md") || name.ends_with(".txt"))
    };
    let mut texts: Vec<_> = listed.lines().skip(1).filter(is_text).collect();
    texts.sort_by_key(|path| !path.to_ascii_lowercase().starts_with("readme"));
    texts.first().map(|path| (*path).to_owned())
}

/// The last line that occurs exactly once, in a file that was read to its end.
fn last_line(read: &str) -> Option<&str> {
    let lines = read.lines().skip(1).map(numbered).collect::<Option<Vec<_>>>()?;
    let is_alone = |place: &&&str| lines.iter().map(|line| line.matches(**place).count()).sum::<usize>() == 1;
    let candidates = lines.iter().rev().filter(|line| !line.trim().is_empty() && line.len() <= LINE_BYTES_MAX);
    candidates.into_iter().find(is_alone).copied()
}

/// A line as Read shows it, without its number.
fn numbered(shown: &str) -> Option<&str> {
    let (number, line) = shown.split_once('\t')?;
    number.trim().parse::<u64>().is_ok().then_some(line)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn result(content: &str) -> Message {
        Message { call_id: Some("x".to_owned()), ..Message::new(Role::Tool, content) }
    }

    fn last_call(results: &[&str]) -> (String, Value) {
        let since: Vec<_> = results.iter().map(|content| result(content)).collect();
        match lines(&since).pop() {
            Some(Line::Call { name, arguments }) => (name, arguments),
            other => panic!("{other:?}"),
        }
    }

    fn last_words(results: &[&str]) -> String {
        let since: Vec<_> = results.iter().map(|content| result(content)).collect();
        match lines(&since).pop() {
            Some(Line::Say(text)) => text,
            other => panic!("{other:?}"),
        }
    }

    const LISTED: &str = "4 files match *\na.md\nreadme.txt\nsrc/README.md\nx.rs";
    const READ: &str = "read readme.txt, lines 1–4 of 4\n     1\t# One\n     2\tsame\n     3\tsame\n     4\t";

    #[test]
    fn it_reads_the_text_that_tells_of_the_others_and_asks_to_add_a_line() {
        assert_eq!(last_call(&[]), ("Glob".to_owned(), json!({ "pattern": "*" })));
        assert_eq!(last_call(&[LISTED]), ("Read".to_owned(), json!({ "path": "readme.txt" })));
        let (name, edit) = last_call(&[LISTED, READ]);
        assert_eq!((name.as_str(), &edit["old"]), ("Edit", &json!("# One")), "`same` stands there twice");
        assert_eq!(edit["new"], format!("# One\n\n{ADDED}"));
    }

    #[test]
    fn where_there_is_nothing_to_read_it_asks_to_make_a_file_of_its_own() {
        for listed in ["0 files match *", "1 file matches *\nx.rs", "denied"] {
            let (name, write) = last_call(&[listed]);
            assert_eq!((name.as_str(), &write["path"]), ("Write", &json!("rehearsal.md")));
        }
        for read in [
            "read readme.txt, which is empty",
            "binary",
            "read it\n     1\ta\n… 9 more lines: Read again with offset 2",
        ] {
            assert_eq!(last_call(&[LISTED, read]).0, "Write", "{read}");
        }
    }

    #[test]
    fn it_says_what_came_of_it() {
        let done = last_words(&[LISTED, READ, "edited readme.txt: +2 −0"]);
        assert!(done.starts_with("## `readme.txt` is changed") && done.contains("| read | `Read` |"), "{done}");
        let denied = last_words(&[LISTED, READ, "denied by you\nmore"]);
        assert!(denied.starts_with("## `readme.txt` is as it was") && denied.contains("*denied by you*"), "{denied}");
        assert!(last_words(&["0 files match *", "wrote rehearsal.md: 3 lines"]).contains("is made"));
    }

    #[test]
    fn only_the_word_alone_asks_for_it() {
        assert!(is_asked("demo\n") && is_asked(" demo"));
        assert!(!is_asked("demo please") && !is_asked("say a\ndemo"));
    }
}
