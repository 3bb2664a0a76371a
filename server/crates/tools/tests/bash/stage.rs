//! The stage of the tests: a Pod's folder with something beside it, and calls of the tool.

use std::{
    env, fs,
    path::PathBuf,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use pod::{Scope, ToolOutcome};
use protocol::{Access, ScopeRule};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::sync::mpsc;
use tools::{
    Lifeline, Place, Tool,
    bash::{Bash, BashOptions, Builder},
};

static BY_BUBBLEWRAP: AtomicBool = AtomicBool::new(false);

/// What builds the sandboxes of the tests that follow.
pub(crate) fn build_by(builder: Builder) {
    BY_BUBBLEWRAP.store(builder == Builder::Bubblewrap, Ordering::Relaxed);
}

pub(crate) fn builder() -> Builder {
    if BY_BUBBLEWRAP.load(Ordering::Relaxed) { Builder::Bubblewrap } else { Builder::Own }
}

/// A Pod's folder, and one beside it.
pub(crate) struct Stage {
    pub(crate) root: TempDir,
    pub(crate) rules: Vec<ScopeRule>,
    pub(crate) lent: Vec<ScopeRule>,
    pub(crate) options: BashOptions,
}

pub(crate) struct Done {
    pub(crate) outcome: ToolOutcome,
    pub(crate) live: Vec<String>,
}

impl Done {
    pub(crate) fn content(&self) -> &str {
        self.outcome.content.as_deref().unwrap_or_default()
    }
}

impl Stage {
    pub(crate) fn new() -> Self {
        // Not in the system's temporary folder by way of a link.
        let root = tempfile::Builder::new().tempdir_in(env::temp_dir().canonicalize().unwrap()).unwrap();
        for folder in ["pod/src", "pod/lent/deep", "pod/secret", "outside"] {
            fs::create_dir_all(root.path().join(folder)).unwrap();
        }
        for file in ["pod/a", "pod/src/b", "pod/lent/c", "pod/secret/d", "outside/e"] {
            fs::write(root.path().join(file), format!("text of {file}\n")).unwrap();
        }
        let mut stage = Self {
            root,
            rules: Vec::new(),
            lent: Vec::new(),
            options: BashOptions { builder: builder(), ..BashOptions::of_this_process() },
        };
        stage.rules = vec![stage.rule("pod", Access::Write)];
        stage
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.root.path().join(name)
    }

    pub(crate) fn rule(&self, name: &str, access: Access) -> ScopeRule {
        ScopeRule { path: self.path(name).to_str().unwrap().to_owned(), access, recursive: true }
    }

    pub(crate) fn place(&self) -> Place {
        Place {
            worker_id: serde_json::from_value(json!("018f0000-0000-7000-8000-000000000001")).unwrap(),
            call_id: "call-7".to_owned(),
            by: protocol::ToolBy::Model,
            cwd: self.path("pod"),
            scope: Scope::new(self.rules.clone(), self.lent.clone()),
            leads: None,
            seen: Arc::default(),
            outputs: self.path("kept/outputs"),
            network: tools::Network::Open,
            way_in: None,
            questions: tools::Questions::none(),
            drain: tools::Drain::none(),
            redirects: None,
            doors: None,
            lifeline: Lifeline::pair().0,
        }
    }

    pub(crate) async fn call(&self, arguments: Value) -> Done {
        let (sender, mut pieces) = mpsc::channel(8);
        let listening = tokio::spawn(async move {
            let mut live = Vec::new();
            while let Some(piece) = pieces.recv().await {
                live.push(piece);
            }
            live
        });
        let outcome = Bash::new(self.options.clone()).call(&self.place(), arguments, sender).await;
        Done { outcome, live: listening.await.unwrap() }
    }

    pub(crate) async fn run(&self, command: &str) -> Done {
        self.call(json!({ "command": command })).await
    }

    /// Asserts that the command succeeds; returns its output.
    pub(crate) async fn says(&self, command: &str) -> String {
        let done = self.run(command).await;
        assert!(!done.outcome.is_error, "{command}: {:?}", done.outcome);
        done.content().to_owned()
    }

    /// Asserts that the command fails because of the kernel.
    pub(crate) async fn is_refused(&self, command: &str) {
        let done = self.run(command).await;
        let is_refused = [
            "ermission denied",
            "not permitted",
            "ross-device",
            "No such file",
            "Read-only",
            "busy",
            "No such process",
            "in use",
        ]
        .iter()
        .any(|words| done.content().contains(words));
        assert_eq!(done.outcome.code.as_deref(), Some("exit"), "{command}: {:?}", done.outcome);
        assert!(is_refused, "{command}: {:?}", done.outcome);
    }
}
