//! What a tool's server asks for: a flat form that a person fills in.

use leptos::prelude::*;
use protocol::tool::SERVER_TOOL;
use serde_json::{Map, Value};

/// The warning below such a question.
pub(super) const WORDS: &str = "Only this server gets the answer. Do not give it passwords or keys.";

/// The fields and their current values.
#[derive(Clone, PartialEq)]
pub(super) struct Form {
    fields: Vec<Field>,
    values: RwSignal<Map<String, Value>>,
}

#[derive(Clone, PartialEq)]
struct Field {
    name: String,
    label: String,
    hint: String,
    kind: Kind,
    is_required: bool,
}

#[derive(Clone, PartialEq)]
enum Kind {
    Text,
    /// The flag says whether only whole numbers are allowed.
    Number(bool),
    Switch,
    /// Pairs of a value and its title.
    Choice(Vec<(String, String)>),
    /// Several of these values can be chosen.
    Choices(Vec<(String, String)>),
}

impl Form {
    /// Returns `None` if the question asks for permission instead.
    pub(super) fn of(id: &str, tool: &str, arguments: &Value) -> Option<Self> {
        let schema = arguments.get("schema").filter(|_| tool.contains(SERVER_TOOL) && id.contains(".ask"))?;
        let known = schema.get("properties")?.as_object()?;
        let required: Vec<&str> =
            schema.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str).collect();
        let fields: Vec<_> =
            known.iter().map(|(name, field)| one(name, field, required.contains(&name.as_str()))).collect();
        let default = |(name, field): (&String, &Value)| Some((name.clone(), field.get("default")?.clone()));
        let mut values: Map<String, Value> = known.iter().filter_map(default).collect();
        for field in fields.iter().filter(|field| field.is_required && field.kind == Kind::Switch) {
            values.entry(field.name.clone()).or_insert(Value::Bool(false));
        }
        Some(Self { fields, values: RwSignal::new(values) })
    }

    pub(super) fn content(&self) -> Value {
        Value::Object(self.values.get_untracked())
    }
}

fn one(name: &str, field: &Value, is_required: bool) -> Field {
    let text = |key: &str| field.get(key).and_then(Value::as_str).map(str::to_owned);
    let kind = match (text("type").as_deref(), choices(field)) {
        (Some("boolean"), _) => Kind::Switch,
        (Some("integer"), _) => Kind::Number(true),
        (Some("number"), _) => Kind::Number(false),
        (Some("array"), _) => Kind::Choices(field.get("items").and_then(choices).unwrap_or_default()),
        (_, Some(choices)) => Kind::Choice(choices),
        (_, None) => Kind::Text,
    };
    let (label, hint) = (text("title").unwrap_or_else(|| name.to_owned()), text("description").unwrap_or_default());
    Field { name: name.to_owned(), label, hint, kind, is_required }
}

fn choices(field: &Value) -> Option<Vec<(String, String)>> {
    if let Some(plain) = field.get("enum").and_then(Value::as_array) {
        let names = field.get("enumNames").and_then(Value::as_array);
        let plain = plain.iter().filter_map(Value::as_str).enumerate();
        let called = |at: usize| names.and_then(|names| names.get(at)?.as_str());
        return Some(plain.map(|(at, value)| (value.to_owned(), called(at).unwrap_or(value).to_owned())).collect());
    }
    let titled = field.get("oneOf").or_else(|| field.get("anyOf")).and_then(Value::as_array)?;
    let choice = |one: &Value| {
        let value = one.get("const")?.as_str()?.to_owned();
        Some((value.clone(), one.get("title").and_then(Value::as_str).map_or(value, str::to_owned)))
    };
    Some(titled.iter().filter_map(choice).collect())
}

