//! Turns requests into operations, and their answers into responses.

use std::cell::RefCell;

use axum::{
    body::{Body, Bytes},
    extract::{FromRequest, FromRequestParts, Query as InQuery, RawPathParams, Request},
    http::{HeaderValue, Method, StatusCode, header},
    response::Response,
};
use protocol::{
    operation::{Answered, Operation, Received},
    operations::{Command, Query, ToCommand, ToQuery},
};
use serde::{Serialize, de::DeserializeOwned};

use crate::{
    Api,
    answer::Problem,
    extract::{Caller, Key, invalid, object},
};

/// A requested operation.
#[derive(Debug)]
pub(crate) struct Sent<O>(pub(crate) O);

impl<O: Operation> FromRequest<Api> for Sent<O> {
    type Rejection = Problem;

    async fn from_request(request: Request, api: &Api) -> Result<Self, Problem> {
        Said::in_request(request, api).await?.read(O::receive).map(Self)
    }
}

/// The parts of a request.
#[derive(Debug)]
pub(crate) struct Said {
    path: RawPathParams,
    query: Vec<(String, String)>,
    body: Bytes,
    /// A requested parameter that occurs more than once in the query.
    twice: RefCell<Option<String>>,
}

impl Said {
    async fn in_request(request: Request, api: &Api) -> Result<Self, Problem> {
        let (mut parts, body) = request.into_parts();
        let path = RawPathParams::from_request_parts(&mut parts, api).await;
        let path = path.map_err(|error| invalid(error.body_text()))?;
        let query = InQuery::<Vec<(String, String)>>::try_from_uri(&parts.uri);
        let InQuery(query) = query.map_err(|error| invalid(error.body_text()))?;
        let body = match parts.method {
            Method::GET => Bytes::new(),
            _ => {
                let bytes = Bytes::from_request(Request::from_parts(parts, body), api).await;
                bytes.map_err(|error| invalid(error.body_text()))?
            }
        };
        Ok(Self { path, query, body, twice: RefCell::default() })
    }

    /// The operation that it contains.
    fn read<T>(self, receive: impl FnOnce(&Self) -> Result<T, String>) -> Result<T, Problem> {
        let operation = receive(&self).map_err(invalid)?;
        match self.twice.take() {
            Some(name) => Err(invalid(format!("duplicate field `{name}` in the query"))),
            None => Ok(operation),
        }
    }
}

impl Received for Said {
    fn path(&self, name: &str) -> &str {
        self.path.iter().find(|(known, _)| *known == name).map_or("", |(_, value)| value)
    }

    fn query(&self, name: &str) -> Option<&str> {
        let mut values = self.query.iter().filter(|(known, _)| known == name).map(|(_, value)| value.as_str());
        let value = values.next();
        if values.next().is_some() {
            self.twice.replace(Some(name.to_owned()));
        }
        value
    }

    fn body<T: DeserializeOwned + Serialize>(&self) -> Result<T, String> {
        match self.body.is_empty() {
            true => Err("the request needs a JSON object as its body".to_owned()),
            false => object(&self.body),
        }
    }

    fn body_or_default<T: DeserializeOwned + Serialize + Default>(&self) -> Result<T, String> {
        match matches!(self.body.trim_ascii(), b"" | b"null") {
            true => Ok(T::default()),
            false => object(&self.body),
        }
    }
}

/// The response to an operation; for a list with pages, the requested one.
pub(crate) fn reply<O: Operation>(operation: &O, answer: O::Answer) -> Result<Response, Problem> {
    let answer = match operation.page() {
        Some(page) => answer.paged(page)?,
        None => answer,
    };
    Ok(response(answer.status(O::FACTS.status), answer.body()))
}

fn response(status: u16, body: Option<String>) -> Response {
    let is_json = body.is_some();
    let mut response = Response::new(body.map_or_else(Body::empty, Body::from));
    *response.status_mut() = StatusCode::from_u16(status).expect("the list has HTTP statuses");
    if is_json {
        response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    }
    response
}

/// How a request is parsed as a command or a query: all that a route knows about its operation. The rest is the same
/// for all, and is compiled once.
pub(crate) type Read<T> = fn(&Said) -> Result<T, String>;

pub(crate) fn command_of<C: ToCommand>(said: &Said) -> Result<Command, String> {
    C::receive(said).map(Into::into)
}

pub(crate) fn query_of<Q: ToQuery>(said: &Said) -> Result<Query, String> {
    Q::receive(said).map(Into::into)
}

/// Carries out a command.
pub(crate) async fn command(read: Read<Command>, api: Api, request: Request) -> Result<Response, Problem> {
    let (mut parts, body) = request.into_parts();
    let Caller(origin) = Caller::from_request_parts(&mut parts, &api).await?;
    let Key(key) = Key::from_request_parts(&mut parts, &api).await?;
    let command = Said::in_request(Request::from_parts(parts, body), &api).await?.read(read)?;
    let status = command.facts().status;
    let answer = api.backend().command(&origin, key, command).await?;
    Ok(response(answer.status(status), answer.body()))
}

/// Reads a query.
pub(crate) async fn query(read: Read<Query>, api: Api, request: Request) -> Result<Response, Problem> {
    let (mut parts, body) = request.into_parts();
    let Caller(_) = Caller::from_request_parts(&mut parts, &api).await?;
    let query = Said::in_request(Request::from_parts(parts, body), &api).await?.read(read)?;
    let status = query.facts().status;
    let answer = api.backend().query(query).await?;
    Ok(response(answer.status(status), answer.body()))
}
