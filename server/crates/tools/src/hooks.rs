//! Hooks: command lines of the configuration that run before and after the calls of a Pod's tools, in the Pod's own
//! sandbox. A hook before a call can deny it.
//!
//! Only the configuration has hooks, never a repository: what a repository says must not run by itself.

use std::sync::Arc;

use async_trait::async_trait;
use pod::ToolOutcome;
use protocol::PermissionDecision;
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
}

/// One hook.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Hook {
    pub on: HookEvent,
    /// The tool's name; every tool when absent.
    #[serde(default)]
    pub tool: Option<String>,
    /// A command line for bash. It finds the call in `YOI_EVENT`, `YOI_TOOL` and `YOI_ARGUMENTS` (JSON, whole), and
    /// after the call its result's first line in `YOI_RESULT`. What is too long for that fails as the hook would.
    pub command: String,
}

impl Hook {
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
            Some((hooks, bash)) => Arc::new(Hooked { tool, hooks: hooks.clone(), bash: bash.clone() }),
            None => tool,
        }
    }
}

#[derive(Debug)]
struct Hooked {
    tool: Arc<dyn Tool>,
    hooks: Arc<[Hook]>,
    bash: Arc<dyn Tool>,
}

impl Hooked {
    /// Runs the hooks for this event until one fails. Returns its words.
    async fn failure(&self, on: HookEvent, place: &Place, variables: &[(&str, String)]) -> Option<String> {
        let hooks = self.hooks.iter().filter(|hook| hook.is_for(on, self.tool.name()));
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
                let said = &said[..said.floor_char_boundary(WORDS_BYTES_MAX)];
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

    async fn call(&self, place: &Place, arguments: Value, output: Output) -> ToolOutcome {
        let mut variables = vec![
            ("YOI_EVENT", "before_tool".to_owned()),
            ("YOI_TOOL", self.tool.name().to_owned()),
            ("YOI_ARGUMENTS", arguments.to_string()),
        ];
        if let Some(words) = self.failure(HookEvent::BeforeTool, place, &variables).await {
            return ToolOutcome::failed("permission_denied", format!("a hook denied it: {words}"));
        }
        let mut outcome = self.tool.call(place, arguments, output).await;
        variables[0].1 = "after_tool".to_owned();
        variables.push(("YOI_RESULT", outcome.summary.lines().next().unwrap_or_default().to_owned()));
        if let Some(words) = self.failure(HookEvent::AfterTool, place, &variables).await {
            let before = outcome.content.take().map(|content| format!("{content}\n")).unwrap_or_default();
            outcome.content = Some(format!("{before}[a hook says: {words}]"));
        }
        outcome
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
