//! The places where a field of an operation can be in a request, one module each: how to encode and decode it there.

use serde::Serialize;

use super::{Page, Received, Request};
use crate::{CommandId, PodName, PodRef, PodState, RuntimeId, Seq, WorkerId};

/// How much of a request a refusal quotes, in characters.
const QUOTED_CHARS_MAX: usize = 64;

/// A value that can be in a path.
pub trait InPath: Sized {
    fn put(&self, name: &str, request: &mut Request) -> Result<(), String>;
    fn take(name: &str, received: &impl Received) -> Result<Self, String>;
    /// The parameters that it occupies, each with its schema in the OpenAPI document.
    #[cfg(feature = "openapi")]
    fn parameters(name: &str) -> Vec<(String, super::description::Shape)>;
}

/// A value that can be in a query.
pub trait InQuery: Sized {
    /// `None` leaves the parameter out.
    fn put(&self) -> Option<String>;
    fn take(name: &str, text: Option<&str>) -> Result<Self, String>;
    #[cfg(feature = "openapi")]
    fn shape() -> super::description::Shape;
}

/// A filter of a list: if it is present it must not be empty.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct Filled<T = String>(pub Option<T>);

impl<T> Default for Filled<T> {
    fn default() -> Self {
        Self(None)
    }
}

/// A text for which empty means the same as absent, so that a loop over pages can use the same URL for the first one.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
#[serde(transparent)]
pub struct Loose(pub Option<String>);

/// A number of items: at least 1, and reduced to `MAX` if it is larger.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct Limit<const USUAL: u32, const MAX: u32>(pub u32);

impl<const USUAL: u32, const MAX: u32> Default for Limit<USUAL, MAX> {
    fn default() -> Self {
        Self(USUAL)
    }
}

/// The JSON of several fields, combined.
pub(crate) fn together<const FIELDS: usize>(said: [Option<String>; FIELDS]) -> String {
    let said: Vec<String> = said.into_iter().flatten().collect();
    match said.as_slice() {
        [] => "null".to_owned(),
        [one] => one.clone(),
        several => format!("[{}]", several.join(",")),
    }
}

fn json(value: &impl Serialize) -> String {
    serde_json::to_string(value).expect("protocol types always encode")
}

/// Defines the accessors that do not apply to a field of this kind.
macro_rules! not_a {
    (pod) => {
        pub(crate) fn pod<T>(_: &T) -> Option<&crate::PodRef> {
            None
        }
        pub(crate) fn pod_mut<T>(_: &mut T) -> Option<&mut crate::PodRef> {
            None
        }
    };
    (page) => {
        pub(crate) fn page<T>(_: &T) -> Option<&super::Page> {
            None
        }
    };
}

/// The Pod at the beginning of the path.
pub(crate) mod pod {
    use super::*;

    #[cfg(feature = "openapi")]
    pub(crate) use super::path::describe;
    pub(crate) use super::path::{put, take};
    not_a!(page);

    #[expect(clippy::unnecessary_wraps, reason = "other fields are none")]
    pub(crate) fn pod(pod: &PodRef) -> Option<&PodRef> {
        Some(pod)
    }

    #[expect(clippy::unnecessary_wraps, reason = "other fields are none")]
    pub(crate) fn pod_mut(pod: &mut PodRef) -> Option<&mut PodRef> {
        Some(pod)
    }

    /// Not included, because the Pod is identified separately.
    pub(crate) fn said(_: &PodRef) -> Option<String> {
        None
    }
}

/// A path parameter.
pub(crate) mod path {
    use super::*;

    not_a!(pod);
    not_a!(page);

    pub(crate) fn put(value: &impl InPath, name: &str, request: &mut Request) -> Result<(), String> {
        value.put(name, request)
    }

    pub(crate) fn take<T: InPath>(name: &str, received: &impl Received) -> Result<T, String> {
        T::take(name, received)
    }

