//! Providers are strangers that may send anything. Each attack ends with a sentence that names the limit, or continues
//! until somebody cancels it; either way, another Pod is answered meanwhile.

mod attack;
mod calls;
mod length;
mod nonsense;
mod packing;
mod stage;

use serde_json::json;
use testkit::yoi::until;

use self::{
    attack::{Attack, JSON, MIB, answer, gzip, packed},
    calls::{of_calls, of_calls_by_responses},
    length::of_length,
    nonsense::of_nonsense,
    packing::of_packing,
    stage::Stage,
};
use crate::{
    Tally,
    stranger::{Says, Then},
};

/// The process's memory with everything it was sent: far less than was sent.
const MEMORY_KIB_MAX: u64 = 900 * 1024;

#[tokio::test(flavor = "multi_thread")]
async fn a_provider_that_sends_too_much_harms_nobody() {
    let attacks = of_length().into_iter().chain(of_packing()).collect();
    Box::pin(suffered("providers that send too much", attacks, 36)).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_provider_that_sends_nonsense_harms_nobody() {
    let attacks = of_calls().into_iter().chain(of_calls_by_responses()).chain(of_nonsense()).collect();
    Box::pin(suffered("providers that send nonsense", attacks, 23)).await;
}

/// All attacks on one server, one after the other, and its memory in the end.
async fn suffered(name: &'static str, attacks: Vec<Attack>, count: usize) {
    let stage = Stage::set().await;
    let mut tally = Tally::of(name);
    for (number, attack) in attacks.iter().enumerate() {
        let through = stage.suffer(number, attack).await;
        tally.note(attack.name, through);
    }
    let peak = stage.memory_kib();
    tally.note("all of it in memory", (peak > MEMORY_KIB_MAX).then(|| format!("{peak} KiB were taken")));
    tally.finish(count);
}

/// `POST providers/NAME/test` requests the list of models.
#[tokio::test(flavor = "multi_thread")]
async fn a_list_of_models_is_bounded() {
    let stage = Stage::set().await;
    let mut tally = Tally::of("lists of models");
    let models = |count: usize| {
        let models: Vec<_> = (0..count).map(|number| json!({ "id": format!("m{number}") })).collect();
        json!({ "object": "list", "data": models }).to_string()
    };
    let zeros = gzip(&vec![b' '; MIB], 300);
    for (name, first, then, words) in [
        ("20,000 models", answer(JSON, models(20_000)), Then::End, "more than 2000 models"),
        ("a list without end", answer(JSON, "{\"data\":["), Then::ForEver(b"{\"id\":\"m\"},".repeat(512)), "8 MiB"),
        ("a packed list of 300 MB", packed(JSON, zeros), Then::End, "8 MiB"),
        ("a list of brackets", answer(JSON, "[".repeat(MIB)), Then::End, ""),
        ("a list that says it is packed", packed(JSON, b"{\"data\":[]}".to_vec()), Then::End, ""),
    ] {
        stage.stranger.say(Says { first, then });
        let told = stage.yoi.post("/api/v1/providers/openai/test", &json!({})).await.expect(200);
        let detail = told["detail"].as_str().unwrap_or_default();
        let holds = told["is_ok"] == false && detail.contains(words);
        tally.note(name, (!holds).then(|| told.to_string()));
    }
    until("yoi still answers", async || (stage.yoi.get("/healthz").await.status == 200).then_some(())).await;
    tally.finish(5);
}
