use super::*;

pub(crate) fn record(seq: i64, event: serde_json::Value) -> Record {
    let json = serde_json::json!({ "seq": seq, "at": "2026-11-21T22:00:00Z", "run_id": "r1", "event": event });
    serde_json::from_value(json).unwrap()
}

fn chunk(seq: i64, block: &str, text: &str) -> Record {
    record(seq, serde_json::json!({ "kind": "text_chunk", "block": block, "text": text }))
}

pub(crate) fn finished(seq: i64, block: &str, text: &str) -> Record {
    record(seq, serde_json::json!({ "kind": "message_finished", "block": block, "text": text, "interrupted": false }))
}

/// The list's blocks, whether single or in a group.
fn shown(rows: Rows) -> Vec<Block> {
    let of = |row: &Row| row.block.get_untracked();
    rows.window.entries.with_untracked(|entries| {
        let blocks = entries.iter().map(|entry| match &entry.shape {
            Shape::One(row) => vec![of(row)],
            Shape::Reads(reads) => reads.rows.with_untracked(|rows| rows.iter().map(of).collect()),
        });
        blocks.flatten().collect()
    })
}

fn called(seq: i64, block: &str, name: &str) -> Record {
    let call = serde_json::json!({
        "kind": "tool_called", "block": block, "call_id": block, "name": name, "by": "model", "arguments": {},
    });
    record(seq, call)
}

fn ids(rows: Rows) -> Vec<String> {
    rows.window.entries.with_untracked(|entries| entries.iter().map(Entry::dom_id).collect())
}

#[test]
fn rows_show_the_transcript_whatever_way_the_records_came() {
    let owner = Owner::new();
    owner.set();
    let records = [
        finished(1, "a", "one"),
        chunk(2, "b", "tw"),
        chunk(3, "b", "o"),
        finished(4, "b", "two"),
        called(5, "c", "Read"),
        called(6, "d", "Grep"),
        called(7, "e", "Read"),
        finished(8, "f", "three"),
    ];
    let whole = Transcript::from_records(&records);
    for cut in 0..=records.len() {
        let rows = Rows::new(&records[..cut], false);
        rows.apply(&records[cut..]);
        assert_eq!(shown(rows), whole.blocks(), "cut at {cut}");
        assert_eq!(ids(rows), ["block-a", "block-b", "reads-c", "block-f"], "cut at {cut}");
        let rows = Rows::new(&records[cut..], true);
        rows.prepend(&records[..cut], false);
        assert_eq!(shown(rows), whole.blocks(), "prepended {cut}");
        assert_eq!(ids(rows), ["block-a", "block-b", "reads-c", "block-f"], "prepended {cut}");
    }
}

#[test]
fn a_chunk_draws_its_own_block_and_leaves_the_list_alone() {
    let owner = Owner::new();
    owner.set();
    let rows = Rows::new(&[finished(1, "a", "one"), chunk(2, "b", "t")], false);
    let before = rows.flat.get_value();
    assert_eq!(rows.apply(&[chunk(3, "b", "w"), chunk(4, "b", "o")]), 0);
    let after = rows.flat.get_value();
    assert!(before.iter().zip(&after).all(|(before, after)| before.id == after.id));
    assert_eq!(rows.apply(&[chunk(5, "c", "x")]), 1);
}

#[test]
fn the_receipts_of_a_sent_message_are_on_the_card_of_its_call() {
    let owner = Owner::new();
    owner.set();
    let call = serde_json::json!({
        "kind": "tool_called", "block": "t", "call_id": "c", "name": "SendToPeerPod", "by": "model",
        "arguments": { "name": "bob", "message": "hello" },
    });
    let receipt = |state: &str| {
        let peer = serde_json::json!({ "runtime_id": "local", "worker_id": "bob", "name": "bob" });
        serde_json::json!({ "kind": "message_receipt", "message_id": "message-1", "peer": peer, "state": state })
    };
    let done = serde_json::json!({
        "kind": "tool_finished", "block": "t", "call_id": "c", "by": "model", "is_error": false, "duration_ms": 1,
        "summary": "delivered to bob (message-1)",
    });
    let rows = Rows::new(&[record(1, call), record(2, receipt("stored"))], false);
    assert!(rows.carried.with_untracked(HashSet::is_empty));
    rows.apply(&[record(3, done)]);
    assert!(rows.carried.with_untracked(|carried| carried.contains("message-1")));
    rows.apply(&[record(4, receipt("read"))]);
    let state = rows.message("message-1").unwrap().with_untracked(|block| match &block.kind {
        BlockKind::Message { receipt, .. } => receipt.state,
        _ => unreachable!(),
    });
    assert_eq!(state, protocol::ReceiptState::Read);
}

#[test]
fn a_snapshot_takes_the_place_of_everything() {
    let owner = Owner::new();
    owner.set();
    let rows = Rows::new(&[finished(1, "a", "one")], false);
    let fresh = [finished(8, "h", "eight"), finished(9, "i", "nine")];
    rows.reset(&fresh, true);
    assert_eq!(shown(rows), Transcript::from_records(&fresh).blocks());
    assert_eq!((rows.first.get_untracked(), rows.has_more.get_untracked()), (Seq(8), true));
}

