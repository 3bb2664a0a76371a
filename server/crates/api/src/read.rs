//! Strict parsing of JSON from outside: each key only once, and objects only where objects belong.
//!
//! Derived deserializers also accept an array of a type's fields in order, at any depth; the API accepts objects only.

use protocol::{misread, unambiguous};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value;

/// Parses a `T`; the error says where and what is wrong. `whole` is what the text is called in it: "the body".
pub(crate) fn read<T: DeserializeOwned + Serialize>(whole: &str, text: &str) -> Result<T, String> {
    let said = unambiguous(text).map_err(|error| format!("{whole} does not fit: {error}"))?;
    if !said.is_object() {
        return Err(format!("{whole} has to be a JSON object, not {}", kind(&said)));
    }
    let read: T = serde_path_to_error::deserialize(&mut serde_json::Deserializer::from_str(text)).map_err(|error| {
        let path = error.path().to_string();
        // For an unknown field the cause already contains the name, and for the whole there is none.
        match path == "." || error.inner().to_string().contains(&format!("`{path}`")) {
            true => format!("{whole} does not fit: {}", error.inner()),
            false => format!("{whole} does not fit: `{path}`: {}", error.inner()),
        }
    })?;
    match misread(&said, &read) {
        Some(place) => Err(format!("{whole} does not fit: `{place}` has to be an object, not an array")),
        None => Ok(read),
    }
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "true or false",
        Value::Number(_) => "a number",
        Value::String(_) => "a text",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}

#[cfg(test)]
mod tests {
    use std::fmt;

    use protocol::{ClientFrame, CreatePod, InputCommand, LinkExchange, PatchPod, ToolCommand};
    use serde_json::json;

    use super::*;

    fn refusal<T: DeserializeOwned + Serialize + fmt::Debug>(body: &Value) -> String {
        read::<T>("the body", &body.to_string()).unwrap_err()
    }

    #[test]
    fn an_array_is_never_read_as_the_fields_of_an_object_at_any_depth() {
        let rules = json!({ "name": "ada", "scope": [{ "path": "/a", "access": "read" }, ["/tmp", "write", true]] });
        assert!(refusal::<CreatePod>(&rules).contains("`scope[1]` has to be an object, not an array"));
        let segments = json!({ "segments": [["text", "x"]] });
        assert!(refusal::<InputCommand>(&segments).contains("`segments[0]` has to be an object, not an array"));
        let permissions = json!({ "permissions": [["Bash", "cargo *", "allow"]] });
        assert!(refusal::<PatchPod>(&permissions).contains("`permissions[0]`"));
        let pod = json!({ "type": "subscribe", "id": "a", "pod": ["local", "w"] });
        assert!(refusal::<ClientFrame>(&pod).contains("`pod` has to be an object"));
        let link = |item: Value| json!({ "protocol": 1, "store_id": "s", "name": "a", "after": 0, "items": [item] });
        let decision = json!({ "kind": "decision", "message_id": "m", "from": "a", "to": "b", "decision": "drop" });
        assert!(read::<LinkExchange>("the body", &link(json!({ "seq": 1, "item": decision })).to_string()).is_ok());
        assert!(refusal::<LinkExchange>(&link(json!([1, decision]))).contains("`items[0]`"));
        let decision = json!(["decision", "m", "a", "b", "drop"]);
        assert!(refusal::<LinkExchange>(&link(json!({ "seq": 1, "item": decision }))).contains("`items[0].item`"));
        assert!(refusal::<CreatePod>(&json!(["ada"])).contains("the body has to be a JSON object, not an array"));
    }

    #[test]
    fn an_array_that_is_too_short_or_too_long_is_refused_by_its_place_as_well() {
        let segments = json!({ "segments": [{ "type": "text", "text": "a" }, ["text"]] });
        assert!(refusal::<InputCommand>(&segments).contains("`segments[1]`"), "{}", refusal::<InputCommand>(&segments));
        for (segment, place) in [
            (json!({ "type": "text", "text": 7 }), "segments[0].text"),
            (json!({ "type": "paste", "text": null }), "segments[0].text"),
            (json!({ "type": "file_ref", "path": ["a"] }), "segments[0].path"),
            (json!({ "type": 7, "text": "a" }), "segments[0].type"),
            (json!({ "type": "text", "path": "a" }), "segments[0]"),
            (json!({ "type": "file_ref" }), "segments[0]"),
        ] {
            let told = refusal::<InputCommand>(&json!({ "segments": [segment] }));
            assert!(told.contains(&format!("`{place}`")), "{told}");
        }
        let rules = json!({ "name": "ada", "scope": [["/tmp", "write", true, 4]] });
        assert!(refusal::<CreatePod>(&rules).contains("`scope[0]"));
    }

    #[test]
    fn what_may_be_an_array_stays_one() {
        for arguments in [json!({}), json!([1, [2], { "a": [3] }]), json!([]), json!(null)] {
            let read: ToolCommand = read("the body", &json!({ "arguments": arguments }).to_string()).unwrap();
            assert_eq!(read.arguments, arguments);
        }
        assert!(read::<CreatePod>("the body", r#"{"name":"ada","scope":[]}"#).is_ok());
    }

    #[test]
    fn a_key_stands_once_in_an_object_wherever_it_is() {
        for (text, key) in [
            (r#"{"name":"ada","name":"bob"}"#, "name"),
            (r#"{"name":"ada","scope":[{"path":"/a","access":"read","path":"/b"}]}"#, "path"),
            (r#"{"name":"ada","cwd":"/a","cwd":"/a"}"#, "cwd"),
        ] {
            let refusal = read::<CreatePod>("the body", text).unwrap_err();
            assert!(refusal.contains(&format!("duplicate field `{key}`")), "{refusal}");
        }
    }
}
