//! The commands that the rehearsal model understands, one per line.

use std::{borrow::Cow, time::Duration};

use serde_json::{Value, json};

/// The longest `wait`, in seconds.
const WAIT_SECONDS_MAX: f64 = 600.0;
/// The longest `stream`, in words.
const STREAM_WORDS_MAX: u64 = 1_000_000;
/// How much of an unknown line is quoted, in characters.
const QUOTE_CHARS_MAX: usize = 200;

/// One thing to do.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Line {
    Say(String),
    Think(String),
    /// `words` words; a rate of 0 words per second means as fast as possible.
    Stream {
        words: u64,
        per_second: f64,
    },
    Call {
        name: String,
        arguments: Value,
    },
    Wait(Duration),
    /// With this HTTP status.
    Fail(u16),
}

impl Line {
    /// The full text of a line that says something.
    pub(super) fn text(&self) -> Option<Cow<'_, str>> {
        match self {
            Self::Say(text) => Some(Cow::Borrowed(text)),
            Self::Stream { words, .. } => Some(Cow::Owned(stream_text(*words))),
            Self::Think(_) | Self::Call { .. } | Self::Wait(_) | Self::Fail(_) => None,
        }
    }
}

fn stream_text(words: u64) -> String {
    let mut text = String::new();
    for number in 1..=words {
        if number > 1 {
            text.push(' ');
        }
        text.push_str(&stream_word(number));
    }
    text
}

/// The word at position `number` of a `stream`, counting from 1.
pub(super) fn stream_word(number: u64) -> String {
    format!("w{number}")
}

/// Parses a message into lines, without those that do nothing. `peer_text` is the text of the newest peer message.
pub(super) fn parse(script: &str, peer_text: Option<&str>) -> Vec<Line> {
    let mut has_greeted = false;
    let lines = script.split('\n').map(str::trim).filter(|line| !line.is_empty());
    lines
        .filter_map(|line| {
            understand(line, peer_text).unwrap_or_else(|| {
                let is_first = !std::mem::replace(&mut has_greeted, true);
                is_first.then(|| Line::Say(greeting(line)))
            })
        })
        .collect()
}

