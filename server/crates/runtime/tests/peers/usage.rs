//! The usage caused by messages between Pods: counted for the pair, once for each run that one of them began.

use protocol::{ReceiptState, UsageOfLink};

use crate::ground::Ground;

async fn links(ground: &Ground) -> Vec<UsageOfLink> {
    ground.host().journals().usage().await.unwrap().links
}

/// Both directions, a run begun by a person between them, and a restart; it runs on both databases.
pub async fn pair_story(ground: Ground) {
    let (ada, bob) = ground.pair().await;
    assert_eq!(links(&ground).await, []);
    let first = ground.send(&ada, &bob, "say one").await.unwrap().message_id;
    ground.until_receipt(&bob, &first, ReceiptState::Answered).await;
    let of_bob = ground.host().pods().get(&bob).await.unwrap().summary.usage;
    let link = links(&ground).await.remove(0);
    assert_eq!((link.a_name.as_str(), link.b_name.as_str(), link.runs), ("ada", "bob", 1));
    assert_eq!((link.usage.input, link.usage.output), (of_bob.input, of_bob.output));
    assert!(of_bob.output > 0);

    // Runs that a person begins do not count for the pair.
    ground.tell(&bob, "say for a person").await;
    ground.until(&bob, |records| crate::ground::count(records, "run_finished") == 2).await;
    assert_eq!(links(&ground).await, std::slice::from_ref(&link));

    let ground = ground.restarted().await;
    assert_eq!(links(&ground).await, std::slice::from_ref(&link));
    let second = ground.send(&bob, &ada, "say two").await.unwrap().message_id;
    ground.until_receipt(&ada, &second, ReceiptState::Answered).await;
    let of_ada = ground.host().pods().get(&ada).await.unwrap().summary.usage;
    let both = links(&ground).await.remove(0);
    assert_eq!((both.runs, both.usage.output), (2, link.usage.output + of_ada.output));

    ground.unlink(&ada, &bob).await.unwrap();
    assert_eq!(links(&ground).await, [both], "what was used was used");
}

#[tokio::test]
async fn runs_that_messages_began_are_counted_for_the_pair() {
    pair_story(Ground::new().await).await;
}
