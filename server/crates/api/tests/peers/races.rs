//! Several requests at once: of two opposite ones, one wins, and everybody sees the same outcome.

use futures_util::future::{join, join_all};
use reqwest::Method;
use serde_json::{Value, json};

use crate::{
    common::{Server, answer},
    count, introduce, journal, known, linked, pair, pod_with, text_of, un_peer, until, write,
};

#[tokio::test]
async fn two_that_write_to_each_other_at_once_lose_nothing_and_double_nothing() {
    let server = Server::start().await;
    let (ada, bob) = pair(&server).await;
    let texts: Vec<_> = (0..10).map(|number| format!("say {number}")).collect();
    let there = join_all(texts.iter().map(|text| write(&server, &ada, "bob", text)));
    let back = join_all(texts.iter().map(|text| write(&server, &bob, "ada", text)));
    let (there, back) = join(there, back).await;
    for (sent, from, to) in [(there, &ada, &bob), (back, &bob, &ada)] {
        assert!(sent.iter().all(|(status, answer)| *status == 202 && answer["state"] == "stored"), "{sent:?}");
        let id_of = |event: &Value| event["message_id"].as_str().unwrap_or_default().to_owned();
        let mut sent: Vec<_> = sent.iter().map(|(_, answer)| id_of(answer)).collect();
        let mut come: Vec<_> = server.records(to, "peer_message").await.iter().map(id_of).collect();
        sent.sort_unstable();
        come.sort_unstable();
        assert_eq!(come, sent);
        let is_answered = |event: &&Value| event["kind"] == "message_receipt" && event["state"] == "answered";
        let answered = |events: &[Value]| events.iter().filter(is_answered).map(&id_of).collect::<Vec<_>>();
        let events = until(&server, from, |events| sent.iter().all(|id| answered(events).contains(id))).await;
        for id in &sent {
            let of_it = events.iter().filter(|event| event["kind"] == "message_receipt" && id_of(event) == *id);
            let states: Vec<_> = of_it.map(|event| event["state"].as_str().unwrap()).collect();
            assert_eq!(states, ["stored", "read", "answered"]);
        }
    }
}

#[tokio::test]
async fn of_an_acceptance_and_a_refusal_at_once_one_counts_and_both_sides_agree() {
    let server = Server::start().await;
    let ada = server.pod("ada").await;
    for round in 0..6 {
        let name = format!("bob-{round}");
        let bob = pod_with(&server, json!({ "name": name, "peer_policy": "ask" })).await;
        let id = introduce(&server, &ada, &name).await.1["request_id"].as_str().unwrap().to_owned();
        let path = format!("{bob}/peers/requests/{id}");
        let decide = |decision: &'static str| server.post(&path, json!({ "decision": decision }));
        let answers = join_all([decide("accept"), decide("decline"), decide("accept")]).await;
        let done: Vec<_> = answers.iter().filter(|(status, _)| *status == 200).collect();
        let refused = answers.iter().filter(|(_, answer)| answer["code"] == "already_answered").count();
        assert_eq!((done.len(), refused), (1, 2), "{answers:?}");
        let is_linked = done[0].1["state"] == "linked";
        let of_bob = known(&server, &bob).await;
        assert_eq!(of_bob, if is_linked { linked("ada") } else { vec![] });
        let of_ada = known(&server, &ada).await;
        assert_eq!(of_ada.contains(&(name.clone(), "linked".to_owned())), is_linked);
        assert!(!of_ada.contains(&(name, "pending".to_owned())));
        for kind in ["peer_linked", "peer_declined"] {
            let is_this = usize::from((kind == "peer_linked") == is_linked);
            assert_eq!(count(&server, &bob, kind).await, is_this);
        }
    }
}

#[tokio::test]
async fn linking_and_unlinking_at_once_leave_both_sides_in_agreement() {
    let server = Server::start().await;
    let (ada, bob) = pair(&server).await;
    for _ in 0..8 {
        join(introduce(&server, &ada, "bob"), un_peer(&server, &bob, &ada)).await;
        let (of_ada, of_bob) = (known(&server, &ada).await, known(&server, &bob).await);
        assert_eq!(of_ada.len(), of_bob.len(), "{of_ada:?} {of_bob:?}");
        for (pod, links) in [(&ada, of_ada.len()), (&bob, of_bob.len())] {
            let came = count(&server, pod, "peer_linked").await;
            let went = count(&server, pod, "peer_unlinked").await;
            assert_eq!(came - went, links, "the journal says the same");
        }
    }
}

#[tokio::test]
async fn adding_a_peer_that_is_being_deleted_leaves_no_half_relation() {
    let server = Server::start().await;
    let ada = server.pod("ada").await;
    for round in 0..6 {
        let name = format!("bob-{round}");
        let bob = server.pod(&name).await;
        let target = text_of(&server, &bob).await;
        let gone = answer(server.request(Method::DELETE, &format!("{bob}?confirm={name}")));
        let ((status, answered), (deleted, _)) = join(introduce(&server, &ada, &target), gone).await;
        assert_eq!(deleted, 204);
        assert!(matches!(status, 201 | 404 | 409), "{answered}");
        assert_eq!(known(&server, &ada).await, []);
        assert_eq!(server.get(&ada).await.1["relations"]["peers"], 0);
    }
    let events = journal(&server, &ada).await;
    let of = |kind: &str| events.iter().filter(|event| event["kind"] == kind).count();
    assert_eq!(of("peer_linked"), of("peer_unlinked"), "what came also went, and was told");
}
