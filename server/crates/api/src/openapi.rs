//! The API described for programs (OpenAPI 3.1) and for people (one plain page made from the same document).

mod shapes;

use std::fmt::Write as _;

use axum::{
    http::{HeaderValue, header},
    response::{Html, IntoResponse, Response},
};
use protocol::{
    Candidate, ClientFrame, ErrorCode, ServerFrame, Since, TerminalAsk, TerminalTold,
    operation::Description,
    operations::{EachCommand, EachOwn, EachQuery, ToCommand, ToQuery, each_command, each_own, each_query},
};
use serde_json::Value;
use utoipa::{
    Modify, OpenApi,
    openapi::{
        ContentBuilder, Ref, RefOr, ResponseBuilder,
        path::Operation,
        security::{ApiKey, ApiKeyValue, Http, HttpAuthScheme, SecurityScheme},
    },
};

use crate::{
    answer, events,
    extract::{Caller, invalid},
    rest, service,
};

/// Commands whose requests come in several forms and are described beside their handlers.
pub(crate) const BY_HAND: [&str; 1] = ["import"];

/// Any error: `application/problem+json`.
#[derive(Debug, utoipa::ToSchema)]
#[expect(dead_code, reason = "described, not built: protocol::ApiError is what is sent")]
struct Problem {
    #[schema(rename = "type", example = "urn:yoi:error:busy")]
    kind: String,
    title: String,
    status: u16,
    code: ErrorCode,
    /// One sentence that says what is wrong and what to do.
    detail: String,
    /// Pods that may have been meant.
    candidates: Option<Vec<Candidate>>,
    retry_after_ms: Option<u64>,
    /// The files that it is about.
    paths: Option<Vec<String>>,
}

#[derive(OpenApi)]
#[openapi(
    info(title = "yoi", description = "A console for durable LLM agents. Commands are sent by POST; `/api/v1/events` observes."),
    paths(
        rest::runtimes::add,
        rest::runtimes::remove,
        rest::previews::enter,
        rest::journal::transcript,
        rest::journal::record,
        rest::export::export,
        rest::export::import,
        rest::blobs::keep,
        rest::blobs::read,
        events::events,
        crate::terminal::terminal,
        openapi,
        docs,
        service::metrics,
        service::healthz,
        service::readyz,
    ),
    components(schemas(Problem, ClientFrame, ServerFrame, Since, TerminalAsk, TerminalTold)),
    security(("token" = []), ("session" = [])),
)]
struct Document;

/// The document under construction, to which the list of operations is added.
struct Described(utoipa::openapi::OpenApi);

impl Described {
    fn add<O: protocol::operation::Operation>(&mut self, is_command: bool) {
        if BY_HAND.contains(&O::FACTS.id) {
            return;
        }
        let mut description = Description::of::<O>(is_command);
        let components = self.0.components.get_or_insert_default();
        components.schemas.extend(std::mem::take(&mut description.shapes));
        let operation = description.operation(&O::FACTS);
        self.0.paths.add_path_operation(O::FACTS.path, vec![O::FACTS.method.into()], operation);
    }
}

impl EachCommand for Described {
    fn see<C: ToCommand>(&mut self) {
        self.add::<C>(true);
    }
}

impl EachQuery for Described {
    fn see<Q: ToQuery>(&mut self) {
        self.add::<Q>(false);
    }
}

impl EachOwn for Described {
    fn see<O: protocol::operation::Operation>(&mut self) {
        self.add::<O>(false);
    }
}

/// What all operations share: how to log in, and the shape of an error.
struct Common;

impl Modify for Common {
    fn modify(&self, document: &mut utoipa::openapi::OpenApi) {
        let components = document.components.get_or_insert_default();
        components.add_security_scheme("token", SecurityScheme::Http(Http::new(HttpAuthScheme::Bearer)));
        let cookie =
            ApiKey::Cookie(ApiKeyValue::with_description("yoi_PORT", "Set by `/login`, on the console's own host."));
        components.add_security_scheme("session", SecurityScheme::ApiKey(cookie));
        shapes::name_shapes(components);
        for item in document.paths.paths.values_mut() {
            let operations = [&mut item.get, &mut item.post, &mut item.put, &mut item.patch, &mut item.delete];
            for operation in operations.into_iter().flatten() {
                add_problem(operation);
                name_parameters(operation);
            }
        }
    }
}

