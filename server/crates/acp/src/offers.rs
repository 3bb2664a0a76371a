//! What an agent lets its client choose: modes, models and commands. Agents announce these in several ways, which are
//! unified here.

use protocol::{AgentChoice, AgentOffers};
use serde_json::Value;

use crate::wire::cut;

/// The length of each list, and of each text in it.
const CHOICES_MAX: usize = 200;
const NAME_CHARS_MAX: usize = 200;
const DESCRIPTION_CHARS_MAX: usize = 500;

/// How a choice is set.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Setter {
    /// With a method of its own: `session/set_mode`, `session/set_model`.
    Method,
    /// With the config option of this id.
    Option(String),
}

/// What is offered now, and how it is set.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Offered {
    pub(crate) offers: AgentOffers,
    pub(crate) mode: Option<String>,
    set_mode: Option<Setter>,
    set_model: Option<Setter>,
}

impl Offered {
    /// Takes over what the answer to `session/new`, `load` or `resume` offers.
    pub(crate) fn take_session(&mut self, answer: &Value) {
        if let Some(modes) = answer.get("modes").filter(|modes| modes.is_object()) {
            self.offers.modes = choices(modes.get("availableModes"), "id");
            self.mode = text(modes.get("currentModeId"), NAME_CHARS_MAX);
            self.set_mode = Some(Setter::Method);
        }
        if let Some(models) = answer.get("models").filter(|models| models.is_object()) {
            self.offers.models = choices(models.get("availableModels"), "modelId");
            self.offers.model = text(models.get("currentModelId"), NAME_CHARS_MAX);
            self.set_model = Some(Setter::Method);
        }
        if let Some(options) = answer.get("configOptions") {
            self.take_options(options);
        }
    }

    /// Takes over a complete list of config options.
    pub(crate) fn take_options(&mut self, options: &Value) {
        for option in options.as_array().into_iter().flatten().take(CHOICES_MAX) {
            let Some(id) = text(option.get("id"), NAME_CHARS_MAX) else { continue };
            let current = text(option.get("currentValue"), NAME_CHARS_MAX);
            let values = || values(option.get("options"));
            match option.get("category").and_then(Value::as_str) {
                Some("mode") => {
                    (self.offers.modes, self.mode) = (values(), current);
                    self.set_mode = Some(Setter::Option(id));
                }
                Some("model") => {
                    (self.offers.models, self.offers.model) = (values(), current);
                    self.set_model = Some(Setter::Option(id));
                }
                _ => (),
            }
        }
    }

    pub(crate) fn take_commands(&mut self, commands: &Value) {
        let command = |command: &Value| {
            let name = text(command.get("name"), NAME_CHARS_MAX)?;
            let hint = command.get("input").and_then(|input| text(input.get("hint"), NAME_CHARS_MAX));
            let shown = match hint {
                Some(hint) => format!("{name} {hint}"),
                None => name.clone(),
            };
            let description = text(command.get("description"), DESCRIPTION_CHARS_MAX);
            Some(AgentChoice { id: name, name: shown, description })
        };
        self.offers.commands =
            commands.as_array().into_iter().flatten().take(CHOICES_MAX).filter_map(command).collect();
    }

    /// Returns how to set this mode, or a sentence if the agent does not offer it.
    pub(crate) fn mode_setter(&self, mode: &str) -> Result<&Setter, String> {
        setter(self.set_mode.as_ref(), &self.offers.modes, "mode", mode)
    }

    pub(crate) fn model_setter(&self, model: &str) -> Result<&Setter, String> {
        setter(self.set_model.as_ref(), &self.offers.models, "model", model)
    }

    /// Returns the offers as records carry them.
    pub(crate) fn value(&self) -> Value {
        serde_json::to_value(&self.offers).unwrap_or_default()
    }
}

fn setter<'a>(
    setter: Option<&'a Setter>,
    choices: &[AgentChoice],
    what: &str,
    wanted: &str,
) -> Result<&'a Setter, String> {
    let setter = setter.ok_or_else(|| format!("the agent does not let you choose its {what}"))?;
    match choices.iter().any(|choice| choice.id == wanted) {
        true => Ok(setter),
        false => {
            let known = choices.iter().map(|choice| choice.id.as_str()).collect::<Vec<_>>().join(", ");
            Err(format!("the agent has no {what} \"{}\"; there are {known}", cut(wanted, 60)))
        }
    }
}

fn text(value: Option<&Value>, chars: usize) -> Option<String> {
    value.and_then(Value::as_str).filter(|text| !text.is_empty()).map(|text| cut(text, chars))
}

fn choices(list: Option<&Value>, id: &str) -> Vec<AgentChoice> {
    let choice = |choice: &Value| {
        let id = text(choice.get(id), NAME_CHARS_MAX)?;
        let name = text(choice.get("name"), NAME_CHARS_MAX).unwrap_or_else(|| id.clone());
        Some(AgentChoice { id, name, description: text(choice.get("description"), DESCRIPTION_CHARS_MAX) })
    };
    list.and_then(Value::as_array).into_iter().flatten().filter_map(choice).take(CHOICES_MAX).collect()
}

/// Returns the values of an option, including those inside groups.
fn values(list: Option<&Value>) -> Vec<AgentChoice> {
    let of_groups = list.and_then(Value::as_array).into_iter().flatten().filter_map(|group| group.get("options"));
    let mut all = choices(list, "value");
    all.extend(of_groups.flat_map(|group| choices(Some(group), "value")));
    all.truncate(CHOICES_MAX);
    all
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn modes_and_models_are_the_same_however_an_agent_tells_them() {
        let by_method = json!({
            "modes": { "currentModeId": "ask", "availableModes": [{ "id": "ask", "name": "Ask" }, { "id": "code", "name": "Code" }] },
            "models": { "currentModelId": "m1", "availableModels": [{ "modelId": "m1", "name": "M 1" }] },
        });
        let by_option = json!({ "configOptions": [
            { "id": "o-mode", "category": "mode", "type": "select", "currentValue": "ask",
              "options": [{ "value": "ask", "name": "Ask" }, { "value": "code", "name": "Code" }] },
            { "id": "o-model", "category": "model", "type": "select", "currentValue": "m1",
              "options": [{ "group": "g", "name": "G", "options": [{ "value": "m1", "name": "M 1" }] }] },
        ] });
        let (mut one, mut other) = (Offered::default(), Offered::default());
        one.take_session(&by_method);
        other.take_session(&by_option);
        assert_eq!((&one.offers, &one.mode), (&other.offers, &other.mode));
        assert_eq!(one.mode_setter("code"), Ok(&Setter::Method));
        assert_eq!(other.model_setter("m1"), Ok(&Setter::Option("o-model".to_owned())));
        assert_eq!(one.mode_setter("fly").unwrap_err(), "the agent has no mode \"fly\"; there are ask, code");
        assert_eq!(Offered::default().mode_setter("x").unwrap_err(), "the agent does not let you choose its mode");
    }

    #[test]
    fn a_flood_of_commands_and_long_words_is_cut() {
        let many: Vec<_> = (0..1_000)
            .map(
                |at| json!({ "name": format!("c{at}"), "description": "x".repeat(5_000), "input": { "hint": "what" } }),
            )
            .collect();
        let mut offered = Offered::default();
        offered.take_commands(&json!(many));
        assert_eq!(offered.offers.commands.len(), CHOICES_MAX);
        assert_eq!(offered.offers.commands[0].name, "c0 what");
        assert_eq!(offered.offers.commands[0].description.as_ref().unwrap().chars().count(), DESCRIPTION_CHARS_MAX + 1);
    }
}