    #[expect(clippy::unnecessary_wraps, reason = "other fields are none")]
    pub(crate) fn said(value: &impl Serialize) -> Option<String> {
        Some(json(value))
    }

    #[cfg(feature = "openapi")]
    pub(crate) fn describe<T: InPath>(name: &str, about: &[&str], description: &mut super::super::Description) {
        for (name, shape) in T::parameters(name) {
            description.add_in_path(&name, about, shape);
        }
    }
}

/// A query parameter.
pub(crate) mod query {
    use super::*;

    not_a!(pod);
    not_a!(page);

    #[expect(clippy::unnecessary_wraps, reason = "fields of the path can fail")]
    pub(crate) fn put(value: &impl InQuery, name: &'static str, request: &mut Request) -> Result<(), String> {
        request.query.extend(value.put().map(|text| (name, text)));
        Ok(())
    }

    pub(crate) fn take<T: InQuery>(name: &str, received: &impl Received) -> Result<T, String> {
        T::take(name, received.query(name))
    }

    #[expect(clippy::unnecessary_wraps, reason = "other fields are none")]
    pub(crate) fn said(value: &impl Serialize) -> Option<String> {
        Some(json(value))
    }

    #[cfg(feature = "openapi")]
    pub(crate) fn describe<T: InQuery>(name: &str, about: &[&str], description: &mut super::super::Description) {
        description.add_in_query(name, about, T::shape());
    }
}

/// A required query parameter; the handler's error says what it is for.
pub(crate) mod needed {
    pub(crate) use super::query::{page, pod, pod_mut, put, said, take};

    #[cfg(feature = "openapi")]
    #[expect(clippy::extra_unused_type_parameters, reason = "every place takes the type of its field")]
    pub(crate) fn describe<T>(name: &str, about: &[&str], description: &mut super::super::Description) {
        description.add_in_query(name, about, super::super::description::Shape::Needed);
    }
}

/// A JSON object as the body.
pub(crate) mod body {
    use serde::de::DeserializeOwned;

    use super::*;

    not_a!(pod);
    not_a!(page);

    #[expect(clippy::unnecessary_wraps, reason = "fields of the path can fail")]
    pub(crate) fn put(value: &impl Serialize, _: &str, request: &mut Request) -> Result<(), String> {
        request.body = Some(json(value));
        Ok(())
    }

    pub(crate) fn take<T: DeserializeOwned + Serialize>(_: &str, received: &impl Received) -> Result<T, String> {
        received.body()
    }

    #[expect(clippy::unnecessary_wraps, reason = "other fields are none")]
    pub(crate) fn said(value: &impl Serialize) -> Option<String> {
        Some(json(value))
    }

    #[cfg(feature = "openapi")]
    pub(crate) fn describe<T: utoipa::ToSchema>(_: &str, _: &[&str], description: &mut super::super::Description) {
        description.set_body::<T>();
    }
}

/// A JSON object as the body, or no body.
pub(crate) mod maybe {
    use serde::de::DeserializeOwned;

    use super::*;

    pub(crate) use super::body::{page, pod, pod_mut, put, said};

    pub(crate) fn take<T: DeserializeOwned + Serialize + Default>(
        _: &str,
        received: &impl Received,
    ) -> Result<T, String> {
        received.body_or_default()
    }

    #[cfg(feature = "openapi")]
    pub(crate) fn describe<T: utoipa::ToSchema>(_: &str, _: &[&str], description: &mut super::super::Description) {
        description.set_optional_body::<T>();
    }
}

/// An empty body.
pub(crate) mod bare {
    use crate::operation::NoFields;

    #[cfg(feature = "openapi")]
    pub(crate) use super::maybe::describe;
    pub(crate) use super::maybe::{page, pod, pod_mut, put, take};

    pub(crate) fn said(_: &NoFields) -> Option<String> {
        None
    }
}

/// The page of a short list.
pub(crate) mod part {
    use super::*;

    not_a!(pod);

    const PAGE_MAX: u32 = 1_000;