#[test]
fn a_group_of_reads_grows_in_its_place() {
    let owner = Owner::new();
    owner.set();
    let rows = Rows::new(&[finished(1, "a", "one"), called(2, "b", "Read")], false);
    assert_eq!(ids(rows), ["block-a", "block-b"]);
    rows.apply(&[called(3, "c", "Glob")]);
    assert_eq!(ids(rows), ["block-a", "reads-b"]);
    let group = |rows: Rows| {
        rows.window.entries.with_untracked(|entries| match &entries[1].shape {
            Shape::Reads(reads) => reads.rows.clone(),
            Shape::One(_) => unreachable!(),
        })
    };
    let before = group(rows);
    rows.apply(&[called(4, "d", "Read"), called(5, "e", "Bash")]);
    assert_eq!(ids(rows), ["block-a", "reads-b", "block-e"]);
    assert!(before == group(rows), "what is open on the screen stays open");
    assert_eq!(before.with_untracked(Vec::len), 3);
}

/// Finished answers from seq `first` to `last`, each a block of its own.
fn many(first: i64, last: i64) -> Vec<Record> {
    (first..=last).map(|seq| finished(seq, &format!("m{seq}"), "words")).collect()
}

fn drawn_names(rows: Rows) -> (String, String) {
    let ids = rows.window.drawn_ids();
    (ids[0].clone(), ids[ids.len() - 1].clone())
}

#[test]
fn what_is_drawn_stays_when_older_and_newer_blocks_come() {
    let owner = Owner::new();
    owner.set();
    let rows = Rows::new(&many(501, 900), true);
    assert_eq!(rows.window.drawn_now(), 0..400, "the first page is drawn as a whole");
    rows.window.begin(80);
    rows.window.draw_only(100..150);
    assert_eq!(drawn_names(rows), ("block-m601".into(), "block-m650".into()));
    rows.prepend(&many(301, 500), true);
    assert_eq!(drawn_names(rows), ("block-m601".into(), "block-m650".into()));
    rows.apply(&many(901, 910));
    assert_eq!((rows.window.drawn_now(), rows.len()), (300..350, 610));
    rows.window.draw_only(590..610);
    rows.apply(&many(911, 915));
    assert_eq!(drawn_names(rows), ("block-m891".into(), "block-m915".into()), "at the end all that comes is drawn");
    rows.reset(&many(1_001, 1_100), true);
    assert_eq!(rows.window.drawn_now(), 0..100);
}

#[test]
fn of_a_page_that_was_gone_to_the_end_is_drawn_and_then_the_rest() {
    let owner = Owner::new();
    owner.set();
    let rows = Rows::new(&many(1, 120), false);
    rows.window.draw_end_first();
    assert_eq!(drawn_names(rows), ("block-m91".into(), "block-m120".into()));
    rows.window.begin(80);
    let view = crate::rows::window::View { top: 0.0, height: 800.0 };
    assert_eq!(rows.window.fit(view), Some(0..120), "few enough to be drawn as a whole");
    rows.window.draw_end_first();
    rows.apply(&many(121, 121));
    assert_eq!(rows.window.drawn_now(), 0..121);
    let few = Rows::new(&many(1, 3), false);
    few.window.draw_end_first();
    assert_eq!(few.window.drawn_now(), 0..3);
}

#[test]
fn a_place_is_found_by_the_name_of_its_element_drawn_or_not() {
    let owner = Owner::new();
    owner.set();
    let rows = Rows::new(&[record(11, serde_json::json!({ "kind": "run_started", "trigger": "input" }))], true);
    rows.apply(&many(12, 400));
    rows.apply(&[called(401, "r", "Read"), called(402, "s", "Read"), called(403, "t", "Read")]);
    rows.window.begin(80);
    rows.window.draw_only(0..10);
    assert_eq!((rows.index_of("seq-11"), rows.index_of("block-m300")), (Some(0), Some(289)));
    assert_eq!((rows.index_of("reads-r"), rows.index_of("block-s")), (Some(390), Some(390)));
    assert_eq!(rows.index_of("seq-300"), Some(289), "a record stands for its block");
    assert_eq!((rows.index_of("seq-5"), rows.is_older("seq-5"), rows.is_older("seq-300")), (None, true, false));
    assert_eq!((rows.window.turn_from(200, -1), rows.window.turn_from(200, 1)), (Some(0), None));
}

#[test]
fn every_block_takes_room_and_what_grows_out_of_sight_takes_more() {
    let owner = Owner::new();
    owner.set();
    let rows = Rows::new(&many(1, 300), false);
    rows.window.begin(80);
    rows.window.draw_only(0..20);
    let total = || rows.window.with_heights(|heights| heights.total()).unwrap();
    let before = total();
    rows.apply(&[chunk(301, "x", "a")]);
    let with_one_line = total();
    assert!(with_one_line > before);
    rows.apply(&[chunk(302, "x", &"line\n".repeat(50))]);
    assert!(total() > with_one_line + 500.0);
}
