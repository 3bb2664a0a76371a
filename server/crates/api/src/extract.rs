//! Extractors: parse requests on arrival. Everything malformed is `invalid_input`, in one form.

use std::convert::Infallible;

use axum::{
    body::Bytes,
    extract::{FromRequest, FromRequestParts, Path, Query, Request},
    http::{HeaderName, request::Parts},
};
use backend::{Origin, Session};
use protocol::{ApiError, CommandId, ErrorCode, PodRef, RuntimeId, WorkerId};
use serde::{Deserialize, Serialize, de::DeserializeOwned};

use crate::{answer::Problem, read::read};

/// How much of a request is quoted in an error.
const QUOTED_CHARS_MAX: usize = 64;

const IDEMPOTENCY_KEY: HeaderName = HeaderName::from_static("idempotency-key");

/// The caller, as determined by the guard; without a guard nobody is let in.
#[derive(Debug)]
pub(crate) struct Caller(pub(crate) Origin);

impl<S: Sync> FromRequestParts<S> for Caller {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
        let origin = parts.extensions.get::<Origin>().cloned();
        origin.map(Self).ok_or_else(|| Problem(ApiError::new(ErrorCode::Unauthorized, "nobody is logged in")))
    }
}

/// The browser login of the request; `None` if it came with the token.
#[derive(Debug)]
pub(crate) struct Login(pub(crate) Option<Session>);

impl<S: Sync> FromRequestParts<S> for Login {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Infallible> {
        Ok(Self(parts.extensions.get::<Session>().cloned()))
    }
}

/// The command's id: `Idempotency-Key`, or a new one.
#[derive(Debug)]
pub(crate) struct Key(pub(crate) CommandId);

impl<S: Sync> FromRequestParts<S> for Key {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
        let mut keys = parts.headers.get_all(IDEMPOTENCY_KEY).iter();
        let key = match (keys.next(), keys.next()) {
            (None, _) => CommandId::random(),
            (Some(key), None) => {
                let text = key.to_str().map_err(|_| invalid("an idempotency key is 1 to 128 visible ASCII characters"));
                CommandId::parse(text?).map_err(invalid)?
            }
            _ => return Err(invalid("a request has one `Idempotency-Key` at most")),
        };
        Ok(Self(key))
    }
}

/// `/runtimes/{runtime_id}/workers/{worker_id}` in the path.
#[derive(Debug)]
pub(crate) struct PodPath(pub(crate) PodRef);

#[derive(Deserialize)]
struct PodNamed {
    runtime_id: String,
    worker_id: String,
}

impl<S: Send + Sync> FromRequestParts<S> for PodPath {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        let Within(named) = Within::<PodNamed>::from_request_parts(parts, state).await?;
        let runtime_id = RuntimeId::parse(&named.runtime_id).map_err(invalid)?;
        let worker_id = WorkerId::parse(&named.worker_id).map_err(invalid)?;
        Ok(Self(PodRef::new(runtime_id, worker_id)))
    }
}

/// Parts of the path by name; `T` may leave out those that others read.
#[derive(Debug)]
pub(crate) struct Within<T>(pub(crate) T);

impl<T: DeserializeOwned + Send, S: Send + Sync> FromRequestParts<S> for Within<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        let path = Path::<T>::from_request_parts(parts, state).await;
        path.map(|Path(named)| Self(named)).map_err(|error| invalid(error.body_text()))
    }
}

/// The query; every field of `T` is a text, so that errors can be explained well.
#[derive(Debug)]
pub(crate) struct Asked<T>(pub(crate) T);

impl<T: DeserializeOwned, S: Sync> FromRequestParts<S> for Asked<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
        let query = Query::<T>::try_from_uri(&parts.uri).map_err(|error| invalid(error.body_text()))?;
        Ok(Self(query.0))
    }
}

/// A JSON object in the body. The guard has checked its media type and size.
#[derive(Debug)]
pub(crate) struct Fields<T>(pub(crate) T);

impl<T: DeserializeOwned + Serialize, S: Send + Sync> FromRequest<S> for Fields<T> {
    type Rejection = Problem;

