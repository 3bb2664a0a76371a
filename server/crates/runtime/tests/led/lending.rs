//! Who may access what while it is lent: lender, borrower, and those below.

use protocol::ScopeRule;
use serde_json::json;

use crate::ground::{Ground, deny, read, write};

const YES: &str = "yes";

#[tokio::test]
async fn a_lender_reads_and_does_not_write_what_is_lent_for_writing() {
    let ground = Ground::new().await;
    let ada = ground.lead("ada").await;
    let (a, file) = (ground.path("a"), ground.path("a/deep/file"));
    let bob = ground.done_child(&ada, "bob", &[write(&a)]).await;
    let (may_read, may_write) = ground.may(&ada, &file).await;
    assert_eq!(may_read, YES);
    assert!(may_write.contains("is lent to a child for writing"), "{may_write}");
    assert_eq!(ground.may(&ada, &ground.path("b/file")).await.1, YES);
    assert_eq!(ground.may(&bob, &file).await, (YES.to_owned(), YES.to_owned()));
    assert!(ground.may(&bob, &ground.path("b/file")).await.0.contains("outside"));

    // This survives a restart, and ends with the child.
    let ground = ground.restarted().await;
    assert!(ground.may(&ada, &file).await.1.contains("is lent"));
    assert_eq!(ground.may(&bob, &file).await.1, YES);
    ground.done(&ada, "StopPod", json!({ "name": "bob" })).await;
    assert_eq!(ground.may(&ada, &file).await.1, YES);
    let ground = ground.restarted().await;
    assert_eq!(ground.may(&ada, &file).await.1, YES);
}

#[tokio::test]
async fn a_loan_for_writing_conflicts_with_every_loan_above_and_below() {
    let ground = Ground::new().await;
    let ada = ground.lead("ada").await;
    let (a, deep) = (ground.path("a"), ground.path("a/deep"));
    let spawn = |name: &str, scope: Vec<ScopeRule>| json!({ "name": name, "task": "say x", "scope": scope });
    ground.spawn(&ada, "bob", "say x", &[write(&deep)]).await;
    for scope in [vec![write(&a)], vec![read(&a)], vec![write(&deep)], vec![read(&ground.path("b")), read(&deep)]] {
        let told = ground.refused(&ada, "SpawnPod", spawn("cid", scope)).await;
        assert_eq!(told.0, "scope_conflict", "{}", told.1);
        assert!(told.1.contains("overlaps something that is lent already"), "{}", told.1);
    }
    ground.done(&ada, "StopPod", json!({ "name": "bob" })).await;
    ground.spawn(&ada, "cid", "say x", &[read(&a)]).await;
    let told = ground.refused(&ada, "SpawnPod", spawn("dan", vec![write(&deep)])).await;
    assert_eq!(told.0, "scope_conflict");
    // Readers do not exclude each other, nor keep the lender from writing.
    ground.spawn(&ada, "dan", "say x", &[read(&deep), read(&a)]).await;
    assert_eq!(ground.may(&ada, &format!("{deep}/file")).await.1, YES);
    assert_eq!(ground.named("eve").await, None);
}

#[tokio::test]
async fn a_child_lends_on_what_it_is_lent_and_no_more() {
    let ground = Ground::new().await;
    let ada = ground.lead("ada").await;
    let (a, deep) = (ground.path("a"), ground.path("a/deep"));
    let bob = ground.done_child(&ada, "bob", &[write(&a)]).await;
    let cid = ground.done_child(&bob, "cid", &[write(&deep)]).await;
    let file = format!("{deep}/file");
    assert_eq!(ground.may(&cid, &file).await.1, YES);
    assert!(ground.may(&bob, &file).await.1.contains("is lent"));
    assert_eq!(ground.may(&bob, &format!("{a}/file")).await.1, YES);
    assert!(ground.may(&ada, &file).await.1.contains("is lent"));
    let arguments = json!({ "name": "dan", "task": "say x", "scope": [write(&ground.path("b"))] });
    assert_eq!(ground.refused(&bob, "SpawnPod", arguments).await.0, "scope_not_held");
    // What is lent on is part of the loan: the first lender cannot lend it to anybody else.
    let arguments = json!({ "name": "dan", "task": "say x", "scope": [write(&deep)] });
    assert_eq!(ground.refused(&ada, "SpawnPod", arguments).await.0, "scope_conflict");
}

