//! A server that says what no yoi would say, or says it at the wrong time: refused, and no harm is done.

use std::time::Duration;

use protocol::{ErrorCode, HeldDecision, LinkItem, LinkNews, MESSAGE_BYTES_MAX, ReceiptState, WorkerId};

use crate::ground::{Side, Two, received, steps};

const STRANGER: &str = "stranger";

fn nobody() -> WorkerId {
    WorkerId::parse("nobody").unwrap()
}

async fn tell(side: &Side, seq: i64, item: LinkNews) -> Result<i64, ErrorCode> {
    side.host.stores().take_in(STRANGER, vec![LinkItem { seq, item }]).await.map_err(|error| error.code)
}

fn message(from: &WorkerId, to: &WorkerId, id: &str, text: &str) -> LinkNews {
    LinkNews::Message { message_id: id.to_owned(), from: from.clone(), to: to.clone(), text: text.to_owned(), hops: 0 }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_out_of_order_too_large_or_malformed_is_refused_and_not_taken() {
    let two = Two::new().await;
    let bob = two.b.create("bob").await;
    let small = message(&nobody(), &bob, "m-1", "hi");
    assert_eq!(tell(&two.b, 2, small.clone()).await, Err(ErrorCode::InvalidInput));
    assert_eq!(tell(&two.b, 0, small.clone()).await, Ok(0));
    let long = "x".repeat(MESSAGE_BYTES_MAX + 1);
    assert_eq!(tell(&two.b, 1, message(&nobody(), &bob, "m-1", &long)).await, Err(ErrorCode::PayloadTooLarge));
    assert_eq!(tell(&two.b, 1, message(&nobody(), &bob, "m 1", "hi")).await, Err(ErrorCode::InvalidInput));
    let many = (1..=300).map(|seq| LinkItem { seq, item: small.clone() }).collect();
    assert_eq!(two.b.host.stores().take_in(STRANGER, many).await.unwrap_err().code, ErrorCode::InvalidInput);
    let own = two.b.id();
    assert_eq!(two.b.host.stores().take_in(&own, Vec::new()).await.unwrap_err().code, ErrorCode::InvalidInput);
    assert_eq!(two.b.host.stores().take_in("../x", Vec::new()).await.unwrap_err().code, ErrorCode::InvalidInput);
    assert_eq!(two.b.host.stores().taken(STRANGER).await.unwrap(), 0);
    let beyond = two.b.host.stores().outgoing(STRANGER, 7, Duration::ZERO).await.unwrap_err();
    assert_eq!(beyond.code, ErrorCode::CursorExpired);
    // The line is unharmed.
    assert_eq!(tell(&two.b, 1, small).await, Ok(1));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_about_pods_and_links_that_do_not_exist_is_answered_and_changes_nothing() {
    let two = Two::new().await;
    let (ada, bob, _shuttle) = two.linked().await;
    let sent = two.send(&ada, &bob, "say hi").await.unwrap();
    two.a.until_receipt(&ada, &sent.message_id, ReceiptState::Answered).await;
    let id = two.b.peers(&bob).await.len().to_string();
    assert_eq!(id, "1");
    // His run has ended, and nothing follows.
    let is_at_rest = |records: &[protocol::Record]| {
        let place = |kind: &str| records.iter().rposition(|record| record.event.kind() == kind);
        place("run_finished").is_some() && place("run_finished") < place("status")
    };
    let before = two.b.until(&bob, is_at_rest).await.len();
    let (by, note) = ("eve".to_owned(), None);
    // The handshake id of the link between ada and bob is not a secret.
    let handshake = two.b.host.journals().export(&bob).await.map(|_| "request-known".to_owned()).unwrap();
    let card = two.a.card(&ada).await;
    let news = [
        LinkNews::Propose { handshake: "h-1".to_owned(), from: card.clone(), to: nobody(), by: by.clone(), note: None },
        message(&ada, &bob, "m-1", "say stolen"),
        message(&ada, &nobody(), "m-2", "say stolen"),
        LinkNews::Accepted { handshake: "h-9".to_owned(), card: card.clone(), by: by.clone() },
        LinkNews::Asked { handshake: handshake.clone(), card: card.clone() },
        LinkNews::Refused { handshake: handshake.clone(), code: ErrorCode::Internal, sentence: "no".to_owned() },
        LinkNews::Declined { handshake: handshake.clone(), by: by.clone(), note: note.clone() },
        LinkNews::Withdraw { handshake: handshake.clone(), by: by.clone(), note: note.clone() },
        LinkNews::Unlinked { handshake, by, note },
        LinkNews::Receipt {
            message_id: sent.message_id.clone(),
            from: bob.clone(),
            to: ada.clone(),
            state: ReceiptState::Refused,
            turn: None,
            code: None,
            reason: None,
        },
        LinkNews::Decision {
            message_id: sent.message_id.clone(),
            from: ada.clone(),
            to: bob.clone(),
            decision: HeldDecision::Drop,
        },
        LinkNews::Card { card },
    ];
    let count = news.len() as i64;
    for side in [&two.a, &two.b] {
        for (at, item) in news.iter().enumerate() {
            assert_eq!(tell(side, at as i64 + 1, item.clone()).await, Ok(at as i64 + 1));
        }
        assert_eq!(side.host.stores().taken(STRANGER).await.unwrap(), count);
    }
    let answers = two.b.host.stores().outgoing(STRANGER, 0, Duration::ZERO).await.unwrap();
    let kinds = answers.iter().map(|item| match &item.item {
        LinkNews::Refused { code, .. } => format!("refused {code}"),
        LinkNews::Receipt { code, state, .. } => format!("{state:?} {}", code.unwrap()),
        other => format!("{other:?}"),
    });
    assert_eq!(kinds.collect::<Vec<_>>(), ["refused pod_not_found", "Refused not_visible", "Refused pod_not_found"]);
    assert_eq!(two.b.records(&bob).await.len(), before);
    assert_eq!(received(&two.b.records(&bob).await).len(), 1);
    assert_eq!(steps(&two.b.records(&bob).await), ["peer_linked"]);
    assert!(two.is_linked(&ada, &bob).await);
}