/// Parses one line: `None` if it is not understood, `Some(None)` if it does nothing.
fn understand(line: &str, peer_text: Option<&str>) -> Option<Option<Line>> {
    let (verb, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    let rest = rest.trim();
    let text = |text: &str| (!text.is_empty()).then(|| text.to_owned());
    match verb {
        "say" => Some(text(rest).map(Line::Say)),
        "think" => Some(text(rest).map(Line::Think)),
        "stream" => stream(rest).map(Some),
        "call" if !rest.is_empty() => Some(Some(call(rest))),
        "relay" if !rest.is_empty() => Some(Some(relay(rest, peer_text))),
        "wait" => {
            let seconds = rest.parse().ok().filter(|seconds| (0.0..=WAIT_SECONDS_MAX).contains(seconds))?;
            Some(Some(Line::Wait(Duration::from_secs_f64(seconds))))
        }
        "fail" => rest.parse().ok().filter(|status| (400..600).contains(status)).map(|status| Some(Line::Fail(status))),
        _ => None,
    }
}

/// `N at R`.
fn stream(rest: &str) -> Option<Line> {
    let mut parts = rest.split_whitespace();
    let words = parts.next()?.parse().ok().filter(|words| (1..=STREAM_WORDS_MAX).contains(words))?;
    if parts.next()? != "at" {
        return None;
    }
    let per_second: f64 = parts.next()?.parse().ok()?;
    let is_sensible = per_second == 0.0 || (0.001..=1e9).contains(&per_second);
    (is_sensible && parts.next().is_none()).then_some(Line::Stream { words, per_second })
}

fn call(rest: &str) -> Line {
    let (name, json) = rest.split_once(char::is_whitespace).unwrap_or((rest, "{}"));
    match serde_json::from_str(json) {
        Ok(arguments) => Line::Call { name: name.to_owned(), arguments },
        Err(error) => Line::Say(format!("I cannot call {name}: what follows its name is not JSON ({error}).")),
    }
}

fn relay(name: &str, peer_text: Option<&str>) -> Line {
    match peer_text {
        Some(text) => {
            Line::Call { name: "SendToPeerPod".to_owned(), arguments: json!({ "name": name, "message": text }) }
        }
        None => Line::Say(format!("There is no peer message that I could relay to {name}.")),
    }
}

/// The reply to anything that it does not understand, which is the first thing a new user reads.
fn greeting(line: &str) -> String {
    let quote: String = match line.char_indices().nth(QUOTE_CHARS_MAX) {
        None => line.to_owned(),
        Some((end, _)) => format!("{}…", &line[..end]),
    };
    format!("Hello! You said: “{quote}”\n\n{EXPLANATION}")
}

const EXPLANATION: &str = "\
I am the rehearsal model. I am built in, need no key and no network, and always do the same: I read your message line \
by line and act it out, so that you can try everything here before you add a real model.\n\
\n\
- `say TEXT` – I say TEXT, word by word\n\
- `think TEXT` – I think it instead of saying it\n\
- `stream N at R` – I count N words, R a second (0: as fast as I can)\n\
- `call TOOL {json}` – I call a tool, for example `call ListPods {}`; lines like this in a row are one turn\n\
- `relay NAME` – I send the newest peer message on to my peer NAME\n\
- `wait S` – I am silent for S seconds\n\
- `fail CODE` – I fail as a provider would, with that HTTP status\n\
- `demo` (alone) – I read a file of my folder and ask you before I change it";

#[cfg(test)]
mod tests {
    use super::*;

    fn one(line: &str) -> Line {
        let [line] = parse(line, None).try_into().unwrap();
        line
    }

    #[test]
    fn every_line_of_the_list_is_understood() {
        assert_eq!(one("say  a  b \r"), Line::Say("a  b".to_owned()));
        assert_eq!(one("think hm"), Line::Think("hm".to_owned()));
        assert_eq!(one("stream 3 at 2.5"), Line::Stream { words: 3, per_second: 2.5 });
        assert_eq!(one("wait 0.25"), Line::Wait(Duration::from_millis(250)));
        assert_eq!(one("fail 503"), Line::Fail(503));
        assert_eq!(
            one("call Read {\"path\": \"a b\"}"),
            Line::Call { name: "Read".to_owned(), arguments: json!({"path": "a b"}) }
        );
        assert_eq!(one("call ListPods"), Line::Call { name: "ListPods".to_owned(), arguments: json!({}) });
    }

    #[test]
    fn a_line_that_says_nothing_is_skipped() {
        assert_eq!(parse("\n  \r\nsay\nthink \n", None), []);
    }

    #[test]
    fn what_is_not_understood_is_greeted_once() {
        for line in ["hello", "sayhello", "wait", "wait 601", "wait -1", "wait NaN", "fail 200", "fail x", "stream 5"] {
            let Line::Say(text) = one(line) else { panic!("{line}") };
            assert!(text.starts_with(&format!("Hello! You said: “{line}”")), "{text}");
        }
        let lines = parse("hi\nsay a\nthere", None);
        assert!(matches!(lines.as_slice(), [Line::Say(_), Line::Say(text)] if text == "a"), "{lines:?}");
        assert_eq!(parse("stream 0 at 1\nstream 5 at -1\nstream 1 at x", None).len(), 1);
    }

    #[test]
    fn arguments_that_are_not_json_are_talked_about() {
        let Line::Say(text) = one("call Read {oops") else { panic!() };
        assert!(text.starts_with("I cannot call Read"), "{text}");
    }

    #[test]
    fn relay_sends_the_peers_text_unchanged() {
        let text = "relay bob\n ä \"quoted\"  ";
        let lines = parse("relay bob", Some(text));
        assert_eq!(
            lines,
            [Line::Call { name: "SendToPeerPod".to_owned(), arguments: json!({"name": "bob", "message": text}) }]
        );
        assert!(matches!(one("relay bob"), Line::Say(_)));
    }
}
