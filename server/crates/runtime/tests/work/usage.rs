use protocol::{ControlVerb, UsageDay, UsageReport};

use crate::{
    bench::{Bench, fresh},
    stage::origin,
};

async fn report(bench: &Bench) -> UsageReport {
    bench.stage.host.journals().usage().await.unwrap()
}

/// The totals of all Pods' summaries: input, cached, output.
async fn summed(bench: &Bench) -> [u64; 3] {
    let pods = bench.stage.host.pods().list(&runtime::PodQuery::default()).await.unwrap().items;
    pods.iter().fold([0; 3], |[input, cached, output], pod| {
        [input + pod.usage.input, cached + pod.usage.cached, output + pod.usage.output]
    })
}

fn counts(day: &UsageDay) -> [u64; 3] {
    [day.input, day.cached, day.output]
}

#[tokio::test]
async fn usage_is_what_the_summaries_say_and_survives_a_restart_and_a_deletion() {
    let bench = Bench::new().await;
    assert_eq!(
        report(&bench).await,
        UsageReport {
            total: UsageDay::default(),
            pods: Vec::new(),
            days: Vec::new(),
            models: Vec::new(),
            trees: Vec::new(),
            links: Vec::new(),
            absent: Vec::new(),
        }
    );
    let (ada, bob) = (bench.stage.create("ada").await, bench.stage.create("bob").await);
    bench.stage.create("idle").await;
    let today = || jiff::Timestamp::now().strftime("%Y-%m-%d").to_string();
    let begun = today();
    bench.turn(&ada, "say one").await;
    bench.turn(&ada, "call Nothing {}\nsay two").await;
    bench.turn(&bob, "say three").await;
    let first = report(&bench).await;
    assert_eq!(counts(&first.total), summed(&bench).await);
    let names: Vec<_> = first.pods.iter().map(|pod| pod.name.as_str()).collect();
    assert_eq!(names, ["ada", "bob"], "most first, and nobody who used nothing");
    let days: Vec<_> = first.days.iter().map(counts).collect();
    assert_eq!(days.iter().map(|[input, ..]| input).sum::<u64>(), first.total.input);
    // Midnight may come at any time.
    let last = first.days.last().unwrap().day.clone().unwrap();
    assert!((begun..=today()).contains(&last), "{last}");
    assert_eq!((first.total.cost, first.total.day.as_deref()), (None, None), "the rehearsal model has no price");

    // A run that a restart interrupts, and that continues after it.
    bench.send(&ada, "say begun\nwait 600").await;
    bench.stage.until(&ada, |records| records.iter().any(|record| record.event.kind() == "text_chunk")).await;
    let bench = bench.restart().await;
    assert_eq!(report(&bench).await, first);
    bench.control(&ada, ControlVerb::Cancel).await.unwrap();
    bench.turn(&ada, "say four").await;
    let second = report(&bench).await;
    assert!(second.total.output > first.total.output);
    assert_eq!(counts(&second.total), summed(&bench).await);

    bench.stage.host.pods().delete(fresh(), &origin(), &ada, Some("ada")).await.unwrap();
    let third = report(&bench).await;
    assert_eq!((third.total, third.days), (second.total, second.days), "what was used was used");
    assert_eq!(third.pods.len(), 1);
    assert_eq!(counts(&third.pods[0].usage), summed(&bench).await);
}