#[tokio::test]
async fn a_deny_is_inherited_and_survives_the_reclaim() {
    let ground = Ground::new().await;
    let (a, deep) = (ground.path("a"), ground.path("a/deep"));
    let secret = format!("{deep}/secret");
    let ada = ground.create("ada", vec![write(&a), deny(&deep)]).await;
    let bob = ground.done_child(&ada, "bob", &[write(&a)]).await;
    let cid = ground.done_child(&bob, "cid", &[read(&a)]).await;
    for pod in [&ada, &bob, &cid] {
        assert!(ground.may(pod, &secret).await.0.contains("denied"));
    }
    assert!(ground.host().pods().get(&cid).await.unwrap().scope.contains(&deny(&deep)));
    let arguments = json!({ "name": "dan", "task": "say x", "scope": [read(&deep)] });
    assert_eq!(ground.refused(&bob, "SpawnPod", arguments).await.0, "scope_not_held");

    // A deny of the child's own part, too; and after it is returned, the lender's own denies apply.
    ground.done(&ada, "StopPod", json!({ "name": "bob" })).await;
    let ground = ground.restarted().await;
    assert!(ground.may(&ada, &secret).await.0.contains("denied"));
    assert_eq!(ground.may(&ada, &format!("{a}/file")).await.1, YES);
    let eve = ground.done_child(&ada, "eve", &[write(&a), deny(&format!("{a}/keep"))]).await;
    assert!(ground.may(&eve, &secret).await.0.contains("denied"));
    assert!(ground.may(&eve, &format!("{a}/keep/x")).await.0.contains("denied"));
    ground.done(&ada, "StopPod", json!({ "name": "eve" })).await;
    ground.done(&ada, "RestorePod", json!({ "name": "eve" })).await;
    assert!(ground.may(&eve, &secret).await.0.contains("denied"));
    assert!(ground.may(&eve, &format!("{a}/keep/x")).await.0.contains("denied"));
    assert!(ground.may(&ada, &secret).await.0.contains("denied"));
}

#[tokio::test]
async fn what_is_ours_is_no_ones_to_touch_even_when_it_is_lent() {
    let ground = Ground::new().await;
    let ours = ground.own_folder();
    let all = std::path::Path::new(&ours).parent().unwrap().to_str().unwrap().to_owned();
    let ada = ground.create("ada", vec![write(&all)]).await;
    let bob = ground.done_child(&ada, "bob", &[write(&all)]).await;
    for pod in [&ada, &bob] {
        assert!(ground.may(pod, &format!("{ours}/yoi.db")).await.0.contains("denied"));
    }
    assert_eq!(ground.may(&bob, &ground.path("a/file")).await.1, YES);
}

#[tokio::test]
async fn a_loan_survives_compaction_and_rewind_of_the_lender() {
    let ground = Ground::new().await;
    let ada = ground.lead("ada").await;
    let file = ground.path("a/file");
    ground.tell(&ada, "stream 600 at 0").await;
    ground.stage.until_idle(&ada).await;
    let bob = ground.done_child(&ada, "bob", &[write(&ground.path("a"))]).await;
    ground.control(&ada, protocol::ControlVerb::Compact).await.unwrap();
    ground.stage.until(&ada, |records| crate::ground::count(records, "compacted") == 1).await;
    let records = ground.until_state(&ada, protocol::PodState::Idle).await;
    let rewind = protocol::RewindCommand::context(protocol::Seq(2), records.last().unwrap().seq);
    ground.host().work().rewind(crate::ground::fresh_key(), &crate::stage::origin(), &ada, rewind).await.unwrap();
    assert!(ground.may(&ada, &file).await.1.contains("is lent"));
    assert_eq!(ground.may(&bob, &file).await.1, YES);
    assert_eq!(ground.seen(&ada, "bob").await.scope, [write(&ground.path("a"))]);
}
