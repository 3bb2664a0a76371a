use commands::samples::pod as summary;
use protocol::{PodDetail, PodRef, PodState, Record};

use super::*;
use crate::{console::pod_book::PodBook, rows::Rows};

fn records(count: i64) -> Vec<Record> {
    let record = |seq: i64| {
        let event = serde_json::json!({
            "kind": "message_finished", "block": format!("b{seq}"), "text": "words", "interrupted": false,
        });
        serde_json::from_value(serde_json::json!({ "seq": seq, "at": "2026-11-21T22:00:00Z", "event": event })).unwrap()
    };
    (1..=count).map(record).collect()
}

fn detail(name: &str) -> PodDetail {
    let mut detail = serde_json::to_value(summary(name, PodState::Idle)).unwrap();
    let more = serde_json::json!({
        "scope": [], "peer_policy": "open", "wake_on_peer": true, "permissions": [], "reasoning": "full", "queued": [],
    });
    detail.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    serde_json::from_value(detail).unwrap()
}

fn wanted(name: &str) -> Wanted {
    (format!("local/{name}"), None, None)
}

/// A page with this many blocks, whose Pod is in the list.
fn page(console: Console, name: &str, blocks: i64) -> PodContext {
    let seen = Rows::new(&records(blocks), false);
    let pod = PodContext::provide(console, detail(name), Vec::new(), seen, false);
    console.book.update(|book| {
        let mut listed = summary(name, PodState::Idle);
        listed.head_seq = Seq(blocks);
        book.get_or_insert_default().apply(false, vec![listed], &[]);
    });
    pod
}

fn with_visits(story: impl FnOnce(Console, Visits)) {
    let owner = Owner::new();
    owner.with(|| {
        let console = Console::provide();
        console.book.set(Some(PodBook::default()));
        story(console, Visits::new(console));
    });
}

fn keep(visits: Visits, name: &str, pod: PodContext) {
    visits.kept.update_value(|kept| kept.push(Kept { wanted: wanted(name), pod }));
}

#[test]
fn going_back_reads_nothing_and_going_elsewhere_does() {
    with_visits(|console, visits| {
        let first = visits.stop(None, wanted("ada"), None, false);
        keep(visits, "ada", page(console, "ada", 3));
        let bob = visits.stop(Some(&first), wanted("bob"), None, false);
        assert_eq!((bob.is_back, bob.reading.1), (false, 1));
        let back = visits.stop(Some(&bob), wanted("ada"), None, false);
        assert!(back.is_back);
        assert_eq!(back.reading, bob.reading, "nothing is read");
        let again = visits.stop(Some(&back), wanted("bob"), None, false);
        assert_eq!((again.is_back, again.reading.1), (false, 2), "the same Pod, read once more");
    });
}

#[test]
fn a_link_leads_back_only_to_a_page_that_has_its_block() {
    with_visits(|console, visits| {
        keep(visits, "ada", page(console, "ada", 3));
        let before = visits.stop(None, wanted("bob"), None, false);
        let is_back = |link: &str| visits.stop(Some(&before), wanted("ada"), Some(link), false).is_back;
        assert!(is_back("block-b2"));
        assert!(!is_back("block-b9"));
        assert!(!visits.stop(Some(&before), wanted("ada"), None, true).is_back, "words are looked for");
    });
}

#[test]
fn a_page_that_ended_or_is_far_behind_or_whose_pod_is_gone_is_read_anew() {
    with_visits(|console, visits| {
        let pod = page(console, "ada", 3);
        keep(visits, "ada", pod);
        let before = visits.stop(None, wanted("bob"), None, false);
        let is_back = || visits.stop(Some(&before), wanted("ada"), None, false).is_back;
        let head = |head: i64| {
            let mut listed = summary("ada", PodState::Idle);
            listed.head_seq = Seq(head);
            console.book.update(|book| book.get_or_insert_default().apply(false, vec![listed], &[]));
        };
        assert!(is_back());
        head(3 + BEHIND_MAX);
        assert!(is_back());
        head(4 + BEHIND_MAX);
        assert!(!is_back());
        head(3);
        pod.closed.set(Some("deleted".to_owned()));
        assert!(!is_back());
        pod.closed.set(None);
        let ada: PodRef = "local/ada".parse().unwrap();
        console.book.update(|book| book.get_or_insert_default().apply(false, Vec::new(), &[ada]));
        assert!(!is_back());
    });
}

#[test]
fn pages_are_kept_up_to_a_number_and_up_to_a_number_of_blocks() {
    with_visits(|console, _| {
        let kept = |blocks: &[i64]| -> Vec<Kept> {
            let name = |index: usize| format!("pod{index}");
            let one = |(index, blocks): (usize, &i64)| Kept {
                wanted: wanted(&name(index)),
                pod: page(console, &name(index), *blocks),
            };
            blocks.iter().enumerate().map(one).collect()
        };
        assert_eq!(Visits::surplus(&kept(&[1; PAGES_MAX])), 0);
        assert_eq!(Visits::surplus(&kept(&[1; PAGES_MAX + 2])), 2);
        let half = BLOCKS_MAX as i64 / 2;
        assert_eq!(Visits::surplus(&kept(&[half, 1, half])), 1);
        assert_eq!(Visits::surplus(&kept(&[half, half])), 0);
        assert_eq!(Visits::surplus(&kept(&[1, 2 * half + 1])), 2, "not even the last one fits");
    });
}
