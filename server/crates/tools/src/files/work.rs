//! Runs file calls on a blocking thread, with what they need to know, until they are done or dropped.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
    path::PathBuf,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    time::Instant,
};

use async_trait::async_trait;
use pod::{Scope, ToolOutcome};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::{failure::Failure, path};
use crate::{Lifeline, Output, Place, Tool, arguments};

/// What a file call works with.
#[derive(Debug)]
pub(super) struct Work {
    pub(super) cwd: String,
    pub(super) scope: Scope,
    /// Where the path led when the rules were applied to it.
    leads: Option<String>,
    pub(super) seen: Arc<BTreeMap<String, BTreeSet<String>>>,
    pub(super) outputs: PathBuf,
    /// The caller reads files by itself, so nobody knows what it has seen.
    pub(super) reads_itself: bool,
    given_up: Arc<AtomicBool>,
    /// The limits of a lookup; `None` for a call, which is not limited.
    bounds: Option<Bounds>,
    /// Held until the thread is done, which may be after the future is dropped.
    _lifeline: Option<Lifeline>,
}

/// The limits of a lookup.
#[derive(Debug)]
pub(super) struct Bounds {
    pub(super) until: Instant,
    /// How many more steps it may take.
    pub(super) steps: AtomicUsize,
}

impl Bounds {
    fn allow_one_more(&self) -> bool {
        let less = |steps: usize| steps.checked_sub(1);
        Instant::now() < self.until && self.steps.fetch_update(Ordering::Relaxed, Ordering::Relaxed, less).is_ok()
    }
}

impl Work {
    /// A lookup that is no call: it changes nothing and stores nothing, and ends at its limits.
    pub(super) fn looking(cwd: &str, scope: Scope, bounds: Bounds) -> Self {
        Self {
            cwd: path::join("/", cwd),
            scope,
            leads: None,
            seen: Arc::default(),
            outputs: PathBuf::new(),
            reads_itself: false,
            given_up: Arc::default(),
            bounds: Some(bounds),
            _lifeline: None,
        }
    }

    /// The absolute path for what a model wrote.
    pub(super) fn absolute(&self, path: &str) -> Result<String, Failure> {
        path::absolute(&self.cwd, path)
    }

    /// Checks that what was opened for the requested path is what the rules decided on.
    pub(super) fn check_led(&self, asked: &str, path: &str) -> Result<(), Failure> {
        match self.leads.as_deref().is_none_or(|leads| leads == path) {
            true => Ok(()),
            false => Err(Failure::Denied(format!(
                "{asked} leads elsewhere than when the rules allowed it; repeat the call, so that they decide on what it is now"
            ))),
        }
    }

    /// How `path` is written in results.
    pub(super) fn shown(&self, path: &str) -> String {
        path::shown(&self.cwd, path)
    }

    /// Fails if nobody waits for the call any more, or it has reached its limits. Called between the parts of long
    /// work, and before a change.
    pub(super) fn go_on(&self) -> Result<(), Failure> {
        let is_over = self.bounds.as_ref().is_some_and(|bounds| !bounds.allow_one_more());
        match is_over || self.given_up.load(Ordering::Relaxed) {
            true => Err(Failure::GivenUp),
            false => Ok(()),
        }
    }
}

/// A file tool: its description for the model, and what it does.
pub(super) trait FileTool: fmt::Debug + Send + Sync + 'static {
    const NAME: &str;
    /// One paragraph for the model.
    const DESCRIPTION: &str;
    type Arguments: DeserializeOwned + JsonSchema;

    /// Runs on a blocking thread.
    fn run(work: &Work, arguments: &Self::Arguments) -> Result<ToolOutcome, Failure>;
}

#[async_trait]
impl<T: FileTool> Tool for T {
    fn name(&self) -> &'static str {
        T::NAME
    }

    fn description(&self) -> &'static str {
        T::DESCRIPTION
    }

    fn schema(&self) -> Value {
        arguments::schema_of::<T::Arguments>()
    }

    fn misfit(&self, arguments: &Value) -> Option<String> {
        arguments::parsed::<T::Arguments>(T::NAME, arguments.clone()).err()
    }

    async fn call(&self, place: &Place, arguments: Value, _: Output) -> ToolOutcome {
        blocking(place, move |work| T::run(work, &parsed(T::NAME, arguments)?)).await
    }
}

/// Runs `work` on a blocking thread. Dropping the future makes it stop at its next [`Work::go_on`].
async fn blocking<F>(place: &Place, work: F) -> ToolOutcome
where
    F: FnOnce(&Work) -> Result<ToolOutcome, Failure> + Send + 'static,
{
    let Some(cwd) = place.cwd.to_str() else {
        return Failure::Io("the working directory has a name that is not UTF-8".to_owned()).into();
    };
    let given_up = Arc::new(AtomicBool::new(false));
    let guard = GiveUp(given_up.clone());
    let stand = Work {
        cwd: path::join("/", cwd),
        scope: place.scope.clone(),
        leads: place.leads.clone(),
        seen: place.seen.clone(),
        outputs: place.outputs.clone(),
        reads_itself: false,
        given_up,
        bounds: None,
        _lifeline: Some(place.lifeline.clone()),
    };
    let outcome = tokio::task::spawn_blocking(move || stand.go_on().and_then(|()| work(&stand))).await;
    drop(guard);
    match outcome {
        Ok(Ok(outcome)) => outcome,
        Ok(Err(failure)) => failure.into(),
        Err(error) => {
            tracing::error!(%error, "a call on files did not end by itself");
            ToolOutcome::failed("internal", "the call broke inside of the server; its log says more")
        }
    }
}

/// Parses the arguments.
pub(super) fn parsed<T: DeserializeOwned + JsonSchema>(tool: &str, arguments: Value) -> Result<T, Failure> {
    arguments::parsed(tool, arguments).map_err(Failure::InvalidInput)
}

/// Tells the thread when the future is dropped.
struct GiveUp(Arc<AtomicBool>);

impl Drop for GiveUp {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}
