//! Pods whose files are on one host.

use std::time::Duration;

use protocol::{CreatePod, ErrorCode};
use runtime::PodQuery;

use crate::{
    ground::*,
    stage::{named, origin, say},
};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_pod_without_its_files_is_not_claimed_and_says_where_they_are() {
    let ground = Ground::new().await;
    let (one, two) = (ground.host("one").await, ground.host("two").await);
    let there = tempfile::tempdir().unwrap();
    let cwd = there.path().canonicalize().unwrap().to_str().unwrap().to_owned();
    let ada = create_as(&one, CreatePod { cwd: Some(cwd.clone()), ..named("ada") }).await;
    let bob = create(&one, "bob").await;
    let summary = async |host: &runtime::Host| host.pods().get(&ada).await.unwrap().summary;
    one.shutdown(Duration::from_secs(5)).await;
    // As on a machine that does not have the folder.
    let away = there.path().with_extension("away");
    std::fs::rename(there.path(), &away).unwrap();
    let refused = two.work().input(fresh_key(), &origin(), &ada, say("say hello")).await.unwrap_err();
    assert_eq!(refused.code, ErrorCode::RuntimeUnavailable);
    assert!(refused.detail.contains("\"one\"") && refused.detail.contains("\"ada\""), "{refused:?}");
    assert!(summary(&two).await.state_reason.unwrap().contains("\"one\""));
    let listed = two.pods().list(&PodQuery::default()).await.unwrap().items;
    let reasons: Vec<_> = listed.iter().map(|pod| pod.state_reason.is_some()).collect();
    assert_eq!(reasons, [true, false]);
    tell(&two, &bob, "say hello").await;
    watch(&two, &bob, is_finished).await;
    // The host comes back, with the files.
    std::fs::rename(&away, there.path()).unwrap();
    let one = ground.host("one").await;
    assert_eq!(summary(&two).await.state_reason, None);
    std::fs::rename(there.path(), &away).unwrap();
    tell(&two, &ada, "say hello").await;
    watch(&two, &ada, is_finished).await;
    assert_eq!(one.pods().get(&ada).await.unwrap().summary.state_reason, None);
    std::fs::rename(&away, there.path()).unwrap();
}
