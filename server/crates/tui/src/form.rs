//! The form of an MCP server, filled in on one line: `name=ada age=36`.

use serde_json::{Map, Value};

/// Reads the values that were typed for the fields of a form: `field=value` each, a value with spaces in double quotes,
/// several choices with commas between them. For the only field, all of the text is the value.
///
/// # Errors
/// A sentence that says which fields there are.
pub(crate) fn content(schema: &Value, text: &str) -> Result<Value, String> {
    let none = Map::new();
    let fields = schema.get("properties").and_then(Value::as_object).unwrap_or(&none);
    let wanted = || {
        let names = fields.iter().map(|(name, field)| format!("{name}=({})", kind(field)));
        format!("write :fill {}", names.collect::<Vec<_>>().join(" "))
    };
    let is_named = |text: &str| text.split_once('=').is_some_and(|(name, _)| fields.contains_key(name));
    let mut only = fields.iter();
    if let (Some((name, field)), None) = (only.next(), only.next())
        && !is_named(text)
        && !text.is_empty()
    {
        return Ok(Value::Object(Map::from_iter([(name.clone(), value(field, text)?)])));
    }
    let mut content = Map::new();
    for word in words(text) {
        let Some((name, given)) = word.split_once('=') else { return Err(wanted()) };
        let Some(field) = fields.get(name) else { return Err(format!("there is no field {name}; {}", wanted())) };
        content.insert(name.to_owned(), value(field, given)?);
    }
    match content.is_empty() && !fields.is_empty() {
        true => Err(wanted()),
        false => Ok(Value::Object(content)),
    }
}

fn kind(field: &Value) -> &str {
    field.get("type").and_then(Value::as_str).unwrap_or("string")
}

/// Whether a value fits its field is checked by the server; here it only gets its type.
fn value(field: &Value, text: &str) -> Result<Value, String> {
    Ok(match kind(field) {
        "boolean" => match text {
            "true" | "yes" | "y" => Value::Bool(true),
            "false" | "no" | "n" => Value::Bool(false),
            _ => return Err(format!("{text} is neither yes nor no")),
        },
        "integer" | "number" => {
            text.parse::<serde_json::Number>().map(Value::Number).map_err(|_| format!("{text} is not a number"))?
        }
        "array" => text.split(',').map(|item| Value::from(item.trim())).collect(),
        _ => Value::from(text),
    })
}

/// Splits at spaces outside of double quotes.
fn words(text: &str) -> Vec<String> {
    let (mut all, mut word, mut is_quoted) = (Vec::new(), String::new(), false);
    for letter in text.chars() {
        match letter {
            '"' => is_quoted = !is_quoted,
            letter if letter.is_whitespace() && !is_quoted => all.extend(Some(std::mem::take(&mut word))),
            letter => word.push(letter),
        }
    }
    all.push(word);
    all.retain(|word| !word.is_empty());
    all
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn values_get_the_types_of_their_fields() {
        let form = json!({ "properties": {
            "name": { "type": "string" }, "age": { "type": "integer" }, "sure": { "type": "boolean" },
            "many": { "type": "array" },
        } });
        let expected = json!({ "name": "Ada L", "age": 36, "sure": true, "many": ["a", "b"] });
        assert_eq!(content(&form, "name=\"Ada L\" age=36 sure=yes many=a,b"), Ok(expected));
        for (text, told) in [("", ":fill"), ("ada", ":fill"), ("other=1", "no field other"), ("age=x", "not a number")]
        {
            assert!(content(&form, text).unwrap_err().contains(told), "{text}");
        }
        let one = json!({ "properties": { "name": { "type": "string" } } });
        assert_eq!(content(&one, "Ada Lovelace"), Ok(json!({ "name": "Ada Lovelace" })));
        assert_eq!(content(&one, "name=Ada"), Ok(json!({ "name": "Ada" })));
    }
}
