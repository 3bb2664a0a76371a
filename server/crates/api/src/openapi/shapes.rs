//! Names for schemas that the generator leaves anonymous: the variants of tagged unions, and the items of lists. Client
//! generators turn names into types; anonymous schemas become types that nobody can name, or none at all.

use std::collections::BTreeMap;

use serde_json::Value;
use utoipa::openapi::{
    Ref, RefOr,
    schema::{
        AdditionalProperties, AnyOfBuilder, ArrayItems, Components, Discriminator, Object, ObjectBuilder, OneOfBuilder,
        Schema, Type,
    },
};

/// The prefixes of list schemas, before the name of their items.
const LISTS: [&str; 2] = ["Listing_", "Gathered_"];

pub(super) fn name_shapes(components: &mut Components) {
    close_choices(components);
    let mut events = Choices::default();
    for family in ["TurnEvent", "ControlEvent"] {
        events.extend(name_choices(components, family, "kind", event_name));
        // Which events a model sees is not a matter of schemas; docs/protocol.md says it.
        components.schemas.remove(family);
    }
    join_events(components, events);
    let frame = |word: &str| format!("{}Frame", pascal(word));
    for (family, word) in [("ClientFrame", "type"), ("ServerFrame", "type")] {
        let choices = name_choices(components, family, word, frame);
        choices.stand_for(components, family);
    }
    let choices = name_choices(components, "LinkNews", "kind", |word| format!("{}News", pascal(word)));
    choices.stand_for(components, "LinkNews");
    let choices = name_choices(components, "SentSegment", "type", |word| format!("Sent{}Segment", pascal(word)));
    choices.stand_for(components, "SentSegment");
    let segments = name_choices(components, "Segment", "type", |word| format!("{}Segment", pascal(word)));
    open_segments(components, segments);
    name_in_order(components, "Seen", ["SeenFile", "SeenOutput"]);
    name_items(components);
}

/// The named variants of a tagged union.
#[derive(Debug, Default)]
struct Choices {
    word: String,
    description: Option<String>,
    /// The value of the tag and the schema's name, in document order.
    named: Vec<(String, String)>,
}

impl Choices {
    fn extend(&mut self, other: Self) {
        self.word = other.word;
        self.named.extend(other.named);
    }

    fn references(&self) -> impl Iterator<Item = Ref> {
        self.named.iter().map(|(_, name)| Ref::from_schema_name(name))
    }

    /// Makes the schema `family` a union of them, discriminated by the tag.
    fn stand_for(self, components: &mut Components, family: &str) {
        let mapping: BTreeMap<String, String> =
            self.named.iter().map(|(value, name)| (value.clone(), Ref::from_schema_name(name).ref_location)).collect();
        let choice = OneOfBuilder::new()
            .description(self.description.clone())
            .discriminator(Some(Discriminator::with_mapping(self.word.clone(), mapping)));
        let choice = self.references().fold(choice, OneOfBuilder::item);
        components.schemas.insert(family.to_owned(), RefOr::T(Schema::OneOf(choice.build())));
    }
}

/// Gives each variant of `family` a schema of its own, named after its value of `word`.
fn name_choices(components: &mut Components, family: &str, word: &str, name: fn(&str) -> String) -> Choices {
    let Some(RefOr::T(Schema::OneOf(choices))) = components.schemas.get(family).cloned() else {
        return Choices::default();
    };
    let mut named = Vec::new();
    for item in choices.items {
        let Some(shape) = object_of(components, item) else { continue };
        let Some(value) = value_of(&shape, word) else { continue };
        let name = name(&value);
        let before = components.schemas.insert(name.clone(), RefOr::T(Schema::Object(shape)));
        assert!(before.is_none(), "two shapes are called {name}");
        named.push((value, name));
    }
    Choices { word: word.to_owned(), description: choices.description, named }
}

/// An object, possibly composed of a named schema and added properties.
fn object_of(components: &Components, item: RefOr<Schema>) -> Option<Object> {
    match item {
        RefOr::T(Schema::Object(object)) => Some(object),
        RefOr::T(Schema::AllOf(parts)) => {
            let mut whole = Object::new();
            for part in parts.items {
                let part = object_of(components, part)?;
                whole.properties.extend(part.properties);
                whole.required.extend(part.required);
            }
            whole.description = parts.description;
            Some(whole)
        }
        RefOr::Ref(reference) => {
            let name = reference.ref_location.rsplit('/').next()?;
            object_of(components, components.schemas.get(name)?.clone())
        }
        RefOr::T(_) => None,
    }
}

