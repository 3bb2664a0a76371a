use pod_store::{PodChange, SearchRow};
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
    let needles = store.search("NEEDLE", 9).await.unwrap();
    assert_eq!(places(&needles), [place("ada", 2), place("ada", 1)]);
    assert_eq!(
        (&needles[0].worker_id, needles[0].seq, needles[0].kind.as_str()),
        (&worker("ada"), Seq(2), "user_message")
    );
    assert!(needles[1].snippet.contains("Needle lies"), "{}", needles[1].snippet);
    assert!(needles[1].snippet.len() < 300, "{}", needles[1].snippet);
    assert!(needles[0].snippet.contains("<b>thread</b>"), "{}", needles[0].snippet);
    assert_eq!(places(&store.search("thread needle", 9).await.unwrap()), [place("ada", 2)]);
    assert_eq!(places(&store.search("thread", 1).await.unwrap()), [place("bob", 1)]);
    assert!(needles[1].snippet.starts_with('…') && needles[1].snippet.ends_with('…'), "{}", needles[1].snippet);

    // Code and other scripts are words, too.
    let code = found_by(3, "fn parse() -> Vec<String> in src/main.rs; ÄRGER");
    done(&store, one(PodChange { records: vec![code], ..PodChange::of(ada) })).await;
    for query in ["string", "Vec<String>", "main", "src/main.rs", "ärger", "parse()"] {
        assert_eq!(places(&store.search(query, 9).await.unwrap()), [place("ada", 3)], "{query}");
    }
    assert_eq!(store.search("absent needle", 9).await.unwrap(), []);
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
        store.search(query, 9).await.unwrap_or_else(|error| panic!("{query:?}: {error}"));
    }
    store.search(&"word ".repeat(50_000), 9).await.ok();
    for found in ["fine", "\"fine\"", "C++", "foo-bar", "AND day", "it's", "(fine)", "100%"] {
        assert_eq!(store.search(found, 9).await.unwrap().len(), 1, "{found:?}");
    }
    for empty in ["", "  ", "***", "\0"] {
        assert_eq!(store.search(empty, 9).await.unwrap(), [], "{empty:?}");
    }
}
