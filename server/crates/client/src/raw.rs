//! Encoded records: cut out of a frame or page without decoding, so that what this version does not know passes
//! through.

#[cfg(test)]
mod fuzz;

use std::ops::Range;

use bytes::{BufMut, Bytes, BytesMut};
use serde::Deserialize;

/// A page of a list with its items undecoded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RawPage {
    pub items: Vec<Bytes>,
    pub next: Option<String>,
}

#[derive(Deserialize)]
struct Next {
    next: Option<String>,
}

pub(crate) fn page(text: Bytes) -> Option<RawPage> {
    let (head, items) = split(text, "items")?;
    let Next { next } = serde_json::from_slice(&head).ok()?;
    Some(RawPage { items, next })
}

/// Splits off the items of the array under `name`; returns the object with that array emptied, and the items. `None`
/// if it is not an object with such an array; the rest is not validated as JSON.
pub(crate) fn split(text: Bytes, name: &str) -> Option<(Bytes, Vec<Bytes>)> {
    let (array, items) = array_of(&text, name)?;
    let mut head = BytesMut::with_capacity(text.len() - array.len() + 2);
    head.put_slice(&text[..array.start]);
    head.put_slice(b"[]");
    head.put_slice(&text[array.end..]);
    Some((head.freeze(), items.into_iter().map(|item| text.slice(item)).collect()))
}

/// The range of the array under `name` in the top-level object, and of each of its items.
fn array_of(text: &[u8], name: &str) -> Option<(Range<usize>, Vec<Range<usize>>)> {
    let mut at = expect(text, 0, b'{')?;
    loop {
        at = skip_space(text, at);
        let key = at..skip_string(text, at)?;
        at = skip_space(text, expect(text, key.end, b':')?);
        if text[key.start + 1..key.end - 1] == *name.as_bytes() && text.get(at) == Some(&b'[') {
            let (end, items) = items(text, at)?;
            return Some((at..end, items));
        }
        at = expect(text, skip_value(text, at)?, b',')?;
    }
}

/// The ranges of the items in the array that begins at `at`, and where the array ends.
fn items(text: &[u8], at: usize) -> Option<(usize, Vec<Range<usize>>)> {
    let mut items = Vec::new();
    let mut at = skip_space(text, at + 1);
    if text.get(at) == Some(&b']') {
        return Some((at + 1, items));
    }
    loop {
        at = skip_space(text, at);
        let end = skip_value(text, at)?;
        items.push(at..end);
        at = skip_space(text, end);
        match text.get(at)? {
            b',' => at += 1,
            b']' => return Some((at + 1, items)),
            _ => return None,
        }
    }
}

fn expect(text: &[u8], at: usize, wanted: u8) -> Option<usize> {
    let at = skip_space(text, at);
    (text.get(at) == Some(&wanted)).then_some(at + 1)
}

fn skip_space(text: &[u8], at: usize) -> usize {
    at + text[at.min(text.len())..].iter().take_while(|byte| byte.is_ascii_whitespace()).count()
}

/// The end of the string that begins at `at`.
fn skip_string(text: &[u8], at: usize) -> Option<usize> {
    if text.get(at) != Some(&b'"') {
        return None;
    }
    let mut at = at + 1;
    loop {
        match text.get(at)? {
            b'"' => return Some(at + 1),
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
}

/// The end of the value that begins at `at`: a string, something in brackets, or a word.
fn skip_value(text: &[u8], at: usize) -> Option<usize> {
    match text.get(at)? {
        b'"' => skip_string(text, at),
        b'{' | b'[' => skip_brackets(text, at),
        _ => {
            let word = text[at..].iter().take_while(|byte| !b",]}".contains(byte) && !byte.is_ascii_whitespace());
            Some(at + word.count()).filter(|end| *end > at)
        }
    }
}

fn skip_brackets(text: &[u8], mut at: usize) -> Option<usize> {
    let mut depth = 0_usize;
    loop {
        match text.get(at)? {
            b'"' => {
                at = skip_string(text, at)?;
                continue;
            }
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth -= 1,
            _ => {}
        }
        at += 1;
        if depth == 0 {
            return Some(at);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(text: &'static str) -> Option<(String, Vec<String>)> {
        let text_of = |bytes: &Bytes| String::from_utf8(bytes.to_vec()).unwrap();
        let (head, items) = split(Bytes::from_static(text.as_bytes()), "records")?;
        Some((text_of(&head), items.iter().map(text_of).collect()))
    }

    #[test]
    fn records_are_cut_out_to_the_byte() {
        let cut = |head: &str, items: &[&str]| Some((head.to_owned(), items.iter().map(|&item| item.into()).collect()));
        assert_eq!(
            parts(r#"{"type":"records","id":"a","records":[{"a":"]}\"","b":[{}]}, 7 ,"x"],"has_more":true}"#),
            cut(
                r#"{"type":"records","id":"a","records":[],"has_more":true}"#,
                &[r#"{"a":"]}\"","b":[{}]}"#, "7", "\"x\""]
            )
        );
        assert_eq!(parts(r#" { "records" : [ ] } "#), cut(r#" { "records" : [] } "#, &[]));
        // The same name further down is not meant.
        let deep = r#"{"summary":{"records":[1]},"note":"\"records\":[2]","records":[3]}"#;
        assert_eq!(parts(deep), cut(r#"{"summary":{"records":[1]},"note":"\"records\":[2]","records":[]}"#, &["3"]));
    }

    #[test]
    fn what_has_no_such_array_is_left_alone() {
        for text in
            ["", "{", "[]", "{}", r#"{"records":7}"#, r#"{"records":[1"#, r#"{"records":["a]}"#, r#"{"id":"records"}"#]
        {
            assert_eq!(parts(text), None, "{text}");
        }
    }

    #[test]
    fn a_page_keeps_its_cursor() {
        let page = page(Bytes::from_static(br#"{"items":[{"seq":1},{"seq":2}],"next":"1"}"#)).unwrap();
        assert_eq!((page.items.len(), page.next.as_deref()), (2, Some("1")));
    }
}
