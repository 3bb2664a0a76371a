//! Making Pods peers, in every state, however often and from however many sides it is requested.

use futures_util::future::join_all;
use reqwest::Method;
use serde_json::{Value, json};

use crate::{
    address, bring,
    common::{Server, answer, code},
    count, history, introduce, journal, known, linked, pair, seen, text_of,
};

const STATES: [&str; 5] = ["idle", "running", "paused", "waiting", "stopped"];

#[tokio::test]
async fn both_sides_see_each_other_as_peers_and_each_journal_names_the_other() {
    let server = Server::start().await;
    let (ada, bob, carol) = (server.pod("ada").await, server.pod("bob").await, server.pod("carol").await);
    let body = json!({ "target": "bob", "note": "you two should talk" });
    let (status, answered) = server.post(&format!("{ada}/peers"), body).await;
    let (a, b) = (address(&server, &ada).await, address(&server, &bob).await);
    assert_eq!((status, answered), (201, json!({ "source": a, "peer": b, "state": "linked" })));

    for (own, name, other, other_ref) in [(&ada, "ada", "bob", &b), (&bob, "bob", "ada", &a)] {
        assert_eq!(known(&server, own).await, linked(other));
        let item = &server.get(&format!("{own}/peers")).await.1["items"][0];
        assert_eq!((&item["pod"], &item["state"], &item["by"]), (other_ref, &json!("idle"), &json!("operator")));
        assert!(item["since"].is_string(), "{item}");
        let sight = [(name.to_owned(), json!(["self"])), (other.to_owned(), json!(["peer"]))];
        assert_eq!(seen(&server, own).await, sight);
        assert_eq!(server.get(own).await.1["relations"]["peers"], 1);
        let told = server.records(own, "peer_linked").await;
        let label = json!({ "runtime_id": "local", "worker_id": other_ref["worker_id"], "name": other });
        assert_eq!((told.len(), &told[0]["peer"], &told[0]["by"]), (1, &label, &json!("operator")));
        assert_eq!(told[0]["note"], "you two should talk");
    }
    assert_eq!(known(&server, &carol).await, []);
    assert_eq!(seen(&server, &carol).await, [("carol".to_owned(), json!(["self"]))]);
    assert_eq!(count(&server, &carol, "peer_linked").await, 0);
}

#[tokio::test]
async fn in_every_state_of_both_it_is_done_at_once_and_touches_no_conversation_and_no_run() {
    let server = Server::start().await;
    let (mut sources, mut targets) = (Vec::new(), Vec::new());
    for state in STATES {
        for (pods, side) in [(&mut sources, "source"), (&mut targets, "target")] {
            let pod = server.pod(&format!("{side}-{state}")).await;
            bring(&server, &pod, state).await;
            pods.push((pod, state));
        }
    }
    let pods: Vec<_> = sources.iter().chain(&targets).cloned().collect();
    let mut before = Vec::new();
    for (pod, state) in &pods {
        let runs = count(&server, pod, "run_started").await;
        before.push((history(&server, pod).await, runs, state.to_string()));
        assert!(before.last().unwrap().0.contains("hello") || *state == "waiting", "there is a history to compare");
    }
    for (source, source_state) in &sources {
        for state in STATES {
            let (status, answer) = introduce(&server, source, &format!("target-{state}")).await;
            assert_eq!(status, 201, "{source_state} to {state}: {answer}");
        }
    }
    let mut after = Vec::new();
    for (pod, _) in &pods {
        let runs = count(&server, pod, "run_started").await;
        let state = server.get(pod).await.1["state"].as_str().unwrap().to_owned();
        after.push((history(&server, pod).await, runs, state));
        assert_eq!((known(&server, pod).await.len(), count(&server, pod, "peer_linked").await), (5, 5));
    }
    assert_eq!(before, after);

    let stopped = server.get(&format!("{}/visible", sources[0].0)).await.1["items"].clone();
    let stopped = stopped.as_array().unwrap().iter().find(|item| item["name"] == "target-stopped").unwrap().clone();
    assert_eq!((&stopped["state"], &stopped["restorable"]), (&json!("stopped"), &json!(true)));
}

#[tokio::test]
async fn asked_again_it_stands_and_nothing_is_written_anew() {
    let server = Server::start().await;
    let (ada, bob) = pair(&server).await;
    let before = (journal(&server, &ada).await, journal(&server, &bob).await);
    let since = server.get(&format!("{ada}/peers")).await.1["items"][0]["since"].clone();
    for (pod, target) in [(&ada, "bob"), (&bob, "ada"), (&ada, "bob@local")] {
        let (status, answer) = introduce(&server, pod, target).await;
        assert_eq!((status, &answer["state"]), (200, &json!("linked")), "{answer}");
    }
    assert_eq!((journal(&server, &ada).await, journal(&server, &bob).await), before);
    assert_eq!(server.get(&format!("{ada}/peers")).await.1["items"][0]["since"], since);
}

