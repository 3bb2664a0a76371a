//! Commands that keep running after their call.

use pod::ToolOutcome;
use protocol::{CommandState, ToolBy};
use serde_json::{Value, json};
use testkit::{until, within};
use tokio::sync::mpsc;
use tools::{
    Lifeline, Place, Tool,
    bash::{Background, Bash, BashOutput, BashStop},
};

use crate::stage::Stage;

struct Scene {
    stage: Stage,
    background: Background,
    place: Place,
    ended: mpsc::Receiver<()>,
}

impl Scene {
    fn new() -> Self {
        let stage = Stage::new();
        let (lifeline, ended) = Lifeline::pair();
        let place = Place { lifeline, ..stage.place() };
        Self { stage, background: Background::default(), place, ended }
    }

    async fn call(&self, tool: &dyn Tool, place: &Place, arguments: Value) -> ToolOutcome {
        tool.call(place, arguments, mpsc::channel(8).0).await
    }

    async fn start(&self, id: &str, command: &str) -> ToolOutcome {
        self.start_by(ToolBy::Model, id, command).await
    }

    async fn start_by(&self, by: ToolBy, id: &str, command: &str) -> ToolOutcome {
        let bash = Bash::new(self.stage.options.clone()).with_background(self.background.clone());
        let place = Place { call_id: id.to_owned(), by, ..self.place.clone() };
        self.call(&bash, &place, json!({ "command": command, "background": true })).await
    }

    async fn read(&self, id: &str, by: ToolBy) -> ToolOutcome {
        let place = Place { by, ..self.place.clone() };
        self.call(&BashOutput::new(self.background.clone()), &place, json!({ "id": id })).await
    }

    async fn stop(&self, id: &str) -> ToolOutcome {
        self.stop_by(ToolBy::Model, id).await
    }

    async fn stop_by(&self, by: ToolBy, id: &str) -> ToolOutcome {
        let place = Place { by, ..self.place.clone() };
        self.call(&BashStop::new(self.background.clone()), &place, json!({ "id": id })).await
    }

    /// Reads until there is something new.
    async fn news(&self, id: &str) -> String {
        until("it has written something", async || self.read(id, ToolBy::Model).await.content).await
    }
}

pub(crate) async fn a_background_command_is_read_piece_by_piece_and_stopped() {
    let scene = Scene::new();
    let command = "echo one; while [ ! -e go ]; do sleep 0.01; done; trap 'echo bye; exit 3' TERM; echo two; while :; do sleep 0.01; done";
    let started = scene.start("call-b1", command).await;
    assert_eq!(started.content.as_deref(), Some("{\"id\":\"call-b1\"}"), "{started:?}");
    assert_eq!(scene.news("call-b1").await, "one\n");
    let nothing = scene.read("call-b1", ToolBy::Model).await;
    assert_eq!((nothing.summary.as_str(), nothing.content), ("running · no new output", None));
    std::fs::write(scene.stage.path("pod/go"), "").unwrap();
    assert_eq!(scene.news("call-b1").await, "two\n");
    let all = scene.read("call-b1", ToolBy::Operator).await;
    assert_eq!(all.content.as_deref(), Some("one\ntwo\n"), "a person reads for themselves");
    let stopped = scene.stop("call-b1").await;
    // The shell also says that its own child was told to end.
    assert!(stopped.content.as_deref().is_some_and(|said| said.ends_with("bye\n")), "{stopped:?}");
    assert!(stopped.summary.contains("exit 3"), "{stopped:?}");
    let id = scene.place.worker_id.clone();
    let read = scene.background.read(&id, "call-b1", 4).unwrap();
    assert!(read.output.starts_with("two\n") && read.output.ends_with("bye\n"), "{read:?}");
    assert_eq!((read.from, read.next, read.dropped), (4, read.command.bytes, 0));
    assert_eq!((read.command.state, read.command.exit_code), (CommandState::Exited, Some(3)));
    let unknown = scene.read("call-b9", ToolBy::Model).await;
    assert_eq!(unknown.code.as_deref(), Some("not_found"));
    assert!(unknown.summary.ends_with("Known: call-b1."), "{unknown:?}");
}

pub(crate) async fn the_commands_of_a_pod_end_with_it() {
    let mut scene = Scene::new();
    scene.start("call-b1", "trap '' TERM; echo ready; sleep 6666.1").await;
    scene.start("call-b2", "setsid sleep 6666.2 & echo ready; sleep 6666.3").await;
    for id in ["call-b1", "call-b2"] {
        assert_eq!(scene.news(id).await, "ready\n");
    }
    let id = scene.place.worker_id.clone();
    assert!(scene.background.runs(&id));
    assert!(scene.background.end_all(&id).await);
    assert!(!scene.background.runs(&id));
    let ends: Vec<String> = scene.background.list(&id).into_iter().filter_map(|command| command.detail).collect();
    assert_eq!(ends.len(), 2);
    assert!(ends.iter().all(|end| end.starts_with("stopped with its Pod")), "{ends:?}");
    scene.background.forget(&id);
    scene.place = scene.stage.place();
    assert_eq!(within("nothing of them is left", scene.ended.recv()).await, None);
}

