use protocol::{open_cursor, seal_cursor};

use super::*;

#[derive(Debug, Clone, PartialEq)]
struct Row {
    at: i64,
    cursor: String,
    of: &'static str,
}

impl Part for Row {
    fn at(&self) -> Option<Timestamp> {
        Timestamp::from_second(self.at).ok()
    }

    fn cursor(&self) -> Option<&str> {
        (!self.cursor.is_empty()).then_some(&self.cursor)
    }
}

fn id(text: &str) -> RuntimeId {
    RuntimeId::parse(text).unwrap()
}

/// A runtime's list: its times, oldest first, each in the row of its number.
fn page(of: &'static str, times: &[i64], after: Option<String>, limit: usize) -> Listing<Row> {
    let before: i64 = after.map_or(i64::MAX, |after| open_cursor(&after).unwrap().parse().unwrap());
    let rows = times.iter().enumerate().map(|(index, at)| (index as i64 + 1, *at)).rev();
    let rows = rows.filter(|(row, _)| *row < before).take(limit);
    let items: Vec<Row> = rows.map(|(row, at)| Row { at, cursor: seal_cursor(&row.to_string()), of }).collect();
    let next = items.last().filter(|_| items.len() == limit).map(|row| row.cursor.clone());
    Listing { items, next }
}

/// Reads one page after a cursor; `lists` are those of the runtimes that answer.
fn read(after: Option<&str>, lists: &[(&'static str, &[i64])], limit: usize) -> Gathered<Row> {
    let mut places = match after {
        None => Places::beginning(["local", "box", "away"].map(id).into_iter()),
        Some(after) => Places::read(after).unwrap(),
    };
    let mut parts = Vec::new();
    for of in ["local", "box", "away"] {
        let Some(after) = places.goes_on(&id(of)) else { continue };
        match lists.iter().find(|(name, _)| *name == of) {
            Some((name, times)) => parts.push((id(of), page(name, times, after, limit))),
            None => places.leave_out(id(of)),
        }
    }
    merge(places, parts, limit)
}

#[test]
fn pages_of_any_size_are_one_list_newest_first_and_name_missing_runtimes() {
    let lists: &[(&str, &[i64])] = &[("local", &[1, 4, 5, 9, 9]), ("box", &[2, 3, 5, 8, 10, 11])];
    let whole = read(None, lists, 100);
    let of: Vec<_> = whole.items.iter().map(|row| (row.at, row.of)).collect();
    let times: Vec<i64> = of.iter().map(|(at, _)| *at).collect();
    assert_eq!(times, [11, 10, 9, 9, 8, 5, 5, 4, 3, 2, 1]);
    assert_eq!(of[5..7], [(5, "local"), (5, "box")], "of equals ours is first");
    assert_eq!((whole.next, whole.absent), (None, vec![id("away")]));
    for limit in 1..12 {
        let (mut found, mut after) = (Vec::new(), None::<String>);
        loop {
            let page = read(after.as_deref(), lists, limit);
            assert!(page.items.len() <= limit);
            assert_eq!(page.absent, [id("away")], "on each page");
            found.extend(page.items);
            after = page.next;
            if after.is_none() {
                break;
            }
        }
        assert_eq!(found, whole.items, "in pages of {limit}");
    }
}

#[test]
fn what_comes_newer_while_pages_are_read_changes_none_of_them() {
    let (local, far): (&[i64], &[i64]) = (&[1, 2, 20, 21], &[3, 4]);
    let first = read(None, &[("local", local), ("box", far)], 2);
    assert_eq!(first.items.iter().map(|row| row.at).collect::<Vec<_>>(), [21, 20]);
    // Nothing of the other runtime had been shown yet.
    let (local, far): (&[i64], &[i64]) = (&[1, 2, 20, 21, 30], &[3, 4, 31, 32]);
    let rest = read(first.next.as_deref(), &[("local", local), ("box", far)], 10);
    assert_eq!(rest.items.iter().map(|row| row.at).collect::<Vec<_>>(), [4, 3, 2, 1]);
}

#[test]
fn one_that_goes_away_between_pages_stays_out_and_is_named_also_when_it_is_back() {
    let (local, far): (&[i64], &[i64]) = (&[1, 3, 5], &[2, 4, 6]);
    let first = read(None, &[("local", local), ("box", far)], 2);
    let second = read(first.next.as_deref(), &[("local", local)], 2);
    assert_eq!(second.items.iter().map(|row| row.at).collect::<Vec<_>>(), [3, 1]);
    let end = seal_cursor(&format!("local.{}~box_", seal_cursor("1")));
    let third = read(second.next.as_deref().or(Some(&end)), &[("local", local), ("box", far)], 2);
    assert_eq!((third.items, third.absent.contains(&id("box"))), (Vec::new(), true));
}

#[test]
fn a_part_that_does_not_say_where_its_items_are_is_left_out() {
    let nowhere = Listing { items: vec![Row { at: 9, cursor: String::new(), of: "box" }], next: None };
    let parts = vec![(id("local"), page("local", &[1], None, 10)), (id("box"), nowhere)];
    let merged = merge(Places::beginning(["local", "box"].map(id).into_iter()), parts, 10);
    assert_eq!((merged.items.len(), merged.absent), (1, vec![id("box")]));
}

#[test]
fn a_place_right_before_an_item_keeps_the_letter_of_its_list() {
    let behind = |cursor: &str| Place::Behind(cursor.to_owned());
    assert_eq!([Place::at("17"), Place::at("s9")], [behind("18"), behind("s10")]);
    assert_eq!([Place::at(""), Place::at("s"), Place::at("x y")], [Place::Newest, Place::Newest, Place::Newest]);
    assert_eq!(
        ["17", "s9"].map(|sealed| Place::at(&seal_cursor(sealed))),
        ["18", "s10"].map(|at| behind(&seal_cursor(at)))
    );
}

#[test]
fn a_cursor_of_one_runtime_is_its_number_and_others_are_read_or_refused() {
    let alone =
        merge(Places::beginning([id("local")].into_iter()), vec![(id("local"), page("local", &[1, 2, 3], None, 2))], 2);
    assert_eq!(alone.next, Some(seal_cursor("2")));
    let seventeen = seal_cursor("17");
    let places = Places::read(&seal_cursor(&format!("local.{seventeen}~box.~gone_"))).unwrap();
    assert_eq!(places.goes_on(&id("local")), Some(Some(seventeen.clone())));
    assert_eq!(places.goes_on(&id("box")), Some(None));
    assert_eq!((places.goes_on(&id("gone")), places.absent()), (None, vec![id("gone")]));
    assert_eq!(places.write(), Some(seal_cursor(&format!("box.~gone_~local.{seventeen}"))));
    for bad in ["local.1~", ".5", "_", "Local.5", "local.1~box"] {
        for bad in [bad, &seal_cursor(bad)] {
            assert_eq!(Places::read(bad).unwrap_err().code, ErrorCode::CursorInvalid, "{bad}");
        }
    }
}
