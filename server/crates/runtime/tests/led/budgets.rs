//! Budgets of Pods with children: what a child uses counts for each Pod above it.

use protocol::{Budget, BudgetPer, ErrorCode, PatchPod, WorkerId};

use crate::{
    ground::{Ground, fresh_key},
    stage::{origin, say},
};

impl Ground {
    async fn budget(&self, pod: &WorkerId, tokens: Option<u64>) {
        let budget =
            tokens.map(|tokens| Budget { cost: None, currency: None, tokens: Some(tokens), per: BudgetPer::Day });
        let patch = PatchPod { budget: Some(budget), ..PatchPod::default() };
        self.host().pods().patch(fresh_key(), &origin(), pod, patch).await.unwrap();
    }

    async fn takes_work(&self, pod: &WorkerId) -> Result<(), (ErrorCode, String)> {
        let taken = self.host().work().input(fresh_key(), &origin(), pod, say("say more")).await;
        taken.map(drop).map_err(|error| (error.code, error.detail))
    }
}

#[tokio::test]
async fn what_a_child_uses_counts_for_each_pod_above_it() {
    let ground = Ground::new().await;
    let lead = ground.lead("lead").await;
    let child = ground.done_child(&lead, "kid", &[]).await;
    let grandchild = ground.done_child(&child, "grandkid", &[]).await;
    // The Pods below have already used more than that, and the lead itself nothing.
    ground.budget(&lead, Some(1)).await;
    for pod in [&lead, &child, &grandchild] {
        let (code, sentence) = ground.takes_work(pod).await.unwrap_err();
        assert_eq!(code, ErrorCode::BudgetSpent);
        assert!(sentence.contains("the budget of lead of 2") && sentence.contains("(1 tokens a day)"), "{sentence}");
    }
    // A Pod outside the tree uses nothing of it.
    let other = ground.create("other", Vec::new()).await;
    ground.takes_work(&other).await.unwrap();
    ground.budget(&lead, None).await;
    ground.budget(&child, Some(1)).await;
    ground.takes_work(&lead).await.unwrap();
    assert_eq!(ground.takes_work(&grandchild).await.unwrap_err().0, ErrorCode::BudgetSpent);
}
