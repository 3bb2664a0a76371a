//! The message to a peer, as named in the result of the call that sent it.

use transcript::BlockKind;

/// The id of the message that a finished call of SendToPeerPod has sent.
pub(crate) fn sent_message(kind: &BlockKind) -> Option<&str> {
    match kind {
        BlockKind::Tool { name: Some(name), result: Some(result), .. }
            if name == "SendToPeerPod" && !result.is_error =>
        {
            message_id(&result.summary)
        }
        _ => None,
    }
}

/// The id in `delivered to bob (message-…)`.
fn message_id(summary: &str) -> Option<&str> {
    let id = &summary[summary.find("(message-")? + 1..];
    id.split_once(')').map(|(id, _)| id)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_id_of_a_message_is_in_the_words_of_the_tool() {
        assert_eq!(message_id("delivered to bob (message-0192)"), Some("message-0192"));
        assert_eq!(message_id("held back before bob (message-7): 9 steps; release"), Some("message-7"));
        assert_eq!(message_id("delivered to bob"), None);
        assert_eq!(message_id("odd (message-7"), None);
    }
}