/// Gives ids in paths and headers the same schemas as in bodies.
fn name_parameters(operation: &mut Operation) {
    for parameter in operation.parameters.iter_mut().flatten() {
        let RefOr::T(parameter) = parameter else { continue };
        let shape = match parameter.name.as_str() {
            "runtime_id" | "peer_runtime_id" => "RuntimeId",
            "worker_id" | "peer_worker_id" => "WorkerId",
            "Idempotency-Key" | "command_id" => "CommandId",
            _ => continue,
        };
        parameter.schema = Some(Ref::from_schema_name(shape).into());
    }
}

fn add_problem(operation: &mut Operation) {
    let content = ContentBuilder::new().schema(Some(Ref::from_schema_name("Problem"))).build();
    let response = ResponseBuilder::new()
        .description("An error; `code` says which one")
        .content("application/problem+json", content)
        .build();
    operation.responses.responses.insert("default".to_owned(), RefOr::T(response));
}

/// The document as generated from types and handlers: what `docs/openapi.json` has to contain.
///
/// The program itself never calls this, so that the schemas of some two hundred types, about a megabyte of machine
/// code, are not linked into it.
pub fn described_openapi() -> String {
    let mut document = Described(Document::openapi());
    each_command(&mut document);
    each_query(&mut document);
    each_own(&mut document);
    let Described(mut document) = document;
    Common.modify(&mut document);
    let mut json = document.to_pretty_json().expect("the document is made of encodable parts");
    json.push('\n');
    json
}

/// The OpenAPI document as committed; a test compares it with [`described_openapi`].
pub fn openapi_json() -> &'static str {
    include_str!("../../../../docs/openapi.json")
}

const STYLE: &str = "body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem;\
    color:#1c1c1c;background:#fff}code,pre{font-family:ui-monospace,monospace}h3{margin:2rem 0 .25rem}\
    table{border-collapse:collapse}td{padding:.15rem 1rem .15rem 0;vertical-align:top}\
    pre{overflow:auto;padding:1rem;background:#f4f4f4}\
    @media(prefers-color-scheme:dark){body{color:#e6e6e6;background:#161616}pre{background:#222}a{color:#8ab4f8}}";

/// The page for people: no script, and nothing loaded from elsewhere. `nonce` is what its policy allows its style by.
pub(crate) fn docs_page(nonce: &str) -> String {
    let document: Value = serde_json::from_str(openapi_json()).expect("our own document is JSON");
    let mut page = format!(
        "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\"><title>yoi API</title>\
         <meta name=\"viewport\" content=\"width=device-width\"><style nonce=\"{nonce}\">{STYLE}</style></head>\
         <body><main><h1>The yoi API</h1><p>{}</p><p><a href=\"/api/v1/openapi.json\">OpenAPI document</a></p>",
        escaped(document["info"]["description"].as_str().unwrap_or_default())
    );
    for (path, item) in members(&document["paths"]) {
        for (method, operation) in members(item) {
            write_operation(&mut page, method, path, operation);
        }
    }
    page.push_str("<h2>Shapes</h2>");
    for (name, schema) in members(&document["components"]["schemas"]) {
        let json = serde_json::to_string_pretty(schema).unwrap_or_default();
        let (name, json) = (escaped(name), escaped(&json));
        let _ =
            write!(page, "<details id=\"{name}\"><summary><code>{name}</code></summary><pre>{json}</pre></details>");
    }
    page.push_str("</main></body></html>");
    page
}

fn write_operation(page: &mut String, method: &str, path: &str, operation: &Value) {
    let text = |value: &Value| escaped(value.as_str().unwrap_or_default());
    let (method, path) = (method.to_uppercase(), escaped(path));
    let summary = text(&operation["summary"]);
    // Writing to a string cannot fail.
    let _ = write!(page, "<h3><code>{method} {path}</code></h3><p>{summary}</p><table>");
    for parameter in operation["parameters"].as_array().into_iter().flatten() {
        let (name, place) = (text(&parameter["name"]), text(&parameter["in"]));
        let _ = write!(page, "<tr><td><code>{name}</code><td>{place}<td>{}", text(&parameter["description"]));
    }
    if let Some(shape) = shape_of(&operation["requestBody"]["content"]["application/json"]["schema"]) {
        let _ = write!(page, "<tr><td>body<td><a href=\"#{shape}\"><code>{shape}</code></a><td>");
    }
    for (status, response) in members(&operation["responses"]) {
        let _ = write!(page, "<tr><td><code>{}</code><td><td>{}", escaped(status), text(&response["description"]));
    }
    page.push_str("</table>");
}

