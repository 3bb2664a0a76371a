//! Hooks: command lines of the configuration that run before and after the calls of a Pod's tools and at the end of its
//! runs, in the Pod's own sandbox. A hook before a call can deny it, one at the end of a run can send the model on.
//!
//! Only the configuration has hooks, never a repository: what a repository says must not run by itself.

use std::sync::Arc;

use async_trait::async_trait;
use pod::ToolOutcome;
use protocol::{Outcome, PermissionDecision};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::sync::mpsc;

use crate::{Output, Place, Tool};

/// How long a hook may run.
const SECONDS_MAX: u64 = 60;
/// The most bytes of a hook's line with its variables: the kernel takes 128 KiB as one argument.
const LINE_BYTES_MAX: usize = 120 * 1024;
/// The most bytes of a hook's own words that the model reads.
const WORDS_BYTES_MAX: usize = 4 * 1024;

/// When a hook runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum HookEvent {
    BeforeTool,
    AfterTool,
    RunEnd,
}

/// One hook.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Hook {
    pub on: HookEvent,
    /// The tool's name; every tool when absent. Not for [`HookEvent::RunEnd`].
    #[serde(default)]
    pub tool: Option<String>,
    /// A command line for bash. It finds the call in `YOI_EVENT`, `YOI_TOOL` and `YOI_ARGUMENTS` (JSON, whole), and
    /// after the call its result's first line in `YOI_RESULT`. What is too long for that fails as the hook would. At the
    /// end of a run it finds `YOI_EVENT`, `YOI_RUN`, and in `YOI_OUTCOME` how the run ends.
    pub command: String,
}

impl Hook {
    /// Why it cannot be what was meant; `None` if it can.
    pub fn refusal(&self) -> Option<&'static str> {
        let is_of_no_tool = self.on == HookEvent::RunEnd && self.tool.is_some();
        is_of_no_tool.then_some("a hook `on = \"run_end\"` runs once for each run; remove its `tool`")
    }

    fn is_for(&self, on: HookEvent, tool: &str) -> bool {
        self.on == on && self.tool.as_deref().is_none_or(|name| name == tool)
    }
}

/// The hooks of this server. None by default.
#[derive(Debug, Clone, Default)]
pub struct Hooks(Option<WithShell>);

/// Hooks, and the tool that runs their commands.
type WithShell = (Arc<[Hook]>, Arc<dyn Tool>);

impl Hooks {
    /// These hooks; `bash` runs them.
    pub fn new(hooks: &[Hook], bash: Arc<dyn Tool>) -> Self {
        Self((!hooks.is_empty()).then(|| (hooks.into(), bash)))
    }

    /// The same tool, with the hooks around its calls.
    pub fn around(&self, tool: Arc<dyn Tool>) -> Arc<dyn Tool> {
        match &self.0 {
            Some((hooks, bash)) => {
                Arc::new(Hooked { tool, runner: Runner { hooks: hooks.clone(), bash: bash.clone() } })
            }
            None => tool,
        }
    }

    /// Whether there are hooks at the end of a run.
    pub fn has_run_end(&self) -> bool {
        self.0.iter().any(|(hooks, _)| hooks.iter().any(|hook| hook.on == HookEvent::RunEnd))
    }

    /// The hooks at the end of this run, as one call without arguments: it fails with the words of the first hook that
    /// does. `None` if there are none.
    pub fn at_run_end(&self, run_id: &str, outcome: Outcome) -> Option<Arc<dyn Tool>> {
        let (hooks, bash) = self.0.as_ref().filter(|_| self.has_run_end())?;
        let runner = Runner { hooks: hooks.clone(), bash: bash.clone() };
        Some(Arc::new(AtRunEnd { runner, run_id: run_id.to_owned(), outcome }))
    }
}

#[derive(Debug)]
struct Hooked {
    tool: Arc<dyn Tool>,
    runner: Runner,
}

/// Runs hooks with a shell.
#[derive(Debug)]
struct Runner {
    hooks: Arc<[Hook]>,
    bash: Arc<dyn Tool>,
}

impl Runner {
    /// Runs the hooks for this event until one fails. Returns its words.
    async fn failure(&self, on: HookEvent, tool: &str, place: &Place, variables: &[(&str, String)]) -> Option<String> {
        let hooks = self.hooks.iter().filter(|hook| hook.is_for(on, tool));
        for (number, hook) in hooks.enumerate() {
            let place = Place { call_id: format!("{}-hook{number}", place.call_id), ..place.clone() };
            let line = line(variables, &hook.command);
            if line.len() > LINE_BYTES_MAX {
                let sentence = "the call is too long for its hook, which judges only whole calls: make it shorter";
                return Some(sentence.to_owned());
            }
            let arguments = json!({ "command": line, "timeout_s": SECONDS_MAX });
            // Nobody watches it; what it says comes with its outcome.
            let (output, mut pieces) = mpsc::channel(8);
            let (outcome, ()) = tokio::join!(self.bash.call(&place, arguments, output), async {
                while pieces.recv().await.is_some() {}
            });
            if outcome.is_error {
                let said = outcome.content.unwrap_or_default();
                let said = match on {
                    // The end of a test run says what failed.
                    HookEvent::RunEnd => &said[said.ceil_char_boundary(said.len().saturating_sub(WORDS_BYTES_MAX))..],
                    _ => &said[..said.floor_char_boundary(WORDS_BYTES_MAX)],
                };
                return Some(if said.trim().is_empty() { outcome.summary } else { said.trim().to_owned() });
            }
        }
        None
    }
}

