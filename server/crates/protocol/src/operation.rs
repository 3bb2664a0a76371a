//! An operation of the API as a type: its method and path, its request, its answer, and for a command its name in the
//! audit and its target.
//!
//! The routes, the OpenAPI document, the typed client, the ports of the runtimes and the fingerprints of commands are
//! all derived from these types. They are listed in `operations.rs`.

mod answered;
#[cfg(feature = "openapi")]
mod description;
pub(crate) mod field;
pub(crate) mod list;
mod page;

use serde::{Deserialize, Serialize, de::DeserializeOwned};

#[cfg(feature = "openapi")]
pub use self::description::Description;
pub use self::{
    answered::Answered,
    field::{Filled, InPath, InQuery, Limit, Loose},
    page::{Keyed, Page},
};
use crate::PodRef;

/// The HTTP method of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    Get,
    Post,
    Put,
    Patch,
    Delete,
}

/// The static properties of an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Facts {
    /// Its `operationId` in the OpenAPI document.
    pub id: &'static str,
    pub method: Method,
    /// With its parameters in braces.
    pub path: &'static str,
    pub tag: &'static str,
    /// What it does, line by line.
    pub about: &'static [&'static str],
    /// The status on success, and what it means.
    pub status: u16,
    pub done: &'static str,
}

/// One operation.
pub trait Operation: std::fmt::Debug + Clone + Send + Sync + 'static {
    const FACTS: Facts;
    type Answer: Answered;

    /// Encodes it as a request.
    ///
    /// # Errors
    /// A sentence that says which word cannot be part of a path.
    fn request(&self) -> Result<Request, String>;

    /// Decodes a request.
    ///
    /// # Errors
    /// A sentence that says what is wrong with the request.
    fn receive(received: &impl Received) -> Result<Self, String>;

    /// The Pod in its path.
    fn pod(&self) -> Option<&PodRef>;
    fn pod_mut(&mut self) -> Option<&mut PodRef>;

    /// The requested part of a list.
    fn page(&self) -> Option<&Page>;

    /// The request apart from the Pod, as JSON: a repeat of a command must have the same.
    fn said(&self) -> String;

    #[cfg(feature = "openapi")]
    fn describe(description: &mut Description);
}

/// A request as a client makes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    /// [`Facts::id`] of the operation.
    pub id: &'static str,
    pub method: Method,
    /// Without the server's address; every parameter is filled in and escaped.
    pub path: String,
    pub query: Vec<(&'static str, String)>,
    /// JSON.
    pub body: Option<String>,
}

/// A request as a server receives it.
pub trait Received {
    /// A path parameter, unescaped.
    fn path(&self, name: &str) -> &str;
    fn query(&self, name: &str) -> Option<&str>;
    /// # Errors
    /// A sentence that says where the body does not fit.
    fn body<T: DeserializeOwned + Serialize>(&self) -> Result<T, String>;
    /// Like [`Received::body`]; a missing body or `null` gives the default.
    fn body_or_default<T: DeserializeOwned + Serialize + Default>(&self) -> Result<T, String>;
}

/// A body without fields.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct NoFields {}

impl Request {
    pub(crate) fn new(facts: &Facts) -> Self {
        Self { id: facts.id, method: facts.method, path: facts.path.to_owned(), query: Vec::new(), body: None }
    }

    /// Fills in a path parameter. Words that would lead to another path are refused.
    pub(crate) fn fill(&mut self, name: &str, word: &str) -> Result<(), String> {
        if matches!(word, "" | "." | "..") {
            return Err(format!("\"{word}\" names nothing"));
        }
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte);
        let escaped: String = word
            .bytes()
            .map(|byte| if plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") })
            .collect();
        self.path = self.path.replacen(&format!("{{{name}}}"), &escaped, 1);
        Ok(())
    }
}

/// A path below a Pod's.
macro_rules! at_pod {
    ($rest:literal) => {
        concat!("/api/v1/runtimes/{runtime_id}/workers/{worker_id}", $rest)
    };
}
pub(crate) use at_pod;

/// Defines an operation from its facts and fields. Each field is preceded by its place in a request: a module of
/// [`field`].
macro_rules! operation {
    (
        $(#[doc = $about:literal])*
        $name:ident $id:literal: $method:ident $path:expr, $tag:literal {
            $($(#[doc = $said:literal])* $place:ident $field:ident: $kind:ty,)*
        } -> $status:literal $done:literal $answer:ty
    ) => {
        $(#[doc = $about])*
        #[derive(Debug, Clone, PartialEq)]
        pub struct $name {
            $($(#[doc = $said])* pub $field: $kind,)*
        }

        impl $crate::operation::Operation for $name {
            const FACTS: $crate::operation::Facts = $crate::operation::Facts {
                id: $id,
                method: $crate::operation::Method::$method,
                path: $path,
                tag: $tag,
                about: &[$($about),*],
                status: $status,
                done: $done,
            };
            type Answer = $answer;

            fn request(&self) -> Result<$crate::operation::Request, String> {
                #[allow(unused_mut)]
                let mut request = $crate::operation::Request::new(&Self::FACTS);
                $($crate::operation::field::$place::put(&self.$field, stringify!($field), &mut request)?;)*
                Ok(request)
            }

            #[allow(unused_variables)]
            fn receive(received: &impl $crate::operation::Received) -> Result<Self, String> {
                Ok(Self { $($field: $crate::operation::field::$place::take(stringify!($field), received)?,)* })
            }

            fn pod(&self) -> Option<&$crate::PodRef> {
                let fields: [Option<&$crate::PodRef>; _] = [$($crate::operation::field::$place::pod(&self.$field)),*];
                fields.into_iter().flatten().next()
            }

            fn pod_mut(&mut self) -> Option<&mut $crate::PodRef> {
                let fields: [Option<&mut $crate::PodRef>; _] = [$($crate::operation::field::$place::pod_mut(&mut self.$field)),*];
                fields.into_iter().flatten().next()
            }

            fn page(&self) -> Option<&$crate::operation::Page> {
                let fields: [Option<&$crate::operation::Page>; _] = [$($crate::operation::field::$place::page(&self.$field)),*];
                fields.into_iter().flatten().next()
            }

            fn said(&self) -> String {
                let said: [Option<String>; _] = [$($crate::operation::field::$place::said(&self.$field)),*];
                $crate::operation::field::together(said)
            }

            #[cfg(feature = "openapi")]
            fn describe(description: &mut $crate::operation::Description) {
                $($crate::operation::field::$place::describe::<$kind>(
                    stringify!($field), &[$($said),*], description,
                );)*
                <$answer as $crate::operation::Answered>::describe(&Self::FACTS, description);
            }
        }
    };
}
pub(crate) use operation;
