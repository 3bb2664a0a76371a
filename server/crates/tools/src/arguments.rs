//! Tool arguments by their types: the schema that a model is shown, and validation of what it sent.

use schemars::{JsonSchema, generate::SchemaSettings, transform::RecursiveTransform};
use serde::de::DeserializeOwned;
use serde_json::Value;

/// The schema of `T` in the form that vendors accept: no references, no titles and no number formats.
pub(crate) fn schema_of<T: JsonSchema>() -> Value {
    let mut settings = SchemaSettings::draft2020_12();
    settings.inline_subschemas = true;
    settings.meta_schema = None;
    let bare = |schema: &mut schemars::Schema| {
        schema.remove("format");
        schema.remove("title");
    };
    let mut generator = settings.with_transform(RecursiveTransform(bare)).into_generator();
    let mut schema = generator.root_schema_for::<T>();
    schema.remove("description");
    schema.to_value()
}

/// Parses the arguments. The error is a sentence that names the field at fault and everything that the tool takes.
pub(crate) fn parsed<T: DeserializeOwned + JsonSchema>(tool: &str, arguments: Value) -> Result<T, String> {
    // serde would also read a struct from an array of its fields, which no schema allows.
    if arguments.is_array() {
        let usage = usage(&schema_of::<T>());
        return Err(format!("these are no arguments of {tool}: an array and not an object; it takes {usage}"));
    }
    serde_path_to_error::deserialize(arguments).map_err(|error| {
        let field = match error.path().to_string() {
            path if path == "." => String::new(),
            path => format!("{path}: "),
        };
        format!("these are no arguments of {tool}: {field}{}; it takes {}", error.inner(), usage(&schema_of::<T>()))
    })
}

/// The fields of a schema as `{path, offset?, limit?}`.
fn usage(schema: &Value) -> String {
    let required = schema.get("required").and_then(Value::as_array);
    let is_required = |name: &str| required.is_some_and(|names| names.iter().any(|known| known == name));
    let fields = schema.get("properties").and_then(Value::as_object).into_iter().flatten();
    let names = fields.map(|(name, _)| if is_required(name) { name.clone() } else { format!("{name}?") });
    format!("{{{}}}", names.collect::<Vec<_>>().join(", "))
}