#[async_trait]
impl Tool for Hooked {
    fn name(&self) -> &str {
        self.tool.name()
    }

    fn description(&self) -> &str {
        self.tool.description()
    }

    fn schema(&self) -> Value {
        self.tool.schema()
    }

    fn only_reads(&self) -> bool {
        self.tool.only_reads()
    }

    fn default_permission(&self) -> PermissionDecision {
        self.tool.default_permission()
    }

    fn misfit(&self, arguments: &Value) -> Option<String> {
        self.tool.misfit(arguments)
    }

    async fn call(&self, place: &Place, arguments: Value, output: Output) -> ToolOutcome {
        let mut variables = vec![
            ("YOI_EVENT", "before_tool".to_owned()),
            ("YOI_TOOL", self.tool.name().to_owned()),
            ("YOI_ARGUMENTS", arguments.to_string()),
        ];
        let (runner, name) = (&self.runner, self.tool.name());
        if let Some(words) = runner.failure(HookEvent::BeforeTool, name, place, &variables).await {
            return ToolOutcome::failed("permission_denied", format!("a hook denied it: {words}"));
        }
        let mut outcome = self.tool.call(place, arguments, output).await;
        variables[0].1 = "after_tool".to_owned();
        variables.push(("YOI_RESULT", outcome.summary.lines().next().unwrap_or_default().to_owned()));
        if let Some(words) = runner.failure(HookEvent::AfterTool, name, place, &variables).await {
            let before = outcome.content.take().map(|content| format!("{content}\n")).unwrap_or_default();
            outcome.content = Some(format!("{before}[a hook says: {words}]"));
        }
        outcome
    }
}

/// The hooks at the end of one run.
#[derive(Debug)]
struct AtRunEnd {
    runner: Runner,
    run_id: String,
    outcome: Outcome,
}

#[async_trait]
impl Tool for AtRunEnd {
    fn name(&self) -> &'static str {
        "run_end"
    }

    fn description(&self) -> &'static str {
        "The hooks at the end of a run."
    }

    fn schema(&self) -> Value {
        json!({ "type": "object" })
    }

    async fn call(&self, place: &Place, _: Value, _: Output) -> ToolOutcome {
        let outcome = serde_json::to_value(self.outcome).unwrap_or_default();
        let variables = [
            ("YOI_EVENT", "run_end".to_owned()),
            ("YOI_RUN", self.run_id.clone()),
            ("YOI_OUTCOME", outcome.as_str().unwrap_or_default().to_owned()),
        ];
        match self.runner.failure(HookEvent::RunEnd, "", place, &variables).await {
            Some(words) => ToolOutcome::failed("hook", words),
            None => ToolOutcome::done("no hook failed"),
        }
    }
}

