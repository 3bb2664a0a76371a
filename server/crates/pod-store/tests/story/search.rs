use pod_store::{PodChange, SearchFilter, SearchRow};
use protocol::Seq;

use crate::world::*;

pub(crate) async fn all_words_must_match_and_the_newest_comes_first(world: World) {
    let store = world.open().await;
    let (ada, bob) = (create(&store, "ada").await, create(&store, "bob").await);
    let long = format!("{} the Needle lies here {}", "hay ".repeat(200), "straw ".repeat(200));
    let records = vec![found_by(1, &long), found_by(2, "needle\0 and <b>thread</b>")];
    done(&store, one(PodChange { records, ..PodChange::of(ada) })).await;
    done(&store, one(PodChange { records: vec![found_by(1, "thread only")], ..PodChange::of(bob) })).await;

    let places = |rows: &[SearchRow]| rows.iter().map(|row| (row.name.to_string(), row.seq.0)).collect::<Vec<_>>();
    let place = |name: &str, seq| (name.to_owned(), seq);
    let needles = store.search().find("NEEDLE", 9).await.unwrap();
    assert_eq!(places(&needles), [place("ada", 2), place("ada", 1)]);
    assert_eq!(
        (&needles[0].worker_id, needles[0].seq, needles[0].kind.as_str()),
        (&worker("ada"), Seq(2), "user_message")
    );
    assert!(needles[1].snippet.contains("Needle lies"), "{}", needles[1].snippet);
    assert!(needles[1].snippet.len() < 300, "{}", needles[1].snippet);
    assert!(needles[0].snippet.contains("<b>thread</b>"), "{}", needles[0].snippet);
    assert_eq!(places(&store.search().find("thread needle", 9).await.unwrap()), [place("ada", 2)]);
    assert_eq!(places(&store.search().find("thread", 1).await.unwrap()), [place("bob", 1)]);
    assert!(needles[1].snippet.starts_with('…') && needles[1].snippet.ends_with('…'), "{}", needles[1].snippet);

    // Code and other scripts are words, too.
    let code = found_by(3, "fn parse() -> Vec<String> in src/main.rs; ÄRGER");
    done(&store, one(PodChange { records: vec![code], ..PodChange::of(ada) })).await;
    for query in ["string", "Vec<String>", "main", "src/main.rs", "ärger", "parse()"] {
        assert_eq!(places(&store.search().find(query, 9).await.unwrap()), [place("ada", 3)], "{query}");
    }
    assert_eq!(store.search().find("absent needle", 9).await.unwrap(), []);
}

pub(crate) async fn no_query_is_an_error(world: World) {
    let store = world.open().await;
    let ada = create(&store, "ada").await;
    let records = vec![found_by(1, "it's a \"fine\" C++ day: foo-bar AND baz* (a&b) 100%")];
    done(&store, one(PodChange { records, ..PodChange::of(ada) })).await;
    let nasty = [
        "",
        " ",
        "\0",
        "\"",
        "\"\"",
        "'",
        "''",
        "*",
        "a*",
        "-fine",
        "AND",
        "NOT fine",
        "OR",
        "NEAR(a b)",
        "text:fine",
        "(",
        ")",
        "^fine",
        "a & | ! b",
        "fine:*",
        "{text}:x",
        "\\",
        "%",
        "_",
        "'; drop table journal; --",
        "😀",
        "\u{202e}",
        "col : fine",
        "+",
        "fine <-> day",
        "$1",
        "?",
        "\n\t",
    ];
    for query in nasty {
        store.search().find(query, 9).await.unwrap_or_else(|error| panic!("{query:?}: {error}"));
    }
    store.search().find(&"word ".repeat(50_000), 9).await.ok();
    for found in ["fine", "\"fine\"", "C++", "foo-bar", "AND day", "it's", "(fine)", "100%"] {
        assert_eq!(store.search().find(found, 9).await.unwrap().len(), 1, "{found:?}");
    }
    for empty in ["", "  ", "***", "\0"] {
        assert_eq!(store.search().find(empty, 9).await.unwrap(), [], "{empty:?}");
    }
}

