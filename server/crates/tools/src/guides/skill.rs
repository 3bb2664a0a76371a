//! Skill: returns the text of a skill, for a model that was offered it by name.

use async_trait::async_trait;
use pod::ToolOutcome;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use super::Guides;
use crate::{Output, Place, Tool, arguments};

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Arguments {
    /// The skill's name.
    name: String,
}

/// The tool `Skill`.
#[derive(Debug)]
pub struct SkillTool {
    guides: Guides,
}

impl SkillTool {
    pub fn new(guides: Guides) -> Self {
        Self { guides }
    }
}

#[async_trait]
impl Tool for SkillTool {
    fn name(&self) -> &'static str {
        "Skill"
    }

    fn description(&self) -> &'static str {
        "Returns the text of a skill: instructions for one kind of work. Read a skill before you do what it describes."
    }

    fn schema(&self) -> Value {
        arguments::schema_of::<Arguments>()
    }

    async fn call(&self, place: &Place, arguments: Value, _: Output) -> ToolOutcome {
        let name = match arguments::parsed::<Arguments>("Skill", arguments) {
            Err(sentence) => return ToolOutcome::failed("invalid_input", sentence),
            Ok(Arguments { name }) => name,
        };
        let (guides, scope) = (self.guides.clone(), place.scope.clone());
        let cwd = place.cwd.display().to_string();
        let found = tokio::task::spawn_blocking(move || match guides.skill(&cwd, &scope, &name) {
            Some(skill) => Ok(skill),
            None => {
                let known: Vec<String> = guides.skills(&cwd, &scope).into_iter().map(|skill| skill.name).collect();
                let known = if known.is_empty() { "none are there".to_owned() } else { known.join(", ") };
                Err(format!("no skill is called \"{name}\"; known are: {known}"))
            }
        });
        match found.await {
            Ok(Ok(skill)) => {
                let summary = format!("{} from {}", skill.name, skill.path.display());
                ToolOutcome::done(summary).with_content(skill.text)
            }
            Ok(Err(sentence)) => ToolOutcome::failed("not_found", sentence),
            Err(_) => ToolOutcome::failed("internal", "the skill could not be read"),
        }
    }
}
