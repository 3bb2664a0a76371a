use proptest::prelude::*;

use super::*;

/// What is passed on from these chunks.
fn taken(shape: Shape, portions: &[&str]) -> String {
    let mut events = Events::new(shape);
    let mut out: Vec<u8> = portions.iter().flat_map(|portion| events.take(portion.as_bytes()).unwrap()).collect();
    out.extend(events.end().unwrap());
    String::from_utf8(out).unwrap()
}

#[test]
fn an_event_goes_on_when_it_is_whole() {
    let mut events = Events::new(Shape::Events);
    assert_eq!(events.take(b"event: a\r\ndata: {\"b\"").unwrap(), b"");
    assert_eq!(events.take(b":1}\r\n\r\ndata: half").unwrap(), b"event: a\ndata: {\"b\":1}\n\n");
    assert_eq!(events.take(b"\r").unwrap(), b"");
    assert_eq!(events.take(b"\n\r").unwrap(), b"data: half\n\n");
    assert_eq!(events.take(b"\ndata: rest").unwrap(), b"");
    assert_eq!(events.end().unwrap(), b"data: rest\n\n");
}

#[test]
fn what_says_nothing_is_said_once() {
    let comments = ": still here\n\n".repeat(1000);
    assert_eq!(taken(Shape::Events, &[&comments]), ":\n\n");
    assert_eq!(taken(Shape::Events, &[&format!("{comments}data: 1\n\n{comments}")]), "data: 1\n\n");
    assert_eq!(taken(Shape::Events, &["<html>\n<body>\n\n</html>"]), "?\n\n?\n\n", "once for each portion");
    assert_eq!(taken(Shape::Events, &["id: 7\nretry: 1\n\n"]), "");
}

#[test]
fn lines_go_on_when_they_are_whole() {
    assert_eq!(taken(Shape::Lines, &["{\"a\":1}\n{\"b\"", ":2}\r\n\n\n", "{}"]), "{\"a\":1}\n{\"b\":2}\n{}\n");
}

#[test]
fn nothing_goes_on_beyond_a_bound() {
    let long = vec![b'x'; EVENT_BYTES_MAX + 1];
    for shape in [Shape::Events, Shape::Lines] {
        assert_eq!(Events::new(shape).take(&long), Err(TooMuch::Event), "a line");
    }
    let lines = b"data: x\n".repeat(EVENT_BYTES_MAX / 8 + 1);
    assert_eq!(Events::new(Shape::Events).take(&lines), Err(TooMuch::Event), "many lines");
    let small = b"data:1\n\n".repeat(EVENTS_MAX + 1);
    assert_eq!(Events::new(Shape::Events).take(&small), Err(TooMuch::Events));
    let mut all = Events::new(Shape::Events);
    let comment = [b": ", &long[..1024 * 1024], b"\n"].concat();
    let end = (0..65).map(|_| all.take(&comment)).find(Result::is_err);
    assert_eq!(end, Some(Err(TooMuch::Answer)), "comments count, too");
}

proptest! {
    #[test]
    fn it_does_not_matter_where_packets_end(text in "(data: [a-z]{0,4}|event: e|\r|\n|\r\n|\n\n|: c){0,30}", cut in 0_usize..200) {
        let cut = cut.min(text.len());
        // Comments and strange lines are condensed per chunk, so leave them out of the comparison.
        let plain = |text: String| text.replace(":\n\n", "").replace("?\n\n", "");
        prop_assert_eq!(
            plain(taken(Shape::Events, &[&text[..cut], &text[cut..]])),
            plain(taken(Shape::Events, &[&text]))
        );
    }
}
