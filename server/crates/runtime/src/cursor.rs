//! The opaque position in one Pod's stream.

use protocol::{DiagnosticCode, Seq, WorkerId};

/// `VERSION.EPOCH.WORKER.SEQ`: a cursor of another database, Pod or format is recognised, never guessed at.
pub(crate) fn encode(epoch: &str, worker_id: &WorkerId, seq: Seq) -> String {
    format!("1.{epoch}.{worker_id}.{seq}")
}

/// Why a cursor is of no use.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct BadCursor {
    pub(crate) code: DiagnosticCode,
    pub(crate) detail: &'static str,
}

/// Reads a cursor for this Pod, whose journal ends at `head`.
pub(crate) fn decode(text: &str, epoch: &str, worker_id: &WorkerId, head: Seq) -> Result<Seq, BadCursor> {
    let invalid = |detail| BadCursor { code: DiagnosticCode::CursorInvalid, detail };
    let mut parts = text.splitn(4, '.');
    let (version, of_epoch, of_worker, seq) = (parts.next(), parts.next(), parts.next(), parts.next());
    if version != Some("1") {
        return Err(invalid("this is not a cursor of yoi"));
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
        for bad in ["", "1", "x", "1.e1.ada-1.", "1.e1.ada-1.-1", "1.e1.ada-1.99999999999999999999", "2.e1.ada-1.7"] {
            assert_eq!(code(decode(bad, "e1", &ada, Seq(7))), DiagnosticCode::CursorInvalid, "{bad:?}");
        }
    }
}
