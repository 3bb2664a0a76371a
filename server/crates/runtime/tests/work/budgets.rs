//! Budgets: the most that a Pod and all Pods below it may use.

use protocol::{Budget, BudgetPer, ErrorCode, PatchPod, Price, WorkerId};
use provider::ModelSettings;
use serde_json::json;
use testkit::scripted_model::{Answer, ScriptedModel, Tokens};

use crate::{
    bench::{Bench, code, fresh, last_of, of_kind},
    stage::{origin, say},
};

fn tokens(tokens: u64) -> Option<Budget> {
    Some(Budget { cost: None, currency: None, tokens: Some(tokens), per: BudgetPer::Total })
}

fn uses(input: u64, output: u64) -> Answer {
    Answer::new().text("done").usage(Tokens { input, cached: 0, output }).finish()
}

impl Bench {
    async fn budget(&self, pod: &WorkerId, budget: Option<Budget>) {
        let patch = PatchPod { budget: Some(budget), ..PatchPod::default() };
        self.stage.host.pods().patch(fresh(), &origin(), pod, patch).await.unwrap();
    }

    async fn refused(&self, pod: &WorkerId) -> ErrorCode {
        code(self.stage.host.work().input(fresh(), &origin(), pod, say("more")).await)
    }
}

#[tokio::test]
async fn it_is_told_at_80_percent_once_and_at_100_nothing_more_is_taken() {
    let server = ScriptedModel::start().await;
    let bench = Bench::on(&server).await;
    let pod = bench.stage.create("ada").await;
    bench.budget(&pod, tokens(1_000)).await;
    let told = last_of(&bench.stage.records(&pod).await, "settings_changed");
    assert_eq!(told["budget"], json!({ "tokens": 1_000, "per": "total" }));
    server.push(uses(700, 50));
    bench.turn(&pod, "one").await;
    assert!(of_kind(&bench.stage.records(&pod).await, "alert").is_empty());
    for input in [60, 60] {
        server.push(uses(input, 0));
        bench.turn(&pod, "two").await;
    }
    bench.stage.until(&pod, |records| !of_kind(records, "alert").is_empty()).await;
    server.push(uses(200, 0));
    bench.turn(&pod, "three").await;
    let records = bench.stage.records(&pod).await;
    let alerts = of_kind(&records, "alert");
    assert_eq!(alerts.len(), 1, "{alerts:?}");
    assert_eq!((&alerts[0]["source"], &alerts[0]["level"]), (&json!("budget"), &json!("warn")));
    let used = bench.stage.host.pods().get(&pod).await.unwrap().budget_used.unwrap();
    assert_eq!((used.tokens, used.percent), (1_070, 107));
    assert_eq!(bench.refused(&pod).await, ErrorCode::BudgetSpent);
    let asked = server.requests().len();
    // With a larger budget it accepts work again, and has not begun anything by itself.
    bench.budget(&pod, tokens(5_000)).await;
    assert_eq!(server.requests().len(), asked);
    server.push(uses(1, 1));
    bench.turn(&pod, "four").await;
    bench.budget(&pod, None).await;
    let told = last_of(&bench.stage.records(&pod).await, "settings_changed");
    assert_eq!(told["budget"], json!({ "per": "total" }));
}

#[tokio::test]
async fn money_that_nobody_counts_is_told_once() {
    let server = ScriptedModel::start().await;
    let bench = Bench::on(&server).await;
    let pod = bench.stage.create("ada").await;
    bench
        .budget(&pod, Some(Budget { cost: "5".parse().ok(), currency: None, tokens: None, per: BudgetPer::Day }))
        .await;
    for _ in 0..2 {
        server.push(uses(1, 1));
        bench.turn(&pod, "work").await;
    }
    let alerts = of_kind(&bench.stage.records(&pod).await, "alert");
    assert_eq!(alerts.len(), 1, "{alerts:?}");
    let text = alerts[0]["text"].as_str().unwrap();
    assert!(text.starts_with("the budget of ada ($5 a day) does not count money for \"scripted\""), "{text}");
}

#[tokio::test]
async fn a_budget_counts_money_of_its_own_currency_alone() {
    let server = ScriptedModel::start().await;
    let euro = ModelSettings {
        input: Price::of(1_000_000.0).ok(),
        output: Price::of(0.0).ok(),
        currency: Some("EUR".to_owned()),
        ..ModelSettings::default()
    };
    let bench = Bench::on_set(&server, euro).await;
    let pod = bench.stage.create("ada").await;
    let budget = |cost: &str, currency: Option<&str>| {
        let currency = currency.map(|currency| currency.parse().unwrap());
        Some(Budget { cost: cost.parse().ok(), currency, tokens: None, per: BudgetPer::Total })
    };
    bench.budget(&pod, budget("5", None)).await;
    // Ten euros, which five dollars do not count against.
    server.push(uses(10, 1));
    bench.turn(&pod, "work").await;
    let texts: Vec<_> =
        of_kind(&bench.stage.records(&pod).await, "alert").iter().map(|alert| alert["text"].clone()).collect();
    let told = "the budget of ada ($5) does not count money for \"scripted\", which is priced in EUR: \
                set a budget in EUR, or in tokens";
    assert_eq!(texts, [told]);
    let used = last_of(&bench.stage.records(&pod).await, "usage");
    assert_eq!((&used["cost"], &used["currency"]), (&json!("10"), &json!("EUR")));
    assert_eq!(bench.stage.host.pods().get(&pod).await.unwrap().budget_used.unwrap().percent, 0);
    bench.budget(&pod, budget("5", Some("EUR"))).await;
    assert_eq!(bench.stage.host.pods().get(&pod).await.unwrap().budget_used.unwrap().percent, 200);
    assert_eq!(bench.refused(&pod).await, ErrorCode::BudgetSpent);
}

#[tokio::test]
async fn a_run_ends_before_the_call_that_would_go_beyond() {
    let server = ScriptedModel::start().await;
    let bench = Bench::on(&server).await;
    let pod = bench.stage.create("ada").await;
    bench.budget(&pod, tokens(100)).await;
    server.push(
        Answer::new()
            .tool_call("a", "Look", &["{\"name\":\"x\"}"])
            .usage(Tokens { input: 90, cached: 0, output: 10 })
            .finish(),
    );
    let records = bench.turn(&pod, "work").await;
    let finished = last_of(&records, "run_finished");
    assert_eq!((&finished["outcome"], &finished["code"]), (&json!("limit"), &json!("budget_spent")));
    assert!(finished["detail"].as_str().unwrap().contains("the budget of ada is spent (100 tokens)"), "{finished}");
    assert_eq!(server.requests().len(), 1);
    // The result of the call is in the context, for when the budget is raised.
    let history = bench.history(&pod).await;
    assert!(history.last().unwrap().starts_with("tool:"), "{history:?}");
}