/// The only value that a schema allows for this tag.
fn value_of(shape: &Object, word: &str) -> Option<String> {
    match shape.properties.get(word)? {
        RefOr::T(Schema::Object(property)) => match property.enum_values.as_deref()? {
            [Value::String(value)] => Some(value.clone()),
            _ => None,
        },
        _ => None,
    }
}

/// Makes an event one of the kinds that this version knows. A record may also contain an unknown kind, which keeps its
/// fields.
fn join_events(components: &mut Components, mut events: Choices) {
    events.description =
        Some("What a record says, distinguished by its `kind`. Later versions may add kinds.".to_owned());
    events.stand_for(components, "Event");
    let unknown = "An event of a kind, or with fields, that this version does not know. Both are kept.";
    let kind = ObjectBuilder::new().schema_type(Type::String);
    let unknown = ObjectBuilder::new().description(Some(unknown)).property("kind", kind).build();
    components.schemas.insert("UnknownEvent".to_owned(), RefOr::T(Schema::Object(unknown)));
    if let Some(RefOr::T(Schema::Object(record))) = components.schemas.get_mut("Record") {
        let event = AnyOfBuilder::new()
            .item(Ref::from_schema_name("Event"))
            // Last, so that a reader that takes the first match gets the most specific one.
            .item(Ref::from_schema_name("UnknownEvent"));
        record.properties.insert("event".to_owned(), RefOr::T(Schema::AnyOf(event.build())));
    }
}

/// A segment in a record may be of a type that this version does not know; a segment that is sent may not
/// (`SentSegment`).
fn open_segments(components: &mut Components, mut segments: Choices) {
    // The generator includes it under a type that nobody sends.
    segments.named.retain(|(word, _)| word != "unknown");
    let kind = ObjectBuilder::new().schema_type(Type::String);
    let unknown = ObjectBuilder::new()
        .description(Some("A segment of a type that this version does not know."))
        .property("type", kind)
        .required("type");
    components.schemas.insert("UnknownSegment".to_owned(), RefOr::T(Schema::Object(unknown.build())));
    let choice = AnyOfBuilder::new().description(segments.description.clone());
    let choice = segments.references().fold(choice, AnyOfBuilder::item).item(Ref::from_schema_name("UnknownSegment"));
    components.schemas.insert("Segment".to_owned(), RefOr::T(Schema::AnyOf(choice.build())));
}

/// Names variants that differ by their fields.
fn name_in_order<const N: usize>(components: &mut Components, family: &str, names: [&str; N]) {
    let Some(RefOr::T(Schema::OneOf(choices))) = components.schemas.get_mut(family) else { return };
    assert_eq!(choices.items.len(), N, "each choice of {family} has a name");
    let references = names.iter().map(|name| RefOr::Ref(Ref::from_schema_name(*name))).collect();
    let shapes = std::mem::replace(&mut choices.items, references);
    components.schemas.extend(names.iter().map(|name| (*name).to_owned()).zip(shapes));
}

/// Gives the items of each list a named schema.
fn name_items(components: &mut Components) {
    let names: Vec<String> = components.schemas.keys().cloned().collect();
    for list in &names {
        let Some(item) = LISTS.iter().find_map(|prefix| list.strip_prefix(prefix)) else { continue };
        if names.iter().any(|name| name == item)
            && let Some(RefOr::T(Schema::Object(object))) = components.schemas.get_mut(list)
            && let Some(RefOr::T(Schema::Array(items))) = object.properties.get_mut("items")
        {
            items.items = ArrayItems::RefOrSchema(Box::new(RefOr::Ref(Ref::from_schema_name(item))));
        }
    }
}

/// Forbids unknown fields in unions: the generator does that for plain objects only.
fn close_choices(components: &mut Components) {
    for name in ["ClientFrame", "SentSegment"] {
        let Some(RefOr::T(Schema::OneOf(choices))) = components.schemas.get_mut(name) else { continue };
        for choice in &mut choices.items {
            if let RefOr::T(Schema::Object(object)) = choice {
                object.additional_properties = Some(Box::new(AdditionalProperties::FreeForm(false)));
            }
        }
    }
}

/// `child_event` already ends in "event".
fn event_name(kind: &str) -> String {
    format!("{}Event", pascal(kind.strip_suffix("_event").unwrap_or(kind)))
}

/// `text_chunk` as `TextChunk`.
fn pascal(word: &str) -> String {
    word.split('_')
        .flat_map(|part| {
            let mut letters = part.chars();
            letters.next().map(|first| first.to_ascii_uppercase()).into_iter().chain(letters).collect::<Vec<_>>()
        })
        .collect()
}
