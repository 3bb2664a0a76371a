//! The two repositories that the Pods work on: a shop in TypeScript and a search engine in Rust.

use std::{fs, os::unix::fs::PermissionsExt, path::Path, process::Command};

use anyhow::{Result, bail};

const ROUND: &str = "\
// Money is kept in cents; every amount is an integer.
export function roundHalfUp(x: number): number {
  return Math.floor(x + 0.5);
}

export function roundLine(price: number, share: number) {
  return roundHalfUp(price * share);
}
";

/// What replaces it, if you allow it.
pub(crate) const SHARE_OUT: &str = "\
// Money is kept in cents; every amount is an integer.
// Shares a total out; the parts always add up to it.
export function shareOut(total: number, by: number[]) {
  const parts = by.map((w) => Math.floor(total * w));
  return giveRest(parts, total - sum(parts));
}
";

pub(crate) const SPLIT_OLD: &str = "  return order.lines.map((line) =>
    roundLine(voucher, line.total / order.total),
  );
";
pub(crate) const SPLIT_NEW: &str = "  const weights = order.lines.map((l) => l.total / order.total);
  return shareOut(voucher, weights);
";
const SPLIT: &str = "\
import { Order } from \"../orders/order\";
import { roundLine, shareOut } from \"../money/round\";

/** What each line of an order gets back of a voucher. */
export function splitVoucher(order: Order, voucher: number) {
  return order.lines.map((line) =>
    roundLine(voucher, line.total / order.total),
  );
}
";

pub(crate) const SPLIT_TEST: &str = "\
import { splitVoucher } from \"./split\";
import { order } from \"../orders/fixtures\";

test(\"the parts add up to the voucher\", () => {
  const parts = splitVoucher(order(334, 333, 334), 1001);
  expect(sum(parts)).toBe(1001);
});

test(\"the largest line gets the spare cent\", () => {
  expect(splitVoucher(order(500, 300, 200), 999)).toEqual([500, 299, 200]);
});
";

pub(crate) const REFUND_OLD: [&str; 2] = [
    "import { roundLine } from \"../money/round\";\n",
    "  let paidBack = 0;
  for (const line of order.lines) {
    paidBack += line.total - roundLine(order.voucher, line.share);
  }
",
];
pub(crate) const REFUND_NEW: [&str; 2] = [
    "import { sum } from \"../money/sum\";\n",
    "  const shares = splitVoucher(order, order.voucher);
  const paidBack = order.total - sum(shares);
",
];
const REFUND: &str = "\
import { Order, Refund } from \"../orders/order\";
import { roundLine } from \"../money/round\";
import { splitVoucher } from \"./split\";

/** Whether a refund may still be asked for. */
export function isOpen(order: Order, today: Date): boolean {
  return daysBetween(order.delivered, today) <= 30;
}

/** What a customer gets back for an order. */
export function refundOrder(order: Order): Refund {
  let paidBack = 0;
  for (const line of order.lines) {
    paidBack += line.total - roundLine(order.voucher, line.share);
  }
  return { order: order.id, amount: paidBack, at: new Date() };
}
";

pub(crate) const EXPORT_OLD: &str = "  const rows = await shop.orders.between(month.start, month.end);
  return toCsv(rows.map(asRow));
";
pub(crate) const EXPORT_NEW: &str = "  for await (const page of shop.orders.pages(month, 500)) {
    out.write(toCsv(page.map(asRow)));
  }
";
const EXPORT: &str = "\
import { Shop, Month } from \"../shop\";
import { asRow, toCsv } from \"./csv\";

/** Everything that was sold in a month, one line per order. */
export async function monthly(shop: Shop, month: Month, out: Stream) {
  const rows = await shop.orders.between(month.start, month.end);
  return toCsv(rows.map(asRow));
}
";

/// Plays the test runner: what it prints depends on the code, as it should.
const ORCHARD_TEST: &str = r#"#!/bin/sh
ok() { printf '\033[32m ✓\033[0m %s \033[2m(%s tests)\033[0m\n' "$1" "$2"; }
case $1 in
refunds)
    ok src/refunds/refund.test.ts 18
    if grep -q 'shareOut(voucher' src/refunds/split.ts; then
        ok src/refunds/split.test.ts 6
        printf '\033[1m Tests\033[0m  \033[32m24 passed\033[0m (24)\n'
    else
        printf '\033[31m ✗\033[0m src/refunds/split.test.ts > the parts add up to the voucher\n'
        printf '     expected 1001, got \033[31m1000\033[0m\n'
        printf '\033[1m Tests\033[0m  \033[31m1 failed\033[0m | 23 passed (24)\n'
        exit 1
    fi ;;
