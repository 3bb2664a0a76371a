//! The frame around every page, as the server draws it for a reader without scripts, with a real host behind it.

#![allow(clippy::unwrap_used)]

mod stage;

use crate::stage::Stage;

/// From what opens with `begin` up to the next `end`.
fn part<'a>(page: &'a str, begin: &str, end: &str) -> &'a str {
    let after = page.split_once(begin).unwrap_or_else(|| panic!("no {begin} in {page}")).1;
    after.split_once(end).unwrap_or_else(|| panic!("no {end} after {begin}")).0
}

/// The addresses of all links, in order.
fn links(html: &str) -> Vec<&str> {
    html.split("<a ").skip(1).filter_map(|link| Some(link.split_once("href=\"")?.1.split_once('"')?.0)).collect()
}

/// Everything that can be tapped.
fn entries(html: &str) -> usize {
    ["<a ", "<button", "<summary"].iter().map(|tag| html.matches(tag).count()).sum()
}

#[tokio::test(flavor = "multi_thread")]
async fn every_page_is_a_link_on_a_wide_screen_and_at_most_two_presses_away_on_a_phone() {
    let stage = Stage::start().await;
    let ada = stage.pod("ada").await;
    let of_pod = format!("/pods/{}/{}", ada.runtime_id, ada.worker_id);
    let all = ["/", "/map", "/approvals", "/search", "/usage", "/audit", "/settings"];
    for path in ["/", "/approvals", &of_pod] {
        let page = stage.page(path).await;
        let top = links(part(&page, "class=\"top\"", "</header>"));
        let bottom = part(&page, "class=\"bottom\"", "</nav>");
        let below = links(bottom);
        assert!(all.iter().all(|href| top.contains(href) && below.contains(href)), "{path}: {top:?} {below:?}");
        let (bar, _) = bottom.split_once("class=\"menu-list\"").unwrap();
        assert_eq!(entries(bar), 5, "{path}: {bar}");

        assert_eq!(below.contains(&&*format!("{of_pod}?pane=details")), path == of_pod, "{path}: {below:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_page_that_is_open_is_marked_in_both_bars() {
    let stage = Stage::start().await;
    let page = stage.page("/map").await;
    for bar in ["class=\"top\"", "class=\"bottom\""] {
        let bar = part(&page, bar, "</nav>");
        let marked: Vec<_> =
            bar.split("<a ").filter(|link| link.split('>').next().unwrap().contains("aria-current")).collect();
        assert_eq!(marked.len(), 1, "{bar}");
        assert!(marked[0].contains("href=\"/map\""), "{marked:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn on_the_page_of_a_pod_the_bar_marks_where_pods_are_and_the_details_name_it() {
    let stage = Stage::start().await;
    let ada = stage.pod("ada").await;
    let page = stage.page(&format!("/pods/{}/{}", ada.runtime_id, ada.worker_id)).await;
    let bar = part(&page, "class=\"top\"", "</nav>");
    let tags: Vec<_> = bar.split("<a ").map(|link| link.split('>').next().unwrap()).collect();
    let marked: Vec<_> = tags.into_iter().filter(|tag| tag.contains("aria-current")).collect();
    assert_eq!(marked.len(), 1, "{bar}");
    assert!(marked[0].contains("href=\"/\"") && marked[0].contains("aria-current=\"true\""), "{marked:?}");
    // On a phone, only these are visible of it.
    let details = part(&page, "class=\"inspect\"", "</a>");
    assert!(details.contains("Transcript of ") && details.contains("ada"), "{details}");
}

#[tokio::test(flavor = "multi_thread")]
async fn rows_can_be_selected_by_name_and_nothing_is_at_first() {
    let stage = Stage::start().await;
    stage.pod("ada").await;
    stage.pod("bob").await;
    let page = stage.page("/?view=table").await;
    let table = part(&page, "<table", "</table>");
    assert!(table.contains("Select ada") && table.contains("Select bob"), "{table}");
    assert!(!page.contains("role=\"toolbar\"") && !page.contains("is-selected"), "{page}");
    let list = part(&page, "class=\"groups\"", "</nav>");
    assert_eq!(list.matches("data-row=").count(), 2, "{list}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_connection_says_what_it_is_and_what_can_be_done() {
    let stage = Stage::start().await;
    let page = stage.page("/").await;
    let line = part(&page, "class=\"connection\"", "</div>");
    assert!(line.contains("as loaded") && line.contains("reload the page"), "{line}");
    assert!(!line.contains("The server was updated"), "{line}");
    assert!(page.contains("Palette (Ctrl-K)"), "{page}");
}

#[tokio::test(flavor = "multi_thread")]
async fn notices_outside_of_the_page_are_chosen_in_the_settings() {
    let stage = Stage::start().await;
    let page = stage.page("/settings").await;
    for said in ["asks for permission", "asks to be a peer", "has finished", "has failed", "without a sound"] {
        assert!(page.contains(said), "{said}: {page}");
    }
}
