//! An operation as a request said it, and its answer as a response.

use std::cell::RefCell;

use axum::{
    body::{Body, Bytes},
    extract::{FromRequest, FromRequestParts, Query, RawPathParams, Request, State},
    http::{HeaderValue, Method, StatusCode, header},
    response::Response,
};
use protocol::{
    operation::{Answered, Operation, Received},
    operations::{ToCommand, ToQuery},
};
use serde::{Serialize, de::DeserializeOwned};

use crate::{
    Api,
    answer::Problem,
    extract::{Caller, Key, invalid, object},
};

/// An operation that is asked for.
#[derive(Debug)]
pub(crate) struct Sent<O>(pub(crate) O);

impl<O: Operation, S: Send + Sync> FromRequest<S> for Sent<O> {
    type Rejection = Problem;

    async fn from_request(request: Request, state: &S) -> Result<Self, Problem> {
        let (mut parts, body) = request.into_parts();
        let path = RawPathParams::from_request_parts(&mut parts, state).await;
        let path = path.map_err(|error| invalid(error.body_text()))?;
        let query = Query::<Vec<(String, String)>>::try_from_uri(&parts.uri);
        let Query(query) = query.map_err(|error| invalid(error.body_text()))?;
        let body = match parts.method {
            Method::GET => Bytes::new(),
            _ => {
                let bytes = Bytes::from_request(Request::from_parts(parts, body), state).await;
                bytes.map_err(|error| invalid(error.body_text()))?
            }
        };
        let said = Said { path, query, body, twice: RefCell::default() };
        let operation = O::receive(&said).map_err(invalid)?;
        match said.twice.take() {
            Some(name) => Err(invalid(format!("duplicate field `{name}` in the query"))),
            None => Ok(Self(operation)),
        }
    }
}

/// What a request says.
struct Said {
    path: RawPathParams,
    query: Vec<(String, String)>,
    body: Bytes,
    /// A name that was asked for, and stands in the query more than once.
    twice: RefCell<Option<String>>,
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

/// The answer to an operation; of a list that has parts, the one that was asked for.
pub(crate) fn reply<O: Operation>(operation: &O, answer: O::Answer) -> Result<Response, Problem> {
    let answer = match operation.page() {
        Some(page) => answer.paged(page)?,
        None => answer,
    };
    Ok(response::<O>(&answer))
}

fn response<O: Operation>(answer: &O::Answer) -> Response {
    let body = answer.body();
    let is_json = body.is_some();
    let mut response = Response::new(body.map_or_else(Body::empty, Body::from));
    *response.status_mut() = StatusCode::from_u16(answer.status(O::FACTS.status)).expect("the list has HTTP statuses");
    if is_json {
        response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    }
    response
}

/// Carries a command out.
pub(crate) async fn command<C: ToCommand>(
    State(api): State<Api>,
    Caller(origin): Caller,
    Key(key): Key,
    Sent(command): Sent<C>,
) -> Result<Response, Problem> {
    Ok(response::<C>(&api.backend().carry_out(&origin, key, command).await?))
}

/// Reads a query.
pub(crate) async fn query<Q: ToQuery>(
    State(api): State<Api>,
    _: Caller,
    Sent(query): Sent<Q>,
) -> Result<Response, Problem> {
    Ok(response::<Q>(&api.backend().read(query).await?))
}
