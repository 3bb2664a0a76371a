use pod_store::{Batch, ParentLink, PodChange, PodKey, Spent, Store, Tokens, UsageRows};
use protocol::WorkerId;

use crate::world::*;

/// Usage added at once; `round` tells the additions apart. Bob's message began it.
pub(crate) fn used(round: i64) -> Spent {
    Spent { begun_by: Some(worker("bob")), ends_run: true, ..spent(round, 100, None) }
}

fn tokens(input: u64, cost: Option<&str>) -> Tokens {
    let cost = cost.map(|cost| cost.parse().unwrap());
    Tokens { input, cached: input / 2, written: input, output: input * 3, cost, currency: None, estimated: false }
}

/// On the first day, this many seconds after `at(0)`.
fn spent(second: i64, input: u64, cost: Option<&str>) -> Spent {
    let model = if input.is_multiple_of(2) { "even" } else { "odd" };
    let (provider, model) = ("p".to_owned(), model.to_owned());
    Spent { at: at(second), tokens: tokens(input, cost), provider, model, begun_by: None, ends_run: false }
}

fn spending(pod: PodKey, spent: Vec<Spent>) -> Batch {
    one(PodChange { spent, ..PodChange::of(pod) })
}

fn by_day(usage: &UsageRows) -> Vec<(&str, Tokens)> {
    usage.days.iter().map(|day| (day.day.as_str(), day.tokens)).collect()
}

async fn usage(store: &Store) -> UsageRows {
    store.usage().rows().await.unwrap()
}

const DAY: i64 = 86_400;

pub(crate) async fn tokens_are_summed_per_pod_day_and_model(world: World) {
    let store = world.open().await;
    let (ada, bob) = (create(&store, "ada").await, create(&store, "bob").await);
    assert_eq!((usage(&store).await.days, usage(&store).await.links), (Vec::new(), Vec::new()));
    // Two of one day in one batch, a day later, and out of order.
    done(&store, spending(ada, vec![spent(0, 10, None), spent(1, 20, Some("0.25"))])).await;
    done(&store, spending(ada, vec![spent(DAY, 5, None)])).await;
    done(&store, spending(bob, vec![spent(2, 7, Some("0.5")), spent(-DAY, 1, None)])).await;
    // Nothing was used, so nothing is written.
    done(&store, spending(bob, vec![Spent { tokens: Tokens::default(), ..spent(9 * DAY, 0, None) }])).await;
    for _ in 0..2 {
        let store = world.open().await;
        let usage = usage(&store).await;
        let expected = [
            ("2026-09-20", tokens(1, None)),
            ("2026-09-21", Tokens { cached: 5 + 10 + 3, ..tokens(37, Some("0.75")) }),
            ("2026-09-22", tokens(5, None)),
        ];
        assert_eq!(by_day(&usage), expected);
        let of_pods: Vec<_> = usage.pods.iter().map(|pod| (pod.name.as_str(), pod.tokens)).collect();
        let ada = Tokens { cached: 5 + 10 + 2, ..tokens(35, Some("0.25")) };
        assert_eq!(of_pods, [("ada", ada), ("bob", Tokens { cached: 3, ..tokens(8, Some("0.5")) })]);
        let mut sum = Tokens::default();
        usage.pods.iter().for_each(|pod| sum.add(&pod.tokens));
        let mut total = Tokens::default();
        usage.days.iter().for_each(|day| total.add(&day.tokens));
        assert_eq!(sum, total);
        let models: Vec<_> = usage.models.iter().map(|one| (one.model.as_str(), one.tokens.input)).collect();
        assert_eq!(models, [("even", 30), ("odd", 13)]);
    }
}

pub(crate) async fn a_tree_is_summed_ever_and_for_a_day(world: World) {
    let store = world.open().await;
    let (ada, eve) = (create(&store, "ada").await, create(&store, "eve").await);
    let child = |parent, name| {
        let parent = Some(ParentLink { parent, scope: "[]".to_owned() });
        one(PodChange { parent, ..creation(name) })
    };
    done(&store, child(ada, "bob")).await;
    let bob = store.pods().find(&worker("bob")).await.unwrap().unwrap().key;
    done(&store, child(bob, "kid")).await;
    let kid = store.pods().find(&worker("kid")).await.unwrap().unwrap().key;
    done(&store, spending(ada, vec![spent(0, 1, None)])).await;
    done(&store, spending(bob, vec![spent(1, 10, Some("0.5")), spent(DAY, 100, Some("0.25"))])).await;
    done(&store, spending(kid, vec![spent(2, 1_000, None)])).await;
    done(&store, spending(eve, vec![spent(3, 10_000, Some("9"))])).await;
    let sum = async |root, day| store.usage().of_tree(root, day).await.unwrap().pop().unwrap_or_default();
    let cost = |text: &str| Some(text.parse().unwrap());
    let ever = sum(ada, None).await;
    assert_eq!((ever.input, ever.output, ever.cost), (1_111, 3_333, cost("0.75")));
    let day = sum(ada, Some("2026-09-21")).await;
    assert_eq!((day.input, day.cost), (1_011, cost("0.5")));
    assert_eq!((sum(bob, None).await.input, sum(kid, None).await.cost), (1_110, None));
    assert_eq!(sum(kid, Some("2026-09-22")).await, Tokens::default());
}

