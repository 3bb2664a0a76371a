//! Deleting a parent or a child.

use protocol::{ControlVerb, PodState};

use crate::{
    ground::{Ground, count, fresh_key, write},
    stage::origin,
};

#[tokio::test]
async fn a_deleted_child_gives_back_its_loan_and_is_seen_no_more() {
    let ground = Ground::new().await;
    let ada = ground.lead("ada").await;
    let bob = ground.busy_child(&ada, "bob", &[write(&ground.path("a"))]).await;
    ground.host().pods().delete(fresh_key(), &origin(), &bob, Some("bob")).await.unwrap();
    assert_eq!(ground.named("bob").await, None);
    assert_eq!(ground.may(&ada, &ground.path("a")).await.1, "yes");
    let parent = ground.host().pods().get(&ada).await.unwrap();
    assert_eq!((parent.summary.relations.children, parent.children.len()), (0, 0));
    assert_eq!(count(&ground.stage.records(&ada).await, "child_stopped"), 1);
    assert_eq!(ground.host().pods().visible(&ada).await.unwrap().len(), 1);
    // Its name and its folder are free.
    ground.done_child(&ada, "bob", &[write(&ground.path("a"))]).await;
}

#[tokio::test]
async fn the_children_of_a_deleted_pod_are_stopped_and_belong_to_nobody() {
    let ground = Ground::new().await;
    let ada = ground.lead("ada").await;
    let bob = ground.busy_child(&ada, "bob", &[write(&ground.path("a"))]).await;
    let cid = ground.done_child(&bob, "cid", &[write(&ground.path("a/deep"))]).await;
    let key = fresh_key();
    ground.host().pods().delete(key.clone(), &origin(), &ada, Some("ada")).await.unwrap();
    ground.host().pods().delete(key, &origin(), &ada, Some("ada")).await.unwrap();
    assert_eq!((ground.state(&bob).await, ground.state(&cid).await), (PodState::Stopped, PodState::Stopped));
    let child = ground.host().pods().get(&bob).await.unwrap();
    assert_eq!(child.summary.relations.parent, None);
    assert_eq!(child.children.len(), 1);
    // A person may restore it, as a Pod without a parent; nobody is told of its end.
    let ground = ground.restarted().await;
    ground.control(&bob, ControlVerb::Restore).await.unwrap();
    ground.tell(&bob, "say alone").await;
    ground.until_state(&bob, PodState::Idle).await;
}
