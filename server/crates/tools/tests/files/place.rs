//! A folder for each test, a scope over it, and calls as a Pod makes them.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    os::unix::fs::symlink,
    path::PathBuf,
    sync::Arc,
};

use pod::{Scope, ToolOutcome};
use protocol::{Access, ScopeRule, Seen};
use serde_json::{Value, json};
use tempfile::TempDir;
use tools::{Lifeline, Place, Toolbox};

/// A temporary folder `top`, in which `top/w` is the working directory.
pub(crate) struct Desk {
    _temp: TempDir,
    pub(crate) top: PathBuf,
    pub(crate) rules: Vec<ScopeRule>,
    pub(crate) lent: Vec<ScopeRule>,
    pub(crate) seen: BTreeMap<String, BTreeSet<String>>,
    toolbox: Toolbox,
}

impl Desk {
    /// All of `w` may be written.
    pub(crate) fn new() -> Self {
        let temp = TempDir::new().unwrap();
        let top = temp.path().canonicalize().unwrap();
        for folder in ["w", "outputs"] {
            fs::create_dir(top.join(folder)).unwrap();
        }
        let toolbox = Toolbox::new(tools::files::tools());
        let desk = Self { _temp: temp, top, rules: Vec::new(), lent: Vec::new(), seen: BTreeMap::new(), toolbox };
        desk.with(Access::Write, "w")
    }

    /// The same folders with another scope.
    pub(crate) fn only(mut self, access: Access, path: &str) -> Self {
        self.rules.clear();
        self.with(access, path)
    }

    pub(crate) fn with(mut self, access: Access, path: &str) -> Self {
        self.rules.push(self.rule(access, path));
        self
    }

    pub(crate) fn with_lent(mut self, path: &str) -> Self {
        self.lent.push(self.rule(Access::Write, path));
        self
    }

    pub(crate) fn rule(&self, access: Access, path: &str) -> ScopeRule {
        ScopeRule { path: self.path(path), access, recursive: true }
    }

    /// The absolute path of something in `top`.
    pub(crate) fn path(&self, path: &str) -> String {
        self.top.join(path).to_str().unwrap().trim_end_matches('/').to_owned()
    }

    pub(crate) fn file(&self, path: &str, content: impl AsRef<[u8]>) -> &Self {
        let path = self.top.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
        self
    }

    pub(crate) fn link(&self, path: &str, target: &str) -> &Self {
        symlink(target, self.top.join(path)).unwrap();
        self
    }

    pub(crate) fn content(&self, path: &str) -> String {
        fs::read_to_string(self.top.join(path)).unwrap()
    }

    pub(crate) fn place(&self) -> Place {
        Place {
            worker_id: "00000000-0000-4000-8000-000000000001".parse().unwrap(),
            call_id: "call-1".to_owned(),
            by: protocol::ToolBy::Model,
            cwd: self.top.join("w"),
            scope: Scope::new(self.rules.clone(), self.lent.clone()),
            leads: None,
            seen: Arc::new(self.seen.clone()),
            outputs: self.top.join("outputs"),
            network: tools::Network::Open,
            way_in: None,
            questions: tools::Questions::none(),
            drain: tools::Drain::none(),
            redirects: None,
            doors: None,
            lifeline: Lifeline::pair().0,
        }
    }

    /// Makes a call, and remembers what it has shown.
    pub(crate) fn call(&mut self, tool: &str, arguments: Value) -> ToolOutcome {
        let outcome = call(&self.toolbox, &self.place(), tool, arguments);
        if let Some(Seen::File { path, sha256 }) = &outcome.seen {
            self.seen.entry(path.clone()).or_default().insert(sha256.clone());
        }
        outcome
    }

    pub(crate) fn read(&mut self, path: &str) -> ToolOutcome {
        self.call("Read", json!({ "path": path }))
    }

    pub(crate) fn write(&mut self, path: &str, content: &str) -> ToolOutcome {
        self.call("Write", json!({ "path": path, "content": content }))
    }

    pub(crate) fn edit(&mut self, path: &str, old: &str, new: &str) -> ToolOutcome {
        self.call("Edit", json!({ "path": path, "old": old, "new": new }))
    }

    /// The lines that a call shows.
    pub(crate) fn lines(&mut self, tool: &str, arguments: Value) -> Vec<String> {
        let outcome = self.call(tool, arguments);
        assert!(!outcome.is_error, "{}", outcome.summary);
        outcome.content.unwrap_or_default().lines().map(str::to_owned).collect()
    }
}

/// One call on its own async runtime.
pub(crate) fn call(toolbox: &Toolbox, place: &Place, tool: &str, arguments: Value) -> ToolOutcome {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let (output, _pieces) = tokio::sync::mpsc::channel(8);
    runtime.block_on(toolbox.get(tool).unwrap().call(place, arguments, output))
}

pub(crate) fn code(outcome: &ToolOutcome) -> &str {
    outcome.code.as_deref().unwrap_or_default()
}