pub(crate) async fn tokens_of_a_deleted_pod_stay_in_the_total_and_leave_with_its_name(world: World) {
    let store = world.open().await;
    let ada = create(&store, "ada").await;
    let parent = Some(ParentLink { parent: ada, scope: "[]".to_owned() });
    done(&store, one(PodChange { parent, ..creation("bob") })).await;
    let bob = store.pods().find(&worker("bob")).await.unwrap().unwrap().key;
    done(&store, spending(ada, vec![used(0), spent(DAY, 1, Some("0.5"))])).await;
    done(&store, spending(bob, vec![spent(3, 9, Some("0.25"))])).await;
    let before = usage(&store).await;
    assert_eq!(before.models.len(), 2);
    assert_eq!((before.pods[1].parent, before.links.len()), (Some(ada), 1));
    for pod in [ada, bob] {
        done(&store, one(deletion(pod))).await;
        assert_eq!(by_day(&usage(&store).await), by_day(&before));
        assert_eq!((usage(&store).await.links, usage(&store).await.models), (Vec::new(), before.models.clone()));
    }
    assert_eq!(usage(&store).await.pods, []);
    // New Pods start at zero.
    create(&store, "ada").await;
    assert_eq!(usage(&store).await.pods[0].tokens, Tokens::default());
}

pub(crate) async fn what_a_deleted_child_used_still_counts_for_those_above_it(world: World) {
    let store = world.open().await;
    let lead = create(&store, "lead").await;
    let child = async |parent, name: &str| {
        let parent = Some(ParentLink { parent, scope: "[]".to_owned() });
        done(&store, one(PodChange { parent, ..creation(name) })).await;
        store.pods().find(&worker(name)).await.unwrap().unwrap().key
    };
    let bob = child(lead, "bob").await;
    let kid = child(bob, "kid").await;
    done(&store, spending(lead, vec![spent(0, 1, None)])).await;
    done(&store, spending(bob, vec![spent(1, 10, Some("0.5"))])).await;
    done(&store, spending(kid, vec![spent(2, 100, Some("0.25")), spent(3, 10, None)])).await;
    let sum = async |root| store.usage().of_tree(root, None).await.unwrap();
    let before = (sum(lead).await, usage(&store).await.days, usage(&store).await.models);
    assert_eq!(before.0[0].input, 121);
    for (pod, of_bob) in [(kid, 120), (bob, 0)] {
        done(&store, one(deletion(pod))).await;
        let now = usage(&store).await;
        assert_eq!((sum(lead).await, now.days.clone(), now.models.clone()), before);
        assert_eq!(sum(bob).await.first().map_or(0, |sum| sum.input), of_bob);
        let own: Vec<_> = now.pods.iter().map(|pod| pod.tokens.input).collect();
        assert_eq!(own.first(), Some(&1), "what others used is not its own");
    }
    let gone: Vec<_> = usage(&store).await.gone.iter().map(|(key, tokens)| (*key, tokens.input)).collect();
    assert_eq!(gone, [(lead, 120)]);
    done(&store, one(deletion(lead))).await;
    assert_eq!((usage(&store).await.gone, usage(&store).await.days), (Vec::new(), before.1));
}

pub(crate) async fn a_sum_with_an_estimate_in_it_says_so_also_when_the_pod_is_gone(world: World) {
    let store = world.open().await;
    let (ada, bob) = (create(&store, "ada").await, create(&store, "bob").await);
    let estimated = |mut spent: Spent| {
        spent.tokens.estimated = true;
        spent
    };
    done(&store, spending(ada, vec![spent(0, 2, None), estimated(used(1)), spent(2, 4, None)])).await;
    done(&store, spending(ada, vec![spent(3, 1, None)])).await;
    done(&store, spending(bob, vec![spent(DAY, 1, None)])).await;
    for is_gone in [false, true] {
        let usage = usage(&store).await;
        let days: Vec<_> = usage.days.iter().map(|day| day.tokens.estimated).collect();
        assert_eq!(days, [true, false]);
        let models: Vec<_> = usage.models.iter().map(|one| (one.model.as_str(), one.tokens.estimated)).collect();
        assert_eq!(models, [("even", true), ("odd", false)]);
        let pods: Vec<_> = usage.pods.iter().map(|pod| pod.tokens.estimated).collect();
        match is_gone {
            false => {
                assert_eq!((pods, usage.links[0].tokens.estimated), (vec![true, false], true));
                done(&store, one(deletion(ada))).await;
            }
            true => assert_eq!(pods, [false]),
        }
    }
}

