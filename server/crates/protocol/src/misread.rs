//! Detects arrays that were deserialized as objects.

use serde::Serialize;
use serde_json::Value;

/// The path (`scope[1]`) of the first array that was read as an object; empty for the whole value.
///
/// A derived deserializer also accepts an array of the fields in order, at any depth. Fields that a type omits from
/// its own JSON are not checked: they are empty, which no array of fields is.
pub fn misread(said: &Value, read: &impl Serialize) -> Option<String> {
    let understood = serde_json::to_value(read).ok()?;
    array_in(said, &understood).map(|place| place.trim_start_matches('.').to_owned())
}

fn array_in(said: &Value, understood: &Value) -> Option<String> {
    match (said, understood) {
        (Value::Array(said), Value::Array(understood)) => {
            let mut items = said.iter().zip(understood).enumerate();
            items.find_map(|(at, (said, understood))| Some(format!("[{at}]{}", array_in(said, understood)?)))
        }
        (Value::Array(_), _) => Some(String::new()),
        (Value::Object(said), Value::Object(understood)) => said.iter().find_map(|(key, said)| {
            let place = array_in(said, understood.get(key)?)?;
            Some(format!(".{key}{place}"))
        }),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_array_that_was_read_as_an_object_is_found_wherever_it_is() {
        let read = json!({ "a": [{ "b": 1 }, { "c": { "d": [] } }], "e": [1] });
        let table = [
            (json!({ "a": [{ "b": 1 }, { "c": { "d": [] } }], "e": [1] }), None),
            (json!({ "a": [[1], { "c": { "d": [] } }], "e": [1] }), Some("a[0]")),
            (json!({ "a": [{ "b": 1 }, { "c": [[]] }], "left_out": [7] }), Some("a[1].c")),
            (json!([[], [1]]), Some("")),
        ];
        for (said, place) in table {
            assert_eq!(misread(&said, &read).as_deref(), place, "{said}");
        }
    }
}
