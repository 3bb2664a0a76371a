//! Rules of the whole server, for commands that keep running after their call.

use protocol::{ApprovalCommand, Decision, PatchPod, RuleScope};
use serde_json::json;
use testkit::until;

use crate::{
    bench::{Bench, fresh, once},
    stage::origin,
};

const REFUSED: &str = "evil.example:443 is not allowed to this Pod";

#[tokio::test]
async fn a_background_command_heeds_the_rules_of_the_whole_server() {
    let bench = Bench::new().await;
    let (ada, ben) = (bench.stage.create("ada").await, bench.stage.create("ben").await);
    let asked = async {
        let id = until("a question", async || {
            let open = bench.stage.host.approvals().of_pod(&ada, false).await.unwrap();
            open.first().map(|approval| approval.id.clone())
        });
        let never = ApprovalCommand { remember: true, scope: Some(RuleScope::Everywhere), ..once(Decision::Deny) };
        bench.stage.host.approvals().answer(fresh(), &origin(), &ada, &id.await, never).await.unwrap();
    };
    let arguments = json!({ "connect": "evil.example:443" });
    let (answer, ()) = tokio::join!(bench.run_tool(&ada, "Bash", arguments), asked);
    let said = answer.unwrap().summary;
    assert!(said.contains(REFUSED), "{said}");
    let patch: PatchPod =
        serde_json::from_value(json!({ "permissions": [{ "tool": "Network", "decision": "allow" }] })).unwrap();
    bench.stage.host.pods().patch(fresh(), &origin(), &ben, patch).await.unwrap();
    for background in [false, true] {
        let arguments = json!({ "connect": "evil.example:443", "background": background });
        let said = bench.run_tool(&ben, "Bash", arguments).await.unwrap().summary;
        assert!(said.contains(REFUSED), "background {background}: {said}");
    }
    let arguments = json!({ "connect": "127.0.0.1:1", "background": true });
    let said = bench.run_tool(&ben, "Bash", arguments).await.unwrap().summary;
    assert!(!said.contains("is not allowed to this Pod"), "the Pod's own rule allows it: {said}");
}