    #[expect(clippy::unnecessary_wraps, reason = "other fields are none")]
    pub(crate) fn page(page: &Page) -> Option<&Page> {
        Some(page)
    }

    #[expect(clippy::unnecessary_wraps, reason = "fields of the path can fail")]
    pub(crate) fn put(page: &Page, _: &str, request: &mut Request) -> Result<(), String> {
        request.query.extend(page.after.clone().map(|after| ("after", after)));
        request.query.extend(page.limit.map(|limit| ("limit", limit.to_string())));
        Ok(())
    }

    pub(crate) fn take(_: &str, received: &impl Received) -> Result<Page, String> {
        let Loose(after) = Loose::take("after", received.query("after"))?;
        let limit = received.query("limit").map(|text| counted("limit", text, PAGE_MAX)).transpose()?;
        Ok(Page { after, limit })
    }

    pub(crate) fn said(_: &Page) -> Option<String> {
        None
    }

    #[cfg(feature = "openapi")]
    #[expect(clippy::extra_unused_type_parameters, reason = "every place takes the type of its field")]
    pub(crate) fn describe<T>(_: &str, _: &[&str], description: &mut super::super::Description) {
        use super::super::description::Shape;
        description.add_in_query("after", &["`next` of the previous page."], Shape::Text);
        let about = ["The maximum number of items, never more than 1,000; all when absent."];
        description.add_in_query("limit", &about, Shape::Count);
    }
}

impl InPath for PodRef {
    fn put(&self, name: &str, request: &mut Request) -> Result<(), String> {
        let [runtime_id, worker_id] = names_of_pod(name);
        request.fill(&runtime_id, self.runtime_id.as_str())?;
        request.fill(&worker_id, self.worker_id.as_str())
    }

    fn take(name: &str, received: &impl Received) -> Result<Self, String> {
        let [runtime_id, worker_id] = names_of_pod(name);
        let runtime_id = RuntimeId::parse(received.path(&runtime_id)).map_err(|error| error.to_string())?;
        let worker_id = WorkerId::parse(received.path(&worker_id)).map_err(|error| error.to_string())?;
        Ok(Self::new(runtime_id, worker_id))
    }

    #[cfg(feature = "openapi")]
    fn parameters(name: &str) -> Vec<(String, super::description::Shape)> {
        use super::description::Shape;
        let [runtime_id, worker_id] = names_of_pod(name);
        vec![(runtime_id, Shape::Named("RuntimeId")), (worker_id, Shape::Named("WorkerId"))]
    }
}

/// The parameters for a Pod's address; those of the operation's own Pod have no prefix.
fn names_of_pod(name: &str) -> [String; 2] {
    match name {
        "pod" => ["runtime_id".to_owned(), "worker_id".to_owned()],
        name => [format!("{name}_runtime_id"), format!("{name}_worker_id")],
    }
}

macro_rules! in_path {
    ($($kind:ty, $shape:expr, |$text:ident| $take:expr;)*) => {
        $(impl InPath for $kind {
            fn put(&self, name: &str, request: &mut Request) -> Result<(), String> {
                request.fill(name, &self.to_string())
            }

            fn take(name: &str, received: &impl Received) -> Result<Self, String> {
                let $text = received.path(name);
                $take
            }

            #[cfg(feature = "openapi")]
            fn parameters(name: &str) -> Vec<(String, super::description::Shape)> {
                use super::description::Shape;
                vec![(name.to_owned(), $shape)]
            }
        })*
    };
}

in_path! {
    String, Shape::Text, |text| Ok(text.to_owned());
    CommandId, Shape::Named("CommandId"), |text| CommandId::parse(text).map_err(|error| error.to_string());
    RuntimeId, Shape::Named("RuntimeId"), |text| RuntimeId::parse(text).map_err(|error| error.to_string());
    u16, Shape::Port, |text| text.parse().map_err(|_| "a port is a number from 1 to 65535".to_owned());
    Seq, Shape::Seq, |text| text.parse().ok().filter(|seq| *seq > 0).map(Seq)
        .ok_or_else(|| "a record is named by its seq: a whole number from 1".to_owned());
}