#[tokio::test]
async fn two_clients_and_both_directions_at_once_end_in_one_relation() {
    let server = Server::start().await;
    for round in 0..5 {
        let (a, b) = (format!("a-{round}"), format!("b-{round}"));
        let (left, right) = (server.pod(&a).await, server.pod(&b).await);
        let asked = (0..8).map(|turn| match turn % 2 {
            0 => introduce(&server, &left, &b),
            _ => introduce(&server, &right, &a),
        });
        let mut statuses: Vec<u16> = join_all(asked).await.into_iter().map(|(status, _)| status).collect();
        statuses.sort_unstable();
        assert_eq!(statuses, [200, 200, 200, 200, 200, 200, 200, 201]);
        for (pod, other) in [(&left, &b), (&right, &a)] {
            assert_eq!(known(&server, pod).await, linked(other));
            assert_eq!(count(&server, pod, "peer_linked").await, 1);
        }
    }
}

#[tokio::test]
async fn a_repeat_of_a_key_gives_the_first_answer_with_its_status_whatever_came_after() {
    let server = Server::start().await;
    let (ada, bob) = (server.pod("ada").await, server.pod("bob").await);
    let ask = async |server: &Server, body: Value| {
        let request = server.request(Method::POST, &format!("{ada}/peers")).header("Idempotency-Key", "k-1");
        answer(request.json(&body)).await
    };
    let body = json!({ "target": "bob" });
    let first = ask(&server, body.clone()).await;
    assert_eq!(first.0, 201);
    assert_eq!(ask(&server, body.clone()).await, first);
    assert_eq!(code(&ask(&server, json!({ "target": "carol" })).await), (422, "key_reused"));
    assert_eq!(crate::un_peer(&server, &ada, &bob).await, 204);
    assert_eq!(ask(&server, body.clone()).await, first, "it is done once, so it is not done again");
    assert_eq!(known(&server, &ada).await, []);

    let rename = server.request(Method::PATCH, &bob).json(&json!({ "name": "robert" }));
    assert_eq!(answer(rename).await.0, 200);
    let server = server.restart().await;
    assert_eq!(ask(&server, body).await, first, "nobody has this name any longer, but the answer was given");
    assert_eq!(count(&server, &ada, "peer_linked").await, 1);
}

#[tokio::test]
async fn a_name_with_its_runtime_and_an_address_both_name_a_pod() {
    let server = Server::start().await;
    let (ada, bob) = (server.pod("ada").await, server.pod("bob").await);
    assert_eq!(introduce(&server, &ada, &text_of(&server, &bob).await).await.0, 201);
    assert_eq!(introduce(&server, &ada, "bob@local").await.0, 200);
    assert_eq!(code(&introduce(&server, &ada, "bob@elsewhere").await), (404, "runtime_not_found"));
    assert_eq!(code(&introduce(&server, &ada, "elsewhere/1").await), (404, "runtime_not_found"));
    assert_eq!(code(&introduce(&server, &ada, "local/nobody").await), (404, "pod_not_found"));
}

#[tokio::test]
async fn who_added_which_peer_from_where_is_in_the_audit() {
    let server = Server::start().await;
    let (ada, bob) = (server.pod("ada").await, server.pod("bob").await);
    let request = server.request(Method::POST, &format!("{ada}/peers")).header("x-yoi-client", "cli");
    assert_eq!(answer(request.json(&json!({ "target": "bob" }))).await.0, 201);
    assert_eq!(introduce(&server, &ada, "bbo").await.0, 404);
    assert_eq!(crate::un_peer(&server, &bob, &ada).await, 204);
    let (a, b) = (text_of(&server, &ada).await, text_of(&server, &bob).await);
    let rows = server.get("/api/v1/audit").await.1["items"].clone();
    let row = |index: usize| {
        let row = &rows[index];
        let text = |field: &str| row[field].as_str().unwrap_or_default().to_owned();
        assert!(row["at"].is_string());
        [text("by"), text("client"), text("action"), text("target"), text("result"), text("code")]
    };
    assert_eq!(row(0), ["operator", "api", "unpeer", &format!("{b} {a}"), "done", ""]);
    assert_eq!(row(1), ["operator", "api", "peer", &format!("{a} bbo"), "refused", "pod_not_found"]);
    assert_eq!(row(2), ["operator", "cli", "peer", &format!("{a} {b}"), "done", ""]);
}

#[tokio::test]
async fn a_pod_whose_record_cannot_be_read_gets_no_new_peers_and_keeps_its_old_ones() {
    let server = Server::start().await;
    let (ada, bob) = pair(&server).await;
    let carol = server.pod("carol").await;
    let server = server.restart_with_unreadable(&bob).await;
    assert_eq!(server.get(&bob).await.1["state"], "broken");
    let before = journal(&server, &carol).await;

    for (source, target) in [(&carol, "bob"), (&bob, "carol")] {
        let (status, problem) = introduce(&server, source, target).await;
        assert_eq!((status, &problem["code"]), (409, &json!("not_restorable")), "{problem}");
        let detail = problem["detail"].as_str().unwrap();
        assert!(detail.contains("bob") && detail.contains("cannot be read"), "{detail}");
    }
    assert_eq!(journal(&server, &carol).await, before, "nothing was written");
    assert_eq!(known(&server, &carol).await, []);
    assert_eq!(known(&server, &ada).await, linked("bob"), "the relation that stood before stands");
    let refused = server.audited("peer").await.into_iter().filter(|(result, _)| result == "refused").count();
    assert_eq!(refused, 2);
}