pub(crate) async fn a_command_that_ends_says_how_and_nobody_runs_too_many() {
    let scene = Scene::new();
    let mut ended = scene.background.ended_pods().unwrap();
    scene.start("call-b0", "echo out; exit 7").await;
    let id = within("its end is told", ended.recv()).await.unwrap();
    let end = scene.background.end_of(&id, "call-b0").unwrap();
    assert_eq!((end.exit_code, end.output.as_deref()), (Some(7), Some("out\n")));
    assert!(end.detail.starts_with("exit 7 after"), "{end:?}");
    for number in 1..=8 {
        assert!(!scene.start(&format!("call-b{number}"), "sleep 100").await.is_error);
    }
    let refused = scene.start("call-b9", "sleep 100").await;
    assert_eq!(refused.code.as_deref(), Some("rate_limited"));
    assert!(refused.summary.contains("BashStop"), "{refused:?}");
    assert!(!scene.stop("call-b1").await.is_error);
    assert!(!scene.start("call-b9", "sleep 100").await.is_error);
    assert!(scene.background.end_all(&id).await);
}

pub(crate) async fn the_model_reads_and_stops_only_its_own_commands() {
    let scene = Scene::new();
    scene.start_by(ToolBy::Operator, "call-b1", "echo secret; sleep 6666.4").await;
    scene.start("call-b2", "sleep 6666.5").await;
    for refused in [scene.read("call-b1", ToolBy::Model).await, scene.stop("call-b1").await] {
        assert_eq!(refused.code.as_deref(), Some("not_found"));
        assert!(refused.summary.ends_with("Known: call-b2."), "{refused:?}");
    }
    let id = scene.place.worker_id.clone();
    assert_eq!(scene.background.running(&id), ["call-b1", "call-b2"]);
    let read = async || scene.read("call-b1", ToolBy::Operator).await.content;
    assert_eq!(until("a person reads it", read).await, "secret\n");
    assert!(!scene.stop_by(ToolBy::Operator, "call-b2").await.is_error, "a person stops what the model started");
    assert!(scene.background.end_all(&id).await);
}

pub(crate) async fn the_commands_of_all_pods_end_with_their_host() {
    let mut scene = Scene::new();
    let own = scene.place.worker_id.clone();
    let other = serde_json::from_value(json!("018f0000-0000-7000-8000-000000000002")).unwrap();
    scene.start("call-b1", "sleep 6666.6").await;
    scene.place.worker_id = other;
    scene.start("call-b1", "trap '' TERM; echo ready; sleep 6666.7").await;
    assert_eq!(scene.news("call-b1").await, "ready\n");
    assert!(scene.background.end_everything().await);
    for id in [&own, &scene.place.worker_id] {
        assert_eq!(scene.background.list(id), []);
    }
    scene.place = scene.stage.place();
    assert_eq!(within("nothing of them is left", scene.ended.recv()).await, None);
}

/// A repository in the Pod's folder, with these settings.
fn repository(scene: &Scene, settings: &str) {
    for folder in ["objects", "refs"] {
        std::fs::create_dir_all(scene.stage.path("pod/repo/.git").join(folder)).unwrap();
    }
    std::fs::write(scene.stage.path("pod/repo/.git/HEAD"), "ref: refs/heads/main\n").unwrap();
    std::fs::write(scene.stage.path("pod/repo/.git/config"), settings).unwrap();
}

pub(crate) async fn what_leads_git_elsewhere_goes_while_a_command_runs() {
    let scene = Scene::new();
    let id = scene.place.worker_id.clone();
    repository(&scene, "[core]\n\tbare = false\n");
    let (away, second) =
        (scene.stage.path("pod/repo/.git/commondir"), scene.stage.path("pod/repo/.git/config.worktree"));
    scene.start("call-b1", "echo ../../evil > repo/.git/commondir; sleep 6666.8").await;
    until("it is removed", async || {
        let read = scene.background.read(&id, "call-b1", 0).unwrap();
        read.output.contains("[yoi: removed repo/.git/commondir, which leads git elsewhere]").then_some(())
    })
    .await;
    assert!(!away.exists() && scene.background.runs(&id));
    // A person may make this one meanwhile.
    std::fs::write(&second, "").unwrap();
    scene.stop("call-b1").await;
    let end = scene.background.end_of(&id, "call-b1").unwrap();
    assert!(end.detail.contains("repo/.git/config.worktree"), "{end:?}");
    assert!(second.exists());
}

pub(crate) async fn a_command_that_keeps_leading_git_elsewhere_is_ended() {
    let scene = Scene::new();
    let id = scene.place.worker_id.clone();
    repository(&scene, "");
    scene.start("call-b1", "while :; do echo ../../evil > repo/.git/commondir; sleep 0.01; done").await;
    let end = until("it is ended", async || scene.background.end_of(&id, "call-b1")).await;
    assert!(end.detail.starts_with("stopped because it kept making what leads git elsewhere"), "{end:?}");
    assert!(!scene.stage.path("pod/repo/.git/commondir").exists());
}

pub(crate) async fn a_second_settings_file_that_git_reads_is_protected_before_it_exists() {
    let scene = Scene::new();
    repository(&scene, "[extensions]\n\tworktreeConfig = true\n");
    scene.stage.is_refused("echo '[core]' > repo/.git/config.worktree").await;
    scene.stage.is_refused("rm repo/.git/config.worktree").await;
    assert_eq!(std::fs::read_to_string(scene.stage.path("pod/repo/.git/config.worktree")).unwrap(), "");
}