pub(crate) async fn costs_of_several_currencies_make_no_sum(world: World) {
    let store = world.open().await;
    let (ada, bob) = (create(&store, "ada").await, create(&store, "bob").await);
    let euro = |mut spent: Spent| {
        spent.tokens.currency = "EUR".parse().ok();
        spent
    };
    done(&store, spending(ada, vec![spent(0, 2, Some("0.5")), euro(spent(1, 2, Some("2")))])).await;
    done(&store, spending(ada, vec![spent(2, 2, None), euro(used(3))])).await;
    done(&store, spending(bob, vec![euro(spent(DAY, 1, Some("0.25"))), euro(spent(DAY, 1, Some("0.5")))])).await;
    let trees = store.usage().of_tree(ada, None).await.unwrap();
    let trees: Vec<_> = trees.iter().map(|sum| (sum.currency.unwrap_or_default().to_string(), sum.cost)).collect();
    let cost = |text: &str| Some(text.parse().unwrap());
    assert_eq!(trees, [("EUR".to_owned(), cost("2")), ("USD".to_owned(), cost("0.5"))]);
    let usage = usage(&store).await;
    let told = |tokens: &Tokens| (tokens.cost, tokens.currency.map(|currency| currency.to_string()));
    let pods: Vec<_> = usage.pods.iter().map(|pod| told(&pod.tokens)).collect();
    assert_eq!(pods, [(None, Some("several".to_owned())), (cost("0.75"), Some("EUR".to_owned()))]);
    let days: Vec<_> = usage.days.iter().map(|day| told(&day.tokens)).collect();
    assert_eq!(days, pods);
    assert_eq!((usage.links[0].runs, usage.links[0].tokens.cost), (1, None));
}

pub(crate) async fn runs_that_messages_began_are_summed_per_pair(world: World) {
    let store = world.open().await;
    let (ada, bob, eve) = (create(&store, "ada").await, create(&store, "bob").await, create(&store, "eve").await);
    let begun = |by: WorkerId, input, ends_run| Spent { begun_by: Some(by), ends_run, ..spent(0, input, None) };
    // Both directions of a pair in one batch, with several calls of one run.
    let both = Batch {
        changes: vec![
            PodChange {
                spent: vec![begun(worker("bob"), 10, false), begun(worker("bob"), 1, true)],
                ..PodChange::of(ada)
            },
            PodChange { spent: vec![begun(worker("ada"), 100, true)], ..PodChange::of(bob) },
        ],
        ..Batch::default()
    };
    done(&store, both).await;
    done(&store, spending(eve, vec![begun(worker("ada"), 5, true), begun(worker("gone"), 7, true)])).await;
    // A run that ended without usage counts all the same; the Pod's own one does not.
    done(&store, spending(eve, vec![begun(worker("ada"), 0, true), begun(worker("eve"), 2, true)])).await;
    let usage = usage(&store).await;
    let links: Vec<_> = usage.links.iter().map(|link| (link.low, link.high, link.runs, link.tokens.input)).collect();
    assert_eq!(links, [(ada, bob, 2, 111), (ada, eve, 2, 5)]);
    assert_eq!(usage.days[0].tokens.input, 10 + 1 + 100 + 5 + 7 + 2);
}

pub(crate) async fn many_batches_at_once_are_all_counted(world: World) {
    let store = world.open().await;
    let (ada, bob) = (create(&store, "ada").await, create(&store, "bob").await);
    let commits = (0..200).map(|round| {
        let pod = if round % 2 == 0 { ada } else { bob };
        let by = if round % 2 == 0 { "bob" } else { "ada" };
        let spent = Spent { begun_by: Some(worker(by)), ends_run: true, ..spent(round * 60, 1, Some("0.5")) };
        store.commit(spending(pod, vec![spent]))
    });
    futures_util::future::try_join_all(commits).await.unwrap();
    let usage = usage(&store).await;
    assert_eq!((usage.days[0].tokens.input, usage.days[0].tokens.cost), (200, Some("100".parse().unwrap())));
    assert_eq!((usage.links.len(), usage.links[0].runs, usage.links[0].tokens.output), (1, 200, 600));
}