fn seqs_of(rows: &[SearchRow]) -> Vec<i64> {
    rows.iter().map(|row| row.seq.0).collect()
}

pub(crate) async fn the_beginning_of_the_last_word_is_enough(world: World) {
    let store = world.open().await;
    let ada = create(&store, "ada").await;
    let records = vec![
        found_by(1, "the streaming answer"),
        found_by(2, "a stream of answers"),
        found_by(3, "Größenwahn über Ελλάδα и привет 東京タワー naïve"),
        found_by(4, &format!("one word of {}", "x".repeat(5_000))),
        found_by(5, "foo-bar.baz"),
    ];
    done(&store, one(PodChange { records, ..PodChange::of(ada) })).await;
    let found = async |query: &str| seqs_of(&store.search().find(query, 9).await.unwrap());
    for (query, expected) in [
        ("stre", vec![2, 1]),
        ("STREAMI", vec![1]),
        ("answ stream", vec![]),
        ("answer stream", vec![1]),
        ("stream answ", vec![2]),
        ("größ", vec![3]),
        ("GRÖSS", vec![]),
        ("ελλ", vec![3]),
        ("Привет 東", vec![3]),
        ("naïve", vec![3]),
        ("foo ba", vec![5]),
        ("foo-b", vec![5]),
        ("bar.ba", vec![5]),
        ("one wor", vec![4]),
    ] {
        assert_eq!(found(query).await, expected, "{query}");
    }
    // Words longer than the index allows are not an error, and no snippet is longer than a screen.
    assert!(found(&"x".repeat(100_000)).await.len() <= 1);
    let hits = store.search().find("of x", 9).await.unwrap();
    assert!(hits.iter().all(|hit| hit.snippet.chars().count() <= 401), "{}", hits[0].snippet.len());
    let hit = &store.search().find("ΕΛΛΆ", 1).await.unwrap()[0];
    assert!(hit.snippet.contains("über Ελλάδα"), "{}", hit.snippet);
}

pub(crate) async fn hits_come_in_pages_and_of_one_pod_alone(world: World) {
    let store = world.open().await;
    let (ada, bob) = (create(&store, "ada").await, create(&store, "bob").await);
    for seq in 1..=7 {
        for pod in [ada, bob] {
            let records = vec![found_by(seq, &format!("needle {seq}"))];
            done(&store, one(PodChange { records, ..PodChange::of(pod) })).await;
        }
    }
    let (mut all, mut after) = (Vec::new(), None);
    loop {
        let filter = SearchFilter { after, ..SearchFilter::default() };
        let page = store.search().page("needle", filter, 4).await.unwrap();
        after = page.last().map(|(id, _)| *id);
        let is_last = page.len() < 4;
        all.extend(page.into_iter().map(|(_, row)| (row.name.to_string(), row.seq.0)));
        if is_last {
            break;
        }
    }
    let expected: Vec<_> = (1..=7).rev().flat_map(|seq| [("bob".to_owned(), seq), ("ada".to_owned(), seq)]).collect();
    assert_eq!(all, expected);

    let of_ada = SearchFilter { pod: Some(ada), after: None };
    let first = store.search().page("needle", of_ada, 5).await.unwrap();
    let rest = SearchFilter { after: first.last().map(|(id, _)| *id), ..of_ada };
    let rest = store.search().page("needle", rest, 5).await.unwrap();
    let seqs: Vec<_> = first.iter().chain(&rest).map(|(_, row)| (row.name.to_string(), row.seq.0)).collect();
    assert_eq!(seqs, (1..=7).rev().map(|seq| ("ada".to_owned(), seq)).collect::<Vec<_>>());
    done(&store, one(deletion(ada))).await;
    assert_eq!(store.search().page("needle", of_ada, 5).await.unwrap(), []);
    assert_eq!(store.search().find("needle", 99).await.unwrap().len(), 7);
}