    async fn from_request(request: Request, state: &S) -> Result<Self, Problem> {
        let body = body(request, state).await?;
        match body.is_empty() {
            true => Err(invalid("the request needs a JSON object as its body")),
            false => object(&body).map(Self).map_err(invalid),
        }
    }
}

async fn body<S: Send + Sync>(request: Request, state: &S) -> Result<Bytes, Problem> {
    Bytes::from_request(request, state).await.map_err(|error| invalid(error.body_text()))
}

/// Parses a JSON object; the error says what is wrong with it.
pub(crate) fn object<T: DeserializeOwned + Serialize>(body: &[u8]) -> Result<T, String> {
    let text = std::str::from_utf8(body).map_err(|error| format!("the body is not UTF-8: {error}"))?;
    read("the body", text)
}

/// A number of items to return: at least 1; more than `max` is reduced to `max`, and anything that is no such number is
/// refused.
pub(crate) fn limit(text: Option<&str>, default: u32, max: u32) -> Result<u32, Problem> {
    counted("limit", text, default, max)
}

/// Like [`limit`], for a field with another name.
pub(crate) fn counted(name: &str, text: Option<&str>, default: u32, max: u32) -> Result<u32, Problem> {
    let Some(text) = text else { return Ok(default) };
    match text.parse::<u32>() {
        Ok(number) if number > 0 => Ok(number.min(max)),
        _ => {
            let text: String = text.chars().take(QUOTED_CHARS_MAX).collect();
            Err(invalid(format!("`{name}` is a number from 1 to {max}, not \"{text}\"")))
        }
    }
}

/// A boolean; absent means false.
pub(crate) fn flag(name: &str, text: Option<&str>) -> Result<bool, Problem> {
    match text {
        None | Some("false") => Ok(false),
        Some("true") => Ok(true),
        Some(other) => Err(invalid(format!("`{name}` is true or false, not \"{other}\""))),
    }
}

/// `invalid_input` with this sentence.
pub(crate) fn invalid(sentence: impl ToString) -> Problem {
    Problem(ApiError::invalid(sentence.to_string()))
}

#[cfg(test)]
mod tests {
    use protocol::CreatePod;

    use super::*;

    fn refusal(body: &[u8]) -> String {
        object::<CreatePod>(body).unwrap_err()
    }

    #[test]
    fn a_body_that_does_not_fit_is_told_why_and_where() {
        assert!(object::<CreatePod>(br#" {"name":"ada"} "#).is_ok());
        assert!(refusal(br#"{"name":"ada","nmae":1}"#).contains("unknown field `nmae`"));
        assert!(refusal(b"{\"name\":\n tru}").contains("line 2 column"));
        assert!(refusal(b"{}").contains("missing field `name`"));
        assert!(refusal(b"[\"ada\"]").contains("not an array"));
        assert!(refusal(b"{\"name\":\"\xff\"}").contains("not UTF-8"));
        assert!(refusal(br#"{"name":"a b"}"#).contains("a name is 1 to 64 characters"));
        assert!(refusal(br#"{"name":"ada"} x"#).contains("trailing characters"));
    }

    #[test]
    fn a_flag_is_true_or_false_and_nothing_else() {
        let of = |text| flag("all", text).map_err(|problem| problem.0.code.as_str());
        assert_eq!((of(None), of(Some("false")), of(Some("true"))), (Ok(false), Ok(false), Ok(true)));
        for bad in ["", "1", "yes", "True", "true "] {
            assert_eq!(of(Some(bad)), Err("invalid_input"), "{bad:?}");
        }
    }

    #[test]
    fn a_limit_is_at_least_one_and_capped_and_a_number_of_items() {
        let of = |text| limit(Some(text), 200, 1000).map_err(|problem| problem.0.code.as_str());
        assert_eq!(limit(None, 200, 1000).ok(), Some(200));
        assert_eq!(of("1"), Ok(1));
        assert_eq!(of("1000"), Ok(1000));
        assert_eq!(of("4294967295"), Ok(1000));
        for bad in ["0", "-1", "x", "", "1.5", "4294967296", "99999999999", "99999999999999999999999"] {
            assert_eq!(of(bad), Err("invalid_input"), "{bad}");
        }
    }
}