impl InQuery for Option<String> {
    fn put(&self) -> Option<String> {
        self.clone()
    }

    fn take(_: &str, text: Option<&str>) -> Result<Self, String> {
        Ok(text.map(str::to_owned))
    }

    #[cfg(feature = "openapi")]
    fn shape() -> super::description::Shape {
        super::description::Shape::Text
    }
}

impl InQuery for Loose {
    fn put(&self) -> Option<String> {
        self.0.clone()
    }

    fn take(_: &str, text: Option<&str>) -> Result<Self, String> {
        Ok(Self(text.filter(|text| !text.is_empty()).map(str::to_owned)))
    }

    #[cfg(feature = "openapi")]
    fn shape() -> super::description::Shape {
        super::description::Shape::Text
    }
}

/// A type that can be parsed from a query parameter.
pub trait Word: Sized {
    fn read(name: &str, text: &str) -> Result<Self, String>;
    fn text(&self) -> String;
    #[cfg(feature = "openapi")]
    fn shape() -> super::description::Shape {
        super::description::Shape::Text
    }
}

impl<T: Word> InQuery for Filled<T> {
    fn put(&self) -> Option<String> {
        self.0.as_ref().map(T::text)
    }

    fn take(name: &str, text: Option<&str>) -> Result<Self, String> {
        match text {
            Some("") => Err(format!("`{name}` is empty; give it a value, or leave it out")),
            Some(text) => T::read(name, text).map(|word| Self(Some(word))),
            None => Ok(Self(None)),
        }
    }

    #[cfg(feature = "openapi")]
    fn shape() -> super::description::Shape {
        T::shape()
    }
}

impl Word for String {
    fn text(&self) -> String {
        self.to_string()
    }

    fn read(_: &str, text: &str) -> Result<Self, String> {
        Ok(text.to_owned())
    }
}

impl Word for RuntimeId {
    fn text(&self) -> String {
        self.to_string()
    }

    fn read(_: &str, text: &str) -> Result<Self, String> {
        Self::parse(text).map_err(|error| error.to_string())
    }
}

impl Word for PodRef {
    fn text(&self) -> String {
        self.to_string()
    }

    fn read(_: &str, text: &str) -> Result<Self, String> {
        text.parse().map_err(|error: crate::NameError| error.to_string())
    }
}

impl Word for PodName {
    fn text(&self) -> String {
        self.to_string()
    }

    fn read(name: &str, text: &str) -> Result<Self, String> {
        Self::parse(text).map_err(|error| format!("`{name}`: {error}"))
    }
}

impl Word for PodState {
    fn text(&self) -> String {
        self.as_str().to_owned()
    }

    fn read(name: &str, text: &str) -> Result<Self, String> {
        let known = Self::ALL.into_iter().find(|state| state.as_str() == text);
        known.ok_or_else(|| {
            let states: Vec<&str> = Self::ALL.into_iter().map(Self::as_str).collect();
            format!("`{name}`: \"{text}\" is not a state; there are {}", states.join(", "))
        })
    }

    #[cfg(feature = "openapi")]
    fn shape() -> super::description::Shape {
        super::description::Shape::Named("PodState")
    }
}

/// A position in a text.
impl Word for u64 {
    fn text(&self) -> String {
        self.to_string()
    }

    fn read(name: &str, text: &str) -> Result<Self, String> {
        text.parse().map_err(|_| format!("`{name}` is a number from 0 on"))
    }
}

impl Word for crate::Since {
    fn text(&self) -> String {
        self.as_str().to_owned()
    }

    fn read(name: &str, text: &str) -> Result<Self, String> {
        let known = Self::ALL.into_iter().find(|since| since.as_str() == text);
        known.ok_or_else(|| format!("`{name}` is start, turn or branch, not \"{}\"", quoted(text)))
    }

