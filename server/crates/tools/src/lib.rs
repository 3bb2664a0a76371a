//! What a Pod's model can call: the [`Tool`] trait and the [`Toolbox`] of those that are there.
//!
//! This crate knows no store and no HTTP server. A tool gets its arguments and a place to write live output to, and
//! gives back an outcome; everything else about a call is the runtime's.

#![cfg_attr(test, allow(clippy::unwrap_used))]

use std::{collections::BTreeMap, fmt, sync::Arc};

use async_trait::async_trait;
use pod::ToolOutcome;
use serde_json::Value;
use tokio::sync::mpsc;

/// Pieces of live output on their way to the transcript. A full channel makes the tool wait.
pub type Output = mpsc::Sender<String>;

/// Something a model can call by name.
#[async_trait]
pub trait Tool: Send + Sync + fmt::Debug {
    fn name(&self) -> &'static str;

    /// One paragraph for the model.
    fn description(&self) -> &'static str;

    /// JSON schema of the arguments: an object that refuses unknown fields.
    fn schema(&self) -> Value;

    /// Carries the call out. Dropping the future stops the work.
    async fn call(&self, arguments: Value, output: Output) -> ToolOutcome;
}

/// The tools of a server, by name.
#[derive(Debug, Clone, Default)]
pub struct Toolbox {
    tools: BTreeMap<&'static str, Arc<dyn Tool>>,
}

impl Toolbox {
    pub fn new(tools: impl IntoIterator<Item = Arc<dyn Tool>>) -> Self {
        Self { tools: tools.into_iter().map(|tool| (tool.name(), tool)).collect() }
    }

    pub fn get(&self, name: &str) -> Option<Arc<dyn Tool>> {
        self.tools.get(name).cloned()
    }

    /// In name order; `only` keeps those that are named in it.
    pub fn offered<'a>(&'a self, only: Option<&'a [String]>) -> impl Iterator<Item = &'a Arc<dyn Tool>> {
        self.tools.values().filter(move |tool| only.is_none_or(|names| names.iter().any(|name| name == tool.name())))
    }

    /// What a model is told that calls something that is not there.
    pub fn unknown(&self, name: &str) -> ToolOutcome {
        let known = self.tools.keys().copied().collect::<Vec<_>>().join(", ");
        let known = if known.is_empty() { "none are available".to_owned() } else { format!("there are {known}") };
        ToolOutcome::failed("not_found", format!("no tool is called \"{name}\"; {known}"))
    }
}
