//! A yoi whose providers are strangers.

use serde_json::{Value, json};
use testkit::yoi::{EventSocket, Launch, YoiProcess, pod_path};

use super::attack::{Attack, End};
use crate::{
    YOI,
    stranger::{Stranger, Then},
};

/// A yoi with hostile providers, and two Pods for each: one is attacked, the other is asked meanwhile.
pub(super) struct Stage {
    pub(super) yoi: YoiProcess,
    pub(super) stranger: Stranger,
    pub(super) bystander: Value,
}

impl Stage {
    pub(super) async fn set() -> Self {
        let stranger = Stranger::start().await;
        let launch = Launch::new(YOI);
        let config = launch.work_dir().join("config.toml");
        let both = [("openai", "openai-compatible"), ("responses", "openai")];
        let others = ["anthropic", "gemini", "ollama"].map(|kind| (kind, kind));
        let providers = both.into_iter().chain(others).map(|(name, kind)| {
            let at = &stranger.address;
            format!("[providers.{name}]\nkind = \"{kind}\"\nbase_url = \"http://{at}/v1\"\napi_key_env = \"STRANGERS_KEY\"\nmodels = [\"m\"]\n")
        });
        std::fs::write(&config, providers.collect::<String>()).unwrap();
        let launch = launch.env("STRANGERS_KEY", "k-0123456789abcdef");
        let yoi = launch.arg("--config").arg(config.to_str().unwrap()).start().await;
        let bystander = yoi.new_pod("bystander").await;
        Self { yoi, stranger, bystander }
    }

    /// What the attack reached.
    pub(super) async fn suffer(&self, number: usize, attack: &Attack) -> Option<String> {
        let made = json!({ "name": format!("victim-{number}"), "provider": attack.provider, "model": "m" });
        let pod = self.yoi.post("/api/v1/pods", &made).await.expect(201);
        let left = self.stranger.left();
        self.stranger.say(attack.says.clone());
        let mut victim = watching(&self.yoi, &pod).await;
        self.yoi.say(&pod, "hello").await;
        // Somebody else is answered meanwhile.
        let mut other = watching(&self.yoi, &self.bystander).await;
        self.yoi.say(&self.bystander, "say fine").await;
        let answered = end_of_run(&mut other).await;
        if answered["outcome"] != "completed" {
            return Some(format!("another Pod's run ended with {answered}"));
        }
        if matches!(attack.end, End::Cancel) {
            self.yoi.post(&format!("{}/cancel", pod_path(&pod)), &json!({})).await;
        }
        let end = end_of_run(&mut victim).await;
        let detail = end["detail"].as_str().unwrap_or_default();
        let (fits, is_left) = match attack.end {
            End::Says(words) => (end["outcome"] == "error" && detail.contains(words), true),
            End::Fails => (end["outcome"] == "error", false),
            End::Completes => (end["outcome"] == "completed", false),
            End::Cancel => (end["outcome"] != "completed", false),
        };
        if is_left && !matches!(attack.says.then, Then::End) {
            self.stranger.is_left(left).await;
        }
        self.yoi.post(&format!("{}/stop", pod_path(&pod)), &json!({})).await;
        (!fits).then(|| format!("the run ended with {end}"))
    }

    pub(super) fn memory_kib(&self) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.yoi.pid().unwrap())).unwrap();
        let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
        peak.trim().trim_end_matches(" kB").parse().unwrap()
    }
}

async fn watching(yoi: &YoiProcess, pod: &Value) -> EventSocket {
    let mut socket = yoi.events().await;
    socket.subscribe("a", pod, None).await;
    socket.wait_for(|frame| frame["type"] == "snapshot").await;
    socket
}

async fn end_of_run(socket: &mut EventSocket) -> Value {
    let records = socket.records_until("a", |record| record["event"]["kind"] == "run_finished").await;
    records.last().unwrap()["event"].clone()
}