    #[cfg(feature = "openapi")]
    fn shape() -> super::description::Shape {
        super::description::Shape::Named("Since")
    }
}

/// What somebody wrote, short enough for a sentence.
fn quoted(text: &str) -> String {
    text.chars().take(QUOTED_CHARS_MAX).collect()
}

impl InQuery for Seq {
    fn put(&self) -> Option<String> {
        Some(self.0.to_string())
    }

    fn take(name: &str, text: Option<&str>) -> Result<Self, String> {
        let number = text.and_then(|text| text.parse().ok()).filter(|seq| *seq > 0).map(Self);
        number.ok_or_else(|| format!("`{name}` is needed: the seq of a record, a whole number from 1"))
    }

    #[cfg(feature = "openapi")]
    fn shape() -> super::description::Shape {
        super::description::Shape::Seq
    }
}

/// Absent means false.
impl InQuery for bool {
    fn put(&self) -> Option<String> {
        self.then(|| "true".to_owned())
    }

    fn take(name: &str, text: Option<&str>) -> Result<Self, String> {
        match text {
            None | Some("false") => Ok(false),
            Some("true") => Ok(true),
            Some(other) => Err(format!("`{name}` is true or false, not \"{other}\"")),
        }
    }

    #[cfg(feature = "openapi")]
    fn shape() -> super::description::Shape {
        super::description::Shape::Flag
    }
}

impl<const USUAL: u32, const MAX: u32> InQuery for Limit<USUAL, MAX> {
    fn put(&self) -> Option<String> {
        Some(self.0.to_string())
    }

    fn take(name: &str, text: Option<&str>) -> Result<Self, String> {
        text.map_or(Ok(USUAL), |text| counted(name, text, MAX)).map(Self)
    }

    #[cfg(feature = "openapi")]
    fn shape() -> super::description::Shape {
        super::description::Shape::Count
    }
}

/// Parses a number of items; refuses what cannot be one.
fn counted(name: &str, text: &str, max: u32) -> Result<u32, String> {
    match text.parse::<u32>() {
        Ok(number) if number > 0 => Ok(number.min(max)),
        _ => Err(format!("`{name}` is a number from 1 to {max}, not \"{}\"", quoted(text))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_stays_one_segment_of_the_path() {
        let filled = |word: &str| {
            let facts = <crate::operations::RunTool as crate::operation::Operation>::FACTS;
            let mut request = Request { path: "/tools/{name}".to_owned(), ..Request::new(&facts) };
            request.fill("name", word).map(|()| request.path)
        };
        for (word, expected) in [
            ("Read", "Read"),
            ("a-b_c.d~1", "a-b_c.d~1"),
            ("../stop", "..%2Fstop"),
            ("a b?c#d%2f", "a%20b%3Fc%23d%252f"),
            ("é", "%C3%A9"),
        ] {
            assert_eq!(filled(word), Ok(format!("/tools/{expected}")));
        }
        for bad in ["", ".", ".."] {
            assert!(filled(bad).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn a_flag_is_true_or_false_and_nothing_else() {
        assert_eq!((bool::take("all", None), bool::take("all", Some("false"))), (Ok(false), Ok(false)));
        assert_eq!(bool::take("all", Some("true")), Ok(true));
        for bad in ["", "1", "yes", "True", "true "] {
            assert!(bool::take("all", Some(bad)).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn a_limit_is_at_least_one_and_capped_and_a_number_of_items() {
        let of = |text| Limit::<200, 1000>::take("limit", text).map(|limit| limit.0);
        assert_eq!((of(None), of(Some("1")), of(Some("1000"))), (Ok(200), Ok(1), Ok(1000)));
        assert_eq!(of(Some("4294967295")), Ok(1000));
        for bad in ["0", "-1", "x", "", "1.5", "4294967296", "99999999999", "99999999999999999999999"] {
            assert!(of(Some(bad)).is_err(), "{bad}");
        }
    }
}
