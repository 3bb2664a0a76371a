//! The opaque cursor: a position in one Pod's stream.

use protocol::{DiagnosticCode, Seq, WorkerId, open_cursor, seal_cursor};

const VERSION: &str = "2";

/// Encodes `VERSION.EPOCH.WORKER.SEQ`, sealed, so that a cursor of another database, Pod or format, or one that was
/// damaged on its way, is recognised instead of misread.
pub(crate) fn encode(epoch: &str, worker_id: &WorkerId, seq: Seq) -> String {
    seal_cursor(&format!("{VERSION}.{epoch}.{worker_id}.{seq}"))
}

/// Why a cursor is unusable.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct BadCursor {
    pub(crate) code: DiagnosticCode,
    pub(crate) detail: &'static str,
}

/// Decodes a cursor for this Pod, whose journal ends at `head`.
pub(crate) fn decode(text: &str, epoch: &str, worker_id: &WorkerId, head: Seq) -> Result<Seq, BadCursor> {
    let invalid = |detail| BadCursor { code: DiagnosticCode::CursorInvalid, detail };
    let Some(position) = open_cursor(text) else {
        return Err(invalid("this is not a cursor of yoi, or it is damaged"));
    };
    let mut parts = position.splitn(4, '.');
    let (version, of_epoch, of_worker, seq) = (parts.next(), parts.next(), parts.next(), parts.next());
    if version != Some(VERSION) {
        return Err(invalid("the cursor is of another version of yoi"));
    }
    let seq = seq.filter(|digits| digits.bytes().all(|byte| byte.is_ascii_digit()));
    let Some(seq) = seq.and_then(|digits| digits.parse().ok()).map(Seq) else {
        return Err(invalid("the cursor is damaged"));
    };
    if of_epoch != Some(epoch) {
        let detail = "the cursor is from another database";
        return Err(BadCursor { code: DiagnosticCode::CursorExpired, detail });
    }
    match of_worker == Some(worker_id.as_str()) {
        false => Err(invalid("the cursor is another Pod's")),
        true if seq > head => Err(invalid("the cursor is from the future")),
        true => Ok(seq),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_is_good_for_its_own_pod_and_database_only() {
        let ada = WorkerId::parse("ada-1").unwrap();
        let bob = WorkerId::parse("bob-1").unwrap();
        let cursor = encode("e1", &ada, Seq(7));
        let code = |result: Result<Seq, BadCursor>| result.unwrap_err().code;
        assert_eq!(decode(&cursor, "e1", &ada, Seq(7)), Ok(Seq(7)));
        assert_eq!(code(decode(&cursor, "e1", &ada, Seq(6))), DiagnosticCode::CursorInvalid);
        assert_eq!(code(decode(&cursor, "e1", &bob, Seq(7))), DiagnosticCode::CursorInvalid);
        assert_eq!(code(decode(&cursor, "e2", &ada, Seq(7))), DiagnosticCode::CursorExpired);
        let seqs = ["", ".", "-1", "x", "7.7", "99999999999999999999"].map(|seq| format!("2.e1.ada-1.{seq}"));
        let others = ["", "2", "x", "1.e1.ada-1.7", "3.e1.ada-1.7", "2.e1.ada-1"].map(str::to_owned);
        for bad in seqs.into_iter().chain(others) {
            let sealed = seal_cursor(&bad);
            for bad in [bad, sealed] {
                assert_eq!(code(decode(&bad, "e1", &ada, Seq(7))), DiagnosticCode::CursorInvalid, "{bad:?}");
            }
        }
    }

    #[test]
    fn a_cursor_that_lost_or_changed_a_letter_is_no_other_cursor() {
        let ada = WorkerId::parse("ada-1").unwrap();
        let cursor = encode("e1", &ada, Seq(123));
        let mut damaged: Vec<String> = (0..cursor.len()).map(|end| cursor[..end].to_owned()).collect();
        damaged.push(format!("{cursor}0"));
        damaged.push(cursor.to_uppercase());
        for place in 0..cursor.len() {
            let without = format!("{}{}", &cursor[..place], &cursor[place + 1..]);
            let changed = format!("{}{}{}", &cursor[..place], "!", &cursor[place + 1..]);
            damaged.extend([without, changed]);
        }
        damaged.push(cursor.replace(".123.", ".12."));
        for bad in damaged.iter().filter(|bad| **bad != cursor) {
            let refusal = decode(bad, "e1", &ada, Seq(1_000)).unwrap_err();
            assert_eq!(refusal.code, DiagnosticCode::CursorInvalid, "{bad}");
        }
    }
}
