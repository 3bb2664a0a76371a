//! Names for the shapes that the generator of the document leaves without one: the choices of what is told apart by a word, and
//! what lists hold. Generators of clients make types of names; of shapes without one they make types that nobody can name, or none.

use std::collections::BTreeMap;

use serde_json::Value;
use utoipa::openapi::{
    Ref, RefOr,
    schema::{
        AdditionalProperties, AnyOfBuilder, ArrayItems, Components, Discriminator, Object, ObjectBuilder, OneOfBuilder,
        Schema, Type,
    },
};

/// What lists are called, before the name of what they hold.
const LISTS: [&str; 2] = ["Listing_", "Gathered_"];

pub(super) fn name_shapes(components: &mut Components) {
    close_choices(components);
    let mut events = Choices::default();
    for family in ["TurnEvent", "ControlEvent"] {
        events.extend(name_choices(components, family, "kind", event_name));
        // Which of them a model sees is no matter of shapes; docs/protocol.md says it.
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

/// The named choices of one word.
#[derive(Debug, Default)]
struct Choices {
    word: String,
    description: Option<String>,
    /// The value of the word, and the shape's name, in the order of the document.
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

    /// The shape `family` is one of them, told apart by the word.
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

/// Gives each choice of `family` a place of its own among the shapes, named after its value of `word`.
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

/// An object, also one that is put together of a shape with a name and what is added to it.
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

/// The only value that a shape has under this word.
fn value_of(shape: &Object, word: &str) -> Option<String> {
    match shape.properties.get(word)? {
        RefOr::T(Schema::Object(property)) => match property.enum_values.as_deref()? {
            [Value::String(value)] => Some(value.clone()),
            _ => None,
        },
        _ => None,
    }
}

/// An event is one of the kinds that this version knows. A record may also have one of another kind, which keeps its fields.
fn join_events(components: &mut Components, mut events: Choices) {
    events.description = Some("What a record says, told apart by its `kind`. Later versions may add kinds.".to_owned());
    events.stand_for(components, "Event");
    let unknown = "An event of a kind, or with fields, that this version does not know. It keeps both.";
    let kind = ObjectBuilder::new().schema_type(Type::String);
    let unknown = ObjectBuilder::new().description(Some(unknown)).property("kind", kind).build();
    components.schemas.insert("UnknownEvent".to_owned(), RefOr::T(Schema::Object(unknown)));
    if let Some(RefOr::T(Schema::Object(record))) = components.schemas.get_mut("Record") {
        let event = AnyOfBuilder::new()
            .item(Ref::from_schema_name("Event"))
            // Last: who takes the first that fits gets the one that says most.
            .item(Ref::from_schema_name("UnknownEvent"));
        record.properties.insert("event".to_owned(), RefOr::T(Schema::AnyOf(event.build())));
    }
}

/// A segment in a record may be of a type that this version does not know; what is sent may not (`SentSegment`).
fn open_segments(components: &mut Components, mut segments: Choices) {
    // The generator knows it under a type that nobody sends.
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

/// Shapes that are told apart by their fields.
fn name_in_order<const N: usize>(components: &mut Components, family: &str, names: [&str; N]) {
    let Some(RefOr::T(Schema::OneOf(choices))) = components.schemas.get_mut(family) else { return };
    assert_eq!(choices.items.len(), N, "each choice of {family} has a name");
    let references = names.iter().map(|name| RefOr::Ref(Ref::from_schema_name(*name))).collect();
    let shapes = std::mem::replace(&mut choices.items, references);
    components.schemas.extend(names.iter().map(|name| (*name).to_owned()).zip(shapes));
}

/// A list says by name what it holds.
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

/// Shapes in which a field of another name is refused: the generator says so of plain objects only.
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

/// `child_event` is an event already.
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
