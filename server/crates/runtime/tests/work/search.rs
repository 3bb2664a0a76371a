use protocol::{CreatePod, ErrorCode, ReasoningPolicy, SearchHit, WorkerId};
use runtime::SearchQuery;

use crate::{
    bench::{Bench, code, fresh},
    stage::{named, origin},
};

fn query(words: &str) -> SearchQuery {
    SearchQuery { words: words.to_owned(), pod: None, after: None, limit: 50 }
}

async fn hits(bench: &Bench, words: &str) -> Vec<SearchHit> {
    bench.stage.host.journals().search(&query(words)).await.unwrap().items
}

async fn kinds(bench: &Bench, words: &str) -> Vec<String> {
    hits(bench, words).await.into_iter().map(|hit| hit.kind).collect()
}

async fn thinker(bench: &Bench, name: &str, policy: ReasoningPolicy) -> WorkerId {
    let create = CreatePod { reasoning: Some(policy), ..named(name) };
    let pod = bench.stage.host.pods().create(fresh(), &origin(), create).await.unwrap().pod.worker_id;
    bench.turn(&pod, &format!("think pondering {name}\nsay answered")).await;
    pod
}

#[tokio::test]
async fn everything_that_may_be_seen_is_found_and_nothing_else() {
    let bench = Bench::new().await;
    let ada = bench.stage.create("ada").await;
    bench.turn(&ada, "say the streaming zebra").await;
    bench.turn(&ada, "call Note {\"name\": \"quagga\"}").await;
    assert_eq!(kinds(&bench, "streaming zeb").await, ["message_finished", "user_message"]);
    let of_call = ["message_finished", "tool_finished", "tool_called", "user_message"];
    assert_eq!(kinds(&bench, "quagga").await, of_call);
    assert_eq!(kinds(&bench, "Note quag").await.len(), 4 - 1, "the result does not say the tool's name");

    thinker(&bench, "full", ReasoningPolicy::Full).await;
    thinker(&bench, "hidden", ReasoningPolicy::Hidden).await;
    thinker(&bench, "summary", ReasoningPolicy::Summary).await;
    for (name, expected) in [("full", true), ("summary", true), ("hidden", false)] {
        let kinds = kinds(&bench, &format!("pondering {name}")).await;
        assert_eq!(kinds.contains(&"reasoning_finished".to_owned()), expected, "{name}: {kinds:?}");
        assert!(kinds.contains(&"user_message".to_owned()));
    }

    let restarted = bench.restart().await;
    assert_eq!(kinds(&restarted, "quagga").await, of_call);
    restarted.stage.host.pods().delete(fresh(), &origin(), &ada, Some("ada")).await.unwrap();
    assert!(hits(&restarted, "quagga").await.is_empty());
}

#[tokio::test]
async fn hits_come_in_pages_and_of_one_pod_when_it_is_named() {
    let bench = Bench::new().await;
    let (ada, bob) = (bench.stage.create("ada").await, bench.stage.create("bob").await);
    for pod in [&ada, &bob, &ada] {
        bench.turn(pod, "say needle").await;
    }
    let mut seen = Vec::new();
    let mut asked = SearchQuery { limit: 4, ..query("needle") };
    loop {
        let page = bench.stage.host.journals().search(&asked).await.unwrap();
        seen.extend(page.items);
        match page.next {
            Some(next) => asked.after = Some(next),
            None => break,
        }
    }
    assert_eq!(seen, hits(&bench, "needle").await);
    assert_eq!(seen.len(), 6);
    let of_ada = SearchQuery { pod: Some(ada.clone()), ..query("needle") };
    let of_ada = bench.stage.host.journals().search(&of_ada).await.unwrap().items;
    assert!(of_ada.len() == 4 && of_ada.iter().all(|hit| hit.pod.worker_id == ada));
    assert!(of_ada.is_sorted_by(|one, two| one.seq > two.seq));

    let nobody = SearchQuery { pod: Some(WorkerId::parse("nobody").unwrap()), ..query("x") };
    assert_eq!(code(bench.stage.host.journals().search(&nobody).await), ErrorCode::PodNotFound);
    for after in ["x", "", "-1", "0", "1", "s", "s0", "s-1", "local.1"] {
        let asked = SearchQuery { after: Some(after.to_owned()), ..query("x") };
        assert_eq!(code(bench.stage.host.journals().search(&asked).await), ErrorCode::CursorInvalid, "{after}");
    }
}