/// The name of the schema that a schema refers to, optional or not.
fn shape_of(schema: &Value) -> Option<String> {
    let choices = schema["oneOf"].as_array().into_iter().flatten();
    let reference = std::iter::once(schema).chain(choices).find_map(|schema| schema["$ref"].as_str())?;
    reference.rsplit('/').next().map(escaped)
}

fn members(value: &Value) -> impl Iterator<Item = (&String, &Value)> {
    value.as_object().into_iter().flatten()
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

/// This API as an OpenAPI 3.1 document.
#[utoipa::path(get, path = "/api/v1/openapi.json", tag = "service",
    responses((status = 200, description = "The document", body = Object)))]
pub(crate) async fn openapi(_: Caller) -> Response {
    ([(header::CONTENT_TYPE, "application/json")], openapi_json()).into_response()
}

/// This API as a page for people. Loads nothing from other hosts.
#[utoipa::path(get, path = "/api/docs", tag = "service",
    responses((status = 200, description = "A page", body = String, content_type = "text/html")))]
pub(crate) async fn docs(_: Caller) -> Result<Response, answer::Problem> {
    let mut random = [0_u8; 16];
    getrandom::fill(&mut random).map_err(|error| invalid(format!("the system gave no random numbers: {error}")))?;
    let nonce: String = random.iter().map(|byte| format!("{byte:02x}")).collect();
    let policy = format!(
        "default-src 'none'; style-src 'nonce-{nonce}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    );
    let policy = HeaderValue::try_from(policy).expect("a policy of hex digits and words is a header value");
    Ok(([(header::CONTENT_SECURITY_POLICY, policy)], Html(docs_page(&nonce))).into_response())
}

#[cfg(test)]
mod tests {
    use std::{collections::BTreeSet, fs, path::Path};

    use super::*;
    use crate::routes;

    #[test]
    fn every_route_is_in_the_document_and_nothing_else_is() {
        let document: Value = serde_json::from_str(&described_openapi()).unwrap();
        let described: BTreeSet<(String, String)> = members(&document["paths"])
            .flat_map(|(path, item)| members(item).map(|(method, _)| (method.clone(), path.clone())))
            .collect();
        let routed =
            routes::table().listed.iter().map(|(method, path)| ((*method).to_owned(), (*path).to_owned())).collect();
        assert_eq!(described, routed);
    }

    #[test]
    fn a_record_fits_the_document_though_any_kind_does() {
        let document: Value = serde_json::from_str(openapi_json()).unwrap();
        let shapes = &document["components"]["schemas"];
        let event = &shapes["Record"]["properties"]["event"];
        assert!(event["oneOf"].is_null(), "each record of a known kind would fit two of them");
        let choices: Vec<_> = event["anyOf"].as_array().unwrap().iter().filter_map(|it| it["$ref"].as_str()).collect();
        assert_eq!(choices, ["#/components/schemas/Event", "#/components/schemas/UnknownEvent"]);
        assert_eq!(shapes["UnknownEvent"]["required"], Value::Null);
        let mapping = &shapes["Event"]["discriminator"]["mapping"];
        for (kind, name) in [("text_chunk", "TextChunkEvent"), ("usage", "UsageEvent"), ("child_event", "ChildEvent")] {
            assert_eq!(mapping[kind], format!("#/components/schemas/{name}"));
            assert_eq!(shapes[name]["properties"]["kind"]["enum"], serde_json::json!([kind]));
        }
        assert!(shapes["UsageEvent"]["properties"]["context_limit"].is_object(), "the fields of a flattened one too");
        assert_eq!(shapes["Listing_Record"]["properties"]["items"]["items"]["$ref"], "#/components/schemas/Record");
    }

    #[test]
    fn each_operation_has_an_id_of_its_own() {
        let document: Value = serde_json::from_str(openapi_json()).unwrap();
        let mut ids = BTreeSet::new();
        for (path, item) in members(&document["paths"]) {
            for (method, operation) in members(item) {
                let id = operation["operationId"].as_str().unwrap_or_else(|| panic!("{method} {path} has no id"));
                assert!(ids.insert(id), "two operations are called {id}; one is {method} {path}");
            }
        }
    }

    #[test]
    fn each_shape_is_used_and_each_choice_of_one_has_a_name() {
        fn references(value: &Value, found: &mut Vec<String>) {
            match value {
                Value::Object(map) => {
                    let name = map.get("$ref").and_then(Value::as_str).and_then(|path| path.rsplit('/').next());
                    found.extend(name.map(str::to_owned));
                    map.values().for_each(|value| references(value, found));
                }
                Value::Array(items) => items.iter().for_each(|value| references(value, found)),
                _ => (),
            }
        }
        let document: Value = serde_json::from_str(openapi_json()).unwrap();
        let shapes = &document["components"]["schemas"];
        // The frames are sent over sockets, which a path cannot express.
        let frames = ["ClientFrame", "ServerFrame", "TerminalAsk", "TerminalTold"].map(str::to_owned);
        let (mut reached, mut ahead) = (BTreeSet::new(), frames.to_vec());
        references(&document["paths"], &mut ahead);
        while let Some(name) = ahead.pop() {
            references(&shapes[&name], &mut ahead);
            ahead.retain(|name| !reached.contains(name));
            reached.insert(name);
        }
        for (name, shape) in members(shapes) {
            assert!(reached.contains(name), "nothing leads to {name}");
            let choices = ["oneOf", "anyOf"].into_iter().flat_map(|word| shape[word].as_array().into_iter().flatten());
            for choice in choices {
                assert!(choice["$ref"].is_string(), "a choice of {name} has no name: {choice}");
            }
        }
    }

    #[test]
    fn ids_in_paths_and_headers_say_what_they_look_like() {
        let document: Value = serde_json::from_str(openapi_json()).unwrap();
        let stop = &document["paths"]["/api/v1/runtimes/{runtime_id}/workers/{worker_id}/stop"]["post"];
        let shapes: Vec<_> = stop["parameters"].as_array().unwrap().iter().map(|it| &it["schema"]["$ref"]).collect();
        assert_eq!(shapes.len(), 3);
        for shape in shapes {
            let name = shape.as_str().and_then(|path| path.rsplit('/').next()).unwrap();
            assert!(document["components"]["schemas"][name]["pattern"].is_string(), "{name}");
        }
    }

    #[test]
    fn every_reference_in_the_document_leads_somewhere() {
        fn references<'a>(value: &'a Value, found: &mut BTreeSet<&'a str>) {
            match value {
                Value::Object(map) => {
                    found.extend(map.get("$ref").and_then(Value::as_str));
                    map.values().for_each(|value| references(value, found));
                }
                Value::Array(items) => items.iter().for_each(|value| references(value, found)),
                _ => (),
            }
        }
        let document: Value = serde_json::from_str(&described_openapi()).unwrap();
        let mut found = BTreeSet::new();
        references(&document, &mut found);
        assert!(found.contains("#/components/schemas/PodSummary"));
        for reference in found {
            assert!(document.pointer(reference.trim_start_matches('#')).is_some(), "{reference} leads nowhere");
        }
        for frame in ["ClientFrame", "ServerFrame", "Record", "Problem"] {
            assert!(document["components"]["schemas"][frame].is_object(), "{frame}");
        }
    }

    #[test]
    fn the_committed_document_is_the_generated_one() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../docs/openapi.json");
        if std::env::var_os("YOI_UPDATE").is_some() {
            fs::write(&path, described_openapi()).unwrap();
        }
        let committed = fs::read_to_string(&path).unwrap_or_default();
        assert!(
            committed == described_openapi(),
            "docs/openapi.json is old; YOI_UPDATE=1 cargo test -p api writes it anew"
        );
    }

    #[test]
    fn the_page_lists_every_operation_and_needs_no_network() {
        let page = docs_page("n0nce");
        for (method, path) in &routes::table().listed {
            assert!(page.contains(&format!("<code>{} {path}</code>", method.to_uppercase())), "{method} {path}");
        }
        assert!(!page.contains("<script") && !page.contains("src=") && !page.contains("href=\"http"));
        assert!(page.contains("<style nonce=\"n0nce\">"));
    }
}