*)
    ok src/export/monthly.test.ts 9
    ok src/export/csv.test.ts 14
    printf '\033[1m Tests\033[0m  \033[32m23 passed\033[0m (23)\n' ;;
esac
"#;

const ORCHARD_WATCH: &str = r#"#!/bin/sh
printf 'watching src/export for changes\n'
printf 'export of 2026-10: 1,204,118 orders in 41 s, at most 40 MB\n'
printf '\033[32mready\033[0m in 312 ms\n'
sleep 3600
"#;

pub(crate) const MERGE_OLD: &str = "        let merged = merge(&self.segments)?;
        self.segments = vec![merged];
";
pub(crate) const MERGE_NEW: &str = "        let segments = self.segments.clone();
        self.merging = Some(self.pool.spawn(move || merge(&segments)));
";
const MERGE: &str = "\
//! Segments are merged when there are too many of them.

impl Index {
    /// Merges the segments, so that a search opens few files.
    pub fn tidy(&mut self) -> Result<()> {
        let merged = merge(&self.segments)?;
        self.segments = vec![merged];
        Ok(())
    }

    /// The number of segments that a search has to open.
    pub fn breadth(&self) -> usize {
        self.segments.len()
    }
}
";
pub(crate) const EMPTY_OLD: &str = "        self.segments.len()\n";
pub(crate) const EMPTY_NEW: &str = "        self.segments.iter().filter(|segment| !segment.is_empty()).count()\n";

pub(crate) const QUERY: &str = "\
# Queries

Every example on this page is run as a test.

| you type | it finds |
| --- | --- |
| `lease` | documents with this word |
| `\"lost update\"` | the two words side by side |
| `author:kim -draft` | what Kim wrote and is no draft |
| `merg*` | merge, merged, merging |
";

const LANTERN_TEST: &str = r#"#!/bin/sh
case $1 in
docs) printf 'running 14 examples of docs/query.md\n\033[32mtest result: ok.\033[0m 14 passed\n' ;;
*) printf 'running 37 tests\n..... ................................\n\033[32mtest result: ok.\033[0m 37 passed; finished in 2.41s\n' ;;
esac
"#;

const LANTERN_FUZZ: &str = r#"#!/bin/sh
printf '2,104,882 inputs, 4 h 02 min\ncrash: merge of an empty segment (fuzz/crashes/7f3a)\n'
printf '{}' > crash-7f3a.json
"#;

const GUIDE: &str = "Money is kept in cents. Run the tests of a folder with `./test NAME`.\n";

/// Makes both repositories in this folder, each with one commit.
pub(crate) fn make(folder: &Path) -> Result<()> {
    let orchard: &[(&str, &str)] = &[
        ("AGENTS.md", GUIDE),
        ("src/money/round.ts", ROUND),
        ("src/refunds/split.ts", SPLIT),
        ("src/refunds/refund.ts", REFUND),
        ("src/export/monthly.ts", EXPORT),
        ("package.json", "{ \"name\": \"orchard\", \"engines\": { \"node\": \">=22\" } }\n"),
        ("test", ORCHARD_TEST),
        ("watch", ORCHARD_WATCH),
    ];
    let lantern: &[(&str, &str)] = &[
        ("AGENTS.md", "Run the tests of a folder with `./test NAME`.\n"),
        ("src/merge.rs", MERGE),
        ("docs/query.md", "# Queries\n\nTODO\n"),
        ("fuzz/run", LANTERN_FUZZ),
        ("benches/merge.rs", "//! Five workloads, from a mailbox to an encyclopedia.\n"),
        ("test", LANTERN_TEST),
    ];
    for (name, files) in [("orchard", orchard), ("lantern", lantern)] {
        let repository = folder.join(name);
        for (path, text) in files {
            let file = repository.join(path);
            if let Some(parent) = file.parent() {
                fs::create_dir_all(parent)?;
            }
            fs::write(&file, text)?;
            if text.starts_with("#!") {
                fs::set_permissions(&file, fs::Permissions::from_mode(0o755))?;
            }
        }
        git(&repository, &["init", "-q", "-b", "main"])?;
        git(&repository, &["config", "user.name", "Kim"])?;
        git(&repository, &["config", "user.email", "kim@example.com"])?;
        git(&repository, &["add", "."])?;
        git(&repository, &["commit", "-qm", "Begin"])?;
    }
    Ok(())
}

fn git(folder: &Path, words: &[&str]) -> Result<()> {
    let done = Command::new("git").current_dir(folder).args(words).output()?;
    if !done.status.success() {
        bail!("git {words:?}: {}", String::from_utf8_lossy(&done.stderr));
    }
    Ok(())
}