#[component]
pub(super) fn FormFields(form: Form, prefix: String) -> impl IntoView {
    let values = form.values;
    let field = |(at, field): (usize, Field)| {
        let id = format!("{prefix}-{at}");
        let star = if field.is_required { " *" } else { "" };
        let hint = (!field.hint.is_empty()).then(|| view! { <small>{field.hint.clone()}</small> }.into_any());
        let label = view! { <label for=id.clone()>{field.label.clone()}{star}</label> }.into_any();
        let input = input(&field, id, values);
        view! { <p class="field">{label}{input}{hint}</p> }.into_any()
    };
    view! { <div class="fields">{form.fields.into_iter().enumerate().map(field).collect_view()}</div> }
}

/// Sets a field's value. An empty field counts as left out.
fn put(values: RwSignal<Map<String, Value>>, name: &str, value: Option<Value>) {
    values.update(|values| match value {
        Some(value) => drop(values.insert(name.to_owned(), value)),
        None => drop(values.remove(name)),
    });
}

fn input(field: &Field, id: String, values: RwSignal<Map<String, Value>>) -> AnyView {
    let name = field.name.clone();
    let now = values.with_untracked(|values| values.get(&name).cloned());
    let text = now.as_ref().and_then(Value::as_str).unwrap_or_default().to_owned();
    match field.kind.clone() {
        Kind::Text => {
            let typed = move |event| {
                let text = event_target_value(&event);
                put(values, &name, (!text.is_empty()).then_some(Value::String(text)));
            };
            view! { <input id=id type="text" prop:value=text autocomplete="off" on:input=typed /> }.into_any()
        }
        Kind::Number(is_whole) => {
            let typed = move |event| put(values, &name, number(&event_target_value(&event), is_whole));
            let text = now.map(|now| now.to_string()).unwrap_or_default();
            let step = if is_whole { "1" } else { "any" };
            view! { <input id=id type="number" step=step prop:value=text on:input=typed /> }.into_any()
        }
        Kind::Switch => {
            let is_on = now == Some(Value::Bool(true));
            let turned = move |event| put(values, &name, Some(Value::Bool(event_target_checked(&event))));
            view! { <input id=id type="checkbox" prop:checked=is_on on:change=turned /> }.into_any()
        }
        Kind::Choice(choices) => {
            let chosen = move |event| {
                let value = event_target_value(&event);
                put(values, &name, (!value.is_empty()).then_some(Value::String(value)));
            };
            let option = |(value, called): (String, String)| {
                let is_chosen = value == text;
                view! { <option value=value selected=is_chosen>{called}</option> }.into_any()
            };
            let options = choices.into_iter().map(option).collect_view();
            view! { <select id=id on:change=chosen><option value="">"–"</option>{options}</select> }.into_any()
        }
        Kind::Choices(choices) => several(field, id, choices, now, values),
    }
}

fn number(text: &str, is_whole: bool) -> Option<Value> {
    match is_whole {
        true => text.trim().parse::<i64>().ok().map(Value::from),
        false => text.trim().parse::<f64>().ok().map(Value::from),
    }
}

fn several(
    field: &Field,
    id: String,
    choices: Vec<(String, String)>,
    now: Option<Value>,
    values: RwSignal<Map<String, Value>>,
) -> AnyView {
    let chosen: Vec<Value> = now.and_then(|now| now.as_array().cloned()).unwrap_or_default();
    let one = |(value, called): (String, String)| {
        let (name, is_on) = (field.name.clone(), chosen.contains(&Value::String(value.clone())));
        let turned = move |event| {
            let is_on = event_target_checked(&event);
            let mut all = values
                .with_untracked(|values| values.get(&name).and_then(Value::as_array).cloned())
                .unwrap_or_default();
            all.retain(|one| one.as_str() != Some(&value));
            if is_on {
                all.push(Value::String(value.clone()));
            }
            put(values, &name, Some(Value::Array(all)));
        };
        view! { <label><input type="checkbox" prop:checked=is_on on:change=turned />{called}</label> }.into_any()
    };
    view! { <span id=id role="group" aria-label=field.label.clone()>{choices.into_iter().map(one).collect_view()}</span> }.into_any()
}
