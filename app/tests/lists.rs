//! The pages over all Pods, search and usage, as the server draws them, with a real host behind them.

#![allow(clippy::unwrap_used)]

mod stage;

use protocol::{AddRuntime, CommandId, PeerCommand, PodRef, Seq, ToolCommand};
use serde_json::json;

use crate::stage::Stage;

/// The content of the page's main part, as drawn, without the marks that the browser uses for hydration.
fn main_of(page: &str) -> String {
    page.split_once("<main").unwrap().1.split_once("</main>").unwrap().0.replace("<!>", "")
}

/// Its text.
fn words(page: &str) -> String {
    stage::words(&format!("<body>{}", main_of(page)))
}

/// Where the first link of a hit leads.
fn first_hit(page: &str) -> String {
    let link = page.split("<a ").find(|link| link.contains("data-hit")).unwrap();
    link.split_once("href=\"").unwrap().1.split_once('"').unwrap().0.replace("&amp;", "&")
}

#[tokio::test(flavor = "multi_thread")]
async fn a_search_says_what_is_searched_until_something_is_found() {
    let stage = Stage::start().await;
    stage.pod("ada").await;
    let empty = stage.page("/search").await;
    assert!(words(&empty).contains("visible reasoning"), "{empty}");
    assert!(main_of(&empty).contains(r#"method="get""#) && main_of(&empty).contains(r#"name="q""#), "{empty}");
    let nothing = words(&stage.page("/search?q=hovercraft").await);
    assert!(nothing.contains("No matches.") && nothing.contains("visible reasoning"), "{nothing}");
    let lost = stage.page("/search?q=hovercraft&pod=nowhere").await;
    assert!(lost.contains("role=\"alert\"") && words(&lost).contains("Try again"), "{lost}");
}

#[tokio::test(flavor = "multi_thread")]
async fn hits_stand_with_their_pod_with_the_words_marked_and_lead_to_their_record() {
    let stage = Stage::start().await;
    let (ada, bob) = (stage.pod("ada").await, stage.pod("bob").await);
    stage.say_through(&ada, "say the <b>lease</b> is fine").await;
    stage.say_through(&bob, "say leases end").await;
    let page = stage.page("/search?q=lea").await;
    let said = words(&page);
    assert!(said.contains("in 2 Pods.") && said.contains("you wrote") && said.contains("answer"), "{said}");
    assert!(main_of(&page).contains("<mark>lease</mark>") && main_of(&page).contains("<mark>leases</mark>"), "{page}");
    assert!(!main_of(&page).contains("<b>"), "what was said is text: {page}");
    let of_ada = stage.page(&format!("/search?q=lease&pod={ada}")).await;
    let said = words(&of_ada);
    assert!(said.contains("in this Pod.") && said.contains("Search all Pods") && !said.contains("leases"), "{said}");
    let href = first_hit(&of_ada);
    let (address, name) = href.split_once('#').unwrap();
    let transcript = stage.page(address).await;
    assert!(transcript.contains(&format!("id=\"{name}\"")), "{name}: {transcript}");
    assert!(transcript.contains("class=\"linked-record\""), "{transcript}");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_program_colours_its_words_with_is_not_in_a_hit() {
    let stage = Stage::start().await;
    let ada = stage.pod("ada").await;
    stage.say_through(&ada, "say a \u{1b}[31mred\u{1b}[0m lease").await;
    let main = main_of(&stage.page("/search?q=lease").await);
    assert!(main.contains("a red <mark>lease</mark>"), "{main}");
    assert!(!main.contains("[31m") && !main.contains('\u{1b}'), "{main}");
}

#[tokio::test(flavor = "multi_thread")]
async fn more_places_than_a_page_holds_are_on_the_next_one() {
    let stage = Stage::start().await;
    let ada = stage.pod("ada").await;
    for _ in 0..26 {
        stage.say_through(&ada, "say parsnip").await;
    }
    let page = stage.page("/search?q=parsnip").await;
    assert!(words(&page).contains("The newest 50 matches in 1 Pod."), "{}", words(&page));
    let next = page.split_once("href=\"/search?q=parsnip&amp;after=").unwrap().1.split_once('"').unwrap().0;
    let last = words(&stage.page(&format!("/search?q=parsnip&after={next}")).await);
    assert!(last.contains("Older: 2 matches in 1 Pod.") && !last.contains("Next matches"), "{last}");
}

#[tokio::test(flavor = "multi_thread")]
async fn usage_says_so_until_a_pod_has_used_something() {
    let stage = Stage::start().await;
    stage.pod("ada").await;
    let page = words(&stage.page("/usage").await);
    assert!(page.contains("No tokens used yet."), "{page}");
}

#[tokio::test(flavor = "multi_thread")]
async fn usage_is_drawn_per_day_and_told_per_pod_tree_and_pair() {
    let stage = Stage::start().await;
    let (ada, bob) = (stage.pod("ada").await, stage.pod("bob").await);
    let command = ToolCommand { arguments: json!({ "name": "cat", "task": "say hello", "scope": [] }) };
    let answer = stage
        .backend
        .carry_out(
            &stage.origin,
            CommandId::random(),
            protocol::operations::RunTool { pod: ada.clone(), name: "SpawnPod".into(), body: command },
        )
        .await
        .unwrap();
    assert!(!answer.is_error, "{answer:?}");
    stage.say_through(&ada, "say hello").await;
    let peer = PeerCommand { target: "bob".to_owned(), note: None };
    stage
        .backend
        .carry_out(&stage.origin, CommandId::random(), protocol::operations::Introduce { pod: ada.clone(), body: peer })
        .await
        .unwrap();
    let before = stage.head(&bob).await;
    stage.say_through(&ada, r#"call SendToPeerPod {"name":"bob","message":"say the lease is fine"}"#).await;
    stage.rests_after(&bob, Seq(before.0 + 2)).await;
    let page = stage.page("/usage").await;
    let said = words(&page);
    for word in ["Total", "Today", "Tokens per day (UTC)", "Table of days", "with 1 below", "1 run"] {
        assert!(said.contains(word), "{word}: {said}");
    }
    let drawn = main_of(&page);
    assert!(drawn.contains("role=\"img\"") && drawn.contains("Tokens of the last 30 days:"), "{drawn}");
    assert!(drawn.contains("class=\"bar-output\"") && drawn.contains("<title>"), "{drawn}");
    let exchange = |a: &PodRef, b: &PodRef| format!("/pods/local/{}/with/local/{}", a.worker_id, b.worker_id);
    assert!(drawn.contains(&exchange(&ada, &bob)) || drawn.contains(&exchange(&bob, &ada)), "{drawn}");
    assert!(drawn.contains(&format!("href=\"/pods/{ada}\"")), "{drawn}");
}

#[tokio::test(flavor = "multi_thread")]
async fn lists_over_all_servers_name_the_one_that_is_away_in_one_line() {
    let stage = Stage::start().await;
    let ada = stage.pod("ada").await;
    stage.say_through(&ada, "say turnip").await;
    // Nothing listens on port 1.
    let away =
        AddRuntime { runtime_id: "box".parse().unwrap(), url: "http://127.0.0.1:1".to_owned(), token: "t".to_owned() };
    let paths = ["/search?q=turnip", "/search?q=nothing", "/usage", "/audit", "/settings"];
    let line = "box does not answer; its part is missing here.";
    for path in paths {
        assert!(!words(&stage.page(path).await).contains("does not answer"), "{path}");
    }
    stage.backend.runtimes().add(&stage.origin, CommandId::random(), away).await.unwrap();
    for path in paths {
        let page = words(&stage.page(path).await);
        assert_eq!(page.matches(line).count(), 1, "{path}: {page}");
    }
    assert!(words(&stage.page("/search?q=turnip").await).contains("2 matches in 1 Pod."));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_board_is_whole_without_a_script_and_what_pods_say_is_text() {
    let stage = Stage::start().await;
    let ada = stage.pod("ada").await;
    stage.pod("bob").await;
    stage.say_through(&ada, "say First.\nsay \nsay The **lease** is <b>fine</b>. It holds.").await;
    let page = stage.page("/").await;
    let said = words(&page);
    for word in ["Nothing needs you.", "Since you last looked", "The lease is &lt;b&gt;fine", "It holds.", "today"] {
        assert!(said.contains(word) || main_of(&page).contains(word), "{word}: {said}");
    }
    let main = main_of(&page);
    assert!(!main.contains("<b>fine") && !main.contains("style="), "{main}");
    assert!(main.contains("class=\"strip-work\"") && main.contains(&format!("href=\"/pods/{ada}\"")), "{main}");
    let table = main_of(&stage.page("/?view=table").await);
    assert!(table.contains("<table") && !table.contains("strip-work"), "{table}");
}
