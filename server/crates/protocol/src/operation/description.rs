//! The description of an operation in the OpenAPI document.

use utoipa::{
    ToSchema,
    openapi::{
        ArrayBuilder, ContentBuilder, Ref, RefOr, Required, Response, ResponseBuilder, Schema,
        path::{HttpMethod, Operation as Described, OperationBuilder, Parameter, ParameterBuilder, ParameterIn},
        request_body::{RequestBody, RequestBodyBuilder},
        schema::{KnownFormat, ObjectBuilder, OneOfBuilder, SchemaFormat, SchemaType, Type},
    },
};

use super::{Facts, Method, Operation};
use crate::Listing;

/// The schema of a parameter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    Text,
    /// A required text.
    Needed,
    Flag,
    /// A number of items.
    Count,
    Port,
    Seq,
    /// The schema of this name, as in bodies.
    Named(&'static str),
}

/// The description of one operation.
#[derive(Default)]
pub struct Description {
    parameters: Vec<Parameter>,
    body: Option<RequestBody>,
    responses: Vec<(String, Response)>,
    /// The schemas that it refers to, by name.
    pub shapes: Vec<(String, RefOr<Schema>)>,
}

impl std::fmt::Debug for Description {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Description").finish_non_exhaustive()
    }
}

impl Description {
    /// Describes one operation; `is_command` adds the parameter for the command id.
    pub fn of<O: Operation>(is_command: bool) -> Self {
        let mut description = Self::default();
        O::describe(&mut description);
        if is_command {
            let about = "The command's id; generated when absent";
            description.add("Idempotency-Key", ParameterIn::Header, &[about], Shape::Named("CommandId"));
        }
        description
    }

    /// The operation as it is in the document.
    pub fn operation(self, facts: &Facts) -> Described {
        let (about, rest) = match facts.about.iter().position(|line| line.is_empty()) {
            Some(at) => (&facts.about[..at], &facts.about[at + 1..]),
            None => (facts.about, &[][..]),
        };
        let about = joined(about);
        let mut operation = OperationBuilder::new()
            .tag(facts.tag)
            .operation_id(Some(facts.id))
            .summary(Some(about))
            .description((!rest.is_empty()).then(|| joined(rest)))
            .request_body(self.body);
        for parameter in self.parameters {
            operation = operation.parameter(parameter);
        }
        for (status, response) in self.responses {
            operation = operation.response(status, response);
        }
        operation.build()
    }

    pub(crate) fn add_in_path(&mut self, name: &str, about: &[&str], shape: Shape) {
        self.add(name, ParameterIn::Path, about, shape);
    }

    pub(crate) fn add_in_query(&mut self, name: &str, about: &[&str], shape: Shape) {
        self.add(name, ParameterIn::Query, about, shape);
    }

    fn add(&mut self, name: &str, place: ParameterIn, about: &[&str], shape: Shape) {
        let is_needed = place == ParameterIn::Path || shape == Shape::Needed;
        let parameter = ParameterBuilder::new()
            .name(name)
            .parameter_in(place)
            .required(if is_needed { Required::True } else { Required::False })
            .description((!about.is_empty()).then(|| joined(about)))
            .schema(Some(shape.schema()));
        self.parameters.push(parameter.build());
    }

    pub(crate) fn set_body<T: ToSchema>(&mut self) {
        let content = ContentBuilder::new().schema(Some(self.refer::<T>())).build();
        let body = RequestBodyBuilder::new().content("application/json", content).required(Some(Required::True));
        self.body = Some(body.build());
    }

    pub(crate) fn set_optional_body<T: ToSchema>(&mut self) {
        let shape = self.refer::<T>();
        let nothing = ObjectBuilder::new().schema_type(SchemaType::Type(Type::Null));
        let choice = OneOfBuilder::new().item(shape).item(nothing).build();
        let content = ContentBuilder::new().schema(Some(Schema::OneOf(choice))).build();
        self.body = Some(RequestBodyBuilder::new().content("application/json", content).build());
    }

    pub(crate) fn answers<T: ToSchema>(&mut self, status: u16, done: &str) {
        let content = ContentBuilder::new().schema(Some(self.refer::<T>())).build();
        let response = ResponseBuilder::new().description(done).content("application/json", content);
        self.responses.push((status.to_string(), response.build()));
    }

    /// Like [`Self::answers`], for a list: the schema of its items becomes part of the document too.
    pub(crate) fn answers_list<L: ToSchema, T: ToSchema>(&mut self, status: u16, done: &str) {
        self.refer::<T>();
        self.answers::<L>(status, done);
    }

    /// Like [`Self::answers`], for a list of texts, which have no schema of their own to refer to.
    pub(crate) fn answers_texts(&mut self, status: u16, done: &str) {
        self.answers::<Listing<String>>(status, done);
        if let Some((_, RefOr::T(Schema::Object(list)))) = self.shapes.last_mut() {
            let text = ObjectBuilder::new().schema_type(Type::String);
            list.properties.insert("items".to_owned(), ArrayBuilder::new().items(text).build().into());
        }
    }

    pub(crate) fn answers_nothing(&mut self, status: u16, done: &str) {
        self.responses.push((status.to_string(), ResponseBuilder::new().description(done).build()));
    }

    /// A reference to a schema, which becomes part of the document.
    fn refer<T: ToSchema>(&mut self) -> Ref {
        let name = name_of::<T>();
        T::schemas(&mut self.shapes);
        self.shapes.push((name.clone(), T::schema()));
        Ref::from_schema_name(name)
    }
}

impl Shape {
    fn schema(self) -> RefOr<Schema> {
        let number =
            |format| ObjectBuilder::new().schema_type(Type::Integer).format(Some(SchemaFormat::KnownFormat(format)));
        match self {
            Self::Named(name) => Ref::from_schema_name(name).into(),
            Self::Text => ObjectBuilder::new().schema_type(Type::String).into(),
            Self::Needed => ObjectBuilder::new().schema_type(Type::String).min_length(Some(1)).into(),
            Self::Flag => ObjectBuilder::new().schema_type(Type::Boolean).into(),
            Self::Count => number(KnownFormat::Int64).minimum(Some(1)).maximum(Some(u32::MAX)).into(),
            Self::Port => number(KnownFormat::Int32).minimum(Some(1)).maximum(Some(65_535)).into(),
            Self::Seq => number(KnownFormat::Int64).into(),
        }
    }
}

impl From<Method> for HttpMethod {
    fn from(method: Method) -> Self {
        match method {
            Method::Get => Self::Get,
            Method::Post => Self::Post,
            Method::Put => Self::Put,
            Method::Patch => Self::Patch,
            Method::Delete => Self::Delete,
        }
    }
}

/// `Listing_PodSummary` for a listing of summaries.
fn name_of<T>() -> String {
    let words = std::any::type_name::<T>().trim_end_matches('>').split('<');
    words.map(|word| word.rsplit("::").next().unwrap_or(word)).collect::<Vec<_>>().join("_")
}

/// Joins the lines of a doc comment.
fn joined(lines: &[&str]) -> String {
    lines.iter().map(|line| line.trim()).collect::<Vec<_>>().join("\n")
}