/// The command line, with its variables set before it.
fn line(variables: &[(&str, String)], command: &str) -> String {
    let set = |(name, value): &(&str, String)| {
        let value = value.replace('\0', "").replace('\'', r"'\''");
        format!("export {name}='{value}'\n")
    };
    variables.iter().map(set).chain([command.to_owned()]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Stands for Bash: fails if the line contains `exit 1`, and says the line.
    #[derive(Debug)]
    struct Shell;

    #[derive(Debug)]
    struct Inner;

    #[async_trait]
    impl Tool for Shell {
        fn name(&self) -> &'static str {
            "Bash"
        }

        fn description(&self) -> &'static str {
            ""
        }

        fn schema(&self) -> Value {
            Value::Null
        }

        async fn call(&self, _: &Place, arguments: Value, _: Output) -> ToolOutcome {
            let line = arguments["command"].as_str().unwrap().to_owned();
            match line.contains("exit 1") {
                true => ToolOutcome { content: Some(line), ..ToolOutcome::failed("exit", "exit 1") },
                false => ToolOutcome::done("exit 0"),
            }
        }
    }

    #[async_trait]
    impl Tool for Inner {
        fn name(&self) -> &'static str {
            "Write"
        }

        fn description(&self) -> &'static str {
            ""
        }

        fn schema(&self) -> Value {
            Value::Null
        }

        async fn call(&self, _: &Place, _: Value, _: Output) -> ToolOutcome {
            ToolOutcome::done("written").with_content("all of it")
        }
    }

    fn place() -> Place {
        Place {
            worker_id: "00000000-0000-4000-8000-000000000001".parse().unwrap(),
            call_id: "call-1".to_owned(),
            by: protocol::ToolBy::Model,
            cwd: "/".into(),
            scope: pod::Scope::default(),
            leads: None,
            seen: Arc::default(),
            outputs: "/nowhere".into(),
            network: crate::Network::None,
            way_in: None,
            questions: crate::Questions::none(),
            drain: crate::Drain::none(),
            redirects: None,
            doors: None,
            lifeline: crate::Lifeline::pair().0,
        }
    }

    async fn call(hooks: &[Hook]) -> ToolOutcome {
        call_with(hooks, json!({ "path": "it's" })).await
    }

    async fn call_with(hooks: &[Hook], arguments: Value) -> ToolOutcome {
        let tool = Hooks::new(hooks, Arc::new(Shell)).around(Arc::new(Inner));
        tool.call(&place(), arguments, mpsc::channel(1).0).await
    }

    fn hook(on: HookEvent, tool: Option<&str>, command: &str) -> Hook {
        Hook { on, tool: tool.map(str::to_owned), command: command.to_owned() }
    }

    #[tokio::test]
    async fn a_hook_that_fails_before_a_call_denies_it_with_its_words() {
        let denied = call(&[hook(HookEvent::BeforeTool, Some("Write"), "exit 1")]).await;
        assert_eq!((denied.is_error, denied.code.as_deref()), (true, Some("permission_denied")));
        assert!(denied.summary.contains(r#"export YOI_ARGUMENTS='{"path":"it'\''s"}'"#), "{denied:?}");
        for hooks in [
            vec![],
            vec![hook(HookEvent::BeforeTool, Some("Bash"), "exit 1")],
            vec![hook(HookEvent::BeforeTool, None, "exit 0")],
        ] {
            assert_eq!(call(&hooks).await.content.as_deref(), Some("all of it"), "{hooks:?}");
        }
    }

    #[tokio::test]
    async fn a_hook_that_fails_after_a_call_adds_its_words() {
        let told = call(&[hook(HookEvent::AfterTool, None, "exit 1")]).await;
        let content = told.content.unwrap();
        assert!(!told.is_error && content.starts_with("all of it\n[a hook says: "), "{content}");
        assert!(content.contains("export YOI_RESULT='written'"), "{content}");
    }

    #[tokio::test]
    async fn a_hook_at_the_end_of_a_run_fails_with_the_end_of_its_words() {
        let end = async |hooks: &[Hook]| {
            let tool = Hooks::new(hooks, Arc::new(Shell)).at_run_end("run-3", Outcome::Completed)?;
            Some(tool.call(&place(), json!({}), mpsc::channel(1).0).await)
        };
        assert!(end(&[]).await.is_none() && end(&[hook(HookEvent::AfterTool, None, "exit 1")]).await.is_none());
        let hooks = [hook(HookEvent::BeforeTool, None, "exit 1"), hook(HookEvent::RunEnd, None, "true")];
        assert!(!end(&hooks).await.unwrap().is_error);
        let failed = end(&[hook(HookEvent::RunEnd, None, "exit 1 # end")]).await.unwrap();
        for part in ["YOI_EVENT='run_end'", "YOI_RUN='run-3'", "YOI_OUTCOME='completed'"] {
            assert!(failed.is_error && failed.summary.contains(part), "{part}: {failed:?}");
        }
        let long = format!("exit 1 # {}the end", "x".repeat(8 * 1024));
        let summary = end(&[hook(HookEvent::RunEnd, None, &long)]).await.unwrap().summary;
        assert!(summary.len() <= WORDS_BYTES_MAX && summary.ends_with("the end"), "{}", summary.len());
        assert!(Hook { tool: Some("Bash".to_owned()), ..hook(HookEvent::RunEnd, None, "") }.refusal().is_some());
        assert!(hook(HookEvent::RunEnd, None, "").refusal().is_none());
    }

    #[tokio::test]
    async fn a_hook_judges_the_whole_call_or_it_is_denied() {
        let hooks = [hook(HookEvent::BeforeTool, None, "true")];
        let of = |bytes: usize, end: &str| json!({ "content": format!("{}{end}", "x".repeat(bytes)) });
        let seen = call_with(&hooks, of(60 * 1024, "exit 1")).await;
        assert_eq!(seen.code.as_deref(), Some("permission_denied"), "its end is told, too");
        let long = call_with(&hooks, of(LINE_BYTES_MAX, "")).await;
        assert_eq!((long.is_error, long.code.as_deref()), (true, Some("permission_denied")));
        assert!(long.summary.contains("too long for its hook"), "{long:?}");
        let elsewhere = call_with(&[hook(HookEvent::BeforeTool, Some("Bash"), "true")], of(LINE_BYTES_MAX, "")).await;
        assert!(!elsewhere.is_error, "no hook applies");
    }
}
